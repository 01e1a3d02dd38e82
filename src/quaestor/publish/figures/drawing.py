"""Figures into files: one SVG, and from it PDF and PNG, so that the three show the same."""

from __future__ import annotations

import re
from functools import lru_cache
from html import escape
from pathlib import Path

import vl_convert

from quaestor.base.files import write_whole
from quaestor.publish.figures.pages import pdf_of
from quaestor.publish.figures.records import Figure

_VEGA_LITE = "6.4"
_SCALE = 2.0
_SPOKEN = re.compile(r' (?:role|aria-[a-z]+|class)="[^"]*"')
_NAMED = re.compile(r'(?<= id=")|(?<=url\(#)|(?<=xlink:href="#)')
_STYLE = re.compile(r' style="([^"]*)"')
_OPENING = re.compile(r"<svg[^>]*>")


def load_drawing() -> None:
    """Load what draws figures: the first figure of a process takes half a second, in which no other thread runs."""
    vl_convert.vegalite_to_svg({"data": {"values": []}, "mark": "point"}, vl_version=_VEGA_LITE)


@lru_cache(maxsize=64)
def svg_of(figure: Figure) -> str:
    """The figure for a page: speaks by its title and text alone, without style attributes, its ids its own."""
    drawn = vl_convert.vegalite_to_svg(dict(figure.spec), vl_version=_VEGA_LITE)
    drawn = cleaned(drawn, figure.name)
    title, text = f"{figure.name}-title", f"{figure.name}-text"
    words = f'<title id="{title}">{escape(figure.title)}</title><desc id="{text}">{escape(figure.alt)}</desc>'
    opening = _OPENING.match(drawn)
    end = opening.end() if opening else 0
    spoken = f'role="img" aria-labelledby="{title}" aria-describedby="{text}"'
    return f"{drawn[: end - 1]} {spoken}>{words}{drawn[end:]}\n"


def cleaned(svg: str, name: str) -> str:
    """Without roles and labels of single marks, without inline styles, and with ids that begin with the name."""
    return _NAMED.sub(f"{name}-", _STYLE.sub(_as_attributes, _SPOKEN.sub("", svg)))


def write_figure(figure: Figure, folder: Path) -> list[Path]:
    """The figure as SVG, PDF and PNG, each whole or not there; the same figure gives the same bytes."""
    folder.mkdir(parents=True, exist_ok=True)
    svg = svg_of(figure)
    contents = {"svg": svg.encode("utf-8"), "pdf": pdf_of(svg), "png": vl_convert.svg_to_png(svg, scale=_SCALE)}
    paths = []
    for ending, content in contents.items():
        path = folder / f"{figure.name}.{ending}"
        write_whole(path, content)
        paths.append(path)
    return paths


def _as_attributes(style: re.Match[str]) -> str:
    """Declarations as attributes of SVG: a page that forbids inline styles shows them all the same."""
    declarations = (part.split(":", 1) for part in style[1].split(";") if ":" in part)
    return "".join(f' {name.strip()}="{value.strip()}"' for name, value in declarations)
