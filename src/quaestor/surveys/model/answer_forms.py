"""Answers as a page sends them: read, checked and put into one form, and why there is none where there is none.

An answer is JSON. `choices`: codes of options, in the order of the questionnaire; `texts`: words of one's own by option
or row; `rows`: the step by row of a matrix; `number`: as it was typed; `text`; `ranks`: codes, the first first.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from quaestor.base.errors import InputError
from quaestor.surveys.model.records import CHOSEN, Answer, Kind, Question
from quaestor.surveys.model.typed_numbers import typed_number
from quaestor.surveys.model.wording.catalogue import wording
from quaestor.surveys.model.wording.records import Wording
from quaestor.surveys.model.wording.refusals import NotTaken

LONGEST = 20_000
"""Characters of one text; more is refused, not cut."""
_LONGEST_RANK = 6
_NO_CHARACTERS = dict.fromkeys((0, 0xFFFE, 0xFFFF))
"""Dropped, since neither a database nor a workbook can hold them all."""
Sent = Mapping[str, Sequence[str]]
"""The fields of a form."""


def sent_answer(question: Question, form: Sent) -> Answer:
    """What a form says to one question; empty where it says nothing.

    Fields: `q.ID` with codes, a number or words; `q.ID.CODE.text` with the words of an option or row;
    `q.ID.ROW` with the step of a row; `q.ID.CODE.rank` with the place of an option.
    """
    name = f"q.{question.id}"
    values = [value for value in form.get(name, ()) if value.strip()]
    if question.kind in CHOSEN:
        texts = {one.code: _one(form, f"{name}.{one.code}.text") for one in question.options if one.text}
        # Words beside an "other" that was not ticked are an answer all the same.
        chosen = [*values, *(code for code, words in texts.items() if words)]
        if chosen and not values and form.get(name) and question.kind is not Kind.MULTIPLE:
            raise _only_one(question, chosen)  # "no answer" was chosen, and there are words all the same
        return checked_answer(question, {"choices": chosen, "texts": texts} if chosen else {})
    if question.kind is Kind.MATRIX:
        rows = {row.code: _one(form, f"{name}.{row.code}") for row in question.rows}
        texts = {row.code: _one(form, f"{name}.{row.code}.text") for row in question.rows if row.text}
        return checked_answer(question, {"rows": rows, "texts": texts})
    if question.kind is Kind.RANKING:
        return checked_answer(question, {"ranks": _ranked(question, form)})
    key = "number" if question.kind is Kind.NUMBER else "text"
    return checked_answer(question, {key: values[0]} if values else {})


def form_of(question: Question, answer: Answer) -> dict[str, list[str]]:
    """The fields that stand for an answer: what a page shows again, and what sent again says the same."""
    name = f"q.{question.id}"
    form: dict[str, list[str]] = {f"{name}.{code}.text": [words] for code, words in answer.get("texts", {}).items()}
    form.update({f"{name}.{row}": [step] for row, step in answer.get("rows", {}).items()})
    form.update({f"{name}.{code}.rank": [str(place)] for place, code in enumerate(answer.get("ranks", ()), start=1)})
    values = list(answer.get("choices", ())) or [answer[key] for key in ("number", "text") if key in answer]
    return {**form, name: values} if values else form


def checked_answer(question: Question, said: Mapping[str, Any]) -> Answer:
    """An answer in its one form; what the question does not offer is refused in a sentence for whoever answers."""
    if question.kind in CHOSEN:
        return _chosen(question, list(said.get("choices", ())), said.get("texts", {}))
    if question.kind is Kind.MATRIX:
        return _matrix(question, said.get("rows", {}), said.get("texts", {}))
    if question.kind is Kind.RANKING:
        return _ranking(question, list(said.get("ranks", ())))
    if question.kind is Kind.NUMBER:
        text = str(said.get("number", "")).strip()
        return {"number": typed_number(question, text)} if text else {}
    text = _text(str(said.get("text", "")))
    return {"text": text} if text.strip() else {}


def unanswered(question: Question, answer: Answer, words: Wording | None = None) -> str:
    """Why an answer will not do where one is required; empty where it will."""
    if not question.required:
        return ""
    words = words or wording()
    if question.kind is Kind.MATRIX:
        said = answer.get("rows", {})
        left = [row.label for row in question.rows if not row.text and row.code not in said]
        return words.say("choose-steps", rows="; ".join(left)) if left else ""
    if question.kind is Kind.RANKING and len(answer.get("ranks", ())) < len(question.options):
        return words.say("place-all")
    if not answer:
        return words.say("please-answer")
    return ""


def in_words(question: Question, answer: Answer) -> str:
    """An answer as one line, for a person or to be piped into a later text."""
    if question.kind in CHOSEN:
        return "; ".join(_named(question, code, answer) for code in answer.get("choices", ()))
    if question.kind is Kind.MATRIX:
        labels = {one.code: one.label for one in question.options}
        rows = {row.code: row.label for row in question.rows}
        said = answer.get("rows", {})
        parts = [f"{answer.get('texts', {}).get(row) or rows[row]}: {labels[step]}" for row, step in said.items()]
        return "; ".join(parts)
    if question.kind is Kind.RANKING:
        labels = {one.code: one.label for one in question.options}
        return "; ".join(f"{place}. {labels[code]}" for place, code in enumerate(answer.get("ranks", ()), start=1))
    return str(answer.get("number") or answer.get("text") or "")


def _named(question: Question, code: str, answer: Answer) -> str:
    option = question.option(code)
    label = option.label if option else code
    words = answer.get("texts", {}).get(code, "")
    return f"{label}: {words}" if words else label


def _chosen(question: Question, said: list[str], texts: Mapping[str, str]) -> Answer:
    known = {one.code: one for one in question.options}
    for code in said:
        if code not in known:
            raise NotTaken("no-option", said=code[:60], question=question.id)
    chosen = [one for one in question.options if one.code in said]
    if question.kind is not Kind.MULTIPLE and len(chosen) > 1:
        raise _only_one(question, said)
    if len(chosen) > 1 and any(one.alone for one in chosen):
        alone = next(one.label for one in chosen if one.alone)
        raise NotTaken("goes-alone", label=alone)
    if not chosen:
        return {}
    words = {one.code: _text(texts.get(one.code, "")) for one in chosen if one.text}
    answer: dict[str, Any] = {"choices": [one.code for one in chosen]}
    if any(words.values()):
        answer["texts"] = {code: text for code, text in words.items() if text}
    return answer


def _only_one(question: Question, said: Sequence[str]) -> NotTaken:
    """More than one answer, or words beside an option that was not chosen."""
    beside = next((one.label for one in question.options if one.code in said and one.text), "")
    return NotTaken("only-one-beside", label=beside) if beside else NotTaken("only-one")


def _matrix(question: Question, rows: Mapping[str, str], texts: Mapping[str, str]) -> Answer:
    steps = {one.code for one in question.options}
    known = {row.code: row for row in question.rows}
    for row, step in rows.items():
        if row not in known or (step and step not in steps):
            raise InputError(f"{row[:60]!r} and {step[:60]!r} are no row and step of {question.id!r}")
    said = {row.code: rows[row.code] for row in question.rows if rows.get(row.code)}
    words = {row.code: _text(texts.get(row.code, "")) for row in question.rows if row.text}
    answer: dict[str, Any] = {"rows": said} if said else {}
    if any(words.values()):
        answer["texts"] = {code: text for code, text in words.items() if text}
    return answer


def _ranked(question: Question, form: Sent) -> list[str]:
    """Codes by the places they were given; two at the same place are no ranking."""
    places: dict[int, str] = {}
    for one in question.options:
        text = _one(form, f"q.{question.id}.{one.code}.rank")
        if not text:
            continue
        place = rank_of(text)
        if not 1 <= place <= len(question.options):
            raise NotTaken("place-between", most=len(question.options), said=text[:20])
        if place in places:
            raise NotTaken("place-twice", place=place)
        places[place] = one.code
    gap = gap_in(places)
    if gap:
        raise NotTaken("place-missing", place=gap)
    return [places[place] for place in sorted(places)]


def rank_of(text: str) -> int:
    """The place that a text names; 0 where it names none."""
    return int(text) if len(text) <= _LONGEST_RANK and text.isascii() and text.isdecimal() else 0


def gap_in(places: Collection[int]) -> int:
    """The first place that nothing has though a later one is taken; 0 where there is none: third is not second."""
    return next((place for place in range(1, max(places, default=0)) if place not in places), 0)


def _ranking(question: Question, ranks: list[str]) -> Answer:
    known = {one.code for one in question.options}
    if len(set(ranks)) < len(ranks) or not set(ranks) <= known:
        raise InputError(f"what was ranked in {question.id!r} is not what it offers, each once")
    return {"ranks": ranks} if ranks else {}


def _text(words: str) -> str:
    if len(words) > LONGEST:
        raise NotTaken("too-long", length=f"{len(words):,}", most=f"{LONGEST:,}")
    whole = words.replace("\r\n", "\n").replace("\r", "\n").translate(_NO_CHARACTERS)
    return whole.encode("utf-8", "replace").decode().strip()


def _one(form: Sent, name: str) -> str:
    return (form.get(name) or ("",))[0].strip()
