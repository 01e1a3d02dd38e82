"""Writes figures as SVG, and PDF and PNG converted from it, so that all three look the same."""

from __future__ import annotations

import re
from functools import lru_cache
from html import escape
from pathlib import Path

import vl_convert

from quaestor.base.errors import StateError
from quaestor.base.files import write_atomically
from quaestor.render.figures.records import DrawnFigure, Figure

_OBJECT = re.compile(rb"(\d+) 0 obj\n")
_LENGTH = re.compile(rb"/Length (\d+)\b")
_REFERENCE = re.compile(rb"\b(\d+) 0 R\b")
_RESOURCES = re.compile(rb"(?:^ +/[a-z]+\d+ .+\n)+", re.MULTILINE)
_RESOURCE = re.compile(rb" +/[a-z]+(\d+) .+\n")
_ROOT = re.compile(rb"/Root (\d+) 0 R")
_INFO = re.compile(rb"/Info (\d+) 0 R")
_VERSION = b"%PDF-1.5"  # the figures use nothing newer, and pdfLaTeX warns about newer versions
_STREAM, _END = b">>\nstream\n", b"\nendobj\n"


def render_pdf(svg: str) -> bytes:
    """Converts the drawing to a PDF page with selectable text."""
    return _renumber_objects(vl_convert.svg_to_pdf(svg))


def _renumber_objects(pdf: bytes) -> bytes:
    """Renumbers the objects in the order of reference, so that the same figure gives the same bytes."""
    header_end = pdf.index(b"\n\n") + 2
    objects = _read_objects(pdf, header_end)
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
    written, offsets = pdf[:header_end].replace(b"%PDF-1.7", _VERSION), []
    for number in order:
        offsets.append(len(written))
        head, stream = objects[number]
        written += b"%s 0 obj\n%s%s%s\n" % (numbers[number], _renumber_references(head, numbers), stream, _END)
    table = b"".join(b"%010d 00000 n\r\n" % offset for offset in offsets)
    return (
        written
        + b"xref\n0 %d\n0000000000 65535 f\r\n" % (len(order) + 1)
        + table
        + b"trailer\n<<\n  /Size %d\n  /Root %s 0 R\n" % (len(order) + 1, numbers[root[1]])
        + (b"  /Info %s 0 R\n" % numbers[info[1]] if info else b"")
        + b">>\nstartxref\n%d\n%%%%EOF" % len(written)
    )


def _read_objects(pdf: bytes, start: int) -> dict[bytes, tuple[bytes, bytes]]:
    """Returns the dictionary and the stream of each object by number; streams are skipped by length and not parsed."""
    cache: dict[bytes, tuple[bytes, bytes]] = {}
    while match := _OBJECT.match(pdf, start):
        head_end = pdf.index(_END, match.end())
        stream_start = pdf.find(_STREAM, match.end(), head_end)
        stream = b""
        if stream_start >= 0:
            head_end = stream_start + len(_STREAM)
            length = _LENGTH.search(pdf, match.end(), head_end)
            if length is None:
                raise StateError(
                    "a stream in the PDF of a figure has no length: vl-convert-python writes another layout"
                )
            end = pdf.index(_END, head_end + int(length[1]))
            stream = pdf[head_end:end]
        cache[match[1]] = (_RESOURCES.sub(_sort_resources, pdf[match.end() : head_end]), stream)
        start = (end if stream_start >= 0 else head_end) + len(_END) + 1
    return cache


def _sort_resources(resources: re.Match[bytes]) -> bytes:
    return b"".join(match[0] for match in sorted(_RESOURCE.finditer(resources[0]), key=lambda match: int(match[1])))


def _renumber_references(head: bytes, numbers: dict[bytes, bytes]) -> bytes:
    return _REFERENCE.sub(lambda match: numbers[match[1]] + b" 0 R", head)


_VEGA_LITE = "6.4"
_SCALE = 2.0
_ARIA = re.compile(r' (?:role|aria-[a-z]+|class)="[^"]*"')
_ID_START = re.compile(r'(?<= id=")|(?<=url\(#)|(?<=xlink:href="#)')
_STYLE = re.compile(r' style="([^"]*)"')
_SVG_TAG = re.compile(r"<svg[^>]*>")


def load_drawing() -> None:
    """Loads the drawing library: the first figure of a process takes half a second, in which no other thread runs."""
    vl_convert.vegalite_to_svg({"data": {"values": []}, "mark": "point"}, vl_version=_VEGA_LITE)


@lru_cache(maxsize=64)
def render_svg(figure: Figure) -> str:
    """Returns the figure as accessible SVG for a page, with unique ids and without style attributes."""
    drawn = vl_convert.vegalite_to_svg(dict(figure.spec), vl_version=_VEGA_LITE)
    drawn = clean_svg(drawn, figure.name)
    title, text = f"{figure.name}-title", f"{figure.name}-text"
    words = f'<title id="{title}">{escape(figure.title)}</title><desc id="{text}">{escape(figure.alt)}</desc>'
    opening = _SVG_TAG.match(drawn)
    end = opening.end() if opening else 0
    spoken = f'role="img" aria-labelledby="{title}" aria-describedby="{text}"'
    return f"{drawn[: end - 1]} {spoken}>{words}{drawn[end:]}\n"


def clean_svg(svg: str, name: str) -> str:
    """Removes labels of single marks, converts inline styles to attributes, and prefixes ids with the name."""
    return _ID_START.sub(f"{name}-", _STYLE.sub(_as_attributes, _ARIA.sub("", svg)))


def render_figure(figure: Figure) -> DrawnFigure:
    """Draws the figure in every format; the same figure gives the same bytes."""
    svg = render_svg(figure)
    png = vl_convert.svg_to_png(svg, scale=_SCALE)
    return DrawnFigure(figure.name, figure.title, figure.alt, svg, render_pdf(svg), png)


def write_figure(figure: Figure, folder: Path) -> list[Path]:
    """Writes the figure as SVG, PDF and PNG, each atomically."""
    folder.mkdir(parents=True, exist_ok=True)
    contents = {folder / name: content for name, content in render_figure(figure).files.items()}
    for path, content in contents.items():
        write_atomically(path, content)
    return list(contents)


def write_svg(figure: Figure, folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{figure.name}.svg"
    write_atomically(path, render_svg(figure).encode("utf-8"))
    return path


def _as_attributes(style: re.Match[str]) -> str:
    """Converts style declarations to SVG attributes, which also work on pages that forbid inline styles."""
    declarations = (part.split(":", 1) for part in style[1].split(";") if ":" in part)
    return "".join(f' {name.strip()}="{value.strip()}"' for name, value in declarations)
