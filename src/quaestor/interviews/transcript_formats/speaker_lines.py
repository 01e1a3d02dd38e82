"""Lines that name a speaker without a colon: above the words, or before a tab; only the whole file can tell."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence

from quaestor.interviews.transcript_formats.speaker_labels import (
    LONGEST,
    MARKED,
    SURE,
    Opening,
    is_name_like,
    is_only_a_persons,
    is_ordinary,
    is_plausible,
    is_word_for_a_speaker,
)
from quaestor.interviews.transcript_formats.timestamps import STAMP, stamp_seconds

_UNDER_A_TIME = re.compile(rf"(?P<time>{STAMP})\s++(?:[-–—]\s++)?(?P<label>\S.*)")
_BOLD = re.compile(r"(?P<mark>\*\*|__)(?P<inner>[^*_\n]+)(?P=mark)")
_TABBED = re.compile(rf"(?:(?P<time>{STAMP})\s++)?(?P<label>[^\t]{{1,{LONGEST}}})\t\s*+(?P<rest>\S.*)", re.DOTALL)
_NEVER = frozenset(":：<>{}\t")
_THROUGHOUT = 0.2
"""The share of lines that name somebody, where a file does so above the words."""
_BEFORE_TABS = 0.3

Heads = dict[int, Opening]
"""By place how lines begin."""


def heads_among(lines: Sequence[str], openings: Sequence[Opening | None], named: Collection[str] = ()) -> Heads:
    """By place the lines that name somebody in the way of the file; where it writes names with a colon, none."""
    found = [_timed(lines, named), _alone(lines, named), _tabbed(lines, named)]
    sure = any(one is not None and one.way == SURE for one in openings)
    spoken = Counter(one.label for one in openings if one is not None)
    usual = sum(count for label, count in spoken.items() if named or count > 1 or is_word_for_a_speaker(label))
    best = max(found, key=len)
    if sure or len(best) <= usual:
        return {}
    return {place: head for place, head in best.items() if openings[place] is None}


def _timed(lines: Sequence[str], named: Collection[str]) -> Heads:
    """`00:00:05 Speaker 1` above the words, as Word's own transcripts have it; times never go back."""
    found: Heads = {}
    for place, line in enumerate(lines):
        timed = _UNDER_A_TIME.fullmatch(line)
        label = _called(timed["label"]) if timed else ""
        if timed and label:
            found[place] = Opening(label, "", stamp_seconds(timed["time"]), SURE)
    found = _above_words(_of_speakers(found, named), len(lines), named)
    starts = [head.start or 0.0 for head in found.values()]
    return found if starts == sorted(starts) else {}


def _alone(lines: Sequence[str], named: Collection[str]) -> Heads:
    """`**Name**` above the words; the bare name only of those who are named."""
    found = {
        place: Opening(label, "", None, SURE)
        for place, line in enumerate(lines)
        if (label := _called(line)) and (label in named or _BOLD.fullmatch(line))
    }
    return _above_words(_of_speakers(found, named), len(lines), named)


def _tabbed(lines: Sequence[str], named: Collection[str]) -> Heads:
    """`Name`, a tab and the words, where two or more are called so throughout, or somebody is named."""
    found: Heads = {}
    for place, line in enumerate(lines):
        tabbed = _TABBED.fullmatch(line)
        label = _called(tabbed["label"].strip()) if tabbed else ""
        if tabbed and label:
            found[place] = Opening(label, tabbed["rest"].strip(), stamp_seconds(tabbed["time"]), MARKED)
    found = _of_speakers(found, named)
    several = len({head.label for head in found.values()}) > 1 and len(found) >= _BEFORE_TABS * len(lines)
    return found if named or several else {}


def _called(text: str) -> str:
    """The label that a text is, without the marks of Markdown around it; nothing where nobody is called so."""
    if len(text) > 2 * LONGEST:
        return ""
    bold = _BOLD.fullmatch(text)
    label = " ".join((bold["inner"] if bold else text).split())
    return label if len(label) <= LONGEST and _NEVER.isdisjoint(label) else ""


def _of_speakers(found: Heads, named: Collection[str]) -> Heads:
    """Those heads that name a speaker: who is named, else usual words for one and names that come again.

    Where these are most of all names, whoever is called so once is a speaker too.
    """
    if named:
        return {place: head for place, head in found.items() if head.label in named}
    counts = Counter(head.label for head in found.values())
    names = {label for label in counts if is_plausible(label) and is_name_like(label) and not is_ordinary(label)}
    again = {label for label in names if is_word_for_a_speaker(label) or counts[label] > 1}
    most = 2 * sum(counts[label] for label in again) > sum(counts[label] for label in names)
    speakers = again | {label for label in names if most or (again and is_only_a_persons(label))}
    return {place: head for place, head in found.items() if head.label in speakers}


def _above_words(found: Heads, lines: int, named: Collection[str]) -> Heads:
    """Heads with words below them, where they come throughout; below the last there may be none."""
    if any(place + 1 in found for place in found):
        return {}
    throughout = len(found) >= _THROUGHOUT * lines and min(found, default=lines) + 1 < lines
    return found if named or throughout else {}
