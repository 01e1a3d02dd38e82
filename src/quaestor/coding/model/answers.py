"""Checks, compares and formats answers to facets of any kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from quaestor.base.errors import InputError
from quaestor.base.names import is_storable, suggest
from quaestor.coding.model.conditions import describe_condition, find_asked
from quaestor.coding.model.facet_kinds import find_kind
from quaestor.coding.model.facet_kinds.base import Label, write_answer
from quaestor.coding.model.records import CANNOT_JUDGE, Codebook, Facet, RoundPlan


def check_answers(plan: RoundPlan, book: Codebook, answers: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the answers to every facet that is asked as they are stored; raises InputError with what is allowed."""
    names = [facet.id for facet in plan.facets]
    for name in answers:
        if name not in names:
            raise InputError(f"the round {plan.round!r} has no facet {name!r}; choose from: {suggest(name, names)}")
    checked: dict[str, Any] = {}
    for facet in plan.facets:
        answer = answers.get(facet.id)
        is_answered = answer is not None and answer != ""
        if facet.ask_if and not find_asked(plan, facet, checked):
            if is_answered:
                raise InputError(
                    f"{facet.id} is asked only if {describe_condition(facet.ask_if)}: leave it without an answer"
                )
            continue
        if not is_answered:
            if facet.required:
                raise InputError(f"{facet.id} has no answer: answer it, or say {CANNOT_JUDGE!r}")
            continue
        checked[facet.id] = check_answer(facet, book, answer)
    return checked


def answer_asked_facets(plan: RoundPlan, book: Codebook, answer_facet: Callable[[Facet], Any]) -> dict[str, Any]:
    """Returns the answers to the facets that are asked, each in the form in which it is stored."""
    answers: dict[str, Any] = {}
    for facet in plan.facets:
        answer = answer_facet(facet) if find_asked(plan, facet, answers) else None
        if answer is not None:
            answers[facet.id] = check_answer(facet, book, answer)
    return answers


def check_answer(facet: Facet, book: Codebook, answer: Any) -> Any:
    """Returns an answer in the form in which it is stored."""
    refuse_unstorable(answer, facet.id)
    if answer == CANNOT_JUDGE:
        return CANNOT_JUDGE
    return find_kind(facet).read(facet, book, answer)


def refuse_unstorable(value: Any, field: str) -> None:
    """Raises InputError if a text contains a NUL or an unpaired surrogate, which no file or page can show."""
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, str) and not is_storable(part):
            raise InputError(f"{field} contains an invalid character: type it again")
        if isinstance(part, Mapping):
            waiting += [*part.keys(), *part.values()]
        elif isinstance(part, list | tuple):
            waiting += part


def build_label(facet: Facet, answer: Any) -> Label | None:
    """Returns what agreement compares; None where nobody could judge or nothing was answered."""
    return None if answer is None or answer == CANNOT_JUDGE else find_kind(facet).label(facet, answer)


def write_cell(facet: Facet | None, answer: Any) -> str:
    """Returns an answer as a cell of a table, which `checked_answer` reads back; by its form where it has no facet."""
    if facet is None or answer is None or answer == CANNOT_JUDGE:
        return write_answer(answer)
    return find_kind(facet).write(answer)


def summarise_answer(facet: Facet, answer: Any) -> str:
    """Returns an answer as one line of text."""
    return write_answer(answer) if answer is None or answer == CANNOT_JUDGE else find_kind(facet).summarise(answer)


def name_answer(facet: Facet, book: Codebook, answer: Any) -> str:
    """Returns an answer with the names of its codes."""
    if answer is None or answer == CANNOT_JUDGE:
        return write_answer(answer)
    return find_kind(facet).name_codes(facet, book, answer)
