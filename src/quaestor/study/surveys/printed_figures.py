"""Printed figures of a survey, counted from its answers: how many said something, and among how many."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from quaestor.base.errors import InputError, SettingsError
from quaestor.base.names import listed, nearest_first
from quaestor.instruments.conditions import Condition, read_condition
from quaestor.instruments.records import CHOSEN, Answer, Kind, Questionnaire, Standing
from quaestor.publish.audit.compare import numbers_in
from quaestor.publish.audit.records import Key
from quaestor.publish.audit.settings import SurveyFigures
from quaestor.study.results.printed import PRINTED_FILE, Printed
from quaestor.study.surveys.fielding import Surveys

Answers = Mapping[str, Answer]


@dataclass(frozen=True)
class Figure:
    """How one printed figure is counted."""

    key: Key
    holds: Condition | None
    among: Condition | None
    percent: bool = False
    per: int | None = None
    """What it is a share of, where no answer can tell it."""
    printed_base: int | None = None
    """Among how many the page counted, as far as it says so."""
    title: str = ""
    """Of the figures that belong together."""


@dataclass(frozen=True)
class Counted:
    """A figure as some responses give it."""

    value: float | None
    base: int


def counted_responses(surveys: Surveys, name: str) -> list[Answers]:
    """What the responses say that count: finished, and not left out by the lead."""
    decisions = surveys.fielding(name).decisions
    return [
        one.answers
        for one in surveys.answers.responses(name)
        if one.standing is Standing.FINISHED and (one.id not in decisions or decisions[one.id].keep)
    ]


def figures_of(printed: Printed, questionnaire: Questionnaire) -> list[Figure]:
    """All printed figures that answers can tell, as printed.toml says they are counted."""
    asked = printed.settings.answers
    return [] if asked is None else [one for group in asked.figures for one in _of(printed, questionnaire, group)]


def figures_otherwise(printed: Printed, questionnaire: Questionnaire) -> Iterator[tuple[str, list[Figure]]]:
    """The other ways of counting that printed.toml knows, each in words with the figures as they would be."""
    asked = printed.settings.answers
    for group in asked.figures if asked is not None else ():
        for how, rows in group.otherwise.items():
            yield how, list(_of(printed, questionnaire, group, rows))


def _of(
    printed: Printed, asked: Questionnaire, group: SurveyFigures, rows: Mapping[str, str] | None = None
) -> Iterator[Figure]:
    among = _condition(asked, group.among)
    per, base = _added(printed, group.per_printed), _added(printed, group.base)
    for row, words in (group.rows if rows is None else rows).items():
        key = (group.table, row, group.column)
        printed.cell(":".join(key))  # a figure of what is not printed would never say anything
        yield Figure(key, _condition(asked, words), among, group.percent, per, base, group.title)


def _added(printed: Printed, cells: Sequence[str]) -> int | None:
    found = [numbers_in(printed.cell(name)) for name in cells]
    return sum(int(numbers[0][0]) for numbers in found if numbers) if found and all(found) else None


def _condition(asked: Questionnaire, words: str) -> Condition | None:
    """A condition on answers; one that speaks of what is not asked is refused, since it would count nothing."""
    if not words.strip():
        return None
    try:
        found = read_condition(words)
    except InputError as error:
        raise SettingsError(f"{PRINTED_FILE}: {error}") from None
    for test in found.tests():
        question = asked.question(test.question)
        if question is None:
            known = listed(nearest_first(test.question, [one.id for one in asked.questions()])[:3])
            raise SettingsError(
                f"{PRINTED_FILE}: {words!r} is about {test.question!r}, which is not asked in {asked.id!r}: {known}"
            )
        chosen = question.kind in (*CHOSEN, Kind.MATRIX) and test.compare in ("=", "!=", "includes")
        if chosen and question.option(test.value) is None:
            known = listed(nearest_first(test.value, [one.code for one in question.options]))
            raise SettingsError(
                f"{PRINTED_FILE}: {words!r} is about {test.value!r}, which is no option of {question.id!r}: {known}"
            )
    return found


def counted(figures: Sequence[Figure], responses: Sequence[Answers]) -> dict[Key, Counted]:
    """The figures as these responses give them, each with its own base."""
    return {one.key: _counted(one, responses) for one in figures}


def _counted(figure: Figure, responses: Sequence[Answers]) -> Counted:
    among = [one for one in responses if figure.among is None or figure.among.holds(one)]
    count = sum(figure.holds is None or figure.holds.holds(one) for one in among)
    base = figure.per if figure.per is not None else len(among)
    if not figure.percent:
        return Counted(float(count), base)
    return Counted(100 * count / base if base else None, base)
