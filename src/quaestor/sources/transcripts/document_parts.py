"""The parts of a Word document, unpacked in small pieces; nothing that stands in them is obeyed."""

from __future__ import annotations

import io
import zipfile
import zlib
from xml.parsers import expat

from quaestor.base.errors import InputError
from quaestor.sources.transcripts.document_reader import Allowance, DocumentReader

_PART = "word/document.xml"
_BESIDE = {"word/footnotes.xml": "Footnote", "word/endnotes.xml": "Endnote", "word/comments.xml": "Comment"}
"""Parts in which nobody speaks."""
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
            allowed = Allowance(where)
            blocks, left = _read(archive, _PART, allowed, MOST_BYTES)
            notes: list[str] = []
            for part, kind in _BESIDE.items():
                if part in archive.namelist():
                    found, left = _read(archive, part, allowed, left)
                    texts = (" ".join(one.split()) for one in found if isinstance(one, str))
                    notes += [f"{kind}: {text}" for text in texts if text]
            return blocks, notes
    except (zipfile.BadZipFile, zlib.error, EOFError, KeyError, NotImplementedError, RuntimeError, UnicodeError):
        raise InputError(
            f"{where} is not a sound Word document (old .doc, protected or damaged): save it as .docx or as text"
        ) from None
    except (expat.ExpatError, LookupError, ValueError):
        raise InputError(f"{where} has a text that is no sound XML: save it anew, or as text") from None


def _read(archive: zipfile.ZipFile, part: str, allowed: Allowance, most: int) -> tuple[list[str | list[str]], int]:
    """The paragraphs and rows of a part, and how many bytes the others may have."""
    reader = DocumentReader(allowed=allowed)
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.data
    parser.StartDoctypeDeclHandler = _refuse
    info = archive.getinfo(part)
    if info.compress_type not in _METHODS or info.flag_bits & _ENCRYPTED:
        raise zipfile.BadZipFile
    given = 0
    with archive.open(info) as file:
        while chunk := file.read(_CHUNK):
            most, given = most - len(chunk), given + len(chunk)
            if most < 0:
                raise InputError(f"{allowed.where} has over {MOST_BYTES:,} bytes when unpacked: save it as text")
            parser.Parse(chunk, False)
            if given - parser.CurrentByteIndex > _LONGEST_TAG:
                raise ValueError("a tag without an end")
        parser.Parse(b"", True)
    return reader.blocks, most


def _refuse(*declaration: object) -> None:
    raise ValueError("a document declares nothing")
