"""Contents of the results page: each question with its tests as sentences, and open answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from quaestor.base.errors import SettingsError, StateError
from quaestor.coding.agreement_access import find_access
from quaestor.measures.records import Share
from quaestor.surveys.invitations import ResponseRate, ResponseRates, response_rates
from quaestor.surveys.lifecycle import Surveys
from quaestor.surveys.model.flow import fill_in_answers
from quaestor.surveys.model.question_kinds import kind_of
from quaestor.surveys.model.question_results import QuestionResult
from quaestor.surveys.results.compute import ConsentCounts, SurveyResults, response_rate, survey_results
from quaestor.surveys.results.counting import (
    LANGUAGE,
    STRATUM,
    VERSION,
    CountedAnswers,
    CountingCache,
    group_responses,
    list_texts,
)
from quaestor.surveys.results.sentences import MISSING, ComparisonInWords, describe_tests, write_doubts, write_remarks
from quaestor.surveys.results.weighting import size_in_words, weights_in_words
from quaestor.surveys.themes import SurveyThemes, count_themes, find_coded_facets, themes_table
from quaestor.surveys.themes_by_group import ThemesByGroup, cross_themes, list_tests

_LONGEST, _SHORTEST = 60, 20
"""Maximum characters of a label in the comparison list, and of the question before a long row."""


@dataclass(frozen=True)
class FreeTextSample:
    """The first texts to a question, or to one of its options or rows."""

    label: str
    option: str
    row: str
    total: int
    texts: tuple[str, ...]


@dataclass(frozen=True)
class ShownQuestion:
    """One question on the page."""

    result: QuestionResult
    missing: tuple[tuple[str, str, int], ...]
    """Reason, its label, number of responses."""
    written: tuple[FreeTextSample, ...]
    tests: tuple[ComparisonInWords, ...]
    doubts: tuple[str, ...]
    remarks: tuple[str, ...] = ()
    size: str = ""
    """The effective sample size, if the responses have weights."""
    sizes: tuple[tuple[int, int], ...] = ()
    """Sizes of its figure and of the one for phones, if it shows more than the bars next to its numbers."""


@dataclass(frozen=True)
class ShownThemes:
    """The themes of one round and facet, or why they are not shown."""

    round: str
    facet: str
    themes: SurveyThemes | None = None
    notes: tuple[str, ...] = ()
    crossed: ThemesByGroup | None = None
    tests: tuple[ComparisonInWords, ...] = ()
    doubts: tuple[str, ...] = ()
    hidden: str = ""
    """Why there are no themes yet."""
    asks: bool = False
    """Whether they are shown once the viewer opens the agreement of the round."""


@dataclass(frozen=True)
class Rate:
    """The share of those invited who started, and who finished if known."""

    name: str
    share: Share
    finished: Share | None = None


@dataclass(frozen=True)
class ResultsPage:
    """Everything on the results page."""

    results: SurveyResults
    questions: tuple[ShownQuestion, ...]
    rates: tuple[tuple[str, tuple[Rate, ...]], ...]
    """One group per heading; empty if nobody was invited."""
    comparable: tuple[tuple[str, str], ...]
    """Comparison options: name and label."""
    consents: tuple[ConsentCounts, ...] = ()
    filters: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = ()
    """Filters by version, language and answers: a heading, and below it conditions with their labels."""
    weights: tuple[str, ...] = ()
    """How responses were weighted, in sentences."""
    unweighted: str = ""
    """Why the weights that study.toml declares could not be computed."""
    themes: tuple[ShownThemes, ...] = ()
    """The themes of coded open answers, for the lead."""


def results_page(
    surveys: Surveys,
    name: str,
    *,
    by: str,
    unfinished: bool,
    room: CountingCache,
    where: Sequence[str] = (),
    lead: str = "",
) -> ResultsPage:
    """Returns the results of a survey, compared by the answers to a question if `by` is given.

    The themes of coded answers are for the lead who views the page, if there is one.
    """
    refused = ""
    try:
        results = survey_results(surveys, name, by=by, unfinished=unfinished, where=where, room=room)
    except SettingsError as error:
        refused = str(error)
        results = survey_results(surveys, name, by=by, unfinished=unfinished, where=where, room=room, weighted=False)
    questions = tuple(_shown(surveys, results, result) for result in results.tabled)
    rates = _rates(response_rates(surveys, name))
    filters = tuple(_filters(results))
    weights = tuple(weights_in_words(results.weights)) if results.weights is not None else ()
    comparable = tuple(_comparable(results))
    themes = tuple(_show_themes(surveys, name, by, room, lead)) if lead else ()
    return ResultsPage(results, questions, rates, comparable, results.consents, filters, weights, refused, themes)


def _show_themes(surveys: Surveys, name: str, by: str, room: CountingCache, lead: str) -> Iterator[ShownThemes]:
    """Yields the themes of closed rounds; a view that has a consequence is left to the page that asks first."""
    with surveys.coding.locked_state() as state:
        coded = list(find_coded_facets(state, name))
        access = {round_name: find_access(state, round_name, lead, surveys.coding.lead) for round_name, _ in coded}
    for round_name, facet in coded:
        if access[round_name].may != "now":
            asks = access[round_name].may == "ask"
            yield ShownThemes(round_name, facet, hidden=access[round_name].message, asks=asks)
            continue
        try:
            themes = count_themes(surveys.coding, round_name, facet, lead)
        except StateError as error:
            yield ShownThemes(round_name, facet, hidden=f"{error}.")
            continue
        crossed = cross_themes(surveys, themes, by, room) if by and len(themes.surveys) == 1 else None
        tests = tuple(list_tests(crossed)) if crossed is not None else ()
        notes = themes_table(themes).notes
        yield ShownThemes(round_name, facet, themes, notes, crossed, tests, tuple(write_doubts(tests)))


def _filters(results: SurveyResults) -> Iterator[tuple[str, tuple[tuple[str, str], ...]]]:
    for by, label in _comparable(results):
        groups = group_responses(results.counted, by)
        if len(groups.keys) > 1:
            named = zip(groups.keys, groups.labels, strict=True)
            yield label, tuple((f"{by}={key}", group_label) for key, group_label in named)


def _shown(surveys: Surveys, results: SurveyResults, result: QuestionResult) -> ShownQuestion:
    kind, tests = kind_of(result.question), describe_tests(result)
    missing = tuple((reason.value, MISSING[reason], count) for reason, count in result.missing.items())
    sizes = [kind.figure_size(result, results.groups, narrow=narrow) for narrow in (False, True) if result.base]
    return ShownQuestion(
        result,
        missing,
        tuple(_written(surveys, results.counted, result)),
        tuple(tests),
        tuple(write_doubts(tests)),
        tuple(write_remarks(result)),
        size_in_words(result.weighted_size) if result.weighted_size is not None else "",
        tuple(size for size in sizes if size is not None),
    )


def _written(surveys: Surveys, counted: CountedAnswers, result: QuestionResult) -> Sequence[FreeTextSample]:
    question = result.question
    if kind_of(question).is_free_text:
        texts = list_texts(surveys, counted, question.id) if result.base else []
        return [FreeTextSample("", "", "", result.base, tuple(texts))] if result.base else []
    parts = [(line.label, line.key, "", line.with_text) for row in result.rows for line in row.lines if line.with_text]
    parts += [(row.label, "", row.key, row.with_text) for row in result.rows if row.key and row.with_text]
    return [
        FreeTextSample(label, option, row, total, tuple(list_texts(surveys, counted, question.id, option or row)))
        for label, option, row, total in parts
    ]


def _rates(rates: ResponseRates) -> tuple[tuple[str, tuple[Rate, ...]], ...]:
    if not rates.whole.sent:
        return ()
    parts = (("All invited", (rates.whole,)), ("By stratum", rates.by_stratum), ("By batch", rates.by_batch))
    return tuple(
        (
            title,
            tuple(_rate("All" if title == "All invited" else rate.name, rate) for rate in part),
        )
        for title, part in parts
        if part
    )


def _rate(name: str, rate: ResponseRate) -> Rate:
    finished = None if rate.finished is None else response_rate(rate.finished, rate.sent)
    return Rate(name, response_rate(rate.used, rate.sent), finished)


def _comparable(results: SurveyResults) -> Iterator[tuple[str, str]]:
    """Yields name and label; truncates long questions but never rows, nor questions with the same beginning."""
    parts = list(_parts(results))
    short = [_together(_shortened(text, _LONGEST - len(row) - 1), row) for _, text, row in parts]
    often = Counter(short)
    for (name, text, row), label in zip(parts, short, strict=True):
        yield name, label if often[label] == 1 else _together(text, row)


def _parts(results: SurveyResults) -> Iterator[tuple[str, str, str]]:
    """Yields name, question and row of each comparison option."""
    columns = results.counted.columns
    if (columns.strata != "").any():
        yield STRATUM, "Stratum", ""
    if len(set(columns.versions.tolist())) > 1:
        yield VERSION, "Version of the questionnaire", ""
    if len(set(columns.languages.tolist())) > 1:
        yield LANGUAGE, "Language", ""
    for name, column in results.counted.columns.questions.items():
        question = column.question
        if kind_of(question).is_hidden and not column.answered.any():
            continue
        text = fill_in_answers(question.text, results.counted.questionnaire, {})
        for code, label in kind_of(question).comparable_rows(question):
            yield f"{name}.{code}" if code else name, text, label


def _together(text: str, row: str) -> str:
    return f"{text} {row}" if row else text


def _shortened(text: str, most: int) -> str:
    most = max(most, _SHORTEST)
    if len(text) <= most:
        return text
    return (text[:most].rpartition(" ")[0] or text[: most - 1]).rstrip(" ,;:.") + "…"
