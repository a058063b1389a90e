"""Copies that gcc would expand in line, made calls: only a call of memcpy and its kin is recorded as the bulk operation that it is.

-fno-builtin-memcpy does it for `memcpy` in the program's own text, but headers (libstdc++'s algorithms, glibc's _FORTIFY_SOURCE) say
`__builtin_memcpy`. Copies of 1, 2, 4, 8 or 16 bytes stay gcc's: it makes one load and one store of them, which are recorded as such.
"""

import re

_BUILTIN = re.compile(r"\b__builtin_(?P<name>mem(?:p?cpy|move|set)|__mem(?:p?cpy|move|set)_chk)\b")
# A character's quotation mark begins no string.
_LITERAL_OR_BUILTIN = re.compile(r"""'\\?"'|"(?:[^"\\\n]|\\.)*"|""" + _BUILTIN.pattern)
_SCALAR = "(__builtin_constant_p(n) && (n == 1 || n == 2 || n == 4 || n == 8 || n == 16))"


def _declaration(name: str, cxx: bool, constant: str) -> str:
    plain = name.removeprefix("__").removesuffix("_chk")
    source = "int s" if plain == "memset" else "const void* s"
    room = ", unsigned long room __attribute__((__unused__))" if plain != name else ""
    linkage = 'extern "C"' if cxx else "extern"
    evaluated = "__builtin_is_constant_evaluated() || " if constant else ""
    # No builtin has the name of the called function; the assembler knows it by the builtin's symbol.
    return (
        f"{linkage} void* __homenode_call_{name}(void*, {source}, unsigned long) "
        f'__asm__("{plain}") __attribute__((__nothrow__));\n'
        f"{'inline' if cxx else 'static __inline'} __attribute__((__always_inline__, __unused__)) "
        f"{constant}void* __homenode_{name}(void* d, {source}, unsigned long n{room}) {{\n"
        f"  return {evaluated}{_SCALAR} ? __builtin_{plain}(d, s, n) : __homenode_call_{name}(d, s, n);\n}}\n"
    )


def as_calls(text: str, source: str, cxx: bool, flags: list[str]) -> str:
    """A preprocessed C or C++ source whose builtin copies are calls."""
    names = sorted({found["name"] for found in _BUILTIN.finditer(text)})
    if not names:
        return text
    old = any(re.match(r"-std=(?:c|gnu)\+\+(?:98|03)$|-ansi$", flag) for flag in flags)
    constant = "constexpr " if cxx and not old else ""
    # As from a system header: no warnings about it. The first marker names the file that is compiled.
    marker = text.partition("\n")[0] if text.startswith("# ") else f'# 1 "{source}"'
    prelude = '# 1 "homenode-copies.h" 1 3\n' + "".join(_declaration(name, cxx, constant) for name in names)
    calls = _LITERAL_OR_BUILTIN.sub(lambda found: f"__homenode_{found['name']}" if found["name"] else found[0], text)
    return f'{marker}\n{prelude}# 1 "{source}" 2\n' + (calls if text.startswith("# ") else f"{marker}\n{calls}")
