"""Small wrong changes that a C++ source allows, and the switches that make them.

A change replaces a part of the text by another one: an operator, an operand, a number, a condition or a statement. Its switch keeps both,
`(mutant(7) ? changed : original)`, so that one build holds many changes. Found by tokens, not by a parser: clang-format's
spaces tell `a < b` from `vector<b>`. What does not compile is left out later.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

TEXT = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<d>[^(\s]*)\(.*?\)(?P=d)"|"(?:\\.|[^"\\\n])*"|(?<![0-9A-Za-z_])\'(?:\\.|[^\'\\\n])+\''
    r"|^[ \t]*#(?:\\\n|[^\n])*",
    re.DOTALL | re.MULTILINE,
)
TOKEN = re.compile(
    r"[A-Za-z_]\w*|\d[\w.']*(?:(?<=[eEpP])[+-]\d+)?|->|::|<=>|<<=|>>=|[-+*/%&|^!=<>]=|&&|\|\||\+\+|--|<<|>>|\S"
)
# C++'s binary operators, the tightest first.
LEVELS = (
    ("*", "/", "%"),
    ("+", "-"),
    ("<<", ">>"),
    ("<", "<=", ">", ">="),
    ("==", "!="),
    ("&",),
    ("^",),
    ("|",),
    ("&&",),
    ("||",),
)
LEVEL = {operator: level for level, operators in enumerate(LEVELS) for operator in operators}
REPLACED = {
    "+": ["-"], "-": ["+"], "*": ["/"], "/": ["*"], "%": ["/"], "<": ["<="], "<=": ["<"], ">": [">="], ">=": [">"],
    "==": ["!="], "!=": ["=="], "&&": ["||"], "||": ["&&"],
}  # fmt: skip
# An operand whose left or right side may be dropped.
DROPPED_RIGHT, DROPPED_LEFT = ("+", "-", "*", "/", "%", "&&", "||"), ("+", "&&", "||")
# What no operand reaches beyond.
ENDS = {
    ",",
    ";",
    "?",
    ":",
    "return",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "<<",
    ">>",
    "case",
    "co_return",
    "throw",
    "else",
    "...",
    "->*",
}
ASSIGNMENTS = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="}
OPENED, CLOSED = {"(": ")", "[": "]", "{": "}"}, {")": "(", "]": "[", "}": "{"}


class Change(NamedTuple):
    """text[start:end] becomes `switched`, in which {} is the number of the mutant. `line` counts from 1."""

    line: int
    start: int
    end: int
    what: str
    switched: str


@dataclass(frozen=True)
class Token:
    """A word, a number or an operator."""

    text: str
    start: int
    end: int


def blank(text: str) -> str:
    """Comments, literals and preprocessor lines as spaces, so that places stay."""
    return TEXT.sub(
        lambda match: re.sub(r"[^\n]", " ", match[0]) if match[0][0] not in "\"'R" else "0" * len(match[0]), text
    )


class Source:
    """The changes that one file allows."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = [Token(m[0], m.start(), m.end()) for m in TOKEN.finditer(blank(text))]
        self.partner: dict[int, int] = {}
        self.around: list[str] = []  # the bracket that each token lies in
        opened: list[int] = []
        for i, token in enumerate(self.tokens):
            self.around.append(self.tokens[opened[-1]].text if opened else "")
            if token.text in OPENED:
                opened.append(i)
            elif token.text in CLOSED and opened:
                self.partner[i] = opened.pop()
                self.partner[self.partner[i]] = i

    def changes(self) -> Iterator[Change]:
        """All of them, by place."""
        for i, token in enumerate(self.tokens):
            if self._in_words(i):
                continue
            yield from self._of_operator(i)
            yield from self._of_number(i)
            yield from self._of_minimum(i)
            yield from self._of_condition(i)
            if token.text in (";", "{", "}", ")", "else", ":"):
                yield from self._of_statement(i + 1)

    def _slice(self, first: int, last: int) -> str:
        """The text from one token to another, both included."""
        return self.text[self.tokens[first].start : self.tokens[last].end]

    def _change(self, first: int, last: int, at: int, changed: str, switched: str) -> Change:
        original = " ".join(self._slice(first, last).split())
        line = self.text.count("\n", 0, self.tokens[at].start) + 1
        return Change(
            line,
            self.tokens[first].start,
            self.tokens[last].end,
            f"`{original}` → `{' '.join(changed.split())}`",
            switched,
        )

    def _expression(self, first: int, last: int, at: int, changed: str) -> Change:
        original = self._slice(first, last)
        return self._change(
            first,
            last,
            at,
            changed,
            "(homenode::mutant({}) ? (" + escaped(changed) + ") : (" + escaped(original) + "))",
        )

    def _in_words(self, i: int) -> bool:
        """In what is thrown, asserted by the compiler or declared as a template: words for people and types."""
        j = i
        while j >= 0 and self.tokens[j].text not in (";", "{", "}"):
            if self.tokens[j].text in ("throw", "static_assert", "template", "using", "case", "operator", "enum"):
                return True
            j = (
                self.partner[j] - 1
                if self.tokens[j].text in CLOSED and self.tokens[j].text != "}" and j in self.partner
                else j - 1
            )
        return False

    # An operand to the left or right of the operator at i, as far as operators of its level or tighter reach.
    def _left(self, i: int) -> int | None:
        level, j = LEVEL[self.tokens[i].text], i - 1
        while j >= 0:
            text = self.tokens[j].text
            if text in CLOSED and j in self.partner:
                j = self.partner[j] - 1
                continue
            if text in ENDS or text in ASSIGNMENTS or (LEVEL.get(text, -1) > level and self._is_binary(j)):
                break
            j -= 1
        return j + 1 if j + 1 < i else None

    def _right(self, i: int) -> int | None:
        level, j = LEVEL[self.tokens[i].text], i + 1
        while j < len(self.tokens):
            text = self.tokens[j].text
            if text in OPENED and j in self.partner:
                j = self.partner[j] + 1
                continue
            if (
                text in ENDS
                or text in ASSIGNMENTS
                or (j > i + 1 and LEVEL.get(text, -1) >= level and self._is_binary(j))
            ):
                break
            j += 1
        return j - 1 if j - 1 > i else None

    def _is_binary(self, i: int) -> bool:
        """clang-format puts spaces on both sides of it, and a value before it."""
        token = self.tokens[i]
        spaced = self.text[token.start - 1] in " \n" and self.text[token.end : token.end + 1] in (" ", "\n")
        return (
            spaced
            and bool(re.fullmatch(r"[\w.')\]}]+", self.tokens[i - 1].text))
            and self.tokens[i - 1].text not in ENDS
        )

    def _of_operator(self, i: int) -> Iterator[Change]:
        operator = self.tokens[i].text
        if operator not in REPLACED or i == 0 or not self._is_binary(i):
            return
        first, last = self._left(i), self._right(i)
        if first is None or last is None:
            return
        left, right = self._slice(first, i - 1), self._slice(i + 1, last)
        logical = operator in ("&&", "||")
        for other in REPLACED[operator]:
            yield self._expression(first, last, i, f"{left} {other} {right}")
        if operator in DROPPED_RIGHT:
            yield self._expression(first, last, i, f"bool({left})" if logical else left)
        if operator in DROPPED_LEFT:
            yield self._expression(first, last, i, f"bool({right})" if logical else right)

    def _of_number(self, i: int) -> Iterator[Change]:
        text = self.tokens[i].text
        if text in ("true", "false"):
            yield self._expression(i, i, i, "false" if text == "true" else "true")
            return
        match = re.fullmatch(r"(\d[\d']*)([uUlLzZ]*)", text)
        if match and self.text[self.tokens[i].start] not in "\"'R":
            value = int(match[1].replace("'", ""))
            for other in {value + 1, value * 2, value // 2 if value > 1 else 1 - value} - {value}:
                yield self._expression(i, i, i, f"{other}{match[2]}")
        elif re.fullmatch(r"\d[\d']*\.\d*|\d[\d'.]*e[+-]?\d+", text):
            yield self._expression(i, i, i, f"{text} * 2" if float(text.replace("'", "")) else "1.0")

    def _of_minimum(self, i: int) -> Iterator[Change]:
        if self.tokens[i].text not in ("min", "max") or [t.text for t in self.tokens[i - 2 : i]] != ["std", "::"]:
            return
        opening = next((j for j in range(i + 1, min(i + 12, len(self.tokens))) if self.tokens[j].text == "("), None)
        if opening is None or any(t.text in (";", ",", "{", ")") for t in self.tokens[i + 1 : opening]):
            return
        last = self.partner[opening]
        yield self._expression(
            i - 2, last, i, ("std::max" if self.tokens[i].text == "min" else "std::min") + self._slice(i + 1, last)
        )

    def _of_condition(self, i: int) -> Iterator[Change]:
        if self.tokens[i].text not in ("if", "while") or self.tokens[i + 1].text != "(":
            return
        first, last = i + 2, self.partner[i + 1] - 1
        inside = [t.text for t in self.tokens[first : last + 1]]
        of_its_own = not {"==", "!="} & set(inside) or {"&&", "||"} & set(inside)
        if of_its_own and ";" not in inside and not ASSIGNMENTS & set(inside):
            yield self._expression(first, last, first, f"!({self._slice(first, last)})")

    def _of_statement(self, first: int) -> Iterator[Change]:
        """Drops a statement; turns += and -=, ++ and --."""
        if first >= len(self.tokens) or first not in self._statements():
            return
        last = self._statements()[first]
        text = self._slice(first, last)
        switch = "{{ if (!homenode::mutant({})) " + escaped(text) + " }}"
        yield self._change(first, last, first, "", switch)
        inside = [t.text for t in self.tokens[first:last]]
        for operator, other in (("+=", "-="), ("-=", "+="), ("++", "--"), ("--", "++")):
            if operator in inside and (operator in ("+=", "-=") or inside[0] == operator):
                place = self.tokens[first + inside.index(operator)]
                changed = (
                    self.text[self.tokens[first].start : place.start]
                    + other
                    + self.text[place.end : self.tokens[last].end]
                )
                both = "{{ if (homenode::mutant({})) " + escaped(changed) + " else " + escaped(text) + " }}"
                yield self._change(first, last, first + inside.index(operator), changed, both)

    def _statements(self) -> dict[int, int]:
        """Statements that may be dropped: first token and the semicolon."""
        if not hasattr(self, "_known"):
            self._known = {i: last for i in range(len(self.tokens)) if (last := self._end_of_statement(i)) is not None}
        return self._known

    def _end_of_statement(self, first: int) -> int | None:
        if first == 0 or self.around[first] != "{" or not self._begins_statement(first):
            return None
        if self.tokens[first].text in ("continue", "break") or (
            self.tokens[first].text == "return" and self.tokens[first + 1].text == ";"
        ):
            return first + 1
        j, seen = first, False
        while j < len(self.tokens) and self.tokens[j].text != ";":
            text = self.tokens[j].text
            if text in ("}", ")", "]"):
                return None
            seen = seen or text in ASSIGNMENTS or text in ("(", "++", "--")
            if j > first and not seen and re.match(r"\w", text) and re.match(r"[\w>*&]", self.tokens[j - 1].text):
                return None  # two words in a row before anything happens: a declaration
            j = self.partner[j] + 1 if text in OPENED and j in self.partner else j + 1
        return j if seen and j < len(self.tokens) else None

    def _begins_statement(self, first: int) -> bool:
        word, before = self.tokens[first].text, self.tokens[first - 1].text
        if word in (
            "if",
            "for",
            "while",
            "switch",
            "do",
            "case",
            "default",
            "using",
            "auto",
            "const",
            "static",
            "else",
            "throw",
            "return",
        ):
            return word == "return"
        if not re.match(r"[A-Za-z_]|\+\+|--|\*|\(", word):
            return False
        if before == ")":
            opening = self.partner.get(first - 1, 0)
            return self.tokens[opening - 1].text in ("if", "for", "while")
        return before in (";", "}", "else") or (before == "{" and self._is_body(first - 1)) or before == ":"

    def _is_body(self, opening: int) -> bool:
        """A brace of a body has a space before it, that of a value has none."""
        return self.text[self.tokens[opening].start - 1] in " \n"


def escaped(text: str) -> str:
    """For str.format."""
    return text.replace("{", "{{").replace("}", "}}")
