"""What a rater does with a transcript: stretches of a turn coded, words taken as their own code, turns read to the end.

A page counts in the words that it shows. Here places are led back to the words as they were recorded, in the state in
which the page was made, so that a name which is added, confirmed or refused meanwhile moves no stretch.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from quaestor.base.errors import InputError
from quaestor.coding.model.facet_kinds.passages import require_passage_facet
from quaestor.coding.model.ratings import build_rating_act
from quaestor.coding.model.records import Passage, read_passages
from quaestor.coding.model.state import State
from quaestor.coding.model.views import build_rater_position
from quaestor.coding.rating_files import WrongStudy, NewRating, build_checked_rating, queue_rating
from quaestor.coding.session import CodingSession
from quaestor.interviews.model.records import SpokenTurn, item_of, place_of
from quaestor.interviews.names.masking import shown_then
from quaestor.interviews.repository import Interviews
from quaestor.store.records import Act, NewAct
from quaestor.study.session import PendingAct

_WORD = re.compile(r"\S+")


@dataclass(frozen=True)
class CodedAs:
    """All stretches of one turn as a rater wants them, with places in the words that a page showed."""

    interview: str
    turn: int
    stretches: Sequence[Mapping[str, Any]]
    seen: int = 0
    """The state of the transcript that the page showed; 0 for the one of now."""
    seconds: float = 0.0
    key: str = ""
    opened: str = ""
    before: Sequence[Mapping[str, Any]] | None = None
    """The stretches that the page knew: what differs from them is what was done there. None for all or nothing."""


@dataclass(frozen=True)
class ReadTo:
    """Turns of a transcript in which a rater found nothing more to code."""

    interview: str
    first: int
    last: int
    key: str
    opened: str = ""


@dataclass(frozen=True)
class Selected:
    """What somebody picked without a script: some words of a turn, by quoting or counting them, else the whole turn."""

    turn: int
    words: str = ""
    from_word: int | None = None
    to_word: int | None = None


def coding_wanted(
    coding: CodingSession, interviews: Interviews, name: str, rater: str, said: CodedAs
) -> PendingAct[State]:
    """A turn's stretches as a rating to put in the line; what another window coded meanwhile stays."""
    turn = turn_seen(interviews, said.interview, said.turn, said.seen)
    item, now = item_of(said.interview, said.turn), coding.now()
    with coding.locked_state() as state:
        facet = require_passage_facet(state.round(name).plan).id

    def told(state: State) -> NewRating:
        rating = state.round(name).current(rater, item)
        held = read_passages(rating.answers.get(facet)) if rating else ()
        stretches = said.stretches
        if said.before is not None:
            stretches = with_changes([_shown(turn, passage) for passage in held], said.before, stretches)
        answers = {facet: _as_recorded(turn, stretches, held)}
        return NewRating(item, answers, seconds=said.seconds, key=said.key, opened=said.opened)

    if said.before is None:
        with coding.locked_state() as state:
            return queue_rating(coding, name, rater, told(state))
    before = said.before

    def same(state: State, known: Act) -> bool:
        if (known.kind, known.actor) != ("rating", rater) or known.payload["item"] != item:
            return False
        recorded = [_shown(turn, passage) for passage in read_passages(known.payload["answers"].get(facet))]
        return known.payload["round"] == name and holds_changes(recorded, before, said.stretches)

    return PendingAct(lambda state: build_checked_rating(state, name, rater, told(state), now), said.key, same)


def differs(said: CodedAs, act: Act) -> bool:
    """Whether something else is on record than the page shows, because another window coded the same turn."""
    (answer,) = act.payload["answers"].values()
    shown = sorted(str(passage.get("code", "")) for passage in said.stretches)
    return sorted(passage.code for passage in read_passages(answer)) != shown


def reading_wanted(
    coding: CodingSession, interviews: Interviews, name: str, rater: str, said: ReadTo
) -> PendingAct[State]:
    """A rater's own turns that have no rating yet as read, with nothing to code: all of them or none."""
    spoken = len(interviews.transcript(said.interview).turns)
    now = coding.now()

    def decide(state: State) -> list[NewAct]:
        if said.opened and said.opened != state.round(name).opened:
            raise WrongStudy("this was read in another study")
        place = build_rater_position(state, name, rater)
        facet = require_passage_facet(place.plan).id
        items = [item_of(said.interview, number) for number in range(max(said.first, 0), min(said.last + 1, spoken))]
        left = [item for item in items if place.progress.turn_of(item) >= 0 and place.rating(item) is None]
        keys = [said.key, *(f"{said.key}/{number}" for number in range(1, len(left)))]
        return [
            build_rating_act(state, name, rater, item, {facet: []}, now=now, key=key)
            for item, key in zip(left, keys, strict=False)
        ]

    return PendingAct(decide, said.key, lambda _, known: known.kind == "rating" and known.actor == rater)


def turn_seen(interviews: Interviews, name: str, number: int, seen: int = 0) -> SpokenTurn:
    """A turn as a page showed it, whatever has been said about it and about names since."""
    turns = shown_then(interviews, name, seen).turns
    if not 0 <= number < len(turns):
        raise InputError(f"the transcript of {name} has {len(turns)} turns: there is no turn {number + 1}")
    return turns[number]


def _as_recorded(
    turn: SpokenTurn, given: Sequence[Mapping[str, Any]], stretches: Sequence[Passage]
) -> list[dict[str, Any]]:
    """Stretches of the shown words as those of the recorded words; one that nobody moved stays just where it was.

    Shown, a stretch on half a name looks like one on all of it: sent back, it would grow.
    """
    before: dict[tuple[int, int, str], list[Passage]] = {}
    for passage in stretches:
        before.setdefault((*turn.to_shown(passage.start, passage.end), passage.code), []).append(passage)
    payloads = []
    for stretch in given:
        same = before.get((stretch.get("start", -1), stretch.get("end", -1), stretch.get("code", "")))
        unmoved = same.pop(0) if same else None
        if unmoved is None:
            payloads.append(_recorded(turn, stretch))
        else:
            payloads.append({**stretch, "start": unmoved.start, "end": unmoved.end})
    return payloads


def _recorded(turn: SpokenTurn, given: Mapping[str, Any]) -> dict[str, Any]:
    """A stretch of the shown words as one of the recorded words."""
    start, end = given.get("start"), given.get("end")
    if not isinstance(start, int) or not isinstance(end, int) or not 0 <= start < end <= len(turn.text):
        raise InputError(f"a stretch from {start!r} to {end!r} does not lie in turn {turn.number + 1}: select it again")
    low, high = turn.to_raw(start, end)
    return {**given, "start": low, "end": high}


def stretches_shown(
    coding: CodingSession, interviews: Interviews, name: str, rater: str, item: str, seen: int = 0
) -> list[dict[str, Any]]:
    """A rater's own stretches of a turn with their places in the words that a page showed, else in those of now."""
    interview, number = place_of(item)
    turn = turn_seen(interviews, interview, number, seen)
    with coding.locked_state() as state:
        place = build_rater_position(state, name, rater)
        rating = place.rating(item)
        answer = rating.answers.get(require_passage_facet(place.plan).id) if rating else ()
    return [_shown(turn, passage) for passage in read_passages(answer)]


def _shown(turn: SpokenTurn, stretch: Passage) -> dict[str, Any]:
    start, end = turn.to_shown(stretch.start, stretch.end)
    return {**stretch.payload(), "start": start, "end": end}


def selected_place(interviews: Interviews, interview: str, selected: Selected, seen: int = 0) -> tuple[int, int]:
    """The place of some words of a turn, in the words that a page showed, else in those of now."""
    text = turn_seen(interviews, interview, selected.turn, seen).text
    if selected.words.strip():
        return _quoted(text, selected.words)
    words = list(_WORD.finditer(text))
    first = selected.from_word if selected.from_word is not None else 1
    last = selected.to_word if selected.to_word is not None else len(words)
    if not 1 <= first <= last <= len(words):
        raise InputError(f"the turn has {len(words)} words: choose from 1 to {len(words)}, the first one first")
    return words[first - 1].start(), words[last - 1].end()


def _quoted(text: str, words: str) -> tuple[int, int]:
    pattern = r"\s+".join(re.escape(word) for word in words.split())
    spans = [match.span() for match in re.finditer(pattern, text)]
    if not spans:
        raise InputError("these words do not stand in the turn: copy them from it just as they are")
    if len(spans) > 1:
        raise InputError(f"these words stand in the turn {len(spans)} times: copy some more around them")
    return spans[0]


Told = Mapping[str, Any]
"""A stretch as a page tells it, with places in the words that it showed."""
Place = tuple[Any, Any, str]


def with_changes(now: Sequence[Told], before: Sequence[Told], tolds: Sequence[Told]) -> list[Told]:
    """What is on record with what a page made of the stretches that it knew: added, told more about, removed."""
    known, sent_places = _placed(before), _placed(tolds)
    changed = {place: passage for place, passage in sent_places.items() if known.get(place) != passage}
    gone = known.keys() - sent_places.keys()
    stays = [
        passage for passage in now if _stretch_place(passage) not in gone and _stretch_place(passage) not in changed
    ]
    return [*stays, *changed.values()]


def holds_changes(recorded: Sequence[Told], before: Sequence[Told], tolds: Sequence[Told]) -> bool:
    """Whether what was recorded has what a page added and nothing of what it removed."""
    known, sent_places, there = set(_placed(before)), set(_placed(tolds)), set(_placed(recorded))
    return sent_places - known <= there and not (known - sent_places) & there


def _stretch_place(passage: Told) -> Place:
    """Where a stretch lies and what its words are about: all that makes two of a turn the same."""
    return passage.get("start"), passage.get("end"), str(passage.get("code", ""))


def _placed(stretches: Sequence[Told]) -> dict[Place, Told]:
    return {_stretch_place(passage): passage for passage in stretches}
