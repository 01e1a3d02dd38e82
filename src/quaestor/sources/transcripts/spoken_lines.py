"""Plain text, Markdown, and the paragraphs of a document: lines that may begin with a time, a speaker or both."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace

from quaestor.sources.transcripts.label_parts import is_plausible
from quaestor.sources.transcripts.labels import SURE, Opening, Speakers, openings_of, speakers_among
from quaestor.sources.transcripts.records import Utterance
from quaestor.sources.transcripts.times import TIME, stamp_seconds, timing

_TIMED = re.compile(rf"(?P<time>\[\s*{TIME}\s*\]|\(\s*{TIME}\s*\))\s*(?P<rest>.*)", re.DOTALL)

_THROUGHOUT = 0.3
"""The share of lines that begin with a time, where a file writes times before words."""
_TIMES_ABOVE = 0.2
"""The share of lines that are times alone, where a file writes them above the words and perhaps a name."""


@dataclass(frozen=True)
class Line:
    """A line of a file and how it may begin; a row of a table says outright who speaks."""

    text: str
    opening: Opening | None = None
    start: float | None = None


@dataclass
class _Paragraph:
    """Words under way to an utterance."""

    speaker: str
    start: float | None = None
    said: list[str] = field(default_factory=list)


def lines_with_openings(lines: Sequence[str], named: tuple[str, ...] = ()) -> list[Line]:
    """Lines that are not empty, each with how it may begin."""
    filled = [line.strip() for line in lines if line.strip()]
    gaps = [not before.strip() for before, line in zip(["", *lines], lines, strict=False) if line.strip()]
    times = _lines_of_times(filled)
    under_times = _named_under_times(filled, list(times), named)
    openings = openings_of(filled, named)
    found: list[Line] = []
    start: float | None = None
    for place, line in enumerate(filled):
        if place in times:
            start = times[place]
            continue
        opening = Opening(line, "", start, SURE) if place in under_times else openings[place]
        if opening is not None:
            begins = start if opening.start is None else opening.start
            opening = replace(opening, start=begins, apart=gaps[place] or start is not None)
        found.append(Line(line, opening, start))
        start = None
    return found


def _lines_of_times(lines: Sequence[str]) -> dict[int, float]:
    """By place when the words below begin: where a file begins so or does it throughout, and never goes back."""
    found = {place: times[0] for place, line in enumerate(lines) if (times := timing(line)) is not None}
    throughout = len(found) > 1 and (0 in found or len(found) >= _TIMES_ABOVE * len(lines))
    return found if throughout and list(found.values()) == sorted(found.values()) else {}


def _named_under_times(lines: Sequence[str], timed: Sequence[int], named: Collection[str] = ()) -> frozenset[int]:
    """Places of lines that name a speaker between the times and the words, as older files of Teams have them."""
    ends = [*timed[1:], len(lines)][: len(timed)]
    names = [lines[place + 1] for place, end in zip(timed, ends, strict=True) if end - place > 2]
    again = len(names) == len(timed) and len(set(names)) <= max(2, len(names) // 2)
    if not again or not all(name in named or (":" not in name and is_plausible(name)) for name in names):
        return frozenset()
    return frozenset(place + 1 for place in timed)


def from_lines(lines: Sequence[Line], named: Collection[str] = ()) -> list[Utterance]:
    """What is said in lines; whoever is named goes on until somebody else is."""
    speakers = speakers_among([line.opening for line in lines], named)
    return [
        Utterance(one.speaker, "\n".join(text for text in one.said if text), one.start)
        for one in _paragraphs(lines, speakers)
    ]


def _shapes_of_times(lines: Sequence[Line], speakers: Speakers) -> frozenset[tuple[str, int]]:
    """How the file writes times before words: throughout, and never back; any other is somebody's words."""
    begun = [_TIMED.fullmatch(line.text) for line in lines]
    shapes = Counter(_shape(timed["time"]) for timed in begun if timed)
    often = [shape for shape, count in shapes.items() if count > 1 and count >= _THROUGHOUT * len(lines)]
    found: list[tuple[str, int]] = []
    for shape in often:
        times: list[float] = []
        for line, timed in zip(lines, begun, strict=True):
            opening = line.opening
            if speakers.open(opening):
                times += [] if opening.start is None else [opening.start]
            elif timed and _shape(timed["time"]) == shape:
                times.append(stamp_seconds(timed["time"]) or 0.0)
        found += [shape] if times == sorted(times) else []
    return frozenset(found)


def _shape(time: str) -> tuple[str, int]:
    return time[0], time.count(":")


def _paragraphs(lines: Sequence[Line], speakers: Speakers) -> Iterator[_Paragraph]:
    at, shapes = _Paragraph(""), _shapes_of_times(lines, speakers)
    for line in lines:
        opening, timed = line.opening, _TIMED.fullmatch(line.text)
        if speakers.open(opening):
            yield at
            at = _Paragraph(opening.label, opening.start, [opening.rest])
        elif timed and _shape(timed["time"]) in shapes:
            yield at
            at = _Paragraph(at.speaker, stamp_seconds(timed["time"]), [timed["rest"]])
        elif line.start is not None:
            yield at
            at = _Paragraph(at.speaker, line.start, [line.text])
        else:
            at.said.append(line.text)
    yield at
