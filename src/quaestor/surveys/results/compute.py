"""What a survey says: every question counted on its own base, with why answers are missing and how sure a number is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from quaestor.measures.descriptive import share, summary
from quaestor.measures.group_comparison import cliffs_delta, kruskal_wallis
from quaestor.measures.records import Effect, Estimate, GroupTest, Share, Summary
from quaestor.measures.survey_answers import (
    GroupDifference,
    OptionRank,
    adjust_p_values,
    compare_groups,
    list_size_doubts,
    mean,
    multiple_shares,
    rankings,
    single_shares,
    distribution,
)
from quaestor.surveys.lifecycle import Surveys
from quaestor.surveys.model.flow import piped
from quaestor.surveys.model.records import AGREE, CHOSEN, DECLINE, Kind, Missing, Option, Question, Row
from quaestor.surveys.model.typed_numbers import LEAST, MOST
from quaestor.surveys.results.column_records import REASONS, Column, Flags, Small
from quaestor.surveys.results.counting import Counted, CountingRoom, Groups, groups_by, reasons_of

MOST_BARS = 12
"""Numbers are shown one by one up to so many different ones, else in as many ranges."""


@dataclass(frozen=True)
class Line:
    """One option with the share of those who chose it."""

    key: str
    label: str
    share: Share
    worded: int = 0
    """How many said it in words of their own."""
    by: tuple[Share, ...] = ()
    """The same in each group."""
    crossed: GroupDifference | None = None
    """Whether groups differ in it, where each option is a question of its own."""


@dataclass(frozen=True)
class Distribution:
    """The options of a choice, or the steps of one row of a matrix, on a base of their own."""

    key: str
    label: str
    base: int
    missing: Mapping[Missing, int]
    lines: tuple[Line, ...]
    worded: int = 0
    bases: tuple[int, ...] = ()
    """Of each group."""
    crossed: GroupDifference | None = None


@dataclass(frozen=True)
class Numbers:
    """Numbers that were typed: mean and median with their intervals, and how they are spread."""

    mean: Estimate
    summary: Summary
    least: float | None
    most: float | None
    bars: tuple[tuple[str, Share], ...]
    by: tuple[Summary, ...] = ()
    test: GroupTest | None = None
    effect: Effect | None = None
    groups: tuple[str, ...] = ()
    """What each group is called, where they are tested against each other."""
    doubts: tuple[str, ...] = ()
    """Why not to lean on that test."""
    left_out: int = 0
    """Answers that are no number one can count with; they stand in no other number here."""


@dataclass(frozen=True)
class RankedLine:
    """One option of a ranking."""

    key: str
    label: str
    ranked: OptionRank
    places: tuple[int, ...]
    """How many gave it the first place, the second, and so on."""


@dataclass(frozen=True)
class QuestionResult:
    """One question; what does not belong to its kind is empty."""

    question: Question
    base: int
    """How many answered it."""
    missing: Mapping[Missing, int]
    rows: tuple[Distribution, ...] = ()
    numbers: Numbers | None = None
    ranked: tuple[RankedLine, ...] = ()
    bases: tuple[int, ...] = ()
    """How many answered it in each group."""
    partly: tuple[tuple[str, int], ...] = ()
    """Options or rows that not all of these could choose, since versions differ, and how many could."""

    @property
    def asked(self) -> int:
        """How many saw it."""
        return self.base + self.missing.get(Missing.SKIPPED, 0)


@dataclass(frozen=True)
class Consent:
    """How many agreed to take part, of all who came, whatever became of them; it stands on a line, not in a table."""

    question: Question
    agreed: int
    declined: int


@dataclass(frozen=True)
class Results:
    """A survey as it stands now."""

    counted: Counted = field(repr=False)
    questions: tuple[QuestionResult, ...]
    groups: Groups | None = field(default=None, repr=False)
    sizes: tuple[int, ...] = ()
    """Counted responses in each group."""

    @property
    def survey(self) -> str:
        return self.counted.survey

    @property
    def title(self) -> str:
        return self.counted.questionnaire.title

    @property
    def base(self) -> int:
        return self.counted.base

    @property
    def synthetic(self) -> int:
        return int((self.counted.columns.synthetic & self.counted.used).sum())

    @property
    def tabled(self) -> tuple[QuestionResult, ...]:
        """The questions that have a table: all but consent."""
        return tuple(one for one in self.questions if one.question.kind is not Kind.CONSENT)

    @property
    def consents(self) -> tuple[Consent, ...]:
        return tuple(
            _consent(column) for column in self.counted.columns.questions.values()
            if column.question.kind is Kind.CONSENT
        )  # fmt: skip

    def question(self, name: str) -> QuestionResult | None:
        return next((one for one in self.questions if one.question.id == name), None)


def survey_results(
    surveys: Surveys,
    name: str,
    *,
    by: str = "",
    unfinished: bool = False,
    only: str = "",
    room: CountingRoom | None = None,
) -> Results:
    """Every question of a survey, or `only` one, and where `by` names a question, compared by its answers."""
    counted = (room or CountingRoom()).counted(surveys, name, unfinished)
    groups = groups_by(counted, by) if by else None
    seed = surveys.study.settings.study.seed
    counter = _Counter(counted, groups, seed)
    columns = counted.columns.questions.items()
    found = tuple(counter.question(column) for key, column in columns if key != by and only in ("", key))
    sizes = tuple(int(one.sum()) for one in counter.members)
    return Results(counted, found, groups, sizes)


def response_rate(used: int, invited: int) -> Share:
    """Who answered among those who were invited, with Wilson's interval."""
    return share(used, invited)


class _Counter:
    """Counts one question after the other over the responses that are used."""

    def __init__(self, counted: Counted, groups: Groups | None, seed: int) -> None:
        self.used = counted.used
        self.questionnaire = counted.questionnaire
        self.groups = groups
        self.seed = seed
        self.members: list[Flags] = list(groups.members[self.used].T) if groups else []
        self.codes: Small = groups.codes()[self.used] if groups else np.empty(0, np.int16)
        self.tested = groups is not None and not groups.overlapping

    def question(self, column: Column) -> QuestionResult:
        question = replace(column.question, text=piped(column.question.text, self.questionnaire, {}))
        answered = column.answered[self.used]
        found = QuestionResult(question, int(answered.sum()), _missing(column.missing[self.used]))
        found = replace(found, bases=self._bases(answered), partly=tuple(self._partly(column, answered)))
        if question.kind in CHOSEN:
            return replace(found, rows=(self._choices(column, found),))
        if question.kind is Kind.MATRIX:
            return replace(found, rows=tuple(self._rows(column)))
        if question.kind is Kind.NUMBER:
            return replace(found, numbers=self._numbers(column.numbers[self.used]))
        if question.kind is Kind.RANKING:
            return replace(found, ranked=tuple(self._ranked(column)))
        return found

    def _bases(self, answered: Flags) -> tuple[int, ...]:
        return tuple(int((answered & member).sum()) for member in self.members)

    def _partly(self, column: Column, answered: Flags) -> Iterator[tuple[str, int]]:
        offered = column.offered[self.used] if column.offered.size else None
        question = column.question
        parts: Sequence[Row | Option] = question.rows if question.kind is Kind.MATRIX else question.options
        for place, one in enumerate(parts if offered is not None else ()):
            could = int((answered & offered[:, place]).sum()) if offered is not None else 0
            if could < int(answered.sum()):
                yield one.label, could

    def _shares(self, column: Column, among: Flags) -> list[Share]:
        """The share of each option, of those whose version has it."""
        chosen = column.chosen[self.used]
        if not column.offered.size:
            return multiple_shares(chosen, among)
        offered = column.offered[self.used] | chosen
        return [
            share(int((chosen[:, place] & among).sum()), int((offered[:, place] & among).sum()))
            for place in range(chosen.shape[1])
        ]

    def _choices(self, column: Column, found: QuestionResult) -> Distribution:
        question, answered = column.question, column.answered[self.used]
        worded = column.worded[self.used].sum(axis=0).tolist()
        shares = self._shares(column, answered)
        by = [self._shares(column, answered & member) for member in self.members]
        lines = tuple(
            Line(one.code, one.label, shares[place], worded[place], tuple(group[place] for group in by))
            for place, one in enumerate(question.options)
        )
        whole = None
        if self.tested and question.kind is Kind.MULTIPLE:
            tests = adjust_p_values([compare_groups(_yes_and_no([group[place] for group in by]), self.seed) for place in _of(lines)])
            lines = tuple(replace(line, crossed=test) for line, test in zip(lines, tests, strict=True))
        elif self.tested and question.kind is not Kind.CONSENT and not question.attention:
            whole = compare_groups(_table(lines), self.seed)
        return Distribution("", "", found.base, found.missing, lines, sum(worded), found.bases, whole)

    def _rows(self, column: Column) -> Iterator[Distribution]:
        question = column.question
        rows = [self._row(column, place) for place in range(len(question.rows))]
        if not self.tested:
            yield from rows
            return
        tests = adjust_p_values([compare_groups(_table(row.lines), self.seed) for row in rows])
        yield from (replace(row, crossed=test) for row, test in zip(rows, tests, strict=True))

    def _row(self, column: Column, place: int) -> Distribution:
        question, row = column.question, column.question.rows[place]
        steps = column.places[self.used, place]
        shares = single_shares(steps, len(question.options))
        by = [single_shares(steps[member], len(question.options)) for member in self.members]
        lines = tuple(
            Line(one.code, one.label, shares[step], by=tuple(group[step] for group in by))
            for step, one in enumerate(question.options)
        )
        missing = _missing(reasons_of(column, place)[self.used])
        worded = int(column.worded[self.used, place].sum())
        return Distribution(
            row.code, row.label, int((steps >= 0).sum()), missing, lines, worded, self._bases(steps >= 0)
        )

    def _numbers(self, values: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> Numbers:
        far = (values != 0) & ((np.abs(values) < LEAST) | (np.abs(values) > MOST))
        values = np.where(far, np.nan, values)
        known = values[~np.isnan(values)]
        least, most = (float(known.min()), float(known.max())) if len(known) else (None, None)
        bars = tuple(distribution(known, MOST_BARS))
        found = Numbers(mean(known, self.seed), summary(known, self.seed), least, most, bars, left_out=int(far.sum()))
        if not self.members:
            return found
        found = replace(found, by=tuple(summary(values[member], self.seed) for member in self.members))
        if not self.tested:
            return found
        test = kruskal_wallis(values, self.codes, len(self.members))
        two = [self.members[place] for place in test.groups] if len(test.groups) == 2 else []
        effect = cliffs_delta(values[two[0]], values[two[1]]) if two else None
        doubts = () if test.undefined else list_size_doubts([one.n for one in found.by])
        labels = self.groups.labels if self.groups else ()
        return replace(found, test=test, effect=effect, groups=labels, doubts=doubts)

    def _ranked(self, column: Column) -> Iterator[RankedLine]:
        places = column.places[self.used]
        options = column.question.options
        for place, (one, found) in enumerate(zip(options, rankings(places, self.seed), strict=True)):
            counts = np.bincount(places[:, place], minlength=len(options) + 1)[1:]
            yield RankedLine(one.code, one.label, found, tuple(counts.tolist()))


def _consent(column: Column) -> Consent:
    options = [one.code for one in column.question.options]
    counts = dict(zip(options, column.chosen.sum(axis=0).tolist(), strict=True))
    return Consent(column.question, counts.get(AGREE, 0), counts.get(DECLINE, 0))


def _of(lines: Sequence[Line]) -> range:
    return range(len(lines))


def _table(lines: Sequence[Line]) -> list[list[int]]:
    return [[group.count for group in line.by] for line in lines]


def _yes_and_no(groups: Sequence[Share]) -> list[list[int]]:
    return [[one.count for one in groups], [one.of - one.count for one in groups]]


def _missing(reasons: Small) -> dict[Missing, int]:
    found = {reason: int((reasons == place).sum()) for place, reason in enumerate(REASONS)}
    return {reason: count for reason, count in found.items() if count}
