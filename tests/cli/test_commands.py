"""The command line: output, JSON, exit codes, and never a traceback."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.support.command_line import quaestor
from tests.support.paths import TESTS

QUAESTOR = str(Path(sys.executable).with_name("quaestor"))


def refusal(*arguments: str | Path, cwd: Path | None = None) -> str:
    done = quaestor(*arguments, cwd=cwd)
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    return done.stderr


def test_a_dump_is_read_without_a_study(coffee: Path, tmp_path: Path) -> None:
    done = quaestor("ingest", "stackexchange", coffee, "--out", tmp_path / "out", "--json")
    assert done.returncode == 0
    report = json.loads(done.stdout)
    assert report["tables"] == {"posts": {"rows": 592, "rejected": 0}}
    assert (report["questions"], report["accepted"], report["closed"]) == (225, 105, 14)
    assert {"answers", "bytes", "seconds"} <= set(report)
    again = quaestor("ingest", "stackexchange", coffee, "--out", tmp_path / "out")
    assert again.returncode == 0
    assert "Nothing to do" in again.stdout


def test_a_synthetic_dump_is_ingested_and_goes_through_the_funnel(tmp_path: Path) -> None:
    assert quaestor("new", "mine", "--template", "blank", cwd=tmp_path).returncode == 0
    study = tmp_path / "mine"
    dump = quaestor(
        "synth", "stackexchange", study / "dump", "--posts", "3000", "--seed", "5", "--tag-syntax", "old", "--json"
    )
    truth = json.loads(dump.stdout)
    with (study / "study.toml").open("a") as file:
        file.write(
            '[sources.so]\nkind = "stackexchange"\npath = "dump"\nsite = "stackoverflow"\n'
            "[kinds.how-to]\ntitle = ['how to']\n"
            '[[funnel.steps]]\nstep = "tagged"\ntags = ["*tensorflow*", "*pytorch*", "*theano*"]\n'
            '[[funnel.steps]]\nstep = "how-to"\nkind = "how-to"\n'
            '[[funnel.steps]]\nstep = "accepted"\naccepted_answer = true\n'
            '[[funnel.steps]]\nstep = "open"\nclosed = false\n'
        )
    inside = study / "dump"
    ingested = json.loads(quaestor("ingest", "--json", cwd=inside).stdout)["so"]
    assert [ingested[key] for key in ("questions", "answers", "accepted", "closed")] == [
        truth[key] for key in ("questions", "answers", "accepted", "closed")
    ]
    funnel = json.loads(quaestor("funnel", "--json", cwd=inside).stdout)
    assert funnel == truth["funnel"]
    assert (study / "published" / "funnel.svg").read_text().startswith("<svg")
    shown = quaestor("funnel", "--examples", "--study", study)
    assert "\n  dropped\n" in shown.stdout
    assert "synthetic evidence" in shown.stderr
    assert "synthetic evidence" in (study / "published" / "funnel.svg").read_text()
    listing = quaestor("items", "--step", "tagged", "--limit", "2", "--study", study)
    assert "shown; use --limit N for more" in listing.stderr
    quaestor("items", "--step", "tagged", "--out", study / "tagged.csv", "--study", study)
    assert len((study / "tagged.csv").read_text().splitlines()) == truth["funnel"][0]["out"] + 1
    listed = json.loads(quaestor("items", "--step", "tagged", "--limit", "3", "--json", "--study", study).stdout)
    assert len(listed) == 3
    path = json.loads(quaestor("items", listed[0]["item"], "--json", "--study", study).stdout)
    assert path["passed"][0] == "tagged"
    drawn = json.loads(quaestor("sample", "--size", "2", "--step", "tagged", "--json", "--study", study).stdout)
    assert drawn["size"] == 2
    status = json.loads(quaestor("status", "--json", "--study", study).stdout)
    assert [stage["state"] for stage in status["stages"]] == ["done", "done"]
    assert "✓" in quaestor("status", cwd=inside).stdout


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["ingest", "stackexchange", "nowhere", "--out", "out"], "nowhere does not exist"),
        (["ingest", "stackexchange", "."], "--out is missing"),
        (["ingest", "mailbox", ".", "--out", "out"], "not as 'mailbox'"),
        (["ingest", "stackexchange", ".", "--out", "out", "--tags", " , "], "--tags is empty"),
        (["ingest", "--out", "out"], "need a PATH"),
        (["ingest"], "no study.toml in"),
        (["funnel"], "no study.toml in"),
        (["status", "--study", "nowhere"], "does not exist"),
        (["new", "x", "--template", "dl-implementation-issue"], "choose from: dl-implementation-issues"),
        (["synth", "stackexchange", "x", "--posts", "10", "--like", "dl-implementation-issues"], "95"),
        (["synth", "stackexchange", "x", "--tag-syntax", "odd"], "choose from: old or new"),
        (["synth", "stackexchange", "x", "--like", "blank"], "has no plan for synthetic data"),
        (["kinds", "--labelled", "nowhere.csv"], "nowhere.csv"),
        (["nonsense"], "No such command 'nonsense': see `quaestor --help`"),
        (["funel"], "Did you mean 'funnel'"),
        (["new"], "Missing argument 'DIR': see `quaestor new --help`"),
        (["round", "open"], "see `quaestor round open --help`"),
        (["ingest", "stackexchange", ".", "--out", "/proc/nowhere"], "holds no table"),
        (["new", "/proc/nowhere/x"], "/proc/nowhere"),
    ],
)  # fmt: skip
def test_a_wrong_call_gives_a_one_sentence_error_and_exit_code_2(
    tmp_path: Path, arguments: list[str], expected: str
) -> None:
    assert expected in refusal(*arguments, cwd=tmp_path)


def test_a_group_without_a_command_prints_its_help_and_no_empty_error() -> None:
    done = quaestor("survey")
    assert done.returncode == 2
    assert "Count every question of a survey" in done.stdout + done.stderr
    assert "quaestor: :" not in done.stderr


def test_impossible_options_are_refused(tmp_path: Path) -> None:
    quaestor("new", "mine", cwd=tmp_path)
    for arguments, expected in (
        (["items"], "name an item, a cell, a step or words"),
        (["sample", "--by", "colour"], "--by is 'colour'"),
        (["sample", "--confidence", "3"], "--confidence is 3.0"),
        (["sample", "pilot"], "has no sample 'pilot'"),
        (["ingest"], "has no source yet"),
        (["ingest", "so"], "there is no source 'so'"),
    ):
        assert expected in refusal(*arguments, cwd=tmp_path / "mine")


def test_the_doctor_lists_what_is_present_and_what_is_missing(tmp_path: Path) -> None:
    done = quaestor("doctor", "--json", cwd=tmp_path)
    assert done.returncode == 0
    checks = {check["name"]: check for check in json.loads(done.stdout)}
    assert checks["Python"]["found"]
    assert checks["duckdb"]["found"]
    assert all(check["found"] or check["remedy"] for check in checks.values())
    assert "GB free" in quaestor("doctor", cwd=tmp_path).stdout


def test_an_interrupt_prints_a_message_and_leaves_no_partial_results(tmp_path: Path) -> None:
    quaestor("synth", "stackexchange", tmp_path / "dump", "--posts", "120000", "--only-posts")
    command = [QUAESTOR, "ingest", "stackexchange", str(tmp_path / "dump"), "--out", str(tmp_path / "out")]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        deadline = time.monotonic() + 20
        while not (tmp_path / "out" / ".aside" / "posts").exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, words = process.communicate(timeout=20)
    assert process.returncode == 130
    assert "no partial results were saved" in words
    assert "Traceback" not in words
    assert not (tmp_path / "out" / "manifest.json").exists()
    assert quaestor("ingest", "stackexchange", tmp_path / "dump", "--out", tmp_path / "out").returncode == 0


def test_a_closed_output_pipe_is_not_an_error() -> None:
    done = subprocess.run(f"{QUAESTOR} kinds | head -1", shell=True, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert done.stderr == ""


def test_the_kinds_are_listed_and_measured() -> None:
    described = json.loads(quaestor("kinds", "--json").stdout)
    assert len(described) == 10
    heldout = TESTS / "corpus" / "question_kinds_heldout.csv"
    measured = json.loads(quaestor("kinds", "--labelled", heldout, "--json").stdout)
    assert measured["error"]["precision"] > 0.9


def test_every_command_has_help() -> None:
    overview = quaestor("--help").stdout
    for name in ("new", "status", "doctor", "ingest", "funnel", "items", "sample", "kinds", "synth", "serve", "demo"):
        assert name in overview
        assert quaestor(name, "--help").returncode == 0
    assert quaestor("--version").stdout.startswith("quaestor ")
