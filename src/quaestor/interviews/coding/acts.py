"""Records a rater's work on a transcript: coded passages, in vivo codes, and turns read without coding.

A page counts characters in the text that it shows. This module maps these positions back to the recorded text, in
the state in which the page was built, so that names added, confirmed or refused meanwhile move no passage.
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
from quaestor.coding.rating_files import NewRating, WrongStudy, build_checked_rating, queue_rating
from quaestor.coding.session import CodingSession
from quaestor.interviews.model.records import SpokenTurn, build_item_id, parse_item_id
from quaestor.interviews.names.masking import show_transcript_at
from quaestor.interviews.repository import Interviews
from quaestor.store.records import Act, NewAct
from quaestor.study.session import PendingAct

_WORD = re.compile(r"\S+")


@dataclass(frozen=True)
class CodedAs:
    """All passages of a turn as a rater submits them, with positions in the text that the page showed."""

    interview: str
    turn: int
    stretches: Sequence[Mapping[str, Any]]
    seen: int = 0
    """The state of the transcript that the page showed; 0 for the current one."""
    seconds: float = 0.0
    key: str = ""
    opened: str = ""
    before: Sequence[Mapping[str, Any]] | None = None
    """The passages that the page knew: the difference is what the rater did. None replaces all passages."""


@dataclass(frozen=True)
class ReadTo:
    """Turns of a transcript that a rater has read and where there is nothing more to code."""

    interview: str
    first: int
    last: int
    key: str
    opened: str = ""


@dataclass(frozen=True)
class Selected:
    """A selection without a script: some words of a turn, quoted or counted, or the whole turn."""

    turn: int
    words: str = ""
    from_word: int | None = None
    to_word: int | None = None


def coding_wanted(
    coding: CodingSession, interviews: Interviews, name: str, rater: str, said: CodedAs
) -> PendingAct[State]:
    """Builds the rating of a turn's passages, to be queued; keeps what another window coded meanwhile."""
    turn = turn_seen(interviews, said.interview, said.turn, said.seen)
    item, now = build_item_id(said.interview, said.turn), coding.now()
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
    """Whether the recorded codes differ from the page's, because another window coded the same turn."""
    (answer,) = act.payload["answers"].values()
    shown = sorted(str(passage.get("code", "")) for passage in said.stretches)
    return sorted(passage.code for passage in read_passages(answer)) != shown


def reading_wanted(
    coding: CodingSession, interviews: Interviews, name: str, rater: str, said: ReadTo
) -> PendingAct[State]:
    """Builds empty ratings for the rater's unrated turns in a range, to be recorded all or none."""
    spoken = len(interviews.transcript(said.interview).turns)
    now = coding.now()

    def decide(state: State) -> list[NewAct]:
        if said.opened and said.opened != state.round(name).opened:
            raise WrongStudy("this was read in another study")
        place = build_rater_position(state, name, rater)
        facet = require_passage_facet(place.plan).id
        items = [
            build_item_id(said.interview, number) for number in range(max(said.first, 0), min(said.last + 1, spoken))
        ]
        left = [item for item in items if place.progress.turn_of(item) >= 0 and place.rating(item) is None]
        keys = [said.key, *(f"{said.key}/{number}" for number in range(1, len(left)))]
        return [
            build_rating_act(state, name, rater, item, {facet: []}, now=now, key=key)
            for item, key in zip(left, keys, strict=False)
        ]

    return PendingAct(decide, said.key, lambda _, known: known.kind == "rating" and known.actor == rater)


def turn_seen(interviews: Interviews, name: str, number: int, seen: int = 0) -> SpokenTurn:
    """Returns a turn as a page showed it, whatever has changed in it or in the names since then."""
    turns = show_transcript_at(interviews, name, seen).turns
    if not 0 <= number < len(turns):
        raise InputError(f"the transcript of {name} has {len(turns)} turns: there is no turn {number + 1}")
    return turns[number]


def _as_recorded(
    turn: SpokenTurn, given: Sequence[Mapping[str, Any]], stretches: Sequence[Passage]
) -> list[dict[str, Any]]:
    """Maps passages of the shown text to the recorded text; a passage that nobody moved keeps its exact position.

    A passage on half of a masked name is shown as one on all of it: mapped back, it would grow.
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
    """Maps a passage of the shown text to the recorded text."""
    start, end = given.get("start"), given.get("end")
    if not isinstance(start, int) or not isinstance(end, int) or not 0 <= start < end <= len(turn.text):
        raise InputError(f"a passage from {start!r} to {end!r} is not within turn {turn.number + 1}: select it again")
    low, high = turn.to_raw(start, end)
    return {**given, "start": low, "end": high}


def stretches_shown(
    coding: CodingSession, interviews: Interviews, name: str, rater: str, item: str, seen: int = 0
) -> list[dict[str, Any]]:
    """Returns a rater's own passages of a turn with positions in the text that a page showed, or shows now."""
    interview, number = parse_item_id(item)
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
    """Returns the position of the selected words, in the text that a page showed, or shows now."""
    text = turn_seen(interviews, interview, selected.turn, seen).text
    if selected.words.strip():
        return _quoted(text, selected.words)
    words = list(_WORD.finditer(text))
    first = selected.from_word if selected.from_word is not None else 1
    last = selected.to_word if selected.to_word is not None else len(words)
    if not 1 <= first <= last <= len(words):
        raise InputError(f"the turn has {len(words)} words: choose a range from 1 to {len(words)}")
    return words[first - 1].start(), words[last - 1].end()


def _quoted(text: str, words: str) -> tuple[int, int]:
    pattern = r"\s+".join(re.escape(word) for word in words.split())
    spans = [match.span() for match in re.finditer(pattern, text)]
    if not spans:
        raise InputError("the turn does not contain these words: copy them from it exactly")
    if len(spans) > 1:
        raise InputError(f"the turn contains these words {len(spans)} times: copy more of the text around them")
    return spans[0]


Told = Mapping[str, Any]
"""A passage as a page sends it, with positions in the text that it showed."""
Place = tuple[Any, Any, str]


def with_changes(now: Sequence[Told], before: Sequence[Told], tolds: Sequence[Told]) -> list[Told]:
    """Applies a page's changes to the recorded passages: added, changed and removed ones."""
    known, sent_places = _placed(before), _placed(tolds)
    changed = {place: passage for place, passage in sent_places.items() if known.get(place) != passage}
    gone = known.keys() - sent_places.keys()
    stays = [
        passage for passage in now if _stretch_place(passage) not in gone and _stretch_place(passage) not in changed
    ]
    return [*stays, *changed.values()]


def holds_changes(recorded: Sequence[Told], before: Sequence[Told], tolds: Sequence[Told]) -> bool:
    """Whether the record has every passage that a page added and none that it removed."""
    known, sent_places, there = set(_placed(before)), set(_placed(tolds)), set(_placed(recorded))
    return sent_places - known <= there and not (known - sent_places) & there


def _stretch_place(passage: Told) -> Place:
    """Returns what identifies a passage within a turn: its position and its code."""
    return passage.get("start"), passage.get("end"), str(passage.get("code", ""))


def _placed(stretches: Sequence[Told]) -> dict[Place, Told]:
    return {_stretch_place(passage): passage for passage in stretches}
