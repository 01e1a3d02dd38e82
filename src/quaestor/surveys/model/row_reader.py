"""Reads a row of a file as the answers of one respondent; reports each unreadable cell with its position."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from quaestor.surveys.model.answer_cells import MISSING, AnswerCells, CellLabels, CellPart, RowAnswers, plain
from quaestor.surveys.model.column_mapping import ColumnMapping
from quaestor.surveys.model.flow import is_shown
from quaestor.surveys.model.question_kinds import kind_of
from quaestor.surveys.model.records import Answer, CellRemark, Missing, Question, Questionnaire, ResponseStatus


class RowReader:
    """Reads rows by a mapping; looks up each question once."""

    def __init__(self, mapping: ColumnMapping, columns: Sequence[str]) -> None:
        self._nothing = {plain(text) for text in mapping.settings.nothing}
        self._telling = {part.question.id for part in mapping.parts.values() if part.kind == MISSING}
        self._asked: dict[str, tuple[Question, list[tuple[int, str, CellPart]]]] = {}
        for place, column in enumerate(columns):
            part = mapping.parts.get(column)
            if part is not None:
                self._asked.setdefault(part.question.id, (part.question, []))[1].append((place, column, part))
        self._labels = {name: self._label_cells(question, mapping) for name, (question, _) in self._asked.items()}

    @property
    def questions(self) -> Collection[str]:
        """Returns the questions that have a column."""
        return self._asked.keys()

    def read(self, number: int, cells: Sequence[str], failed: Callable[[str], bool]) -> RowAnswers:
        """Reads the answers of a row; `failed` tells whether a cell's formula failed."""
        outcome = RowAnswers(telling=self._telling)
        for name, (question, columns) in self._asked.items():
            kind, parts = kind_of(question), AnswerCells(question, number, outcome, self._labels[name])
            for place, column, part in columns:
                cell = cells[place].strip()
                if not cell:
                    continue
                if failed(cells[place]):
                    parts.report(column, cell, "contains a formula that failed")
                elif plain(cell) in self._nothing:
                    outcome.markers.append(CellRemark(number, column, name, cell, "means no answer"))
                elif part.kind == MISSING:
                    outcome.reasons[name] = cell
                else:
                    kind.read_cell(parts, column, part, cell)
            answer = kind.answer_in_cells(parts)
            if answer:
                outcome.answers[name] = answer
        return outcome

    def _label_cells(self, question: Question, mapping: ColumnMapping) -> CellLabels:
        values: Mapping[str, str] = mapping.settings.values.get(question.id, {})
        codes = {plain(text): code for text, code in values.items()}
        for option in question.options:
            codes.setdefault(plain(option.label), option.code)
        for option in question.options:
            codes.setdefault(option.code, option.code)
        names: dict[str, frozenset[str]] = {}
        for option in question.options:
            texts = [option.label, *(text for text, code in values.items() if code == option.code)]
            names[option.code] = frozenset() if mapping.own else frozenset(plain(text).casefold() for text in texts)
        return CellLabels(codes, names, mapping.settings.separator, self._nothing)


def with_gaps(
    questionnaire: Questionnaire, read: RowAnswers, mapped: Collection[str], standing: ResponseStatus, row: int
) -> tuple[dict[str, Answer], tuple[str, ...]]:
    """Returns all answers, with an empty one for each question that was shown and skipped, and the submitted pages.

    In an unfinished row, questions after the last answer were not reached, unless the file itself gives the reason. A
    question whose cell is unreadable counts as not reached. An answer to a question that should not have been shown is
    stored and reported as odd.
    """
    answers: dict[str, Answer] = {}
    known: dict[str, Answer] = {}
    sent: list[str] = []
    unread = {remark.question for remark in read.unread}
    last = max((place for place, page in enumerate(questionnaire.pages)
                if any(question.id in read.answers for question in page.questions)), default=-1)  # fmt: skip
    for place, page in enumerate(questionnaire.pages):
        reached = standing is ResponseStatus.FINISHED or place <= last
        open_page = page.show_if is None or page.show_if.holds(known)
        whole = reached and open_page
        for question in page.questions:
            shown = open_page and is_shown(question, known)
            reason = read.reason(question.id)
            if shown:
                known[question.id] = read.answers.get(question.id, {})
            if question.id in read.answers:
                answers[question.id] = read.answers[question.id]
                if not shown:
                    read.odd.append(CellRemark(row, "", question.id, "", "is answered, but should not be shown"))
            elif shown and question.id in mapped and question.id not in unread and _was_skipped(reason, reached):
                answers[question.id] = {}
            elif shown:
                whole = False
                if reason == Missing.NOT_SHOWN.value:
                    read.odd.append(
                        CellRemark(
                            row, "", question.id, "", "was not shown in the file, but counts as not reached here"
                        )
                    )
        if whole:
            sent.append(page.id)
    return answers, tuple(sent)


def _was_skipped(reason: str | None, reached: bool) -> bool:
    return reached if reason is None else reason == Missing.SKIPPED.value
