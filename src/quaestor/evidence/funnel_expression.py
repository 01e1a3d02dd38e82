"""Compiles the steps of a funnel into one expression that gives, for every item, the step that dropped it.

A single CASE expression numbers the first step an item fails. So the engine reads each item once, and evaluates a
costly condition only for the items that reached it.
"""

from __future__ import annotations

import ast
import fnmatch
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import and_, or_
from pathlib import Path
from typing import Any

import pyarrow as pa

from quaestor.base.errors import InputError, SettingsError
from quaestor.base.names import join_with_or, sort_by_similarity
from quaestor.evidence.engine import ibis, ir
from quaestor.evidence.table_rows import read_rows
from quaestor.study.settings.evidence import KindSettings, StepSettings, bundled_kinds

_LONGEST_CONDITION = 2_000

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
    """Parses a condition into an expression over the table's columns; a missing value never fulfils it."""
    if len(text) > _LONGEST_CONDITION:
        raise SettingsError(f"a condition has {len(text)} characters, at most {_LONGEST_CONDITION} are allowed")
    try:
        tree = ast.parse(text.strip(), mode="eval")
        expression = _ConditionParser(text, table).parse(tree.body)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise SettingsError(f"the condition {text!r} cannot be read: {error}") from None
    except (TypeError, ArithmeticError, AttributeError, ibis.common.exceptions.IbisError) as error:
        first_line = str(error).strip().partition("\n")[0]
        raise SettingsError(f"the condition {text!r} does not fit the columns: {first_line}") from None
    if not isinstance(expression, ir.BooleanValue):
        raise SettingsError(f"the condition {text!r} is neither true nor false: add a comparison")
    return expression.fill_null(False)


class _ConditionParser:
    """Translates a Python syntax tree into an Ibis expression and refuses every form not listed here."""

    def __init__(self, text: str, table: ir.Table) -> None:
        self._text = text
        self._table = table

    def parse(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=bool() | int() | float() | str() as value):
                return value
            case ast.Name(id=name):
                return self._column(name)
            case ast.List(elts=parts) | ast.Tuple(elts=parts):
                return [self.parse(part) for part in parts]
            case ast.BoolOp(op=ast.And(), values=parts):
                return self._join(parts, operator.and_)
            case ast.BoolOp(op=ast.Or(), values=parts):
                return self._join(parts, operator.or_)
            case ast.UnaryOp(op=ast.Not(), operand=inner):
                return ~self.parse(inner)
            case ast.UnaryOp(op=ast.USub(), operand=inner):
                return -self.parse(inner)
            case ast.BinOp(left=left, op=sign, right=right) if type(sign) in _BINARY:
                return self._calculate(sign, self.parse(left), self.parse(right))
            case ast.Compare(left=left, ops=signs, comparators=others):
                return self._compare_all(left, signs, others)
            case ast.Call(func=ast.Attribute(value=inner, attr=name), args=arguments, keywords=[]):
                return self._call(self.parse(inner), name, [self.parse(argument) for argument in arguments])
        raise SettingsError(
            f"the condition {self._text!r} uses {ast.unparse(node)!r}, which is not understood: "
            f"use columns, numbers, texts, and, or, not, comparisons and {join_with_or(_METHODS)}"
        )

    def _calculate(self, sign: ast.operator, first: Any, second: Any) -> Any:
        if not all(isinstance(part, ir.Value | int | float) for part in (first, second)):
            raise ValueError("arithmetic needs numbers or columns")
        return _BINARY[type(sign)](first, second)

    def _column(self, name: str) -> ir.Column:
        if name not in self._table.columns:
            options = sort_by_similarity(name, self._table.columns)
            raise SettingsError(f"the condition {self._text!r} names {name!r}, the columns are {join_with_or(options)}")
        return self._table[name]

    def _join(self, parts: list[ast.expr], sign: Callable[[Any, Any], Any]) -> Any:
        return reduce(sign, map(self.parse, parts))

    def _compare_all(self, left: ast.expr, signs: list[ast.cmpop], others: list[ast.expr]) -> Any:
        """Translates a chain such as `1 < score < 5`."""
        parts = [self.parse(left), *(self.parse(other) for other in others)]
        return reduce(and_, map(self._compare, signs, parts[:-1], parts[1:]))

    def _compare(self, sign: ast.cmpop, first: Any, second: Any) -> Any:
        if type(sign) in _COMPARE:
            return _COMPARE[type(sign)](first, second)
        if isinstance(sign, ast.In | ast.NotIn):
            is_in = second.contains(first) if isinstance(second, ir.Column) else first.isin(second)
            return ~is_in if isinstance(sign, ast.NotIn) else is_in
        raise SettingsError(f"the condition {self._text!r} uses a comparison that is not understood")

    def _call(self, inner: Any, name: str, arguments: list[Any]) -> Any:
        if name not in _METHODS or not isinstance(inner, ir.Value):
            options = sort_by_similarity(name, _METHODS)
            raise SettingsError(f"the condition {self._text!r} calls {name!r}; choose from: {join_with_or(options)}")
        method = getattr(inner, name, None)
        if method is None:
            raise SettingsError(f"the condition {self._text!r} calls {name!r} on a value that does not support it")
        return method(*arguments)


DROPPED_AT = "fell_at"
"""The stored column with the number of the step that dropped an item, from 0; the number of steps if none did."""


@dataclass(frozen=True)
class Funnel:
    """Everything the steps refer to: items, answers, tag families, question kinds, and the decisions of rounds."""

    items: ir.Table
    answers: ir.Table | None = None
    families: Mapping[str, Sequence[str]] = field(default_factory=dict)
    kinds: Mapping[str, KindSettings] = field(default_factory=dict)
    decided: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The ids of the items that each round keeps, by round."""

    def dropped_at(self, steps: Sequence[StepSettings]) -> ir.IntegerValue:
        """Returns an expression for the number of the first step that an item fails."""
        if not steps:
            return ibis.literal(0)
        branches = [(~self.condition(step), number) for number, step in enumerate(steps)]
        return ibis.cases(*branches, else_=len(steps))

    def condition(self, step: StepSettings) -> ir.BooleanValue:
        """Returns the condition that an item must fulfil to pass the step."""
        return reduce(and_, (condition.fill_null(False) for condition in self._conditions(step)))

    def _conditions(self, step: StepSettings) -> list[ir.BooleanValue]:
        conditions = [
            *self._tag_conditions(step), *self._kind_conditions(step),
            *self._answer_conditions(step), *self._bound_conditions(step),
        ]  # fmt: skip
        if step.where is not None:
            conditions.append(read_condition(step.where, self.items))
        if step.round is not None:
            conditions.append(self.items.item.isin(list(self.decided.get(step.round, ()))))
        return conditions

    def _tag_conditions(self, step: StepSettings) -> list[ir.BooleanValue]:
        conditions = []
        if step.tags:
            conditions.append(self._has_tag(step, step.tags))
        if step.without_tags:
            conditions.append(~self._has_tag(step, step.without_tags))
        return conditions

    def _has_tag(self, step: StepSettings, names: Sequence[str]) -> ir.BooleanValue:
        column = self._column(step, "tags")
        patterns = sorted({tag.lower() for name in names for tag in self.families.get(name, (name,))})
        plain = [tag for tag in patterns if "*" not in tag]
        wild = [
            tag
            for tag in patterns
            if "*" in tag and not any(fnmatch.fnmatch(tag, other) for other in patterns if other != tag)
        ]
        plain = [tag for tag in plain if not any(fnmatch.fnmatch(tag, other) for other in wild)]
        conditions = [column.contains(tag) for tag in plain]
        if wild:
            either = "|".join("[^|]*".join(re.escape(part) for part in tag.split("*")) for tag in wild)
            conditions.append(column.join("|").re_search(rf"(?:^|\|)(?:{either})(?:\||$)"))
        return reduce(or_, conditions)

    def _kind_conditions(self, step: StepSettings) -> list[ir.BooleanValue]:
        conditions = []
        for name, keep in ((step.kind, True), (step.not_kind, False)):
            if name is not None:
                body = self.items.body if "body" in self.items.columns else None
                of_kind = is_of_kind(self.kinds[name], self._column(step, "title"), body)
                conditions.append(of_kind if keep else ~of_kind)
        return conditions

    def _answer_conditions(self, step: StepSettings) -> list[ir.BooleanValue]:
        conditions = []
        if step.accepted_answer is not None:
            accepted = self._column(step, "accepted_answer_id").notnull()
            conditions.append(accepted if step.accepted_answer else ~accepted)
        if step.accepted_answer_with_code is not None:
            if self.answers is None:
                raise SettingsError(f"the step {step.step!r} needs answers, but its source has none")
            with_code = self.answers.filter(self.answers.body.contains("<code>")).id
            has_code = self._column(step, "accepted_answer_id").isin(with_code).fill_null(False)
            conditions.append(has_code if step.accepted_answer_with_code else ~has_code)
        if step.closed is not None:
            closed = self._column(step, "closed_date").notnull()
            conditions.append(closed if step.closed else ~closed)
        return conditions

    def _bound_conditions(self, step: StepSettings) -> list[ir.BooleanValue]:
        conditions = []
        for column, low, high in (
            ("score", step.score_at_least, step.score_at_most),
            ("view_count", step.views_at_least, step.views_at_most),
        ):
            if low is not None:
                conditions.append(self._column(step, column) >= low)
            if high is not None:
                conditions.append(self._column(step, column) <= high)
        if step.created_from is not None:
            conditions.append(self._column(step, "creation_date") >= ibis.timestamp(step.created_from.isoformat()))
        if step.created_before is not None:
            conditions.append(self._column(step, "creation_date") < ibis.timestamp(step.created_before.isoformat()))
        for column, length in (("title", step.title_at_least), ("body", step.body_at_least)):
            if length is not None:
                conditions.append(self._column(step, column).length() >= length)
        return conditions

    def _column(self, step: StepSettings, name: str) -> ir.Value:
        if name not in self.items.columns:
            raise SettingsError(
                f"the step {step.step!r} needs the column {name!r}, the source has {join_with_or(self.items.columns)}"
            )
        return self.items[name]


def count_items_per_step(dropped: Mapping[int, int], steps: int) -> list[tuple[int, int]]:
    """Returns how many items entered and passed each step, from how many each step dropped."""
    entered = sum(dropped.values())
    result = []
    for number in range(steps):
        kept = entered - dropped.get(number, 0)
        result.append((entered, kept))
        entered = kept
    return result


_PRIME = 2_147_483_647


def shuffle_key(number: ir.IntegerValue, seed: int) -> ir.IntegerValue:
    """Returns a key that orders items pseudo-randomly; the same seed gives the same order on every engine."""
    key = (number * 48_271 + (seed % _PRIME) * 7_919 + 11) % _PRIME
    for factor in (69_621, 16_807):
        key = (key * factor) % _PRIME
    return key


def describe_step(step: StepSettings) -> str:
    """Returns the step's conditions as text, with the keys and values of study.toml."""
    parts = []
    for key in step.model_fields_set - {"step"}:
        value = getattr(step, key)
        if value is None:
            continue
        shown = (
            ", ".join(value) if isinstance(value, tuple) else str(value).lower() if isinstance(value, bool) else value
        )
        parts.append(f"{key.replace('_', ' ')}: {shown}")
    return "; ".join(sorted(parts))


def is_of_kind(kind: KindSettings, title: ir.StringValue, body: ir.StringValue | None) -> ir.BooleanValue:
    """Returns an expression that is true for questions of the kind."""
    texts = [(title, kind.title)] + ([(body, kind.body)] if body is not None else [])
    matches = reduce(or_, (_matches_any(text, patterns) for text, patterns in texts if patterns))
    return matches & ~_matches_any(title, kind.unless_title) if kind.unless_title else matches


def _matches_any(text: ir.StringValue, patterns: tuple[str, ...]) -> ir.BooleanValue:
    joined = "|".join(f"(?:{pattern})" for pattern in patterns)
    return text.re_search(f"(?i){joined}").fill_null(False)


@dataclass(frozen=True)
class KindMeasure:
    """How many questions are labelled with a kind, how many its patterns match, and how many of these are labelled."""

    labelled: int
    matched: int
    correct: int

    @property
    def precision(self) -> float:
        return self.correct / self.matched if self.matched else 0.0

    @property
    def recall(self) -> float:
        return self.correct / self.labelled if self.labelled else 0.0

    def as_json(self) -> dict[str, float]:
        return {
            "labelled": self.labelled,
            "found": self.matched,
            "right": self.correct,
            "precision": self.precision,
            "recall": self.recall,
        }


def measure_kinds(path: Path) -> dict[str, KindMeasure]:
    """Measures each bundled kind against a CSV with the columns title, body and kinds (separated by `;`)."""
    rows = [row for _, row in read_rows(path, exact=("title", "body"))]
    if not rows or not {"title", "body", "kinds"} <= set(rows[0]):
        raise InputError(f"{path} must have the columns title, body and kinds, and at least one row")
    labels = [set(row["kinds"].split(";")) for row in rows]
    table = ibis.memtable(pa.table({name: [row[name] for row in rows] for name in ("title", "body")}))
    kinds = bundled_kinds()
    matches = table.select(**{name: is_of_kind(kind, table.title, table.body) for name, kind in kinds.items()})
    columns = matches.to_pyarrow().to_pydict()
    return {
        name: KindMeasure(
            labelled=sum(name in label for label in labels),
            matched=sum(columns[name]),
            correct=sum(hit and name in label for hit, label in zip(columns[name], labels, strict=True)),
        )
        for name in kinds
    }
