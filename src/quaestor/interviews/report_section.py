"""The section on interviews in a report: tables, figures, and the quotations behind its numbers."""

from __future__ import annotations

from collections.abc import Callable, Collection

from quaestor.base.errors import StateError
from quaestor.coding.model.state import State
from quaestor.coding.session import CodingSession
from quaestor.interviews.overview import has_interviews
from quaestor.interviews.repository import Interviews, interviews_path, open_files
from quaestor.interviews.themes.quotations import NOTHING, guard_groups, has_themes, read_themes
from quaestor.interviews.themes.records import InterviewThemes, build_columns
from quaestor.render.report_parts import MOST_LISTED, Fact, ItemColumns, ListedItem, Section
from quaestor.study.contributions import ReportPart
from quaestor.study.folder import Study

_WORDS = (
    "What participants said, as coded by raters: how many mention each theme, whether new interviews still add new "
    "codes, and which reference items they name. Participants have pseudonyms. Every number of participants, mentions "
    "and codes links to its quotations, except for items that were only ticked in a conversation."
)

_UNLINKED = "Numbers by an attribute of participants link to none, so that nobody can be identified."


def has_themes_to_publish(study: Study, state: State) -> bool:
    """Whether a round on transcripts has any decision."""
    return interviews_path(study).exists() and has_themes(state)


def themes_to_publish(coding: CodingSession | None) -> InterviewThemes | None:
    """Returns the results of the closed rounds on transcripts; None if they have no decisions yet."""
    if coding is None or not has_themes_to_publish(coding.study, coding.state):
        return None
    interviews = Interviews(coding, *open_files(coding.study))
    try:
        return guard_groups(interviews, read_themes(interviews))
    finally:
        interviews.close()


class InterviewSection:
    """Implements `study.contributions.ReportSection`."""

    def is_used(self, study: Study) -> bool:
        return has_interviews(study)

    def why_not_ready(self, study: Study, state: State) -> str:
        return "" if has_themes_to_publish(study, state) else NOTHING

    def build(self, session: CodingSession, used_names: Collection[str], notify: Callable[[str], None]) -> ReportPart:
        # Imported here: every command loads the features, and drawing and statistics take most of a second to import.
        from quaestor.interviews.themes.cells import build_interview_tables
        from quaestor.interviews.themes.figures import draw_figures
        from quaestor.interviews.themes.participant_groups import TABLES

        themes = themes_to_publish(session)
        if themes is None:
            raise StateError(NOTHING)
        tables = build_interview_tables(themes, used_names)
        figures = draw_figures(themes)
        for table in tables:
            notify(f"table {table.id}: {table.title} ({table.size})")
        *shown, all_quotations = tables
        words = f"{_WORDS} {_UNLINKED}" if any(table.id.startswith(TABLES) for table in shown) else _WORDS
        section = Section("Interviews", words, tuple(figures), tuple(shown), (all_quotations,), quoted=True)
        notices = []
        if themes.synthetic:
            notices.append("The interviews are synthetic: nobody said any of these words.")
        if themes.simulated:
            notices.append("The raters of the interviews were simulated.")
        if uncounted := sum(turns.total for turns in themes.uncounted):
            noun = "turn of the interviews is" if uncounted == 1 else "turns of the interviews are"
            notices.append(f"{uncounted:,} {noun} not counted; the notes below the tables say why.")
        facts = (
            Fact(f"{len(themes.participants):,}", "participants interviewed"),
            Fact(f"{len(themes.codes):,}", "codes in use"),
            Fact(f"{len(themes.quotations):,}", "quotations"),
        )
        made_from = f"{len(themes.quotations):,} quotations"
        return ReportPart((section,), made_from, tuple(notices), facts, quotation_columns(themes))


def quotation_columns(themes: InterviewThemes) -> ItemColumns | None:
    """Returns the quotations for the page that lists those behind a number; None if there are too many."""
    if len(themes.quotations) > MOST_LISTED:
        return None
    items = tuple(
        ListedItem(
            quotation.item,
            f"“{quotation.words}”",
            "",
            quotation.participant,
            "",
            "",
            None,
            None,
            None,
            _format_question(quotation.question_text),
        )
        for quotation in themes.quotations
    )
    attributes = {
        name: (attribute.keys, attribute.titles, tuple(attribute.codes.tolist()))
        for name, attribute in build_columns(themes).attributes.items()
    }
    return ItemColumns(items, attributes)


def _format_question(question: str) -> str:
    return f"asked: {question}" if question else ""
