"""A facet that is asked only under a condition goes through a whole study, from the first rating to the report."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest
from tests.support.command_line import in_this_process
from tests.support.made_once import study_of
from tests.support.settling import settle_with_assents

from quaestor.base.errors import InputError
from quaestor.base.table_files import ExportTable, write_table
from quaestor.coding.agreement_access import compute_rounds_agreement
from quaestor.coding.codebook import import_codebook
from quaestor.coding.coded_items import VisibleDecisions
from quaestor.coding.disagreements import list_disagreement_rows, settle_agreed, settle_item
from quaestor.coding.model.decisions import find_undecided, is_settled_round
from quaestor.coding.model.records import Facet
from quaestor.coding.pages.disputed_answers import SubmittedAnswer
from quaestor.coding.pages.ties import answer_tie, build_tie
from quaestor.coding.rating import build_next_item
from quaestor.coding.rating_files import export_decisions, export_ratings, import_ratings, rate
from quaestor.coding.round_acts import close_by_name, open_by_name
from quaestor.coding.session import open_coding
from quaestor.coding.visibility import Viewer, Visibility
from quaestor.people.roles import Role
from quaestor.publication.publication import compute_publication, open_computed
from quaestor.publication.results.threats import list_threats
from quaestor.search.item_history import DECISION, build_item_history
from quaestor.study.folder import Study, open_study
from quaestor.synth.simulated_raters import add_missing_ratings, simulate_settling

STUDY = """
[study]
name = "failures"
lead = "lead"

[sources.sheet]
kind = "table"
path = "posts.csv"
item = "forum/question/{id}"
columns.id = { type = "whole" }
columns.title = {}

[[funnel.steps]]
step = "all"
where = "title.contains('how')"

[facets.cause]
kind = "single"
codes = "cause"

[facets.sub]
kind = "single"
codes = "part"
ask_if = { cause = ["Type error", "shape"] }

[facets.fits]
kind = "confirm"
ask_if = { cause = "type" }

[[rounds]]
round = "main"
items = { after = "all" }
facets = ["cause", "sub"]
raters = ["rater-1", "rater-2"]

[[rounds]]
round = "copy"
items = { after = "all" }
facets = ["cause", "sub"]
raters = ["rater-1", "rater-2"]
tie_breaker = "tie-breaker"
settle = "tie-breaker"

[[rounds]]
round = "confirmed"
items = { after = "all" }
facets = ["cause", "fits"]
raters = ["rater-1"]
confirms = ["main"]

[[rounds]]
round = "trained"
items = { after = "all" }
facets = ["cause", "sub"]
raters = ["rater-1"]
practice = [{ item = "forum/question/10", answers = { cause = "type", sub = "node" } }]

[results]
code = "main.sub"
tree = "part"

[[tables]]
table = "1"
title = "Parts"
rows = ["part"]
"""
CODEBOOK = """
[[facet]]
id = "part"
levels = ["part"]
[[facet]]
id = "cause"
levels = ["cause"]
""" + "".join(
    f'[[code]]\nid = "{code}"\nfacet = "{facet}"\nname = "{name}"\n'
    for code, facet, name in (
        ("type", "cause", "Type error"),
        ("shape", "cause", "Shape error"),
        ("test", "cause", "Broken test"),
        ("node", "part", "Node"),
        ("tensor", "part", "Tensor"),
    )
)
ITEMS = [f"forum/question/{number}" for number in range(11, 19)]
TYPE, SHAPE, TEST = ({"cause": "type", "sub": "node"}, {"cause": "shape", "sub": "node"}, {"cause": "test"})
PAIRS = [(TYPE, TYPE)] * 3 + [
    (TYPE, {**TYPE, "sub": "tensor"}),
    (TYPE, SHAPE),
    (TYPE, TEST),
    (TEST, TEST),
    (TEST, TEST),
]


@pytest.fixture
def study(tmp_path: Path) -> Study:
    posts = "\n".join(["id,title", *(f"{number},how to do {number}" for number in range(11, 19))])
    study = study_of(tmp_path / "study", {"posts.csv": posts, "study.toml": STUDY, "codebook.toml": CODEBOOK})
    import_codebook(study)
    open_by_name(study, "main", None)
    return study


@pytest.fixture
def closed(study: Study) -> Study:
    with open_coding(study) as coding:
        for item, pair in zip(ITEMS, PAIRS, strict=True):
            for rater, answers in zip(("rater-1", "rater-2"), pair, strict=True):
                rate(coding, "main", rater, item, answers)
    close_by_name(study, "main", None)
    return study


def decided(study: Study, facet: str = "sub") -> dict[str, Any]:
    with open_coding(study) as coding:
        decisions = coding.state.round("main").last_decisions(facet)
    return {item: decision.answer for item, decision in decisions.items()}


def test_the_plan_freezes_the_ids_of_codes_and_a_rater_sees_the_condition(study: Study) -> None:
    with open_coding(study) as coding:
        assert coding.state.round("main").plan.facet("sub").ask_if == (("cause", ("type", "shape")),)
    shown = build_next_item(study, "main", "rater-1")
    assert [facet["ask_if"] for facet in shown["facets"]] == ["", "cause is type or shape"]
    printed = in_this_process("ratings", "next", "main", "--as", "rater-1", "--study", study.root)
    assert "only if cause is type or shape" in printed.stdout
    refused = in_this_process(
        "ratings", "give", "main", ITEMS[0], "cause=test", "sub=node", "--as", "rater-1", "--study", study.root
    )
    assert str(refused.exception) == "sub is asked only if cause is type or shape: leave it without an answer"


def test_practice_on_the_command_line_names_the_question_that_was_not_asked(study: Study) -> None:
    open_by_name(study, "trained", None)
    command = ("ratings", "practise", "trained", "forum/question/10", "cause=test", "--as", "rater-1")
    printed = in_this_process(*command, "--study", study.root)
    assert "cause: you answered Broken test; the right answer is Type error" in printed.stderr
    assert "sub: you were not asked; the right answer is Node" in printed.stderr


def test_an_export_is_imported_unchanged_and_a_row_with_an_answer_too_many_is_named(closed: Study) -> None:
    path = closed.root / "ratings.csv"
    open_by_name(closed, "copy", None)
    with open_coding(closed) as coding:
        rows = export_ratings(coding, "main", "lead")
        assert [row["sub"] for row in rows if row["cause"] == "test"] == [""] * 5
        write_table(ExportTable.from_mappings("ratings", rows), path)
        assert import_ratings(coding, "copy", path).added == 16
        copied = export_ratings(coding, "copy", "lead")
        assert [(row["item"], row["rater"], row["cause"], row["sub"]) for row in copied] == [
            (row["item"], row["rater"], row["cause"], row["sub"]) for row in rows
        ]
    lines = list(csv.reader(path.read_text("utf-8").splitlines()))
    changed = dict(zip(lines[0], lines[1], strict=True)) | {"cause": "test", "sub": "node", "time": ""}
    write_table(ExportTable.from_mappings("ratings", [changed]), path)
    with open_coding(closed) as coding, pytest.raises(InputError, match="D2: sub is asked only if"):
        import_ratings(coding, "copy", path)
    write_table(ExportTable.from_mappings("ratings", [changed | {"cause": "type", "sub": ""}]), path)
    with open_coding(closed) as coding:
        done = import_ratings(coding, "copy", path)
    assert (done.added, [problem.where for problem in done.unfinished]) == (0, ["D2"])


def test_agreement_states_on_how_many_items_all_raters_were_asked(closed: Study) -> None:
    (agreement,) = compute_rounds_agreement(closed, "main", facets=["sub"])
    assert (agreement.agreement.n, agreement.agreement.percent.value) == (5, 0.8)
    base = "The question sub is asked only if cause is type or shape: 5 of 8 items were asked by all raters."
    assert agreement.agreement.warnings[0] == base
    printed = in_this_process("agreement", "--round", "main", "--facet", "sub", "--yes", "--study", closed.root)
    assert " ".join(base.split()) in " ".join(printed.stdout.split())


def test_settling_the_condition_decides_what_agrees_and_lists_what_is_missing(closed: Study) -> None:
    assert decided(closed) == dict.fromkeys(ITEMS[:3], "node")
    rows = list_disagreement_rows(closed, "main", None, open_only=True, item=None, answer=None)
    assert {(row["item"], row["facet"]) for row in rows} == {
        (ITEMS[3], "sub"),
        (ITEMS[4], "cause"),
        (ITEMS[5], "cause"),
    }
    settle_with_assents(closed, "main", "rater-1", ITEMS[4], "cause", "shape")
    assert decided(closed)[ITEMS[4]] == "node", "both raters gave this answer"
    settle_with_assents(closed, "main", "rater-1", ITEMS[5], "cause", "type")
    (row,) = list_disagreement_rows(closed, "main", None, open_only=True, item=ITEMS[5], answer=None)
    assert (row["facet"], row["answers"], row["not_asked"]) == ("sub", [("rater-1", "node")], ["rater-2"])
    printed = in_this_process("decisions", "list", "main", "--open", "--yes", "--study", closed.root)
    assert f"{ITEMS[5]}  sub  rater-1: node; rater-2: not asked" in printed.stdout
    settle_with_assents(closed, "main", "rater-1", ITEMS[5], "sub", "tensor")
    settle_with_assents(closed, "main", "rater-1", ITEMS[3], "sub", "node")
    with open_coding(closed) as coding:
        assert is_settled_round(coding.state, "main")
    assert "round main" in in_this_process("status", "--study", closed.root).stdout


def test_single_answers_are_decided_with_those_that_they_lead_to(study: Study) -> None:
    with open_coding(study) as coding:
        for item in ITEMS:
            rate(coding, "main", "rater-1", item, TYPE)
    close_by_name(study, "main", None, "rater-2 left", final=True)
    assert settle_agreed(study, "main", None, "rater-2 left") == 16
    assert decided(study) == dict.fromkeys(ITEMS, "node")


def test_a_decision_counts_nowhere_once_its_question_is_not_asked(closed: Study) -> None:
    settle_with_assents(closed, "main", "rater-1", ITEMS[4], "cause", "shape")
    assert decided(closed)[ITEMS[4]] == "node"
    settle_item(closed, "main", "rater-1", ITEMS[4], "cause", "test", "one-person", "it is a test")
    assert ITEMS[4] not in decided(closed)
    with open_coding(closed) as coding:
        rows = export_decisions(coding.state, "main")
        assert [row["facet"] for row in rows if row["item"] == ITEMS[4]] == ["cause"]
        answers = VisibleDecisions(Visibility(coding.state, "lead", Viewer("lead", Role.LEAD))).list_answers(ITEMS[4])
        assert [answer.facet for answer in answers] == ["cause"]
        history = build_item_history(closed, coding, ITEMS[4], Viewer("lead", Role.LEAD))
        decisions = [event for part in history.rounds for event in part.events if event.kind == DECISION]
        superseded = {event.answers[0][0]: event.superseded for event in decisions}
        assert superseded == {"cause": False, "sub": True}, "the last decision on the cause counts, none on the part"
    open_by_name(closed, "confirmed", None)
    with open_coding(closed) as coding:
        proposals = coding.state.round("confirmed").plan.proposals
        assert proposals[ITEMS[0]] == {"cause": "type", "sub": "node"}
        assert proposals[ITEMS[4]] == {"cause": "test"}
        rate(coding, "confirmed", "rater-1", ITEMS[0], {"cause": "type", "fits": "no: tensor"})
        with pytest.raises(InputError, match="fits is asked only if cause is type"):
            rate(coding, "confirmed", "rater-1", ITEMS[1], {"cause": "test", "fits": "yes"})


def test_the_tie_breaker_answers_what_the_first_decision_requires(study: Study) -> None:
    open_by_name(study, "copy", None)
    with open_coding(study) as coding:
        for item in ITEMS:
            rate(coding, "copy", "rater-1", item, TEST)
            rate(coding, "copy", "rater-2", item, {"cause": "cannot judge"} if item == ITEMS[0] else TEST)
    close_by_name(study, "copy", None)
    for facet, answer, opinions in (("cause", "type", 2), ("sub", "node", 0)):
        tie = build_tie(study, "copy", "tie-breaker")
        assert tie is not None
        assert (tie.question.facet, len(tie.question.opinions)) == (facet, opinions)
        chosen = SubmittedAnswer(others=(answer,))
        answer_tie(study, "copy", "tie-breaker", ITEMS[0], facet, chosen, "", settling=True, key=f"key-{facet}")
    assert build_tie(study, "copy", "tie-breaker") is None
    with open_coding(study) as coding:
        assert is_settled_round(coding.state, "copy")
        assert coding.state.round("copy").last_decisions("sub")[ITEMS[0]].answer == "node"


def test_the_report_counts_what_was_asked_and_names_the_rest(closed: Study) -> None:
    for item, facet, answer in (
        (ITEMS[3], "sub", "tensor"),
        (ITEMS[4], "cause", "shape"),
        (ITEMS[5], "cause", "test"),
    ):
        settle_with_assents(closed, "main", "rater-1", item, facet, answer)
    with open_computed(open_study(closed.root)) as computed:
        publication = compute_publication(computed, lambda message: None)
        threats = list_threats(computed)
        assert computed.results is not None
        assert computed.undecided == ()
        assert computed.results.coded.left_out == {"the question is asked only if cause is type or shape": 3}
    table = {row.key: row.cells[-1].values[0] for row in publication.tables["1"].rows()}
    assert (table["node"], table["tensor"], table["total"]) == (4, 1, 5)
    assert any("on sub" in threat and "over 5 of 8 items" in threat for threat in threats)


def test_simulated_raters_answer_and_settle_only_what_is_asked(study: Study) -> None:
    truth = dict(zip(ITEMS, ("type", "shape", "test") * 3, strict=False))

    def answer(rater: str, facet: Facet, item: str) -> str:
        if facet.id == "cause":
            return truth[item] if rater == "rater-1" else "test" if item < ITEMS[3] else truth[item]
        return "node"

    with open_coding(study) as coding:
        assert add_missing_ratings(coding, "main", answer, seed=1) == 16
        close_by_name(coding, "main", None)
        planted = {"cause": truth.__getitem__, "sub": lambda item: "tensor"}
        counts = simulate_settling(coding, "main", seed=1, planted=lambda facet, item: planted[facet.id](item))
        assert counts == {"discussion": 4}, "two causes, then the two parts that they lead to"
        assert not find_undecided(coding.state, "main")
        assert is_settled_round(coding.state, "main")
    assert set(decided(study)) == {item for item in ITEMS if truth[item] != "test"}
