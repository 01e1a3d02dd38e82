"""Finds identifying data by its form: e-mail and web addresses, telephone numbers, account names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

PLAIN = frozenset(re.findall(r"\w+", "com org net edu gov mil"))
"""Endings that do not occur in code."""
GENERIC = frozenset(
    re.findall(
        r"\w+",
        """io dev ai app info biz mobi tech xyz cloud online site website shop blog wiki digital agency studio
    solutions systems software engineering company world zone media news press computer consulting design
    education academy institute university college school science foundation ventures capital finance bank
    fund global international health clinic legal law energy green eco bio pro club vip games guru rocks
    expert support services tools hosting social community technology technologies security gmbh ltd llc inc
    berlin hamburg koeln cologne bayern nrw ruhr wien swiss zuerich paris london amsterdam brussels nyc
    tokyo moscow istanbul madrid barcelona scot wales quebec africa asia""",
    )
)
COUNTRIES = frozenset(
    re.findall(
        r"\w+",
        """ae af ar at au az ba bd be bg bh bo br by ca ch cl cn co cr cu cy cz de dk dz ec ee eg es et eu fi fr gb gh
    gr hk hr hu ie il in iq ir it jm jp ke kg kh kr kw kz li lk lu lv ly mc mt mu mx mz ng nl no nz pa pe ph
    pk pl pr qa ro ru rw sa se sg si sk sn su sv sy th tn tr tv tw tz ua ug uk us uy uz ve vn za zm zw""",
    )
)
"""Without file extensions (md, pt, py, rs, sh) and common identifiers (al, id, lb, me, to)."""
ENDS = PLAIN | GENERIC | COUNTRIES
_FILES = frozenset(
    re.findall(
        r"\w+",
        """bat bib bin bz c cc cfg ckpt cl conf cpp cs css csv cu cxx db dll doc docx dylib env err exe gif go gz h hdf
    hpp hs htm html in ini ipynb jar java jl jpeg jpg js json jsx kt la lock log lua m mat md mk ml mm mov
    mp mp4 npy npz onnx out parquet pb pdf php pickle pkl pl png ppt pptx proto ps pt pth py pyc pyx r rb rs
    rst safetensors scala sh so sql sqlite srt st svg swift tar tex tf tflite tmp toml ts tsv tsx txt vtt
    wav whl xls xlsx xml xz yaml yml zip""",
    )
)
_ROOTS = frozenset(
    re.findall(
        r"\w+",
        """a args array b batch c cfg client cls conf config console ctx cv cv2 data dataset dataloader datetime db
    decoder df dict dist document e encoder env error event ex f file flax fn func g graph gym h i img input
    inputs item j jax jnp json k keras layer layers lib list loader log logger logging logits loss lr m math
    matplotlib mod model models module n net network nn node np num numpy obj object ops optim optimizer os
    output outputs p pandas params pd pipeline plt pytorch random re req request requests res response
    result s scipy self sequence session set settings skimage sklearn sns std str string sys t tensor
    tensorboard tensorflow tf this thread time torch torchvision train trainer transformers user util utils
    v val w weights window x y z""",
    )
)
"""Common objects in code: a word after such a name and a full stop is an attribute, not an address."""
_PARTS = frozenset(
    re.findall(
        r"\w+",
        """all append apply backward base build call cat compile config copy cpu cuda data detach device dtype encode
    eval evaluate extend fit forward format from functional get grad id init input int is item items join
    keys keras layers len linear load log loss map mean name new nn numpy ops optim optimizers parameters
    predict pop print quantize read reshape run save score set shape show size sleep split squeeze start
    step stop str sum tensor test to tolist train transform transpose type update utils value values view
    weight weights write zeros""",
    )
)


def is_code(address: str) -> bool:
    """Returns whether words joined by full stops are a file, an attribute in code, or two sentences without a space."""
    *labels, ending = address.split(".")
    if ending.lower() in PLAIN:
        return False
    if "_" in address or ending.istitle() or ending.lower() in _PARTS:
        return True
    first = labels[0].lower()
    if ending.lower() in _FILES and ending.lower() not in ENDS:
        return True
    return first in _ROOTS or not any(letter.isalpha() for letter in first)


EMAIL, WEB, TELEPHONE, ACCOUNT = "e-mail", "web", "telephone", "account"
REPLACEMENTS = {
    EMAIL: "[e-mail address]",
    WEB: "[web address]",
    TELEPHONE: "[telephone number]",
    ACCOUNT: "[account]",
}
_ENDS = "|".join(sorted(ENDS, key=lambda ending: (-len(ending), ending)))
_SPOKEN_ENDS = "com|org|net|edu|gov|io|dev|ai|info|eu|de|ch|uk|fr"
"""Endings that are not ordinary words after `dot`."""
_LABEL = r"[^\W_](?:[\w-]{0,61}[^\W_])?"
_DOMAIN = rf"(?:{_LABEL}\.){{1,8}}"
_EMAIL = re.compile(rf"[\w.!#$%&'*+/=?^`{{|}}~-]{{1,64}}\s?@\s?{_DOMAIN}(?:{_LABEL})", re.IGNORECASE)
_SAID_EMAIL = re.compile(
    rf"[\w.+-]{{1,64}}\s*[\[(]\s*at\s*[\])]\s*{_LABEL}(?:\s*(?:\.|[\[(]\s*dot\s*[\])])\s*{_LABEL}){{1,4}}",
    re.IGNORECASE,
)
_SPOKEN_DOMAIN = rf"(?:[\w-]{{1,63}}\s+(?:dot|punkt)\s+){{1,4}}(?:{_SPOKEN_ENDS})(?!\w)"
_SPOKEN_EMAIL = re.compile(
    rf"(?<!\w)(?:[\w-]{{1,63}}\s+(?:dot|punkt)\s+){{0,3}}[\w.+-]{{1,64}}\s+(?:at|ät)\s+{_SPOKEN_DOMAIN}", re.IGNORECASE
)
_SPOKEN_NAME = r"(?:[\w-]{1,63}\s+(?:dot|punkt)\s+){0,3}"
_PROVIDERS = "gmail|googlemail|hotmail|gmx|icloud|protonmail|posteo|fastmail|yahoo|outlook|aol|mailbox"
_SPOKEN_ACCOUNT = re.compile(
    rf"(?<!\w){_SPOKEN_NAME}([\w.+-]{{2,64}})\s+(?:at|ät)\s+(?:{_PROVIDERS})(?!\w)", re.IGNORECASE
)
_LOOKED = frozenset(("look", "looks", "looked", "looking"))
_BEFORE_AT = frozenset(
    re.findall(
        r"\w+",
        """look looks looked looking work works worked working was were am is are be been being people person anybody
    anyone somebody someone everybody everyone engineers engineer developers developer colleagues colleague friend
    friends team teams job start started stay stayed aim aimed point pointed arrive arrived and or not even only just
    also that this it he she they we you me us him her them one ones here there up in on for to of""",
    )
)
"""Words before `at` that are not account names."""
_SPOKEN_WEB = re.compile(rf"(?<!\w){_SPOKEN_DOMAIN}", re.IGNORECASE)
_DOT = re.compile(r"\b(?:dot|punkt)\b", re.IGNORECASE)
_SCHEME = re.compile(r"(?:(?:https?|ftp)://|www\.)[^\s<>\"“”«»]{2,2000}", re.IGNORECASE)
_SHORT_EMAIL = re.compile(r"(?<![\w@./+-])[^\W\d_][\w.+-]{1,63}@[^\W\d_][\w-]{1,62}(?![\w@.-])")
_VERSIONS = re.compile(r"(?:sha\d+|latest|next|main|master|head)", re.IGNORECASE)
_BARE = re.compile(rf"(?<![\w@./-])({_DOMAIN}(?:{_ENDS}))(?![\w(\[-])(?:/[^\s<>\"“”«»]{{0,2000}})?", re.IGNORECASE)
_AFTER_A_CUE = re.compile(
    rf"(?<!\w)(?:(\w+)\s+)?(?:at|www|(?:web)?site|home\s?page)\s+(?:is\s+|on\s+|at\s+)?"
    rf"({_DOMAIN}[^\W\d_]{{2,24}})(?![\w(\[.-]*[\w(\[])",
    re.IGNORECASE,
)
_WITH_PATH = re.compile(rf"(?<![\w@./-])({_DOMAIN}[^\W\d_]{{2,24}})/[^\s<>\"“”«»]{{1,2000}}", re.IGNORECASE)
_ME = re.compile(
    rf"(?<![\w@./-])(?:(?:t|wa|m)\.me/[\w+-]{{2,64}}|({_LABEL}\.me)(?![\w(\[-])(?:/[^\s<>\"“”«»]{{0,2000}})?)",
    re.IGNORECASE,
)
"""Personal pages under .me; code has attributes of that name, and sentences without a space end like this."""
_SAID_TO_ME = frozenset(re.findall(r"\w+", "ask call give help let send show tell to trust with for of by about"))
_ACCOUNT = re.compile(r"(?<![\w@./])@[^\W\d_][\w.-]{1,60}\w")
_BEGINS = r"(?:(?<![\w.,:/-])|(?<=[^\W\d][:/])|(?<=[.)][:/]))"
"""Where a number may begin: also after a colon or slash that follows a word or a bracket, not a digit."""
_NUMBER = re.compile(
    rf"{_BEGINS}(?:\+|\(\+?)?\d(?:[ \u00a0\u202f./()\u2010-\u2013-]{{0,3}}\d){{6,17}}(?![\w]|[.,:/-]\d)"
)
_DAY = re.compile(r"\d{4}[-./]\d{1,2}[-./]\d{1,2}|\d{1,2}[-./]\d{1,2}[-./]\d{4}|\d{4}\s?[-\u2013]\s?\d{4}")
_GROUPED = re.compile(r"\d{1,3}(?:[ \u00a0\u202f.]\d{3})+")
_NORTH_AMERICAN = re.compile(r"[2-9]\d\d([.-])\d{3}\1\d{4}")
_THREES = re.compile(r"(?:1[ ./-]?)?[2-9]\d\d[ \u00a0./-]\d{3}[ \u00a0./-]\d{4}")
_APART = re.compile(r"[ \u00a0\u202f/\u2010-\u2013-]{1,3}")
_PHONE = re.compile(
    r"(?<!\w)(?:tel|telephone|telefon|phone|mobile|mobil|handy|fax|whatsapp)"
    r"(?:\W{1,3}(?:number|nummer|is|ist)){0,2}\W{0,3}\Z",
    re.IGNORECASE,
)
"""Words before a telephone number."""
_CUE, _FEW, _ADDRESS, _EIGHT = 40, 3, 4, 8
_IN_BRACKETS = re.compile(r"\(\+?\d{1,5}\)")
_PIECE = re.compile(r"[\d.]*\d")
_VALUE = re.compile(r"(?:0|[1-9]\d*)(?:\.\d+)*")
_YEAR = re.compile(r"(?:19|20)\d\d")
_RANGES = re.compile(r"\d+\s?[-\u2010-\u2013]\s?\d+(?:\s+\d+\s?[-\u2010-\u2013]\s?\d+)*")
_SERIES = re.compile(r"[1-9]\d*(?:[\s/]+[1-9]\d*){2,}")
_PERCENT = re.compile(r"\s?(?:%|‰|per\s?cent|prozent)", re.IGNORECASE)
_SHORT_VALUE, _PRODUCT = 3, 5
"""The longest short value, and the longest product of two matrices, such as Wq@Wk."""
_TRAILING = ".,;:!?)]}'\"”’…"


@dataclass(frozen=True)
class PatternMatch:
    """A range of a text that matches one of the patterns."""

    start: int
    end: int
    kind: str
    sure: bool = True


def find_patterns(text: str) -> Iterator[PatternMatch]:
    """Yields all matches in no particular order; those that may be something else are not sure."""
    if "@" in text or "\uff20" in text:
        yield from _find_with_at_sign(text.replace("\uff20", "@"))
    if "[" in text or "(" in text:
        yield from (PatternMatch(*match.span(), EMAIL) for match in _SAID_EMAIL.finditer(text))
    for match in _SCHEME.finditer(text):
        yield PatternMatch(match.start(), _find_end(match), WEB)
    if "." in text:
        yield from _find_bare_addresses(text)
    if _DOT.search(text):
        yield from (PatternMatch(*match.span(), EMAIL, sure=False) for match in _SPOKEN_EMAIL.finditer(text))
        yield from (PatternMatch(*match.span(), WEB, sure=False) for match in _SPOKEN_WEB.finditer(text))
    for match in _SPOKEN_ACCOUNT.finditer(text):
        if match[1].lower() not in _BEFORE_AT:
            yield PatternMatch(*match.span(), EMAIL, sure=False)
    for match in _NUMBER.finditer(text):
        if _PERCENT.match(text, match.end()) and "+" not in match[0]:
            continue
        cued = _PHONE.search(text, max(match.start() - _CUE, 0), match.start()) is not None
        labelled = text[max(match.start() - 1, 0) : match.start()] in (":", "/")
        if labelled and not cued and match[0].isdecimal() and not match[0].startswith("0"):
            continue  # seed:1234567
        if (sure := _is_telephone(match[0])) is not None:
            yield PatternMatch(*match.span(), TELEPHONE, sure or cued)


def _find_with_at_sign(text: str) -> Iterator[PatternMatch]:
    """Yields e-mail addresses, with or without their ending, and account names."""
    for match in _EMAIL.finditer(text):
        machine = match[0].rpartition("@")[2].split(".")
        if not machine[-1].isdecimal() or len(machine) == _ADDRESS:  # torch@2.1 is a version
            yield PatternMatch(*match.span(), EMAIL, sure=not machine[-1].isdecimal())
    yield from (PatternMatch(*match.span(), ACCOUNT, sure=False) for match in _ACCOUNT.finditer(text))
    for match in _SHORT_EMAIL.finditer(text):
        if len(match[0]) > _PRODUCT and not _VERSIONS.fullmatch(match[0].partition("@")[2]):
            yield PatternMatch(*match.span(), EMAIL, sure=False)


def _find_bare_addresses(text: str) -> Iterator[PatternMatch]:
    """Yields web addresses without a scheme, recognised by their ending or the words around them; code is excluded."""
    for match in (*_BARE.finditer(text), *_WITH_PATH.finditer(text)):
        if not is_code(match[1]):
            yield PatternMatch(match.start(), _find_end(match), WEB, sure=False)
    for match in _ME.finditer(text):
        if match[1] is None or (not is_code(match[1]) and match[1].partition(".")[0].lower() not in _SAID_TO_ME):
            yield PatternMatch(match.start(), _find_end(match), WEB, sure=False)
    for match in _AFTER_A_CUE.finditer(text):
        if (match[1] or "").lower() not in _LOOKED and not is_code(match[2]):
            yield PatternMatch(*match.span(2), WEB, sure=False)


def _find_end(match: re.Match[str]) -> int:
    """Returns the end of an address without the punctuation of the sentence."""
    return match.start() + len(match[0].rstrip(_TRAILING))


def _is_telephone(text: str) -> bool | None:
    """Returns whether digits are surely a telephone number; None if they are something else, such as a date."""
    sizes = _are_sizes(text)
    if not sizes and (_NORTH_AMERICAN.fullmatch(text) or _IN_BRACKETS.match(text)):
        return True
    bare = text.lstrip("(")
    if _are_values(bare):
        return None
    if sizes:
        return False
    if bare.startswith(("+", "00")):
        return True
    if _DAY.fullmatch(bare) or _GROUPED.fullmatch(bare):
        return None
    groups = re.findall(r"\d+", bare)
    if _SERIES.fullmatch(bare) and _is_ordered([int(group) for group in groups]):
        return False
    if len(groups) == 1 or all(len(group) == 1 for group in groups):
        return False
    # Measurements never begin with a zero; without one, only the North American form is sure.
    return any(group.startswith("0") and len(group) > 1 for group in groups) or _THREES.fullmatch(bare) is not None


def _are_sizes(text: str) -> bool:
    """Returns whether numbers may be sizes of layers or images: mostly multiples of eight, none starts with 0."""
    groups = _APART.split(text)
    if len(groups) < _FEW or not all(group.isdecimal() and not group.startswith("0") for group in groups):
        return False
    return all(int(group) % _EIGHT == 0 or len(group) < _FEW for group in groups)


def _are_values(text: str) -> bool:
    """Returns whether digits are values: decimals, versions, years, ranges."""
    pieces = _PIECE.findall(text)
    if not all(_VALUE.fullmatch(piece) for piece in pieces):
        return False
    dots = [piece.count(".") for piece in pieces]
    if text.startswith("+"):
        return set(dots) == {1} and (len(pieces) > 1 or text.startswith("+0."))
    if any(dots):
        return all(dots) or max(dots) == 1
    return all(_YEAR.fullmatch(piece) for piece in pieces) or _are_ranges(text, pieces)


def _are_ranges(text: str, pieces: list[str]) -> bool:
    """Returns whether numbers are ascending ranges, none of which looks like the end of a telephone number."""
    if not _RANGES.fullmatch(text) or any(int(a) >= int(b) for a, b in zip(pieces[::2], pieces[1::2], strict=True)):
        return False
    several = len(pieces) > 2
    return all(piece.endswith("00") or (several and len(piece) <= _SHORT_VALUE) for piece in pieces)


def _is_ordered(numbers: list[int]) -> bool:
    return numbers in (sorted(set(numbers)), sorted(set(numbers), reverse=True))
