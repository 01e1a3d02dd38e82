"""Disagreements about transcripts with the words that they are about, and turns as items: no known name in either."""

from __future__ import annotations

import html
import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from quaestor.base.errors import QuaestorError
from quaestor.coding.model.facet_kinds.passages import KIND
from quaestor.coding.model.records import CANNOT_JUDGE, Codebook, Stretch, stretches_in
from quaestor.coding.pages.disagreements import Case
from quaestor.coding.pages.disputed_answers import Opinion, Question, Quote, sent_for
from quaestor.evidence.derived_items import as_html
from quaestor.evidence.item_texts import ItemText
from quaestor.interviews.coding.acts import turn_seen
from quaestor.interviews.coding.decided_passages import words_of
from quaestor.interviews.items import place_of
from quaestor.interviews.model.records import SpokenTurn
from quaestor.interviews.names.masking import masked_words, masker
from quaestor.interviews.repository import Interviews


def unnamed_case(interviews: Interviews | None, case: Case) -> Case:
    """A case with the words of every stretch; no known name in what was said, discussed and decided."""
    if interviews is None:
        return case
    masked = masker(interviews)
    remarks = (replace(one, text=masked(one.text), answer=masked(one.answer)) for one in case.remarks)
    outcomes = (replace(one, label=masked(one.label), reason=masked(one.reason)) for one in case.outcomes)
    question = quoted(interviews, case.round, case.item, case.question)
    return replace(case, question=question, remarks=tuple(remarks), outcomes=tuple(outcomes))


def quoted(interviews: Interviews | None, name: str, item: str, question: Question) -> Question:
    """A question with the words of every stretch, where they are still there, and no known name.

    What a form sends back for an answer with words of raters is told from it and does not hold them.
    """
    if interviews is None:
        return question
    masked = masker(interviews)
    opinions = question.opinions
    if question.kind == KIND:
        with suppress(QuaestorError):  # the participant has withdrawn
            turn = turn_seen(interviews, *place_of(item))
            with interviews.coding.looking() as state:
                book = state.history.at(state.round(name).plan.codebook)
            opinions = tuple(_with_quotes(one, turn, book, masked) for one in opinions)
    proposed = tuple((part, masked(words)) for part, words in question.proposed)
    return replace(question, opinions=tuple(_unnamed(one, masked) for one in opinions), proposed=proposed)


def unnamed_reading(interviews: Interviews | None, reading: ItemText) -> ItemText:
    """An item that is a turn in the words that those who code are shown, however old the evidence is; any other as is.

    What raters, a tie-breaker or a viewer reads beside a question goes through here.
    """
    if interviews is None:
        return reading
    title, body = unnamed_texts(interviews, reading.item, reading.title, reading.body)
    if (title, body) == (reading.title, reading.body):
        return reading
    return replace(reading, title=title, body=body, is_prepared=False)


def unnamed_texts(interviews: Interviews, item: str, title: str, body: str) -> tuple[str, str]:
    """Title and body of an item in the words that those who code are shown."""
    interview, _, number = item.rpartition("/")
    if not interview or not number.isdecimal() or not interviews.file.head(interview):
        return title, body
    try:
        turn = turn_seen(interviews, *place_of(item))
    except QuaestorError:  # a turn that is not there any more
        return masked_words(interviews, title), masked_words(interviews, body)
    hidden = {word for one in turn.replacements for word in turn.raw[one.start : one.end].split()}
    named = any(word in html.unescape(title) for word in hidden)
    return f"{interview}, turn {turn.number + 1}" if named else title, as_html(turn.text)


def _with_quotes(one: Opinion, turn: SpokenTurn, book: Codebook, masked: Callable[[str], str]) -> Opinion:
    found = () if one.value == CANNOT_JUDGE else stretches_in(json.loads(one.value))
    quotes = (_quote(each, turn, book) for each in found)
    told = tuple(replace(each, name=masked(each.name), more=tuple(map(masked, each.more))) for each in quotes)
    return replace(one, quotes=told)


def _unnamed(one: Opinion, masked: Callable[[str], str]) -> Opinion:
    voices = tuple(replace(each, memo=masked(each.memo)) for each in one.voices)
    has_words = one.value.startswith("[{") or masked(one.value) != one.value
    return replace(one, value=sent_for(one.value) if has_words else one.value, label=masked(one.label), voices=voices)


def _quote(one: Stretch, turn: SpokenTurn, book: Codebook) -> Quote:
    name = book.codes[one.code].name if one.code in book.codes else one.code
    more = [f"{field}: {words}" for field, words in one.fields.items()]
    return Quote(words_of(turn, one), name or "in vivo", tuple([*more, one.memo] if one.memo else more))
