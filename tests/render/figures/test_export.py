"""Every figure: the same bytes each time, nothing cut off, a description, safe inside a page."""

from __future__ import annotations

import hashlib
import json
import os
import re
import struct
import subprocess
import sys
import zlib
from pathlib import Path
from xml.etree import ElementTree

import altair as alt
import pytest
from tests.support.drawings import SVG, assert_text_inside

from quaestor.render.figures.export import clean_svg, render_pdf, render_svg, write_figure
from quaestor.render.figures.records import Figure

NAMES = (
    "process", "funnel", "by-year", "treemap", "heat-map", "popularity-difficulty", "discrepancy", "forest", "trend",
)  # fmt: skip
_HASHES = """
import hashlib, json, runpy, sys, pathlib
from quaestor.render.figures.export import write_figure
figures = runpy.run_path(sys.argv[1])["draw_all"]()
folder = pathlib.Path(sys.argv[2])
paths = [path for name in sys.argv[3:] for path in write_figure(figures[name], folder)]
print(json.dumps({path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}))
"""


@pytest.fixture(scope="module")
def written(figures: dict[str, Figure], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("figures") / "new"
    for figure in figures.values():
        paths = write_figure(figure, folder)
        assert [path.name for path in paths] == [f"{figure.name}.{ending}" for ending in ("svg", "pdf", "png")]
    return folder


def test_all_nine_figures_are_drawn(figures: dict[str, Figure]) -> None:
    assert tuple(figures) == NAMES


@pytest.mark.slow
def test_a_fresh_process_writes_the_same_bytes(written: Path, tmp_path: Path) -> None:
    drawing = Path(__file__).with_name("conftest.py")
    answer = subprocess.run(
        [sys.executable, "-c", _HASHES, str(drawing), str(tmp_path), *NAMES],
        env={**os.environ, "PYTHONHASHSEED": "4711"}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert json.loads(answer.stdout) == {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in written.iterdir()
    }


def test_drawing_twice_in_one_process_gives_the_same_pdf(drawn: dict[str, str], figures: dict[str, Figure]) -> None:
    assert render_svg(figures["process"]) == drawn["process"]
    assert len({render_pdf(drawn["popularity-difficulty"]) for _ in range(8)}) == 1


@pytest.mark.parametrize("name", NAMES)
def test_a_figure_has_an_accessible_title_and_description(
    name: str, figures: dict[str, Figure], drawn: dict[str, str]
) -> None:
    root = ElementTree.fromstring(drawn[name])
    words = {child.get("id"): child.text for child in root if child.tag in (f"{SVG}title", f"{SVG}desc")}
    assert root.get("role") == "img"
    assert words[root.get("aria-labelledby")] == figures[name].title
    assert words[root.get("aria-describedby")] == figures[name].alt
    assert figures[name].spec["description"] == figures[name].alt
    assert re.findall(r" (role|aria-[a-z]+)=", drawn[name]) == ["role", "aria-labelledby", "aria-describedby"]
    assert re.search(r"\d", figures[name].alt)


@pytest.mark.parametrize("name", NAMES)
def test_a_figure_is_safe_inside_a_strict_page(name: str, drawn: dict[str, str]) -> None:
    assert not re.search(r"style=|<style|<script|\son\w+=|href=\"(?!#)|<foreignObject|<image", drawn[name])
    ids = re.findall(r'\bid="([^"]*)"', drawn[name])
    assert len(ids) == len(set(ids))
    assert all(id_.startswith(f"{name}-") for id_ in ids)
    assert all(f'id="{target}"' in drawn[name] for target in re.findall(r"url\(#([^)]*)\)", drawn[name]))


@pytest.mark.parametrize("name", NAMES)
def test_no_text_is_cut_off_or_too_small(name: str, drawn: dict[str, str]) -> None:
    assert_text_inside(drawn[name])


@pytest.mark.parametrize("name", ["process", "heat-map", "forest"])
def test_the_figure_is_valid_vega_lite(name: str, figures: dict[str, Figure]) -> None:
    alt.LayerChart.from_dict(dict(figures[name].spec))


@pytest.mark.parametrize("name", NAMES)
def test_the_png_is_not_blank(name: str, written: Path) -> None:
    content = (written / f"{name}.png").read_bytes()
    width, _ = struct.unpack(">II", content[16:24])
    assert width == 1520
    start, packed = 8, b""
    while start < len(content):
        (length,) = struct.unpack(">I", content[start : start + 4])
        if content[start + 4 : start + 8] == b"IDAT":
            packed += content[start + 8 : start + 8 + length]
        start += 12 + length
    assert len(set(zlib.decompress(packed))) > 60


@pytest.mark.parametrize("name", NAMES)
def test_the_pdf_is_complete_and_embeds_its_font(name: str, written: Path) -> None:
    content = (written / f"{name}.pdf").read_bytes()
    start = int(content.rsplit(b"startxref\n", 1)[1].split()[0])
    table = content[start:].split(b"trailer")[0].splitlines()[3:]
    assert int(content[start:].split()[2]) == len(table) + 1
    for number, line in enumerate(table, start=1):
        place = int(line.split()[0])
        assert content[place:].startswith(b"%d 0 obj\n" % number)
    assert content.startswith(b"%PDF-1.5")
    assert b"LiberationSans" in content
    assert all(int(number) <= len(table) for number in re.findall(rb"\b(\d+) 0 R\b", content))


def test_style_attributes_become_svg_attributes() -> None:
    drawn = clean_svg(
        '<svg width="1"><g id="clip0" style="fill: red; stroke:none" aria-hidden="true"/></svg>', "funnel"
    )
    assert drawn == '<svg width="1"><g id="funnel-clip0" fill="red" stroke="none"/></svg>'
