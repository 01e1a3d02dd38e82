"""A transcript as everybody works with it: recorded words, whose voice, which question, nobody's name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from quaestor.instruments.interviews.records import Guide, Replacement, SpokenTurn, Voice
from quaestor.store.sealed_file import Entry


def spoken_turns(pieces: Sequence[Mapping[str, Any]], entries: Sequence[Entry], guide: Guide) -> tuple[SpokenTurn, ...]:
    """The turns of a transcript after all that was said about them: the last word on each counts.

    Entries of a transcript: `transcript` (it came in: format, sha256, turns), `speaker` (whose voice a speaker is),
    `voice` (a single turn, corrected by hand), `match` (turns in which a question of the guide is asked, by turn),
    `replace` (names that a person confirmed or refused, by place). A new `transcript` begins anew.
    """
    begins = max((place for place, one in enumerate(entries) if one.kind == "transcript"), default=0)
    voices: dict[str, str] = {}
    corrected: dict[int, str] = {}
    asked: dict[int, str] = {}
    replaced: dict[tuple[int, int, int], Replacement | None] = {}
    for one in entries[begins:]:
        said = one.said
        if one.kind == "speaker":
            voices[said["speaker"]] = said["voice"]
        elif one.kind == "voice":
            corrected[said["turn"]] = said["voice"]
        elif one.kind == "match":
            asked.update({int(turn): question for turn, question in said["questions"].items()})
        elif one.kind == "replace":
            for place in said["places"]:
                at = (place["turn"], place["start"], place["end"])
                keep = place["confirmed"]
                replaced[at] = Replacement(*at, place["shown"], place["name"]) if keep else None
    known = {question.id for question in guide.questions()}
    by_turn: dict[int, list[Replacement]] = {}
    for found in replaced.values():
        if found is not None:
            by_turn.setdefault(found.turn, []).append(found)
    turns, question = [], ""
    for number, piece in enumerate(pieces):
        asks = asked.get(number, "") in known
        question = asked[number] if asks else question
        voice = corrected.get(number) or voices.get(piece["speaker"]) or Voice.OTHER
        spans = _apart(by_turn.get(number, ()))
        times = piece.get("start"), piece.get("end"), tuple((at, low, high) for at, low, high in piece.get("cues", ()))
        turns.append(SpokenTurn(number, Voice(voice), piece["text"], spans, question, asks, *times))
    return tuple(turns)


def _apart(found: Iterable[Replacement]) -> tuple[Replacement, ...]:
    """In the order of their places; of those that overlap the first, and of two that begin together the longer."""
    kept: list[Replacement] = []
    for one in sorted(found, key=lambda each: (each.start, -each.end)):
        if not kept or one.start >= kept[-1].end:
            kept.append(one)
    return tuple(kept)
