"""Closing and reopening a round: what each role sees, what is recorded, and what results say afterwards."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient
from tests.support.desk import QUICK, browser, closing_app, invited, join, post
from tests.support.small_study import ITEMS, small_study

from quaestor.base.errors import StateError
from quaestor.coding.agreement_access import compute_rounds_agreement
from quaestor.coding.codebook import import_codebook
from quaestor.coding.disagreements import settle_agreed
from quaestor.coding.rating_files import rate
from quaestor.coding.round_acts import close_by_name, open_by_name, reopen_by_name
from quaestor.coding.session import open_coding
from quaestor.evidence.funnel import run_funnel
from quaestor.people.credentials import Passwords
from quaestor.people.roles import Role
from quaestor.study.folder import Study, open_study
from quaestor.web.app import make_app

MEMO = "tellingmemo"
LABEL = "installation"
NAMES = {Role.LEAD: "lead", Role.TIE_BREAKER: "tie-breaker", Role.VIEWER: "reader", Role.REVIEWER: "journal"}


@pytest.fixture
def study(tmp_path: Path) -> Study:
    """Rater-2 has rated every item of the blind round main, rater-1 none, and the round is closed as incomplete."""
    folder = tmp_path / "study"
    small_study(folder)
    file = folder / "study.toml"
    file.write_text(file.read_text("utf-8").replace('after = "pilot"\n', ""), "utf-8")
    study = open_study(folder)
    run_funnel(study)
    import_codebook(study)
    open_by_name(study, "main", None)
    give(study, "rater-2", f"exclude: {LABEL}")
    close_by_name(study, "main", None, "rater-1 stopped")
    return study


def give(study: Study, rater: str, answer: str) -> None:
    with open_coding(study) as coding:
        for item in ITEMS:
            rate(coding, "main", rater, item, {"relevance": answer}, memo=MEMO)


@pytest.fixture
def app(study: Study) -> Iterator[Starlette]:
    with closing_app(make_app(study.root, passwords=Passwords(QUICK))) as opened:
        yield opened


def seated(app: Starlette, study: Study, role: Role) -> TestClient:
    visitor = browser(app)
    join(visitor, invited(study.root, role, NAMES.get(role)))
    return visitor


def unblinded(study: Study) -> list[str]:
    with open_coding(study) as coding:
        return coding.state.round("main").unblinded


@pytest.mark.parametrize("role", [Role.VIEWER, Role.REVIEWER, Role.LEAD, Role.TIE_BREAKER])
def test_a_reopenable_round_shows_no_ratings_without_a_confirmed_view(app: Starlette, study: Study, role: Role) -> None:
    visitor = seated(app, study, role)
    for address in (
        f"/evidence/item?item={ITEMS[0]}", "/rounds/main/ratings.csv", "/rounds/main/decisions.csv",
        "/rounds/main/agreement", "/rounds/main/disagreements", "/rounds/main/ties", "/evidence?round=main",
    ):  # fmt: skip
        page = visitor.get(address).text
        assert MEMO not in page, address
        assert f"exclude: {LABEL}" not in page, address
    assert unblinded(study) == []
    reopen_by_name(study, "main", None, "rater-1 goes on")


def test_a_tie_breaker_gets_no_names_while_ratings_are_missing(app: Starlette, study: Study) -> None:
    visitor = seated(app, study, Role.TIE_BREAKER)
    assert visitor.get("/rounds/main/ratings.csv").status_code in (403, 409)
    close_by_name(study, "main", None, final=True)
    assert visitor.get("/rounds/main/ratings.csv").status_code == 409, "one rating of two is not yet a decision"
    settle_agreed(study, "main", None, "rater-1 stopped")
    assert "rater-2" in visitor.get("/rounds/main/ratings.csv").text


@pytest.mark.parametrize("role", [Role.VIEWER, Role.REVIEWER])
def test_readers_of_a_final_round_see_ratings_and_the_view_is_recorded_once(
    app: Starlette, study: Study, role: Role
) -> None:
    close_by_name(study, "main", None, final=True)
    visitor = seated(app, study, role)
    assert MEMO not in visitor.get(f"/evidence/item?item={ITEMS[0]}").text, "one rating of two is not yet a decision"
    settle_agreed(study, "main", None, "rater-1 stopped")
    for _ in range(2):
        assert MEMO in visitor.get(f"/evidence/item?item={ITEMS[0]}").text
    assert unblinded(study) == [NAMES[role]]
    with pytest.raises(StateError, match="closed as final"):
        reopen_by_name(study, "main", None, "rater-1 is back", not_blind=True)


def test_after_the_lead_viewed_ratings_a_round_reopens_only_as_not_blind(app: Starlette, study: Study) -> None:
    lead = seated(app, study, Role.LEAD)
    asked = lead.get("/rounds/main/ratings.csv")
    assert "It is recorded" in asked.text
    shown = post(lead, "/rounds/main/ratings.csv", {})
    assert MEMO in shown.text
    assert unblinded(study) == ["lead"]
    refused = post(lead, "/rounds/main/acts", {"act": "reopen", "reason": "rater-1 goes on"}, page="/rounds/main")
    assert refused.status_code == 409
    assert "lead saw the ratings" in refused.text
    fields = {"act": "reopen", "reason": "rater-1 goes on", "not_blind": "1"}
    assert post(lead, "/rounds/main/acts", fields, page="/rounds/main").status_code == 303
    assert "Not blind: reopened after ratings had been seen" in lead.get("/rounds/main").text
    give(study, "rater-1", "keep")
    close_by_name(study, "main", None)
    (result,) = compute_rounds_agreement(study, "main", ["relevance"])
    assert result.about["blindness"] == "not blind: reopened after ratings had been seen"
    assert "not blind" in result.title
    assert "not blind" in lead.get("/rounds/main/agreement").text.casefold()
    assert "not blind" in lead.get("/").text.casefold()


def test_a_settled_round_cannot_be_reopened_blind_after_a_reader_saw_its_ratings(app: Starlette, study: Study) -> None:
    reopen_by_name(study, "main", None, "rater-1 goes on")
    give(study, "rater-1", f"exclude: {LABEL}")
    close_by_name(study, "main", None)
    reader = seated(app, study, Role.VIEWER)
    assert MEMO in reader.get(f"/evidence/item?item={ITEMS[0]}").text
    with pytest.raises(StateError, match="reader saw the ratings"):
        reopen_by_name(study, "main", None, "one more look")


def test_a_tie_breakers_view_of_a_case_is_recorded(app: Starlette, study: Study) -> None:
    reopen_by_name(study, "main", None, "rater-1 goes on")
    give(study, "rater-1", "keep")
    close_by_name(study, "main", None)
    visitor = seated(app, study, Role.TIE_BREAKER)
    visitor.get("/rounds/main/ties")
    assert unblinded(study) == ["tie-breaker"]


def test_the_ratings_file_of_a_settled_round_names_its_raters(app: Starlette, study: Study) -> None:
    close_by_name(study, "main", None, final=True)
    lead = seated(app, study, Role.LEAD)
    rows = list(csv.DictReader(io.StringIO(lead.get("/rounds/main/ratings.csv").text)))
    assert {row["rater"] for row in rows} == {"rater-2"}
    assert unblinded(study) == ["lead"], "the look is recorded without a question: nothing depends on it any more"
