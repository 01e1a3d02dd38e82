"""Results of a survey in sentences: what was counted, what is missing and why, what a test says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from quaestor.measures.records import GroupTest, Share
from quaestor.measures.survey_answers import GroupDifference
from quaestor.render.number_format import ABSENT, decimal, interval, percent, probability
from quaestor.surveys.model.flow import piped
from quaestor.surveys.model.records import CHOSEN, Kind, Missing
from quaestor.surveys.results.compute import Distribution, Numbers, QuestionResult, Results
from quaestor.surveys.results.counting import Counted, Which, groups_by

NO_TEST = "no test, since everybody answered the same or all are in one group"
SEVERAL = "Several could be chosen, so shares can add up to more than 100%."
MISSING = {
    Missing.NOT_SHOWN: "not asked",
    Missing.SKIPPED: "left out by the respondent",
    Missing.NOT_REACHED: "not reached",
    Missing.WITHDRAWN: "withdrawn",
}
_MOST_PAIRS, _SURE = 15, 0.05
_HOW = {"chi-square, permuted": " (permuted)"}


@dataclass(frozen=True)
class Told:
    """A test in words, what it is about, and what speaks against leaning on it."""

    label: str
    words: str
    doubts: tuple[str, ...] = ()


def notes_of(found: QuestionResult) -> tuple[str, ...]:
    """The sentences below a table."""
    why = ", ".join(f"{count:,} {MISSING[reason]}" for reason, count in found.missing.items())
    notes = [f"{found.base:,} answered" + (f"; {why}." if why else ".")]
    if found.question.kind is Kind.MULTIPLE:
        notes.append(SEVERAL)
    notes += remarks_of(found)
    told = tests_of(found)
    notes += [f"{one.label}: {one.words}." if one.label else f"{_capital(one.words)}." for one in told]
    return (*notes, *doubts_of(told))


def remarks_of(found: QuestionResult) -> list[str]:
    """What the numbers of a question are not of: options that not everybody met, and numbers that are none."""
    remarks = []
    if found.partly:
        some = ", ".join(f"{label} ({could:,})" for label, could in found.partly)
        what = "was shown each row" if found.question.kind is Kind.MATRIX else "was offered each option"
        shares = "; shares are of those who were" if found.question.kind in CHOSEN else ""
        remarks.append(f"Versions differ, so not everybody {what}{shares}: {some}.")
    if found.numbers is not None and found.numbers.left_out:
        many = found.numbers.left_out
        left = "1 answer is" if many == 1 else f"{many:,} answers are"
        remarks.append(f"{left} not counted here: too large or too small for a number that somebody means.")
    return remarks


def doubts_of(told: Sequence[Told]) -> list[str]:
    """Each doubt once, with the tests it is about where it is not about all of them."""
    sentences = []
    for doubt in dict.fromkeys(doubt for one in told for doubt in one.doubts):
        about = [one.label for one in told if doubt in one.doubts]
        where = f" ({', '.join(about)})" if len(about) < len(told) else ""
        sentences.append(f"Not to be leaned on{where}: {doubt}.")
    return sentences


def tests_of(found: QuestionResult) -> list[Told]:
    """What the comparison of groups says."""
    told = [one for row in found.rows for one in _tests(row)]
    if found.numbers is not None and found.numbers.test is not None:
        ranks = Told("", _ranks_in_words(found.numbers), found.numbers.doubts)
        told += [ranks, *_pairs(found.numbers, found.numbers.test)]
    return told


def _pairs(numbers: Numbers, test: GroupTest) -> Iterator[Told]:
    """Every two of several groups; of very many pairs, those that differ."""
    pairs = test.pairs if len(test.groups) > 2 else ()
    for one in pairs if len(pairs) <= _MOST_PAIRS else [pair for pair in pairs if pair.adjusted < _SURE]:
        names = " and ".join(numbers.groups[group] for group in (one.first, one.second))
        yield Told(
            names, f"Dunn's z = {decimal(one.z)}, p {_probability(one.adjusted)} by Holm's method", numbers.doubts
        )


def _tests(row: Distribution) -> Iterator[Told]:
    if row.crossed is not None:
        yield Told(row.label, test_in_words(row.crossed), row.crossed.doubts)
    for line in row.lines:
        if line.crossed is not None and line.share.count:
            yield Told(line.label, test_in_words(line.crossed), line.crossed.doubts)


def test_in_words(crossed: GroupDifference) -> str:
    """Which test, how sure, and how strong."""
    found, strength = crossed.association, crossed.strength
    if found.undefined:
        return NO_TEST if found.n else "no test, since nobody who is in a group has answered"
    name = found.test if found.statistic is None else f"χ² = {decimal(found.statistic)}{_HOW.get(found.test, '')}"
    free = f", df = {found.df}" if found.df is not None else ""
    p = _probability(found.p if crossed.adjusted is None else crossed.adjusted)
    corrected = " by Holm's method" if crossed.adjusted is not None else ""
    sure = f"{decimal(strength.value)} [{interval(strength.low, strength.high)}]"
    return f"{name}{free}, p {p}{corrected}; Cramér's V = {sure}, {strength.band} (n = {found.n:,})"


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


def share_interval(share: Share) -> str:
    """`12.3% to 45.6%`."""
    known = share.low is not None and share.high is not None
    return f"{percent(share.low)} to {percent(share.high)}" if known else ABSENT


def _capital(words: str) -> str:
    """A sentence's beginning; χ stays as it is, since its capital is read as an X."""
    return words[:1].upper() + words[1:] if words[:1].isascii() else words


def counted_in_words(results: Results) -> list[str]:
    """How many responses are counted, which are not, and why: the first sentences of every account."""
    told = ["1 response is counted." if results.base == 1 else f"{results.base:,} responses are counted."]
    left = [f"{count:,} {_STANDINGS.get(why, why)}" for why, count in results.counted.left_out.items()]
    left += [f"{results.counted.erased:,} withdrawn and erased"] if results.counted.erased else []
    if left:
        told.append(f"Not counted: {', '.join(left)}.")
    if results.synthetic:
        told.append(f"{results.synthetic:,} of the counted ones are synthetic.")
    return told


def consents_in_words(results: Results) -> list[str]:
    """A line for each consent, of all who came."""
    return [
        f"{one.question.text} {one.agreed:,} agreed, {one.declined:,} did not, of all who came."
        for one in results.consents
    ]


def which_in_words(counted: Counted, which: Which) -> list[tuple[str, str]]:
    """What the responses behind a number have in common, as pairs of a question and an answer."""
    question = counted.column(which.question).question
    text = piped(question.text, counted.questionnaire, {})
    rows, options = ({one.code: one.label for one in parts} for parts in (question.rows, question.options))
    said = options.get(which.option, which.option)
    if which.missing:
        said = next((words for reason, words in MISSING.items() if reason.value == which.missing), which.missing)
    elif which.place:
        said = f"{said}, at place {which.place}"
    told = [(text, f"{rows[which.row]}: {said or 'any answer'}" if which.row in rows else said or "any answer")]
    if which.by:
        groups = groups_by(counted, which.by)
        told.append((groups.label, dict(zip(groups.keys, groups.labels, strict=True)).get(which.group, which.group)))
    return told


_STANDINGS = {"open": "not finished", "screened out": "screened out", "declined": "without consent"}
