"""Formats survey results as sentences: counts, missing answers and why, outcomes of tests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from quaestor.measures.records import GroupTest
from quaestor.measures.survey_answers import GroupDifference
from quaestor.render.number_format import decimal, interval, probability
from quaestor.surveys.model.flow import fill_in_answers
from quaestor.surveys.model.question_kinds import kind_of
from quaestor.surveys.model.question_results import Distribution, Numbers, QuestionResult
from quaestor.surveys.model.records import EarlierLabel, Missing
from quaestor.surveys.results.compute import SurveyResults
from quaestor.surveys.results.counting import DROPPED, CountedAnswers, ResponseSelection, group_responses
from quaestor.surveys.results.weighting import size_in_words

NO_TEST = "no test, because all answers are the same or all are in one group"
OVERLAPPING = "A response may be in several of these groups, so they are shown side by side and not tested."
SEVERAL = "Several options could be chosen, so shares can add up to more than 100%."
MISSING = {
    Missing.NOT_SHOWN: "not shown",
    Missing.SKIPPED: "skipped",
    Missing.NOT_REACHED: "not reached",
    Missing.WITHDRAWN: "withdrawn",
}
_MOST_PAIRS, _SURE = 15, 0.05
_HOW = {"chi-square, permuted": " (permuted)"}


@dataclass(frozen=True)
class ComparisonInWords:
    """A test as a sentence, its label, and why it may be unreliable."""

    label: str
    words: str
    doubts: tuple[str, ...] = ()


def write_notes(result: QuestionResult) -> tuple[str, ...]:
    """Returns the sentences below a table."""
    why = ", ".join(f"{count:,} {MISSING[reason]}" for reason, count in result.missing.items())
    notes = [f"{result.base:,} answered" + (f"; {why}." if why else ".")]
    if result.weighted_size is not None:
        notes.append(f"Weighted: {size_in_words(result.weighted_size)}.")
    if kind_of(result.question).has_several_choices:
        notes.append(SEVERAL)
    notes += write_remarks(result)
    tests = describe_tests(result)
    notes += [f"{test.label}: {test.words}." if test.label else f"{_capital(test.words)}." for test in tests]
    return (*notes, *write_doubts(tests))


def write_remarks(result: QuestionResult) -> list[str]:
    """Returns notes on the numbers: what has no cell, options that only some versions offer, implausible numbers."""
    remarks = kind_of(result.question).remarks(result)
    if result.weighted is not None and result.rows and (result.bases or result.question.rows):
        remarks.append("Where a cell has three numbers, they are the count, the share and the weighted share.")
    if result.partly:
        some = ", ".join(f"{label} ({could:,})" for label, could in result.partly)
        remarks.append(f"Versions differ, so not everybody {kind_of(result.question).partly_offered}: {some}.")
    if result.partly_steps:
        some = ", ".join(f"{label} ({could:,})" for label, could in result.partly_steps)
        remarks.append(
            f"Versions differ, so not everybody was offered each step; shares are of those who were: {some}."
        )
    remarks += [_reworded(label) for label in result.earlier]
    for unit, factor, count in result.converted:
        answers = "1 answer was" if count == 1 else f"{count:,} answers were"
        remarks.append(f"{answers} given in {unit or 'another unit'} and multiplied by {factor:.6g}.")
    if result.numbers is not None and result.numbers.left_out:
        many = result.numbers.left_out
        left = "1 answer is" if many == 1 else f"{many:,} answers are"
        remarks.append(f"{left} not counted here: the number is implausibly large or small.")
    return remarks


def _reworded(label: EarlierLabel) -> str:
    versions = ", ".join(map(str, label.versions))
    where = f"In version{'s' if len(label.versions) > 1 else ''} {versions}"
    what = f"“{label.label}” read" if label.part else "the question read"
    return f"{where}, {what} “{label.earlier}”."


def write_doubts(tests: Sequence[ComparisonInWords]) -> list[str]:
    """Returns each doubt once, with the tests it concerns unless it concerns all."""
    sentences = []
    for doubt in dict.fromkeys(doubt for test in tests for doubt in test.doubts):
        about = [test.label for test in tests if doubt in test.doubts]
        where = f" ({', '.join(about)})" if len(about) < len(tests) else ""
        sentences.append(f"Interpret with caution{where}: {doubt}.")
    return sentences


def describe_tests(result: QuestionResult) -> list[ComparisonInWords]:
    """Returns the comparisons of groups."""
    tests = [test for row in result.rows for test in _tests(row)]
    if result.numbers is not None and result.numbers.test is not None:
        ranks = ComparisonInWords("", _ranks_in_words(result.numbers), result.numbers.doubts)
        tests += [ranks, *_pairs(result.numbers, result.numbers.test)]
    return tests


def _pairs(numbers: Numbers, test: GroupTest) -> Iterator[ComparisonInWords]:
    """Yields all pairs of groups; if there are very many, only those that differ."""
    pairs = test.pairs if len(test.groups) > 2 else ()
    for pair in pairs if len(pairs) <= _MOST_PAIRS else [pair for pair in pairs if pair.adjusted < _SURE]:
        names = " and ".join(numbers.groups[group] for group in (pair.first, pair.second))
        words = f"Dunn's z = {decimal(pair.z)}, p {_probability(pair.adjusted)} by Holm's method"
        yield ComparisonInWords(names, words, numbers.doubts)


def _tests(row: Distribution) -> Iterator[ComparisonInWords]:
    if row.crossed is not None:
        yield ComparisonInWords(row.label, test_in_words(row.crossed), row.crossed.doubts)
    for line in row.lines:
        if line.crossed is not None and line.share.count:
            yield ComparisonInWords(line.label, test_in_words(line.crossed), line.crossed.doubts)


def test_in_words(crossed: GroupDifference) -> str:
    """Describes a test: its name, p-value and the strength of the association."""
    test, strength = crossed.association, crossed.strength
    if test.undefined:
        return NO_TEST if test.n else "no test, because nobody in a group has answered"
    name = test.test if test.statistic is None else f"χ² = {decimal(test.statistic)}{_HOW.get(test.test, '')}"
    free = f", df = {test.df}" if test.df is not None else ""
    p = _probability(test.p if crossed.adjusted is None else crossed.adjusted)
    corrected = " by Holm's method" if crossed.adjusted is not None else ""
    sure = f"{decimal(strength.value)} [{interval(strength.low, strength.high)}]"
    return f"{name}{free}, p {p}{corrected}; Cramér's V = {sure}, {strength.band} (n = {test.n:,})"


def _ranks_in_words(numbers: Numbers) -> str:
    test, effect = numbers.test, numbers.effect
    if test is None:
        return ""
    if test.undefined:
        return NO_TEST
    words = f"Kruskal–Wallis H = {decimal(test.statistic)}, df = {test.df}, p {_probability(test.p)}"
    if effect is None or effect.value is None:
        return f"{words}; ε² = {decimal(test.epsilon_squared)}, {test.band} (n = {test.n:,})"
    bounds = f" [{interval(effect.low, effect.high)}]" if effect.low is not None else ""
    return f"{words}; Cliff's δ = {decimal(effect.value)}{bounds}, {effect.band}"


def _probability(p: float | None) -> str:
    shown = probability(p)
    return shown if shown.startswith("<") else f"= {shown}"


def _capital(words: str) -> str:
    """Capitalises the first letter, except χ, whose capital looks like an X."""
    return words[:1].upper() + words[1:] if words[:1].isascii() else words


def counted_in_words(results: SurveyResults) -> list[str]:
    """Describes how many responses are counted, and which are not."""
    sentences = ["1 response is counted." if results.base == 1 else f"{results.base:,} responses are counted."]
    left = [f"{count:,} {_STANDINGS.get(why, why)}" for why, count in results.counted.left_out.items()]
    left += [f"{results.counted.erased:,} withdrawn and erased"] if results.counted.erased else []
    if results.counted.where:
        sentences[0] = f"{sentences[0][:-1]}, where {' and '.join(results.counted.where)}."
    if results.synthetic:
        sentences.append(f"{results.synthetic:,} of them are synthetic.")
    if left:
        sentences.append(f"Not counted: {', '.join(left)}.")
    return sentences


def groups_in_words(results: SurveyResults) -> list[str]:
    """Describes the groups that are compared: their sizes, and whether a response can be in several."""
    groups = results.groups
    if groups is None:
        return []
    sizes = ", ".join(f"{label} ({size:,})" for label, size in zip(groups.labels, results.sizes, strict=True))
    overlapping = [OVERLAPPING] if groups.overlapping else []
    return [" ".join([f"Compared by “{groups.label}”: {sizes}.", *overlapping])]


def consents_in_words(results: SurveyResults) -> list[str]:
    """Returns a line for each consent, of everybody who started."""
    return [
        f"{consent.question.text} {consent.agreed:,} agreed, {consent.declined:,} did not, of everybody who started."
        for consent in results.consents
    ]


def which_in_words(counted: CountedAnswers, which: ResponseSelection) -> list[tuple[str, str]]:
    """Describes the responses behind a number, as pairs of a question and an answer."""
    question = counted.column(which.question).question
    text = fill_in_answers(question.text, counted.questionnaire, {})
    rows, options = ({part.code: part.label for part in parts} for parts in (question.rows, question.options))
    answer = options.get(which.option, which.option)
    if which.missing:
        answer = next((words for reason, words in MISSING.items() if reason.value == which.missing), which.missing)
    elif which.place:
        answer = f"{answer}, at rank {which.place}"
    answer = answer or "any answer"
    pairs = [(text, f"{rows[which.row]}: {answer}" if which.row in rows else answer)]
    if which.by:
        groups = group_responses(counted, which.by)
        pairs.append((groups.label, dict(zip(groups.keys, groups.labels, strict=True)).get(which.group, which.group)))
    return pairs


_STANDINGS = {
    "open": "not finished",
    "screened out": "screened out",
    "declined": "without consent",
    DROPPED: "excluded by the lead",
}
