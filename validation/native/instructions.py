"""Loops of single instructions on this host against the model of its core: `core.llvm_cpu`, that LLVM names by cpuid.

A chain tells latencies, the same instruction to many registers tells units. A cycle is a link of a chain of additions of registers,
measured beside each loop, so that the clock does not matter; renaming adds small constants on some cores, in no time. One CPU. Other work
on its core lengthens what needs units: all loops are measured again, up to TRIES times, until others were not there before and after.
"""

import json
import platform
import statistics
import subprocess
import tempfile
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from homenode import _core
from homenode.core_model import host_cpu
from homenode.resources import core_model
from validation.page_with_notes import markdown_table
from validation.rows import AnyRow
from validation.study import Options, Study

LOOPS = Path(__file__).with_name("instruction_loops.toml")
PAGE = Path(__file__).with_name("instructions.md")
COPIED = ("units", "more-units", "mixtures")
UNROLLED = 4  # a turn of the loop has the code so often, so that its own two instructions cost little
TURNS, REPEATS = 50_000, 9
TRIES, PROBES, FEW = 10, 500, 0.1  # others are there if more than that share of the probes meets them
SEQUENCE = 400  # executions that the model simulates
NEAR, CYCLES = 0.15, 0.15  # a row agrees within this share or within so many cycles


class Loop(NamedTuple):
    """A loop's code, in lines of assembly."""

    kind: str
    code: tuple[str, ...]
    shown: str  # in a line; of copies the first, and how many there are


@dataclass(frozen=True)
class InstructionRow(AnyRow):
    """A loop; cycles are of one execution of its code."""

    kind: str
    code: str
    instructions: int
    cpu: str  # the core's name in LLVM
    native_cycles: float
    model_cycles: float
    bound: str

    @property
    def ratio(self) -> float:
        """Model over native."""
        return self.model_cycles / self.native_cycles

    @property
    def agrees(self) -> bool:
        """Within NEAR, or within CYCLES."""
        return abs(self.ratio - 1) <= NEAR or abs(self.model_cycles - self.native_cycles) <= CYCLES


def _statements(code: str) -> tuple[str, ...]:
    return tuple(statement.strip() for statement in code.split(";"))


def _copies(code: str, copies: int) -> tuple[str, ...]:
    numbers = {"%r": 8, "%xmm": 0, "%ymm": 0}  # the first of the registers that {i} counts
    found: list[str] = []
    for index in range(copies):
        text = code.replace("{8i}", str(8 * index))
        for register, first in numbers.items():
            text = text.replace(f"{register}{{i}}", f"{register}{first + index}")
        found += _statements(text)
    return tuple(found)


def loops() -> list[Loop]:
    """All of the table."""
    table = tomllib.loads(LOOPS.read_text(encoding="utf-8"))
    found = [
        Loop(f"chain, {kind}", _statements(code), code) for kind, codes in table["chains"].items() for code in codes
    ]
    for kind in COPIED:
        copies = table[kind]["copies"]
        for code in table[kind]["statements"]:
            found.append(Loop(kind, _copies(code, copies), f"{'; '.join(_copies(code, 1))} x {copies}"))
    return found


def runnable(given: Sequence[Loop]) -> list[Loop]:
    """Those that this host executes: without AVX2 and fused multiplication, none with three operands."""
    flags = Path("/proc/cpuinfo").read_text(encoding="utf-8").split()
    if {"avx2", "fma"} <= set(flags):
        return list(given)
    return [loop for loop in given if not any(statement.startswith("v") for statement in loop.code)]


def assembly(given: Sequence[Loop]) -> str:
    """A function for each loop, `loopN(turns, data)`, one for a chain of additions, and each loop's code between two labels."""
    saved = ("%rbx", "%rbp", "%r12", "%r13", "%r14", "%r15")
    lines = ['.section .note.GNU-stack,"",@progbits', ".text"]

    def function(name: str, code: Sequence[str]) -> None:
        after = (*(f"pop {register}" for register in reversed(saved)), "ret")
        lines.extend((f".globl {name}", f"{name}:", *(f"push {register}" for register in saved), "mov %rdi, %rbp"))
        lines.extend(f"movsd (%rsi), %xmm{number}" for number in range(16))
        lines.extend(f"xor %r{number}d, %r{number}d" for number in range(8, 16))
        lines.extend(("xor %eax, %eax", "xor %edx, %edx", "mov $3, %ecx", ".p2align 6", "1:"))
        lines.extend([*code] * UNROLLED)
        if any("%ymm" in statement for statement in code):
            after = ("vzeroupper", *after)
        lines.extend(("dec %rbp", "jnz 1b", *after))

    function("additions", ("add %rax, %rax",) * 16)
    for number, loop in enumerate(given):
        function(f"loop{number}", loop.code)
        lines.extend((f".globl begin{number}, end{number}", f"begin{number}:", *loop.code, f"end{number}:"))
    return "\n".join(lines) + "\n"


def timing(count: int) -> str:
    """The C program that times `count` loops in turns and prints each one's cycles and bytes."""
    numbers = range(count)
    return "\n".join(
        (
            "#include <stdio.h>",
            "#include <time.h>",
            "typedef void loop(long turns, double* data);",
            "loop additions;",
            *(f"loop loop{n}; extern const unsigned char begin{n}[], end{n}[];" for n in numbers),
            f"static loop* const loops[] = {{{', '.join(f'loop{n}' for n in numbers)}}};",
            f"static const unsigned char* const begins[] = {{{', '.join(f'begin{n}' for n in numbers)}}};",
            f"static const unsigned char* const ends[] = {{{', '.join(f'end{n}' for n in numbers)}}};",
            "static double data[4096] __attribute__((aligned(4096)));",
            "static double seconds(loop* of, long turns) {",
            "  for (int i = 0; i < 4096; ++i) data[i] = 1.37;",
            "  struct timespec from, to;",
            "  clock_gettime(CLOCK_MONOTONIC, &from);",
            "  of(turns, data);",
            "  clock_gettime(CLOCK_MONOTONIC, &to);",
            "  return (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);",
            "}",
            "int main(void) {",
            f"  for (int n = 0; n < {count}; ++n) {{",
            "    double least = 1e9, cycle = 1e9;",
            f"    for (int repeat = 0; repeat < {REPEATS}; ++repeat) {{",
            f"      const double chain = seconds(additions, {TURNS} / 4) / ({TURNS} / 4 * 16.0 * {UNROLLED});",
            f"      const double one = seconds(loops[n], {TURNS}) / ({TURNS}.0 * {UNROLLED});",
            "      if (chain < cycle) cycle = chain;",
            "      if (one < least) least = one;",
            "    }",
            '    printf("%.17g ", least / cycle);',
            '    for (const unsigned char* at = begins[n]; at < ends[n]; ++at) printf("%02x", *at);',
            '    printf("\\n");',
            "  }",
            "}",
            "",
        )
    )


class Measured(NamedTuple):
    """A loop's cycles, and the bytes of its code."""

    cycles: float
    code: str


def _others() -> bool:
    return bool(_core.other_thread_share(PROBES) > FEW)


def measured(given: Sequence[Loop]) -> list[Measured]:
    """Time them here: of each the least."""
    with tempfile.TemporaryDirectory(prefix="homenode-") as name:
        folder = Path(name)
        (folder / "loops.s").write_text(assembly(given), encoding="utf-8")
        (folder / "timing.c").write_text(timing(len(given)), encoding="utf-8")
        command = ["gcc", "-O1", "timing.c", "loops.s", "-o", "timing"]
        subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
        least: list[Measured] = []
        others = _others()
        for _ in range(TRIES):
            told = subprocess.run([folder / "timing"], check=True, capture_output=True, text=True).stdout
            found = [Measured(float(cycles), code) for cycles, code in (line.split() for line in told.splitlines())]
            least = [min(pair) for pair in zip(least, found, strict=True)] if least else found
            before, others = others, _others()
            if not (before or others):
                break
    return least


def modelled(codes: Sequence[str], program: Path, cpu: str) -> list[tuple[float, str]]:
    """Cycles and bound of each, by `homenode-mca`. RuntimeError with the instructions that it has no cost for."""
    lines = [f"cpu {cpu}", *(f"block {number} {code}" for number, code in enumerate(codes))]
    lines += [*(f"sequence {number}*{SEQUENCE}" for number in range(len(codes))), "end", ""]
    told = subprocess.run([program], input="\n".join(lines), check=True, capture_output=True, text=True).stdout
    answer = json.loads(told)
    if answer["unknown"]:
        raise RuntimeError(f"the model of {cpu} does not know {', '.join(answer['unknown'])}")
    blocks = answer["blocks"]
    return [(blocks[str(number)]["cycles"], blocks[str(number)]["bound"]) for number in range(len(codes))]


def _rows(options: Options) -> Iterator[InstructionRow]:
    program, cpu = core_model(), host_cpu()
    if platform.machine() != "x86_64" or program is None or cpu is None:
        raise SystemExit("instructions: LLVM 19 has no model of this host's core, or homenode was built without it")
    given = runnable(loops())[:: 12 if options.small else 1]
    try:
        native = measured(given)
        model = modelled([one.code for one in native], program, cpu)
    except (OSError, RuntimeError, subprocess.CalledProcessError) as error:
        told = (getattr(error, "stderr", None) or str(error)).strip().splitlines()[-1]
        raise SystemExit(f"instructions: {told}") from None
    for loop, one, (cycles, bound) in zip(given, native, model, strict=True):
        yield InstructionRow(loop.kind, loop.shown, len(loop.code), cpu, one.cycles, cycles, bound)


def line(row: InstructionRow) -> str:
    """A row of the output."""
    told = "" if row.agrees else "  differs"
    return f"{row.native_cycles:7.2f} natively {row.model_cycles:7.2f} by the model  {row.code}{told}"


def _summary(found: Iterable[InstructionRow]) -> str:
    rows = list(found)
    near = sum(row.agrees for row in rows)
    median = statistics.median(abs(row.ratio - 1) for row in rows)
    return f"{near} of {len(rows)} loops within {NEAR:.0%} or {CYCLES} cycles; median error {median:.0%}"


def _closing(found: Sequence[InstructionRow], options: Options) -> str:
    return _summary(found) if found else ""


def tables(found: Sequence[InstructionRow]) -> str:
    """The page down to its notes."""
    lines = [
        "# Single instructions on a host against the model of its core",
        "",
        "Made by `homenode validate instructions --write`: loops of [instruction_loops.toml](instruction_loops.toml) on one",
        f"CPU, the least of {REPEATS} runs and more, against `homenode-mca` for the core that LLVM names by cpuid. A cycle is a link of a",
        "chain of additions of registers. What a core overlaps with other code costs less in a program than in such a loop.",
        "",
    ]
    if not found:
        return "\n".join([*lines, "Not measured yet: a run wants a quiet machine.", ""])
    lines += [f"Core: `{found[0].cpu}`. {_summary(found)}.", ""]
    cells = [
        (
            row.kind,
            f"`{row.code}`",
            f"{row.native_cycles:.2f}",
            f"{row.model_cycles:.2f}",
            "" if row.agrees else "differs",
            row.bound,
        )
        for row in found
    ]
    lines += markdown_table(("kind", "code", "native cycles", "model", "", "bound"), cells)
    return "\n".join(lines) + "\n"


STUDY: Study[InstructionRow] = Study(
    "instructions",
    "loops of single instructions on this machine against the model of its core that LLVM has. Wants a quiet machine",
    "a minute",
    tuple(InstructionRow.__dataclass_fields__),
    _rows,
    (PAGE,),
    line=line,
    tables=tables,
    closing=_closing,
)
