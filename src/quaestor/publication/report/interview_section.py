"""What interviews bring to a report: a section of tables and figures, and the quotations behind its numbers."""

from __future__ import annotations

from collections.abc import Callable, Collection

from quaestor.coding.session import Coding
from quaestor.interviews.repository import Interviews, opened_files
from quaestor.interviews.themes.cells import interview_tables
from quaestor.interviews.themes.figures import figures_of
from quaestor.interviews.themes.quotations import themes_of
from quaestor.interviews.themes.records import Themes, columns_of
from quaestor.publication.publication_status import has_themes_to_publish
from quaestor.publication.report.records import Fact, ItemColumns, ListedItem, Section
from quaestor.publication.report.write import MOST_LISTED

Tell = Callable[[str], None]
_WORDS = (
    "What participants said, as raters coded it: how many speak of each theme, whether new interviews still bring new "
    "codes, and what they name. Participants are known by pseudonyms; every number of participants, mentions and codes "
    "opens the words it counts; what was ticked in a conversation has none."
)


def themes_to_publish(coding: Coding | None) -> Themes | None:
    """The themes of the closed rounds that coded transcripts; none where they decided nothing yet."""
    if coding is None or not has_themes_to_publish(coding.study, coding.state):
        return None
    interviews = Interviews(coding, *opened_files(coding.study))
    try:
        return themes_of(interviews)
    finally:
        interviews.close()


def interview_section(themes: Themes, taken: Collection[str], tell: Tell) -> Section:
    """Their part of the report; the list of all quotations is folded."""
    tables = interview_tables(themes, taken)
    figures = figures_of(themes)
    for table in tables:
        tell(f"table {table.id}: {table.title} ({table.size})")
    for figure in figures:
        tell(f"figure {figure.name}: {figure.title}")
    folded = tables[-1:]
    return Section("Interviews", _WORDS, tuple(figures), tuple(tables[:-1]), tuple(folded), quoted=True)


def interview_notices(themes: Themes | None) -> list[str]:
    if themes is None:
        return []
    found = []
    if themes.synthetic:
        found.append("Interviews are synthetic. No word in them was said by anybody.")
    if themes.simulated:
        found.append("The raters of the interviews were simulated.")
    return found


def interview_facts(themes: Themes | None) -> list[Fact]:
    if themes is None:
        return []
    return [
        Fact(f"{len(themes.participants):,}", "participants interviewed"),
        Fact(f"{len(themes.codes):,}", "codes in what they say"),
        Fact(f"{len(themes.quotations):,}", "quotations"),
    ]


def quotation_columns(themes: Themes) -> ItemColumns | None:
    """The quotations for the page that lists those behind a number."""
    if len(themes.quotations) > MOST_LISTED:
        return None
    items = tuple(
        ListedItem(one.item, f"“{one.words}”", "", one.participant, "", "", None, None, None, _asked(one.asked))
        for one in themes.quotations
    )
    attributes = {
        name: (attribute.keys, attribute.titles, tuple(attribute.codes.tolist()))
        for name, attribute in columns_of(themes).attributes.items()
    }
    return ItemColumns(items, attributes)


def _asked(question: str) -> str:
    return f"asked: {question}" if question else ""
