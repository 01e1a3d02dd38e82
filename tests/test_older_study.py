"""A study made by an older version opens with this one, and everything in it is read as it was."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from quaestor.coding.session import open_coding
from quaestor.people.credentials import Passwords
from quaestor.study.folder import open_study
from quaestor.web.app import make_app
from tests.support.command_line import in_this_process
from tests.support.desk import CHOSEN, QUICK, browser, closing_app, post
from tests.support.older_study import (
    ADDED_ACTS,
    NAMES,
    WIDER_WORKBOOKS,
    act_kinds_in_source,
    corrected,
    drop_added,
    expected,
    hash_in_older_wording,
    restore_wording,
    unpack_older_study,
)


@pytest.fixture(params=NAMES)
def older(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, Path]:
    return request.param, unpack_older_study(request.param, tmp_path)


def run(root: Path, command: list[str]) -> tuple[int, Any]:
    """Returns the exit code of a command and its output in the older wording, parsed if it is JSON."""
    result = in_this_process(*(word.format(study=root) for word in command), "--study", root)
    text = result.stdout.replace(str(root), "{study}")
    if result.exit_code or "--json" not in command:
        return result.exit_code, restore_wording(text)
    printed = restore_wording(json.loads(text))
    if command[0] == "people":
        del printed["invitations"]  # they expire
    if command[0] == "status":  # publications are listed since then
        printed["stages"] = [line for line in printed["stages"] if line["name"] not in ("report", "audit", "handbook")]
    return 0, printed


def rounded(value: Any) -> Any:
    """Numbers to ten digits, as the last ones depend on the processor."""
    if isinstance(value, float):
        return float(f"{value:.10g}")
    if isinstance(value, list):
        return [rounded(part) for part in value]
    return {key: rounded(part) for key, part in value.items()} if isinstance(value, dict) else value


def without_new_columns(written: str, known: str) -> list[dict[str, str]] | str:
    """Returns the rows of a table without columns that were added since; any other text unchanged."""
    columns = known.splitlines()[0].split(",")
    if written.partition(",")[0] != columns[0]:
        return written
    return [{name: row[name] for name in columns} for row in csv.DictReader(io.StringIO(written))]


def test_every_command_prints_the_recorded_output(older: tuple[str, Path]) -> None:
    name, root = older
    known = expected()["studies"][name]
    for entry in known["commands"]:
        command = entry["command"]
        code, printed = run(root, command)
        known_output = corrected().get((name, *command), entry["printed"])
        if command[:3] == ["decisions", "list", "topics"]:
            # Answers that fewer of the three raters gave than planned are cases to settle since then.
            assert all(len(row["answers"]) < 3 for row in printed[len(known_output) :])
            printed = printed[: len(known_output)]
        printed = drop_added(printed, known_output)
        assert (code, rounded(printed)) == (entry["exit"], rounded(known_output)), command
        if "written" in entry:
            file = Path(command[command.index("--out") + 1].format(study=root))
            known_file = entry["written"]
            assert without_new_columns(file.read_text("utf-8"), known_file) == without_new_columns(
                known_file, known_file
            ), command
    stored = {path: digest for path, digest in known["files"].items() if path not in WIDER_WORKBOOKS}
    assert {path: hash_in_older_wording(root / path) for path in stored} == stored


def test_every_act_of_an_older_study_is_read(older: tuple[str, Path]) -> None:
    name, root = older
    with sqlite3.connect(root / "study.db") as store:
        stored = store.execute("SELECT count(*) FROM acts").fetchone()[0]
    with open_coding(open_study(root)) as coding:
        assert coding.state.head == stored, name


def test_the_backup_of_an_older_study_is_restored(older: tuple[str, Path]) -> None:
    name, root = older
    for file in ("study.db", "answers.db", "invitations.db", "interviews.db"):
        (root / file).unlink(missing_ok=True)
    assert run(root, ["restore", "{study}/older.backup"])[0] == 0
    first, *more = expected()["studies"][name]["commands"]
    known_output = corrected().get((name, *first["command"]), first["printed"])
    printed = drop_added(run(root, first["command"])[1], known_output)
    if name == "interviews":  # a restore that finds a withdrawal removes the copies of an earlier version
        stages = [stage for stage in known_output["stages"] if stage["name"] != "copies"]
        known_output = {**known_output, "stages": stages}
    assert printed == known_output
    for entry in more:
        if entry["command"][:2] in (["decisions", "export"], ["interview", "themes"], ["survey", "results"]):
            printed = drop_added(run(root, entry["command"])[1], entry["printed"])
            assert rounded(printed) == rounded(entry["printed"]), entry["command"]


def test_people_of_an_older_study_sign_in_and_open_pages(older: tuple[str, Path]) -> None:
    _, root = older
    with closing_app(make_app(root, passwords=Passwords(QUICK))) as app:
        for name, pages in (("lead", ("/", "/rounds", "/codebook", "/people")), ("rater-1", ("/", "/codebook"))):
            visitor = browser(app)
            assert post(visitor, "/sign-in", {"name": name, "password": CHOSEN}).status_code == 303
            for page in pages:
                assert visitor.get(page, follow_redirects=True).status_code == 200, (name, page)


def test_older_studies_contain_every_known_act_kind(tmp_path: Path) -> None:
    stored: Counter[str] = Counter()
    for name in NAMES:
        with sqlite3.connect(unpack_older_study(name, tmp_path) / "study.db") as store:
            stored.update(dict(store.execute("SELECT kind, count(*) FROM acts GROUP BY kind")))
    assert stored == expected()["acts"]
    named = act_kinds_in_source()
    assert len(named) > 30
    assert named - set(stored) == ADDED_ACTS
