"""The sections on surveys in a report: response rates, every question as table and figure, and coded themes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import replace

from quaestor.base.errors import InputError, SettingsError, StateError
from quaestor.base.names import join_with_and, slugify
from quaestor.coding.model.state import State
from quaestor.coding.session import CodingSession
from quaestor.render.report_parts import Fact, Section
from quaestor.render.table_model import Table
from quaestor.study.contributions import ReportPart
from quaestor.study.folder import Study
from quaestor.surveys.lifecycle import (
    INVITATIONS_FILE,
    OPEN,
    Surveys,
    answers_path,
    fieldings,
    open_surveys,
    survey_files,
)
from quaestor.surveys.model.records import ResponseStatus
from quaestor.surveys.store.answers import AnswerFile
from quaestor.surveys.store.invitations import InvitationFile


class SurveySection:
    """Implements `study.contributions.ReportSection`; a survey is reported once it is closed or imported."""

    def is_used(self, study: Study) -> bool:
        return answers_path(study).exists() or bool(survey_files(study))

    def why_not_ready(self, study: Study, state: State) -> str:
        if list_reportable(study, state):
            return ""
        still_open = [name for name, fielding in fieldings(state.unhandled_acts).items() if fielding.status == OPEN]
        if still_open:
            name = still_open[0]
            return f"the survey {name!r} is still open: close it with `quaestor survey close {name}`"
        return "no survey has a finished response yet: open one, or import answers with `quaestor survey import`"

    def build(self, session: CodingSession, used_names: Collection[str], notify: Callable[[str], None]) -> ReportPart:
        names = set(used_names)
        sections, facts, notices, responses = [], [], [], 0
        with open_surveys(session) as surveys:
            reportable = list_reportable(session.study, session.state)
            for name in reportable:
                section, base, synthetic, unsettled = _build_section(surveys, name, names, notify)
                sections.append(section)
                responses += base
                words = f"responses to {name}" if len(reportable) > 1 else "survey responses"
                facts.append(Fact(f"{base:,}", words))
                if synthetic:
                    notices.append(f"{synthetic:,} of {base:,} responses to the survey {name} are synthetic.")
                notices += unsettled
        return ReportPart(tuple(sections), f"{responses:,} survey responses", tuple(notices), tuple(facts))


def list_reportable(study: Study, state: State) -> list[str]:
    """Lists the closed and imported surveys with a finished response that the lead did not exclude."""
    if not answers_path(study).exists():
        return []
    states = fieldings(state.unhandled_acts)
    with AnswerFile(answers_path(study)) as answers:
        finished = {name: answers.counts(name)[ResponseStatus.FINISHED] for name in answers.surveys()}
    return sorted(
        name
        for name, count in finished.items()
        if (name not in states or states[name].status != OPEN)
        and count > (len(states[name].dropped) if name in states else 0)
    )


def fingerprint(study: Study) -> str:
    """Returns a stamp that changes with every answer, withdrawal and invitation."""
    if not answers_path(study).exists():
        return ""
    with AnswerFile(answers_path(study)) as answers:
        names = answers.surveys()
        stamps = [(name, answers.mark(name)) for name in names]
    path = study.root / INVITATIONS_FILE
    if not path.exists():
        return repr(stamps)
    with InvitationFile(path) as invitations:
        return repr([*stamps, *((name, invitations.sent(name, without_unmailed=True)) for name in names)])


def _build_section(
    surveys: Surveys, name: str, used_names: set[str], notify: Callable[[str], None]
) -> tuple[Section, int, int, list[str]]:
    """Returns the section of a survey, its counted and its synthetic responses, and notes on unsettled themes."""
    # Imported here: every command loads the features, and drawing and statistics take most of a second to import.
    from quaestor.surveys.invitations import response_rates
    from quaestor.surveys.model.question_kinds import kind_of
    from quaestor.surveys.results.compute import survey_results
    from quaestor.surveys.results.export import demographic_questions
    from quaestor.surveys.results.sentences import consents_in_words, counted_in_words
    from quaestor.surveys.results.tables import build_tables, demographics, rates_table
    from quaestor.surveys.results.weighting import weights_table

    def free(table: Table) -> Table:
        """Gives a table an unused name; the report never links to single answers."""
        table_id = f"{name}-{table.id}"
        while table_id in used_names:
            table_id = f"{name}-{table_id}"
        used_names.add(table_id)
        notify(f"table {table_id}: {table.title} ({table.size})")
        return replace(table, id=table_id).without_selections()

    results = survey_results(surveys, name)
    rates = response_rates(surveys, name)
    about = demographic_questions(results)
    shown = [rates_table(rates)] if rates.whole.sent else []
    shown += [demographics(results, about)] if about else []
    shown += [weights_table(results.weights)] if results.weights is not None else []
    unsettled: list[str] = []
    shown += _list_themes(surveys, name, unsettled)
    figures = []
    for result in results.tabled:
        figure = kind_of(result.question).draw(result, None) if result.base else None
        if figure is not None:
            figures.append(replace(figure, name=f"{name}-{figure.name}"))
    words = " ".join(
        [
            *counted_in_words(results),
            *consents_in_words(results),
            "Each question has its own base: those who answered it. The tables of the questions are collapsed.",
        ]
    )
    tables, folded = tuple(map(free, shown)), tuple(map(free, build_tables(results)))
    section = Section(f"Survey: {results.title or name}", words, tuple(figures), tables, folded)
    return section, results.base, results.synthetic, unsettled


def _list_themes(surveys: Surveys, name: str, unsettled: list[str]) -> Iterator[Table]:
    """Yields a table of themes for each settled round and facet on open answers to a survey, and notes the others.

    Further tables cross the themes by the questions that `[report] themes_by` names and the survey has.
    """
    from quaestor.surveys.results.counting import CountingCache
    from quaestor.surveys.themes import count_themes, find_coded_facets, themes_table
    from quaestor.surveys.themes_by_group import cross_themes, themes_by_group_table

    room = CountingCache()
    for round_name, facet in find_coded_facets(surveys.coding.state, name):
        try:
            themes = count_themes(surveys.coding, round_name, facet)
        except StateError as error:
            unsettled.append(f"Themes of the round {round_name} are left out: {error}.")
            continue
        answers = f"open answers to {join_with_and(themes.surveys)}" if len(themes.surveys) > 1 else "open answers"
        title, table_id = f"Themes of {answers}: {facet}", f"themes-{round_name}-{facet}"
        yield replace(themes_table(themes), id=table_id, title=title)
        for by in surveys.study.settings.report.themes_by:
            if not _has_question(surveys, name, by) and any(_has_question(surveys, at, by) for at in surveys.names()):
                continue
            try:
                crossed = cross_themes(surveys, themes, by, room)
            except InputError as error:
                raise SettingsError(f"study.toml: report.themes_by names {by!r}: {error}") from None
            table = themes_by_group_table(crossed)
            yield replace(table, id=f"{table_id}-by-{slugify(by)}", title=f"{title}, by “{crossed.groups.label}”")


def _has_question(surveys: Surveys, name: str, by: str) -> bool:
    return surveys.questionnaire(name).question(by.partition(".")[0]) is not None
