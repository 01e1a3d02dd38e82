"""What the page of themes shows: tables in the order in which they are read, and figures with their words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from quaestor.coding.visibility import Viewer
from quaestor.interviews.repository import Interviews
from quaestor.interviews.themes.cells import interview_tables
from quaestor.interviews.themes.co_occurrence import SATURATION, TOGETHER, saturation_of, stop_in_words
from quaestor.interviews.themes.figures import CODE_MAP, figure_of
from quaestor.interviews.themes.figures import SATURATION as SATURATION_FIGURE
from quaestor.interviews.themes.figures import TOGETHER as TOGETHER_FIGURE
from quaestor.interviews.themes.quotations import themes_seen
from quaestor.interviews.themes.records import Themes
from quaestor.interviews.themes.tables import MATRIX, QUOTATIONS, THEMES, base_notes
from quaestor.render.table_model import Table

_FIGURES = {MATRIX: CODE_MAP, SATURATION: SATURATION_FIGURE, TOGETHER: TOGETHER_FIGURE}


@dataclass(frozen=True)
class ThemeSection:
    """A table of the page, and the figure that goes with it."""

    table: Table
    figure: str = ""
    alt: str = ""
    """The figure in words."""
    size: tuple[int, int] = (0, 0)
    """Width and height of the figure, so that a page keeps its room."""
    notes: tuple[str, ...] = ()
    """What is said below the table, without what is said of all tables once."""
    codes: Mapping[str, str] | None = None
    """By row the code that it is about, where rows are codes."""


@dataclass(frozen=True)
class ThemesPage:
    """The page."""

    themes: Themes
    sections: tuple[ThemeSection, ...]
    base: tuple[str, ...]
    """What was counted, said once."""
    stops: tuple[str, ...] = ()


def themes_page_seen(interviews: Interviews, viewer: Viewer) -> ThemesPage:
    """The page for somebody who reads; made once as long as what they may see stays the same."""
    themes = themes_seen(interviews, viewer)
    what = f"page of themes: {viewer.role}, {themes.rounds}"
    return interviews.computed_once(what, themes, lambda: themes_page(themes))


def themes_page(themes: Themes) -> ThemesPage:
    """All of it; nothing but why, where no words were coded that the viewer may see."""
    base = base_notes(themes)
    if not themes.quotations:
        return ThemesPage(themes, (), base)
    stops = tuple(stop_in_words(stop) for stop in saturation_of(themes).stops)
    sections = [
        _section(themes, table, {*base, *stops}) for table in interview_tables(themes) if table.id != QUOTATIONS
    ]
    return ThemesPage(themes, tuple(sections), base, stops)


def _section(themes: Themes, table: Table, said: set[str]) -> ThemeSection:
    notes = tuple(note for note in table.notes if note not in said)
    known = {code.id for code in themes.codes} | {code.theme for code in themes.codes}
    codes = {row.key: row.key.removesuffix(" itself") for row in table.rows()} if table.id in (THEMES, MATRIX) else {}
    theme_section = ThemeSection(table, notes=notes, codes={row: code for row, code in codes.items() if code in known})
    if table.id not in _FIGURES:
        return theme_section
    figure = figure_of(themes, _FIGURES[table.id])
    return replace(theme_section, figure=figure.name, alt=figure.alt, size=figure.size)
