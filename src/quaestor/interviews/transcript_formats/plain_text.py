"""Reads plain text, Markdown, and paragraphs of documents: lines that may begin with a time, a speaker or both."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace

from quaestor.interviews.transcript_formats.records import Utterance
from quaestor.interviews.transcript_formats.speaker_labels import (
    LONGEST,
    MARKED,
    SURE,
    Opening,
    Speakers,
    find_line_opening,
    find_line_openings,
    find_speakers,
    is_name_like,
    is_only_a_persons,
    is_ordinary,
    is_plausible,
    is_word_for_a_speaker,
)
from quaestor.interviews.transcript_formats.timestamps import (
    STAMP,
    TIME,
    parse_stamp,
    parse_stamp_end,
    parse_timing,
    strip_time_marks,
)

_TIMED = re.compile(
    rf"(?P<time>\[\s*+{TIME}(?:\s*+-->\s*+{TIME})?\s*+\]|\(\s*+{TIME}\s*+\))\s*+(?P<rest>.*)", re.DOTALL
)
_ALONE = re.compile(rf"(?:#{{1,6}}\s++)?{TIME}")
"""A time on a line of its own."""

_Shape = tuple[str, int]
_FROM_TO: _Shape = ("-->", 0)
_THROUGHOUT = 0.3
"""The least share of lines that begin with a time in a file that writes times before words."""
_TIMES_ABOVE = 0.2
"""The least share of lines that are only a time in a file that writes them above the words."""


@dataclass(frozen=True)
class TextLine:
    """A line of a file and its possible opening; a row of a table states the speaker."""

    text: str
    opening: Opening | None = None
    start: float | None = None


@dataclass
class _Paragraph:
    """An utterance while it is being read."""

    speaker: str
    start: float | None = None
    texts: list[str] = field(default_factory=list)
    end: float | None = None


def find_openings(lines: Sequence[str], named: tuple[str, ...] = ()) -> list[TextLine]:
    """Returns the lines that are not empty, each with its possible opening."""
    written = list(_read_lines(_unquoted(lines, named)))
    if not written:
        return []
    filled = [line.text for line, _ in written]
    openings = find_line_openings(filled, named)
    heads = find_heads(filled, openings, named)
    times = _lines_of_times(filled, openings, heads)
    under_times = _find_names_under_times(filled, list(times), named)
    turn_lines: list[TextLine] = []
    start: float | None = None
    for place, (line, gap) in enumerate(written):
        if place in times:
            start = times[place]
            continue
        start = line.start if start is None else start
        opening = Opening(line.text, "", start, SURE) if place in under_times else heads.get(place, openings[place])
        if opening is not None:
            begins = start if opening.start is None else opening.start
            opening = replace(opening, start=begins, apart=gap or start is not None)
        turn_lines.append(TextLine(line.text, opening, start))
        start = None
    return turn_lines


def _read_lines(lines: Sequence[str]) -> Iterator[tuple[TextLine, bool]]:
    """Yields nonempty lines without the times among their words, and whether an empty line precedes each."""
    gap, start = True, None
    for line in lines:
        read = strip_time_marks(line.strip())
        begins = start if read.start is None else read.start
        start = read.after if read.text or read.after is not None else begins
        if read.text:
            yield TextLine(read.text, start=begins), gap
        gap = not line.strip()


def _unquoted(lines: Sequence[str], named: tuple[str, ...]) -> Sequence[str]:
    """Removes quote marks if turns are quoted: `> **Name:** …`."""
    quoted = [line.lstrip() for line in lines if line.lstrip().startswith(">")]
    openings = (find_line_opening(line.lstrip("> \t"), named) for line in quoted)
    if not any(opening is not None and (named or opening.way == MARKED) for opening in openings):
        return lines
    return [line.lstrip().lstrip("> \t") if line.lstrip().startswith(">") else line for line in lines]


def _lines_of_times(lines: Sequence[str], openings: Sequence[Opening | None], heads: Heads) -> dict[int, float]:
    """Maps lines to their start times, if the file has times at its beginning or throughout and they never go back."""
    times_by_line = {place: times[0] for place, line in enumerate(lines) if (times := parse_timing(line)) is not None}
    if not times_by_line and not any(opening is not None and opening.way == SURE for opening in openings):
        times_by_line = {place: parse_stamp(line) or 0.0 for place, line in enumerate(lines) if _ALONE.fullmatch(line)}
        begun = {*heads, *(place for place, opening in enumerate(openings) if opening is not None)}
        if _are_times_between_turns(times_by_line, lines, begun):
            return times_by_line
    throughout = len(times_by_line) > 1 and (0 in times_by_line or len(times_by_line) >= _TIMES_ABOVE * len(lines))
    return times_by_line if throughout and list(times_by_line.values()) == sorted(times_by_line.values()) else {}


def _are_times_between_turns(times_by_line: dict[int, float], lines: Sequence[str], begun: Collection[int]) -> bool:
    """Whether times occasionally precede turns, as Google Meet writes them every few minutes."""
    whole = all(lines[place].count(":") == 2 and place + 1 in begun for place in times_by_line)
    times = list(times_by_line.values())
    return bool(times_by_line) and whole and times == sorted(set(times))


def _find_names_under_times(lines: Sequence[str], timed: Sequence[int], named: Collection[str] = ()) -> frozenset[int]:
    """Returns the indexes of lines with a speaker between time and words, as in older Teams files."""
    ends = [*timed[1:], len(lines)][: len(timed)]
    names = [lines[place + 1] for place, end in zip(timed, ends, strict=True) if end - place > 2]
    again = len(names) == len(timed) and len(set(names)) <= max(2, len(names) // 2)
    if not again or not all(name in named or (":" not in name and is_plausible(name)) for name in names):
        return frozenset()
    return frozenset(place + 1 for place in timed)


def read_utterances(lines: Sequence[TextLine], named: Collection[str] = ()) -> list[Utterance]:
    """Returns the utterances in lines; a speaker continues until another one is named."""
    speakers = find_speakers([line.opening for line in lines], named)
    return [
        Utterance(
            paragraph.speaker, "\n".join(text for text in paragraph.texts if text), paragraph.start, paragraph.end
        )
        for paragraph in _paragraphs(lines, speakers)
    ]


def _shapes_of_times(lines: Sequence[TextLine], speakers: Speakers) -> frozenset[_Shape]:
    """Returns how the file writes times before words: throughout and never going back; any other time is speech."""
    begun = [_TIMED.fullmatch(line.text) for line in lines]
    shapes = Counter(_shape(timed["time"]) for timed in begun if timed)
    often = [shape for shape, count in shapes.items() if count >= _THROUGHOUT * len(lines)]
    shapes_found: list[_Shape] = []
    for shape in often:
        times: list[float] = []
        for line, timed in zip(lines, begun, strict=True):
            opening = line.opening
            if speakers.open(opening):
                times += [] if opening.start is None else [opening.start]
            elif timed and _shape(timed["time"]) == shape:
                times.append(parse_stamp(timed["time"]) or 0.0)
        shapes_found += [shape] if (shapes[shape] > 1 or shape == _FROM_TO) and times == sorted(times) else []
    return frozenset(shapes_found)


def _shape(time: str) -> _Shape:
    """Returns how a time is written; a range keeps its shape when it passes an hour."""
    return _FROM_TO if "-->" in time else (time[0], time.count(":"))


def _shape_after_names(lines: Sequence[TextLine], speakers: Speakers) -> _Shape | None:
    """Returns how the file writes times between name and words: in most turns, each later than the one before."""
    heads = [line.opening for line in lines if speakers.open(line.opening)]
    begun = [timed for head in heads if head.start is None and (timed := _TIMED.fullmatch(head.rest))]
    shapes = Counter(_shape(timed["time"]) for timed in begun)
    shape, count = max(shapes.items(), key=lambda pair: pair[1], default=(None, 0))
    times = [parse_stamp(timed["time"]) or 0.0 for timed in begun if _shape(timed["time"]) == shape]
    return shape if count > 1 and 2 * count >= len(heads) and times == sorted(set(times)) else None


def _paragraphs(lines: Sequence[TextLine], speakers: Speakers) -> Iterator[_Paragraph]:
    at, shapes = _Paragraph(""), _shapes_of_times(lines, speakers)
    after = _shape_after_names(lines, speakers)
    for line in lines:
        opening, timed = line.opening, _TIMED.fullmatch(line.text)
        if speakers.open(opening):
            yield at
            inner = _TIMED.fullmatch(opening.rest) if opening.start is None else None
            at = _Paragraph(opening.label, opening.start, [opening.rest])
            if inner and _shape(inner["time"]) == after:
                at = _start_paragraph(opening.label, inner)
        elif timed and _shape(timed["time"]) in shapes:
            yield at
            at = _start_paragraph(at.speaker, timed)
        elif line.start is not None:
            yield at
            at = _Paragraph(at.speaker, line.start, [line.text])
        else:
            at.texts.append(line.text)
    yield at


def _start_paragraph(speaker: str, timed: re.Match[str]) -> _Paragraph:
    return _Paragraph(speaker, parse_stamp(timed["time"]), [timed["rest"]], parse_stamp_end(timed["time"]))


_UNDER_A_TIME = re.compile(rf"(?P<time>{STAMP})\s++(?:[-–—]\s++)?(?P<label>\S.*)")
_BOLD = re.compile(r"(?P<mark>\*\*|__)(?P<inner>[^*_\n]+)(?P=mark)")
_TABBED = re.compile(rf"(?:(?P<time>{STAMP})\s++)?(?P<label>[^\t]{{1,{LONGEST}}})\t\s*+(?P<rest>\S.*)", re.DOTALL)
_NEVER = frozenset(":：<>{}\t")
_LABELS_THROUGHOUT = 0.2
"""The least share of lines that name somebody in a file that writes names above the words."""
_BEFORE_TABS = 0.3

Heads = dict[int, Opening]
"""The openings of lines, by index."""


def find_heads(lines: Sequence[str], openings: Sequence[Opening | None], named: Collection[str] = ()) -> Heads:
    """Finds lines that name a speaker without a colon, by index; returns none if the file writes names with a colon."""
    readings = [_timed(lines, named), _find_bold_names(lines, named), _tabbed(lines, named)]
    sure = any(opening is not None and opening.way == SURE for opening in openings)
    spoken = Counter(opening.label for opening in openings if opening is not None)
    usual = sum(count for label, count in spoken.items() if named or count > 1 or is_word_for_a_speaker(label))
    best = max(readings, key=len)
    if sure or len(best) <= usual:
        return {}
    return {place: head for place, head in best.items() if openings[place] is None}


def _timed(lines: Sequence[str], named: Collection[str]) -> Heads:
    """Finds `00:00:05 Speaker 1` above the words, as in Word's own transcripts; times never go back."""
    heads: Heads = {}
    for place, line in enumerate(lines):
        timed = _UNDER_A_TIME.fullmatch(line)
        label = _called(timed["label"]) if timed else ""
        if timed and label:
            heads[place] = Opening(label, "", parse_stamp(timed["time"]), SURE)
    heads = _above_words(_keep_speakers(heads, named), len(lines), named)
    starts = [head.start or 0.0 for head in heads.values()]
    return heads if starts == sorted(starts) else {}


def _find_bold_names(lines: Sequence[str], named: Collection[str]) -> Heads:
    """Finds `**Name**` above the words; a bare name only for given speakers."""
    labels = {
        place: Opening(label, "", None, SURE)
        for place, line in enumerate(lines)
        if (label := _called(line)) and (label in named or _BOLD.fullmatch(line))
    }
    return _above_words(_keep_speakers(labels, named), len(lines), named)


def _tabbed(lines: Sequence[str], named: Collection[str]) -> Heads:
    """Finds `Name`, a tab and the words, if at least two names occur throughout, or speakers are given."""
    heads: Heads = {}
    for place, line in enumerate(lines):
        tabbed = _TABBED.fullmatch(line)
        label = _called(tabbed["label"].strip()) if tabbed else ""
        if tabbed and label:
            heads[place] = Opening(label, tabbed["rest"].strip(), parse_stamp(tabbed["time"]), MARKED)
    heads = _keep_speakers(heads, named)
    several = len({head.label for head in heads.values()}) > 1 and len(heads) >= _BEFORE_TABS * len(lines)
    return heads if named or several else {}


def _called(text: str) -> str:
    """Returns a text as a label without Markdown; empty if it cannot be one."""
    if len(text) > 2 * LONGEST:
        return ""
    bold = _BOLD.fullmatch(text)
    label = " ".join((bold["inner"] if bold else text).split())
    return label if len(label) <= LONGEST and _NEVER.isdisjoint(label) else ""


def _keep_speakers(heads: Heads, named: Collection[str]) -> Heads:
    """Keeps the lines that name a speaker: a given one, a usual word for one, or a name that occurs again.

    If these are most of all names, names that occur once are speakers too.
    """
    if named:
        return {place: head for place, head in heads.items() if head.label in named}
    counts = Counter(head.label for head in heads.values())
    names = {label for label in counts if is_plausible(label) and is_name_like(label) and not is_ordinary(label)}
    again = {label for label in names if is_word_for_a_speaker(label) or counts[label] > 1}
    most = 2 * sum(counts[label] for label in again) > sum(counts[label] for label in names)
    speakers = again | {label for label in names if most or (again and is_only_a_persons(label))}
    return {place: head for place, head in heads.items() if head.label in speakers}


def _above_words(heads: Heads, lines: int, named: Collection[str]) -> Heads:
    """Keeps lines with words below them, if they occur throughout; only the last one may have none."""
    if any(place + 1 in heads for place in heads):
        return {}
    throughout = len(heads) >= _LABELS_THROUGHOUT * lines and min(heads, default=lines) + 1 < lines
    return heads if named or throughout else {}
