"""Computes everything that is published of a study once: tables, findings, quantities, audit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace

from quaestor.base.errors import QuaestorError, SettingsError, StateError
from quaestor.base.names import suggest
from quaestor.coding.agreement import compute_round_agreement
from quaestor.coding.model.decisions import Undecided, find_excluded_items, find_undecided
from quaestor.coding.model.facet_kinds import find_kind
from quaestor.coding.model.facet_kinds.keep import KeepKind
from quaestor.coding.model.records import SURVEYS
from quaestor.coding.model.state import CLOSED, State
from quaestor.coding.model.views import needs_consent, require_lead_view
from quaestor.coding.rating_files import record_view
from quaestor.coding.session import CodingSession, open_coding
from quaestor.evidence.funnel import last_result
from quaestor.measures.records import Agreement
from quaestor.publication.audit.compare import Alternatives
from quaestor.publication.audit.printed import PRINTED_FILE, Printed, printed_folder, read_printed
from quaestor.publication.audit.records import Audit, Key
from quaestor.publication.audit.run import cells_by_name, require_printed, run_audit
from quaestor.publication.results.citations import list_position_warnings, resolve_citations
from quaestor.publication.results.decided_codes import NothingDecided, list_decided_elsewhere
from quaestor.publication.results.item_columns import StudyResults, compute_results
from quaestor.publication.results.tables import make_table
from quaestor.publication.results.values import Computed, compute_findings, compute_value
from quaestor.publication.survey_answers import with_survey
from quaestor.render.table_model import Finding, Table, Value
from quaestor.study.folder import Study, has_journal

Notify = Callable[[str], None]
NOTHING_RECORDED = "nothing has been decided yet: rate and settle a round first, or run `quaestor replicate`"
_QUICK = ("counts", "medians", "correlations")


@dataclass(frozen=True)
class Publication:
    """The computed tables, findings and quantities of a study."""

    computed: Computed
    tables: Mapping[str, Table]
    missing: Mapping[str, str]
    """By table: why it cannot be computed."""
    findings: tuple[Finding, ...]
    quantities: tuple[Value, ...]

    @property
    def results(self) -> StudyResults:
        if self.computed.results is None:
            raise StateError("nothing has been decided yet: there is nothing to publish")
        return self.computed.results


@contextmanager
def open_computed(study: Study, *, needs_results: bool = True) -> Iterator[Computed]:
    """Yields the inputs of all computations; the journal stays open inside."""
    study = study.in_results_strand()
    has_funnel = study.funnel.steps and study.settings.sources
    if not has_journal(study):
        if needs_results:
            raise StateError(NOTHING_RECORDED)
        funnel = last_result(study) if has_funnel else None
        yield Computed(study, funnel=funnel[0] if funnel else None)
        return
    with open_coding(study) as coding:
        _note_views(coding)
        funnel = last_result(study, coding) if has_funnel else None
        is_stale = funnel is not None and not funnel[1]
        results = with_excluded = None
        undecided = tuple(_list_undecided(study, coding.state))
        resolved = study
        try:
            results = compute_results(study, coding.state)
        except NothingDecided:
            if needs_results:
                raise
        else:
            count = len({item for part in undecided for item in part.items})
            results = replace(results, undecided=count)
            resolved = resolve_citations(study, coding.state.history, results.coded.book, results.keys)
            if any(table.excluded for table in study.settings.tables):
                with_excluded = compute_results(study, coding.state, with_excluded=True)
                with_excluded = replace(with_excluded, undecided=count)
        yield Computed(
            resolved,
            results,
            coding,
            funnel[0] if funnel else None,
            tuple(_agreements(coding.state)),
            undecided,
            with_excluded,
            tuple(list_position_warnings(study, results.keys)) if results is not None else (),
            is_stale,
        )


def _list_undecided(study: Study, state: State) -> Iterator[Undecided]:
    """Yields what is undecided in the closed rounds behind tables, themes, the joint display and the funnel."""
    results = study.settings.results
    in_funnel = {step.round for step in study.funnel.steps if step.round}
    compared = {strand.code.split(".")[0] for strand in study.settings.joint_display.strands}
    used = in_funnel | compared | {reference.split(".")[0] for reference in results.references}
    # Without [results] the report counts the codes of every main round; themes of open answers are always counted.
    used |= {
        name
        for name, round_state in state.rounds.items()
        if round_state.plan.kind == "main" and (not results.code or round_state.plan.origin == SURVEYS)
    }
    for settings in reversed(study.settings.rounds):  # a round names only earlier ones
        if settings.round in used and settings.items.kept_by:
            used.add(settings.items.kept_by)
    excluded = find_excluded_items(state)
    for name, round_state in state.rounds.items():
        # Coded passages are counted in themes, and a decision to exclude an item takes it out of every count.
        counts = any(find_kind(facet).has_fields or facet.kind == KeepKind.name for facet in round_state.plan.facets)
        if round_state.status != CLOSED or not (name in used or (counts and round_state.plan.kind == "main")):
            continue
        decided = frozenset() if name in in_funnel | compared else list_decided_elsewhere(state, results.code, name)
        undecided = find_undecided(state, name).without(excluded | decided)
        if undecided:
            yield undecided


def rounds_shown_to_lead(state: State, lead: str) -> list[str]:
    """Lists closed rounds whose ratings the lead sees for the first time through the results."""
    return [
        name
        for name, round_state in state.rounds.items()
        if round_state.status == CLOSED and needs_consent(state, name, lead)
    ]


def _note_views(coding: CodingSession) -> None:
    """Records that the lead has seen the ratings of each round, since results show them."""
    for name, round_state in coding.state.rounds.items():
        if round_state.status == CLOSED:
            require_lead_view(coding.state, name, coding.lead, coding.lead)
            record_view(coding, name, coding.lead)


def _agreements(state: State) -> Iterator[tuple[str, Agreement]]:
    for name, round_state in state.rounds.items():
        if round_state.status == CLOSED:
            for facet in round_state.plan.facets:
                if find_kind(facet).is_compared:
                    yield name, compute_round_agreement(state, name, facet.id)


def why_no_results(computed: Computed) -> str:
    """Returns why a study has no results, without a final full stop; empty if it has some."""
    if computed.results is not None:
        return ""
    if computed.coding is None:
        return "nothing has been decided yet"
    try:
        compute_results(computed.study, computed.coding.state)
    except NothingDecided as error:
        return str(error)
    return ""


def compute_publication(computed: Computed, notify: Notify) -> Publication:
    """Computes every table, finding and quantity; a table that cannot be computed reports why and stops nothing."""
    tables: dict[str, Table] = {}
    missing: dict[str, str] = {}
    why = why_no_results(computed)
    for warning in computed.warnings:
        notify(f"warning: {warning}")
    for table in computed.study.settings.tables:
        if computed.results is None:
            missing[table.table] = why
            continue
        try:
            tables[table.table] = make_table(computed.study, computed.results_for(table), table, computed.coding)
            notify(f"table {table.table}: {table.title} ({tables[table.table].size})")
        except StateError as error:
            missing[table.table] = str(error)
            notify(f"table {table.table}: cannot be computed: {error}")
    findings = compute_findings(computed)
    quantities = tuple(compute_value(computed, quantity) for quantity in computed.study.settings.quantities)
    return Publication(computed, tables, missing, findings, quantities)


def audit_study(publication: Publication) -> Audit:
    """Compares what was computed with what was printed."""
    study = publication.computed.study
    printed = require_printed(read_printed(study), printed_folder(study))
    _require_tables(study, printed)
    other = _alternatives(publication, printed)
    audit = run_audit(
        publication.computed,
        printed,
        publication.tables,
        publication.findings,
        publication.quantities,
        other,
        why_no_results(publication.computed),
    )
    return with_survey(audit, publication.computed.coding, study, printed)


def _require_tables(study: Study, printed: Printed) -> None:
    """Raises an error for a printed table that the study does not compute, since it could never differ."""
    tables = [table.table for table in study.settings.tables]
    for layout in printed.settings.tables:
        if tables and layout.table not in tables:
            options = suggest(layout.table, tables)
            raise SettingsError(
                f"{printed_folder(study) / PRINTED_FILE}: table {layout.table!r} is unknown; choose from: {options}"
            )


def _alternatives(publication: Publication, printed: Printed) -> Alternatives:
    """Returns the cells under other codebook versions and under the other coefficient."""
    computed = publication.computed
    if computed.results is None or computed.coding is None:
        return {}
    values: dict[str, Mapping[Key, float | str | None]] = {}
    values["Spearman's ρ"] = _other_coefficient(publication, printed)
    latest = computed.coding.state.history.latest.version
    for version in range(1, latest):
        try:
            results = compute_results(computed.study, computed.coding.state, version, computed.results)
            tables = {
                table.table: make_table(computed.study, results, table, computed.coding)
                for table in computed.study.settings.tables
                if table.kind in _QUICK and not table.where
            }
        except QuaestorError:
            continue  # items of that version cannot be counted in these tables
        values[f"version {version} of the codebook"] = cells_by_name(printed, tables)
    return values


def _other_coefficient(publication: Publication, printed: Printed) -> dict[Key, float | str | None]:
    cells: dict[Key, float | str | None] = {}
    for layout in printed.settings.tables:
        table = publication.tables.get(layout.table)
        if table is None or not any(column.key.endswith("_rho") for column in table.columns):
            continue
        for row in printed.tables[layout.table]:
            for column in row.cells:
                other = column[: -len("_r")] + "_rho" if column.endswith("_r") else ""
                matching_row = next(
                    (candidate for candidate in table.rows() if candidate.title.casefold() == row.name.casefold()), None
                )
                cell = table.cell(matching_row.key, other) if matching_row is not None and other else None
                cells[layout.table, row.name, column] = cell.values[0] if cell is not None and cell.values else None
    return cells
