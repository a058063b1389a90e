"""`./dev wheel`: the source distribution and a wheel for each CPython into dist/, each tried in an empty virtual environment.

A wheel is built from the unpacked source distribution; nothing may be written but in the folder of the build. That one lies where `./dev
setup` has its own, so that the compiler cache serves both; with `--apart` it lies outside of the sources. auditwheel checks the wheel's
symbols and gives it the tag. Run by a Python that has the packages of the extra `wheel` of pyproject.toml.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
NEWEST = 35  # of glibc 2's versions, by the wheel's tag
LARGEST = 12_000_000  # bytes
OLDEST = (3, 11)
# Of PEP 600's libraries that every host has those that are needed here.
EVERYWHERE = re.compile(r"(ld-linux-x86-64|libc|libm|libdl|libpthread|librt|libstdc\+\+|libgcc_s|libz)\.so\b")
SIMGRID = re.compile(r"libsimgrid\.so\b")


def run(*words: str | Path, cwd: Path | None = None, **environment: str) -> str:
    """What a command prints; its failure ends this program, with all that it said."""
    command = [str(word) for word in words]
    done = subprocess.run(
        command, cwd=cwd, env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def describe_python(python: Path) -> tuple[int, int] | None:
    """The version of a CPython that extensions can be built for; None for all else."""
    code = (
        "import ensurepip, platform, sys, sysconfig, pathlib\n"
        "header = pathlib.Path(sysconfig.get_path('include'), 'Python.h')\n"
        "print(*sys.version_info[:2] if platform.python_implementation() == 'CPython' and header.is_file() else ())"
    )
    try:
        done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    numbers = done.stdout.split()
    return (int(numbers[0]), int(numbers[1])) if done.returncode == 0 and len(numbers) == 2 else None


def pythons(named: Sequence[Path]) -> dict[tuple[int, int], Path]:
    """The interpreters to build for, one a version: those that were named, or all that this host has."""
    candidates = [*named]
    if not named:
        candidates += [Path("/usr/bin/python3"), Path(sys.executable)]
        on_path = [shutil.which(f"python3.{minor}") for minor in range(OLDEST[1], 20)]
        candidates += [Path(path) for path in on_path if path]
        candidates += sorted(Path.home().glob(".pyenv/versions/3.*/bin/python3"))
    found: dict[tuple[int, int], Path] = {}
    for candidate in candidates:
        version = describe_python(candidate)
        if version is None and named:
            sys.exit(f"{candidate} is no CPython with its headers and ensurepip")
        if version is not None and version >= OLDEST:
            found.setdefault(version, candidate)
    return dict(sorted(found.items()))


def locked(*names: str) -> list[str]:
    """The versions of packages that ./dev was tried with."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        every: list[str] = tomllib.load(file)["project"]["optional-dependencies"]["dev"]
    return [line for line in every if line.split("==")[0].lower().replace("_", "-") in names]


def new_environment(folder: Path, python: Path) -> Path:
    """The Python of a new virtual environment with nothing in it."""
    shutil.rmtree(folder, ignore_errors=True)
    run(python, "-m", "venv", folder)
    return folder / "bin" / "python"


def files_in(folder: Path) -> dict[str, int]:
    """The files of a source tree and when each was changed; not those of a build."""
    every = {str(path.relative_to(folder)): path.lstat().st_mtime_ns for path in folder.rglob("*")}
    return {name: changed for name, changed in every.items() if name.split("/")[0] != "build"}


def unpacked(archive: Path, folder: Path) -> Path:
    """The folder of a source distribution, without write permission but for a folder `build`."""
    for path in folder.rglob("*"):
        if path.is_dir():
            path.chmod(0o755)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    run("tar", "-xzf", archive, "-C", folder)
    (source,) = folder.iterdir()
    (source / "build").mkdir()
    for path in [source, *source.rglob("*")]:
        if path.name != "build":
            path.chmod(path.stat().st_mode & ~0o222)
    return source


def built_wheel(source: Path, python: Path, work: Path, build: Path) -> Path:
    """A wheel as the folder `build` makes it: of archives, named for this host alone."""
    environment = new_environment(work / "builder", python)
    pip = (environment, "-m", "pip", "--disable-pip-version-check", "--quiet")
    run(*pip, "install", *locked("scikit-build-core", "pybind11", "packaging", "pathspec"))
    raw = work / "raw"
    shutil.rmtree(raw, ignore_errors=True)
    before = files_in(source)
    settings = (f"build-dir={build}", "cmake.define.HOMENODE_PORTABLE=ON")
    options = [f"--config-settings={setting}" for setting in settings]
    command = (*pip, "wheel", "--no-deps", "--no-build-isolation", "-w", raw, *options)
    run(*command, source, CCACHE_BASEDIR=str(source))
    if files_in(source) != before:
        sys.exit(f"the build wrote into its sources: {sorted(files_in(source).items() ^ before.items())[:5]}")
    (wheel,) = raw.glob("*.whl")
    return wheel


def linked_libraries(wheel: Path) -> Iterator[tuple[str, list[str]]]:
    """Each program and library of a wheel with what it is linked to."""
    with zipfile.ZipFile(wheel) as archive, tempfile.TemporaryDirectory() as folder:
        for name in archive.namelist():
            with archive.open(name) as file:
                if file.read(4) != b"\x7fELF":
                    continue
            said = run("objdump", "-p", archive.extract(name, folder), LC_ALL="C")
            yield name, re.findall(r"^ +NEEDED +(\S+)", said, re.MULTILINE)


def complaints(wheel: Path) -> list[str]:
    """What is not as promised: size, licences, libraries of the host."""
    found = []
    tag = re.search(r"-manylinux_2_(\d+)_x86_64\.whl$", wheel.name)
    if tag is None or int(tag[1]) > NEWEST:
        found.append(f"its tag is for other hosts; allowed: manylinux_2_{NEWEST}_x86_64 and older")
    if wheel.stat().st_size > LARGEST:
        found.append(f"{wheel.stat().st_size / 1e6:.1f} MB; allowed: {LARGEST / 1e6:.0f} MB")
    for name, needed in linked_libraries(wheel):
        simgrid = name.endswith("engines/simgrid.so")
        foreign = [one for one in needed if not EVERYWHERE.match(one) and not (simgrid and SIMGRID.match(one))]
        found += [f"{name} is linked to {one}, which not every host has" for one in foreign]
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    for text in [ROOT / "LICENSE", *sorted((ROOT / "licenses").iterdir())]:
        wanted = f".dist-info/licenses/{text.relative_to(ROOT)}"
        if not any(name.endswith(wanted) for name in names):
            found.append(f"{wanted} is missing")
    found += [f"{name} came along" for name in names if re.search(r"\.libs/|libsimgrid|__pycache__", name)]
    return found


def tried(wheel: Path, python: Path, work: Path) -> str:
    """What `try_wheel.py` prints in an environment of the wheel and of what it asks for, on a host without SimGrid."""
    environment = new_environment(work / "user", python)
    run(environment, "-m", "pip", "--disable-pip-version-check", "--quiet", "install", wheel)
    empty = work / "nowhere"
    shutil.rmtree(empty, ignore_errors=True)
    (empty / "libraries").mkdir(parents=True)
    for _, needed in linked_libraries(wheel):
        for one in filter(SIMGRID.match, needed):
            (empty / "libraries" / one).touch()
    shutil.copyfile(Path(__file__).parent / "try_wheel.py", empty / "try_wheel.py")
    settings = {"LD_LIBRARY_PATH": str(empty / "libraries"), "XDG_CACHE_HOME": str(empty / "cache")}
    return run(environment, "-I", "try_wheel.py", cwd=empty, **settings)


def main() -> int:
    """0 if every wheel is as promised and works."""
    parser = argparse.ArgumentParser(prog="./dev wheel", description=__doc__.splitlines()[0])
    parser.add_argument(
        "--python",
        type=Path,
        action="append",
        default=[],
        help="build for this one; default: every CPython of the host",
    )
    parser.add_argument("--apart", action="store_true", help="build outside of the sources; slow at first")
    parser.add_argument("--work", type=Path, default=ROOT / ".dev" / "wheels", help="folder for what is in between")
    parser.add_argument("--output", type=Path, default=ROOT / "dist", help="folder for what is made")
    options = parser.parse_args()
    work, output = options.work.resolve(), options.output.resolve()
    output.mkdir(parents=True, exist_ok=True)
    work.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(work / "sdist", ignore_errors=True)
    run(sys.executable, "-m", "build", "--sdist", "--no-isolation", "--outdir", work / "sdist", ROOT)
    (archive,) = (work / "sdist").glob("*.tar.gz")
    shutil.copyfile(archive, output / archive.name)
    print(f"{output / archive.name}: {archive.stat().st_size / 1e6:.1f} MB", flush=True)
    source = unpacked(archive, work / "source")
    failed = False
    for version, python in pythons(options.python).items():
        inside = work / f"python{version[0]}.{version[1]}"
        repaired = inside / "repaired"
        shutil.rmtree(repaired, ignore_errors=True)
        build = inside / "build" if options.apart else source / "build" / inside.name
        raw = built_wheel(source, python, inside, build)
        names = ("repair", "--only-plat", "--exclude", "libsimgrid.so.*", "-w", repaired, raw)
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        run(sys.executable, "-m", "auditwheel", *names, PATH=path)
        (wheel,) = repaired.glob("*.whl")
        found = complaints(wheel)
        said = tried(wheel, python, inside)
        shutil.copyfile(wheel, output / wheel.name)
        print(f"{output / wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB\n{said}", end="", flush=True)
        print("".join(f"  wrong: {line}\n" for line in found), end="", flush=True)
        failed |= bool(found)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
