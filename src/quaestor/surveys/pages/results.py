"""Results as a page shows them: each question with its tests in words, and what people wrote."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from quaestor.measures.records import Share
from quaestor.surveys.invitations import ResponseRate, ResponseRates, response_rates
from quaestor.surveys.lifecycle import Surveys
from quaestor.surveys.model.flow import piped
from quaestor.surveys.model.records import CHOSEN, Kind
from quaestor.surveys.results.compute import Consent, QuestionResult, Results, response_rate, survey_results
from quaestor.surveys.results.counting import STRATUM, Counted, CountingRoom, words_of
from quaestor.surveys.results.export import SCALES, size_of_scale
from quaestor.surveys.results.sentences import MISSING, Told, doubts_of, remarks_of, tests_of

_OPEN = (Kind.TEXT, Kind.LONG_TEXT)
_LONGEST, _SHORTEST = 60, 20
"""Characters of what one can compare by, and those of a question that stay however long its row is."""


@dataclass(frozen=True)
class Written:
    """The first of what people wrote to a question, or beside one of its options or rows."""

    label: str
    part: str
    total: int
    texts: tuple[str, ...]


@dataclass(frozen=True)
class ShownQuestion:
    """One question on the page."""

    result: QuestionResult
    missing: tuple[tuple[str, str, int], ...]
    """Reason, the same in words, how many."""
    written: tuple[Written, ...]
    tests: tuple[Told, ...]
    doubts: tuple[str, ...]
    remarks: tuple[str, ...] = ()
    sizes: tuple[tuple[int, int], ...] = ()
    """Width and height of its figure and of that for a phone, where it says more than bars beside its numbers."""


@dataclass(frozen=True)
class Rate:
    """How many of those who were invited came, and how many finished where that is known."""

    name: str
    share: Share
    finished: Share | None = None


@dataclass(frozen=True)
class ResultsPage:
    """Everything that the page shows."""

    results: Results
    questions: tuple[ShownQuestion, ...]
    rates: tuple[tuple[str, tuple[Rate, ...]], ...]
    """Under a heading each; none where nobody was invited."""
    comparable: tuple[tuple[str, str], ...]
    """What one can compare by: name and words."""
    consents: tuple[Consent, ...] = ()


def results_page(surveys: Surveys, name: str, *, by: str, unfinished: bool, room: CountingRoom) -> ResultsPage:
    """The page of a survey, compared by the answers to a question where one is named."""
    results = survey_results(surveys, name, by=by, unfinished=unfinished, room=room)
    questions = tuple(_shown(surveys, results, one) for one in results.tabled)
    rates = _rates(response_rates(surveys, name))
    return ResultsPage(results, questions, rates, tuple(_comparable(results)), results.consents)


def _shown(surveys: Surveys, results: Results, found: QuestionResult) -> ShownQuestion:
    told = tests_of(found)
    written = tuple(_written(surveys, results.counted, found))
    missing = tuple((reason.value, MISSING[reason], count) for reason, count in found.missing.items())
    drawn = found.question.kind in SCALES and found.base
    sizes = tuple(size_of_scale(results, found, narrow=narrow) for narrow in (False, True)) if drawn else ()
    return ShownQuestion(found, missing, written, tuple(told), tuple(doubts_of(told)), tuple(remarks_of(found)), sizes)


def _written(surveys: Surveys, counted: Counted, found: QuestionResult) -> Sequence[Written]:
    question = found.question
    if question.kind in _OPEN:
        texts = words_of(surveys, counted, question.id) if found.base else []
        return [Written("", "", found.base, tuple(texts))] if found.base else []
    worded = [(line.label, line.key, line.worded) for row in found.rows for line in row.lines if line.worded]
    worded += [(row.label, row.key, row.worded) for row in found.rows if row.key and row.worded]
    return [
        Written(label, key, total, tuple(words_of(surveys, counted, question.id, key))) for label, key, total in worded
    ]


def _rates(rates: ResponseRates) -> tuple[tuple[str, tuple[Rate, ...]], ...]:
    if not rates.whole.sent:
        return ()
    parts = (("All invited", (rates.whole,)), ("By stratum", rates.by_stratum), ("By batch", rates.by_batch))
    return tuple(
        (
            title,
            tuple(_rate("All" if title == "All invited" else one.name, one) for one in of),
        )
        for title, of in parts
        if of
    )


def _rate(name: str, one: ResponseRate) -> Rate:
    finished = None if one.finished is None else response_rate(one.finished, one.sent)
    return Rate(name, response_rate(one.used, one.sent), finished)


def _comparable(results: Results) -> Iterator[tuple[str, str]]:
    """A long question is shortened and a row never; questions that begin alike keep all their words."""
    parts = list(_parts(results))
    short = [_together(_shortened(text, _LONGEST - len(row) - 1), row) for _, text, row in parts]
    often = Counter(short)
    for (name, text, row), label in zip(parts, short, strict=True):
        yield name, label if often[label] == 1 else _together(text, row)


def _parts(results: Results) -> Iterator[tuple[str, str, str]]:
    """Name, question and row of each."""
    if (results.counted.columns.strata != "").any():
        yield STRATUM, "Stratum", ""
    for name, column in results.counted.columns.questions.items():
        question = column.question
        text = piped(question.text, results.counted.questionnaire, {})
        if question.kind in CHOSEN and question.kind is not Kind.CONSENT:
            yield name, text, ""
        elif question.kind is Kind.MATRIX:
            yield from ((f"{name}.{row.code}", text, row.label) for row in question.rows if not row.text)


def _together(text: str, row: str) -> str:
    return f"{text} {row}" if row else text


def _shortened(text: str, most: int) -> str:
    most = max(most, _SHORTEST)
    if len(text) <= most:
        return text
    return (text[:most].rpartition(" ")[0] or text[: most - 1]).rstrip(" ,;:.") + "…"
