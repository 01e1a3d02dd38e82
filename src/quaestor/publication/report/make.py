"""Builds the report of a study: computes, draws and writes everything."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from quaestor import __version__
from quaestor.base.errors import StateError
from quaestor.base.files import build_folder, write_atomically
from quaestor.coding.model.state import State
from quaestor.measures.item_columns import ANY_VALUE, NONE
from quaestor.publication.audit.printed import read_printed
from quaestor.publication.audit.records import Audit
from quaestor.publication.audit.run import audit_json
from quaestor.publication.publication import Publication, audit_study, compute_publication, open_computed
from quaestor.publication.publication_status import GuardedPublication, fingerprint_inputs, record_build
from quaestor.publication.report.write import MARK, Report, write_audit_page, write_report
from quaestor.publication.results import figures
from quaestor.publication.results.item_columns import YEAR, StudyResults
from quaestor.publication.results.joint_display import build_joint_part
from quaestor.publication.results.threats import list_threats
from quaestor.publication.results.values import list_failures
from quaestor.render.figures.records import Figure
from quaestor.render.report_parts import MOST_LISTED, Fact, ItemColumns, ListedItem, Section
from quaestor.render.table_model import Table
from quaestor.study.contributions import ReportPart
from quaestor.study.features import report_sections
from quaestor.study.folder import Study

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
    used = [section for section in report_sections() if section.is_used(study)]
    with open_computed(study, needs_results=not used) as computed:
        # Must come before any transcript is read: a withdrawal from here on makes the build out of date.
        fingerprint = fingerprint_inputs(study, computed.coding.state if computed.coding else State())
        ready = [section for section in used if computed.coding and section.is_ready(study, computed.coding.state)]
        if computed.results is None and not ready:
            raise StateError("; ".join(section.missing for section in used))
        if computed.undecided and not leave_out_undecided:
            raise NotFullyDecided(
                f"{' '.join(computed.undecided_notes())} Settle them, or run "
                "`quaestor report --undecided leave-out`, and the report will say so"
            )
        publication = compute_publication(computed, notify)
        parts = [section.build(computed.coding, publication.tables, notify) for section in ready if computed.coding]
        joint = build_joint_part(computed.coding, notify) if computed.coding else None
        parts = [joint, *parts] if joint is not None else parts
        audit = audit_study(publication) if with_audit and read_printed(study) is not None else None
        report = _report(publication, parts, notify, has_audit=audit is not None)
    with build_folder(report_folder(study), kind="report", marker=MARK, guard_placement=guarded.placing) as folder:
        write_report(report, folder, lambda words: None)
        if audit is not None:
            text = json.dumps(audit_json(audit), indent=2, ensure_ascii=False)
            write_atomically(folder / "audit.json", f"{text}\n".encode())
            linked = report.columns is not None
            write_audit_page(audit, folder, title=report.title, generated_by=report.generated_by, linked=linked)
    record_build(study, "report", fingerprint, guarded.stamps)
    drawn = sum(len(section.figures) for section in report.sections)
    failed = tuple(list_failures(publication.findings))
    return ReportOutcome(
        report_folder(study),
        len(publication.tables)
        + sum(len(section.tables) + len(section.folded) for section in report.sections if section.quoted),
        drawn,
        len(publication.findings),
        sum(finding.holds for finding in publication.findings),
        failed,
        dict(publication.missing),
        audit,
        tuple(publication.computed.undecided_notes()),
        tuple(publication.computed.funnel_notes()),
    )


def _report(publication: Publication, parts: Sequence[ReportPart], notify: Notify, *, has_audit: bool) -> Report:
    computed, results = publication.computed, publication.computed.results
    about = computed.study.settings.study
    origins = [f"{len(results.decided):,} decided items"] if results is not None else []
    origins += [part.made_from for part in parts]
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
        sections=(*_sections(publication, notify), *(part.section for part in parts)),
        threats=list_threats(computed if results is not None else replace(computed, funnel=None)),
        missing=publication.missing,
        columns=item_columns(results) if results is not None else None,
        generated_by=f"Made by quaestor {__version__} from {' and '.join(origins)}",
        address=computed.study.settings.report.address,
        has_audit=has_audit,
        quotations=next((part.quotations for part in parts if part.quotations is not None), None),
    )


def _list_notices(results: StudyResults | None) -> list[str]:
    notes: list[str] = []
    if results is None:
        return notes
    if results.synthetic:
        sentence = f"{results.synthetic[:1].upper()}{results.synthetic[1:]}"
        notes.append(f"{sentence}. The numbers say nothing about the real world.")
    if results.coded.simulated:
        notes.append("The raters were simulated.")
    if results.coded.source:
        notes.append(f"The codes are published labels ({results.coded.source}), not ratings of this study.")
    return notes


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
        facts.append(Fact(f"{years[0]}–{years[-1]}", "years"))
    holding = sum(finding.holds for finding in publication.findings)
    if publication.findings:
        facts.append(Fact(f"{holding} of {len(publication.findings)}", "findings supported"))
    return facts


def _sections(publication: Publication, notify: Notify) -> list[Section]:
    if publication.computed.results is None:
        return []
    computed, results = publication.computed, publication.results
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

    def drawn(*figures: Figure | None) -> tuple[Figure, ...]:
        present = tuple(figure for figure in figures if figure is not None)
        for figure in present:
            notify(f"figure {figure.name}: {figure.title}")
        return present

    sections = [
        Section(
            "Method",
            "From all items of the sources to the items behind the numbers: what each step kept, how well independent "
            "raters agreed, and whether the codes reached saturation.",
            figures=drawn(
                figures.process_figure(computed),
                figures.funnel_figure(computed),
                figures.forest_figure(computed),
                figures.discrepancy_figure(computed),
            ),
        ),
        Section(
            "The taxonomy",
            "Topics of the items, level by level, by year and by group. Tables of a single part are collapsed.",
            figures=drawn(
                figures.by_year_figure(computed, results),
                figures.treemap_figure(computed, results),
                figures.heat_map_figure(computed, results),
                figures.trend_figure(computed, results),
            ),
            tables=chosen("counts", "codes", "correlations", "association", "trends"),
            folded=chosen("counts", folded=True),
        ),
        Section(
            "Popularity and difficulty",
            "Views and scores measure how many people look for something, the days to an accepted answer how hard it "
            "is. All three have long tails, so medians are shown; a median of few items says "
            "little.",
            figures=drawn(figures.popularity_figure(computed, results)),
            tables=chosen("medians", "summaries", "measures", "comparison", "filter"),
        ),
    ]
    return [section for section in sections if section.figures or section.tables or section.folded]


def item_columns(results: StudyResults) -> ItemColumns | None:
    """Returns the items for the page that lists the items behind a number."""
    decided = results.decided
    if len(decided) > MOST_LISTED:
        return None
    items = []
    for item in decided.items:
        facts = results.known[item]
        created = facts.created.date().isoformat() if facts.created else ""
        days = None if facts.response_days is None else round(facts.response_days, 4)
        link = "" if results.synthetic else facts.link  # the address of a synthetic post belongs to a real one
        items.append(
            ListedItem(item, facts.title, link, facts.author, facts.licence, created, facts.views, facts.score, days)
        )
    attributes = {
        name: (attribute.keys, attribute.titles, tuple(attribute.codes.tolist()))
        for name, attribute in decided.attributes.items()
    }
    # For a measure, only whether an item has a value is needed.
    measured = {
        name: ((ANY_VALUE,), ("some",), tuple(np.where(np.isnan(values), NONE, 0).tolist()))
        for name, values in decided.numbers.items()
    }
    return ItemColumns(tuple(items), {**attributes, **measured})
