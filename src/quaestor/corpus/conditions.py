"""A condition a person writes in a study file, to an Ibis expression; nothing of it is ever executed.

    score >= 3 and not title.contains("homework")
    view_count / answer_count > 100 and creation_date.year() >= 2018
    body.length() > 200 and "python" in tags

The text is read with Python's own grammar and only what this module lists is understood, so a study file
from a stranger cannot do anything but compare columns.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

import ibis
import ibis.expr.types as ir

from quaestor.base.errors import SettingsError
from quaestor.base.names import listed, nearest_first

_LONGEST = 2_000

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
}  # fmt: skip
_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Gt: operator.gt, ast.GtE: operator.ge,
}  # fmt: skip
_METHODS = (
    "abs", "between", "contains", "date", "day", "endswith", "hour", "isin", "isnull", "length", "lower",
    "month", "notnull", "re_search", "round", "startswith", "strip", "upper", "year",
)  # fmt: skip


def read_condition(text: str, table: ir.Table) -> ir.BooleanValue:
    """The condition as an expression over the table's columns; a missing value never fulfils it."""
    if len(text) > _LONGEST:
        raise SettingsError(f"a condition of {len(text)} characters is too long, {_LONGEST} are allowed")
    try:
        tree = ast.parse(text.strip(), mode="eval")
        expression = _Reader(text, table).read(tree.body)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise SettingsError(f"the condition {text!r} cannot be read: {error}") from None
    except (TypeError, ArithmeticError, AttributeError, ibis.common.exceptions.IbisError) as error:
        first_line = str(error).strip().partition("\n")[0]
        raise SettingsError(f"the condition {text!r} does not fit the columns: {first_line}") from None
    if not isinstance(expression, ir.BooleanValue):
        raise SettingsError(f"the condition {text!r} is neither true nor false: compare something in it")
    return expression.fill_null(False)


class _Reader:
    """Walks the parsed text; every form it does not name is refused."""

    def __init__(self, text: str, table: ir.Table) -> None:
        self._text = text
        self._table = table

    def read(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=bool() | int() | float() | str() as value):
                return value
            case ast.Name(id=name):
                return self._column(name)
            case ast.List(elts=parts) | ast.Tuple(elts=parts):
                return [self.read(part) for part in parts]
            case ast.BoolOp(op=ast.And(), values=parts):
                return self._joined(parts, operator.and_)
            case ast.BoolOp(op=ast.Or(), values=parts):
                return self._joined(parts, operator.or_)
            case ast.UnaryOp(op=ast.Not(), operand=inner):
                return ~self.read(inner)
            case ast.UnaryOp(op=ast.USub(), operand=inner):
                return -self.read(inner)
            case ast.BinOp(left=left, op=sign, right=right) if type(sign) in _BINARY:
                return self._calculated(sign, self.read(left), self.read(right))
            case ast.Compare(left=left, ops=signs, comparators=others):
                return self._compared(left, signs, others)
            case ast.Call(func=ast.Attribute(value=inner, attr=name), args=arguments, keywords=[]):
                return self._called(self.read(inner), name, [self.read(argument) for argument in arguments])
        raise SettingsError(
            f"the condition {self._text!r} uses {ast.unparse(node)!r}, which is not understood: "
            f"use columns, numbers, texts, and, or, not, comparisons and {listed(_METHODS)}"
        )

    def _calculated(self, sign: ast.operator, first: Any, second: Any) -> Any:
        if not all(isinstance(part, ir.Value | int | float) for part in (first, second)):
            raise ValueError("only numbers and columns can be calculated with")
        return _BINARY[type(sign)](first, second)

    def _column(self, name: str) -> ir.Column:
        if name not in self._table.columns:
            options = nearest_first(name, self._table.columns)
            raise SettingsError(f"the condition {self._text!r} names {name!r}, the columns are {listed(options)}")
        return self._table[name]

    def _joined(self, parts: list[ast.expr], sign: Callable[[Any, Any], Any]) -> Any:
        result = self.read(parts[0])
        for part in parts[1:]:
            result = sign(result, self.read(part))
        return result

    def _compared(self, left: ast.expr, signs: list[ast.cmpop], others: list[ast.expr]) -> Any:
        parts = [self.read(left), *(self.read(other) for other in others)]
        result: Any = None
        for sign, first, second in zip(signs, parts[:-1], parts[1:], strict=True):
            one = self._one(sign, first, second)
            result = one if result is None else result & one
        return result

    def _one(self, sign: ast.cmpop, first: Any, second: Any) -> Any:
        if type(sign) in _COMPARE:
            return _COMPARE[type(sign)](first, second)
        if isinstance(sign, ast.In | ast.NotIn):
            found = second.contains(first) if isinstance(second, ir.Column) else first.isin(second)
            return ~found if isinstance(sign, ast.NotIn) else found
        raise SettingsError(f"the condition {self._text!r} uses a comparison that is not understood")

    def _called(self, inner: Any, name: str, arguments: list[Any]) -> Any:
        if name not in _METHODS or not isinstance(inner, ir.Value):
            options = nearest_first(name, _METHODS)
            raise SettingsError(f"the condition {self._text!r} calls {name!r}, allowed are {listed(options)}")
        method = getattr(inner, name, None)
        if method is None:
            raise SettingsError(f"the condition {self._text!r} calls {name!r} on a value that has no such thing")
        return method(*arguments)
