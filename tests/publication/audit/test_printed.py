"""Printed figures as typed by a person: read unchanged, or refused in one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.printed_figures import BUNDLED, COUNTS, COUNTS_FILE, printed_study

from quaestor.base.errors import InputError, QuaestorError, SettingsError
from quaestor.publication.audit.printed import read_printed, split_cell
from quaestor.study.folder import open_study
from quaestor.study.templates import template_folder

FIGURES = """
findings = "findings.csv"
quantities = "other.csv"
funnel = "funnel.csv"
"""
FILES = {
    "counts.csv": COUNTS_FILE,
    "findings.csv": "finding,claim,printed\n1,share of loss: all of it,32%\n2,share of layers,36%\n",
    "other.csv": "figure,value\nraters,2\n",
    "funnel.csv": "step,posts\ntagged,100\nkept,25\n",
}


def test_a_study_without_printed_figures_has_no_publication(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text('[study]\nname = "x"\nseed = 1\n', "utf-8")
    assert read_printed(open_study(tmp_path)) is None


def test_every_figure_is_addressed_by_table_row_and_column(tmp_path: Path) -> None:
    printed = read_printed(printed_study(tmp_path, FIGURES + COUNTS, FILES))
    assert printed is not None
    assert printed.cell("1:T1:pytorch") == "2"
    assert printed.cell("1:all:total") == "25"
    assert printed.cell("findings:share of loss: all of it:1") == "32%"  # a claim may have a colon
    assert printed.cell("other:raters:value") == "2"
    assert printed.cell("funnel:kept:posts") == "25"
    assert len(printed.every_cell()) == 7 * 3 + 2 + 1 + 2
    assert split_cell("1:a:b:c") == ("1", "a:b", "c")


def test_totals_are_addressed_by_their_group_if_rows_have_titles(tmp_path: Path) -> None:
    layout = """
[[tables]]
table = "6"
file = "issues.csv"
row = "issue"
by = "title"
group = "object"
group_key = "code"
columns = ["posts"]
"""
    file = "code,object,issue,posts\nM3,Weight,copy weight,3\nM3,Weight,(total),3\n,(total),(total),3\n"
    printed = read_printed(printed_study(tmp_path, layout, {"issues.csv": file}))
    assert printed is not None
    rows = [(row.name, row.group, row.total) for row in printed.tables["6"]]
    assert rows == [("copy weight", "Weight", False), ("M3", "Weight", True), ("(total)", "", True)]


def test_notes_apply_to_the_cells_they_name(tmp_path: Path) -> None:
    notes = """
[[notes]]
cells = ["1:T*:total", "1:M1:*"]
note = "Counted twice."
[[notes]]
cells = ["1:T1:total"]
note = "By hand."
[[notes]]
cells = ["1:T2:total"]
note = "One is missing."
computed = 91
"""
    printed = read_printed(printed_study(tmp_path, COUNTS + notes, FILES))
    assert printed is not None
    assert printed.note_on(("1", "T1", "total")) == "Counted twice. By hand."
    assert printed.note_on(("1", "T2", "total"), 45) == printed.note_on(("1", "M1", "pytorch")) == "Counted twice."
    assert printed.note_on(("1", "T2", "total"), 91.0) == "Counted twice. One is missing."
    assert printed.note_on(("1", "T1", "pytorch")) == printed.note_on(("2", "T1", "total")) == ""


def check(**keys: str) -> str:
    lines = [f"{key} = {value}" for key, value in ({"check": '"c"', "kind": '"sum"'} | keys).items()]
    return "\n".join(["[[checks]]", *lines])


SUM = {"of": '["1:T1:total"]', "equals": "8"}

BROKEN = [
    ("tables = [", ["printed.toml", "not valid TOML"]),
    ('colour = "red"', ["colour is not a known key", "findings"]),
    (COUNTS.replace("total_in", "total_inn"), ["tables[0].total_inn is not a known key", "total_in"]),
    (COUNTS.replace('file = "counts.csv"', ""), ["tables[0].file is missing: add it"]),
    (COUNTS.replace("counts.csv", "nowhere.csv"), ["there is no file", "nowhere.csv", "give a CSV"]),
    (COUNTS.replace('"code"', '"cod"'), ["counts.csv has no column 'cod'", "code"]),
    (COUNTS.replace('"phase"', '"phases"'), ["counts.csv has no column 'phases'", "phase"]),
    (COUNTS + 'group_key = "cods"', ["counts.csv has no column 'cods'", "code"]),
    (COUNTS + 'titles = "name"', ["counts.csv has no column 'name'"]),
    (COUNTS.replace('["tensorflow", "pytorch"]', '["tensorflow", "theano"]'), ["'theano'", "not among columns"]),
    (COUNTS.replace('sum_to = "total"', ""), ["sum_of and sum_to must be given together"]),
    (COUNTS + COUNTS, ["tables[1]", "two tables are called '1'"]),
    (COUNTS + 'rows = { T9 = "T1" }', ["rows of table 1", "'T9'", "not printed", "nearest"]),
    (
        COUNTS + check(**(SUM | {"of": '["1:T9:total"]'})),
        ["nothing is printed at '1:T9:total'", "near it: ", "1:T1:total"],
    ),
    (COUNTS + check(**(SUM | {"equals": '"1:all:sum"'})), ["nothing is printed at '1:all:sum'"]),
    (COUNTS + check(**(SUM | {"less": '["9:T1:total"]'})), ["nothing is printed at '9:T1:total'", "its tables: 1"]),
    (COUNTS + check(**(SUM | {"of": '["T1"]'})), ["checks[0].of[0]", "'T1' is not a cell", "TABLE:ROW:COLUMN"]),
    (COUNTS + check(**(SUM | {"kind": '"summ"'})), ["checks[0].kind is 'summ'; choose from: sum"]),
    (COUNTS + check(**(SUM | {"equals": '"8"'})), ["checks[0].equals: '8' is not a cell"]),
    (COUNTS + check(**(SUM | {"equals": "true"})), ["checks[0].equals: True is neither a cell nor a number"]),
    (COUNTS + check(of='["1:T1:total"]'), ["kind 'sum' has no equals: add it"]),
    (COUNTS + check(kind='"p"', table='"4"', counts='"1"'), ["needs table '4'", "printed: 1"]),
    (COUNTS + check(kind='"correlation"', table='"1"', counts='"3"'), ["needs table '3'"]),
    (COUNTS + '[[notes]]\ncells = ["1:X*:total"]\nnote = "n"', ["a note names '1:X*:total'", "near it"]),
    (COUNTS + '[[notes]]\ncells = ["7:*:*"]\nnote = "n"', ["a note names '7:*:*'", "its tables: 1"]),
    (COUNTS + '[[notes]]\ncells = []\nnote = "n"', ["notes[0].cells"]),
    (COUNTS + '[[notes]]\ncells = ["1:T1:total"]', ["notes[0].note is missing: add it"]),
]


@pytest.mark.parametrize(("settings", "words"), BROKEN, ids=[" and ".join(words) for _, words in BROKEN])
def test_invalid_settings_are_refused_in_one_sentence(tmp_path: Path, settings: str, words: list[str]) -> None:
    with pytest.raises(QuaestorError) as found:
        read_printed(printed_study(tmp_path, settings, FILES))
    assert isinstance(found.value, SettingsError | InputError)
    for word in words:
        assert word in str(found.value)
    assert "\n" not in str(found.value)


@pytest.mark.parametrize(
    ("file", "old", "new", "words"),
    [
        ("counts.csv", "T2,Batch,3,1,4", "T2,Batch,3", ["counts.csv has 4 cells in row 3", "6 in its header"]),
        ("counts.csv", "T2,Batch", "T1,Batch", ["counts.csv, row 3: 'T1' appears twice"]),
        ("counts.csv", "T2,Batch", ",Batch", ["counts.csv, row 3: code is empty"]),
        ("counts.csv", COUNTS_FILE, "", ["counts.csv is empty"]),
        ("counts.csv", COUNTS_FILE, "code,object\n", ["counts.csv has no column 'tensorflow'"]),
        ("counts.csv", COUNTS_FILE, "\x00\x01\x02" * 50, ["counts.csv"]),
        ("findings.csv", "printed", "said", ["findings.csv has no column 'printed'"]),
        ("findings.csv", "2,share of layers,36%", "1,share of loss: all of it,36%", ["findings.csv, row 3", "twice"]),
        ("other.csv", "figure,value", "figure,number", ["other.csv has no column 'value'"]),
        ("other.csv", "raters,2\n", "raters,2\nraters,3\n", ["other.csv, row 3: 'raters' appears twice"]),
        ("funnel.csv", "kept,25", "tagged,25", ["funnel.csv, row 3: 'tagged' appears twice"]),
        ("funnel.csv", "kept,25", ",25", ["funnel.csv, row 3: step is empty"]),
    ],
)
def test_an_unreadable_file_is_refused_in_one_sentence(
    tmp_path: Path, file: str, old: str, new: str, words: list[str]
) -> None:
    assert old in FILES[file]
    study = printed_study(tmp_path, FIGURES + COUNTS, {**FILES, file: FILES[file].replace(old, new)})
    with pytest.raises(InputError) as found:
        read_printed(study)
    for word in words:
        assert word in str(found.value)
    assert "\n" not in str(found.value)


def test_two_findings_can_share_a_claim(tmp_path: Path) -> None:
    files = {**FILES, "findings.csv": "finding,claim,printed\n1,share of loss,32%\n2,share of loss,33%\n"}
    printed = read_printed(printed_study(tmp_path, FIGURES + COUNTS, files))
    assert printed is not None
    assert printed.cell("findings:share of loss:2") == "33%"


def test_the_bundled_publication_marks_unreadable_figures() -> None:
    printed = read_printed(open_study(template_folder(BUNDLED)))
    assert printed is not None
    unreadable = {(table, row.name) for table, rows in printed.tables.items() for row in rows if not row.legible}
    assert ("14", "D9") in unreadable  # absent
    assert ("10", "test (one/LSTM) layer") in unreadable  # garbled
    assert len(unreadable) == 22
