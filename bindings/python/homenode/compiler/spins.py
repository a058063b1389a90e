"""Loops of the compiler's assembly that wait for another thread, and a hook where they go round.

Twin and timed program run one thread at a time: a loop that waits for a word must let the others go on. A loop waits if it writes no
memory, calls nothing and takes no register over from one round to the next, for then each round does what the round before did
until somebody else writes what it reads. Slots of the function's frame count as registers. Exchanges, comparisons with exchange and
bits that are tested and set are allowed: so spin locks are written.
traces/capture/runtime/futex.c has the hook.
"""

import dataclasses
import re

from homenode.compiler.instruction_classes import operands

_MOST = 64  # instructions of a loop
_LABEL = re.compile(r"([\w.$]+):")
_SECTION = re.compile(r"\.(?:text|section|data|bss|pushsection|popsection|previous)\b")
_REGISTER = re.compile(r"%(?:[er]?([abcd])[xhl]|[er]?(si|di|bp|sp)l?|r(\d+)[dwb]?|[xyz]mm(\d+))(?!\w)")
_SLOT = re.compile(r"(?<![\w)])(-?\d*)\(%r(bp|sp)\)")  # of the frame
_NOTHING = re.compile(
    r"(?:pause|rep;?\s*nop|nop\w*|endbr64|[lm]fence|lock;?\s+or[lq]\s+\$0,\s*(?:0?\(%[er]sp\)))(?:\W.*)?"
)
_MOVES = re.compile(r"v?mov(?!nt)\w*|lea[lqw]?|set\w+")
_COMPARES = re.compile(r"cmp[bwlq]?|test[bwlq]?|bt[wlq]?|v?u?comis[sd]")
_CHANGES = re.compile(r"(?:add|sub|and|or|xor|imul|sh[lr]|sa[lr]|not|neg|inc|dec|cmov\w+?)[bwlq]?|v?p?xor\w*")
_EXTENDS = {"cltq": "%eax", "cwtl": "%eax", "cltd": "%edx", "cqto": "%rdx"}


def _registers(text: str) -> set[str]:
    slots = {f"{found[1]}({found[2]})" for found in _SLOT.finditer(text)}
    return slots | {f"{found.lastindex}{found[found.lastindex or 0]}" for found in _REGISTER.finditer(text)}


@dataclasses.dataclass
class _Effect:
    """Registers that an instruction reads and writes; where it may jump to."""

    reads: set[str] = dataclasses.field(default_factory=set)
    writes: set[str] = dataclasses.field(default_factory=set)
    target: str | None = None


def _exchange(mnemonic: str, text: str) -> _Effect | None:
    """Of an exchange with memory; None if it is another instruction."""
    if mnemonic.rstrip(";") == "lock":
        mnemonic, _, text = text.partition(" ")
    if re.fullmatch(r"bt[sr][wlq]", mnemonic):
        return _Effect(_registers(text))
    if re.fullmatch(r"xchg[bwlq]?", mnemonic):
        return _Effect(
            _registers(text), {register for name in operands(text) if "(" not in name for register in _registers(name)}
        )
    if re.fullmatch(r"cmpxchg[bwlq]?", mnemonic):
        return _Effect(_registers(text + "%rax"), _registers("%rax"))
    return None


def _effect(instruction: str) -> _Effect | None:
    """What an instruction of a loop that waits does; None for one that such a loop has not."""
    instruction = " ".join(instruction.split())
    if _NOTHING.fullmatch(instruction):
        return _Effect()
    mnemonic, _, text = instruction.partition(" ")
    if mnemonic.startswith("j"):
        return None if text.startswith("*") else _Effect(target=text)
    if mnemonic in _EXTENDS:
        return _Effect(_registers("%rax"), _registers(_EXTENDS[mnemonic]))
    if mnemonic.rstrip(";") == "lock" or mnemonic.startswith(("xchg", "cmpxchg")):
        return _exchange(mnemonic, text)
    names = operands(text)
    if not names:
        return None
    if _COMPARES.fullmatch(mnemonic):
        return _Effect(_registers(text))
    to = names[-1]
    slot = _SLOT.fullmatch(to)
    if not (slot or re.fullmatch(r"%\w+", to)) or (len(names) == 1 and mnemonic.startswith("imul")):
        return None  # it writes memory, or more than it names
    written = {f"{slot[1]}({slot[2]})"} if slot else _registers(to)
    if _MOVES.fullmatch(mnemonic):
        return _Effect(_registers(",".join(names[:-1])), written)
    if _CHANGES.fullmatch(mnemonic):
        cleared = "xor" in mnemonic and len(set(names)) == 1
        return _Effect(set() if cleared else _registers(text), written)
    return None


class _Code:
    """The instructions of one section: what each does, and where it goes on."""

    def __init__(self) -> None:
        self.lines: list[tuple[int, str]] = []  # number and text
        self.begins: dict[str, int] = {}  # of labels: how many instructions stand before them
        self._effects: dict[int, _Effect | None] = {}

    def effect(self, at: int) -> _Effect | None:
        if at not in self._effects:
            self._effects[at] = _effect(self.lines[at][1])
        return self._effects[at]

    def _next(self, at: int) -> list[int]:
        effect = self.effect(at)
        target = self.begins.get(effect.target) if effect is not None and effect.target is not None else None
        ways = [] if target is None else [target]
        return ways if self.lines[at][1].startswith("jmp") else [*ways, at + 1]

    def _round(self, jump: int, head: int) -> dict[int, list[int]]:
        """Instructions on ways from the head to the jump on which nothing changes memory, each with those behind it; empty if many."""
        ways: dict[int, list[int]] = {}
        left = [head]
        while left:
            at = left.pop()
            if at in ways or at >= len(self.lines) or self.effect(at) is None:
                continue
            ways[at] = [] if at == jump else self._next(at)
            left += ways[at]
            if len(ways) > _MOST:
                return {}
        leading = {jump} & ways.keys()
        while more := {at for at, behind in ways.items() if at not in leading and leading & set(behind)}:
            leading |= more
        return {at: [to for to in ways[at] if to in leading] for at in leading}

    def waits(self, jump: int, head: int) -> bool:
        """Whether the rounds that this jump ends each do what the one before did."""
        ways = self._round(jump, head)
        if head not in ways:
            return False
        effects = {at: self.effect(at) or _Effect() for at in ways}
        needed: dict[int, set[str]] = {at: set() for at in ways}  # registers whose value matters there
        changed = True
        while changed:
            changed = False
            for at, behind in ways.items():
                later: set[str] = set().union(*(needed[to] for to in behind))
                now = effects[at].reads | (later - effects[at].writes)
                changed |= now != needed[at]
                needed[at] = now
        return not needed[head] & set().union(*(effect.writes for effect in effects.values()))


def _sections(lines: list[str]) -> list[_Code]:
    result = [_Code()]
    for number, line in enumerate(lines):
        stripped = line.strip()
        if _SECTION.match(stripped):
            result.append(_Code())
        if found := _LABEL.match(stripped):
            result[-1].begins[found[1]] = len(result[-1].lines)
        elif stripped and stripped[0] not in ".#":
            result[-1].lines.append((number, stripped.partition("#")[0].strip()))
    return result


def routed(assembly: str) -> tuple[str, dict[str, str]]:
    """The assembly whose waiting loops go round by labels of their own; by each such label the loop's first one."""
    lines = assembly.splitlines(keepends=True)
    heads: dict[str, str] = {}
    for code in _sections(lines):
        for jump, (number, text) in enumerate(code.lines):
            if not text.startswith("j"):
                continue
            target = text.split()[-1]
            if code.begins.get(target, jump + 1) <= jump and code.waits(jump, code.begins[target]):
                label = f".Lhomenode_spin{len(heads)}"
                heads[label] = target
                before, _, after = lines[number].rpartition(target)
                lines[number] = before + label + after
    return "".join(lines), heads


def with_hooks(assembly: str, heads: dict[str, str]) -> str:
    """Routed assembly with what stands behind its labels: a call that gives others their turn, and the way to the loop's begin."""
    if not heads:
        return assembly
    out: list[str] = []
    for line in assembly.splitlines(keepends=True):
        out.append(line)
        words = line.split()
        label = words[1] if len(words) > 1 and words[0].startswith("j") else ""
        if label in heads:
            out.append(
                f"\t.subsection 1\n{label}:\n\tleaq -128(%rsp),%rsp\n\tcall homenode_spins\n\tleaq 128(%rsp),%rsp\n"
                f"\tjmp {heads[label]}\n\t.previous\n"
            )
    return "".join(out)
