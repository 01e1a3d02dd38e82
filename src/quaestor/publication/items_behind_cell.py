"""Finds the items behind a cell of the report."""

from __future__ import annotations

from quaestor.base.errors import InputError, StateError
from quaestor.base.names import join_with_or, suggest
from quaestor.evidence.facts_cache import find_facts_in_strands
from quaestor.evidence.item_facts import ItemFacts
from quaestor.evidence.records import ExampleItem
from quaestor.interviews.report_section import themes_to_publish
from quaestor.interviews.themes.cells import find_quotations_behind
from quaestor.interviews.themes.records import Quotation
from quaestor.interviews.themes.records import describe_selection as quotations_in_words
from quaestor.measures.item_columns import ANY_VALUE
from quaestor.publication.publication import NOTHING_RECORDED, open_computed, why_no_results
from quaestor.publication.results.item_columns import StudyResults
from quaestor.publication.results.round_tables import RoundResults, compute_round_results
from quaestor.publication.results.tables import items_of_cell
from quaestor.publication.results.values import Computed, compute_findings
from quaestor.render.table_model import Selection
from quaestor.study.folder import Study

FINDING, JOINT = "finding", "joint"


def items_behind(study: Study, cell: str) -> tuple[list[ExampleItem], str]:
    """Returns the items of `TABLE:ROW:COLUMN` and a description of what they have in common."""
    own = [table.table for table in study.settings.tables]
    if study.settings.joint_display.strands and cell.startswith(f"{JOINT}:") and JOINT not in own:
        raise _explain_joint_cell(study, cell)
    with open_computed(study, needs_results=False) as computed:
        results, study = computed.results, computed.study
        rounds = compute_round_results(computed.state) if computed.state and not study.settings.results.code else None
        if rounds is not None and cell.partition(":")[0] in [table.id for table in rounds.tables]:
            return _items_of_round(study, rounds, cell)
        # Interviews are handled directly: their cells count quotations, which no other feature has.
        if cell.partition(":")[0] not in (*own, FINDING) and (themes := themes_to_publish(computed.coding)) is not None:
            behind = find_quotations_behind(themes, cell, own)
            return [_build_example(quotation) for quotation in behind.quotations], quotations_in_words(
                themes, behind.selection
            )
    if results is None:
        raise StateError(why_no_results(computed) if computed.coding else NOTHING_RECORDED)
    if cell.startswith(f"{FINDING}:"):
        items, selection = items_of_finding(study, results, cell)
    else:
        table = next((table for table in study.settings.tables if table.table == cell.partition(":")[0]), None)
        results = computed.results_for(table) if table is not None else results
        items, selection = items_of_cell(study, results, cell)
    return [_example(results.known[item]) for item in items], in_words(results, selection)


def _items_of_round(study: Study, rounds: RoundResults, cell: str) -> tuple[list[ExampleItem], str]:
    """Returns the items behind a cell of the tables that a study without [results] has."""
    table_id, _, rest = cell.partition(":")
    row, _, column = rest.rpartition(":")
    table = next(table for table in rounds.tables if table.id == table_id)
    counted = table.cell(row, column)
    if counted is None or counted.selection is None:
        known = [f"{table_id}:{known_row.key}:{table.columns[0].key}" for known_row in table.rows()]
        raise InputError(f"{cell!r} counts no items; choose from: {suggest(cell, known)}")
    items = rounds.decided.list_matching(counted.selection.conditions)
    facts = find_facts_in_strands(study, items)
    title = next(known_row.title for known_row in table.rows() if known_row.key == row)
    return [_example(facts[item]) for item in items if item in facts], f"{table.title}: {title}"


def _explain_joint_cell(study: Study, cell: str) -> InputError:
    """Returns the error that names the command for a cell of the joint display, which counts people in some strands."""
    _, code, _ = (*cell.split(":", 2), "", "")[:3]
    rounds = join_with_or([strand.code.split(".")[0] for strand in study.settings.joint_display.strands])
    return InputError(
        f"list the items of a strand with `quaestor items --round ROUND --code {code}`, ROUND is {rounds}"
    )


def items_of_finding(study: Study, results: StudyResults, cell: str) -> tuple[list[str], Selection]:
    """Returns the items behind `finding:NUMBER:VALUE` and the selection that finds them."""
    _, number, name = (*cell.split(":", 2), "", "")[:3]
    findings = {finding.finding: finding for finding in compute_findings(Computed(study, results))}
    if number not in findings:
        options = suggest(number, findings) or "none"
        raise InputError(f"there is no finding {number!r}; choose from: {options}")
    values = {value.name: value for value in findings[number].values}
    if name not in values:
        options = suggest(name, values)
        raise InputError(f"finding {number} has no value {name!r}; choose from: {options}")
    selection = values[name].selection
    if selection is None:
        raise StateError(f"{name} of finding {number} cannot be computed: {values[name].why}")
    return results.decided.list_matching(selection.conditions), selection


def _build_example(quotation: Quotation) -> ExampleItem:
    return ExampleItem(
        quotation.item,
        quotation.words,
        (quotation.participant,),
        "",
        None,
        None,
        f"{quotation.before}{quotation.words}{quotation.after}",
    )


def _example(facts: ItemFacts) -> ExampleItem:
    created = facts.created.date().isoformat() if facts.created else ""
    return ExampleItem(facts.item, facts.title, facts.tags, created, facts.score, facts.views, link=facts.link)


def in_words(results: StudyResults, selection: Selection) -> str:
    """Describes what the items of a selection have in common."""
    parts = []
    for name, keys in selection.conditions:
        if tuple(keys) == (ANY_VALUE,):
            parts.append(f"with a {name}")
            continue
        attribute = results.decided.get_attribute(name)
        parts.append(f"{name} {' or '.join(attribute.get_title(key) if key else 'none' for key in keys)}")
    return ", ".join(parts) or "all decided items"
