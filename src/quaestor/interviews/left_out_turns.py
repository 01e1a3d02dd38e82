"""Takes turns out of rounds when they are no longer a participant's words, and puts them back when they are again.

Speakers are corrected in the transcript, which coding cannot read. An act in the journal tells it which turns to leave
out, so that agreement, disagreements and assignments count the same turns as the tables of themes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from quaestor.coding.disagreements import settle_agreed
from quaestor.coding.model.facet_kinds.passages import find_passage_facet
from quaestor.coding.model.state import CLOSED, State
from quaestor.interviews.model.records import Transcript, Voice, parse_item_id
from quaestor.interviews.repository import Interviews
from quaestor.store.records import NewAct

TURNS_ACT = "interview.turns"
_ORIGIN = "interviews"
"""The origin of rounds over turns: the name of this feature."""
_LEFT_OUT, _RESTORED = "left_out", "restored"


def list_turns_left_out(payload: Mapping[str, Any]) -> Callable[[str], object]:
    """Returns a test for the turns that an act leaves out."""
    return frozenset(payload[_LEFT_OUT]).__contains__


def list_turns_restored(payload: Mapping[str, Any]) -> Callable[[str], object]:
    """Returns a test for the turns that an act counts again."""
    return frozenset(payload[_RESTORED]).__contains__


def record_left_out_turns(interviews: Interviews, declined: Collection[str], actor: str | None = None) -> None:
    """Records which turns of rounds no longer count, and which count again, if that has changed.

    A turn does not count if its speaker is not the participant, or if the participant has declined since. Turns of
    withdrawn participants have no transcript any more and stay as they are.
    """
    transcripts = {transcript.interview: transcript for transcript in interviews.transcripts()}

    def build_act(state: State) -> list[NewAct]:
        left_out: set[str] = set()
        restored: set[str] = set()
        for round_state in state.rounds.values():
            plan = round_state.plan
            if plan.origin != _ORIGIN and (plan.origin or find_passage_facet(plan) is None):
                continue  # plans of older rounds have no origin
            for item in plan.items:
                interview, number = parse_item_id(item)
                if interview in transcripts:
                    counts = is_participants_turn(transcripts[interview], number, declined)
                    if counts == (item in round_state.gone):
                        (restored if counts else left_out).add(item)
        if not left_out and not restored:
            return []
        payload = {_LEFT_OUT: sorted(left_out), _RESTORED: sorted(restored)}
        return [NewAct(TURNS_ACT, actor or interviews.coding.lead, payload)]

    with interviews.coding.locked_state() as state:
        acts = build_act(state)
    if not acts:
        return
    interviews.coding.act(build_act)
    # Closing a round decides what its raters agree on, but not for turns that did not count at that time.
    with interviews.coding.locked_state() as state:
        closed = [name for name, round_state in state.rounds.items() if round_state.status == CLOSED]
        to_decide = [name for name in closed if set(acts[0].payload[_RESTORED]) & set(state.round(name).plan.items)]
    for name in to_decide:
        settle_agreed(interviews.coding, name, None)


def list_uncounted_turns(interviews: Interviews, name: str) -> list[int]:
    """Returns the turns of an interview that a closed round coded and whose speaker is no longer the participant."""
    transcript = interviews.transcript(name)
    with interviews.coding.locked_state() as state:
        closed = [round_state for round_state in state.rounds.values() if round_state.status == CLOSED]
        coded = {item for round_state in closed for rated in round_state.ratings.values() for item in rated}
    return [
        turn.number
        for turn in transcript.turns
        if turn.voice is not Voice.PARTICIPANT and transcript.item(turn.number) in coded
    ]


def is_participants_turn(transcript: Transcript, number: int, declined: Collection[str] = ()) -> bool:
    """Whether a turn is words of a participant who has not declined."""
    return (
        transcript.participant not in declined
        and number < len(transcript.turns)
        and transcript.turns[number].voice is Voice.PARTICIPANT
    )
