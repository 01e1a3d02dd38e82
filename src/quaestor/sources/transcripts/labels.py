"""Who speaks, where a file says it in front of the words: `Name: …`, `[00:01:02] Name: …`, `**Name:** …`, `Name  0:03`.

A word before a colon is not always a speaker: people say "Note: this matters". A label counts where it is a usual word
for a speaker, where it comes again, or where nearly every line of the file begins with one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TypeGuard

from quaestor.sources.transcripts.times import STAMP, stamp_seconds

PLAIN, MARKED, SURE = "plain", "marked", "sure"
"""Marked: with a time or in bold, as nobody speaks. Sure: set apart as only a program does."""
LONGEST = 60
_LABEL = rf"[^\s:：\[\]{{}}<>*][^:：\[\]{{}}<>*\n]{{0,{LONGEST - 1}}}?"
_SPOKEN = re.compile(
    rf"(?:(?P<before>{STAMP})\s*(?:[-–—]\s*)?)?(?P<label>{_LABEL}|\[[^\[\]:]{{1,{LONGEST}}}\])\s*(?P<after>{STAMP})?\s*"
    r"(?::(?:\s|$)|：)(?P<rest>.*)",
    re.DOTALL,
)
_HEADING = re.compile(rf"(?P<label>{_LABEL})(?P<gap>\s+|\s*[|,]\s*)(?P<after>{STAMP})\s*")
_WIDE = re.compile(r"\s{2}|\t|\|")
_ALL_BOLD = re.compile(r"(?P<mark>\*\*|__)(?P<inner>[^*_\n]+)(?P=mark)")
_BOLD = re.compile(r"(?P<mark>\*\*|__|\*|_)(?P<inner>[^*_\n]{1,120}?)(?P=mark)(?P<rest>.*)", re.DOTALL)
_NEVER = re.compile(r'[?!;"“”„«»=/\\]|\w{4,}\.\s')
_WORD_FOR_A_SPEAKER = re.compile(
    r"(?:interviewer(?:in)?|interviewee|participant|respondent|moderator(?:in)?|facilitator|researcher|host|guest|person"
    r"|(?:unknown )?speaker|voice|observer|sprecher(?:in)?|befragte[rn]?|teilnehmer(?:in)?)[\s_#-]*(?:\d{1,3}|[a-z])?",
    re.IGNORECASE,
)
_SHORT = re.compile(r"[a-z]{1,3}[\s_-]?\d{1,3}|[a-z]", re.IGNORECASE)
_ORDINARY = frozenset(
    re.findall(
        r"\w+",
        """note notes nb example examples question questions answer important warning caution attention tip hint summary
    conclusion todo first second third firstly secondly thirdly finally last next problem problems reason reasons result
    results issue issues update edit fyi ps btw quote fact facts point points step option options so and but or because
    well yes no yeah ok okay like then now also again actually basically however right sure maybe plus meaning namely
    time date title subject topic duration location source file audio language transcript recording re to from cc
    achtung hinweis beispiel wichtig frage antwort also und aber weil ja nein erstens zweitens fazit""",
    )
)
_PARTICLES = frozenset(re.findall(r"\w+", "von van de der den del di da la le bin ibn al el und and y e of"))
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


def opening_of(line: str) -> Opening | None:
    """Whom a line may name before its words; whether it does, the whole file says."""
    text, way = _unmarked(line.strip())
    found = _HEADING.fullmatch(text) or _SPOKEN.fullmatch(text)
    if found is None:
        return None
    named = found.groupdict()
    stamp = named.get("before") or named["after"]
    label = " ".join(named["label"].strip("[]").split()).rstrip(",|").rstrip()
    if not is_plausible(label):
        return None
    sure = named.get("gap") is not None and _WIDE.search(named["gap"]) is not None
    way = SURE if sure else MARKED if stamp else way
    return Opening(label, (named.get("rest") or "").strip(), stamp_seconds(stamp), way)


def _unmarked(text: str) -> tuple[str, str]:
    """A line without the marks of Markdown around the name it may begin with, and whether there were any."""
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
    return (inner + bold["rest"], MARKED) if _HEADING.fullmatch(inner + bold["rest"]) else (text, PLAIN)


def is_plausible(label: str) -> bool:
    """Whether somebody could be called so."""
    words = label.split()
    return 0 < len(words) <= 6 and any(letter.isalpha() for letter in label) and not _NEVER.search(label)


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
    by_colon = _accepted(plain, len(openings), _ONCE_MORE) - _compared([one for one in found if one.way == PLAIN])
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
    usual = {label: count for label, count in counts.items() if not _is_ordinary(label)}
    share = sum(usual.values()) / max(places, 1)
    found = {
        label
        for label, count in usual.items()
        if _WORD_FOR_A_SPEAKER.fullmatch(label)
        or share >= _EVERYWHERE
        or (_is_name_like(label) and (count >= enough or share >= _OFTEN))
    }
    # "Question: … Answer: …" from beginning to end is a conversation; a question here and there is none.
    found |= {
        label
        for label, count in counts.items()
        if label not in usual and count >= _AGAIN_AND_AGAIN and count / places >= _OFTEN / 2
    }
    return frozenset(found)


def _compared(openings: Sequence[Opening]) -> frozenset[str]:
    """Labels that are rather what somebody lists, where usual words for two speakers already open most turns."""
    usual = [one for one in openings if _WORD_FOR_A_SPEAKER.fullmatch(one.label)]
    if len({one.label for one in usual}) < _ONCE_MORE or 2 * len(usual) <= len(openings):
        return frozenset()
    others = [one for one in openings if not _WORD_FOR_A_SPEAKER.fullmatch(one.label)]
    counts = Counter(one.label for one in others)
    apart = {one.label for one in others if one.apart}
    often = max(_AGAIN_AND_AGAIN, len(usual) / 4)
    if 2 * sum(one.apart for one in usual) > len(usual):
        return frozenset(counts.keys() - apart)
    return frozenset(label for label, count in counts.items() if count < often)


def is_generic(label: str) -> bool:
    """Whether a label is a word for a speaker and nobody's name: Interviewer, Speaker 2, P1."""
    return bool(_WORD_FOR_A_SPEAKER.fullmatch(label) or _SHORT.fullmatch(label))


def _is_ordinary(label: str) -> bool:
    words = label.lower().split()
    return len(words) <= 2 and all(word in _ORDINARY or word.isdecimal() for word in words)


def _is_name_like(label: str) -> bool:
    words = [word.strip("().,|") for word in label.split()]
    return all(
        not word[:1].islower() or word in _PARTICLES or any(not letter.isalpha() for letter in word) for word in words
    )
