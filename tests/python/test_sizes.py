"""Sizes hold in all of the product: functions of at most 80 lines and eight parameters, files of at most 500 lines or with a reason,
no struct of more than five fields filled by position."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from support import ROOT

MOST_LINES_OF_A_FUNCTION, MOST_PARAMETERS, MOST_LINES_OF_A_FILE, MOST_FIELDS_BY_POSITION = 80, 8, 500, 5
TOPS = ("sim", "models", "traces", "bindings", "validation")

# Files that are longer, each with its reason.
LONG_FILES: dict[str, str] = {}
# Functions with more parameters, and whose they are.
LONG_SIGNATURES = {
    "traces/capture/runtime/devices.c GOMP_target_ext": "libgomp's interface",
    "traces/capture/runtime/tasks.c GOMP_task": "libgomp's interface",
    "traces/capture/runtime/taskloops.c GOMP_taskloop": "libgomp's interface",
    "traces/capture/runtime/taskloops.c GOMP_taskloop_ull": "libgomp's interface",
    "traces/capture/runtime/taskloops.c taskloop": "what both of these pass on",
}
# Programs that are studied: as their authors wrote them.
KERNELS = "traces/kernels/"


@dataclass(frozen=True)
class Function:
    """A function with a body."""

    file: str
    name: str
    lines: int
    parameters: int


def product_files(*suffixes: str) -> Iterator[Path]:
    """Source files of the product."""
    for top in TOPS:
        yield from (file for file in sorted((ROOT / top).rglob("*")) if file.suffix in suffixes)


def python_functions(file: str, text: str) -> Iterator[Function]:
    """Functions and methods, those inside others too; `self` and `cls` are no parameters of a caller."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            arguments = node.args
            names = [a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
            count = len([name for name in names if name not in ("self", "cls")])
            yield Function(file, node.name, (node.end_lineno or 0) - node.lineno + 1, count)


def without_text(code: str) -> str:
    """C++ in which comments, literals and preprocessor lines are blank; lines stay where they are."""

    def blank(match: re.Match[str]) -> str:
        return re.sub(r"[^\n]", " ", match[0])

    pattern = (
        r'R"(?P<d>[^(\s]*)\(.*?\)(?P=d)"'
        r'|//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|(?<![0-9A-Za-z_])\'(?:\\.|[^\'\\\n])+\''
        r"|(?m:^[ \t]*#(?:\\\n|[^\n])*)"
    )
    return re.sub(pattern, blank, code, flags=re.DOTALL)


def closing(code: str, opening: int, pair: str) -> int:
    """Where the bracket at `opening` is closed."""
    depth = 0
    for match in re.compile(re.escape(pair[0]) + "|" + re.escape(pair[1])).finditer(code, opening):
        depth += 1 if match[0] == pair[0] else -1
        if depth == 0:
            return match.start()
    return len(code) - 1


def count_parameters(inside: str) -> int:
    """Parameters between a function's parentheses."""
    if inside.strip() in ("", "void"):
        return 0
    depth = commas = 0
    for character in inside.replace("->", "  "):
        depth += (character in "(<[{") - (character in ")>]}")
        commas += character == "," and depth == 0
    return commas + 1


def described(file: str, code: str, start: int, opening: int, end: int) -> Function | None:
    """The function whose head is code[start:opening] and whose body ends at `end`; None for what is no function."""
    head = re.sub(
        r"__attribute__\s*\(\(.*?\)\)|\b(?:alignas|decltype|noexcept|explicit)\s*\([^()]*\)", "", code[start:opening]
    )
    match = re.search(r"(operator\s*(?:\(\)|[^\s\w(]+|[\w:]+)|~?[\w:~]+(?:<[^()]*>)?)\s*\(", head)
    if match is None:
        return None
    first_line = start + len(code[start:opening]) - len(code[start:opening].lstrip())
    inside = head[match.end() : closing(head, match.end() - 1, "()")]
    return Function(file, match[1], code.count("\n", first_line, end) + 1, count_parameters(inside))


def c_functions(file: str, text: str) -> Iterator[Function]:
    """Functions of C and C++ as clang-format writes them: the brace of a body has a space before it, that of a value has none."""
    code = without_text(text)
    at = start = 0
    while at < len(code):
        character = code[at]
        if character in ";}" or (
            character == ":" and re.fullmatch(r"\s*(public|private|protected)\s*", code[start:at])
        ):
            start = at + 1
        elif character == "(":
            at = closing(code, at, "()")
        elif character == "{":
            head = re.sub(r"\btemplate\s*<[^{};()]*>", "", code[start:at])
            end = closing(code, at, "{}")
            is_container = (
                re.search(r"\b(namespace|class|struct|union|extern)\b", head) and "(" not in head and "=" not in head
            )
            outside = re.sub(r"\(.*\)", "", head, flags=re.DOTALL)
            is_value = code[at - 1] not in " \n" or re.search(r"(?<!operator)(?<![=!<>])=(?!=)", outside)
            if is_container:
                start = at + 1
            elif is_value or "(" not in head:
                at = end
            else:
                function = described(file, code, start, at, end)
                if function:
                    yield function
                at = end
                start = end + 1
        at += 1


def functions() -> Iterator[Function]:
    """Every function of the product."""
    for file in product_files(".py"):
        yield from python_functions(file.relative_to(ROOT).as_posix(), file.read_text())
    for file in product_files(".cpp", ".hpp", ".c", ".h"):
        yield from c_functions(file.relative_to(ROOT).as_posix(), file.read_text())


def expect_none_beyond(found: Mapping[str, int], reasons: Mapping[str, str]) -> None:
    """Nothing is too large without a reason, and no reason is left over."""
    without = sorted(f"{name}: {count}" for name, count in found.items() if name not in reasons)
    assert not without, "\n".join(without)
    assert set(reasons) <= set(found), f"no longer large: {sorted(set(reasons) - set(found))}"


def test_functions_are_short() -> None:
    long = {
        f"{f.file} {f.name}": f.lines for f in functions() if f.lines > MOST_LINES_OF_A_FUNCTION and f.name != "main"
    }
    expect_none_beyond(long, {})


def test_functions_have_few_parameters() -> None:
    counted = [f for f in functions() if "/cli/" not in f.file and not f.file.startswith(KERNELS)]
    many = {f"{f.file} {f.name}": f.parameters for f in counted if f.parameters > MOST_PARAMETERS}
    expect_none_beyond(many, LONG_SIGNATURES)


def test_files_are_short_or_have_a_reason() -> None:
    files = product_files(".py", ".cpp", ".hpp", ".c", ".h")
    lines = {file.relative_to(ROOT).as_posix(): file.read_text().count("\n") for file in files}
    expect_none_beyond({name: count for name, count in lines.items() if count > MOST_LINES_OF_A_FILE}, LONG_FILES)


def filled_by_position(text: str) -> Iterator[tuple[int, str]]:
    """Line and text of every list in braces with more elements of several kinds than a struct may be given by position.

    Elements that are all texts, all numbers, all lists or all addresses make a table. Of arrays, tuples and lists that a
    function or a constructor takes, the elements need no names.
    """
    code = re.sub(r'"(?:\\.|[^"\\\n])*"', lambda match: '"' + "x" * (len(match[0]) - 2) + '"', text)
    code = re.sub(r"//[^\n]*|^[ \t]*#[^\n]*", lambda match: " " * len(match[0]), code, flags=re.MULTILINE)
    open_braces: list[list[int]] = []  # place, and the commas and semicolons directly inside
    for at, character in enumerate(code):
        if character in "({[":
            open_braces.append([at, at])
        elif character in ",;" and open_braces:
            open_braces[-1].append(at)
        elif character in ")}]" and open_braces:
            opening, _, *cuts = open_braces.pop()
            if character != "}" or len(cuts) < MOST_FIELDS_BY_POSITION or any(code[cut] == ";" for cut in cuts):
                continue
            elements = [code[a + 1 : b].strip() for a, b in zip([opening, *cuts], [*cuts, at], strict=True)]
            elements = [element for element in elements if element]
            kinds = {re.sub(r"[\w\s:]", "e", element[:1]) if element[:1] in '"{&.' else "e" for element in elements}
            kinds |= {"number" for element in elements if re.fullmatch(r"-?[\d.'xa-fuLe]+", element)}
            before = code[max(0, opening - 80) : opening]
            needs_no_names = re.search(
                r"(\]\s*=\s*|array<[^;]*|tuple\s*|max\(|min\(|\w_|:\s*|enum [^;]*|Key \w+|Object result)$", before
            )
            if len(kinds) > 1 and "." not in kinds and not needs_no_names:
                yield code.count("\n", 0, opening) + 1, text[opening : at + 1]


def test_structs_of_many_fields_are_filled_by_name() -> None:
    found = [
        f"{file.relative_to(ROOT).as_posix()}:{line}: {words}"
        for file in product_files(".cpp", ".hpp")
        if KERNELS not in file.as_posix()
        for line, words in filled_by_position(file.read_text())
    ]
    assert not found, "\n".join(found)


def test_lists_filled_by_position_are_found() -> None:
    text = 'Use f() { return {place, 1, 2, "a", {}, 3}; }\nint t[] = {1, 2, 3, 4, 5, x};\nUse g{.a = 1, .b = x, .c = 2, .d = 3, .e = 4, .f = 5};'  # noqa: E501
    assert [line for line, _ in filled_by_position(text)] == [1]


CPP = """
#define LOOP(x) \\
  if (x) {
namespace a {
struct Point { int x = 0, y{}; };
const int table[] = {1,
                     2};
template <class T, class U = int>
T add(const std::map<T, U>& a, std::pair<T, T> b = {1, 2}) {
  const auto text = "} // {";  // }
  return a;
}
class Sum final : public Base {
public:
  explicit Sum(int a, std::function<void(int, int)> f) : a_{a}, f_{std::move(f)} {
    if (a_ == '}') { ++a_; }
  }
  bool operator==(const Sum& other) const { return a_ == other.a_; }
  void operator()(int, int, int) override {}

private:
  int a_ = 1'000;
};
}
int main(void) { return 0; }
"""


def test_functions_of_cpp_are_found() -> None:
    found = [(function.name, function.lines, function.parameters) for function in c_functions("x.cpp", CPP)]
    assert found == [
        ("add", 5, 2),
        ("Sum", 3, 2),
        ("operator==", 1, 1),
        ("operator()", 1, 3),
        ("main", 1, 0),
    ]


@pytest.mark.parametrize(("parameters", "count"), [("a, b=1, *, c", 3), ("self, a, /", 1), ("*all, **rest", 0)])
def test_parameters_of_python_are_counted(parameters: str, count: int) -> None:
    assert [function.parameters for function in python_functions("x.py", f"def f({parameters}): pass")] == [count]
