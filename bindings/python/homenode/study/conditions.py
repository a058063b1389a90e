"""Conditions in words, ``threads <= cores and machine != "xeon-x5550-2s"``: compared, combined and calculated with, nothing else.

They come out of files that may be a stranger's: no call, no attribute and no index is allowed, so that nothing can be run by them.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any

from homenode import _core
from homenode.errors import UsageError

_ALLOWED = "names of axes, numbers, texts, lists, + - * / // %, comparisons, in, not, and, or"
_LONGEST = 1000  # characters

_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda one, several: one in several,
    ast.NotIn: lambda one, several: one not in several,
}
_CALCULATE: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}


class Condition:
    """A condition that was read once. `names`: what it asks for."""

    def __init__(self, text: str) -> None:
        """UsageError for what is no condition."""
        self.text = text
        if len(text) > _LONGEST:
            raise UsageError(f"a condition of {len(text)} characters; allowed: at most {_LONGEST}")
        try:
            self._tree = ast.parse(text.strip(), mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise self._refused("it is no expression") from None
        try:
            self._check(self._tree)
        except RecursionError:
            raise self._refused("it is nested too deeply") from None
        self.names = {node.id for node in ast.walk(self._tree) if isinstance(node, ast.Name)}

    def __call__(self, values: Mapping[str, Any]) -> bool:
        """Whether it holds for these values."""
        try:
            return bool(self._value(self._tree, values))
        except KeyError as error:
            raise UsageError(
                f"condition '{self.text}': " + _core.unknown_name("name", str(error.args[0]), list(values))
            ) from None
        except (TypeError, ArithmeticError, RecursionError) as error:
            raise self._refused(str(error)) from None

    def _refused(self, why: str) -> UsageError:
        return UsageError(f"condition '{self.text}': {why}; allowed: {_ALLOWED}")

    def _check(self, node: ast.AST) -> None:
        known = (
            isinstance(
                node,
                ast.BoolOp | ast.Compare | ast.Name | ast.List | ast.Tuple | ast.boolop | ast.cmpop | ast.expr_context,
            )
            or (isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float | str))
            or (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub))
            or (isinstance(node, ast.BinOp) and type(node.op) in _CALCULATE)
            or isinstance(node, ast.unaryop | ast.operator)
        )
        if not known or (isinstance(node, ast.cmpop) and type(node) not in _COMPARE):
            raise self._refused(f"{type(node).__name__} is none of it")
        for child in ast.iter_child_nodes(node):
            self._check(child)

    def _value(self, node: ast.expr, values: Mapping[str, Any]) -> Any:
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name):
                return values[name]
            case ast.List(elts=elements) | ast.Tuple(elts=elements):
                return [self._value(element, values) for element in elements]
            case ast.BoolOp(op=ast.And(), values=parts):
                return all(self._value(part, values) for part in parts)
            case ast.BoolOp(values=parts):
                return any(self._value(part, values) for part in parts)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return not self._value(operand, values)
            case ast.UnaryOp(operand=operand):
                return -self._value(operand, values)
            case ast.BinOp(left=left, op=op, right=right):
                one, other = self._value(left, values), self._value(right, values)
                if isinstance(one, str | list) or isinstance(
                    other, str | list
                ):  # "a" * 10**9 takes the machine's memory
                    raise TypeError("texts and lists are not calculated with")
                return _CALCULATE[type(op)](one, other)
            case ast.Compare(left=left, ops=ops, comparators=others):
                return self._compared(left, ops, others, values)
        raise AssertionError(ast.dump(node))

    def _compared(
        self, left: ast.expr, ops: list[ast.cmpop], others: list[ast.expr], values: Mapping[str, Any]
    ) -> bool:
        one = self._value(left, values)
        for op, expression in zip(ops, others, strict=True):
            other = self._value(expression, values)
            if not _COMPARE[type(op)](*_alike(one, other)):
                return False
            one = other
        return True


def _alike(one: Any, other: Any) -> tuple[Any, Any]:
    """A quantity with its unit beside a number is the number: ``link_bandwidth > "10 GB/s"``."""
    if isinstance(one, str) and isinstance(other, int | float):
        return _number(one), other
    if isinstance(other, str) and isinstance(one, int | float):
        return one, _number(other)
    return one, other


def _number(text: str) -> Any:
    found = _core.quantity(text)
    return text if found is None else found
