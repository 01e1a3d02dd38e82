"""The funnel: ordered steps, each an expression; for every item the step at which it fell out.

All steps become one expression that numbers the first step an item fails. The engine then looks at each
item once, and a costly condition only at the items that got that far.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import and_, or_

import ibis
import ibis.expr.types as ir

from quaestor.base.errors import SettingsError
from quaestor.base.names import listed
from quaestor.corpus.conditions import read_condition
from quaestor.corpus.kinds import is_of_kind
from quaestor.corpus.questions import item_id
from quaestor.corpus.settings import KindSettings, StepSettings

FELL_AT = "fell_at"
"""The number of the step at which an item fell out, from 0; the number of steps where it was kept."""


@dataclass(frozen=True)
class Funnel:
    """Everything the steps speak of: questions, answers, families, kinds, and what rounds decided."""

    questions: ir.Table
    answers: ir.Table | None = None
    families: Mapping[str, Sequence[str]] = field(default_factory=dict)
    kinds: Mapping[str, KindSettings] = field(default_factory=dict)
    decided: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The ids of the items that each round keeps."""
    site: str = ""

    def fell_at(self, steps: Sequence[StepSettings]) -> ir.IntegerValue:
        """For each question the number of the step it fails first."""
        if not steps:
            return ibis.literal(0)
        branches = [(~self.condition(step), number) for number, step in enumerate(steps)]
        return ibis.cases(*branches, else_=len(steps))

    def condition(self, step: StepSettings) -> ir.BooleanValue:
        """What an item must fulfil to pass the step."""
        return reduce(and_, (condition.fill_null(False) for condition in self._conditions(step)))

    def _conditions(self, step: StepSettings) -> list[ir.BooleanValue]:
        found = [
            *self._about_tags(step), *self._about_kinds(step), *self._about_answers(step), *self._bounds(step)
        ]  # fmt: skip
        if step.where is not None:
            found.append(read_condition(step.where, self.questions))
        if step.round is not None:
            found.append(item_id(self.questions, self.site).isin(list(self.decided.get(step.round, ()))))
        return found

    def _about_tags(self, step: StepSettings) -> list[ir.BooleanValue]:
        found = []
        if step.tags:
            found.append(self._has_tag(step, step.tags))
        if step.without_tags:
            found.append(~self._has_tag(step, step.without_tags))
        return found

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

    def _about_kinds(self, step: StepSettings) -> list[ir.BooleanValue]:
        found = []
        for name, wanted in ((step.kind, True), (step.not_kind, False)):
            if name is not None:
                body = self.questions.body if "body" in self.questions.columns else None
                of_kind = is_of_kind(self.kinds[name], self._column(step, "title"), body)
                found.append(of_kind if wanted else ~of_kind)
        return found

    def _about_answers(self, step: StepSettings) -> list[ir.BooleanValue]:
        found = []
        if step.accepted_answer is not None:
            accepted = self._column(step, "accepted_answer_id").notnull()
            found.append(accepted if step.accepted_answer else ~accepted)
        if step.accepted_answer_with_code is not None:
            if self.answers is None:
                raise SettingsError(f"the step {step.step!r} asks for answers, but its source has none")
            with_code = self.answers.filter(self.answers.body.contains("<code>")).id
            has_code = self._column(step, "accepted_answer_id").isin(with_code).fill_null(False)
            found.append(has_code if step.accepted_answer_with_code else ~has_code)
        if step.closed is not None:
            closed = self._column(step, "closed_date").notnull()
            found.append(closed if step.closed else ~closed)
        return found

    def _bounds(self, step: StepSettings) -> list[ir.BooleanValue]:
        found = []
        for column, low, high in (
            ("score", step.score_at_least, step.score_at_most),
            ("view_count", step.views_at_least, step.views_at_most),
        ):
            if low is not None:
                found.append(self._column(step, column) >= low)
            if high is not None:
                found.append(self._column(step, column) <= high)
        if step.created_from is not None:
            found.append(self._column(step, "creation_date") >= ibis.timestamp(step.created_from.isoformat()))
        if step.created_before is not None:
            found.append(self._column(step, "creation_date") < ibis.timestamp(step.created_before.isoformat()))
        for column, length in (("title", step.title_at_least), ("body", step.body_at_least)):
            if length is not None:
                found.append(self._column(step, column).length() >= length)
        return found

    def _column(self, step: StepSettings, name: str) -> ir.Value:
        if name not in self.questions.columns:
            raise SettingsError(
                f"the step {step.step!r} needs the column {name!r}, the source has {listed(self.questions.columns)}"
            )
        return self.questions[name]


def counts_of(fell: Mapping[int, int], steps: int) -> list[tuple[int, int]]:
    """In and out of each step, from how many items fell at each."""
    entered = sum(fell.values())
    result = []
    for number in range(steps):
        kept = entered - fell.get(number, 0)
        result.append((entered, kept))
        entered = kept
    return result


_PRIME = 2_147_483_647


def shuffled(number: ir.IntegerValue, seed: int) -> ir.IntegerValue:
    """A key to order items by as if by chance: the same seed gives the same order on every engine."""
    key = (number * 48_271 + (seed % _PRIME) * 7_919 + 11) % _PRIME
    for factor in (69_621, 16_807):
        key = (key * factor) % _PRIME
    return key


def describe(step: StepSettings) -> str:
    """The step's conditions in words, as they stand in the study file."""
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
