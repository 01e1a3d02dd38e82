"""Raters propose codes while rating; the lead accepts, merges or declines them, and nothing counts before that."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from httpx2 import Response
from starlette.applications import Starlette
from starlette.testclient import TestClient
from tests.support.coded_interviews import ROUND, coded_study
from tests.support.command_line import in_this_process
from tests.support.desk import HERE, QUICK, closing_app, csrf_in, invited, join, post
from tests.support.desk import browser as visitor
from tests.support.settled_study import opened
from tests.support.small_study import ITEMS

from quaestor.base.errors import InputError, StateError
from quaestor.coding.agreement_access import compute_rounds_agreement
from quaestor.coding.code_proposals import propose_code, read_proposed_codes, settle_proposed_code
from quaestor.coding.model.code_proposals import NewCode, list_own_proposals
from quaestor.coding.model.records import ACCEPTED, DECLINED, MERGED, CodeProposal
from quaestor.coding.model.rounds import list_round_notes
from quaestor.coding.rating_files import rate
from quaestor.coding.round_acts import close_by_name
from quaestor.coding.session import open_coding
from quaestor.interviews.repository import open_interviews
from quaestor.interviews.withdrawal import withdraw
from quaestor.people.credentials import Passwords
from quaestor.people.roles import Role
from quaestor.study.folder import Study
from quaestor.web.app import make_app

NEW = NewCode("Cost of labels", definition="Labels are expensive.")
PAGE = "/codebook/proposals"


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return opened(tmp_path / "study")


@pytest.fixture
def app(study: Study) -> Iterator[Starlette]:
    with closing_app(make_app(study.root, passwords=Passwords(QUICK))) as made:
        yield made


def sign_in(app: Starlette, study: Study, role: Role, name: str) -> TestClient:
    client = visitor(app)
    join(client, invited(study.root, role, name))
    return client


def list_own(study: Study, rater: str, name: str = "main") -> list[CodeProposal]:
    with open_coding(study) as coding:
        return list_own_proposals(coding.state.round(name), rater)


def rate_by_form(rater: TestClient, item: str, **fields: str) -> Response:
    page = rater.get(f"/rounds/main/rate?item={item}").text
    key = re.search(r'name="key" value="([^"]+)"', page)
    assert key is not None
    named = {name.replace("_", "."): value for name, value in fields.items()}
    sent = {"item": item, "key": key[1], "answer.phase": "training", **named}
    return post(rater, "/rounds/main/ratings", sent, f"/rounds/main/rate?item={item}")


def test_a_rating_and_its_proposed_code_are_saved_together_and_the_rating_keeps_its_code(
    app: Starlette, study: Study
) -> None:
    rater = sign_in(app, study, Role.RATER, "rater-1")
    wrong = rate_by_form(rater, ITEMS[0], proposed_definition="only a definition")
    assert (wrong.status_code, "a proposed code needs a name" in wrong.text) == (422, True)
    assert "only a definition</textarea>" in wrong.text
    known = rate_by_form(rater, ITEMS[0], proposed_name="Model Training")
    assert (known.status_code, "has the code &#39;model training&#39; already" in known.text) == (422, True)
    assert list_own(study, "rater-1") == []
    assert rate_by_form(rater, ITEMS[0], proposed_name="  Cost of\n labels ").status_code == 303
    token = csrf_in(rater.get("/rounds/main/rate").text)
    by_script = {"item": ITEMS[1], "answers": {"phase": "setting"}, "key": "k", "proposed": {"name": "cost of labels"}}
    headers = {"origin": HERE, "X-CSRF-Token": token}
    for _ in range(2):
        assert rater.post("/rounds/main/ratings", json=by_script, headers=headers).json()["saved"] is True
    assert [(each.item, each.name) for each in list_own(study, "rater-1")] == [
        (ITEMS[0], "Cost of labels"),
        (ITEMS[1], "cost of labels"),
    ]
    with open_coding(study) as coding:
        assert [coding.state.round("main").current("rater-1", item).answers for item in ITEMS[:2]] == [  # type: ignore[union-attr]
            {"phase": "training"},
            {"phase": "setting"},
        ]
    assert "You proposed “Cost of labels” here." in rater.get(f"/rounds/main/rate?item={ITEMS[0]}").text
    assert "not decided yet" in rater.get("/rounds/main/mine").text


def test_the_lead_sees_what_is_proposed_but_neither_by_whom_nor_where_while_the_round_is_open(
    app: Starlette, study: Study
) -> None:
    propose_code(study, "main", "rater-1", ITEMS[0], NEW)
    lead, other = sign_in(app, study, Role.LEAD, "lead"), sign_in(app, study, Role.RATER, "rater-2")
    assert other.get(PAGE).status_code == 403
    assert "cost of labels" not in other.get(f"/rounds/main/rate?item={ITEMS[0]}").text.lower()
    page = lead.get(PAGE).text
    assert ("Cost of labels" in page, "rater-1" in page, ITEMS[0] in page) == (True, False, False)
    assert "1 proposed code</a> of raters waits" in lead.get("/codebook").text


def test_a_lead_who_rates_in_a_blind_round_does_not_see_the_proposals_of_others(study: Study) -> None:
    with open_coding(study) as coding:
        coding.state.round("main").slots[1].raters[0] = "lead"
        propose_code(coding, "main", "rater-1", ITEMS[0], NEW)
        assert read_proposed_codes(coding) == []


def test_a_proposed_code_is_accepted_merged_or_declined_at_the_desk(app: Starlette, study: Study) -> None:
    for item, name in ((ITEMS[0], "Labels"), (ITEMS[1], "labels"), (ITEMS[2], "Speed"), (ITEMS[3], "Taste")):
        propose_code(study, "main", "rater-1", item, NewCode(name))
    lead = sign_in(app, study, Role.LEAD, "lead")
    numbers = {row.first.name: str(row.first.number) for row in read_proposed_codes(study)}
    assert list(numbers) == ["Labels", "Speed", "Taste"]
    accepted = post(lead, PAGE, {"number": numbers["Labels"], "outcome": "accepted", "name": "labels of data"})
    assert accepted.headers["location"] == f"{PAGE}?done=labels-of-data"
    unreasoned = post(lead, PAGE, {"number": numbers["Speed"], "outcome": "declined", "reason": " "})
    assert (unreasoned.status_code, "with a reason" in unreasoned.text) == (422, True)
    assert post(lead, PAGE, {"number": numbers["Speed"], "outcome": "declined", "reason": "rare"}).status_code == 303
    assert post(lead, PAGE, {"number": numbers["Taste"], "outcome": "merged", "code": "nothing"}).status_code == 422
    assert post(lead, PAGE, {"number": numbers["Taste"], "outcome": "merged", "code": "setting"}).status_code == 303
    again = post(lead, PAGE, {"number": numbers["Taste"], "outcome": "accepted"}, "/codebook/change?act=add")
    assert "there is no undecided proposed code" in again.text
    outcomes = [(each.outcome, each.code, each.reason) for each in list_own(study, "rater-1")]
    became = (ACCEPTED, "labels-of-data", "")
    assert outcomes == [became, became, (DECLINED, "", "rare"), (MERGED, "setting", "")]
    with open_coding(study) as coding:
        assert coding.state.history.latest.codes["labels-of-data"].name == "labels of data"
    rater = sign_in(app, study, Role.RATER, "rater-1")
    assert "declined, rare" in rater.get("/rounds/main/mine").text
    assert lead.get(PAGE).status_code == 200


def test_agreement_and_results_say_how_many_items_have_undecided_codes(study: Study) -> None:
    with open_coding(study) as coding:
        for item in ITEMS:
            for rater in ("rater-1", "rater-2"):
                rate(coding, "main", rater, item, {"phase": "training"})
        number = propose_code(coding, "main", "rater-1", ITEMS[0], NEW)
        propose_code(coding, "main", "rater-2", ITEMS[0], NEW)
        close_by_name(coding.study, "main", None)
    with open_coding(study) as coding:
        (measured,) = compute_rounds_agreement(coding, "main", ())
        note = "1 item has a proposed code that nobody has decided about yet; they are not counted"
        assert note in measured.title
        assert measured.about["pending_codes"] == note
        assert list_round_notes(coding.state.rounds.values()) == [f"In the round main, {note}."]
        with pytest.raises(StateError, match="closed"):
            propose_code(coding, "main", "rater-1", ITEMS[0], NEW)
        assert read_proposed_codes(coding)[0].items == (ITEMS[0],)
        settle_proposed_code(coding, number, DECLINED, reason="rare")
        (measured,) = compute_rounds_agreement(coding, "main", ())
        assert "pending_codes" not in measured.about


def test_what_a_rater_proposes_about_a_turn_is_erased_with_its_participant(tmp_path: Path) -> None:
    study = coded_study(tmp_path)
    with closing_app(make_app(study.root, passwords=Passwords(QUICK))) as app:
        rater = sign_in(app, study, Role.RATER, "rater-1")
        page, give = f"/rounds/{ROUND}/code/P1", f"/rounds/{ROUND}/code/P1/turns"
        sent = {"propose": "yes", "turn": "3", "page": "1", "key": "k", "proposed.parent": "practice"}
        empty = post(rater, give, {**sent, "proposed.name": " "}, page)
        assert (empty.status_code, "needs a name" in empty.text) == (422, True)
        proposed = post(rater, give, {**sent, "proposed.name": "Zygomorphic words"}, page)
        assert (proposed.status_code, "Your proposal is saved" in rater.get(page).text) == (303, False)
        assert "Your proposal is saved" in rater.get(proposed.headers["location"]).text
        assert "Zygomorphic words" in rater.get(page).text
    with open_coding(study) as coding:
        recorded = [act.payload for act in coding.journal.acts() if act.kind == "code.propose"]
    assert "Zygomorphic" not in json.dumps(recorded)
    assert [each.name for each in list_own(study, "rater-1", ROUND)] == ["Zygomorphic words"]
    with open_interviews(study) as interviews:
        withdraw(interviews, "P1")
    assert list_own(study, "rater-1", ROUND) == []
    assert read_proposed_codes(study) == []


def test_codes_are_proposed_and_decided_on_the_command_line(study: Study) -> None:
    where = ["--study", str(study.root)]
    propose = ["codebook", "propose", "main", ITEMS[0], "Labels", "--as", "rater-1", "--definition", "Dear.", *where]
    assert "rate" in in_this_process(*propose).output
    assert "no code can be added below" in str(in_this_process(*propose, "--parent", "never").exception)
    (row,) = json.loads(in_this_process("codebook", "proposals", "--json", *where).output)
    assert (row["name"], row["definition"], row["count"], row["items"]) == ("Labels", "Dear.", 1, [])
    decide = ["codebook", "decide", str(row["number"]), *where]
    assert isinstance(in_this_process(*decide).exception, InputError)
    assert "accepted as labels" in in_this_process(*decide, "--accept").output
    assert "Labels, main, 1 item: accepted as labels" in in_this_process("codebook", "proposals", *where).output
