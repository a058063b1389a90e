"""Threads told apart before a program runs: NUMA-BTLP (traces/analysis) over the whole program's bitcode, made by clang and opt."""

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from homenode.errors import InputError, UsageError
from homenode.kernel_sources import kernel
from homenode.resources import ANALYSIS

C_ENDINGS = (".c",)
CXX_ENDINGS = (".cc", ".cpp", ".cxx", ".C")
BITCODE_ENDINGS = (".bc", ".ll")

# Calls are entered where that helps the pass: helpers that create, join and allocate disappear in their callers.
_PREPARATION = ",".join(
    (
        "internalize",
        "globaldce",
        "function(sroa)",
        "inferattrs",
        "cgscc(function-attrs)",
        "function(sroa,early-cse<memssa>,simplifycfg,instcombine)",
        "cgscc(inline)",
        "globaldce",
        "cgscc(function-attrs)",
        "function(sroa,early-cse<memssa>,instcombine,simplifycfg,loop-simplify)",
    )
)
_COMPILE = ("-O1", "-g", "-Xclang", "-disable-llvm-passes", "-fno-discard-value-names", "-Qunused-arguments")
_OPTIONS = ("-internalize-public-api-list=main", "-inline-threshold=2000")


@dataclass(frozen=True)
class Llvm:
    """One LLVM whose tools and whose plugin are there."""

    version: str

    def tool(self, name: str) -> str:
        """The command of a tool of this version."""
        return f"{name}-{self.version}"

    @property
    def plugin(self) -> Path:
        """The pass, as opt loads it."""
        return ANALYSIS / f"homenode_btlp-{self.version}.so"


def _built_versions() -> list[str]:
    return sorted((path.stem.removeprefix("homenode_btlp-") for path in ANALYSIS.glob("homenode_btlp-*.so")), key=int)


def find_llvm(version: str | None = None) -> Llvm:
    """The LLVM asked for, or the oldest that has a plugin and all tools; what is missing is named by Debian package."""
    built = _built_versions()
    if not built:
        raise UsageError(
            "homenode was built without LLVM's headers, so the pass is not there; "
            "install Debian's packages clang-14, llvm-14 and llvm-14-dev and then homenode again"
        )
    if version is not None and version not in built:
        raise UsageError(f"no pass for LLVM {version}; there is one for {', '.join(built)}")
    missing: list[str] = []
    for candidate in [version] if version is not None else built:
        found = Llvm(candidate)
        packages = {
            package
            for package, tools in (("clang", ("clang",)), ("llvm", ("opt", "llvm-link")))
            if any(shutil.which(found.tool(tool)) is None for tool in tools)
        }
        if not packages:
            return found
        missing.append(" and ".join(f"{package}-{candidate}" for package in sorted(packages)))
    raise UsageError(f"clang or opt is missing; install Debian's packages {' or '.join(missing)}")


def _run(words: Sequence[str | Path], what: str) -> str:
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    if done.returncode:
        raise InputError(f"{what}:\n{done.stderr.strip()}")
    return done.stdout


def _is_for_linking(flag: str) -> bool:
    return flag.startswith(("-l", "-L", "-Wl,")) or flag.endswith((".a", ".o", ".so"))


def _compiled(llvm: Llvm, source: Path, flags: Sequence[str], output: Path) -> None:
    compiler = llvm.tool("clang++" if source.suffix in CXX_ENDINGS else "clang")
    compile_flags = [flag for flag in flags if not _is_for_linking(flag)]
    words: list[str | Path] = [compiler, *compile_flags, *_COMPILE, "-emit-llvm", "-c", source, "-o", output]
    _run(words, f"'{source}' could not be compiled")


def _is_bitcode(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) == b"BC\xc0\xde"


def _bitcode(llvm: Llvm, sources: Sequence[Path], flags: Sequence[str], folder: Path) -> Path:
    parts: list[Path] = []
    for number, source in enumerate(sources):
        if not source.is_file():
            raise UsageError(f"no file '{source}'")
        if source.suffix in BITCODE_ENDINGS or _is_bitcode(source):
            parts.append(source)
            continue
        if source.suffix not in (*C_ENDINGS, *CXX_ENDINGS):
            allowed = " ".join((*C_ENDINGS, *CXX_ENDINGS, *BITCODE_ENDINGS))
            raise UsageError(
                f"'{source}' is neither C, C++ nor bitcode; allowed: {allowed}, and what `clang -flto -c` makes"
            )
        parts.append(folder / f"{number}.bc")
        _compiled(llvm, source, flags, parts[-1])
    whole = folder / "whole.bc"
    _run([llvm.tool("llvm-link"), *parts, "-o", whole], "the program could not be linked as bitcode")
    return whole


def _link(llvm: Llvm, program: Path, cxx: bool, flags: Sequence[str], output: Path, folder: Path) -> None:
    runtime = []
    for part in ("affinity", "affinity_mapping"):
        runtime.append(folder / f"{part}.o")
        source = ANALYSIS / f"{part}.c"
        _run([llvm.tool("clang"), "-O2", "-c", source, "-o", runtime[-1]], f"'{source.name}' could not be compiled")
    linked = folder / "linked"
    compiler = llvm.tool("clang++" if cxx else "clang")
    link_flags = [flag for flag in flags if _is_for_linking(flag) or flag.startswith(("-f", "-m"))]
    words: list[str | Path] = [
        compiler,
        "-O2",
        "-Qunused-arguments",
        program,
        *runtime,
        "-o",
        linked,
        *link_flags,
        "-pthread",
    ]
    _run(words, "the program with its threads bound could not be linked")
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        beside = output.with_name(f".{output.name}.{os.getpid()}.part")
        shutil.copy2(linked, beside)
        beside.replace(output)
    except OSError as error:
        raise UsageError(f"cannot write '{output}': {error.strerror}") from None


def classify(
    *program: str | Path,
    flags: Sequence[str] = (),
    instrument: str | Path | None = None,
    llvm: str | None = None,
) -> dict[str, Any]:
    """Types of the threads that a program creates with pthread_create or std::thread: a built-in kernel's name, or all of its
    sources (C, C++, bitcode) with the `flags` of compiler and linker. With `instrument`, that binary is written: it binds each
    thread after its creation. Returns the document of `homenode classify --json`.
    """
    if not program:
        raise UsageError("nothing to classify; allowed: a kernel, or the program's sources")
    found = find_llvm(llvm)
    sources = [Path(word) for word in program]
    if len(sources) == 1 and not sources[0].suffix and not sources[0].exists():
        built_in = kernel(str(program[0]))
        sources = [built_in.source]
        known = (flag for flag in built_in.flags if not flag.startswith("-fno-tree-"))  # an option of gcc's alone
        flags = (*known, *(f"-l{library}" for library in built_in.libraries), *flags)
    with tempfile.TemporaryDirectory(prefix="homenode-classify-") as name:
        folder = Path(name)
        whole = _bitcode(found, sources, flags, folder)
        passes = f"{_PREPARATION},numa-btlp{'<bind>' if instrument is not None else ''}"
        words: list[str | Path] = [found.tool("opt"), "-load-pass-plugin", found.plugin, *_OPTIONS, f"-passes={passes}"]
        analysed = folder / "analysed.bc"
        report: dict[str, Any] = json.loads(_run([*words, whole, "-o", analysed], "opt failed"))
        if not report["threads"]:
            raise InputError("the program has no function main in its bitcode; pass all of its sources")
        if instrument is not None:
            cxx = any(source.suffix in CXX_ENDINGS for source in sources) or "c++" in flags
            _link(found, analysed, cxx, flags, Path(instrument), folder)
    return {"schema": report.pop("schema"), "llvm": found.version, **report}
