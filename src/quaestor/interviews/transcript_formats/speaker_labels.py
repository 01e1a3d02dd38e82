"""Finds speakers whom a file names before their words: `Name: …`, `[00:01:02] Name: …`, `**Name:** …`, `Name  0:03`.

A word before a colon is not always a speaker: people say "Note: this matters". A label counts if it is a usual word
for a speaker, if it occurs again, or if nearly every line of the file begins with one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeGuard

from quaestor.interviews.transcript_formats.timestamps import STAMP, parse_stamp

_PRONOUN = "(?:she|he|they|it|xe|ze|any|her|him|them|hers|his|theirs|sie|er|ihr|ihm|ella|elle|él|il|lui)"
_ASIDE = re.compile(
    rf"[\s,|–—-]*(?:\((?P<round>[^()]*)\)|\[(?P<square>[^\[\]]*)\]|(?<=[\s,|]){_PRONOUN}(?:\s*/\s*{_PRONOUN}){{1,2}})\s*$",
    re.IGNORECASE,
)
_SPOKEN_OF = re.compile(rf"(?:{_PRONOUN}/?)+")
_STANDING = frozenset(
    re.findall(
        r"\S+",
        """ext external extern internal intern guest gast host co-host cohost me you ich organizer organiser presenter
    unverified anonymous unknown interviewer participant speaker moderator audio phone""",
    )
)
"""What programs add to a name about the person's part in the call."""
_WORD_FOR_A_SPEAKER = re.compile(
    r"(?:interviewer(?:in)?|interviewee|participant|respondent|moderator(?:in)?|facilitator|researcher|host|guest|person"
    r"|(?:unknown )?speaker|voice|observer|sprecher(?:in)?|befragte[rn]?|teilnehmer(?:in)?)[\s_#-]*(?:\d{1,3}|[a-z])?",
    re.IGNORECASE,
)
_NOBODYS = re.compile(
    r"(?:[a-z]|sp|spk|pp|pt|iv|int|ip|tn|tp|vp|res|par|mod|usr|user|call(?:er|-in user)|subject|proband(?:in)?"
    r"|expert(?:in)?|developer|dev|engineer|tester|manager|student|employee|client|customer)[\s_#-]*\d{0,4}",
    re.IGNORECASE,
)
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
_TITLE = r"(?:prof|dipl|univ|assoc|asst|inform|priv|capt|herr|frau|mgr|magr)"
_NEVER = re.compile(rf'[?!;"“”„«»=\\]|/(?=[a-z/.])|\b(?!(?i:{_TITLE})\.)\w{{4,}}\.\s')
_NUMBER = re.compile(r"\+?\d[\d\s().*•-]{4,24}")
_MASKED = frozenset("+*•")
_APART = re.compile(r"\s+[-–—|/]\s+|\s*\|\s*")
_COUNTED = re.compile(r"(?<=[^\W\d_])[\s_#-]*\d+$")
_MOST_WORDS, _TELLING, _LONGEST = 6, 3, 200


def strip_label(label: str) -> str:
    """Returns a label without pronouns and without the brackets after it."""
    return _split_label(label)[0]


def is_plausible(label: str) -> bool:
    """Whether it may be a person's label."""
    core = strip_label(label)
    if is_number(core) or len(core) > _LONGEST:
        return len(core) <= _LONGEST
    words = [word for word in core.split() if any(letter.isalnum() for letter in word)]
    return 0 < len(words) <= _MOST_WORDS and any(letter.isalpha() for letter in core) and not _NEVER.search(core)


def is_number(label: str) -> bool:
    """Whether it is the telephone number of somebody who called in."""
    return _NUMBER.fullmatch(label) is not None and not _MASKED.isdisjoint(label)


def is_word_for_a_speaker(label: str) -> bool:
    """Whether a label names a role of a speaker: Interviewer, Guest A, Speaker 2."""
    return _WORD_FOR_A_SPEAKER.fullmatch(strip_label(label)) is not None


def is_ordinary(label: str) -> bool:
    """Whether it is a word that people say before a colon without naming anybody: Note, Second question."""
    words = strip_label(label).lower().split()
    return 0 < len(words) <= 2 and all(word in _ORDINARY or word.isdecimal() for word in words)


def is_name_like(label: str) -> bool:
    """Whether it is capitalised as names are."""
    words = [word.strip("().,|") for word in strip_label(label).split()]
    return all(
        not word[:1].islower() or word in _PARTICLES or any(not letter.isalpha() for letter in word) for word in words
    )


def is_only_a_persons(label: str) -> bool:
    """Whether it is hardly a product or topic: a word for a speaker, P2, a number, two names, pronouns."""
    core, asides = _split_label(label)
    words = [word for word in re.findall(r"[^\W\d_]+", core) if word not in _PARTICLES]
    coded = _NOBODYS.fullmatch(core) is not None and any(letter.isdecimal() for letter in core)
    called = is_word_for_a_speaker(core) or is_number(core) or coded
    return called or (len(words) > 1 and is_name_like(core)) or any(_is_role_note(aside) for aside in asides)


def is_generic(label: str) -> bool:
    """Whether a label is a word for a speaker and not a name or number: Interviewer, Speaker 2, P1."""
    core, asides = _split_label(label)
    return _is_nobodys(core) and all(_is_role_note(aside) for aside in asides)


def list_names_in_label(label: str) -> tuple[str, ...]:
    """Returns the names in a label: that of the speaker, and that of an organisation after a dash.

    Brackets are not part of a name, unless a word for a speaker precedes them: `Guest (Obviax Trin)`.
    """
    core, asides = _split_label(label)
    if is_number(core):
        return ()
    if _is_nobodys(core):
        core = " | ".join(
            aside for aside in asides if not _is_role_note(aside) and aside[:1].isupper() and is_name_like(aside)
        )
    first, *others = (_COUNTED.sub("", part) for part in _APART.split(core))
    telling = [other for other in others if any(len(word) >= _TELLING for word in re.findall(r"[^\W\d_]+", other))]
    return tuple(dict.fromkeys(label for label in (first, *telling) if label and not _is_nobodys(label)))


def _split_label(label: str) -> tuple[str, list[str]]:
    """Splits a label into its core and the additions after it, last one first."""
    core, asides = " ".join(label.split()), list[str]()
    while len(core) <= _LONGEST and (aside := _ASIDE.search(core)):
        note, before = (aside["round"] or aside["square"] or "").strip(), core[: aside.start()].rstrip()
        if not before:
            return note, asides
        asides.append(note)
        core = before
    return core, asides


def _is_nobodys(core: str) -> bool:
    return bool(not core or is_word_for_a_speaker(core) or _NOBODYS.fullmatch(core) or is_ordinary(core))


def _is_role_note(aside: str) -> bool:
    """Whether an addition to a name states a part in the call or pronouns."""
    return all(word in _STANDING or _SPOKEN_OF.fullmatch(word) for word in aside.lower().split())


PLAIN, MARKED, SURE = "plain", "marked", "sure"
"""Marked: with a time or in bold, as in no speech. Sure: set apart as only a program does."""
LONGEST = 60
_LABEL = (
    rf"(?:[^\s:：\[\]{{}}<>*][^:：\[\]{{}}<>*\n\t]{{0,{LONGEST - 1}}}?(?<!\s)(?:\s*+\[[^\[\]:：\n]{{1,{LONGEST}}}\])?"
    r"|\+?\d[\d\s().*•-]{4,24}?(?<!\s))"
)
"""It does not end with a space, so that a long gap after it is scanned once and not from every position."""
_BOXED = rf"[^\[\]:]{{1,{LONGEST}}}"
_WIDE = re.compile(r"\s{2}|\t|\|")
_ALL_BOLD = re.compile(r"(?P<mark>\*\*|__)(?P<inner>[^*_\n]+)(?P=mark)")
_BOLD = re.compile(r"(?P<mark>\*\*|__|\*|_)(?P<inner>[^*_\n]{1,120}?)(?P=mark)(?P<rest>.*)", re.DOTALL)
_LED = re.compile(rf"(?P<lead>{STAMP}\s*+(?:[-–—]\s*+)?)(?P<marked>[*_].*)", re.DOTALL)
"""A time before bold text."""
_LISTED = re.compile(r"(?:[-*•‣▪◦·–—]|\d{1,3}[.)])\s+(?=\S)")
"""A list bullet or number."""
_EVERYWHERE, _OFTEN = 0.85, 0.4
_ONCE_MORE, _AGAIN_AND_AGAIN = 2, 3


@dataclass(frozen=True)
class Opening:
    """How a line may begin: a name, and the text after it."""

    label: str
    rest: str
    start: float | None = None
    way: str = PLAIN
    apart: bool = False
    """Whether it follows an empty line, is below a time, or is first in a cue."""


@dataclass(frozen=True)
class _LabelPatterns:
    """Patterns of a line that names somebody: `Name: …` before the words, or `Name  0:03` above them."""

    spoken: re.Pattern[str]
    heading: re.Pattern[str]


@lru_cache(maxsize=32)
def _build_patterns(named: tuple[str, ...] = ()) -> _LabelPatterns:
    """Builds the patterns for exactly the given speakers, or for any label.

    Spaces are possessive (`*+`): with two adjacent runs of them, backtracking would take hours.
    """
    literal = "|".join(
        r"\s++".join(map(re.escape, speaker.split())) for speaker in sorted(named, key=len, reverse=True)
    )
    label, boxed = literal or _LABEL, literal or _BOXED
    return _LabelPatterns(
        re.compile(
            rf"(?:(?P<before>{STAMP})\s*+(?:[-–—]\s*+)?)?(?:(?P<label>{label})|\[(?P<boxed>{boxed})\])\s*+"
            rf"(?P<after>{STAMP})?\s*+(?::(?:\s|$)|：)(?P<rest>.*)",
            re.DOTALL,
        ),
        re.compile(rf"(?P<label>{label})(?P<gap>\s++|\s*+[|,]\s*+)(?P<after>{STAMP})\s*+"),
    )


def find_line_openings(lines: Sequence[str], named: tuple[str, ...] = ()) -> list[Opening | None]:
    """Returns the possible opening of each line; list items are no turns, unless all turns are list items."""
    openings = [_read_list_item(line.strip(), named) for line in lines]
    begun = [(opening.label, is_item) for opening, is_item in openings if opening is not None]
    counts = Counter(label for label, _ in begun)
    usual = {label for label in counts if is_word_for_a_speaker(label)}
    telling = [is_item for label, is_item in begun if counts[label] >= _ONCE_MORE or label in usual]
    often = bool(named or usual) or 2 * sum(is_item for _, is_item in begun) >= len(lines)
    all_listed = often and all(telling or (is_item for _, is_item in begun))
    return [opening if all_listed or not is_item else None for opening, is_item in openings]


def _read_list_item(line: str, named: tuple[str, ...]) -> tuple[Opening | None, bool]:
    """Returns the opening of a line, and whether a list mark precedes it; the mark may be part of a given speaker."""
    mark = _LISTED.match(line)
    opening = find_line_opening(line, named) if named or mark is None else None
    return (opening, False) if opening or mark is None else (find_line_opening(line[mark.end() :], named), True)


def find_line_opening(line: str, named: tuple[str, ...] = ()) -> Opening | None:
    """Returns whom a line may name; whether it really does depends on the whole file or on the given speakers."""
    ways = _build_patterns(named)
    text, way = _strip_markdown(line.strip(), ways)
    match = ways.heading.fullmatch(text) or ways.spoken.fullmatch(text)
    if match is None:
        return None
    parts = match.groupdict()
    stamp = parts.get("before") or parts["after"]
    label = " ".join((parts["label"] or parts["boxed"]).split())
    if not named:
        label = label.rstrip(",|").rstrip()
        if not is_plausible(label):
            return None
    sure = parts.get("gap") is not None and _WIDE.search(parts["gap"]) is not None
    way = SURE if sure else MARKED if stamp else way
    return Opening(label, (parts.get("rest") or "").strip(), parse_stamp(stamp), way)


def _strip_markdown(text: str, ways: _LabelPatterns) -> tuple[str, str]:
    """Removes Markdown around the name at the beginning of a line, and tells how the name is marked."""
    led = _LED.fullmatch(text)
    if led:
        inner, way = _strip_markdown(led["marked"], ways)
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
    """The speakers of a file, and whether it names them only in lines of their own."""

    labels: frozenset[str]
    set_apart: bool = False

    def open(self, opening: Opening | None) -> TypeGuard[Opening]:
        """Whether a line begins with one of the speakers."""
        return opening is not None and opening.label in self.labels and (opening.way == SURE or not self.set_apart)


def find_speakers(openings: Sequence[Opening | None], named: Collection[str] = ()) -> Speakers:
    """Decides who speaks from the openings of all possible turns; given speakers are taken as they are."""
    if named:
        return Speakers(frozenset(named))
    present = [opening for opening in openings if opening is not None]
    sure, marked, plain = (
        Counter(opening.label for opening in present if opening.way == way) for way in (SURE, MARKED, PLAIN)
    )
    by_mark = _accept_labels(marked, len(openings), 1)
    accepted = _accept_labels(plain, len(openings), _ONCE_MORE)
    by_colon = accepted - _find_list_items([opening for opening in present if opening.way == PLAIN], accepted)
    times_marked, times_plain = sum(marked[label] for label in by_mark), sum(plain[label] for label in by_colon)
    # A file names speakers in one way: what occasionally looks like another way is speech.
    if sure and sure.total() >= times_marked + times_plain:
        return Speakers(frozenset(sure), set_apart=True)
    if 2 * times_plain < times_marked:
        return Speakers(by_mark)
    if 2 * times_marked < times_plain:
        return Speakers(by_colon)
    return Speakers(by_mark | by_colon)


def _accept_labels(counts: Counter[str], places: int, enough: int) -> frozenset[str]:
    """Returns the labels that are speakers: usual words, frequent names, or all if nearly every line has one."""
    usual = {label: count for label, count in counts.items() if not is_ordinary(label)}
    share = sum(usual.values()) / max(places, 1)
    accepted_labels = {
        label
        for label, count in usual.items()
        if is_word_for_a_speaker(label)
        or share >= _EVERYWHERE
        or (is_name_like(label) and (count >= enough or share >= _OFTEN))
    }
    # "Question: … Answer: …" throughout is a conversation; an occasional question is not.
    accepted_labels |= {
        label
        for label, count in counts.items()
        if label not in usual and count >= _AGAIN_AND_AGAIN and count / places >= _OFTEN / 2
    }
    return frozenset(accepted_labels)


def _find_list_items(openings: Sequence[Opening], accepted: Collection[str]) -> frozenset[str]:
    """Returns labels that are probably list items of a speaker, if two speakers already open most turns."""
    usual = [opening for opening in openings if is_word_for_a_speaker(opening.label)]
    if len({opening.label for opening in usual}) < _ONCE_MORE or 2 * len(usual) <= len(openings):
        return _find_labels_within_turns(openings, accepted)
    others = [opening for opening in openings if not is_word_for_a_speaker(opening.label)]
    counts = Counter(other.label for other in others)
    apart = {other.label for other in others if other.apart}
    often = max(_AGAIN_AND_AGAIN, len(usual) / 4)
    if 2 * sum(opening.apart for opening in usual) > len(usual):
        return frozenset(counts.keys() - apart)
    return frozenset(label for label, count in counts.items() if count < often)


def _find_labels_within_turns(openings: Sequence[Opening], accepted: Collection[str]) -> frozenset[str]:
    """Returns labels within a single turn of the two main speakers that are not clearly names of people.

    If turns are separated by empty lines, a separated label begins a turn as well.
    """
    counts = Counter(opening.label for opening in openings if opening.label in accepted)
    again = [label for label, count in counts.items() if count >= _ONCE_MORE]
    pair = sorted(again, key=lambda label: (is_word_for_a_speaker(label), counts[label]), reverse=True)[:2]
    theirs = [opening for opening in openings if opening.label in pair]
    if len(pair) < 2 or 2 * len(theirs) <= len(openings):
        return frozenset()
    turns: dict[str, set[int]] = {}
    turn = 0
    for opening in openings:
        turn += opening.label in pair
        turns.setdefault(opening.label, set()).add(turn)
    amid = {label for label, places in turns.items() if label not in pair and len(places) == 1 and 0 not in places}
    if 2 * sum(their.apart for their in theirs) > len(theirs):
        amid -= {opening.label for opening in openings if opening.apart}
    return frozenset(label for label in amid if not is_only_a_persons(label))
