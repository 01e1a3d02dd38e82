"""No command shows a rater or tie-breaker the answers of others while a round is open: every command × every role."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer
from tests.support.command_line import in_this_process
from tests.support.small_study import small_study

from quaestor.cli.main import app
from quaestor.coding.codebook import import_codebook
from quaestor.coding.rating_files import rate
from quaestor.coding.round_acts import close_by_name, list_rater_items, open_by_name, waive_by_name
from quaestor.coding.session import open_coding
from quaestor.study.folder import Study, open_study

MARKER = "markerword"
ROLES = ("rater-1", "tie-breaker", "stranger")

# The arguments of each command; ACTOR is replaced by the role. Commands that show nothing about a round are listed in
# ELSEWHERE, so that a new command has to be added to one of the two; `test_rating_spreadsheet` reads what
# `ratings sheet` writes.
CALLS: dict[str, list[list[str]]] = {
    "codebook add": [["x", "--facet", "issue", "--name", "x", "--as", "ACTOR"]],
    "codebook diff": [["0"]],
    "codebook log": [[]],
    "codebook show": [["--json"]],
    "codebook propose": [["main", "forum/question/1", "x", "--as", "ACTOR"]],
    "codebook proposals": [["--as", "ACTOR"], ["--as", "ACTOR", "--json"]],
    "codebook decide": [["1", "--accept", "--as", "ACTOR"]],
    "round list": [["--json"], []],
    "round add": [["again", "--items", "again=main", "--facet", "relevance", "--rater", "ACTOR", "--as", "ACTOR"]],
    "round remove": [["main", "--as", "ACTOR"], ["main"]],
    "round open": [["triplets", "--as", "ACTOR"], ["triplets"]],
    "round close": [["main", "--as", "ACTOR"], ["main"]],
    "round reopen": [["main", "--reason", "x"]],
    "round waive": [["main", "--reason", "x"]],
    "round replace": [["main", "--rater", "rater-1", "--replacement", "rater-9", "--as", "ACTOR"]],
    "round deadline": [["main", "2030-01-01", "--as", "ACTOR"]],
    "round next-set": [["phrases", "--as", "ACTOR"]],
    "round items": [["main", "--as", "ACTOR", "--json"], ["phrases", "--as", "ACTOR", "--json"]],
    "ratings next": [["main", "--as", "ACTOR", "--json"], ["phrases", "--as", "ACTOR", "--json"]],
    "ratings give": [["main", "forum/question/1", "relevance=keep", "--as", "ACTOR"]],
    "ratings practise": [["main", "forum/question/1", "relevance=keep", "--as", "ACTOR"]],
    "ratings export": [["main", "--as", "ACTOR", "--superseded"], ["phrases", "--as", "ACTOR", "--json"]],
    "agreement": [["main", "--as", "ACTOR"], ["--round", "phrases", "--as", "ACTOR", "--json"], []],
    "decisions list": [["main", "--as", "ACTOR"]],
    "decisions passages": [["main", "forum/question/1", "--as", "ACTOR"]],
    "decisions agree": [["main", "--as", "ACTOR"]],
    "decisions comment": [["main", "forum/question/1", "hm", "--as", "ACTOR"]],
    "decisions tie": [["main", "forum/question/1", "keep", "--as", "ACTOR"]],
    "decisions settle": [["main", "forum/question/1", "keep", "--how", "discussion", "--as", "ACTOR"]],
    "decisions assent": [["main", "forum/question/1", "--as", "ACTOR"]],
    "decisions export": [["main", "--as", "ACTOR"]],
    "phrases words": [["phrases", "--as", "ACTOR"], ["phrases", "--kind", "verb", "--as", "ACTOR", "--json"]],
    "phrases unify": [["phrases", "layer", "--into", "thing", "--relation", "hypernym", "--as", "ACTOR"]],
    "phrases reread": [["phrases", "forum/question/1", "--as", "ACTOR"]],
    "phrases curves": [["phrases", "--as", "ACTOR"]],
    "phrases objects": [["phrases", "--phases", "main", "--as", "ACTOR"]],
    "status": [[], ["--json"]],
    "funnel": [["--json"], []],
    "items": [
        ["forum/question/1"],
        ["--step", "how-to"],
        ["--cell", "1:a:b"],
        ["--search", "layer", "--json"],
        ["--round", "main", "--json"],
        ["--disagreement", "any"],
        ["--disagreement", "any", "--round", "main"],
        ["--code", "exclude", "--json"],
        ["--facet", "phrase", "--round", "phrases"],
    ],
    "report": [[], ["--json"]],
    "audit": [[], ["--json", "--all"]],
    "handbook": [[], ["--json"]],
    "invite": [["ACTOR", "--role", "rater"], ["ACTOR", "--role", "tie-breaker", "--json"]],
    "people list": [[], ["--json"]],
    "people rename": [["ACTOR", "another"]],
    "people revoke": [["ACTOR"]],
    "people remove": [["ACTOR"]],
    "survey themes": [["main", "--as", "ACTOR"], ["main", "--as", "ACTOR", "--json"]],
    "interview code-agreement": [["main", "--as", "ACTOR"], ["main", "--unit", "answer", "--as", "ACTOR", "--json"]],
    "interview in-vivo": [["main", "--as", "ACTOR"], ["main", "--as", "ACTOR", "--json"]],
    "interview themes": [["--as", "ACTOR"], ["--as", "ACTOR", "--json"]],
    "interview quotations": [["x", "--as", "ACTOR"], ["x", "--as", "ACTOR", "--json"]],
    "interview saturation": [["--as", "ACTOR"], ["--as", "ACTOR", "--json"]],
    "interview adopt": [["main", "forum/question/1", "0", "4", "x", "--as", "ACTOR"]],
}
ELSEWHERE = {
    "new", "doctor", "docs", "ingest", "remove-copies", "survey recipients", "survey mail", "survey remind",
    "interview audio", "replicate", "sample", "kinds", "serve", "demo", "backup", "restore",
    "synth stackexchange", "synth ratings", "codebook import", "codebook facet", "codebook rename",
    "codebook redefine", "codebook merge", "codebook split", "codebook move", "codebook retire", "codebook undo",
    "ratings sheet", "ratings import", "decisions import", "synth survey", "survey check", "survey preview",
    "survey open", "survey close", "survey status", "survey invite", "survey rates", "survey flags", "survey decide",
    "survey results", "survey erase", "survey import", "survey export", "survey items", "survey claims", "survey merge",
    "interview participant", "interview items", "interview agreement",
    "interview import", "interview transcript", "interview speakers", "interview match", "interview names",
    "interview protocol", "synth interviews",
    "interview check", "interview guide", "interview guides", "interview plan", "interview cancel", "interview list",
    "interview status",
}  # fmt: skip


def list_commands() -> set[str]:
    names = set()
    for name, command in typer.main.get_command(app).commands.items():  # type: ignore[attr-defined]
        below = getattr(command, "commands", None)
        names |= {f"{name} {subcommand}" for subcommand in below} if below and name != "ingest" else {name}
    return names


def test_every_command_is_tested_here_or_shows_nothing_of_a_round() -> None:
    assert list_commands() == set(CALLS) | ELSEWHERE


@pytest.fixture
def study(tmp_path: Path) -> Study:
    """A study with two open rounds in which rater-2 has rated every item and rater-1 a single one."""
    study = small_study(tmp_path / "study")
    text = study.file.read_text("utf-8").replace(
        'reasons = ["crash", "installation"]', f'reasons = ["crash", "{MARKER}"]'
    )
    text = text.replace('items = { kept_by = "main", set_size = 4 }', 'items = { after = "how-to", set_size = 4 }')
    study.file.write_text(text.replace("threshold = 0.4", "") + "\n", "utf-8")
    in_this_process("funnel", "--study", study.root)
    study = open_study(study.root)
    import_codebook(study)
    open_by_name(study, "pilot", None)
    close_by_name(study, "pilot", None, "not needed here")
    waive_by_name(study, "pilot", None, "not needed here")
    for name in ("main", "phrases"):
        open_by_name(study, name, None)
    with open_coding(study) as coding:
        for entry in list_rater_items(study, "main", "rater-2", left_only=True):
            rate(coding, "main", "rater-2", entry["item"], {"relevance": f"exclude: {MARKER}"}, memo=MARKER)
        for entry in list_rater_items(study, "phrases", "rater-2", left_only=True):
            rate(coding, "phrases", "rater-2", entry["item"], {"phrase": f"{MARKER}, layer"}, memo=MARKER)
        rate(coding, "phrases", "rater-1", list_rater_items(study, "phrases", "rater-1", left_only=True)[0]["item"],
             {"phrase": "save, layer"})  # fmt: skip
    return study


@pytest.mark.slow
@pytest.mark.parametrize("role", ROLES)
def test_no_command_shows_answers_of_others_while_the_round_is_open(study: Study, role: str) -> None:
    for name, calls in CALLS.items():
        for call in calls:
            arguments = [role if word == "ACTOR" else word for word in call]
            done = in_this_process(*name.split(), *arguments, "--study", study.root)
            output = f"{done.output}{done.exception or ''}"
            # The possible answers contain the word once.
            allowed = name == "ratings next" and f"exclude: crash | {MARKER}" in output
            count = output.count(MARKER) - (1 if allowed else 0)
            assert count <= 0, f"{name} {arguments} tells {role}: {output[-600:]}"
