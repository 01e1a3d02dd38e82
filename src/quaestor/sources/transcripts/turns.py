"""From utterances to turns: what somebody says before somebody else speaks is one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from quaestor.base.errors import InputError
from quaestor.sources.transcripts.records import CuePlace, RecordedTurn, Utterance

LONGEST_TURN = 400
"""Words after which the next cue or paragraph begins a new turn of the same speaker: turns are what raters code."""
MOST = 100_000


def turns_of(
    utterances: Iterable[Utterance], joint: str, where: str, *, apart: bool = False
) -> tuple[RecordedTurn, ...]:
    """Turns with the words of their utterances, put together with a space or a line break; or each `apart`."""
    longest = 0 if apart else LONGEST_TURN
    found = [_turn(group, joint) for group in _by_speaker((one for one in utterances if one.text), longest)]
    if not found:
        raise InputError(f"{where} has no words that anybody says: is it the transcript?")
    if len(found) > MOST:
        raise InputError(f"{where} has {len(found):,} turns, over {MOST:,}: nobody talks for that long")
    return tuple(found)


def _by_speaker(utterances: Iterable[Utterance], longest: int) -> Iterator[list[Utterance]]:
    group: list[Utterance] = []
    words = 0
    for one in utterances:
        if group and (one.speaker != group[-1].speaker or words >= longest):
            yield group
            group, words = [], 0
        group.append(one)
        words += len(one.text.split())
    if group:
        yield group


def _turn(group: Sequence[Utterance], joint: str) -> RecordedTurn:
    cues, place = [], 0
    for one in group:
        if one.start is not None:
            cues.append(CuePlace(place, one.start, one.end))
        place += len(one.text) + len(joint)
    starts = [one.start for one in group if one.start is not None]
    ends = [one.end for one in group if one.end is not None]
    return RecordedTurn(
        group[0].speaker,
        joint.join(one.text for one in group),
        min(starts, default=None),
        max(ends, default=None),
        tuple(cues) if len(group) > 1 else (),
    )
