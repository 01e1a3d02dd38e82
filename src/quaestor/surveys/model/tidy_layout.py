"""Lays out responses as tables: a line for each part of an answer, or a row for each response.

Columns of a wide table: `QUESTION` holds a code, a number or text; `QUESTION.PART` one option (1 or 0, or its
rank) or one row of a matrix; `QUESTION.PART.text` free text; `QUESTION:missing` why there is no answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from quaestor.surveys.model.answer_cells import MISSING, TEXT, ExportColumn
from quaestor.surveys.model.flow import missing_reason
from quaestor.surveys.model.question_ids import name_questions
from quaestor.surveys.model.question_kinds import kind_of
from quaestor.surveys.model.question_kinds.base import OptionPlaces
from quaestor.surveys.model.records import Answer, Missing, Question, Questionnaire, Response

TIDY = ("question", "part", "code", "label", "order", "text", "number", "missing")
"""The columns of a tidy table, after those about the response."""
CODEBOOK = (
    "question", "part", "kind", "holds", "text", "part label", "code", "label", "order", "research questions", "missing"
)  # fmt: skip


@dataclass(frozen=True)
class QuestionLayout:
    """A question with precomputed lookups."""

    question: Question
    parts: tuple[str, ...]
    columns: tuple[ExportColumn, ...]
    options: OptionPlaces


@dataclass(frozen=True)
class Layout:
    """The questions of all versions of a questionnaire, and their names in each version."""

    question_layouts: tuple[QuestionLayout, ...]
    there: Mapping[int, Mapping[str, Question]]
    """By version and name here: the question in that version."""
    versions: Mapping[int, Questionnaire]

    @property
    def questions(self) -> tuple[Question, ...]:
        return tuple(layout.question for layout in self.question_layouts)

    def columns(self) -> tuple[ExportColumn, ...]:
        return tuple(column for layout in self.question_layouts for column in layout.columns)

    def parts(self) -> int:
        """Returns the number of lines per response."""
        return sum(len(layout.parts) for layout in self.question_layouts)

    def answers(self, response: Response) -> Iterator[tuple[QuestionLayout, Answer, str]]:
        """Yields each question with its answer and, if empty, the reason."""
        version, questionnaire = self.there[response.version], self.versions[response.version]
        for layout in self.question_layouts:
            question = version.get(layout.question.id)
            if question is None:
                yield layout, {}, Missing.NOT_SHOWN.value
            elif answer := response.answers.get(question.id):
                yield layout, answer, ""
            else:
                reason = missing_reason(questionnaire, response, question)
                yield layout, {}, reason.value if reason else ""


def build_layout(versions: Mapping[int, Questionnaire]) -> Layout:
    """Returns the questions of all versions: in the order of the newest, then those that only older ones have.

    A question that changed its kind becomes two questions; the older one has its version appended to its name.
    """
    questions: dict[str, Question] = {}
    there: dict[int, dict[str, Question]] = {}
    for number, names in name_questions(versions).items():
        there[number] = {}
        for question in versions[number].questions():
            name = names[question.id]
            known = questions.get(name)
            questions[name] = replace(question, id=name) if known is None else _joined(known, question)
            there[number][name] = question
    return Layout(tuple(_question_layout(question) for question in questions.values()), there, versions)


def _question_layout(question: Question) -> QuestionLayout:
    kind = kind_of(question)
    options = {option.code: (option.label, str(place)) for place, option in enumerate(question.options, start=1)}
    return QuestionLayout(question, kind.parts(question), tuple(kind.columns(question)), options)


def wide_row(layout: Layout, response: Response) -> list[str]:
    """Returns the cells of a response, in the order of the layout's columns."""
    answers = layout.answers(response)
    return [_cell(column, answer, reason) for question, answer, reason in answers for column in question.columns]


def _cell(column: ExportColumn, answer: Answer, reason: str) -> str:
    if column.holds == MISSING:
        return reason
    if not answer:
        return ""
    if column.holds == TEXT:
        return str(answer.get("texts", {}).get(column.code, ""))
    return kind_of(column.question).cell(answer, column.code)


def tidy_lines(layout: Layout, response: Response) -> Iterator[tuple[str, ...]]:
    """Yields the lines of a response with the columns of `TIDY`; the number of lines is the same for every response."""
    for question, answer, reason in layout.answers(response):
        kind = kind_of(question.question)
        for part in question.parts:
            yield (question.question.id, part, *kind.tidy_line(part, answer, reason, question.options))


def wide_from_tidy(question: Question, lines: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """Returns the cells of a wide table for the lines of one question."""
    cells: dict[str, str] = {}
    field = kind_of(question).tidy_field
    for line in lines:
        part = line["part"]
        name = f"{question.id}.{part}" if part else question.id
        cells[name] = line[field]
        if field != "text" and line["text"]:
            cells[f"{name}.text" if part else f"{name}.{line['code']}.text"] = line["text"]
    reasons = {line["missing"] for line in lines}
    answered = any(line["code"] or line["text"] or line["number"] for line in lines)
    cells[f"{question.id}:missing"] = "" if answered else next(iter(sorted(reasons)), "")
    return cells


def _joined(newer: Question, older: Question) -> Question:
    """Appends the options and rows that only an older version had."""
    options = [option for option in older.options if newer.option(option.code) is None]
    known = {row.code for row in newer.rows}
    rows = [row for row in older.rows if row.code not in known]
    with_text = {option.code for option in older.options if option.text} | {row.code for row in older.rows if row.text}
    return replace(
        newer,
        options=tuple(
            replace(option, text=option.text or option.code in with_text) for option in (*newer.options, *options)
        ),
        rows=tuple(replace(row, text=row.text or row.code in with_text) for row in (*newer.rows, *rows)),
    )


def codebook_lines(layout: Layout, withdrawn: int = 0) -> Iterator[tuple[str, ...]]:
    """Yields the codebook: a line for each code of each part, each question without codes, and withdrawn responses."""
    conditional = {
        question.id
        for questionnaire in layout.versions.values()
        for page in questionnaire.pages
        for question in page.questions
        if question.show_if is not None or page.show_if is not None
    }
    for question in layout.questions:
        kind = kind_of(question)
        reasons = _reasons(question, question.id not in conditional and len(layout.versions) == 1)
        labels = {part.code: part.label for part in kind.counted_parts(question)}
        for part in kind.parts(question):
            for code, label, order in kind.codes(question, part):
                yield (
                    question.id, part, question.kind, kind.holds_in_words, question.text,
                    labels.get(part, ""), code, label, order, "; ".join(question.answers), reasons,
                )  # fmt: skip
    if withdrawn:
        words = f"{withdrawn} withdrew: their answers were erased and are in no table"
        yield ("", "", "", "", words, "", "", "", "", "", Missing.WITHDRAWN.value)


def _reasons(question: Question, shown_to_all: bool) -> str:
    reasons = [Missing.SKIPPED, Missing.NOT_REACHED]
    if question.required and not kind_of(question).can_lack_parts:
        reasons = [Missing.NOT_REACHED]
    if not shown_to_all:
        reasons.append(Missing.NOT_SHOWN)
    return "; ".join(reason.value for reason in reasons)
