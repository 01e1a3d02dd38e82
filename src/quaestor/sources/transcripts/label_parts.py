"""What a label says of who speaks: somebody's name, a word for a speaker, and what stands beside either.

`Obviax Trin (he/him)` is a name with something beside it, `Speaker 2 [EXT]` is nobody's name.
"""

from __future__ import annotations

import re

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
"""What programs write beside a name about who bears it."""
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


def bare(label: str) -> str:
    """A label without what stands in brackets after it, and without pronouns."""
    return _parted(label)[0]


def is_plausible(label: str) -> bool:
    """Whether somebody could be called so."""
    core = bare(label)
    if is_number(core) or len(core) > _LONGEST:
        return len(core) <= _LONGEST
    words = [word for word in core.split() if any(letter.isalnum() for letter in word)]
    return 0 < len(words) <= _MOST_WORDS and any(letter.isalpha() for letter in core) and not _NEVER.search(core)


def is_number(label: str) -> bool:
    """Whether it is the telephone number of somebody who called in."""
    return _NUMBER.fullmatch(label) is not None and not _MASKED.isdisjoint(label)


def is_word_for_a_speaker(label: str) -> bool:
    """Whether a label says by itself that somebody speaks: Interviewer, Guest A, Speaker 2."""
    return _WORD_FOR_A_SPEAKER.fullmatch(bare(label)) is not None


def is_ordinary(label: str) -> bool:
    """Whether people say it before a colon and mean nobody: Note, Second question."""
    words = bare(label).lower().split()
    return 0 < len(words) <= 2 and all(word in _ORDINARY or word.isdecimal() for word in words)


def is_name_like(label: str) -> bool:
    """Whether it is written as names are."""
    words = [word.strip("().,|") for word in bare(label).split()]
    return all(
        not word[:1].islower() or word in _PARTICLES or any(not letter.isalpha() for letter in word) for word in words
    )


def is_only_a_persons(label: str) -> bool:
    """Whether products and topics are hardly called so: a word for a speaker, P2, a number, two names, pronouns."""
    core, asides = _parted(label)
    words = [word for word in re.findall(r"[^\W\d_]+", core) if word not in _PARTICLES]
    coded = _NOBODYS.fullmatch(core) is not None and any(letter.isdecimal() for letter in core)
    called = is_word_for_a_speaker(core) or is_number(core) or coded
    return called or (len(words) > 1 and is_name_like(core)) or any(_is_standing(one) for one in asides)


def is_generic(label: str) -> bool:
    """Whether a label is a word for a speaker and nobody's name or number: Interviewer, Speaker 2, P1."""
    core, asides = _parted(label)
    return _is_nobodys(core) and all(_is_standing(one) for one in asides)


def names_in(label: str) -> tuple[str, ...]:
    """The names that a label holds: of who speaks, and of the organisation that may stand after a dash.

    What stands in brackets is no part of a name, unless a word for a speaker stands before it: `Guest (Obviax Trin)`.
    """
    core, asides = _parted(label)
    if is_number(core):
        return ()
    if _is_nobodys(core):
        core = " | ".join(one for one in asides if not _is_standing(one) and one[:1].isupper() and is_name_like(one))
    first, *others = (_COUNTED.sub("", part) for part in _APART.split(core))
    telling = [one for one in others if any(len(word) >= _TELLING for word in re.findall(r"[^\W\d_]+", one))]
    return tuple(dict.fromkeys(one for one in (first, *telling) if one and not _is_nobodys(one)))


def _parted(label: str) -> tuple[str, list[str]]:
    """A label without what stands beside it, and that, the last first."""
    core, asides = " ".join(label.split()), list[str]()
    while len(core) <= _LONGEST and (aside := _ASIDE.search(core)):
        said, before = (aside["round"] or aside["square"] or "").strip(), core[: aside.start()].rstrip()
        if not before:
            return said, asides
        asides.append(said)
        core = before
    return core, asides


def _is_nobodys(core: str) -> bool:
    return bool(not core or is_word_for_a_speaker(core) or _NOBODYS.fullmatch(core) or is_ordinary(core))


def _is_standing(aside: str) -> bool:
    """Whether what stands beside a name says how somebody takes part or is spoken of."""
    return all(word in _STANDING or _SPOKEN_OF.fullmatch(word) for word in aside.lower().split())
