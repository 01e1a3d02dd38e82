"""Tables of the bundled study: they count what was printed, and every cell opens exactly its items."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from pydantic import ValidationError
from scipy import stats
from tests.support.printed_study import FRAMEWORKS, dl_study, printed_results, printed_rows, relabelled

from quaestor.base.errors import InputError, StateError
from quaestor.publication.audit.printed import printed_folder
from quaestor.publication.results.count_tables import TOTAL
from quaestor.publication.results.item_columns import StudyResults
from quaestor.publication.results.tables import TABLE_KINDS, items_of_cell, make_table
from quaestor.render.number_format import percent
from quaestor.render.table_model import Table
from quaestor.render.tables.files import to_csv
from quaestor.render.tables.html import to_html
from quaestor.study.folder import Study
from quaestor.study.settings.publication import PublishedTableSettings

STUDY = dl_study()
RESULTS = printed_results()
ASKED = {table.table: table for table in STUDY.settings.tables}
MADE = {name: make_table(STUDY, RESULTS, one) for name, one in ASKED.items() if one.kind != "filter"}


def test_table_3_equals_the_printed_one() -> None:
    with (printed_folder(STUDY) / "table03-taxonomy.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            for column in (*FRAMEWORKS, TOTAL):
                cell = MADE["3"].cell(row["code"], column)
                assert cell is not None
                assert cell.values[0] == int(row[column]), (row["code"], column)
    total = MADE["3"].cell(TOTAL, TOTAL)
    assert total is not None
    assert total.parts == ("2401", "100.0%")


def test_table_4_matches_the_correlations_of_the_printed_counts() -> None:
    rows = [row for row in printed_rows() if row["code"].startswith("P")]
    expected = stats.pearsonr([int(row["tensorflow"]) for row in rows], [int(row["pytorch"]) for row in rows])
    r, p = (MADE["4"].cell("P", f"tensorflow_vs_pytorch_{part}") for part in "rp")
    assert r is not None
    assert p is not None
    assert r.values[0] == pytest.approx(expected.statistic)
    assert p.values[0] == pytest.approx(expected.pvalue)
    assert r.notes == ()  # p is 0.21
    assert MADE["4"].cell("All", "tensorflow_vs_total_r").notes == ("*",)  # type: ignore[union-attr]


@pytest.mark.parametrize("name", [name for name, one in ASKED.items() if one.kind == "counts"])
def test_every_count_opens_that_many_items(name: str) -> None:
    table = MADE[name]
    for row in table.rows():
        for cell in row.cells:
            assert cell.selection is not None
            chosen = RESULTS.decided.build_mask(cell.selection.conditions)
            assert int(chosen.sum()) == cell.values[0], (name, row.key)


@pytest.mark.parametrize("name", [name for name, one in ASKED.items() if one.kind in ("medians", "summaries")])
def test_every_median_equals_that_of_its_items(name: str) -> None:
    table = MADE[name]
    for row in table.rows():
        for column, cell in zip(table.columns, row.cells, strict=True):
            measure = column.key.removesuffix("_median")
            if measure not in RESULTS.decided.numbers or cell.selection is None:
                continue
            values = RESULTS.decided.get_numbers(measure)[RESULTS.decided.build_mask(cell.selection.conditions)]
            assert cell.values[0] == (pytest.approx(np.median(values)) if len(values) else None)


def test_rows_and_groups_add_up_in_every_table() -> None:
    for name, one in ASKED.items():
        if one.kind != "counts" or not one.total:
            continue
        table = MADE[name]
        lines = [row for row in table.rows() if not row.total]
        total = table.cell(TOTAL, table.columns[-1].key)
        assert total is not None
        unplaced_groups = len(one.rows) == 2 and name in ("6", "9", "10", "11", "12", "13", "5", "8")
        counted = sum(int(row.cells[-1].values[0] or 0) for row in lines)
        if not unplaced_groups:  # items of this made-up study have no issue, so lines below objects are empty
            assert counted == total.values[0], name


def test_row_keys_are_unique() -> None:
    for name, table in MADE.items():
        keys = [row.key for row in table.rows()]
        assert len(keys) == len(set(keys)), name


def test_items_without_an_object_are_counted_as_unplaced() -> None:
    table = make_table(STUDY, relabelled(RESULTS, "object", {"D1": ""}), ASKED["3"])
    row = next(row for row in table.rows() if row.key == "unplaced")
    assert row.cells[-1].values[0] == 426
    assert MADE["3"].cell("unplaced", TOTAL) is None


def test_a_table_states_its_base() -> None:
    assert MADE["3"].notes[0] == "Base: all 2401 decided items."
    assert MADE["5"].notes[0] == "Base: 1125 of 2401 decided items (46.9%)."


def test_a_cell_opens_its_items() -> None:
    items, selection = items_of_cell(STUDY, RESULTS, "3:D1:theano")
    assert len(items) == 7
    assert dict(selection.conditions) == {"phase": ("D",), "object": ("D1",), "framework": ("theano",)}


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("3", "is not a cell: write TABLE:ROW:COLUMN"),
        ("3:D1", "is not a cell"),
        ("33:D1:theano", "there is no table '33'; choose from: 3"),
        ("3:D11:theano", "table 3 has no row 'D11'; choose from: D"),
        ("3:D1:caffe", "table 3 has no column 'caffe'"),
        ("2:D:definition", "no items can be listed"),
    ],
)
def test_an_unknown_cell_is_refused_in_one_sentence(cell: str, words: str) -> None:
    with pytest.raises((InputError, StateError), match=words):
        items_of_cell(STUDY, RESULTS, cell)


def test_an_unknown_attribute_is_refused_with_the_allowed_ones() -> None:
    asked = ASKED["1"].model_copy(update={"rows": ("yaer",)})
    with pytest.raises(InputError, match=r"table 1: items have no attribute 'yaer'; choose from: year"):
        make_table(STUDY, RESULTS, asked)


def test_tables_without_items_can_be_built() -> None:
    nothing = RESULTS.decided.select(np.zeros(len(RESULTS.decided), bool))
    from dataclasses import replace

    for name, asked in ASKED.items():
        if asked.kind != "filter":
            table = make_table(STUDY, replace(RESULTS, decided=nothing), asked)
            assert isinstance(table, Table), name
            for row in table.rows():
                for cell in row.cells:
                    assert not any(isinstance(value, float) and np.isnan(value) for value in cell.values)


def test_opening_a_cell_builds_its_table_once(monkeypatch: pytest.MonkeyPatch) -> None:
    built = []
    build_counts = TABLE_KINDS["counts"]

    def build_and_note(study: Study, results: StudyResults, settings: PublishedTableSettings, session: None) -> Table:
        built.append(settings.table)
        return build_counts(study, results, settings, session)

    monkeypatch.setitem(TABLE_KINDS, "counts", build_and_note)
    items, _ = items_of_cell(STUDY, RESULTS, "3:D1:theano")
    assert items
    assert built == ["3"]


@pytest.mark.parametrize("name", ["1", "3"])
def test_every_cross_table_has_row_and_column_shares(name: str) -> None:
    table = MADE[name]
    last = list(table.rows())[-1].cells
    totals = {column.key: cell.values[0] for column, cell in zip(table.columns, last, strict=True)}
    for row in table.rows():
        for column, cell in zip(table.columns, row.cells, strict=True):
            assert (column.parts, column.more) == (("", "share"), ("row share", "column share"))
            count, _, row_share, column_share = cell.values
            row_total = row.cells[-1].values[0]
            assert row_share == (count / row_total if row_total else None)
            assert column_share == (count / totals[column.key] if totals[column.key] else None)
    header = to_csv(table).splitlines()[0]
    assert "tensorflow,tensorflow: share,tensorflow: row share,tensorflow: column share" in header
    page = to_html(table)
    assert page.count('type="radio"') == 3
    row = next(row for row in table.rows() if row.cells[0].values[0])
    assert f">{row.cells[0].more[0]}</span>" in page


def test_the_printed_share_can_be_that_of_the_row_or_column() -> None:
    settings = next(table for table in STUDY.settings.tables if table.table == "1")
    by_row = make_table(STUDY, RESULTS, settings.model_copy(update={"shares": "row"}))
    assert (by_row.columns[0].parts, by_row.columns[0].more) == (("", "row share"), ("share", "column share"))
    assert "Shares are of the row." in by_row.notes
    cells = next(by_row.rows()).cells
    assert cells[0].parts[1] == percent(cells[0].values[0] / cells[-1].values[0])
    plain = make_table(STUDY, RESULTS, settings.model_copy(update={"shares": False}))
    assert (plain.columns[0].parts, plain.columns[0].more) == (("",), ())
    with pytest.raises(ValidationError, match="needs a table of counts with columns"):
        PublishedTableSettings(table="1", title="One", rows=("phase",), shares="row")
