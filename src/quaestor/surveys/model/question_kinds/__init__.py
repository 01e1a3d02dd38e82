"""The kinds of questions, one class each; a new kind is one more module and one more line here."""

from __future__ import annotations

from quaestor.surveys.model.question_kinds.base import QuestionKind
from quaestor.surveys.model.question_kinds.choices import ConsentQuestion, MultipleChoice, SingleChoice, YesNo
from quaestor.surveys.model.question_kinds.date import DateQuestion
from quaestor.surveys.model.question_kinds.link_value import LinkValue
from quaestor.surveys.model.question_kinds.matrix import Matrix
from quaestor.surveys.model.question_kinds.number import Number
from quaestor.surveys.model.question_kinds.ranking import RankingQuestion
from quaestor.surveys.model.question_kinds.slider import Slider
from quaestor.surveys.model.question_kinds.text import LongText, Text
from quaestor.surveys.model.question_kinds.variant import Variant
from quaestor.surveys.model.records import Question

QUESTION_KINDS: dict[str, QuestionKind] = {
    SingleChoice.name: SingleChoice(),
    MultipleChoice.name: MultipleChoice(),
    YesNo.name: YesNo(),
    Number.name: Number(),
    DateQuestion.name: DateQuestion(),
    Slider.name: Slider(),
    Matrix.name: Matrix(),
    Text.name: Text(),
    LongText.name: LongText(),
    RankingQuestion.name: RankingQuestion(),
    ConsentQuestion.name: ConsentQuestion(),
    Variant.name: Variant(),
    LinkValue.name: LinkValue(),
}


def kind_of(question: Question) -> QuestionKind:
    return QUESTION_KINDS[question.kind]
