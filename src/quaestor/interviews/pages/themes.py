"""The page of interview results: tables in reading order, and figures with their text alternatives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from quaestor.coding.visibility import Viewer
from quaestor.interviews.repository import Interviews
from quaestor.interviews.themes.cells import build_interview_tables
from quaestor.interviews.themes.co_occurrence import SATURATION, TOGETHER, compute_saturation, describe_stop
from quaestor.interviews.themes.figures import CODE_MAP, draw_figure
from quaestor.interviews.themes.figures import SATURATION as SATURATION_FIGURE
from quaestor.interviews.themes.figures import TOGETHER as TOGETHER_FIGURE
from quaestor.interviews.themes.participant_groups import TABLES, build_attribute_tables, explain_missing_groups
from quaestor.interviews.themes.quotations import read_visible_themes
from quaestor.interviews.themes.records import InterviewThemes
from quaestor.interviews.themes.tables import MATRIX, QUOTATIONS, THEMES, base_notes
from quaestor.render.table_model import Table

_FIGURES = {MATRIX: CODE_MAP, SATURATION: SATURATION_FIGURE, TOGETHER: TOGETHER_FIGURE}


@dataclass(frozen=True)
class ThemeSection:
    """A table of the page, and its figure."""

    table: Table
    figure: str = ""
    alt: str = ""
    """The text alternative of the figure."""
    size: tuple[int, int] = (0, 0)
    """Width and height of the figure, so that the page reserves the space."""
    notes: tuple[str, ...] = ()
    """Notes below the table, without those that apply to all tables."""
    codes: Mapping[str, str] | None = None
    """The code of each row, if rows are codes."""


@dataclass(frozen=True)
class ThemesPage:
    """Everything that the page shows."""

    themes: InterviewThemes
    sections: tuple[ThemeSection, ...]
    base: tuple[str, ...]
    """Notes that apply to all tables."""
    stops: tuple[str, ...] = ()
    by: str = ""
    """The attribute of participants that the reader chose to compare by."""
    missing: str = ""
    """Why there is no table by this attribute."""


def themes_page_seen(interviews: Interviews, viewer: Viewer, by: str = "") -> ThemesPage:
    """Builds the page for a viewer, cached as long as what they may see stays the same."""
    themes = read_visible_themes(interviews, viewer)
    if by:  # first, so that a reader's mistake is not cached
        return _compare_by(themes_page_seen(interviews, viewer), by)
    what = f"page of themes: {viewer.role}, {themes.rounds}"
    return interviews.computed_once(what, themes, lambda: themes_page(themes))


def themes_page(themes: InterviewThemes) -> ThemesPage:
    """Builds the page; without visible quotations it has only the notes."""
    base = base_notes(themes)
    if not themes.quotations:
        return ThemesPage(themes, (), base)
    stops = tuple(describe_stop(stop) for stop in compute_saturation(themes).stops)
    sections = [
        _section(themes, table, {*base, *stops}) for table in build_interview_tables(themes) if table.id != QUOTATIONS
    ]
    return ThemesPage(themes, tuple(sections), base, stops)


def _compare_by(page: ThemesPage, by: str) -> ThemesPage:
    """Adds the table of themes by an attribute, in front of the others of its kind."""
    table = next(iter(build_attribute_tables(page.themes, [by])), None)
    if table is None:
        return replace(page, by=by, missing=explain_missing_groups(page.themes, by))
    others = [section for section in page.sections if section.table.id != table.id]
    section = _section(page.themes, table, set(page.base))
    return replace(page, sections=(*others[:1], section, *others[1:]), by=by)


def _section(themes: InterviewThemes, table: Table, common_notes: set[str]) -> ThemeSection:
    notes = tuple(note for note in table.notes if note not in common_notes)
    known = {code.id for code in themes.codes} | {code.theme for code in themes.codes}
    has_codes = table.id in (THEMES, MATRIX) or table.id.startswith(TABLES)
    codes = {row.key: row.key.removesuffix(" itself") for row in table.rows()} if has_codes else {}
    theme_section = ThemeSection(table, notes=notes, codes={row: code for row, code in codes.items() if code in known})
    if table.id not in _FIGURES:
        return theme_section
    figure = draw_figure(themes, _FIGURES[table.id])
    return replace(theme_section, figure=figure.name, alt=figure.alt, size=figure.size)
