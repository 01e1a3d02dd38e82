"""Reads WebVTT and SubRip: text with the times at which it is shown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from html import unescape
from html.entities import html5

from quaestor.interviews.transcript_formats.records import Utterance
from quaestor.interviews.transcript_formats.speaker_labels import find_line_openings, find_speakers
from quaestor.interviews.transcript_formats.timestamps import parse_timing

_BESIDE = re.compile(r"NOTE(?:[ \t].*)?|(?:STYLE|REGION)[ \t]*")
_NOTE = re.compile(r"NOTE(?P<said>[ \t]+(?P<about>[\w-]+:)?.*)?")
_ENDED = (".", "?", "!", "…", ">", '"', "”")
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z]\w{1,31});")
_VOICE = re.compile(r"<v(?:\.[^\s<>]*)?\s+(?P<name>[^\s<>][^<>]*)>|(?P<end></v>)")
_NUMBER = re.compile(r"\d{1,9}")
_MOMENT = re.compile(r"<(?:\d+:)?\d{1,2}:\d{2}\.\d{3}>")
_STYLED = ("c", "i", "b", "u", "ruby", "rt", "lang", "font")
_PLACED = re.compile(r"\{\\[^{}\n]*\}")


@dataclass
class _Cue:
    """A cue while it is being read."""

    start: float
    end: float
    lines: list[str] = field(default_factory=list)


def read_webvtt(lines: Sequence[str], named: tuple[str, ...] = ()) -> tuple[list[Utterance], list[str]]:
    """Returns the utterances of a WebVTT file, and its text outside the conversation.

    Teams marks voices with `<v Name>`; other programs, such as Zoom, write `Name: …` into the text.
    """
    cues, left_out = _read_webvtt_cues(lines)
    texts = [_remove_styles("\n".join(cue.lines)) for cue in cues]
    if _has_voices(texts):
        return list(_split_voices(cues, texts)), left_out
    for cue, text in zip(cues, texts, strict=True):
        cue.lines = _resolve_entities(text).split("\n")
    return _split_labels(cues, named), left_out


def read_subrip(lines: Sequence[str], named: tuple[str, ...] = ()) -> tuple[list[Utterance], list[str]]:
    """Returns the utterances of a SubRip file, and the text above its first cue."""
    cues: list[_Cue] = []
    left_out: list[str] = []
    number: int | None = None
    for line in lines:
        times = parse_timing(line)
        if times is not None:
            if not cues and left_out and _NUMBER.fullmatch(left_out[-1]):
                number = int(left_out.pop())
            elif cues and number is not None:
                number = _drop_number(cues[-1].lines, number + 1)
            cues.append(_Cue(*times))
        elif cues:
            cues[-1].lines.append(line)
        elif line.strip():
            left_out.append(line.strip())
    for cue in cues:
        cue.lines = _remove_styles(_PLACED.sub("", "\n".join(cue.lines))).split("\n")
    return _split_labels(cues, named), left_out


def _drop_number(lines: list[str], awaited: int) -> int:
    """Drops the next cue's number from the end of a cue: it is the expected one, or is on a line of its own."""
    last = lines[-1].strip() if lines else ""
    if not _NUMBER.fullmatch(last):
        return awaited
    if int(last) != awaited and len(lines) > 1 and lines[-2].strip():
        return awaited
    lines.pop()
    return int(last)


def _read_webvtt_cues(lines: Sequence[str]) -> tuple[list[_Cue], list[str]]:
    cues: list[_Cue] = []
    left_out: list[str] = []
    names = find_cue_names(lines)
    for number, block in enumerate(_blocks("" if place in names else line for place, line in enumerate(lines))):
        place = next((place for place, line in enumerate(block) if parse_timing(line) is not None), len(block))
        above, below = block[:place], block[place:]
        if number == 0 or not cues or (above and _is_note_block(above[0], cues)):
            left_out.append("\n".join(above))
        else:  # an empty line within a cue; a strict reader would lose what follows
            cues[-1].lines += above
        cues += _read_cues(below)
    long_names = [name for name in names.values() if len(name.split()) > 1]
    return cues, [line for line in (*left_out, *long_names) if line.strip() not in ("", "WEBVTT")]


def _is_note_block(line: str, cues: Sequence[_Cue]) -> bool:
    """Whether a block with this first line is a note, a style or a region; within a sentence it is speech."""
    if not _BESIDE.fullmatch(line):
        return False
    note = _NOTE.fullmatch(line)
    if not cues or (note and (not (note["said"] or "").strip() or note["about"])):
        return True
    last = next((line.rstrip() for line in reversed(cues[-1].lines) if line.strip()), "")
    return note is not None and (not last or last.endswith(_ENDED))


def _read_cues(block: Sequence[str]) -> list[_Cue]:
    """Returns the cues of a block: usually one, unless the empty lines between them are missing."""
    cues: list[_Cue] = []
    for line in block:
        times = parse_timing(line)
        if times is not None:
            cues.append(_Cue(*times))
        else:
            cues[-1].lines.append(line)
    return cues


def _blocks(lines: Iterable[str]) -> Iterator[list[str]]:
    block: list[str] = []
    for line in lines:
        if line.strip():
            block.append(line)
        elif block:
            yield block
            block = []
    if block:
        yield block


def _remove_styles(text: str) -> str:
    """Removes formatting tags; what only resembles a tag, as in `List<b>`, is speech and stays."""
    if "<" not in text:
        return text
    text = _MOMENT.sub("", text)
    for name in _STYLED:
        if f"</{name}>" in text.lower():
            text = re.sub(rf"</{name}>|<{name}(?:\.[^\s<>]*)?(?:\s[^<>]*)?>", "", text, flags=re.IGNORECASE)
    return text


def _resolve_entities(text: str) -> str:
    """Replaces entities by their characters; an unknown entity is speech and stays."""

    def character(match: re.Match[str]) -> str:
        return unescape(match[0]) if match[0][1] == "#" or match[0][1:] in html5 else match[0]

    return _ENTITY.sub(character, text)


def _has_voices(texts: Sequence[str]) -> bool:
    """Whether a file marks voices: most cues begin with one, or the first does and later ones where it changes."""
    begun = [_VOICE.match(text.lstrip()) for text in texts if text.strip()]
    named = [match is not None and not match["end"] for match in begun]
    return 2 * sum(named) > len(named) or named[:1] == [True]


def _split_voices(cues: Sequence[_Cue], texts: Sequence[str]) -> Iterator[Utterance]:
    """Yields the words of each voice; after a nested voice the outer one continues, and so does a cue without one."""
    last = ""
    for cue, text in zip(cues, texts, strict=True):
        speaker, place, around = last, 0, list[str]()
        for match in _VOICE.finditer(text):
            yield _utterance(cue, speaker, _resolve_entities(text[place : match.start()]))
            if not match["end"]:
                around.append(" ".join(_resolve_entities(match["name"]).split()))
            elif around:
                around.pop()
            speaker = around[-1] if around else ""
            last, place = speaker or last, match.end()
        yield _utterance(cue, speaker, _resolve_entities(text[place:]))


def _utterance(cue: _Cue, speaker: str, text: str) -> Utterance:
    lines = (line.strip() for line in text.split("\n"))
    return Utterance(speaker, " ".join(line for line in lines if line), cue.start, cue.end)


def _split_labels(cues: Sequence[_Cue], named: tuple[str, ...]) -> list[Utterance]:
    """Returns the utterances of cues that may have speaker labels; a speaker continues until another one is named."""
    filled = [[line for line in cue.lines if line.strip()] for cue in cues]
    openings = iter(find_line_openings([line for lines in filled for line in lines], named))
    read = [[(line, next(openings)) for line in lines] for lines in filled]
    first = [lines[0][1] for lines in read if lines]
    speakers = find_speakers([None if opening is None else replace(opening, apart=True) for opening in first], named)
    utterances: list[Utterance] = []
    speaker = ""
    for cue, lines in zip(cues, read, strict=True):
        words: list[str] = []
        for line, opening in lines:
            if speakers.open(opening):
                utterances.append(_utterance(cue, speaker, "\n".join(words)))
                speaker, words = opening.label, [opening.rest]
            else:
                words.append(line)
        utterances.append(_utterance(cue, speaker, "\n".join(words)))
    return utterances


_NOT_A_CUE = re.compile(r"(?:NOTE|STYLE|REGION)(?:\s|$)")
_MADE = re.compile(r"[0-9a-f]+", re.IGNORECASE)


def find_cue_names(lines: Sequence[str]) -> dict[int, str]:
    """Returns the lines, by index, that number or name cues, if the file does so from its first cue on.

    Nothing is said before the first cue. So if that one has no name, the file names no cues, and a line above a later
    cue is the end of what was said before.
    """
    timed = [place for place, line in enumerate(lines) if parse_timing(line) is not None]
    above = [place - 1 if _is_words(lines, place - 1) else None for place in timed]
    first = above[0] if above else None
    if first is None:
        return {}
    if _NUMBER.fullmatch(lines[first].strip()):
        return _find_numbers(lines, above)
    if all(line.strip() for line in lines[:first]):  # it belongs to the header
        return {}
    throughout = all(place is not None and not _is_words(lines, place - 1) for place in above)
    shape = _shape(lines[first])
    return {
        place: lines[place].strip()
        for place in above
        if place is not None and (throughout or (shape and _shape(lines[place]) == shape))
    }


def _find_numbers(lines: Sequence[str], above: Sequence[int | None]) -> dict[int, str]:
    """Returns the numbers above cues; if some cues have none, only numbers in sequence count, and others are speech."""
    written = [0 if place is None else _number(lines[place]) for place in above]
    labels: dict[int, str] = {}
    awaited = written[0]
    for count, (place, number) in enumerate(zip(above, written, strict=True)):
        apart = place is not None and not _is_words(lines, place - 1)
        if place is not None and number and (number in (awaited, written[0] + count) or (apart and all(written))):
            labels[place] = lines[place].strip()
            awaited = number
        awaited += 1
    return labels


def _number(line: str) -> int:
    """Returns the number in a line plus 1; 0 if it is not a number."""
    match = _NUMBER.fullmatch(line.strip())
    return int(match[0]) + 1 if match else 0


def _is_words(lines: Sequence[str], place: int) -> bool:
    """Whether a line is neither empty nor a timing nor a note."""
    return (
        place >= 0
        and bool(lines[place].strip())
        and parse_timing(lines[place]) is None
        and not _NOT_A_CUE.match(lines[place])
    )


def _shape(line: str) -> str:
    """Returns the pattern of a generated cue name: one word in which only the digits vary."""
    word = line.strip()
    is_id = any(letter.isdecimal() for letter in word) and not _NUMBER.fullmatch(word) and len(word.split()) == 1
    return _MADE.sub("0", word) if is_id else ""
