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
from quaestor.interviews.model.records import SpokenTurn, parse_item_id
from quaestor.interviews.names.masking import show_transcript_at
from quaestor.interviews.repository import Interviews
from quaestor.store.records import Act, NewAct
from quaestor.study.session import PendingAct

_WORD = re.compile(r"\S+")


@dataclass(frozen=True)
class PassageSubmission:
    """All passages of a turn as a rater submits them, with positions in the text that the page showed."""

    interview: str
    turn: int
    passages: Sequence[Mapping[str, Any]]
    seen: int = 0
    """The state of the transcript that the page showed; 0 for the current one."""
    seconds: float = 0.0
    key: str = ""
    opened: str = ""
    before: Sequence[Mapping[str, Any]] | None = None
    """The passages that the page knew: the difference is what the rater did. None replaces all passages."""


@dataclass(frozen=True)
class ReadTurns:
    """Turns of a transcript that a rater has read and where there is nothing more to code."""

    interview: str
    first: int
    last: int
    key: str
    opened: str = ""


@dataclass(frozen=True)
class WordSelection:
    """A selection without a script: some words of a turn, quoted or counted, or the whole turn."""

    turn: int
    words: str = ""
    from_word: int | None = None
    to_word: int | None = None


def build_coding_act(
    coding: CodingSession, interviews: Interviews, name: str, rater: str, submission: PassageSubmission
) -> PendingAct[State]:
    """Builds the rating of a turn's passages, to be queued; keeps what another window coded meanwhile."""
    turn = find_turn_shown(interviews, submission.interview, submission.turn, submission.seen)
    item, now = interviews.item(submission.interview, submission.turn), coding.now()
    with coding.locked_state() as state:
        facet = require_passage_facet(state.round(name).plan).id

    def build_rating(state: State) -> NewRating:
        rating = state.round(name).current(rater, item)
        passages = read_passages(rating.answers.get(facet)) if rating else ()
        shown_passages = submission.passages
        if submission.before is not None:
            shown_passages = apply_changes(
                [_show_passage(turn, passage) for passage in passages], submission.before, shown_passages
            )
        answers = {facet: _map_to_recorded(turn, shown_passages, passages)}
        return NewRating(item, answers, seconds=submission.seconds, key=submission.key, opened=submission.opened)

    if submission.before is None:
        with coding.locked_state() as state:
            return queue_rating(coding, name, rater, build_rating(state))
    before = submission.before

    def same(state: State, known: Act) -> bool:
        if (known.kind, known.actor) != ("rating", rater) or known.payload["item"] != item:
            return False
        recorded = [_show_passage(turn, passage) for passage in read_passages(known.payload["answers"].get(facet))]
        return known.payload["round"] == name and has_changes(recorded, before, submission.passages)

    return PendingAct(
        lambda state: build_checked_rating(state, name, rater, build_rating(state), now), submission.key, same
    )


def is_different(submission: PassageSubmission, act: Act) -> bool:
    """Whether the recorded codes differ from the page's, because another window coded the same turn."""
    (answer,) = act.payload["answers"].values()
    shown = sorted(str(passage.get("code", "")) for passage in submission.passages)
    return sorted(passage.code for passage in read_passages(answer)) != shown


def build_reading_act(
    coding: CodingSession, interviews: Interviews, name: str, rater: str, read_turns: ReadTurns
) -> PendingAct[State]:
    """Builds empty ratings for the rater's unrated turns in a range, to be recorded all or none."""
    spoken = len(interviews.transcript(read_turns.interview).turns)
    now = coding.now()

    def decide(state: State) -> list[NewAct]:
        if read_turns.opened and read_turns.opened != state.round(name).opened:
            raise WrongStudy("this was read in another study")
        place = build_rater_position(state, name, rater)
        facet = require_passage_facet(place.plan).id
        items = [
            interviews.item(read_turns.interview, number)
            for number in range(max(read_turns.first, 0), min(read_turns.last + 1, spoken))
        ]
        left = [item for item in items if place.progress.turn_of(item) >= 0 and place.rating(item) is None]
        keys = [read_turns.key, *(f"{read_turns.key}/{number}" for number in range(1, len(left)))]
        return [
            build_rating_act(state, name, rater, item, {facet: []}, now=now, key=key)
            for item, key in zip(left, keys, strict=False)
        ]

    return PendingAct(decide, read_turns.key, lambda _, known: known.kind == "rating" and known.actor == rater)


def find_turn_shown(interviews: Interviews, name: str, number: int, seen: int = 0) -> SpokenTurn:
    """Returns a turn as a page showed it, whatever has changed in it or in the names since then."""
    turns = show_transcript_at(interviews, name, seen).turns
    if not 0 <= number < len(turns):
        raise InputError(f"the transcript of {name} has {len(turns)} turns: there is no turn {number}")
    return turns[number]


def _map_to_recorded(
    turn: SpokenTurn, sent_passages: Sequence[Mapping[str, Any]], recorded: Sequence[Passage]
) -> list[dict[str, Any]]:
    """Maps passages of the shown text to the recorded text; a passage that nobody moved keeps its exact position.

    A passage on half of a masked name is shown as one on all of it: mapped back, it would grow.
    """
    before: dict[tuple[int, int, str], list[Passage]] = {}
    for passage in recorded:
        before.setdefault((*turn.to_shown(passage.start, passage.end), passage.code), []).append(passage)
    payloads = []
    for sent in sent_passages:
        same = before.get((sent.get("start", -1), sent.get("end", -1), sent.get("code", "")))
        unmoved = same.pop(0) if same else None
        if unmoved is None:
            payloads.append(_map_passage(turn, sent))
        else:
            payloads.append({**sent, "start": unmoved.start, "end": unmoved.end})
    return payloads


def _map_passage(turn: SpokenTurn, sent_passage: Mapping[str, Any]) -> dict[str, Any]:
    """Maps a passage of the shown text to the recorded text."""
    start, end = sent_passage.get("start"), sent_passage.get("end")
    if not isinstance(start, int) or not isinstance(end, int) or not 0 <= start < end <= len(turn.text):
        raise InputError(f"a passage from {start!r} to {end!r} is not within turn {turn.number}: select it again")
    low, high = turn.to_raw(start, end)
    return {**sent_passage, "start": low, "end": high}


def list_passages_shown(
    coding: CodingSession, interviews: Interviews, name: str, rater: str, item: str, seen: int = 0
) -> list[dict[str, Any]]:
    """Returns a rater's own passages of a turn with positions in the text that a page showed, or shows now."""
    interview, number = parse_item_id(item)
    turn = find_turn_shown(interviews, interview, number, seen)
    with coding.locked_state() as state:
        place = build_rater_position(state, name, rater)
        rating = place.rating(item)
        answer = rating.answers.get(require_passage_facet(place.plan).id) if rating else ()
    return [_show_passage(turn, passage) for passage in read_passages(answer)]


def _show_passage(turn: SpokenTurn, stretch: Passage) -> dict[str, Any]:
    start, end = turn.to_shown(stretch.start, stretch.end)
    return {**stretch.payload(), "start": start, "end": end}


def find_selection(interviews: Interviews, interview: str, selected: WordSelection, seen: int = 0) -> tuple[int, int]:
    """Returns the position of the selected words, in the text that a page showed, or shows now."""
    text = find_turn_shown(interviews, interview, selected.turn, seen).text
    if selected.words.strip():
        spans = find_quotes(text, selected.words)
        if len(spans) > 1:
            raise InputError(f"the turn contains these words {len(spans)} times: copy more of the text around them")
        return spans[0]
    words = list(_WORD.finditer(text))
    first = selected.from_word if selected.from_word is not None else 1
    last = selected.to_word if selected.to_word is not None else len(words)
    if not 1 <= first <= last <= len(words):
        raise InputError(f"the turn has {len(words)} words: choose a range from 1 to {len(words)}")
    return words[first - 1].start(), words[last - 1].end()


def find_quotes(text: str, words: str) -> list[tuple[int, int]]:
    """Returns every place of these words in a text, whatever space is between them; raises if there is none."""
    pattern = r"\s+".join(re.escape(word) for word in words.split())
    spans = [match.span() for match in re.finditer(pattern, text)]
    if not spans:
        raise InputError("the turn does not contain these words: copy them from it exactly")
    return spans


ShownPassage = Mapping[str, Any]
"""A passage as a page sends it, with positions in the text that it showed."""
Place = tuple[Any, Any, str]


def apply_changes(
    now: Sequence[ShownPassage], before: Sequence[ShownPassage], tolds: Sequence[ShownPassage]
) -> list[ShownPassage]:
    """Applies a page's changes to the recorded passages: added, changed and removed ones."""
    known, sent_places = _index_passages(before), _index_passages(tolds)
    changed = {place: passage for place, passage in sent_places.items() if known.get(place) != passage}
    gone = known.keys() - sent_places.keys()
    stays = [
        passage
        for passage in now
        if _identify_passage(passage) not in gone and _identify_passage(passage) not in changed
    ]
    return [*stays, *changed.values()]


def has_changes(
    recorded: Sequence[ShownPassage], before: Sequence[ShownPassage], tolds: Sequence[ShownPassage]
) -> bool:
    """Whether the record has every passage that a page added and none that it removed."""
    known, sent_places, there = (
        set(_index_passages(before)),
        set(_index_passages(tolds)),
        set(_index_passages(recorded)),
    )
    return sent_places - known <= there and not (known - sent_places) & there


def _identify_passage(passage: ShownPassage) -> Place:
    """Returns what identifies a passage within a turn: its position and its code."""
    return passage.get("start"), passage.get("end"), str(passage.get("code", ""))


def _index_passages(shown_passages: Sequence[ShownPassage]) -> dict[Place, ShownPassage]:
    return {_identify_passage(passage): passage for passage in shown_passages}
