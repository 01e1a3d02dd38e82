"""What an answer to a facet may be, and the label that agreement compares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from quaestor.base.errors import InputError
from quaestor.base.names import is_storable, listed, nearest_first
from quaestor.coding.records import CANNOT_JUDGE, EXCLUDE, KEEP, Codebook, Facet, Plan
from quaestor.coding.stretches import checked_stretches, codes_in, is_stretches, written_stretches

YES, NO = "yes", "no"


def checked_answers(plan: Plan, book: Codebook, answers: Mapping[str, Any]) -> dict[str, Any]:
    """Answers to every facet of a round in their proper form; raises InputError with what is allowed."""
    names = [facet.id for facet in plan.facets]
    for name in answers:
        if name not in names:
            raise InputError(
                f"the round {plan.round!r} asks no {name!r}, allowed: {listed(nearest_first(name, names))}"
            )
    checked = {}
    for facet in plan.facets:
        given = answers.get(facet.id)
        if given is None or given == "":
            if facet.required:
                raise InputError(f"{facet.id} has no answer: answer it, or say {CANNOT_JUDGE!r}")
            continue
        checked[facet.id] = checked_answer(facet, book, given)
    return checked


def checked_answer(facet: Facet, book: Codebook, given: Any) -> Any:
    """One answer in its proper form."""
    refuse_unstorable(given, facet.id)
    if given == CANNOT_JUDGE:
        return CANNOT_JUDGE
    return _CHECKS[facet.kind](facet, book, given)


def refuse_unstorable(value: Any, what: str) -> None:
    """Refuse an answer in which a text has a NUL or half a character, which no file or page can show."""
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, str) and not is_storable(part):
            raise InputError(f"{what} holds a NUL or half a character: write it again")
        if isinstance(part, Mapping):
            waiting += [*part.keys(), *part.values()]
        elif isinstance(part, list | tuple):
            waiting += part


def _single(facet: Facet, book: Codebook, given: Any) -> str:
    allowed = choices(facet, book)
    if isinstance(given, str) and given in allowed:
        return given
    by_name = [code for code, name in allowed.items() if name.casefold() == str(given).casefold()]
    if len(by_name) == 1:
        return by_name[0]
    options = nearest_first(str(given), allowed)
    raise InputError(f"{facet.id} is {given!r}, allowed: {listed(options[:5])}{' …' if len(options) > 5 else ''}")


def choices(facet: Facet, book: Codebook) -> dict[str, str]:
    """What a rater may choose: ids and names."""
    if facet.codes:
        return {code.id: code.name for code in book.active(facet.codes, facet.level or None)}
    return {option: option for option in facet.options}


def _multiple(facet: Facet, book: Codebook, given: Any) -> list[str]:
    values = given if isinstance(given, list | tuple) else [part.strip() for part in str(given).split(";")]
    chosen = sorted({_single(facet, book, value) for value in values if value})
    if not chosen:
        raise InputError(f"{facet.id} names nothing: choose at least one, or say {CANNOT_JUDGE!r}")
    return chosen


def _keep(facet: Facet, book: Codebook, given: Any) -> dict[str, str]:
    """`keep`, `exclude`, or `exclude: the reason`; also as a table with the two apart."""
    word, reason = _word_and_more(given, "reason")
    if word not in (KEEP, EXCLUDE):
        raise InputError(f"{facet.id} is {given!r}, allowed: keep, or exclude: and the reason")
    if word == KEEP and reason:
        raise InputError(f"{facet.id} says keep and gives the reason {reason!r}: a reason is for exclude")
    if word == EXCLUDE and facet.reasons and reason not in facet.reasons:
        found = f"for {reason!r}" if reason else "without a reason"
        raise InputError(f"{facet.id} excludes {found}, allowed: {listed(nearest_first(reason, facet.reasons))}")
    return {"answer": word, "reason": reason} if reason else {"answer": word}


def _word_and_more(given: Any, name: str) -> tuple[str, str]:
    """`word: more`, or a table with the two apart."""
    if isinstance(given, Mapping):
        word, more = str(given.get("answer", "")), str(given.get(name, ""))
    else:
        word, _, more = str(given).partition(":")
    return word.strip().lower(), more.strip()


def _text(facet: Facet, book: Codebook, given: Any) -> str:
    return str(given)


def _phrase(facet: Facet, book: Codebook, given: Any) -> dict[str, str]:
    """`rotate, image`, or a table with verb and object."""
    if isinstance(given, Mapping):
        verb, thing = str(given.get("verb", "")), str(given.get("object", ""))
    else:
        verb, _, thing = str(given).partition(",")
    verb, thing = " ".join(verb.lower().split()), " ".join(thing.lower().split())
    if not verb or not thing:
        raise InputError(f"{facet.id} is {given!r}: a phrase is a verb and an object, as in: rotate, image")
    return {"verb": verb, "object": thing}


def _confirm(facet: Facet, book: Codebook, given: Any) -> dict[str, str]:
    """`yes`, or `no` with what it should be instead."""
    word, instead = _word_and_more(given, "instead")
    if word not in (YES, NO):
        raise InputError(f"{facet.id} is {given!r}, allowed: yes, no, or no: and what it should be")
    return {"answer": word, "instead": instead} if instead else {"answer": word}


_CHECKS = {
    "single": _single,
    "multiple": _multiple,
    "keep": _keep,
    "text": _text,
    "phrase": _phrase,
    "confirm": _confirm,
    "stretches": checked_stretches,
}


def label_of(facet: Facet, answer: Any) -> str | frozenset[str] | None:
    """What agreement compares: the answer without its explanation; None where nobody could judge or nothing is said."""
    if answer is None or answer == CANNOT_JUDGE or facet.kind == "text":
        return None
    if facet.kind in ("keep", "confirm"):
        return str(answer["answer"])
    if facet.kind == "phrase":
        return f"{answer['verb']} {answer['object']}"
    if facet.kind == "multiple":
        return frozenset(answer)
    if facet.kind == "stretches":
        return frozenset(codes_in(answer))
    return str(answer)


def written(answer: Any) -> str:
    """An answer as one cell of a table; `checked_answer` reads it back."""
    if isinstance(answer, Mapping):
        if "verb" in answer:
            return f"{answer['verb']}, {answer['object']}"
        more = answer.get("reason") or answer.get("instead")
        return f"{answer['answer']}: {more}" if more else str(answer["answer"])
    if is_stretches(answer):
        return written_stretches(answer)
    if isinstance(answer, list | tuple | frozenset):
        return "; ".join(sorted(answer))
    return "" if answer is None else str(answer)
