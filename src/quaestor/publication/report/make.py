"""Builds the report of a study: computes, draws and writes everything."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from quaestor import __version__
from quaestor.base.errors import SettingsError, StateError
from quaestor.base.files import build_folder
from quaestor.coding.model.state import State
from quaestor.evidence.facts_cache import find_facts_in_strands
from quaestor.evidence.item_facts import ItemFacts
from quaestor.measures.item_columns import ANY_VALUE, NONE, DecidedItems
from quaestor.publication.audit.printed import read_printed
from quaestor.publication.audit.records import Audit
from quaestor.publication.audit.run import audit_json
from quaestor.publication.publication import (
    NOTHING_RECORDED,
    Publication,
    audit_study,
    compute_publication,
    open_computed,
    why_no_results,
)
from quaestor.publication.publication_status import GuardedPublication, record_build, stamp_inputs
from quaestor.publication.report.parts import LastBuild, ReportParts
from quaestor.publication.report.write import MARK, Report, write_audit_page, write_report
from quaestor.publication.results import figures
from quaestor.publication.results.item_columns import YEAR, StudyResults, find_synthetic_note
from quaestor.publication.results.joint_display import build_joint_part
from quaestor.publication.results.memos import build_memos_part
from quaestor.publication.results.round_tables import RoundResults, compute_round_results
from quaestor.publication.results.threats import list_threats
from quaestor.publication.results.values import Computed, list_failures
from quaestor.render.figures.records import FigurePlan
from quaestor.render.report_parts import MOST_LISTED, Fact, ItemColumns, ListedItem, Section
from quaestor.render.table_model import Table
from quaestor.study.contributions import ReportPart, ReportSection
from quaestor.study.features import report_sections
from quaestor.study.folder import Study
from quaestor.study.session import collector_paused

Notify = Callable[[str], None]


@dataclass(frozen=True)
class ReportOutcome:
    """Where the report is, and which findings its values no longer support."""

    folder: Path
    tables: int
    figures: int
    findings: int
    supported: int
    failures: tuple[str, ...]
    missing: dict[str, str]
    audit: Audit | None
    undecided: tuple[str, ...] = ()
    """A sentence for each round with undecided items, which are left out."""
    stale: tuple[str, ...] = ()
    """A sentence if the counts of the funnel are out of date."""


def report_folder(study: Study) -> Path:
    return study.published / "report"


class NotFullyDecided(StateError):
    """A round behind the report is not fully decided, and nobody asked to leave its undecided items out."""


def build_report(
    study: Study, notify: Notify, *, with_audit: bool = True, leave_out_undecided: bool = False
) -> ReportOutcome:
    """Rebuilds every table, figure and finding into published/report; the same study gives the same bytes.

    The new report replaces the old one as a whole; an interrupted build leaves the old one unchanged. Raises
    NotFullyDecided if items are undecided, unless they are to be left out, which the report then says at its top.
    """
    guarded = GuardedPublication(study, "report")
    parts_record = study.evidence / "made" / "report-parts.json"
    with ReportParts(LastBuild.read(report_folder(study), parts_record)) as files, collector_paused():
        files.start_drawing()
        with open_computed(study, needs_results=False) as computed:
            state = computed.coding.state if computed.coding else State()
            # Must come before any transcript is read: a withdrawal from here on makes the build out of date.
            inputs = stamp_inputs(study, state)
            rounds = compute_round_results(state) if not study.settings.results.code else None
            ready = _list_ready_sections(computed, state, notify, is_empty=computed.results is None and rounds is None)
            if computed.undecided and not leave_out_undecided:
                raise NotFullyDecided(
                    f"{' '.join(computed.undecided_notes())} Settle them, or run "
                    "`quaestor report --undecided leave-out`, and the report will say so"
                )
            figures = _plan_figures(computed, rounds)
            files.submit(figure for planned in figures for figure in planned)
            publication = compute_publication(computed, notify)
            parts = [_build_rounds_part(study, rounds)] if rounds is not None else []
            joint = build_joint_part(computed.coding, notify) if computed.coding else None
            parts += [joint] if joint is not None else []
            parts += _build_parts(computed, ready, [*publication.tables, *_list_tables(parts)], notify)
            used_names = {*publication.tables, *_list_tables(parts)}
            memos = build_memos_part(computed.coding, used_names, notify) if computed.coding else None
            parts += [memos] if memos is not None else []
            audit = audit_study(publication) if with_audit and read_printed(study) is not None else None
            columns = _list_round_items(study, rounds) if rounds is not None else None
            report = _report(publication, figures, parts, columns, has_audit=audit is not None)
        with build_folder(report_folder(study), kind="report", marker=MARK, guard_placement=guarded.placing) as folder:
            write_report(report, folder, files, notify)
            if audit is not None:
                text = json.dumps(audit_json(audit), indent=2, ensure_ascii=False)
                (folder / "audit.json").write_bytes(f"{text}\n".encode())
                linked = report.columns is not None
                write_audit_page(audit, folder, title=report.title, generated_by=report.generated_by, linked=linked)
        files.record(parts_record)
    record_build(study, "report", inputs, guarded.stamps, _describe_origin(publication, parts))
    drawn = sum(len(section.figures) for section in report.sections)
    failed = tuple(list_failures(publication.findings))
    return ReportOutcome(
        report_folder(study),
        sum(len(section.tables) + len(section.folded) for section in report.sections),
        drawn,
        len(publication.findings),
        sum(finding.holds for finding in publication.findings),
        failed,
        dict(publication.missing),
        audit,
        tuple(publication.computed.undecided_notes()),
        tuple(publication.computed.funnel_notes()),
    )


def _list_ready_sections(computed: Computed, state: State, notify: Notify, *, is_empty: bool) -> list[ReportSection]:
    """Returns the sections of features; raises StateError if a report that `is_empty` otherwise has none."""
    study = computed.study
    used = [section for section in report_sections() if section.is_used(study)]
    reasons = {section: section.why_not_ready(study, state) for section in used}
    ready = [section for section, reason in reasons.items() if not reason and computed.coding]
    if is_empty and not ready:
        codes_items = not used or study.settings.rounds or study.settings.sources
        why = why_no_results(computed) if computed.coding else NOTHING_RECORDED
        raise StateError("; ".join([*([why] if codes_items else []), *filter(None, reasons.values())]))
    for reason in filter(None, reasons.values()):
        notify(f"left out: {reason}")
    return ready


def _build_parts(
    computed: Computed, sections: Iterable[ReportSection], used_names: Iterable[str], notify: Notify
) -> list[ReportPart]:
    parts: list[ReportPart] = []
    if computed.coding is None:
        return parts
    for section in sections:
        parts.append(section.build(computed.coding, {*used_names, *_list_tables(parts)}, notify))
    return parts


def _list_tables(parts: Iterable[ReportPart]) -> list[str]:
    return [table.id for part in parts for section in part.sections for table in (*section.tables, *section.folded)]


def _build_rounds_part(study: Study, rounds: RoundResults) -> ReportPart:
    """Returns the section of a study that names no final codes: the codes of each round, facet by facet."""
    section = Section(
        "Codes",
        "How many items have each code, for every coded facet of every closed round. Name the facet with the final "
        "codes in [results] for tables by year, level and group.",
        rounds.figures,
        rounds.tables,
    )
    notices = _describe_synthetic(find_synthetic_note(study))
    notices += ["The raters were simulated."] if rounds.simulated else []
    count = f"{len(rounds.decided):,}"
    return ReportPart((section,), f"{count} decided items", tuple(notices), (Fact(count, "decided items"),))


def _report(
    publication: Publication,
    figures: PlannedFigures,
    parts: Sequence[ReportPart],
    round_columns: ItemColumns | None,
    *,
    has_audit: bool,
) -> Report:
    computed, results = publication.computed, publication.computed.results
    about = computed.study.settings.study
    return Report(
        title=about.title or about.name,
        description=about.description,
        notices=(
            *_list_notices(results),
            *computed.undecided_notes(),
            *computed.funnel_notes(),
            *(notice for part in parts for notice in part.notices),
            *computed.blindness_notes(),
        ),
        facts=(*_facts(publication), *(fact for part in parts for fact in part.facts)),
        findings=publication.findings,
        sections=(*_sections(publication, figures), *(section for part in parts for section in part.sections)),
        threats=list_threats(computed if results is not None else replace(computed, funnel=None)),
        missing=publication.missing,
        columns=item_columns(results) if results is not None else round_columns,
        generated_by=f"Made by quaestor {__version__} from {_describe_origin(publication, parts)}",
        address=computed.study.settings.report.address,
        has_audit=has_audit,
        quotations=next((part.quotations for part in parts if part.quotations is not None), None),
    )


def _describe_origin(publication: Publication, parts: Sequence[ReportPart]) -> str:
    results = publication.computed.results
    origins = [f"{len(results.decided):,} decided items"] if results is not None else []
    return " and ".join([*origins, *(part.made_from for part in parts)])


def _list_notices(results: StudyResults | None) -> list[str]:
    if results is None:
        return []
    notes = _describe_synthetic(results.synthetic)
    if results.coded.simulated:
        notes.append("The raters were simulated.")
    if results.coded.source:
        notes.append(f"The codes are published labels ({results.coded.source}), not ratings of this study.")
    if results.coded.pooled:
        notes.append(results.coded.pooled)
    return notes


def _describe_synthetic(note: str) -> list[str]:
    return [f"{note[:1].upper()}{note[1:]}. The numbers say nothing about the real world."] if note else []


def _facts(publication: Publication) -> list[Fact]:
    if publication.computed.results is None:
        return []
    results = publication.results
    facts = [Fact(f"{len(results.decided):,}", "decided items")]
    undecided = {item for undecided in publication.computed.undecided for item in undecided.items}
    if undecided:
        facts.append(Fact(f"{len(undecided):,}", "undecided items, left out"))
    tree = results.coded.book.facets[publication.computed.study.settings.results.tree]
    for level in tree.levels:
        codes = results.decided.get_attribute(level).codes
        facts.append(Fact(f"{len(set(codes[codes >= 0].tolist())):,}", f"{level} codes in use"))
    years = results.decided.get_attribute(YEAR).keys
    if years:
        span = Fact(f"{years[0]}–{years[-1]}", "years") if len(years) > 1 else Fact(f"{years[0]}", "year")
        facts.append(span)
    holding = sum(finding.holds for finding in publication.findings)
    if publication.findings:
        facts.append(Fact(f"{holding} of {len(publication.findings)}", "findings supported"))
    return facts


PlannedFigures = tuple[tuple[FigurePlan, ...], ...]
"""The figures of method, taxonomy, and popularity and difficulty."""


def _plan_figures(computed: Computed, rounds: RoundResults | None) -> PlannedFigures:
    results = computed.results
    if results is None:
        method = (figures.process_figure(computed), figures.funnel_figure(computed), figures.forest_figure(computed))
        return (tuple(plan for plan in method if plan is not None and rounds is not None), (), ())
    plans = (
        (
            figures.process_figure(computed),
            figures.funnel_figure(computed),
            figures.forest_figure(computed),
            figures.discrepancy_figure(computed),
        ),
        (
            figures.by_year_figure(computed, results),
            figures.treemap_figure(computed, results),
            figures.heat_map_figure(computed, results),
            figures.trend_figure(computed, results),
        ),
        (figures.popularity_figure(computed, results),),
    )
    return tuple(tuple(plan for plan in section if plan is not None) for section in plans)


def _sections(publication: Publication, planned: PlannedFigures) -> list[Section]:
    computed = publication.computed
    settings_by_table = {table.table: table for table in computed.study.settings.tables}
    # The page of items lists decided items only, so cells that count excluded ones have no link.
    tables = {
        name: table.without_selections() if settings_by_table[name].excluded else table
        for name, table in publication.tables.items()
    }

    def chosen(*kinds: str, folded: bool = False) -> tuple[Table, ...]:
        return tuple(
            table
            for name, table in tables.items()
            if settings_by_table[name].kind in kinds
            and (bool(settings_by_table[name].where) == folded or settings_by_table[name].kind != "counts")
        )

    method, taxonomy, popularity = planned
    sections = [
        Section(
            "Method",
            "From all items of the sources to the items behind the numbers: what each step kept, how well independent "
            "raters agreed, and whether the codes reached saturation.",
            method,
        ),
        Section(
            "The taxonomy",
            "Topics of the items, level by level, by year and by group. Tables of a single part are collapsed.",
            taxonomy,
            chosen("counts", "codes", "correlations", "association", "trends"),
            chosen("counts", folded=True),
        ),
        Section(
            "Popularity and difficulty",
            "Views and scores measure how many people look for something, the days to an accepted answer how hard it "
            "is. All three have long tails, so medians are shown; a median of few items says "
            "little.",
            popularity,
            chosen("medians", "summaries", "measures", "comparison", "filter"),
        ),
    ]
    return [section for section in sections if section.figures or section.tables or section.folded]


def _list_round_items(study: Study, rounds: RoundResults) -> ItemColumns | None:
    """Returns the items behind the codes of rounds; None if there are too many, or their evidence is missing."""
    decided = rounds.decided
    if len(decided) > MOST_LISTED or not study.settings.sources:
        return None
    try:
        known = find_facts_in_strands(study, decided.items)
    except (SettingsError, StateError):
        return None
    is_synthetic = bool(find_synthetic_note(study))
    items = tuple(
        list_item(known[item], linked=not is_synthetic) if item in known else ListedItem(item, item, *_NO_FACTS)
        for item in decided.items
    )
    return ItemColumns(items, _list_attributes(decided))


_NO_FACTS = ("", "", "", "", None, None, None)


def item_columns(results: StudyResults) -> ItemColumns | None:
    """Returns the items for the page that lists the items behind a number."""
    decided = results.decided
    if len(decided) > MOST_LISTED:
        return None
    # The address of a synthetic post belongs to a real one.
    items = tuple(list_item(results.known[item], linked=not results.synthetic) for item in decided.items)
    # For a measure, only whether an item has a value is needed.
    measured = {
        name: ((ANY_VALUE,), ("some",), tuple(np.where(np.isnan(values), NONE, 0).tolist()))
        for name, values in decided.numbers.items()
    }
    return ItemColumns(items, {**_list_attributes(decided), **measured})


def list_item(facts: ItemFacts, *, linked: bool) -> ListedItem:
    """Returns an item as the page of items shows it."""
    created = facts.created.date().isoformat() if facts.created else ""
    days = None if facts.response_days is None else round(facts.response_days, 4)
    return ListedItem(
        facts.item,
        facts.title,
        facts.link if linked else "",
        facts.author,
        facts.licence,
        created,
        facts.views,
        facts.score,
        days,
    )


def _list_attributes(decided: DecidedItems) -> dict[str, tuple[tuple[str, ...], tuple[str, ...], tuple[int, ...]]]:
    return {
        name: (attribute.keys, attribute.titles, tuple(attribute.codes.tolist()))
        for name, attribute in decided.attributes.items()
    }
