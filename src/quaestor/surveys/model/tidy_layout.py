"""Responses as tables: a line for each part of an answer, or a row for each response; the same fields either way.

Names of columns of a wide table: `QUESTION` holds a code, a number or words; `QUESTION.PART` one option (1 or 0, or its
place) or one row of a matrix; `QUESTION.PART.text` words of one's own; `QUESTION:missing` why there is no answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from quaestor.surveys.model.flow import missing
from quaestor.surveys.model.question_ids import names_over
from quaestor.surveys.model.records import (
    CHOSEN,
    Answer,
    Kind,
    Missing,
    Option,
    Question,
    Questionnaire,
    Response,
    Row,
)

TIDY = ("question", "part", "code", "label", "order", "text", "number", "missing")
"""What a line says beside whose response it is."""
CODE, TICKED, PLACE, NUMBER, WORDS, TEXT, MISSING = "code", "ticked", "place", "number", "words", "text", "missing"
"""What a column of a wide table holds."""


@dataclass(frozen=True)
class Column:
    """One column of a wide table."""

    name: str
    question: Question
    holds: str
    part: str = ""


@dataclass(frozen=True)
class Asked:
    """A question with what is looked up in it for every response."""

    question: Question
    parts: tuple[str, ...]
    columns: tuple[Column, ...]
    options: Mapping[str, tuple[str, str]]
    """Label and place by code."""


@dataclass(frozen=True)
class Layout:
    """The questions of all versions of a questionnaire, and what each version calls them."""

    asked: tuple[Asked, ...]
    there: Mapping[int, Mapping[str, Question]]
    """By version and by the question here, the question there."""
    versions: Mapping[int, Questionnaire]

    @property
    def questions(self) -> tuple[Question, ...]:
        return tuple(one.question for one in self.asked)

    def columns(self) -> tuple[Column, ...]:
        return tuple(column for one in self.asked for column in one.columns)

    def parts(self) -> int:
        """Lines of one response."""
        return sum(len(one.parts) for one in self.asked)

    def said(self, response: Response) -> Iterator[tuple[Asked, Answer, str]]:
        """Each question with what was answered to it and, where that is nothing, why."""
        version, questionnaire = self.there[response.version], self.versions[response.version]
        for one in self.asked:
            there = version.get(one.question.id)
            if there is None:
                yield one, {}, Missing.NOT_SHOWN.value
                continue
            answer = response.answers.get(there.id)
            if answer:
                yield one, answer, ""
            else:
                reason = missing(questionnaire, response, there)
                yield one, {}, reason.value if reason else ""


def layout_of(versions: Mapping[int, Questionnaire]) -> Layout:
    """What all versions ask: as the newest orders it, then what only older ones asked.

    A question that was of another kind before is two questions, the older one with its version behind its name.
    """
    found: dict[str, Question] = {}
    there: dict[int, dict[str, Question]] = {}
    for number, names in names_over(versions).items():
        there[number] = {}
        for one in versions[number].questions():
            name = names[one.id]
            known = found.get(name)
            found[name] = replace(one, id=name) if known is None else _joined(known, one)
            there[number][name] = one
    return Layout(tuple(_asked(one) for one in found.values()), there, versions)


def _asked(question: Question) -> Asked:
    options = {one.code: (one.label, str(place)) for place, one in enumerate(question.options, start=1)}
    return Asked(question, parts_of(question), tuple(columns_of(question)), options)


def parts_of(question: Question) -> tuple[str, ...]:
    """The parts of an answer that get a line each; a question without parts has one, without a name."""
    if question.kind is Kind.MATRIX:
        return tuple(one.code for one in question.rows)
    if question.kind in (Kind.MULTIPLE, Kind.RANKING):
        return tuple(one.code for one in question.options)
    return ("",)


def columns_of(question: Question) -> Iterator[Column]:
    """The columns of a question in a wide table."""
    holds = _holds(question)
    texts: Iterable[Option | Row] = question.rows if question.kind is Kind.MATRIX else question.options
    asking = [one.code for one in texts if one.text]
    for part in parts_of(question):
        yield Column(f"{question.id}.{part}" if part else question.id, question, holds, part)
        if part in asking:
            yield Column(f"{question.id}.{part}.text", question, TEXT, part)
    if question.kind in CHOSEN and question.kind is not Kind.MULTIPLE:
        for code in asking:
            yield Column(f"{question.id}.{code}.text", question, TEXT, code)
    yield Column(f"{question.id}:missing", question, MISSING)


def wide_row(layout: Layout, response: Response) -> list[str]:
    """The cells of a response, in the order of the layout's columns."""
    said = layout.said(response)
    return [_cell(column, answer, reason) for one, answer, reason in said for column in one.columns]


def tidy_lines(layout: Layout, response: Response) -> Iterator[tuple[str, ...]]:
    """The lines of a response, each as `TIDY` names it; every response has the same number of them."""
    for one, answer, reason in layout.said(response):
        for part in one.parts:
            yield (one.question.id, part, *_line(one.question, part, answer, reason, one.options))


def _line(
    question: Question, part: str, answer: Answer, reason: str, options: Mapping[str, tuple[str, str]]
) -> tuple[str, str, str, str, str, str]:
    """Code, label, order, text, number and reason of one part."""
    words = answer.get("texts", {})
    if question.kind is Kind.MATRIX:
        step = answer.get("rows", {}).get(part, "")
        left = reason if step else reason or Missing.SKIPPED.value
        return (step, *options.get(step, ("", "")), words.get(part, ""), "", left)
    if question.kind is Kind.MULTIPLE:
        chosen = part in answer.get("choices", ())
        ticked = "" if reason else str(int(chosen))
        return (part if chosen else "", *options[part], words.get(part, ""), ticked, reason)
    if question.kind is Kind.RANKING:
        place = _place(answer, part)
        left = reason if place else reason or Missing.SKIPPED.value
        return (part if place else "", *options[part], "", place, left)
    if question.kind in CHOSEN:
        code = next(iter(answer.get("choices", ())), "")
        return (code, *options.get(code, ("", "")), words.get(code, ""), "", reason)
    if question.kind is Kind.NUMBER:
        return "", "", "", answer.get("number", ""), answer.get("number", ""), reason
    return "", "", "", answer.get("text", ""), "", reason


def _cell(column: Column, answer: Answer, reason: str) -> str:
    if column.holds == MISSING:
        return reason
    if not answer:
        return ""
    if column.holds == TEXT:
        return str(answer.get("texts", {}).get(column.part, ""))
    if column.holds == TICKED:
        return str(int(column.part in answer.get("choices", ())))
    if column.holds == PLACE:
        return _place(answer, column.part)
    if column.holds == CODE and column.part:
        return str(answer.get("rows", {}).get(column.part, ""))
    if column.holds == CODE:
        return str(next(iter(answer.get("choices", ())), ""))
    return str(answer.get("number" if column.holds == NUMBER else "text", ""))


def wide_from_tidy(question: Question, lines: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """The cells of a wide table that lines of one question stand for."""
    cells: dict[str, str] = {}
    holds = _holds(question)
    for line in lines:
        part = line["part"]
        name = f"{question.id}.{part}" if part else question.id
        cells[name] = line[{CODE: "code", TICKED: "number", PLACE: "number"}.get(holds, "text")]
        if holds in (CODE, TICKED) and line["text"]:
            cells[f"{name}.text" if part else f"{name}.{line['code']}.text"] = line["text"]
    reasons = {line["missing"] for line in lines}
    answered = any(line["code"] or line["text"] or line["number"] for line in lines)
    cells[f"{question.id}:missing"] = "" if answered else next(iter(sorted(reasons)), "")
    return cells


def _place(answer: Answer, code: str) -> str:
    ranks: list[Any] = list(answer.get("ranks", ()))
    return str(ranks.index(code) + 1) if code in ranks else ""


def _holds(question: Question) -> str:
    held = {Kind.MULTIPLE: TICKED, Kind.RANKING: PLACE, Kind.NUMBER: NUMBER, Kind.TEXT: WORDS, Kind.LONG_TEXT: WORDS}
    return held.get(question.kind, CODE)


def _joined(newer: Question, older: Question) -> Question:
    """A question with the options and rows that only an older version had, behind its own."""
    options = [one for one in older.options if newer.option(one.code) is None]
    known = {row.code for row in newer.rows}
    rows = [row for row in older.rows if row.code not in known]
    asking = {one.code for one in older.options if one.text} | {one.code for one in older.rows if one.text}
    return replace(
        newer,
        options=tuple(replace(one, text=one.text or one.code in asking) for one in (*newer.options, *options)),
        rows=tuple(replace(one, text=one.text or one.code in asking) for one in (*newer.rows, *rows)),
    )


CODEBOOK = (
    "question", "part", "kind", "holds", "text", "part label", "code", "label", "order", "research questions", "missing"
)  # fmt: skip
_HOLDS = {
    Kind.MULTIPLE: "1 where the option was chosen, 0 where not",
    Kind.RANKING: "the place that was given to the option, 1 is the first",
    Kind.NUMBER: "a number",
    Kind.TEXT: "words",
    Kind.LONG_TEXT: "words",
}


def codebook_lines(layout: Layout, withdrawn: int = 0) -> Iterator[tuple[str, ...]]:
    """A line for each code of each part, one for each question without codes, and one for who withdrew."""
    conditional = {
        one.id
        for questionnaire in layout.versions.values()
        for page in questionnaire.pages
        for one in page.questions
        if one.show_if is not None or page.show_if is not None
    }
    for question in layout.questions:
        shown_to_all = question.id not in conditional and len(layout.versions) == 1
        reasons = _reasons(question, shown_to_all)
        research = "; ".join(question.answers)
        for part in parts_of(question):
            for code, label, order in _codes(question, part):
                yield (
                    question.id, part, question.kind.value, _HOLDS.get(question.kind, "a code"), question.text,
                    _part_label(question, part), code, label, order, research, reasons,
                )  # fmt: skip
    if withdrawn:
        words = f"{withdrawn} withdrew: their answers were erased and stand in no table"
        yield ("", "", "", "", words, "", "", "", "", "", Missing.WITHDRAWN.value)


def _reasons(question: Question, shown_to_all: bool) -> str:
    found = [Missing.SKIPPED, Missing.NOT_REACHED]
    if question.required and question.kind is not Kind.MATRIX:
        found = [Missing.NOT_REACHED]
    if not shown_to_all:
        found.append(Missing.NOT_SHOWN)
    return "; ".join(one.value for one in found)


def _codes(question: Question, part: str) -> Iterator[tuple[str, str, str]]:
    """Code, label and order of what a part can say: what a line of the tidy table has in these fields."""
    if question.kind in (*CHOSEN, Kind.MATRIX, Kind.RANKING):
        own = question.kind in (Kind.MULTIPLE, Kind.RANKING)
        for place, one in enumerate(question.options, start=1):
            if not own or one.code == part:
                yield one.code, one.label, str(place)
    else:
        yield "", question.unit, ""


def _part_label(question: Question, part: str) -> str:
    if question.kind is Kind.MATRIX:
        return next((one.label for one in question.rows if one.code == part), "")
    option = question.option(part)
    return option.label if option else ""
