"""Counts every question of a survey with its own base, missing answers and intervals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from quaestor.measures.descriptive import share
from quaestor.measures.records import Share
from quaestor.measures.weighting import measure_sample_size
from quaestor.surveys.lifecycle import Surveys
from quaestor.surveys.model.answer_columns import AnswerColumn, Flags, count_reasons
from quaestor.surveys.model.flow import fill_in_answers
from quaestor.surveys.model.question_kinds import kind_of
from quaestor.surveys.model.question_results import Counting, Groups, QuestionResult
from quaestor.surveys.model.question_versions import QuestionVersions
from quaestor.surveys.model.records import AGREE, DECLINE, MatrixRow, Option, Question
from quaestor.surveys.results.counting import CountedAnswers, CountingCache, group_responses
from quaestor.surveys.results.weighting import SurveyWeights, compute_weights


@dataclass(frozen=True)
class ConsentCounts:
    """How many agreed to take part, of everybody who started; shown as a line, not as a table."""

    question: Question
    agreed: int
    declined: int


@dataclass(frozen=True)
class SurveyResults:
    """The counts of a survey."""

    counted: CountedAnswers = field(repr=False)
    questions: tuple[QuestionResult, ...]
    groups: Groups | None = field(default=None, repr=False)
    sizes: tuple[int, ...] = ()
    """Number of counted responses in each group."""
    weights: SurveyWeights | None = field(default=None, repr=False)
    """The weights of all counted responses, whether or not `where` selects them."""

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
        """Returns the questions with a table: all but consent."""
        return tuple(result for result in self.questions if not kind_of(result.question).asks_consent)

    @property
    def consents(self) -> tuple[ConsentCounts, ...]:
        columns = self.counted.columns.questions.values()
        return tuple(_consent(column) for column in columns if kind_of(column.question).asks_consent)

    def question(self, name: str) -> QuestionResult | None:
        return next((result for result in self.questions if result.question.id == name), None)


def survey_results(
    surveys: Surveys,
    name: str,
    *,
    by: str = "",
    unfinished: bool = False,
    where: Sequence[str] = (),
    only: str = "",
    room: CountingCache | None = None,
    weighted: bool = True,
) -> SurveyResults:
    """Counts every question of a survey, or `only` one, compared by the answers to the question `by` if given.

    With `where`, counts only the responses in these groups, as `CountingCache.counted` describes; their weights are
    those that they have among all counted responses. With `weighted`, raises SettingsError if study.toml declares
    weights that cannot be computed.
    """
    room = room or CountingCache()
    counted = room.counted(surveys, name, unfinished, where)
    weights = compute_weights(surveys, room.counted(surveys, name, unfinished)) if weighted else None
    groups = group_responses(counted, by) if by else None
    values = None if weights is None else weights.values[counted.used]
    counting = Counting(counted.used, groups, surveys.study.settings.study.seed, values)
    columns = counted.columns.questions.items()
    results = tuple(_count(column, counting, counted) for key, column in columns if key != by and only in ("", key))
    return SurveyResults(counted, results, groups, tuple(int(member.sum()) for member in counting.members), weights)


def response_rate(used: int, invited: int) -> Share:
    """Returns the share of those invited who answered, with Wilson's interval."""
    return share(used, invited)


def _count(column: AnswerColumn, counting: Counting, counted: CountedAnswers) -> QuestionResult:
    question = replace(column.question, text=fill_in_answers(column.question.text, counted.questionnaire, {}))
    versions, kind = counted.questions.get(column.question.id), kind_of(question)
    answered = column.answered[counting.used]
    result = QuestionResult(
        question,
        int(answered.sum()),
        count_reasons(column.missing[counting.used]),
        bases=counting.bases(answered),
        partly=tuple(_partly_offered(kind.counted_parts(question), column.offered, counting.used, answered)),
        partly_steps=tuple(_partly_offered(question.options, column.offered_steps, counting.used, answered)),
        earlier=tuple(versions.earlier_labels()) if versions else (),
        converted=tuple(_converted(versions, counted, column)) if versions else (),
        weighted=None if counting.weights is None else measure_sample_size(counting.weights[answered]),
    )
    return kind.count(column, counting, result)


def _partly_offered(
    parts: Sequence[Option | MatrixRow], offered: Flags, used: Flags, answered: Flags
) -> Iterator[tuple[str, int]]:
    """Yields options, rows or steps that only some versions offer, and how many respondents could choose them."""
    if offered.size:
        could = offered[used][answered].sum(axis=0).tolist()
        for part, count in zip(parts, could, strict=True):
            if count < int(answered.sum()):
                yield part.label, count


def _converted(
    versions: QuestionVersions, counted: CountedAnswers, column: AnswerColumn
) -> Iterator[tuple[str, float, int]]:
    """Yields each earlier unit, its factor, and how many respondents answered in it."""
    for version, factor in versions.factors.items():
        here = counted.used & column.answered & (counted.columns.versions == version)
        if here.any():
            yield versions.merged[version].unit, factor, int(here.sum())


def _consent(column: AnswerColumn) -> ConsentCounts:
    codes = [option.code for option in column.question.options]
    counts = dict(zip(codes, column.chosen.sum(axis=0).tolist(), strict=True))
    return ConsentCounts(column.question, counts.get(AGREE, 0), counts.get(DECLINE, 0))
