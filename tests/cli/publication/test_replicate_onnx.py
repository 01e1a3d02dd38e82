"""`quaestor replicate onnx-interoperability`: output, JSON, exit codes, and the folder it creates."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from tests.support.public_answers import STUDY, planted_rows, write_answers

from quaestor.cli.main import run

AUDIT_KEYS = {"cells", "checks", "placements", "summary", "notes"}
Call = Callable[..., CompletedProcess[str]]


@pytest.fixture
def quaestor(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Call]:
    """Calls the console script in this process: its failures end as on a terminal, and its imports cost once."""
    before = signal.getsignal(signal.SIGINT)
    monkeypatch.setenv("COLUMNS", "300")
    monkeypatch.setenv("NO_COLOR", "1")

    def call(*arguments: str | Path) -> CompletedProcess[str]:
        monkeypatch.setattr(sys, "argv", ["quaestor", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            run()
        done = capsys.readouterr()
        return CompletedProcess(arguments, int(ended.value.code or 0), done.out, done.err)

    yield call
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all published answers and a table that does not belong to the survey."""
    folder = tmp_path_factory.mktemp("public")
    (folder / "failures.csv").write_text("issue,cause\n1,type\n")
    write_answers(folder / "survey.csv", planted_rows())
    return folder


@pytest.fixture(scope="module")
def half(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("half")
    write_answers(folder / "survey.csv", planted_rows()[::2])
    return folder


def test_the_complete_data_has_no_unexplained_differences(quaestor: Call, data: Path) -> None:
    done = quaestor("replicate", STUDY, "--data", data)
    assert done.returncode == 0, done.stderr
    assert "Years in machine learning" in done.stdout
    assert "survey:valid responses:n  printed 92, computed 91 (base 91)" in done.stdout
    perhaps = "    perhaps fits with 1 row without consent (row 3) counted\n    noted: The page counts a row"
    assert perhaps in done.stdout
    assert done.stdout.rstrip().endswith("No unexplained differences. 34 cells could not be computed.")
    assert "91 of 92 rows are responses; rows left out: 1 without consent; 1 markers" in done.stderr


def test_half_of_the_data_differs_and_exits_with_1(quaestor: Call, half: Path) -> None:
    done = quaestor("replicate", STUDY, "--data", half)
    assert done.returncode == 1
    assert "The publication has 92 responses, more than the 46 available here" in done.stdout
    assert "differences have no note." in done.stdout
    assert "noted: " not in done.stdout  # what is known explains 91 responses against 92, and not 46


def test_json_has_the_shape_of_every_audit_and_the_tables(quaestor: Call, data: Path) -> None:
    done = quaestor("replicate", STUDY, "--data", data / "survey.csv", "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document.keys() >= AUDIT_KEYS
    assert document["summary"]["cells"] == len(document["cells"]) == 61
    meets = next(cell for cell in document["cells"] if cell["row"] == "meets problems")
    assert {key: meets[key] for key in ("table", "column", "printed", "computed", "verdict", "base")} == {
        "table": "problems", "column": "n", "printed": 32, "computed": 31, "verdict": "differs", "base": 53,
    }  # fmt: skip
    assert (document["responses"], document["rows"], document["without_consent"]) == (91, 92, [3])
    use = next(table for table in document["tables"] if table["table"] == "use")
    assert use["rows"] == [{"row": "uses ONNX", "n": 38, "share": pytest.approx(38 / 91), "base": 91, "printed": 39}]
    assert document["unmapped"] == ["Q20"]


def test_a_kept_replication_gives_the_same_audit(quaestor: Call, data: Path, tmp_path: Path) -> None:
    out = tmp_path / "kept"
    first = json.loads(quaestor("replicate", STUDY, "--data", data, "--out", out, "--json").stdout)
    again = quaestor("audit", "--study", out, "--json")
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout)["cells"] == first["cells"]
    report = out / "published" / "report"
    assert json.loads((report / "audit.json").read_text("utf-8"))["cells"] == first["cells"]
    page = (report / "index.html").read_text("utf-8")
    assert "Size of the organization" in page
    assert "91" in (report / "audit.html").read_text("utf-8")


def test_a_fresh_study_has_figures_to_compute_and_no_answers(quaestor: Call, tmp_path: Path) -> None:
    assert quaestor("new", tmp_path / "x", "--template", STUDY).returncode == 0
    done = quaestor("audit", "--study", tmp_path / "x")
    assert done.returncode == 0, done.stderr
    assert done.stdout.rstrip().endswith("No unexplained differences. 61 cells could not be computed.")


def test_an_impossible_call_gives_a_one_sentence_error_and_leaves_no_files(
    quaestor: Call, data: Path, tmp_path: Path
) -> None:
    out = tmp_path / "kept"
    done = quaestor("replicate", STUDY, "--data", tmp_path / "nowhere", "--out", out)
    assert done.returncode == 2
    assert f"quaestor: {tmp_path / 'nowhere'} does not exist" in done.stderr
    assert "Traceback" not in done.stderr
    assert not out.exists()
    assert quaestor("replicate", "onnx", "--data", data).returncode == 2
