"""The uninstrumented twin: the compiler's final assembly with a counter in every basic block and a hook at calls that leave the file.

The counters change no register and no flag (lea, mov, push, pop only, below the red zone), so the code between them is what
gcc made of the original source with the original flags and schedule; see traces/capture/runtime/work.c for the other side.
Hooks stand before and after a call, where no flag is alive; traces/capture/runtime/calls.c says what they are for.
"""

import functools
import re
import subprocess

from homenode.compiler.instruction_classes import CLASSES, classify
from homenode.resources import capture_runtime

_SECTION = re.compile(r"\.(text|section|data|bss|pushsection|popsection|previous)")
_LABEL = re.compile(r"([\w.$]+):")
# Beginnings of labels that nothing jumps to: debug information, constants.
_NO_TARGET = (".LF", ".LV", ".LBB", ".LBE", ".LE", ".LHOT", ".LC", ".Lt", ".LLS", ".Letext", ".LM")
_CALLED = re.compile(r"(?:(?P<plain>[A-Za-z_][\w.$]*)(?:@PLT)?|\*(?P<got>[A-Za-z_][\w.$]*)@GOTPCREL\(%rip\))$")
# Calls whose bytes the linker rewrites, or which happen before a frame is set up.
_LEFT_ALONE = re.compile(r"__tls_get_addr|_{0,2}mcount|__fentry__|__morestack\w*|__x86_indirect_thunk\w*")
# They end the program.
_LAST = re.compile(
    r"_{0,2}[eE]xit|quick_exit|abort|__assert\w*|__stack_chk_fail|_ZSt9terminatev|_gfortran_(?:error_)?stop\w*|_gfortran_os_error\w*"
)
# Of the runtime's own functions those that the program would find in a library.
_HEAP = {"malloc", "calloc", "realloc", "free", "memalign", "aligned_alloc", "posix_memalign"}
_ROW = 16  # words of a row of homenode_symbols: struct symbol in calls.c
_THROUGH_A_POINTER = ""


def _counter(block: int) -> str:
    cell = f".Lhomenode_count+{8 * block}(%rip)"
    return (
        f"\tleaq -128(%rsp),%rsp\n\tpushq %rax\n\tmovq {cell},%rax\n\tleaq 1(%rax),%rax\n\tmovq %rax,{cell}\n"
        "\tpopq %rax\n\tleaq 128(%rsp),%rsp\n"
    )


@functools.cache
def _of_the_runtime() -> frozenset[str]:
    """Functions that homenode stands in for: what they do is in the trace."""
    listing = subprocess.run(
        ["nm", "-g", "--defined-only", str(capture_runtime() / "twin.o")], capture_output=True, text=True, check=False
    ).stdout
    return frozenset(line.split()[-1] for line in listing.splitlines() if line.split()) - _HEAP


class _Calls:
    """The calls of one file to functions that it does not define, and their hooks."""

    def __init__(self, defined: set[str]) -> None:
        self._inner = defined | _of_the_runtime()
        self.symbols: dict[str, int] = {}
        self.sites: list[tuple[int, int]] = []  # block, symbol

    def _called(self, mnemonic: str, operand: str) -> str | None:
        """The symbol that an instruction calls, the empty name where it takes a pointer, None where it stays in the file."""
        found = _CALLED.match(operand)
        if found is not None:
            name = found["plain"] or found["got"]
            return None if name in self._inner or _LEFT_ALONE.fullmatch(name) or _LAST.fullmatch(name) else str(name)
        return _THROUGH_A_POINTER if mnemonic == "call" and operand.startswith("*") and "@" not in operand else None

    def hooked(self, mnemonic: str, operand: str, block: int) -> tuple[str, str]:
        """What stands before and after an instruction of this block."""
        mnemonic = mnemonic.removesuffix("q")
        name = self._called(mnemonic, operand) if mnemonic in ("call", "jmp") else None
        if name is None:
            return "", ""
        number = self.symbols.setdefault(name, len(self.symbols))
        label = f".Lhomenode_site{len(self.sites)}"
        self.sites.append((block, number))
        row = f".Lhomenode_symbol+{8 * _ROW * number}"
        entry = "homenode_call" if mnemonic == "call" else "homenode_jump"
        before = f"\tsubq $1,{row}(%rip)\n\tjns {label}\n\tcall {entry}\n\t.long {row}-.\n{label}:\n"
        if mnemonic == "jmp":
            return before, ""
        return before, f"\tcmpb $0,homenode_timing(%rip)\n\tje {label}e\n\tcall homenode_returned\n{label}e:\n"

    def tables(self, functions: list[str]) -> str:
        """The rows of this file: called symbols, sites of calls, names of the functions that others may call."""
        if not self.sites and not functions:
            return ""
        out = ['\t.section homenode_symbols,"aw"\n\t.balign 8\n.Lhomenode_symbol:\n']
        out += [f"\t.quad 0,.Lhomenode_name{n}\n\t.zero {8 * (_ROW - 2)}\n" for n in self.symbols.values()]
        out.append('\t.section homenode_calls,"aw"\n\t.balign 8\n')
        out += [f"\t.quad .Lhomenode_count+{8 * b},.Lhomenode_symbol+{8 * _ROW * n}\n" for b, n in self.sites]
        out.append('\t.section homenode_functions,"a"\n')
        out += [f'\t.string "{name}"\n' for name in functions]
        out.append("\t.section .rodata\n")
        out += [f'.Lhomenode_name{number}:\n\t.string "{name}"\n' for name, number in self.symbols.items()]
        return "".join(out)


def _defined(assembly: str) -> tuple[set[str], list[str]]:
    """Functions of this file; those of them that other files may call."""
    functions = set(
        re.findall(r"^\s*\.type\s+([\w.$]+),\s*@(?:function|gnu_indirect_function)", assembly, re.MULTILINE)
    )
    functions &= set(re.findall(r"^([\w.$]+):", assembly, re.MULTILINE)) | set(
        re.findall(r"^\s*\.set\s+([\w.$]+),", assembly, re.MULTILINE)
    )
    seen_outside = set(re.findall(r"^\s*\.(?:globl|global|weak)\s+([\w.$]+)", assembly, re.MULTILINE))
    return functions, sorted(functions & seen_outside)


def with_counters(assembly: str) -> str:
    """The assembly with a counter at the start of every basic block, hooks at calls, and tables of both."""
    out: list[str] = []
    mixes: list[dict[str, int]] = []
    defined, functions = _defined(assembly)
    calls = _Calls(defined)
    in_text = starts = in_asm = False
    for line in assembly.splitlines(keepends=True):
        stripped = line.strip()
        in_asm = stripped == "#APP" or (in_asm and stripped != "#NO_APP")
        if _SECTION.match(stripped):
            in_text = stripped.startswith(".text") or ".text" in stripped
        label = _LABEL.match(stripped)
        if label is not None and in_text:
            out.append(line)
            if not label[1].startswith(_NO_TARGET):
                starts = True
            continue
        after = ""
        if in_text and stripped and stripped[0] not in ".#":
            mnemonic, _, text = stripped.partition("\t")
            if " " in mnemonic:
                mnemonic, _, text = stripped.partition(" ")
            if starts and not mnemonic.startswith("endbr"):
                out.append(_counter(len(mixes)))
                mixes.append(dict.fromkeys(CLASSES, 0))
                starts = False
            if mixes:
                for name, value in classify(mnemonic, text.strip()).items():
                    mixes[-1][name] += value
                before, after = ("", "") if in_asm else calls.hooked(mnemonic, text.strip(), len(mixes) - 1)
                out.append(before)
            # What a call leads to, a parallel region perhaps, ends the stretch that the code before it belongs to.
            if mnemonic.startswith(("j", "ret", "call")):
                starts = True
        out += [line, after]
    count = len(mixes)
    out.append(
        f"\t.local .Lhomenode_count\n\t.comm .Lhomenode_count,{8 * max(count, 1)},64\n\t.section .rodata\n\t.balign 8\n.Lhomenode_mix:\n"
    )
    out += ["\t.short " + ",".join(str(mix[name]) for name in CLASSES) + "\n" for mix in mixes]
    out.append(f'\t.section homenode_blocks,"aw"\n\t.balign 8\n\t.quad .Lhomenode_count,{count},.Lhomenode_mix\n')
    out.append(calls.tables(functions))
    return "".join(out)
