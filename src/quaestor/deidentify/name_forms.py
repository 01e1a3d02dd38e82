"""Builds the forms in which a known name may be written: whole, a part, with initials, reversed, joined.

Includes the stems of names before endings that replace letters: Ann-y, Pavl-em, Kowalsk-ich, Virtas-elta; and the
ordinary words that look like names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from quaestor.deidentify.folded_text import fold
from quaestor.deidentify.joined_names import (
    AFTER_INITIAL,
    AND,
    GAP,
    WORDS,
    Joint,
    WrittenName,
    fold_name,
    parse_name,
)

ORDINARY = frozenset(
    re.findall(
        r"\w+",
        """may mark marks will bill rose grace hope joy faith frank jack art pat rob sue dean chase grant hunter cooper
    baker smith dawn summer autumn april june august rich ray guy drew miles dale glen heath cliff brook
    lane wood woods stone rock field fields hill hills rivers lake king knight bishop pope young white black
    brown green gray grey gold silver day page price power powers case cash cook carter walker turner taylor
    mason miller fisher shepherd potter porter butler long short little best good love sharp swift strong
    wise wild early late way ways park parks church bell bush ford marsh moss nest penny pearl ruby olive
    ivy violet lily daisy iris jasmine heather holly hazel sage basil angel star sky rain storm winter major
    junior max min key keys max don wade skip van von nick tony eve else son sandy misty apple amazon meta
    oracle shell orange target gap square stripe slack notion arm intel box zoom teams alphabet windows sun
    visa chase signal gamma delta sprint nest ring path medium buffer segment unity epic valve steam mint
    render wolf fuchs klein gross lang kurz jung alt neu schwarz weiss braun grau koch bauer kaiser koenig
    richter sommer engel stein berg busch baum blum vogel hahn fink haas roth linde mai ernst""",
    )
)
"""Names that are also ordinary words; only a capital letter distinguishes them."""
ORDINARY_WITH_ENDING = frozenset(
    re.findall(
        r"\w+",
        """any one ore ice ace age ale ape are use due lie die pie tie toy boy buy day may say way joy key own owe eye
    ago ado ami amy ego try fly dry cry sky why shy lou you
    able aches adder affine after again algo alien alle allen aller alles allow also alter amen ander area army
    arrow arten attach auto away babe baby bade bake bare base baser bases been begin below beta bike bite
    blue body bone bones boss boxer boxes breach burn buses busy buyer byte bytes came cane canes canine
    care cares case cases cave chain chin cite city claim code coder codes coin come comes cone copy core
    cores corn cosine cover cube cute dann dare data date daten dates defer define dein denen denn deny
    deren dice dime dine diner dive does dome done dope dose down dries eager earn ease easy eben echo edge
    edges eine einem einen einer eines elder else ende enden engine enter envy even evens face faces fake
    fame fare fate fein fever fewer fiber file files fine finer fire five fixer fixes free fury fuse gain
    gains game gate gave gaze geben gehen gene genes give given gives glue goes gone gray green grey habe
    haben hate have here hide hike hire hive hole holes holy home hope hose huge icon idea idle ihre ihren
    ihrer ihres infer info inline inner inter into java jede jeden jeder jedes jene jener join joins joke
    json july jury keen kein kiss lady lake lame lane laser late later latin layer lazy lean leben lesen
    leser less lever lexer life like liken line linen liner lines live liven lives loan login logo lone lose
    losen loser loses loss love lover lower lube made main make maker makes male many marine mass mate mates
    maze mean means mein memo menu mere meta meter mice mile mime mine miner mines miss mixer mixin mode
    modern modes mole moon more move moves movie muse mute name namen names nano navy neben nein never newer
    nice nicer nine node nodes none nose note notes noun nude oben obey offer often okay older omen once
    online only onto open opens order other outer oven owner pace paces page pages pain pale paler pane
    paper pare pass pate paten pates patina pawn pile pine pines pipe pipes pity plain plan play ploy plus
    poker pole poles poly pony pope pose poses power pray prey pure queen race rage rain rake rare rate
    raten rater rates reden refer rein rely remove repo rice ride rife ripe ripen rise rises rite robe robes
    role roles rope rosy rude ruin rule ruler rules runes safe safer sage sagen sake sale same samen sane
    save saver saves scan seen sehen sein semen seven sewer shoe side sides sign signs silo sine sines sinn
    siren site sites size sizer sizes skin sole solo soma some soon sore span spans spin stain stay steer
    super sure surer tage tagen take taken taker takes tale tame tape taper tapes taxes taxi teen than thee
    then they thin this throw thus tidy tiger tile time timer times tine tiny tire todo token tokens tome
    tone toner tore toss tower town train tray tree trees tries trio true tube tune tuner turn turns twin
    type types typo ugly ulcer under undo unser unten upon upper urge vain vary very veto vice vine viper
    visa vote voter votes wafer wagen wager wages wake wane wann ware waren warn warns wary water wave waves
    waxes wegen wenn were wesen when wide widen wider widow wife wiki wine wipe wiper wire wires wise women
    wore worn wove zero zone zones""",
    )
)
"""Ordinary words that consist of a short name and an ending, and are not names even with a capital letter."""


_CASES = frozenset(fold("y e ou u i o ami ach am ы е у ой ю ах ам").split())
_OF_MEN = frozenset(fold("a u em ovi owi om i ami а у ом ем е ы").split())
_OF_ADJECTIVES = frozenset(("i", "iego", "iemu", "im", "ich", "imi", "ie"))
_ENDEARING = frozenset(("i", "ia", "ie", "io", "iu"))
_WEAKENED = frozenset(("n", "lla", "lle", "lta", "ssa", "sta", "ksi", "t"))
_OF_NEN = frozenset(("en", "ella", "elle", "elta", "essa", "esta", "eksi", "een", "ta", "et", "ille", "ten", "ia"))
_TWICE = re.compile(r"[^\W\d_]{1,40}([^\W\d_aeiouy])\1[aeiouy]")
_FLEETING = re.compile(r"[^\W\d_]{2,40}(?:e[klc]|е[клц])")
_ADJECTIVE = re.compile(r"[^\W\d_]{2,40}[sc]k[aiy]")
_HARDENED = ("kk", "pp", "tt")
_GRADED = (("hti", "hde"), ("nki", "nge"), ("ki", "e"), ("ti", "de"), ("i", "e"))
"""How Finnish names in -i change before an ending."""
_TINY, _STEM, _LONG_STEM = 3, 4, 5
Stem = tuple[str, frozenset[str], bool]
"""The stem, the endings that follow it (empty: the usual ones), and whether a match is surely a name."""


def build_person_stems(word: str) -> Iterator[Stem]:
    """Yields the stems of a first name or a surname; a stem that may be another word is not sure."""
    if len(word) == _TINY and word[-1] in "aа":
        yield word[:-1], _CASES | {"ie"}, False
    if len(word) < _STEM:
        return
    if word[-1] in "aoeаея":
        yield word[:-1], frozenset(), True
    if _TWICE.fullmatch(word) and word[-3:-1] in _HARDENED:
        yield word[:-2] + word[-1], _WEAKENED, True
    elif _TWICE.fullmatch(word):
        yield word[:-2], _ENDEARING, True
    if len(word) > _LONG_STEM and word.endswith("nen"):
        yield f"{word[:-3]}s", _OF_NEN, True
    if _FLEETING.fullmatch(word):
        yield word[:-2] + word[-1], _OF_MEN, False
    if _ADJECTIVE.fullmatch(word):
        yield word[:-1], _OF_ADJECTIVES, False
    if word.isascii() and word.endswith("i"):
        ends, becomes = next(pair for pair in _GRADED if word.endswith(pair[0]))
        yield word.removesuffix(ends) + becomes, _WEAKENED, False


def build_thing_stems(word: str) -> Iterator[Stem]:
    """Yields the stems of an organisation, a product or a place, which have cases in Slavic languages too."""
    if len(word) >= _STEM and word[-1] in "aа":
        yield word[:-1], _CASES, False


PERSON, ORGANISATION, PRODUCT, PLACE, OTHER = "person", "organisation", "product", "place", "other"
KINDS = (PERSON, ORGANISATION, PRODUCT, PLACE, OTHER)
WHOLE, PART, INITIALS, STEM, DOUBTFUL = range(5)
"""How much of a name a form contains; the smaller, the surer."""
ENDINGS = frozenset(
    fold(ending)
    for ending in re.findall(
        r"\w+",
        """s es e en n ns ens er ern sche schen scher sches a u i y o om em im ym ou ovi owi ove owie ow ov ami mi ach
    ech ie iem ego emu ej iej ova owa ovo ovy owy in ina ine iny
    а у ю я ом ем ой ей ы и е ов ев ам ами ах ым ого ому""",
    )
)
"""Endings of names, folded: English, German, and the cases of Slavic languages."""
_LEGAL = frozenset(
    re.findall(
        r"\w+",
        """gmbh mbh ag kg kgaa se ohg inc incorporated ltd limited llc llp plc corp corporation co company sa sas sarl
    srl spa bv nv oy ab as aps ug ev pty pte sp zoo""",
    )
)
_PARTICLES = frozenset(re.findall(r"\w+", "von van de der den del di da la le bin ibn al el und and y e of zu zum the"))
_TITLES = frozenset(re.findall(r"\w+", "dr prof professor mr mrs ms mx herr frau phd msc bsc jr sr dipl ing"))
_SPELT_OUT = (("ä", "ae"), ("ö", "oe"), ("ü", "ue"), ("å", "aa"))
_CAMEL = re.compile(r"[A-Z]?[a-z]{2,}|[A-Z]{2,}(?![a-z])")
_APOSTROPHE = re.compile(r"(?<![^\W_])([od])'([^\W\d_]{3,})")
_COMMON = frozenset(
    re.findall(r"\w+", "data deep open next real true fast tech soft team work info auto code node core")
)
_ALONE, _ACRONYM, _DISTINCT = 2, 3, 4
_LONG_NAME = 4
"""From this many letters on, the joined words of a name do not form an ordinary word."""


@dataclass(frozen=True)
class KnownName:
    """A name that a study knows and what is shown instead of it; its `repr` does not contain the name."""

    id: str
    kind: str
    forms: tuple[str, ...] = field(repr=False)
    shown: str
    participant: str = ""
    """The participant whose name it is, or who alone mentioned it."""
    endings: tuple[str, ...] = ()
    """Endings in addition to the usual ones."""
    derived: bool = False
    """Whether it follows from contact data or a transcript and nobody has confirmed it."""


@dataclass(frozen=True)
class NameForm:
    """One way to write a name: folded words, separate or joined."""

    words: tuple[str, ...]
    extent: int = WHOLE
    endings: frozenset[str] = frozenset()
    """Endings in place of the usual ones."""
    sure: bool = True
    """Whether every match is a name; otherwise a person must decide."""
    joints: tuple[Joint | None, ...] = ()
    """The joints before, between and after the words; empty means a gap between any two."""
    original: str = ""
    """The name as entered; written exactly like this it is a name even if it is also an ordinary word."""

    @property
    def key(self) -> str:
        return "".join(self.words)

    def steps(self) -> Iterator[str | Joint]:
        """Yields its words and joints in the order of writing."""
        joints = self.joints or (None, *[GAP] * (len(self.words) - 1), None)
        for index, word in enumerate(self.words):
            joint = joints[index]
            if joint is not None:
                yield AFTER_INITIAL if joint == GAP and len(self.words[index - 1]) == 1 else joint
            yield word
        if joints[-1] is not None:
            yield joints[-1]


def split_words(text: str) -> tuple[str, ...]:
    """Returns the words of a name, folded."""
    return tuple(WORDS.findall(fold_name(text)))


def is_searchable(text: str) -> bool:
    """Returns whether a name can be searched for: it needs a letter or digit and one more visible character."""
    visible = "".join(fold_name(text).split())
    return len(visible) >= _ALONE and any(map(str.isalnum, visible))


def build_identity(text: str) -> tuple[str, ...]:
    """Returns a key that is the same for all spellings of a name: its words, or all signs if it has only one letter."""
    words = split_words(text)
    return words if sum(map(len, words)) >= _ALONE else (fold_name(text),)


def build_forms(kind: str, name: str) -> Iterator[NameForm]:
    """Yields all forms of a name, the whole one first."""
    for text in dict.fromkeys((name, *_list_spellings(name))):
        written = parse_name(text, _LONG_NAME)
        if written is None:
            continue
        yield from _build_whole_forms(written, name if text == name else "")
        if kind == PERSON:
            yield from _build_person_forms(split_words(text), written)
            yield from (NameForm(match.groups(), PART) for match in _APOSTROPHE.finditer(fold(text)))
        else:
            yield from _build_thing_forms(split_words(text), written, kind)
    if len(split_words(name)) == 1 and len(parts := tuple(map(fold, _CAMEL.findall(name)))) > 1:
        yield NameForm(parts, PART, sure=False)


def _build_whole_forms(written: WrittenName, original: str = "") -> Iterator[NameForm]:
    """Yields a name as entered, then without its own signs; a single letter needs them."""
    bare = written.without_signs()
    if bare != written:
        yield NameForm(written.words, joints=written.joints, original=original)
    if len(written.key) >= _ALONE:
        yield NameForm(bare.words, joints=bare.joints, original=original)
        if AND in bare.joints:
            yield NameForm(bare.words, PART, sure=False)


def _list_spellings(text: str) -> Iterator[str]:
    """Yields the name with umlauts written as two letters, and with two letters written as an umlaut."""
    lower = text.lower()
    apart = together = lower
    for letter, letters in _SPELT_OUT:
        apart = apart.replace(letter, letters)
        together = together.replace(letters, letter) if letter != "å" else together
    yield apart
    yield together


def _build_person_forms(words: tuple[str, ...], written: WrittenName) -> Iterator[NameForm]:
    named = tuple(word for word in words if word not in _TITLES) or words
    if named != words:
        yield from _build_whole_forms(written.without(_TITLES))
    bearing = [word for word in named if word not in _PARTICLES and len(word) >= _ALONE]
    for word in bearing:
        yield NameForm((word,), PART)
        yield from (NameForm((stem,), STEM, endings, sure) for stem, endings, sure in build_person_stems(word))
    if len(bearing) < _ALONE:
        return
    first, last = named[0], bearing[-1]
    yield NameForm((first, last), PART)
    yield NameForm((last, first), PART)
    yield NameForm((*named[1:], first), PART)
    yield NameForm((first[0], last), INITIALS)
    yield NameForm((last, first[0]), INITIALS)
    yield NameForm((first, last[0]), INITIALS)
    yield NameForm((first[0], *named[1:]), INITIALS)
    yield NameForm(tuple(word[0] for word in bearing), DOUBTFUL)


def _build_thing_forms(words: tuple[str, ...], written: WrittenName, kind: str) -> Iterator[NameForm]:
    if len(words) == 1 and kind != OTHER:
        yield from (NameForm((stem,), STEM, endings, sure) for stem, endings, sure in build_thing_stems(words[0]))
    if kind == ORGANISATION:
        yield from _build_organisation_forms(words, written)


def _build_organisation_forms(words: tuple[str, ...], written: WrittenName) -> Iterator[NameForm]:
    bare = tuple(word for word in words if word not in _LEGAL)
    if bare and bare != words:
        yield from _build_whole_forms(written.without(_LEGAL))
    if len(bare) >= _ALONE and len(bare[0]) >= _DISTINCT and bare[0] not in ORDINARY | _COMMON:
        yield NameForm((bare[0],), DOUBTFUL)
    if len(bare) >= _ACRONYM:
        yield NameForm(tuple(word[0] for word in bare), DOUBTFUL)
