"""The uninstrumented twin: the compiler's final assembly with a few instructions before every basic block that write down that it runs,
and a hook at calls that leave the file.

They change no register and no flag (lea, mov, movz, push, pop, jrcxz only, below the red zone), so the code between them is what
gcc made of the original source with the original flags and schedule; see traces/capture/runtime/code_log.c for the other side.
Hooks stand before and after a call, where no flag is alive; traces/capture/runtime/calls.c says what they are for.
"""

import dataclasses
import functools
import math
import re
import subprocess

from homenode.compiler.instruction_classes import CLASSES, classify
from homenode.compiler.source_places import SourcePlaces
from homenode.resources import capture_runtime

_SECTION = re.compile(r"\.(text|section|data|bss|pushsection|popsection|previous)")
_LABEL = re.compile(r"([\w.$]+):")
# Beginnings of labels that nothing jumps to: debug information, constants.
_NO_TARGET = (".LF", ".LV", ".LBB", ".LBE", ".LE", ".LHOT", ".LC", ".Lt", ".LLS", ".Letext", ".LM")
_ATTRIBUTES = (".hidden", ".weak", ".globl")
_CALLED = re.compile(r"(?:(?P<plain>[A-Za-z_][\w.$]*)(?:@PLT)?|\*(?P<got>[A-Za-z_][\w.$]*)@GOTPCREL\(%rip\))$")
# Calls whose bytes the linker rewrites, or which happen before a frame is set up.
_LEFT_ALONE = re.compile(r"__tls_get_addr|_{0,2}mcount|__fentry__|__morestack\w*|__x86_indirect_thunk\w*")
# The C++ library's ways to what homenode stands in for: threads and conditions are in the trace.
_TO_THE_RUNTIME = re.compile(r"_ZNSt6thread(?:15_M_start_thread\w+|4joinEv|6detachEv)|_ZNSt18condition_variable\w+")
# They end the program.
_LAST = re.compile(
    r"_{0,2}[eE]xit|quick_exit|abort|__assert\w*|__stack_chk_fail|_ZSt9terminatev|_gfortran_(?:error_)?stop\w*|_gfortran_os_error\w*"
)
# Of the runtime's own functions those that the program would find in a library.
_HEAP = {"malloc", "calloc", "realloc", "free", "memalign", "aligned_alloc", "posix_memalign"}
_MOST_OF_A_BLOCK = 0xFFFF  # instructions: a cell's and a fact's 16 bits
_ROW = 18  # words of a row of homenode_symbols: struct symbol in calls.c
_THROUGH_A_POINTER = ""
_BEFORE_A_BRANCH = ("notrack", "bnd", "rep", "repz")
# How a block ends: the numbers of code_log.h.
_FALLS_THROUGH, _CONDITIONAL, _JUMP, _INDIRECT_JUMP, _CALL, _INDIRECT_CALL, _RETURN = range(7)


def _kind(mnemonic: str, operand: str) -> int:
    """How a block ends whose last instruction is this one."""
    while mnemonic in _BEFORE_A_BRANCH:
        mnemonic, _, operand = operand.partition(" ")
    if mnemonic.startswith("ret"):
        return _RETURN
    indirect = operand.startswith("*")
    if mnemonic.startswith("call"):
        return _INDIRECT_CALL if indirect else _CALL
    if mnemonic.startswith("jmp"):
        return _INDIRECT_JUMP if indirect else _JUMP
    return _CONDITIONAL


def _beginning(block: int) -> str:
    """What stands before a block: its descriptor's address goes to the log; when the low 16 bits of the place are 0, the log is full."""
    return (
        "\tleaq -128(%rsp),%rsp\n\tpushq %rcx\n\tpushq %rax\n\tmovq homenode_at(%rip),%rcx\n"
        f"\tleaq .Lhomenode_code{block}(%rip),%rax\n\tmovq %rax,(%rcx)\n\tleaq 8(%rcx),%rcx\n\tmovq %rcx,homenode_at(%rip)\n"
        f"\tmovzwl %cx,%ecx\n\tjrcxz .Lhomenode_full{block}\n\tjmp .Lhomenode_on{block}\n"
        f".Lhomenode_full{block}:\n\tcall homenode_full\n"
        f".Lhomenode_code{block}:\n\t.long .Lhomenode_cells+{32 * block}-.,.Lhomenode_begin{block}-.Lhomenode_code{block},"
        f".Lhomenode_end{block}-.Lhomenode_begin{block}\n"
        f".Lhomenode_on{block}:\n\tpopq %rax\n\tpopq %rcx\n\tleaq 128(%rsp),%rsp\n.Lhomenode_begin{block}:\n"
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
        self.symbol_of: dict[int, int] = {}  # by block

    def _called(self, mnemonic: str, operand: str) -> str | None:
        """The symbol that an instruction calls, the empty name where it takes a pointer, None where it stays in the file."""
        found = _CALLED.match(operand)
        if found is not None:
            name = found["plain"] or found["got"]
            left = _LEFT_ALONE.fullmatch(name) or _LAST.fullmatch(name) or _TO_THE_RUNTIME.fullmatch(name)
            return None if name in self._inner or left else str(name)
        return _THROUGH_A_POINTER if mnemonic == "call" and operand.startswith("*") and "@" not in operand else None

    def hooked(self, mnemonic: str, operand: str, block: int) -> tuple[str, str]:
        """What stands before and after an instruction of this block."""
        mnemonic = mnemonic.removesuffix("q")
        name = self._called(mnemonic, operand) if mnemonic in ("call", "jmp") else None
        if name is None:
            return "", ""
        number = self.symbols.setdefault(name, len(self.symbols))
        label = f".Lhomenode_site{block}"
        self.symbol_of[block] = number
        row = f".Lhomenode_symbol+{8 * _ROW * number}"
        entry = "homenode_call" if mnemonic == "call" else "homenode_jump"
        before = f"\tsubq $1,{row}(%rip)\n\tjns {label}\n\tcall {entry}\n\t.long {row}-.\n{label}:\n"
        if mnemonic == "jmp":
            return before, ""
        return before, f"\tcmpb $0,homenode_timing(%rip)\n\tje {label}e\n\tcall homenode_returned\n{label}e:\n"

    def tables(self, functions: list[str]) -> str:
        """The rows of this file: called symbols, sites of calls, names of the functions that others may call."""
        if not self.symbols and not functions:
            return ""
        out = ['\t.section homenode_symbols,"aw"\n\t.balign 8\n.Lhomenode_symbol:\n']
        out += [f"\t.quad 0,.Lhomenode_name{n}\n\t.zero {8 * (_ROW - 2)}\n" for n in self.symbols.values()]
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
    aliases = re.findall(r"^\s*\.set\s+([\w.$]+),\s*([\w.$]+)\s*$", assembly, re.MULTILINE)
    functions &= set(re.findall(r"^([\w.$]+):", assembly, re.MULTILINE)) | {name for name, _ in aliases}
    functions |= {
        name for name, same in aliases if same in functions
    }  # constructors: an alias without a type of its own
    seen_outside = set(re.findall(r"^\s*\.(?:globl|global|weak)\s+([\w.$]+)", assembly, re.MULTILINE))
    return functions, sorted(functions & seen_outside)


@dataclasses.dataclass
class _Block:
    """One basic block."""

    mix: dict[str, int] = dataclasses.field(default_factory=lambda: dict.fromkeys(CLASSES, 0))
    kind: int = _FALLS_THROUGH
    file: str | None = None
    line: int = 0
    places: list[tuple[int, int, str | None]] = dataclasses.field(default_factory=list)

    def note_place(self, place: SourcePlaces) -> None:
        """The next instruction is of this line: noted where the one before it is of another one."""
        _, line, file = self.places[-1] if self.places else (0, self.line, self.file)
        number = self.mix["instructions"]
        if 0 < number < _MOST_OF_A_BLOCK and (line, file) != (place.line, place.file):
            self.places.append((number, place.line, place.file))


class _Blocks:
    """The blocks of one file, and where they end."""

    def __init__(self) -> None:
        self.all: list[_Block] = []
        self._open = False

    @property
    def is_open(self) -> bool:
        """Whether a block has begun and not ended."""
        return self._open

    def end(self) -> str:
        """The label behind the block that has not ended yet."""
        if not self._open:
            return ""
        self._open = False
        return f".Lhomenode_end{len(self.all) - 1}:\n"

    def begin(self, place: SourcePlaces) -> str:
        """What stands between the block before and a new one of this source line."""
        ended = self.end()
        self.all.append(_Block(file=place.file, line=place.line))
        self._open = True
        return ended + _beginning(len(self.all) - 1)

    @staticmethod
    def _at(files: dict[str, int], file: str | None) -> str:
        """Where its name stands, from here."""
        return f".Lhomenode_file{files[file]}-." if file else "0"

    def tables(self, symbol_of: dict[int, int]) -> str:
        """Cells, facts and places: struct hn_cell, struct hn_facts, struct hn_place."""
        named = [file for block in self.all for file in (block.file, *(file for _, _, file in block.places)) if file]
        files = {file: number for number, file in enumerate(dict.fromkeys(named))}
        out = ['\t.section homenode_cells,"aw"\n\t.balign 32\n.Lhomenode_cells:\n']
        out += [
            f"\t.quad 0,0,0\n\t.long 0\n\t.short {block.mix['instructions']}\n\t.byte {block.kind},0\n"
            for block in self.all
        ]
        out.append('\t.section homenode_facts,"a"\n\t.balign 4\n')
        for number, block in enumerate(self.all):
            file = self._at(files, block.file)
            called = f".Lhomenode_symbol+{8 * _ROW * symbol_of[number]}-." if number in symbol_of else "0"
            mix = ",".join(str(block.mix[name]) for name in CLASSES)
            out.append(f"\t.short {mix}\n\t.long {block.line}\n\t.long {file}\n\t.long {called}\n")
        out.append('\t.section homenode_places,"a"\n\t.balign 4\n')
        for number, block in enumerate(self.all):
            cell = f".Lhomenode_cells+{32 * number}-."
            out += [f"\t.long {cell},{first},{line},{self._at(files, file)}\n" for first, line, file in block.places]
        out.append("\t.section .rodata\n")
        out += [f'.Lhomenode_file{number}:\n\t.string "{file}"\n' for file, number in files.items()]
        return "".join(out)


class _Repeats:
    """Directives of an `asm` that have the assembler take lines again. A label there would be defined as often."""

    _BEGIN = re.compile(r"\.(rept|irpc?|macro)\b(.*)")

    def __init__(self) -> None:
        self._times: list[int] = []

    def begins(self, stripped: str) -> bool:
        """Whether this line is such a directive. How often `.rept` of a number repeats is known, of the others once is assumed."""
        found = self._BEGIN.match(stripped)
        if found is None:
            return False
        given = found[2].strip()
        often = int(given) if found[1] == "rept" and given.isdecimal() else 1
        self._times.append(0 if found[1] == "macro" else often)
        return True

    def ends(self, stripped: str) -> None:
        """The innermost, if this line says so."""
        if self._times and stripped.startswith((".endr", ".endm")):
            self._times.pop()

    @property
    def inside(self) -> bool:
        """Whether lines are repeated."""
        return bool(self._times)

    def count(self, block: _Block, mnemonic: str, text: str) -> None:
        """An instruction of the block, as often as it is repeated."""
        for name, value in classify(mnemonic, text).items():
            block.mix[name] = min(block.mix[name] + value * math.prod(self._times), _MOST_OF_A_BLOCK)


class _Sections:
    """In which kind of section the lines lie. An `asm` may put some elsewhere and come back (.pushsection, .previous)."""

    def __init__(self) -> None:
        self.in_text = self.in_debug = False
        self._before = (False, False)
        self._pushed: list[tuple[tuple[bool, bool], tuple[bool, bool]]] = []

    def take(self, directive: str) -> None:
        """A directive that changes the section."""
        now = (self.in_text, self.in_debug)
        if directive.startswith(".popsection"):
            now, self._before = self._pushed.pop() if self._pushed else (now, self._before)
        elif directive.startswith(".previous"):
            now, self._before = self._before, now
        else:
            if directive.startswith(".pushsection"):
                self._pushed.append((now, self._before))
            self._before = now
            now = (directive.startswith(".text") or ".text" in directive, ".debug_" in directive)
        self.in_text, self.in_debug = now


def with_counters(assembly: str) -> str:
    """The assembly with what notes each basic block before it, hooks at calls, and tables of both; without debug information."""
    out: list[str] = []
    blocks = _Blocks()
    defined, functions = _defined(assembly)
    calls = _Calls(defined)
    places, repeats, sections = SourcePlaces(), _Repeats(), _Sections()
    starts = in_asm = False
    for line in assembly.splitlines(keepends=True):
        stripped = line.strip()
        if places.take(stripped):
            continue
        in_asm = stripped == "#APP" or (in_asm and stripped != "#NO_APP")
        if _SECTION.match(stripped):
            if not repeats.inside:
                starts = starts or (in_asm and blocks.is_open)  # what the `asm` comes back to
                out.append(blocks.end() if sections.in_text else "")
            sections.take(stripped)
        in_text = sections.in_text
        # gcc says what the symbols behind the debug information are before it leaves the section.
        if sections.in_debug and not stripped.startswith(_ATTRIBUTES):
            continue
        label = _LABEL.match(stripped)
        if in_asm and in_text and repeats.begins(stripped) and starts:
            out.append(blocks.begin(places))
            starts = False
        repeats.ends(stripped)
        if label is not None and in_text and not repeats.inside:
            out.append(line)
            if not label[1].startswith(_NO_TARGET):
                starts = True
            continue
        after = ""
        if in_text and stripped and stripped[0] not in ".#":
            mnemonic, _, text = stripped.partition("\t")
            if " " in mnemonic:
                mnemonic, _, text = stripped.partition(" ")
            text = text.strip()
            if repeats.inside:
                if blocks.all:
                    repeats.count(blocks.all[-1], mnemonic, text)
                out.append(line)
                continue
            if starts and not mnemonic.startswith("endbr"):
                out.append(blocks.begin(places))
                starts = False
            # What a call leads to, a parallel region perhaps, ends the stretch that the code before it belongs to.
            last = text if mnemonic in _BEFORE_A_BRANCH else mnemonic
            ends = last.startswith(("j", "ret", "call"))
            if blocks.all:
                block = blocks.all[-1]
                block.note_place(places)
                repeats.count(block, mnemonic, text)
                before, after = ("", "") if in_asm else calls.hooked(mnemonic, text, len(blocks.all) - 1)
                if ends:
                    block.kind = _kind(mnemonic, text)
                out += [blocks.end() if before else "", before, line, blocks.end() if ends else "", after]
                starts = starts or ends
                continue
        out.append(line)
    out.append(blocks.tables(calls.symbol_of))
    out.append(calls.tables(functions))
    return "".join(out)
