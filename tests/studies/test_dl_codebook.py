"""The codebook of the deep-learning study contains exactly the printed taxonomy."""

from __future__ import annotations

import csv
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from tests.support.paths import SHARED, STUDIES

STUDY = STUDIES / "dl-implementation-issues"
PRINTED = STUDY / "printed"
TAXONOMY = SHARED / "published" / "table03-taxonomy.csv"

BY_OBJECT = {
    "table06-model-setting.csv": "model setting",
    "table09-model-training.csv": "model training",
    "table10-model-prediction.csv": "model prediction",
    "table11-model-evaluation.csv": "model evaluation",
    "table12-runtime-environment.csv": "runtime environment",
    "table13-visualization.csv": "visualization",
}
BY_GROUP = ["table05-data-processing.csv", "table08-operations.csv"]

Code = dict[str, Any]
Row = dict[str, str]
Place = tuple[str, str, str]

CODEBOOK = tomllib.loads((STUDY / "codebook.toml").read_text(encoding="utf-8"))
FACETS: dict[str, Code] = {facet["id"]: facet for facet in CODEBOOK["facet"]}
CODES: list[Code] = CODEBOOK["code"]
BY_ID: dict[str, Code] = {code["id"]: code for code in CODES}


def read_rows(path: Path) -> list[Row]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def is_total(row: Row) -> bool:
    return "(total)" in row.values()


def ancestry(code: Code) -> list[Code]:
    """The code itself and all above it, the topmost first."""
    return [*ancestry(BY_ID[code["parent"]]), code] if "parent" in code else [code]


def at_level(facet: str, level: str) -> list[Code]:
    depth = FACETS[facet]["levels"].index(level) + 1
    return [code for code in CODES if code["facet"] == facet and len(ancestry(code)) == depth]


def twice(values: Iterable[object]) -> list[object]:
    return [value for value, times in Counter(values).items() if times > 1]


def place(phase: str, object: str, issue: str) -> Place:
    return phase.casefold(), object.casefold(), issue


def printed_issues() -> list[Place]:
    data = [row for row in read_rows(PRINTED / "table05-data-processing.csv") if not is_total(row)]
    found = [place("data processing", "data", row["issue"]) for row in data]
    for name, phase in BY_OBJECT.items():
        rows = [row for row in read_rows(PRINTED / name) if not is_total(row)]
        found += [place(phase, row["object"], row["issue"]) for row in rows]
    return found


def test_the_taxonomy_has_the_published_number_of_codes() -> None:
    counts = [len(at_level("issue", "phase")), len(at_level("issue", "object")), len(at_level("object-type", "type"))]
    assert counts == [7, 63, 46]


def test_ids_are_unique_slugs() -> None:
    assert twice(code["id"] for code in CODES) == []
    assert [code["id"] for code in CODES if not re.fullmatch(r"[a-z0-9-]+(/[a-z0-9-]+)*", code["id"])] == []


def test_every_parent_is_in_the_same_facet_and_part_of_the_id() -> None:
    for code in CODES:
        above = code["id"].rpartition("/")[0]
        assert code.get("parent", "") == above, code["id"]
        assert not above or BY_ID[above]["facet"] == code["facet"], code["id"]


def test_no_code_is_deeper_than_the_levels_of_its_facet() -> None:
    for code in CODES:
        assert len(ancestry(code)) <= len(FACETS[code["facet"]]["levels"]), code["id"]


def test_every_cross_reference_points_to_a_code_of_its_facet() -> None:
    for code in CODES:
        for facet, other in code.get("across", {}).items():
            assert facet != code["facet"], code["id"]
            assert BY_ID[other]["facet"] == facet, code["id"]


@pytest.mark.parametrize("field", ["name", "key", "colour"])
def test_siblings_have_distinct_names(field: str) -> None:
    given = [(code["facet"], code.get("parent"), code[field].casefold()) for code in CODES if field in code]
    assert given
    assert twice(given) == []


def test_every_code_has_a_definition_and_phases_and_objects_have_rules_of_use() -> None:
    assert [code["id"] for code in CODES if not code["definition"].endswith(".")] == []
    for code in [*at_level("issue", "phase"), *at_level("issue", "object")]:
        assert code["use"], code["id"]
        assert code["not"], code["id"]
        assert code["examples"], code["id"]


def test_every_phase_has_a_key_and_a_colour() -> None:
    phases = at_level("issue", "phase")
    assert "".join(phase["key"] for phase in phases) == "dMtperv"
    assert all(re.fullmatch(r"#[0-9a-f]{6}", phase["colour"]) for phase in phases)


def test_phases_are_in_the_printed_order() -> None:
    printed = [row["phase"].casefold() for row in read_rows(PRINTED / "table02-phases.csv")]
    assert [phase["name"].casefold() for phase in at_level("issue", "phase")] == printed


def test_printed_objects_and_the_codebook_are_the_same() -> None:
    if not TAXONOMY.exists():
        pytest.skip("the printed taxonomy ../shared/published/table03-taxonomy.csv is not here")
    printed = [(row["phase"].casefold(), row["object"].casefold()) for row in read_rows(TAXONOMY) if not is_total(row)]
    chains = [ancestry(code) for code in at_level("issue", "object")]
    assert [(phase["name"].casefold(), object["name"].casefold()) for phase, object in chains] == printed


def test_printed_issues_and_the_codebook_are_the_same() -> None:
    chains = [ancestry(code) for code in at_level("issue", "issue")]
    held = [place(*(code["name"] for code in chain)) for chain in chains]
    assert sorted(held) == sorted(printed_issues())


def test_issues_of_data_processing_are_in_their_printed_operation_group() -> None:
    rows = [row for row in read_rows(PRINTED / "table05-data-processing.csv") if not is_total(row)]
    printed = {row["issue"]: row["summary"].casefold() for row in rows}
    codes = [code for code in at_level("issue", "issue") if code["parent"] == "data-processing/data"]
    assert {code["name"]: BY_ID[code["across"]["operation-group"]]["name"] for code in codes} == printed


def test_printed_operation_groups_and_the_codebook_are_the_same() -> None:
    rows = [row for name in BY_GROUP for row in read_rows(PRINTED / name)]
    printed = {row["summary"].casefold() for row in rows if row["summary"]}
    assert {group["name"] for group in at_level("operation-group", "group")} == printed


def test_printed_operations_and_the_codebook_are_the_same() -> None:
    rows = [row for row in read_rows(PRINTED / "table08-operations.csv") if not is_total(row)]
    chains = [ancestry(code) for code in at_level("operation-group", "operation")]
    held = [(group["name"], operation["name"]) for group, operation in chains]
    assert held == [(row["summary"].casefold(), row["operation"]) for row in rows]


def test_printed_object_types_and_the_codebook_are_the_same() -> None:
    rows = [row for row in read_rows(PRINTED / "table07-object-types.csv") if not is_total(row)]
    held = [code["name"].casefold() for code in at_level("object-type", "type")]
    assert held == [row["object_type"].casefold() for row in rows]


def add_up(rows: list[Row], part_of: Callable[[Row], str]) -> None:
    """Parts sum to their printed totals, and fall short of them only where a count is not legible."""
    parts = [row for row in rows if is_total(row)]
    *inner, whole = parts
    assert sum(int(row["posts"]) for row in inner) == int(whole["posts"])
    for total in inner:
        lines = [row for row in rows if part_of(row) == part_of(total) and not is_total(row)]
        legible = sum(int(row["posts"] or 0) for row in lines)
        torn = not lines or any(not row["posts"] for row in lines)
        assert legible < int(total["posts"]) if torn else legible == int(total["posts"]), part_of(total)


@pytest.mark.parametrize("name", BY_OBJECT)
def test_typed_issues_add_up_to_the_printed_totals_of_objects(name: str) -> None:
    add_up(read_rows(PRINTED / name), lambda row: row["code"])


@pytest.mark.parametrize("name", BY_GROUP)
def test_typed_lines_add_up_to_the_printed_totals_of_groups(name: str) -> None:
    add_up(read_rows(PRINTED / name), lambda row: row["group"])


def test_typed_object_types_add_up_to_the_printed_total() -> None:
    *types, total = read_rows(PRINTED / "table07-object-types.csv")
    assert sum(int(row["posts"]) for row in types) == int(total["posts"])


@pytest.mark.parametrize("path", sorted(PRINTED.glob("table*.csv")), ids=lambda path: path.name)
def test_a_count_is_empty_only_if_it_is_garbled(path: Path) -> None:
    for row in read_rows(path):
        assert row.get("legibility", "clear") in {"clear", "restored", "garbled", "absent"}, row
        assert row.get("posts") != "" or row["legibility"] == "garbled", row
