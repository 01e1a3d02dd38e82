"""Disagreements about transcripts with the words that they are about, and turns as items: no known name in either."""

from __future__ import annotations

import html
import json
from collections.abc import Callable
from dataclasses import replace

from quaestor.base.errors import QuaestorError
from quaestor.coding.records import CANNOT_JUDGE, Codebook, Stretch, stretches_in
from quaestor.coding.stretches import KIND
from quaestor.instruments.interviews.records import SpokenTurn
from quaestor.study.interviews.coded import words_of
from quaestor.study.interviews.coding_acts import turn_seen
from quaestor.study.interviews.items import place_of
from quaestor.study.interviews.masking import masked_words
from quaestor.study.interviews.room import Interviews
from quaestor.study.opinions import Opinion, Question, Quote
from quaestor.study.reading import Reading
from quaestor.study.worded_items import as_html


def quoted(interviews: Interviews | None, name: str, item: str, question: Question) -> Question:
    """A case with the words of every stretch and no known name; as it is where nothing can be quoted."""
    if question.kind != KIND or interviews is None:
        return question
    try:
        turn = turn_seen(interviews, *place_of(item))
    except QuaestorError:  # the participant has withdrawn
        return question
    with interviews.coding.looking() as state:
        book = state.history.at(state.round(name).plan.codebook)

    def unnamed(words: str) -> str:
        return masked_words(interviews, words)

    return replace(question, opinions=tuple(_with_quotes(one, turn, book, unnamed) for one in question.opinions))


def unnamed_reading(interviews: Interviews | None, reading: Reading) -> Reading:
    """An item that is a turn in the words that those who code are shown, however old the evidence is; any other as is.

    What raters, a tie-breaker or a viewer reads beside a question goes through here.
    """
    interview, _, number = reading.item.rpartition("/")
    if interviews is None or not interview or not number.isdecimal() or not interviews.file.head(interview):
        return reading
    try:
        turn = turn_seen(interviews, *place_of(reading.item))
    except QuaestorError:  # a transcript that is not there any more
        return reading
    hidden = {word for one in turn.replacements for word in turn.raw[one.start : one.end].split()}
    named = any(word in html.unescape(reading.title) for word in hidden)
    title = f"{interview}, turn {turn.number + 1}" if named else reading.title
    body = as_html(turn.text)
    if (title, body) == (reading.title, reading.body):
        return reading
    return replace(reading, title=title, body=body, is_prepared=False)


def _with_quotes(one: Opinion, turn: SpokenTurn, book: Codebook, unnamed: Callable[[str], str]) -> Opinion:
    found = () if one.value == CANNOT_JUDGE else stretches_in(json.loads(one.value))
    quotes = (_quote(each, turn, book) for each in found)
    told = tuple(replace(each, name=unnamed(each.name), more=tuple(map(unnamed, each.more))) for each in quotes)
    voices = tuple(replace(each, memo=unnamed(each.memo)) for each in one.voices)
    return replace(one, label=unnamed(one.label), voices=voices, quotes=told)


def _quote(one: Stretch, turn: SpokenTurn, book: Codebook) -> Quote:
    name = book.codes[one.code].name if one.code in book.codes else one.code
    more = [f"{field}: {words}" for field, words in one.fields.items()]
    return Quote(words_of(turn, one), name or "in vivo", tuple([*more, one.memo] if one.memo else more))
