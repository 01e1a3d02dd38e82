"""Disagreements about transcripts with the words that they are about: what each rater coded, quoted."""

from __future__ import annotations

import json
from dataclasses import replace

from quaestor.base.errors import QuaestorError
from quaestor.coding.records import CANNOT_JUDGE, Codebook, Stretch, stretches_in
from quaestor.coding.stretches import KIND
from quaestor.instruments.interviews.records import SpokenTurn
from quaestor.study.interviews.coded import words_of
from quaestor.study.interviews.coding_acts import turn_seen
from quaestor.study.interviews.items import place_of
from quaestor.study.interviews.room import Interviews
from quaestor.study.opinions import Opinion, Question, Quote


def quoted(interviews: Interviews | None, name: str, item: str, question: Question) -> Question:
    """A case with the words of every stretch; as it is where it is about something else, or nothing can be quoted."""
    if question.kind != KIND or interviews is None:
        return question
    try:
        turn = turn_seen(interviews, *place_of(item))
    except QuaestorError:  # the participant has withdrawn
        return question
    with interviews.coding.looking() as state:
        book = state.history.at(state.round(name).plan.codebook)
    return replace(question, opinions=tuple(_with_quotes(one, turn, book) for one in question.opinions))


def _with_quotes(one: Opinion, turn: SpokenTurn, book: Codebook) -> Opinion:
    found = () if one.value == CANNOT_JUDGE else stretches_in(json.loads(one.value))
    return replace(one, quotes=tuple(_quote(each, turn, book) for each in found))


def _quote(one: Stretch, turn: SpokenTurn, book: Codebook) -> Quote:
    name = book.codes[one.code].name if one.code in book.codes else one.code
    more = [f"{field}: {words}" for field, words in one.fields.items()]
    return Quote(words_of(turn, one), name or "in vivo", tuple([*more, one.memo] if one.memo else more))
