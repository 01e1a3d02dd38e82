"""Lays out responses as tables: a line for each part of an answer, or a row for each response.

Columns of a wide table: `QUESTION` holds a code, a number or text; `QUESTION.PART` one option (1 or 0, or its
rank) or one row of a matrix; `QUESTION.PART.text` free text; `QUESTION:missing` why there is no answer;
`QUESTION.PART:missing` the same for an option or row that not every version has.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from quaestor.surveys.model.answer_cells import MISSING, TEXT, ExportColumn
from quaestor.surveys.model.flow import missing_reason
from quaestor.surveys.model.question_kinds import kind_of
from quaestor.surveys.model.question_kinds.base import OptionPlaces
from quaestor.surveys.model.question_versions import Merges, QuestionVersions, collect_questions, merge_answer
from quaestor.surveys.model.records import Answer, Missing, Question, Questionnaire, Response

TIDY = ("question", "part", "code", "label", "order", "text", "number", "missing")
"""The columns of a tidy table, after those about the response."""
CODEBOOK = (
    "question", "part", "kind", "holds", "text", "part label", "code", "label", "order", "research questions",
    "missing", "versions", "earlier labels",
)  # fmt: skip


@dataclass(frozen=True)
class QuestionLayout:
    """A question with precomputed lookups."""

    versions: QuestionVersions
    parts: tuple[str, ...]
    columns: tuple[ExportColumn, ...]
    options: OptionPlaces

    @property
    def question(self) -> Question:
        return self.versions.question

    def part_reason(self, version: int, answer: Answer, reason: str, part: str) -> str:
        """Returns why a part of an answer is missing: as the whole question, or because its version lacks the part."""
        if version not in self.versions.pages or self.versions.offers(version, part):
            return reason
        has_part = kind_of(self.question).cell(answer, part) not in ("", "0")
        return "" if has_part else Missing.NOT_SHOWN.value


@dataclass(frozen=True)
class Layout:
    """The questions of all versions of a questionnaire, and their names in each version."""

    question_layouts: tuple[QuestionLayout, ...]
    versions: Mapping[int, Questionnaire]
    merges: Merges
    """Empty to write answers as they are stored."""

    @property
    def questions(self) -> tuple[Question, ...]:
        return tuple(layout.question for layout in self.question_layouts)

    @property
    def is_as_stored(self) -> bool:
        """Tells whether no answer is written with another code or in another unit than it is stored with."""
        return not self.merges and not any(layout.versions.factors for layout in self.question_layouts)

    def question_in(self, version: int, name: str) -> Question | None:
        """Returns the question of this name as a version asks it."""
        layout = next((layout for layout in self.question_layouts if layout.question.id == name), None)
        page = layout.versions.pages.get(version) if layout else None
        return page[1] if page else None

    def columns(self) -> tuple[ExportColumn, ...]:
        return tuple(column for layout in self.question_layouts for column in layout.columns)

    def parts(self) -> int:
        """Returns the number of lines per response."""
        return sum(len(layout.parts) for layout in self.question_layouts)

    def answers(self, response: Response) -> Iterator[tuple[QuestionLayout, Answer, str]]:
        """Yields each question with its answer and, if empty, the reason."""
        questionnaire = self.versions[response.version]
        for layout in self.question_layouts:
            page = layout.versions.pages.get(response.version)
            if page is None:
                yield layout, {}, Missing.NOT_SHOWN.value
            elif answer := response.answers.get(page[1].id):
                yield layout, self._as_counted(layout, page[1], answer, response.version), ""
            else:
                reason = missing_reason(questionnaire, response, page[1])
                yield layout, {}, reason.value if reason else ""

    def _as_counted(self, layout: QuestionLayout, question: Question, answer: Answer, version: int) -> Answer:
        """Returns an answer with merged codes, and a number in the newest unit next to its digits as stored."""
        counted = merge_answer(question, answer, self.merges) if self.merges else answer
        factor = layout.versions.factors.get(version)
        return kind_of(question).convert(counted, factor) if factor is not None else counted


def build_layout(versions: Mapping[int, Questionnaire], merges: Merges | None = None, *, raw: bool = False) -> Layout:
    """Returns the questions of all versions: in the order of the newest, then those that only older ones have.

    `raw` is for answers as they are stored: options are not merged, and numbers not converted.
    """
    known = {} if raw or merges is None else merges
    questions = collect_questions(versions, known).values()
    as_written = [replace(question, factors={}) for question in questions] if raw else questions
    return Layout(tuple(map(_question_layout, as_written)), versions, known)


def _question_layout(versions: QuestionVersions) -> QuestionLayout:
    question, kind = versions.question, kind_of(versions.question)
    options = {option.code: (option.label, str(place)) for place, option in enumerate(question.options, start=1)}
    parts = kind.parts(question)
    partly = [part for part in parts if not all(versions.offers(version, part) for version in versions.pages)]
    reasons = [ExportColumn(f"{question.id}.{part}:missing", question, MISSING, part, MISSING) for part in partly]
    return QuestionLayout(versions, parts, (*kind.columns(question), *reasons), options)


def wide_row(layout: Layout, response: Response) -> list[str]:
    """Returns the cells of a response, in the order of the layout's columns."""
    return [
        _cell(column, answer, reason, question.part_reason(response.version, answer, reason, column.code))
        for question, answer, reason in layout.answers(response)
        for column in question.columns
    ]


def _cell(column: ExportColumn, answer: Answer, reason: str, part_reason: str) -> str:
    kind = kind_of(column.question)
    if column.holds == MISSING:
        is_lacking = column.code and not part_reason and not kind.cell(answer, column.code)
        return Missing.SKIPPED.value if is_lacking else part_reason if column.code else reason
    if not answer:
        return ""
    if column.holds == TEXT:
        return str(answer.get("texts", {}).get(column.code, ""))
    return "" if part_reason and column.code in kind.parts(column.question) else kind.cell(answer, column.code)


def tidy_lines(layout: Layout, response: Response) -> Iterator[tuple[str, ...]]:
    """Yields the lines of a response with the columns of `TIDY`; the number of lines is the same for every response."""
    for question, answer, reason in layout.answers(response):
        kind = kind_of(question.question)
        for part in question.parts:
            lacking = question.part_reason(response.version, answer, reason, part)
            yield (question.question.id, part, *kind.tidy_line(part, answer, lacking, question.options))


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
    # A part that the version lacks says that it was not shown, whatever became of the question.
    of_question = sorted(reasons - {Missing.NOT_SHOWN.value}) or sorted(reasons)
    cells[f"{question.id}:missing"] = "" if answered or not of_question else of_question[0]
    return cells


def codebook_lines(layout: Layout, withdrawn: int = 0) -> Iterator[tuple[str, ...]]:
    """Yields the codebook: a line for each code of each part, each question without codes, and withdrawn responses."""
    conditional = {
        question.id
        for questionnaire in layout.versions.values()
        for page in questionnaire.pages
        for question in page.questions
        if question.show_if is not None or page.show_if is not None
    }
    for question_layout in layout.question_layouts:
        question, versions = question_layout.question, question_layout.versions
        kind = kind_of(question)
        asked_of_all = versions.stored_as not in conditional and versions.pages.keys() == layout.versions.keys()
        labels = {part.code: part.label for part in kind.counted_parts(question)}
        for part in kind.parts(question):
            reasons = _reasons(question, asked_of_all and all(versions.offers(v, part) for v in versions.pages))
            for code, label, order in kind.codes(question, part):
                having = [
                    version
                    for version in sorted(versions.pages)
                    if versions.offers(version, part) and (not code or versions.offers_step(version, code))
                ]
                yield (
                    question.id, part, question.kind, kind.holds_in_words, question.text,
                    labels.get(part, ""), code, label, order, "; ".join(question.answers), reasons,
                    "; ".join(map(str, having)), _earlier(versions, part, code),
                )  # fmt: skip
    if withdrawn:
        words = f"{withdrawn} withdrew: their answers were erased and are in no table"
        yield ("", "", "", "", words, "", "", "", "", "", Missing.WITHDRAWN.value, "", "")


def _earlier(versions: QuestionVersions, part: str, code: str) -> str:
    """Returns the labels that a code, or its part, had in older versions, and the units that were converted."""
    labels = [label.earlier for label in versions.earlier_labels() if label.part and label.code in (part, code)]
    units = (f"{versions.merged[version].unit} × {factor:.6g}" for version, factor in versions.factors.items())
    return "; ".join(dict.fromkeys(chain(labels, units)))


def _reasons(question: Question, shown_to_all: bool) -> str:
    reasons = [Missing.SKIPPED, Missing.NOT_REACHED]
    if question.required and not kind_of(question).can_lack_parts:
        reasons = [Missing.NOT_REACHED]
    if not shown_to_all:
        reasons.append(Missing.NOT_SHOWN)
    return "; ".join(reason.value for reason in reasons)
