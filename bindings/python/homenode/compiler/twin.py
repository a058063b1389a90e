"""The uninstrumented twin: the compiler's final assembly with a counter in every basic block.

The counters change no register and no flag (lea, mov, push, pop only, below the red zone), so the code between them is what
gcc made of the original source with the original flags and schedule; see traces/capture/runtime/work.c for the other side.
"""

import re

from homenode.compiler.instruction_classes import CLASSES, classify

_SECTION = re.compile(r"\.(text|section|data|bss|pushsection|popsection|previous)")
_LABEL = re.compile(r"([\w.$]+):")
# Beginnings of labels that nothing jumps to: debug information, constants.
_NO_TARGET = (".LF", ".LV", ".LBB", ".LBE", ".LE", ".LHOT", ".LC", ".Lt", ".LLS", ".Letext", ".LM")


def _counter(block: int) -> str:
    cell = f".Lhomenode_count+{8 * block}(%rip)"
    return (
        f"\tleaq -128(%rsp),%rsp\n\tpushq %rax\n\tmovq {cell},%rax\n\tleaq 1(%rax),%rax\n\tmovq %rax,{cell}\n"
        "\tpopq %rax\n\tleaq 128(%rsp),%rsp\n"
    )


def with_counters(assembly: str) -> str:
    """The assembly with a counter at the start of every basic block and the table of what each block does."""
    out: list[str] = []
    mixes: list[dict[str, int]] = []
    in_text = starts = False
    for line in assembly.splitlines(keepends=True):
        stripped = line.strip()
        if _SECTION.match(stripped):
            in_text = stripped.startswith(".text") or ".text" in stripped
        label = _LABEL.match(stripped)
        if label is not None and in_text:
            out.append(line)
            if not label[1].startswith(_NO_TARGET):
                starts = True
            continue
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
            # What a call leads to, a parallel region perhaps, ends the stretch that the code before it belongs to.
            if mnemonic.startswith(("j", "ret", "call")):
                starts = True
        out.append(line)
    count = len(mixes)
    out.append(
        f"\t.local .Lhomenode_count\n\t.comm .Lhomenode_count,{8 * max(count, 1)},64\n\t.section .rodata\n\t.balign 8\n.Lhomenode_mix:\n"
    )
    out += ["\t.short " + ",".join(str(mix[name]) for name in CLASSES) + "\n" for mix in mixes]
    out.append(f'\t.section homenode_blocks,"aw"\n\t.balign 8\n\t.quad .Lhomenode_count,{count},.Lhomenode_mix\n')
    return "".join(out)
