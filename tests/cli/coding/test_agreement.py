"""`quaestor agreement` on a file of ratings: figures, readable output, and one-sentence errors."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
import xlsxwriter
from tests.support.command_line import quaestor
from tests.support.paths import DOCS, SHARED

PILOT = SHARED / "data" / "onnx" / "pilot-ratings-open.csv"

FIRST = "aaaabbbbccaaaabbbbccaaaabbbbcc"
SECOND = "aaaabbbbccaaaabbbbccaaaabbbcca"


def agreement(*arguments: str | Path) -> CompletedProcess[str]:
    return quaestor("agreement", *arguments)


def answer(*arguments: str | Path) -> Any:
    done = agreement(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def refusal(*arguments: str | Path) -> str:
    done = agreement(*arguments)
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    return done.stderr


def write(path: Path, *rows: tuple[str, ...], delimiter: str = ",") -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=delimiter).writerows(rows)
    return path


@pytest.fixture
def ratings(tmp_path: Path) -> Path:
    """Thirty items rated by two raters on two facets, and one item with an empty rating."""
    rows = [("item", "rater", "cause", "symptom")]
    for number, (code, other_code) in enumerate(zip(FIRST, SECOND, strict=True)):
        rows += [
            (f"i{number}", "R1", code, "x" if number % 2 else "y"),
            (f"i{number}", "R2", other_code, "xy"[number % 2]),
        ]
    rows += [("i30", "R1", "a", "x"), ("i30", "R2", "", "x")]
    return write(tmp_path / "ratings.csv", *rows)


def test_the_pilot_of_a_published_study_has_its_kappas() -> None:
    if not PILOT.exists():
        pytest.skip("the real ratings ../shared/data/onnx/pilot-ratings-open.csv are not here")
    cause, symptom = answer("--ratings", PILOT, "--facet", "cause", "--facet", "symptom")
    assert cause["kappa"] == pytest.approx(0.9230, abs=5e-5)
    assert (cause["n"], cause["raters"], cause["left_out"], cause["band"]) == (30, 2, 0, "almost perfect")
    assert symptom["kappa"] == 1.0
    assert symptom["n"] == 30


def test_one_facet_is_one_object_with_every_documented_field(ratings: Path) -> None:
    result = answer("--ratings", ratings, "--facet", "cause")
    assert (result["facet"], result["raters"], result["n"], result["kappa_kind"]) == ("cause", 2, 30, "cohen")
    assert result["percent"] == pytest.approx(28 / 30)
    assert (result["left_out"], result["reasons"]) == (1, {"rated by fewer than two raters": 1})
    for name in ("percent", "kappa", "ac1", "alpha"):
        low, high = result[f"{name}_ci"]
        assert low < result[name] < high
        assert result[f"{name}_se"] > 0
    assert [code["code"] for code in result["codes"]] == ["a", "b", "c"]
    assert result["confused"] == [{"codes": ["a", "c"], "n": 1}, {"codes": ["b", "c"], "n": 1}]
    page = (DOCS / "reference" / "agreement.md").read_text(encoding="utf-8")
    for name in {*result, *result["codes"][0], *result["confusion"]}:
        assert f"`{name}`" in page or f"`{name.removesuffix('_ci').removesuffix('_se')}`" in page, name


def test_several_facets_are_a_list_and_undefined_results_have_a_reason(ratings: Path, tmp_path: Path) -> None:
    results = answer("--ratings", ratings, "--facet", "symptom", "--facet", "cause")
    assert [result["facet"] for result in results] == ["symptom", "cause"]
    rows = [(item, rater, "x") for item in "abc" for rater in "12"]
    same = write(tmp_path / "same.csv", ("item", "rater", "f"), *rows)
    result = answer("--ratings", same, "--facet", "f")
    assert result["kappa"] is None
    assert result["percent"] == 1
    assert result["undefined"]["kappa"].startswith("undefined, because every rating is the same code")
    output = agreement("--ratings", same, "--facet", "f").stdout
    assert "Cohen's κ is undefined, because every rating is the same code" in output


def test_the_printed_output_names_every_measure(ratings: Path) -> None:
    done = agreement("--ratings", ratings, "--facet", "cause")
    assert done.returncode == 0
    output = done.stdout
    assert "cause: 30 items, 2 raters (R1, R2)" in output
    assert "left out: rated by fewer than two raters (1)" in output
    for name in ("percent agreement", "Cohen's κ", "Gwet's AC1", "Krippendorff's α", "95 % interval", "almost perfect"):
        assert name in output
    assert "93.3%" in output
    assert "a ↔ c  1 ×" in output


def test_names_with_brackets_are_printed_literally(tmp_path: Path) -> None:
    rows = [
        (item, rater, label) for item, label in zip("abcd", ("[red]", "b", "[red]", "b"), strict=True) for rater in "12"
    ]
    file = write(tmp_path / "r.csv", ("item", "rater", "[bold]"), *rows, ("e", "1", "[red]"), ("e", "2", "b"))
    output = agreement("--ratings", file, "--facet", "[bold]").stdout
    assert "[bold]: 5 items" in output
    assert "[red] ↔ b" in output


def test_columns_scale_order_and_file_type_can_be_chosen(tmp_path: Path) -> None:
    header, levels = ("post", "who", "pain"), ("low", "middle", "high")
    rows = [(str(n), who, levels[(n + (n == 7 and who == "r3")) % 3]) for n in range(12) for who in ("r1", "r3")]
    file = write(tmp_path / "r.tsv", header, *rows, delimiter="\t")
    options = (
        "--item-column",
        "post",
        "--rater-column",
        "who",
        "--facet",
        "pain",
        "--scale",
        "ordinal",
        "--order",
        ",".join(levels),
    )
    result = answer("--ratings", file, *options)
    assert (result["scale"], result["weights"], result["n"]) == ("ordinal", "linear", 12)
    assert result["weighted_kappa"] > result["kappa"]
    with xlsxwriter.Workbook(str(tmp_path / "r.xlsx")) as book:
        sheet = book.add_worksheet()
        for number, row in enumerate([header, *rows]):
            sheet.write_row(number, 0, row)
    assert answer("--ratings", tmp_path / "r.xlsx", *options) == result


def test_several_codes_in_a_cell_are_parsed_as_a_set(tmp_path: Path) -> None:
    rows = [("1", "a; b"), ("1", "b;a"), ("2", "a"), ("2", "a;c"), ("3", "c"), ("3", "c"), ("4", ""), ("4", "c")]
    file = write(
        tmp_path / "r.csv",
        ("item", "rater", "topics"),
        *((item, str(number % 2), codes) for number, (item, codes) in enumerate(rows)),
    )
    result = answer("--ratings", file, "--facet", "topics", "--separator", ";")
    assert result["multilabel"] is True
    assert (result["n"], result["left_out"]) == (3, 1)
    assert result["percent"] == pytest.approx(2 / 3)
    assert result["overlap"] == pytest.approx((1 + 1 / 2 + 1) / 3)
    assert [code["code"] for code in result["codes"]] == ["a", "b", "c"]


def test_items_that_a_rater_could_not_judge_are_left_out(tmp_path: Path) -> None:
    rows = [(item, who, "?" if item == "c" and who == "2" else "xy"[item == "b"]) for item in "abc" for who in "12"]
    file = write(tmp_path / "r.csv", ("item", "rater", "f"), *rows)
    result = answer("--ratings", file, "--facet", "f", "--cannot-judge", "?")
    assert (result["n"], result["reasons"]) == (2, {"cannot judge": 1})


def test_the_interval_depends_only_on_the_seed(ratings: Path) -> None:
    def interval(seed: int) -> list[float]:
        result = answer("--ratings", ratings, "--facet", "cause", "--seed", str(seed))
        return [result["alpha"], *result["alpha_ci"], result["alpha_se"]]

    assert interval(1) == interval(1)
    assert interval(1)[0] == interval(2)[0]
    assert interval(1) != interval(2)


def test_a_wrong_call_or_file_gives_a_one_sentence_error(ratings: Path, tmp_path: Path) -> None:
    assert "has no column 'causes': use --facet with cause" in refusal("--ratings", ratings, "--facet", "causes")
    assert "use --rater-column with rater" in refusal(
        "--ratings", ratings, "--facet", "cause", "--rater-column", "ratr"
    )
    assert "cause or symptom" in refusal("--ratings", ratings)
    assert "there is no file" in refusal("--ratings", tmp_path / "none.csv", "--facet", "cause")
    assert "give one of them" in refusal("--ratings", ratings, "--facet", "cause", "--round", "pilot")
    assert "--separator is empty" in refusal("--ratings", ratings, "--facet", "cause", "--separator", "")
    assert "not one of 'nominal'" in refusal("--ratings", ratings, "--facet", "cause", "--scale", "odd")
    assert "needs the order of its labels" in refusal("--ratings", ratings, "--facet", "cause", "--scale", "ordinal")
    (tmp_path / "empty.csv").write_bytes(b"")
    assert "is empty" in refusal("--ratings", tmp_path / "empty.csv", "--facet", "cause")


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([], "has a header but no ratings"),
        ([("a", "1", "x"), ("a", "1", "y")], "rater '1' rates item 'a' twice, as 'x' and as 'y': keep one"),
        ([("a", "", "x")], "has no rater in row 2"),
        ([("", "1", "x")], "has no item in row 2"),
        ([("a", "1", "x", "more")], "has 4 cells in row 2 and 3 in its header"),
    ],
)
def test_invalid_rows_are_named(tmp_path: Path, rows: list[tuple[str, ...]], expected: str) -> None:
    file = write(tmp_path / "r.csv", ("item", "rater", "cause"), *rows)
    assert expected in refusal("--ratings", file, "--facet", "cause")
