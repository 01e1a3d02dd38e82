"""Renaming a rater is an act: every view shows the new name, and no number changes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.support.desk import HERE, QUICK, closing_app, csrf_in, invited, join, post, signed_in
from tests.support.desk import browser as visitor
from tests.support.rated_study import rated_study

from quaestor.base.errors import InputError, StateError
from quaestor.coding.agreement import compute_round_agreement
from quaestor.coding.disagreements import list_disagreement_rows
from quaestor.coding.pages.rounds import list_round_events
from quaestor.coding.rating_files import export_decisions, export_ratings, rate
from quaestor.coding.renaming import rename_rater
from quaestor.coding.round_acts import list_rater_items, replace_by_name
from quaestor.coding.session import new_state, open_coding
from quaestor.people.credentials import Passwords
from quaestor.people.membership import list_people
from quaestor.people.roles import Role
from quaestor.study.folder import Study, open_study
from quaestor.web.app import make_app

NEW = "anna"


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return rated_study(tmp_path / "study", items=30)


def renamed(rows: list[dict[str, str]]) -> list[dict[str, str]]:
    return [{key: re.sub(r"\brater-1\b", NEW, value) for key, value in row.items()} for row in rows]


def test_every_export_and_number_is_the_same_under_the_new_name(study: Study) -> None:
    with open_coding(study) as coding:
        before = {name: export_ratings(coding, name, "lead", superseded=True) for name in ("pilot", "phases", "topics")}
        decided = {name: export_decisions(coding.state, name) for name in before}
        kappa = compute_round_agreement(coding.state, "phases", "phase")
        order = [row["item"] for row in list_rater_items(coding, "later", "rater-1", left_only=False)]
        rename_rater(coding, "rater-1", NEW)
        assert coding.state.new_names == {"rater-1": NEW}
        for name, rows in before.items():
            assert export_ratings(coding, name, "lead", superseded=True) == renamed(rows)
            assert export_decisions(coding.state, name) == renamed(decided[name])
        after = compute_round_agreement(coding.state, "phases", "phase")
        assert (after.kappa, after.n) == (kappa.kappa, kappa.n)
        assert after.raters == (NEW, "rater-2")
        assert [row["item"] for row in list_rater_items(coding, "later", NEW, left_only=False)] == order
        again = new_state()
        again.fold(coding.journal.acts())
        assert again.rounds == coding.state.rounds, "the journal alone gives the same state"
        assert {act.actor for act in coding.journal.acts() if act.kind == "rating"} >= {"rater-1"}, "never rewritten"
        assert not any("rater-1" in str(row) for row in list_disagreement_rows(
            coding, "topics", None, open_only=False, item=None, answer=None
        ))  # fmt: skip


def test_a_renamed_rater_goes_on_rating_and_is_replaced_under_the_new_name(study: Study) -> None:
    with open_coding(study) as coding:
        rename_rater(coding, "rater-1", NEW)
        left = list_rater_items(coding, "later", NEW, left_only=True)
        rate(coding, "later", NEW, left[0]["item"], {"relevance": "keep"})
        assert len(coding.state.round("later").ratings[NEW]) == 25
        with pytest.raises(StateError, match="does not rate"):
            rate(coding, "later", "rater-1", left[1]["item"], {"relevance": "keep"})
        replace_by_name(coding, "later", None, NEW, "zoe", "ill")
        rename_rater(coding, "zoe", "zoë")
        assert [slot.label for slot in coding.state.round("later").slots] == [f"{NEW} then zoë", "rater-2"]
        words = [event.words for event in list_round_events(coding, "later")]
        assert f"gave 5 items of {NEW} to zoë" in words


def test_the_study_file_and_the_account_follow(study: Study) -> None:
    with closing_app(make_app(study.root, passwords=Passwords(QUICK))) as app:
        rater, lead = visitor(app), signed_in(app, study.root, Role.LEAD)
        join(rater, invited(study.root, Role.RATER, "rater-1"))
        sheet = rater.get("/rounds/later/rate").text
        item = re.search(r'data-item="([^"]+)"', sheet)
        assert item
        sent = post(lead, "/people/acts", {"act": "rename", "name": "rater-1", "to": NEW}, page="/people")
        assert sent.status_code == 303
        page = rater.get("/rounds/later/rate").text
        assert f'data-rater="{NEW}"' in page, "still signed in"
        assert 'data-queue="rater-1"' in page, "ratings that the browser has not sent yet are found"
        record = {"key": "k", "item": item[1], "answers": {"relevance": "keep"}, "rater": "rater-1"}
        headers = {"x-csrf-token": csrf_in(page), "origin": HERE}
        assert rater.post("/rounds/later/ratings", json=record, headers=headers).status_code == 200
        for path in ("/", "/people", "/rounds", "/rounds/phases", "/rounds/later"):
            shown = re.sub('(id|for)="rater-1"', "", lead.get(path).text)
            assert "rater-1" not in shown, path
            assert NEW in shown, path
    text = study.file.read_text("utf-8")
    assert '"rater-1"' not in text
    assert f'raters = ["{NEW}", "rater-2"]' in text
    assert open_study(study.root).settings.rounds[0].raters == (NEW, "rater-2")
    assert {account.name for account in list_people(study).accounts} == {"lead", NEW}


def test_an_interrupted_renaming_can_be_repeated(study: Study) -> None:
    text = study.file.read_text("utf-8")
    rename_rater(study, "rater-1", NEW)
    study.file.write_text(text, "utf-8")
    rename_rater(open_study(study.root), "rater-1", NEW)
    assert '"rater-1"' not in study.file.read_text("utf-8")
    with open_coding(study) as coding:
        assert [act.kind for act in coding.journal.acts()].count("person.rename") == 1


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("rater-9", NEW, "choose from: rater-"),
        ("rater-1", "rater-2", "is or was used"),
        ("rater-1", "lead", "is the lead"),
        ("lead", NEW, "is the lead"),
        ("rater-1", " ", "cannot be the name of a person"),
        ("rater-1", "reader", "is or was used"),
    ],
)
def test_a_renaming_that_would_confuse_people_is_refused(study: Study, old: str, new: str, why: str) -> None:
    invited(study.root, Role.VIEWER, "reader")
    with pytest.raises(InputError, match=why):
        rename_rater(study, old, new)
