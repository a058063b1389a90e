"""Accesses that gcc's thread sanitizer leaves out, found in gcc's own text of the program after its instrumentation.

In that text (-fdump-tree-tsan), a statement that reads or writes memory follows a call of `__tsan_readN` or `__tsan_writeN`; what does not
is never recorded. gcc leaves out arrays and structures on the stack whose address stays in the function, read-only tables, and what
machine-specific builtins do (gcc/tsan.cc, instrument_expr).
"""

import re
from collections import Counter
from pathlib import Path

_FUNCTION = re.compile(r"^;; Function .*\((?P<symbol>[^\s,()]+), funcdef_no=")
_DECLARATION = re.compile(
    r"^  (?P<type>(?:[^=()]|\(kind=\d+\))+) (?P<name>[\w.$]+)(?P<array>(?:\[[^\]]*\])*)(?: \[value-expr: .*\])?;$"
)
_BLOCK = re.compile(r"^  <bb \d+> \[local count: (?P<count>\d+)")
_TOLD = re.compile(r"__builtin___tsan_(?:volatile_|unaligned_)?(?:read|write)|__builtin___tsan_vptr_")
_ADDRESS = re.compile(r"^[\w.$]+(?:\(D\))? = (?:&.*|[\w.$()]+ [+-] \w+);$")  # of what the sanitizer's next call tells
_HARMLESS = re.compile(r"^(?:#|<|//|\}|\{|return\b|goto\b|else\b|.*CLOBBER|.*\.DEFERRED_INIT|.*__builtin___tsan_)")
_VECTOR = re.compile(
    r"__builtin_ia32_(?P<name>\w*(?:gather|scatter|mask(?:load|store|mov)|movnt|lddqu|expandload|compressstore)\w*) \("
)
_COPY = re.compile(r"__builtin_(?:mem(?:cpy|move|set)|mempcpy) \(")
_ATOMIC = re.compile(r"\.ATOMIC_COMPARE_EXCHANGE \(")
_TEXT = re.compile(r'"(?:[^"\\]|\\.)*"')
# NAME[index] and NAME.field; not &NAME[index], which is an address.
_NAMED = re.compile(r"(?<![\w.&$>])(?P<name>[A-Za-z_][\w$]*(?:\.\d+)*)(?=\[|\.[A-Za-z_])")
# MEM <type> [(type *)&NAME + 8B]: another way to say NAME[...]
_THROUGH = re.compile(r"MEM(?: <[^>]*>)? ?\[\((?:[^()]|\([^()]*\))*\)&(?P<name>[A-Za-z_][\w.$]*)[^\]]*\]")
# The compiler's own: NAME.111, D.4228, __var_1_mma, <retval>; parts of a program are not called so.
_OWN = re.compile(r"D[.]|<|_|.*\.\d+$")
_TYPE = re.compile(r"(?<=[A-Z]) ?<[^<>]*>")  # MEM <struct t[3]>, VIEW_CONVERT_EXPR<t[3]>
_WORDS = frozenset(("MEM", "TARGET_MEM_REF", "VIEW_CONVERT_EXPR", "BIT_FIELD_REF", "operator"))

STACK = "on the stack, whose address stays in the function: gcc does not instrument it"
TABLE = "read-only: gcc does not instrument it"
COPY = "copy or fill of a constant size, expanded in line: not recorded"
VECTOR = "gcc does not instrument this vector intrinsic"


def _functions_of(dump: Path) -> dict[str, list[str]]:
    """The lines of each function's body by its symbol."""
    found: dict[str, list[str]] = {}
    body: list[str] = []
    for text in dump.read_text("latin-1").splitlines() if dump.is_file() else []:
        if (header := _FUNCTION.match(text)) is not None:
            body = found.setdefault(header["symbol"], [])
        else:
            body.append(text)
    return found


def _aggregates(body: list[str]) -> set[str]:
    """Arrays and structures that a function has on its stack."""
    names = set()
    for text in body:
        if text.startswith("  <bb"):
            break
        found = _DECLARATION.match(text)
        if found is None or text.startswith("  static "):
            continue
        record = re.match(r"(?:struct|union|class)\b", found["type"]) and not found["type"].endswith(("*", "&"))
        if found["array"] or record:
            names.add(found["name"])
    return names


def copies(optimized: Path) -> Counter[str]:
    """By function, how many calls of memcpy and its kin gcc may still expand in line."""
    found = {
        symbol: sum(1 for text in body if _COPY.search(_TEXT.sub('""', text)))
        for symbol, body in _functions_of(optimized).items()
    }
    return Counter({symbol: count for symbol, count in found.items() if count})


def uninstrumented(after_tsan: Path, optimized: Path) -> Counter[tuple[str, str]]:
    """By function (its symbol) and reason, how many statements use memory without telling.

    Stack arrays that gcc dissolves into registers later on are in no memory: `optimized` no longer declares them. Tolerance: what
    `main` does outside its loops is done once, so as many accesses as statements; it is not counted.
    """
    kept = {symbol: _aggregates(body) for symbol, body in _functions_of(optimized).items()}
    lost: Counter[tuple[str, str]] = Counter()
    for symbol, body in _functions_of(after_tsan).items():
        local = _aggregates(body)
        on_stack = local & kept.get(symbol, set())
        told = started = False
        first: int | None = None
        once = symbol in ("main", "MAIN__")
        negligible = False
        for text in body:
            started |= text.startswith("  <bb")
            if (block := _BLOCK.match(text)) is not None:
                count = int(block["count"])
                first = count if first is None else first
                negligible = once and count <= first
            statement = _TEXT.sub('""', text).strip()
            if not started or not statement:
                continue
            if _TOLD.search(statement):
                told = True
            elif not _HARMLESS.match(statement) and not (told and _ADDRESS.match(statement)):
                if not told and not negligible:
                    lost.update((symbol, reason) for reason in _reasons(statement, local, on_stack))
                told = False
    return lost


def _reasons(statement: str, local: set[str], on_stack: set[str]) -> set[str]:
    if (vector := _VECTOR.search(statement)) is not None:
        return {f"{vector['name']}: {VECTOR}"}
    if _ATOMIC.search(statement):  # the load before it is recorded as the update
        return set()
    found = set()
    statement = _TYPE.sub("", _THROUGH.sub(r"\g<name>[0]", statement))
    for name in {match["name"] for match in _NAMED.finditer(statement)} - _WORDS:
        if name in on_stack:
            found.add(f"{'a temporary' if _OWN.match(name) else repr(name)} {STACK}")
        elif name not in local and re.search(rf"= .*(?<![\w.$]){re.escape(name)}\[", statement):
            found.add(f"{'a table of the compiler' if _OWN.match(name) else repr(name)} {TABLE}")
    return found
