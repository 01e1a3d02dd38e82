"""PDF of a drawing, the same bytes each time: the converter lists fonts and parts of a page in an order of chance."""

from __future__ import annotations

import re

import vl_convert

from quaestor.base.errors import StateError

_OBJECT = re.compile(rb"(\d+) 0 obj\n")
_LENGTH = re.compile(rb"/Length (\d+)\b")
_REFERENCE = re.compile(rb"\b(\d+) 0 R\b")
_RESOURCES = re.compile(rb"(?:^ +/[a-z]+\d+ .+\n)+", re.MULTILINE)
_RESOURCE = re.compile(rb" +/[a-z]+(\d+) .+\n")
_ROOT = re.compile(rb"/Root (\d+) 0 R")
_INFO = re.compile(rb"/Info (\d+) 0 R")
_VERSION = b"%PDF-1.5"  # nothing newer is used, and pdfLaTeX warns of anything newer
_STREAM, _END = b">>\nstream\n", b"\nendobj\n"


def pdf_of(svg: str) -> bytes:
    """The drawing as a page of PDF with its text as text."""
    return _numbered_by_mention(vl_convert.svg_to_pdf(svg))


def _numbered_by_mention(pdf: bytes) -> bytes:
    """The same document, its objects numbered and written in the order in which the catalogue leads to them."""
    header_end = pdf.index(b"\n\n") + 2
    objects = _objects(pdf, header_end)
    trailer = pdf[pdf.rindex(b"trailer") :]
    root, info = _ROOT.search(trailer), _INFO.search(trailer)
    if root is None or not objects:
        raise StateError("the PDF of a figure has no catalogue: the installed vl-convert-python writes another layout")
    order: list[bytes] = []
    waiting = [root[1], *([info[1]] if info else [])]
    while waiting:
        number = waiting.pop(0)
        if number in order:
            continue
        order.append(number)
        waiting += _REFERENCE.findall(objects[number][0])
    numbers = {old: b"%d" % new for new, old in enumerate(order, start=1)}
    written, places = pdf[:header_end].replace(b"%PDF-1.7", _VERSION), []
    for number in order:
        places.append(len(written))
        head, stream = objects[number]
        written += b"%s 0 obj\n%s%s%s\n" % (numbers[number], _renumbered(head, numbers), stream, _END)
    table = b"".join(b"%010d 00000 n\r\n" % place for place in places)
    return (
        written
        + b"xref\n0 %d\n0000000000 65535 f\r\n" % (len(order) + 1)
        + table
        + b"trailer\n<<\n  /Size %d\n  /Root %s 0 R\n" % (len(order) + 1, numbers[root[1]])
        + (b"  /Info %s 0 R\n" % numbers[info[1]] if info else b"")
        + b">>\nstartxref\n%d\n%%%%EOF" % len(written)
    )


def _objects(pdf: bytes, start: int) -> dict[bytes, tuple[bytes, bytes]]:
    """By number, what an object says and the stream it carries; streams are skipped by their length, never read."""
    found: dict[bytes, tuple[bytes, bytes]] = {}
    while mark := _OBJECT.match(pdf, start):
        head_end = pdf.index(_END, mark.end())
        stream_start = pdf.find(_STREAM, mark.end(), head_end)
        stream = b""
        if stream_start >= 0:
            head_end = stream_start + len(_STREAM)
            length = _LENGTH.search(pdf, mark.end(), head_end)
            if length is None:
                raise StateError(
                    "a stream in the PDF of a figure has no length: vl-convert-python writes another layout"
                )
            end = pdf.index(_END, head_end + int(length[1]))
            stream = pdf[head_end:end]
        found[mark[1]] = (_RESOURCES.sub(_in_order, pdf[mark.end() : head_end]), stream)
        start = (end if stream_start >= 0 else head_end) + len(_END) + 1
    return found


def _in_order(resources: re.Match[bytes]) -> bytes:
    return b"".join(mark[0] for mark in sorted(_RESOURCE.finditer(resources[0]), key=lambda mark: int(mark[1])))


def _renumbered(head: bytes, numbers: dict[bytes, bytes]) -> bytes:
    return _REFERENCE.sub(lambda mark: numbers[mark[1]] + b" 0 R", head)
