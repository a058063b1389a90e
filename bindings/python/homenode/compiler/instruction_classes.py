"""Classes of one x86-64 instruction in AT&T syntax, as compilers write it."""

import re

CLASSES = ("instructions", "integer", "fp_add", "fp_multiply", "fp_fma", "divide", "load", "store", "branch", "flops")

_PREFIXES = ("lock", "rep", "repz", "repnz", "repe", "repne", "notrack", "bnd", "data16", "cs")
_ADD = re.compile(r"v?(add|sub|min|max|addsub|hadd|hsub|ucomi|comi|cmp|cmp[a-z]+|round|rndscale)(ss|sd|ps|pd)$")
_MULTIPLY = re.compile(r"v?mul(ss|sd|ps|pd)$")
_FMA = re.compile(r"vfn?m(add|sub|addsub|subadd)(132|213|231)?(ss|sd|ps|pd)$")
_DIVIDE = re.compile(r"v?(div|sqrt|rcp|rsqrt)(ss|sd|ps|pd)$|i?div[lqwb]?$")
_ARITHMETIC = re.compile(r"v?(add|sub|mul|div|sqrt|min|max)(ss|sd|ps|pd)$|vfn?m(add|sub)")


def operands(text: str) -> list[str]:
    """Operands of an instruction; commas inside parentheses do not separate."""
    result, depth, current = [], 0, ""
    for character in text:
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0:
            result.append(current.strip())
            current = ""
        else:
            current += character
    return [*result, current.strip()] if current.strip() else result


def _lanes(mnemonic: str, names: list[str]) -> int:
    if mnemonic.endswith(("ss", "sd")):
        return 1
    width = 64 if any("zmm" in n for n in names) else 32 if any("ymm" in n for n in names) else 16
    return width // (4 if mnemonic.endswith("ps") else 8)


def classify(mnemonic: str, text: str) -> dict[str, int]:
    """How much of each class one instruction is; a memory operand adds a load, a store or both to the operation's class."""
    counts = dict.fromkeys(CLASSES, 0)
    counts["instructions"] = 1
    while mnemonic in _PREFIXES:
        parts = text.split(None, 1)
        mnemonic, text = [*parts, ""][0], [*parts, "", ""][1]
    names = operands(text.split("#")[0].split("<")[0])
    memory = ["(" in name or re.match(r"^[A-Za-z_.][\w.@+-]*$", name) is not None for name in names]
    branch = mnemonic.startswith(("j", "call", "ret", "loop"))
    if branch:
        counts["branch"] = 1
        memory = [name.startswith("*") and "(" in name for name in names]
    elif mnemonic.startswith(("nop", "endbr", "leave", "prefetch", "hlt", "ud2")):
        counts["integer"] = 1
        return counts
    if _ADD.match(mnemonic):
        counts["fp_add"] = 1
    elif _MULTIPLY.match(mnemonic):
        counts["fp_multiply"] = 1
    elif _FMA.match(mnemonic):
        counts["fp_fma"] = 1
    elif _DIVIDE.match(mnemonic):
        counts["divide"] = 1
    elif not branch and not (mnemonic.startswith(("mov", "vmov")) and any(memory)):
        counts["integer"] = 1
    if _ARITHMETIC.match(mnemonic):
        counts["flops"] = _lanes(mnemonic, names) * (2 if _FMA.match(mnemonic) else 1)
    if mnemonic.startswith("push") or mnemonic.startswith("call"):
        counts["store"] = 1
    elif mnemonic.startswith(("pop", "ret")):
        counts["load"] = 1
    elif any(memory) and not mnemonic.startswith("lea"):
        writes_last = memory[-1] and (len(names) > 1 or mnemonic.startswith(("inc", "dec", "neg", "not", "set")))
        if not writes_last or mnemonic.startswith(("cmp", "test", "bt", "ucomi", "comi", "vucomi", "vcomi")):
            counts["load"] = 1
        elif mnemonic.startswith(("mov", "vmov", "set", "vextract")):
            counts["store"] = 1
        else:
            counts["load"] = counts["store"] = 1
    return counts
