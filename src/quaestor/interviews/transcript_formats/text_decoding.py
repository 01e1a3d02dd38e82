"""Decodes text files of any program into lines."""

from __future__ import annotations

import codecs
import re

from quaestor.base.errors import InputError
from quaestor.base.names import suggest

_MARKED = (
    (codecs.BOM_UTF8, "utf-8-sig", "UTF-8"),
    (codecs.BOM_UTF32_LE, "utf-32", "UTF-32"),
    (codecs.BOM_UTF32_BE, "utf-32", "UTF-32"),
    (codecs.BOM_UTF16_LE, "utf-16", "UTF-16"),
    (codecs.BOM_UTF16_BE, "utf-16", "UTF-16"),
)
FALLBACK = "Windows-1252"
ENCODINGS = {
    "UTF-8": ("utf-8", "any language"),
    "UTF-16LE": ("utf-16-le", "any language"),
    "UTF-16BE": ("utf-16-be", "any language"),
    "Windows-1250": ("cp1250", "Central European"),
    "Windows-1251": ("cp1251", "Cyrillic"),
    FALLBACK: ("cp1252", "Western European"),
    "Windows-1253": ("cp1253", "Greek"),
    "Windows-1254": ("cp1254", "Turkish"),
    "Windows-1255": ("cp1255", "Hebrew"),
    "Windows-1256": ("cp1256", "Arabic"),
    "Windows-1257": ("cp1257", "Baltic"),
    "Windows-1258": ("cp1258", "Vietnamese"),
    "ISO-8859-2": ("iso8859-2", "Central European"),
    "ISO-8859-5": ("iso8859-5", "Cyrillic"),
    "ISO-8859-15": ("iso8859-15", "Western European"),
    "KOI8-R": ("koi8-r", "Russian"),
    "KOI8-U": ("koi8-u", "Ukrainian"),
    "Macintosh": ("mac-roman", "Western European"),
    "Shift_JIS": ("cp932", "Japanese"),
    "EUC-JP": ("euc_jp", "Japanese"),
    "ISO-2022-JP": ("iso2022_jp", "Japanese"),
    "GB18030": ("gb18030", "Chinese, simplified"),
    "Big5": ("cp950", "Chinese, traditional"),
    "EUC-KR": ("cp949", "Korean"),
    "TIS-620": ("cp874", "Thai"),
}
"""The supported encodings, each with its codec and languages; files in others must be saved as UTF-8 first."""
_ALSO = {"shift_jis": "cp932", "gbk": "gb18030", "gb2312": "gb18030", "big5": "cp950", "euc_kr": "cp949"}
"""Encodings that are part of another one."""
_BREAK = re.compile(r"\r\n|\n|\r")
MOST_LINES = 200_000
_FOREIGN = r"[^\x00-\x7f\s“”„‘’‚«»‹›–—…¿¡°·€]"
_ONE, _RUN = re.compile(_FOREIGN), re.compile(rf"{_FOREIGN}{{3,}}")
_SIGN = re.compile(
    r"(?<=[^\W\d_])[¤¦-©¬-´¶-¹¼-¿×÷†‡ˆ‰™˜](?=[^\W\d_])|(?<=[^\x00-\x7f\s])[‚ƒ„](?=[^\x00-\x7f\s“”‘’–—…])"
)
_SELDOM, _FEW = 0.2, 2


def decode_text(data: bytes, where: str, encoding: str = "") -> tuple[str, str]:
    """Returns the text and its encoding: the given one, that of its byte order mark, else UTF-8 or UTF-16.

    Otherwise it counts as Windows-1252; `is_misread` tells whether that is plausible.
    """
    if encoding:
        return _decode_as(data, where, encoding)
    ways = next(([(codec, name)] for mark, codec, name in _MARKED if data.startswith(mark)), None)
    unmarked = [*_unmarked_utf_16(data), ("utf-8", "UTF-8"), (ENCODINGS[FALLBACK][0], FALLBACK)]
    for codec, name in ways or unmarked:
        try:
            text = data.decode(codec)
        except UnicodeDecodeError:
            continue
        if "\0" in text:
            break
        return text, name
    raise InputError(
        f"{where} is not a text in UTF-8, UTF-16 or {FALLBACK}: give its encoding (--encoding), or save it as UTF-8; "
        "add an audio recording with `quaestor interview audio add`"
    )


def _decode_as(data: bytes, where: str, encoding: str) -> tuple[str, str]:
    name = _find_encoding(encoding)
    try:
        text = data.decode(ENCODINGS[name][0]).removeprefix("\ufeff")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise InputError(f"{where} is not a text in {name}: give another encoding, or save it as UTF-8")
    return text, name


def _find_encoding(name: str) -> str:
    """Returns an encoding by its name here or in other programs."""
    try:
        codec = codecs.lookup(name.strip()).name
    except (LookupError, ValueError):
        codec = ""
    codec = _ALSO.get(codec, codec)
    known = {codecs.lookup(codec).name: name for name, (codec, _) in ENCODINGS.items()}
    if codec not in known:
        options = suggest(name, ENCODINGS)
        raise InputError(f"there is no encoding {name!r}; choose from: {options}; or save the file as UTF-8")
    return known[codec]


def _unmarked_utf_16(data: bytes) -> list[tuple[str, str]]:
    """Detects UTF-16 without a byte order mark: the same one of the two bytes of ASCII characters is always 0."""
    if len(data) % 2 or b"\0" not in data:
        return []
    first, second = data[::2].count(0), data[1::2].count(0)
    codec = "utf-16-le" if second > first else "utf-16-be"
    try:
        text = data.decode(codec)
    except UnicodeDecodeError:
        return []
    readable = all(letter.isprintable() or letter in "\r\n\t\f\u2028\u2029\u00ad" for letter in set(text))
    return [(codec, "UTF-16")] if readable and min(first, second) * 4 <= max(first, second) else []


def is_misread(text: str) -> bool:
    """Whether letters occur in combinations unknown in Western Europe: the text is in another encoding."""
    foreign = len(_ONE.findall(text))
    in_runs = sum(len(run) for run in _RUN.findall(text) if len(set(run)) > _FEW)
    return in_runs > max(_FEW, _SELDOM * foreign) or len(_SIGN.findall(text)) >= _FEW


def build_too_long_error(where: str) -> InputError:
    """Returns the error for a file that is too long to be a transcript; reading it would take minutes."""
    return InputError(f"{where} has over {MOST_LINES:,} lines: check that it is a transcript")


def require_few_lines(text: str, where: str) -> None:
    """Raises InputError for too many lines or WebVTT voice tags; they are counted before anything is read."""
    if max(text.count("\n"), text.count("\r"), text.count("<v ")) > MOST_LINES:
        raise build_too_long_error(where)


def split_lines(text: str) -> list[str]:
    """Splits a text into lines; separators that may occur within speech, such as U+2028, do not count."""
    return _BREAK.split(text)
