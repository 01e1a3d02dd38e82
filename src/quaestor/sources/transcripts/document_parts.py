"""The parts of a Word document, unpacked in small pieces; nothing that stands in them is obeyed."""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from posixpath import normpath
from xml.parsers import expat

from quaestor.base.errors import InputError
from quaestor.sources.transcripts.document_reader import Allowance, DocumentReader

_PART, _RELATIONS = "word/document.xml", "_rels/.rels"
_MAIN = "/officeDocument"
"""How the kind of a relation ends that leads to the part with the text."""
_BESIDE = {
    "footnotes": "Footnote",
    "endnotes": "Endnote",
    "comments": "Comment",
    "header": "Header",
    "footer": "Footer",
}
"""Parts in which nobody speaks."""
_PART_NAME = re.compile(r"(?P<kind>[a-z]+)\d*\.xml")
MOST_BYTES = 200_000_000
"""Of the text of a document when it is unpacked."""
_MOST_PARTS = 5_000
_CHUNK = 1 << 16
_LONGEST_TAG = 16 * _CHUNK
"""Bytes of a tag: the parser reads one that is not yet whole anew with each piece."""
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED = 0x1


def unpacked(data: bytes, where: str) -> tuple[list[str | list[str]], list[str]]:
    """What the document holds and its notes, unpacked in small pieces and up to a bound; nothing in it is obeyed."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if len(archive.infolist()) > _MOST_PARTS:
                raise InputError(
                    f"{where} has {len(archive.infolist()):,} parts, as no transcript has: save it as text"
                )
            allowed = Allowance(where, bytes=MOST_BYTES)
            main = _main_part(archive, allowed)
            blocks = _paragraphs(archive, main, allowed)
            return blocks, _notes(archive, main.rpartition("/")[0], allowed)
    except (zipfile.BadZipFile, zlib.error, EOFError, KeyError, NotImplementedError, RuntimeError, UnicodeError):
        raise InputError(
            f"{where} is not a sound Word document (old .doc, protected or damaged): save it as .docx or as text"
        ) from None
    except (expat.ExpatError, LookupError, ValueError):
        raise InputError(f"{where} has a text that is no sound XML: save it anew, or as text") from None


def _main_part(archive: zipfile.ZipFile, allowed: Allowance) -> str:
    """Where the text is: there where the relations of the package lead, mostly in `word/document.xml`."""
    found = [_PART]

    def start(name: str, attributes: dict[str, str]) -> None:
        allowed.take_element(1)
        if name.endswith(" Relationship") and attributes.get("Type", "").endswith(_MAIN):
            found.append(normpath(attributes.get("Target", "")).lstrip("/"))

    parser = expat.ParserCreate(namespace_separator=" ")
    parser.StartElementHandler = start
    if _RELATIONS in archive.namelist():
        _parse(archive, _RELATIONS, parser, allowed)
    return next(part for part in (*reversed(found), _PART) if part == _PART or part in archive.namelist())


def _notes(archive: zipfile.ZipFile, folder: str, allowed: Allowance) -> list[str]:
    """What stands beside the text, said once each: a header is a part of its own for every kind of page."""
    found: dict[str, list[str]] = {kind: [] for kind in _BESIDE}
    for part in sorted(archive.namelist()):
        place, _, name = part.rpartition("/")
        named = _PART_NAME.fullmatch(name)
        if place != folder or named is None or named["kind"] not in _BESIDE:
            continue
        for block in _paragraphs(archive, part, allowed):
            words = " | ".join(" ".join(one.split()) for one in ([block] if isinstance(block, str) else block))
            found[named["kind"]] += [f"{_BESIDE[named['kind']]}: {words}"] if words.strip(" |") else []
    beside = [note for kind in ("footnotes", "endnotes", "comments") for note in found[kind]]
    return [*beside, *dict.fromkeys([*found["header"], *found["footer"]])]


def _paragraphs(archive: zipfile.ZipFile, part: str, allowed: Allowance) -> list[str | list[str]]:
    """The paragraphs and rows of a part."""
    reader = DocumentReader(allowed=allowed)
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.data
    _parse(archive, part, parser, allowed)
    return reader.blocks


def _parse(archive: zipfile.ZipFile, part: str, parser: expat.XMLParserType, allowed: Allowance) -> None:
    parser.StartDoctypeDeclHandler = _refuse
    info = archive.getinfo(part)
    if info.compress_type not in _METHODS or info.flag_bits & _ENCRYPTED:
        raise zipfile.BadZipFile
    given = 0
    with archive.open(info) as file:
        while chunk := file.read(_CHUNK):
            given += len(chunk)
            allowed.bytes -= len(chunk)
            if allowed.bytes < 0:
                raise InputError(f"{allowed.where} has over {MOST_BYTES:,} bytes when unpacked: save it as text")
            parser.Parse(chunk, False)
            if given - parser.CurrentByteIndex > _LONGEST_TAG:
                raise ValueError("a tag without an end")
        parser.Parse(b"", True)


def _refuse(*declaration: object) -> None:
    raise ValueError("a document declares nothing")
