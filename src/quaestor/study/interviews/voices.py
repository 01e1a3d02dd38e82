"""Whose voice a speaker of a transcript is: proposed by what they say, corrected by a person."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from quaestor.instruments.interviews.matching import matched
from quaestor.instruments.interviews.records import Guide, Voice
from quaestor.sources.transcripts.label_parts import bare
from quaestor.sources.transcripts.records import RecordedTurn

_ASKING = re.compile(
    r"(?:interviewer(?:in)?|moderator(?:in)?|facilitator|researcher|host|i|q)[\s_#-]*\d{0,2}", re.IGNORECASE
)
_ANSWERING = re.compile(
    r"(?:interviewee|participant|respondent|guest|befragte[rn]?|teilnehmer(?:in)?|b|a|r|p)[\s_#-]*(?:\d{0,3}|[a-z])",
    re.IGNORECASE,
)
_WATCHING = re.compile(r"(?:observer|unknown speaker)[\s_#-]*\d{0,3}", re.IGNORECASE)
_HARDLY = 0.1
"""The share of the words of whoever says most, below which somebody is not who is interviewed."""
_ASKS_MOSTLY = 0.5
"""The share of turns with a question from which on somebody beside the interviewer is one too."""


@dataclass
class _Part:
    """What one speaker has of a conversation."""

    turns: int = 0
    words: int = 0
    questions: int = 0
    """Turns with a question mark."""
    guide: int = 0
    """Turns that ask a question of the guide."""

    @property
    def asking(self) -> float:
        return (2 * self.guide + self.questions) / max(self.turns, 1)


def proposed_voices(turns: Sequence[RecordedTurn], guide: Guide) -> dict[str, Voice]:
    """Whose voice each speaker is: by what the file calls them, else by who asks and who answers."""
    parts = _parts(turns, guide)
    found = {speaker: voice for speaker in parts if (voice := _called(speaker)) is not None}
    most = max(
        (part.words for speaker, part in parts.items() if found.get(speaker) is not Voice.INTERVIEWER), default=0
    )
    for speaker, voice in list(found.items()):
        if voice is Voice.PARTICIPANT and parts[speaker].words < _HARDLY * most:
            found[speaker] = Voice.OTHER  # a guest who looked in
    open_ones = {speaker: part for speaker, part in parts.items() if speaker not in found and speaker}
    if Voice.INTERVIEWER not in found.values() and (len(open_ones) > 1 or Voice.PARTICIPANT in found.values()):
        asker = max(open_ones, key=lambda one: (open_ones[one].asking, -open_ones[one].words), default="")
        if asker and open_ones[asker].asking > 0:
            found[asker] = Voice.INTERVIEWER
    left = [one for one in open_ones if one not in found]
    if left and Voice.PARTICIPANT not in found.values():
        found[max(left, key=lambda one: open_ones[one].words)] = Voice.PARTICIPANT
    for one in left:
        asks = open_ones[one].guide > 0 and open_ones[one].asking >= _ASKS_MOSTLY
        found.setdefault(one, Voice.INTERVIEWER if asks else Voice.OTHER)
    if "" in parts:  # a file that names nobody is the participant's, until somebody says otherwise turn by turn
        found[""] = Voice.PARTICIPANT if len(parts) == 1 else Voice.OTHER
    return found


def _called(speaker: str) -> Voice | None:
    speaker = bare(speaker)
    if _ASKING.fullmatch(speaker):
        return Voice.INTERVIEWER
    if _WATCHING.fullmatch(speaker):
        return Voice.OTHER
    return Voice.PARTICIPANT if _ANSWERING.fullmatch(speaker) else None


def _parts(turns: Sequence[RecordedTurn], guide: Guide) -> dict[str, _Part]:
    asked = {one.turn for one in matched([(number, turn.text) for number, turn in enumerate(turns)], guide)}
    parts: dict[str, _Part] = {}
    for number, turn in enumerate(turns):
        part = parts.setdefault(turn.speaker, _Part())
        part.turns += 1
        part.words += len(turn.text.split())
        part.questions += "?" in turn.text or "？" in turn.text or "؟" in turn.text
        part.guide += number in asked
    return parts
