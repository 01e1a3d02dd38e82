"""The codebook of a table of answers: what each code of each part means, and why an answer can be missing."""

from __future__ import annotations

from collections.abc import Iterator

from quaestor.instruments.records import CHOSEN, Kind, Missing, Question
from quaestor.instruments.tidy import Layout, parts_of

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
