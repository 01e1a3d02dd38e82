"""`quaestor audit` and `quaestor replicate`: output, JSON, exit codes, and no traceback."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.support.printed_figures import (
    BUNDLED,
    COUNTS,
    COUNTS_FILE,
    HEADER,
    bundled_copy,
    change,
    printed_study,
    write_labelled,
)
from tests.support.small_study import small_study

from quaestor.cli.main import run
from quaestor.coding.codebook import import_codebook
from quaestor.coding.round_acts import close_by_name, open_by_name, waive_by_name
from quaestor.publication.replicate.posts import load_labels
from quaestor.study.folder import open_study


@dataclass(frozen=True)
class Outcome:
    """The exit code and the output of a call."""

    code: int
    out: str
    err: str


Call = Callable[..., Outcome]


@pytest.fixture
def quaestor(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Call]:
    """Calls the console script in this process: its failures end as on a terminal, and its imports cost once."""
    before = signal.getsignal(signal.SIGINT)
    monkeypatch.setenv("COLUMNS", "300")
    monkeypatch.setenv("NO_COLOR", "1")

    def call(*arguments: str | Path) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["quaestor", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            run()
        captured = capsys.readouterr()
        code = ended.value.code
        return Outcome(code if isinstance(code, int) else 0 if code is None else 1, captured.out, captured.err)

    yield call
    signal.signal(signal.SIGINT, before)


def refusal(done: Outcome) -> str:
    """Returns the sentence with which a call was refused."""
    assert done.code == 2, done
    assert done.out == ""
    lines = done.err.strip().splitlines()
    assert "Traceback" not in done.err
    assert lines[-1].startswith("quaestor: ")
    return lines[-1]


# Audit -------------------------------------------------------------------------------------------------


def test_a_fresh_bundled_study_has_no_unexplained_differences(
    quaestor: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert quaestor("new", tmp_path / "x", "--template", BUNDLED).code == 0
    monkeypatch.chdir(tmp_path / "x" / "printed")
    done = quaestor("audit")
    assert done.code == 0, done.err
    assert "There are no results (nothing has been decided yet)" in done.out
    assert "17 failed (17 noted)" in done.out
    assert done.out.rstrip().endswith("No unexplained differences. 889 cells could not be computed.")


def test_the_audit_is_printed_as_json(quaestor: Call, tmp_path: Path) -> None:
    study = bundled_copy(tmp_path / "x")
    done = quaestor("audit", "--json", "--study", study.root)
    assert done.code == 0
    document = json.loads(done.out)
    cell = next(cell for cell in document["cells"] if (cell["table"], cell["row"]) == ("3", "D1"))
    assert cell == {
        "table": "3", "row": "D1", "column": "tensorflow", "printed": 328, "computed": None,
        "verdict": "not computable",
    }  # fmt: skip
    assert document["summary"]["checks failed without a note"] == 0


def test_a_changed_figure_is_named_and_the_audit_fails(quaestor: Call, tmp_path: Path) -> None:
    study = bundled_copy(tmp_path / "x")
    change(study.root / "printed" / "table03-taxonomy.csv", "D1,Data,328,91,7,426", "D1,Data,329,91,7,426")
    done = quaestor("audit", "--study", study.root)
    assert done.code == 1
    assert "table 3, D1: tensorflow + pytorch + theano = total: does not hold; 427 against 426" in done.out
    assert "differences have no note." in done.out


def test_a_known_difference_without_its_note_fails_the_audit(quaestor: Call, tmp_path: Path) -> None:
    study = bundled_copy(tmp_path / "x")
    note = 'note = "The 82 and 173 posts of the section are 83.3% of 306; the finding prints 80.2%."\n'
    change(study.root / "printed" / "printed.toml", note, "")
    done = quaestor("audit", "--study", study.root)
    assert done.code == 1
    assert "1 differences have no note." in done.out


def test_all_lists_every_cell_and_every_check(quaestor: Call, tmp_path: Path) -> None:
    study = printed_study(tmp_path, COUNTS, {"counts.csv": COUNTS_FILE})
    done = quaestor("audit", "--all", "--study", study.root)
    assert done.code == 0
    assert done.out.count("not computable\n") == 7 * 3 + 1  # and the heading of the overview
    assert done.out.count(": holds; ") == 16
    assert "holds" not in quaestor("audit", "--study", study.root).out


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ("tables = [", "is not valid TOML"),
        ('colour = "red"', "colour is not a known key"),
        (COUNTS.replace("counts.csv", "nowhere.csv"), "nowhere.csv"),
        (COUNTS + '[[notes]]\ncells = ["1:X1:total"]\nnote = "n"', "a note names '1:X1:total'"),
    ],
)
def test_unreadable_printed_figures_give_a_one_sentence_error(
    quaestor: Call, tmp_path: Path, settings: str, words: str
) -> None:
    study = printed_study(tmp_path, settings, {"counts.csv": COUNTS_FILE})
    assert words in refusal(quaestor("audit", "--study", study.root))


def test_a_row_that_is_too_short_gives_a_one_sentence_error(quaestor: Call, tmp_path: Path) -> None:
    study = printed_study(tmp_path, COUNTS, {"counts.csv": COUNTS_FILE.replace("T2,Batch,3,1,4", "T2,Batch")})
    assert "row 3" in refusal(quaestor("audit", "--study", study.root))


def test_an_open_round_is_named_as_the_reason_for_missing_results(quaestor: Call, tmp_path: Path) -> None:
    study = small_study(tmp_path / "study")
    text = study.file.read_text("utf-8").replace("threshold = 0.4", "")
    results = '\n[results]\ntree = "issue"\ncode = "main.relevance"\n'
    study.file.write_text(text + results, "utf-8")
    printed_study(tmp_path / "printed-only", COUNTS, {"counts.csv": COUNTS_FILE})
    (tmp_path / "printed-only" / "printed").rename(study.root / "printed")
    study = open_study(study.root)
    import_codebook(study)
    done = quaestor("audit", "--study", study.root)
    assert (done.code, "the round 'main' has not been opened" in done.out) == (0, True)
    open_by_name(study, "pilot", None)
    close_by_name(study, "pilot", None, "not needed here")
    waive_by_name(study, "pilot", None, "not needed here")
    open_by_name(study, "main", None)
    done = quaestor("audit", "--study", study.root)
    assert done.code == 0
    assert "There are no results (the round 'main' is still open" in done.out
    assert "21 cells: 21 not computable" in done.out


# Replicate ---------------------------------------------------------------------------------------------

LABELS = [("tensorflow", "rotate,di,d"), ("pytorch", "get,layer,m"), ("theano", "stir,spoon,r")]


@pytest.fixture(scope="module")
def posts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_labelled(tmp_path_factory.mktemp("posts") / "posts.csv", LABELS)


def test_a_study_without_printed_figures_cannot_be_audited(quaestor: Call, tmp_path: Path, posts: Path) -> None:
    study = load_labels(BUNDLED, posts, tmp_path / "study", lambda words: None).study
    (study.root / "printed" / "printed.toml").unlink()
    sentence = refusal(quaestor("audit", "--study", study.root))
    assert f"{study.root / 'printed'} has no printed figures: add printed/printed.toml" in sentence


def test_an_unknown_label_is_listed(quaestor: Call, tmp_path: Path, posts: Path) -> None:
    done = quaestor("replicate", BUNDLED, "--data", posts, "--json")
    assert done.code == 1  # two posts are not 2,401
    document = json.loads(done.out)
    assert {"cells", "summary", "checks", "placements", "findings", "posts", "rejected", "unread"} <= set(document)
    assert (document["posts"], document["rejected"]) == (3, 0)
    assert document["notes"][0] == "Computed from 2 decided items."
    (unread,) = document["unread"]
    assert (unread["item"], unread["label"]) == ("stackoverflow/question/3", "stir,spoon,r")
    assert "names no object" in unread["why"]
    counts = {(cell["row"], cell["column"]): cell["computed"] for cell in document["cells"] if cell["table"] == "3"}
    assert (counts["D3", "tensorflow"], counts["M1", "pytorch"], counts["R", "total"]) == (1, 1, 0)


@pytest.mark.slow
def test_a_kept_replication_is_a_separate_study(quaestor: Call, tmp_path: Path, posts: Path) -> None:
    out = tmp_path / "deep" / "kept"
    out.mkdir(parents=True)  # an empty folder may be filled
    done = quaestor("replicate", BUNDLED, "--data", posts, "--out", out)
    assert done.code == 1
    assert "label not read: stackoverflow/question/3" in done.out
    assert f"The study is in {out}" in done.err
    assert (out / "published" / "report" / "index.html").is_file()
    assert [path.name for path in out.parent.iterdir()] == ["kept"]
    assert "stackoverflow/question/1" in quaestor("items", "--cell", "3:D3:tensorflow", "--study", out).out
    for file in out.rglob("*"):
        if file.is_file():
            assert b".quaestor-" not in file.read_bytes(), file  # nothing remembers where it was built
    assert "already exists and is not empty" in refusal(quaestor("replicate", BUNDLED, "--data", posts, "--out", out))


WHOLE = f'{HEADER}\nhow to turn it,"<tensorflow>",1,1,1,2018-03-01T10:00:00,2018-03-01T11:00:00,"rotate,di,d"\n'


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("posts.csv", b"", "posts.csv is empty"),
        ("posts.csv", f"{HEADER}\n".encode(), "no row of"),
        ("posts.csv", WHOLE.replace(",label", ",labels").encode(), "has no column 'label'"),
        ("posts.csv", WHOLE.replace("rotate,di,d", "spoon").encode(), "none of the labels in"),
        ("posts.csv", WHOLE.replace(",1,1,1,", ",one,1,1,").encode(), "no row of"),
        ("posts.csv", bytes(range(256)) * 8, "posts.csv is binary"),
        ("posts.xlsx", bytes(range(256)) * 8, "posts.xlsx is not a valid XLSX workbook"),
    ],
)
def test_data_that_cannot_be_replicated_leaves_no_trace(
    quaestor: Call, tmp_path: Path, name: str, content: bytes, words: str
) -> None:
    data = tmp_path / name
    data.write_bytes(content)
    sentence = refusal(quaestor("replicate", BUNDLED, "--data", data, "--out", tmp_path / "some" / "where"))
    assert words in sentence
    assert str(data) in sentence  # the original file, not the study's copy, which was deleted
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_wrong_call_of_replicate_gives_a_one_sentence_error(quaestor: Call, tmp_path: Path, posts: Path) -> None:
    (tmp_path / "file").write_text("x", "utf-8")
    full = tmp_path / "full"
    full.mkdir()
    (full / "mine.txt").write_text("x", "utf-8")
    calls: list[tuple[list[str | Path], str]] = [
        ([BUNDLED, "--data", tmp_path / "nowhere.csv"], "does not exist"),
        ([BUNDLED, "--data", tmp_path], "does not exist"),
        (["dl-implementation-issue", "--data", posts], f"choose from: {BUNDLED}"),
        (["blank", "--data", posts], "has no settings for published labels"),
        ([BUNDLED, "--data", posts, "--out", full], "already exists and is not empty: name a new folder"),
        ([BUNDLED, "--data", posts, "--out", tmp_path / "file"], "is a file: name a new folder"),
        ([BUNDLED, "--data", posts, "--out", tmp_path / "file" / "below"], "cannot be created in it"),
    ]
    for arguments, words in calls:
        assert words in refusal(quaestor("replicate", *arguments)), arguments
    assert [path.name for path in full.iterdir()] == ["mine.txt"]
    assert {path.name for path in tmp_path.iterdir()} == {"file", "full"}
