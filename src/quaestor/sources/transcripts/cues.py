"""WebVTT and SubRip: words with the times between which they are shown."""

from __future__ import annotations

import html
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from quaestor.sources.transcripts.labels import opening_of, speakers_among
from quaestor.sources.transcripts.records import Utterance
from quaestor.sources.transcripts.times import timing

_BESIDE = re.compile(r"(?:NOTE|STYLE|REGION)(?:[ \t].*)?")
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z]\w{1,31});")
_VOICE = re.compile(r"<v(?:\.[^\s<>]*)?(?:\s+(?P<name>[^<>]*))?>|(?P<end></v>)")
_MOMENT = re.compile(r"<(?:\d+:)?\d{1,2}:\d{2}\.\d{3}>")
_STYLED = ("c", "i", "b", "u", "ruby", "rt", "lang", "font")
_PLACED = re.compile(r"\{\\[^{}\n]*\}")


@dataclass
class _Cue:
    """A cue while it is read."""

    start: float
    end: float
    lines: list[str] = field(default_factory=list)


def from_webvtt(lines: Sequence[str], named: Collection[str] = ()) -> tuple[list[Utterance], list[str]]:
    """What is said in a WebVTT file, and what it says beside.

    Teams marks voices with `<v Name>`; others, Zoom among them, write `Name: …` into the text.
    """
    cues, beside = _webvtt_cues(lines)
    texts = [_without_styles("\n".join(cue.lines)) for cue in cues]
    if any(_VOICE.search(text) for text in texts):
        return [one for cue, text in zip(cues, texts, strict=True) for one in _voiced(cue, text)], beside
    for cue, text in zip(cues, texts, strict=True):
        cue.lines = _resolved(text).split("\n")
    return _labelled(cues, named), beside


def from_subrip(lines: Sequence[str], named: Collection[str] = ()) -> tuple[list[Utterance], list[str]]:
    """What is said in a SubRip file; there is nothing beside."""
    cues: list[_Cue] = []
    for line in lines:
        times = timing(line)
        if times is not None:
            if cues:
                _drop_number(cues[-1].lines)
            cues.append(_Cue(*times))
        elif cues:
            cues[-1].lines.append(line)
    for cue in cues:
        cue.lines = _without_styles(_PLACED.sub("", "\n".join(cue.lines))).split("\n")
    return _labelled(cues, named), []


def _drop_number(lines: list[str]) -> None:
    """The number of the next cue is none of the words of this one: it stands alone after an empty line."""
    if lines and lines[-1].strip().isdecimal() and (len(lines) == 1 or not lines[-2].strip()):
        lines.pop()


def _webvtt_cues(lines: Sequence[str]) -> tuple[list[_Cue], list[str]]:
    cues: list[_Cue] = []
    beside: list[str] = []
    for number, block in enumerate(_blocks(lines)):
        place = next((place for place, line in enumerate(block) if timing(line) is not None), None)
        if number == 0 or (place is None and _BESIDE.fullmatch(block[0])):
            beside.append("\n".join(block[:place]))
            cues += [] if place is None else _cues_in(block[place:])
        elif place is not None:
            if place > 1 and cues:  # more than an identifier: words of the cue before
                cues[-1].lines += block[: place - 1]
            cues += _cues_in(block[place:])
        elif cues:  # an empty line amid a cue; a strict reader would lose what comes after it
            cues[-1].lines += block
        else:
            beside.append("\n".join(block))
    return cues, beside


def _cues_in(block: Sequence[str]) -> list[_Cue]:
    """The cues of a block; mostly one, unless the empty lines between them are missing."""
    cues: list[_Cue] = []
    for line in block:
        times = timing(line)
        if times is not None:
            if cues and len(cues[-1].lines) > 1 and cues[-1].lines[-1].strip().isdecimal():
                cues[-1].lines.pop()
            cues.append(_Cue(*times))
        else:
            cues[-1].lines.append(line)
    return cues


def _blocks(lines: Sequence[str]) -> Iterator[list[str]]:
    block: list[str] = []
    for line in lines:
        if line.strip():
            block.append(line)
        elif block:
            yield block
            block = []
    if block:
        yield block


def _without_styles(text: str) -> str:
    """Without tags that say how words look; what only resembles a tag, as in `List<b>`, is somebody's words."""
    if "<" not in text:
        return text
    text = _MOMENT.sub("", text)
    for name in _STYLED:
        if f"</{name}>" in text:
            text = re.sub(rf"</{name}>|<{name}(?:\.[^\s<>]*)?(?:\s[^<>]*)?>", "", text)
    return text


def _resolved(text: str) -> str:
    return _ENTITY.sub(lambda found: html.unescape(found[0]), text)


def _voiced(cue: _Cue, text: str) -> Iterator[Utterance]:
    """The words of each voice; a voice lasts to its end, to the next one, or to the end of the cue."""
    speaker, place = "", 0
    for found in _VOICE.finditer(text):
        yield _utterance(cue, speaker, _resolved(text[place : found.start()]))
        speaker = "" if found["end"] else " ".join(_resolved(found["name"] or "").split())
        place = found.end()
    yield _utterance(cue, speaker, _resolved(text[place:]))


def _utterance(cue: _Cue, speaker: str, text: str) -> Utterance:
    lines = (line.strip() for line in text.split("\n"))
    return Utterance(speaker, " ".join(line for line in lines if line), cue.start, cue.end)


def _labelled(cues: Sequence[_Cue], named: Collection[str]) -> list[Utterance]:
    """Utterances of cues that may name their speakers; whoever is named goes on until somebody else is."""
    read = [[(line, opening_of(line)) for line in cue.lines if line.strip()] for cue in cues]
    speakers = speakers_among([lines[0][1] for lines in read if lines], named)
    found: list[Utterance] = []
    speaker = ""
    for cue, lines in zip(cues, read, strict=True):
        said: list[str] = []
        for line, opening in lines:
            if speakers.open(opening):
                found.append(_utterance(cue, speaker, "\n".join(said)))
                speaker, said = opening.label, [opening.rest]
            else:
                said.append(line)
        found.append(_utterance(cue, speaker, "\n".join(said)))
    return found
