"""Who speaks, where a file says it in front of the words: `Name: …`, `[00:01:02] Name: …`, `**Name:** …`, `Name  0:03`.

A word before a colon is not always a speaker: people say "Note: this matters". A label counts where it is a usual word
for a speaker, where it comes again, or where nearly every line of the file begins with one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeGuard

from quaestor.sources.transcripts.label_parts import (
    is_name_like,
    is_only_a_persons,
    is_ordinary,
    is_plausible,
    is_word_for_a_speaker,
)
from quaestor.sources.transcripts.times import STAMP, stamp_seconds

PLAIN, MARKED, SURE = "plain", "marked", "sure"
"""Marked: with a time or in bold, as nobody speaks. Sure: set apart as only a program does."""
LONGEST = 60
_LABEL = (
    rf"(?:[^\s:：\[\]{{}}<>*][^:：\[\]{{}}<>*\n\t]{{0,{LONGEST - 1}}}?(?<!\s)(?:\s*+\[[^\[\]:：\n]{{1,{LONGEST}}}\])?"
    r"|\+?\d[\d\s().*•-]{4,24}?(?<!\s))"
)
"""It ends with no space, so that a long gap after it is walked through once and not from each of its places."""
_BOXED = rf"[^\[\]:]{{1,{LONGEST}}}"
_WIDE = re.compile(r"\s{2}|\t|\|")
_ALL_BOLD = re.compile(r"(?P<mark>\*\*|__)(?P<inner>[^*_\n]+)(?P=mark)")
_BOLD = re.compile(r"(?P<mark>\*\*|__|\*|_)(?P<inner>[^*_\n]{1,120}?)(?P=mark)(?P<rest>.*)", re.DOTALL)
_LED = re.compile(rf"(?P<lead>{STAMP}\s*+(?:[-–—]\s*+)?)(?P<marked>[*_].*)", re.DOTALL)
"""A time before what is in bold."""
_LISTED = re.compile(r"(?:[-*•‣▪◦·–—]|\d{1,3}[.)])\s+(?=\S)")
"""The mark of an item of a list."""
_EVERYWHERE, _OFTEN = 0.85, 0.4
_ONCE_MORE, _AGAIN_AND_AGAIN = 2, 3


@dataclass(frozen=True)
class Opening:
    """How a line may begin: somebody's name, and what comes after it."""

    label: str
    rest: str
    start: float | None = None
    way: str = PLAIN
    apart: bool = False
    """Whether it comes after an empty line, below a time, or first in a cue."""


@dataclass(frozen=True)
class _Ways:
    """How a line names somebody: `Name: …` before the words, or `Name  0:03` above them."""

    spoken: re.Pattern[str]
    heading: re.Pattern[str]


@lru_cache(maxsize=32)
def _ways(named: tuple[str, ...] = ()) -> _Ways:
    """For those who are named, in these very letters; else for any label.

    Spaces are never given back (`*+`): two runs of them beside each other would be parted in every way, for hours.
    """
    literal = "|".join(r"\s++".join(map(re.escape, one.split())) for one in sorted(named, key=len, reverse=True))
    label, boxed = literal or _LABEL, literal or _BOXED
    return _Ways(
        re.compile(
            rf"(?:(?P<before>{STAMP})\s*+(?:[-–—]\s*+)?)?(?:(?P<label>{label})|\[(?P<boxed>{boxed})\])\s*+"
            rf"(?P<after>{STAMP})?\s*+(?::(?:\s|$)|：)(?P<rest>.*)",
            re.DOTALL,
        ),
        re.compile(rf"(?P<label>{label})(?P<gap>\s++|\s*+[|,]\s*+)(?P<after>{STAMP})\s*+"),
    )


def openings_of(lines: Sequence[str], named: tuple[str, ...] = ()) -> list[Opening | None]:
    """How each line may begin; behind the mark of a list stands what somebody lists, unless all turns are listed."""
    found = [_behind_mark(line.strip(), named) for line in lines]
    begun = [(opening.label, is_item) for opening, is_item in found if opening is not None]
    counts = Counter(label for label, _ in begun)
    usual = {label for label in counts if is_word_for_a_speaker(label)}
    telling = [is_item for label, is_item in begun if counts[label] >= _ONCE_MORE or label in usual]
    often = bool(named or usual) or 2 * sum(is_item for _, is_item in begun) >= len(lines)
    all_listed = often and all(telling or (is_item for _, is_item in begun))
    return [opening if all_listed or not is_item else None for opening, is_item in found]


def _behind_mark(line: str, named: tuple[str, ...]) -> tuple[Opening | None, bool]:
    """How a line begins and whether a mark of a list stands before it, which may be a part of who is named."""
    mark = _LISTED.match(line)
    opening = opening_of(line, named) if named or mark is None else None
    return (opening, False) if opening or mark is None else (opening_of(line[mark.end() :], named), True)


def opening_of(line: str, named: tuple[str, ...] = ()) -> Opening | None:
    """Whom a line may name before its words; whether it does, the whole file says, or whoever named the speakers."""
    ways = _ways(named)
    text, way = _unmarked(line.strip(), ways)
    found = ways.heading.fullmatch(text) or ways.spoken.fullmatch(text)
    if found is None:
        return None
    parts = found.groupdict()
    stamp = parts.get("before") or parts["after"]
    label = " ".join((parts["label"] or parts["boxed"]).split())
    if not named:
        label = label.rstrip(",|").rstrip()
        if not is_plausible(label):
            return None
    sure = parts.get("gap") is not None and _WIDE.search(parts["gap"]) is not None
    way = SURE if sure else MARKED if stamp else way
    return Opening(label, (parts.get("rest") or "").strip(), stamp_seconds(stamp), way)


def _unmarked(text: str, ways: _Ways) -> tuple[str, str]:
    """A line without the marks of Markdown around the name it may begin with, and whether there were any."""
    led = _LED.fullmatch(text)
    if led:
        inner, way = _unmarked(led["marked"], ways)
        return led["lead"] + inner, way
    whole = _ALL_BOLD.fullmatch(text)
    if whole:
        return whole["inner"].strip(), PLAIN
    bold = _BOLD.fullmatch(text)
    if bold is None:
        return text, PLAIN
    inner, rest = bold["inner"].strip(), bold["rest"].lstrip()
    if inner.endswith((":", "：")) or rest.startswith((":", "：")):
        after = rest if inner.endswith((":", "：")) else rest[1:]
        return f"{inner.rstrip(':：').rstrip()}: {after.lstrip()}", MARKED
    return (inner + bold["rest"], MARKED) if ways.heading.fullmatch(inner + bold["rest"]) else (text, PLAIN)


@dataclass(frozen=True)
class Speakers:
    """Those who speak in a file, and whether it names them in lines of their own only."""

    labels: frozenset[str]
    set_apart: bool = False

    def open(self, opening: Opening | None) -> TypeGuard[Opening]:
        """Whether a line begins with one of them."""
        return opening is not None and opening.label in self.labels and (opening.way == SURE or not self.set_apart)


def speakers_among(openings: Sequence[Opening | None], named: Collection[str] = ()) -> Speakers:
    """Who speaks, judged by how all places begin at which a turn may begin; those named, where some are."""
    if named:
        return Speakers(frozenset(named))
    found = [one for one in openings if one is not None]
    sure, marked, plain = (Counter(one.label for one in found if one.way == way) for way in (SURE, MARKED, PLAIN))
    by_mark = _accepted(marked, len(openings), 1)
    accepted = _accepted(plain, len(openings), _ONCE_MORE)
    by_colon = accepted - _compared([one for one in found if one.way == PLAIN], accepted)
    times_marked, times_plain = sum(marked[one] for one in by_mark), sum(plain[one] for one in by_colon)
    # A file has its way of naming speakers: what stands only here and there in another way is somebody's words.
    if sure and sure.total() >= times_marked + times_plain:
        return Speakers(frozenset(sure), set_apart=True)
    if 2 * times_plain < times_marked:
        return Speakers(by_mark)
    if 2 * times_marked < times_plain:
        return Speakers(by_colon)
    return Speakers(by_mark | by_colon)


def _accepted(counts: Counter[str], places: int, enough: int) -> frozenset[str]:
    """Those that are speakers: usual words for one, names that come often enough, or all where all lines have one."""
    usual = {label: count for label, count in counts.items() if not is_ordinary(label)}
    share = sum(usual.values()) / max(places, 1)
    found = {
        label
        for label, count in usual.items()
        if is_word_for_a_speaker(label)
        or share >= _EVERYWHERE
        or (is_name_like(label) and (count >= enough or share >= _OFTEN))
    }
    # "Question: … Answer: …" from beginning to end is a conversation; a question here and there is none.
    found |= {
        label
        for label, count in counts.items()
        if label not in usual and count >= _AGAIN_AND_AGAIN and count / places >= _OFTEN / 2
    }
    return frozenset(found)


def _compared(openings: Sequence[Opening], accepted: Collection[str]) -> frozenset[str]:
    """Labels that are rather what somebody lists, where two speakers already open most turns."""
    usual = [one for one in openings if is_word_for_a_speaker(one.label)]
    if len({one.label for one in usual}) < _ONCE_MORE or 2 * len(usual) <= len(openings):
        return _amid_turns(openings, accepted)
    others = [one for one in openings if not is_word_for_a_speaker(one.label)]
    counts = Counter(one.label for one in others)
    apart = {one.label for one in others if one.apart}
    often = max(_AGAIN_AND_AGAIN, len(usual) / 4)
    if 2 * sum(one.apart for one in usual) > len(usual):
        return frozenset(counts.keys() - apart)
    return frozenset(label for label, count in counts.items() if count < often)


def _amid_turns(openings: Sequence[Opening], accepted: Collection[str]) -> frozenset[str]:
    """Labels that stand amid one turn only of the two who open most, and that not only people may be called.

    Where turns stand apart from each other, a label that does so too begins one.
    """
    counts = Counter(one.label for one in openings if one.label in accepted)
    again = [label for label, count in counts.items() if count >= _ONCE_MORE]
    pair = sorted(again, key=lambda label: (is_word_for_a_speaker(label), counts[label]), reverse=True)[:2]
    theirs = [one for one in openings if one.label in pair]
    if len(pair) < 2 or 2 * len(theirs) <= len(openings):
        return frozenset()
    turns: dict[str, set[int]] = {}
    turn = 0
    for one in openings:
        turn += one.label in pair
        turns.setdefault(one.label, set()).add(turn)
    amid = {label for label, places in turns.items() if label not in pair and len(places) == 1 and 0 not in places}
    if 2 * sum(one.apart for one in theirs) > len(theirs):
        amid -= {one.label for one in openings if one.apart}
    return frozenset(label for label in amid if not is_only_a_persons(label))
