"""The start page shows each role the state of the study that it may see."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient
from tests.support.desk import NAMES, QUICK, closing_app, csrf_in, invited, join, post
from tests.support.desk import browser as visitor
from tests.support.rated_study import TELLING, rated_study, unrated_study

from quaestor.coding.agreement import compute_round_agreement
from quaestor.coding.agreement_access import record_agreement_view
from quaestor.coding.session import open_coding
from quaestor.people.credentials import Passwords
from quaestor.people.roles import Role
from quaestor.study.folder import open_study
from quaestor.study.templates import new_study
from quaestor.web.app import make_app


@pytest.fixture(scope="module")
def study_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    study = rated_study(tmp_path_factory.mktemp("start") / "study", items=24)
    with open_coding(study) as coding:
        record_agreement_view(coding, "phases", "lead")
    return study.root


@pytest.fixture(scope="module")
def app(study_template: Path) -> Iterator[Starlette]:
    with closing_app(make_app(study_template, passwords=Passwords(QUICK))) as opened:
        yield opened


@pytest.fixture(scope="module")
def pages(app: Starlette, study_template: Path) -> dict[Role, str]:
    """The start as each role sees it."""
    return {role: signed_in(app, study_template, role).get("/").text for role in Role}


def signed_in(app: Starlette, folder: Path, role: Role) -> TestClient:
    opened = visitor(app)
    join(opened, invited(folder, role, NAMES[role]))
    return opened


def section(page: str, name: str) -> str:
    """What the page says of one round."""
    return next(part for part in page.split("<h3>")[1:] if re.match(rf"(<a [^>]+>)?{name}<", part))


def test_the_lead_sees_raters_of_every_round_and_agreement_of_closed_rounds(
    pages: dict[Role, str], study_template: Path
) -> None:
    page = pages[Role.LEAD]
    with open_coding(open_study(study_template)) as coding:
        kappa = compute_round_agreement(coding.state, "phases", "phase").kappa
    phases = section(page, "phases")
    assert f"<strong>{kappa.value:.3f}</strong>" in phases
    assert f"{kappa.low:.3f} to {kappa.high:.3f}" in phases
    assert '/rounds/phases/agreement"' in phases
    later = section(page, "later")
    assert "20 of 24" in later
    assert "4 ratings missing" in later
    assert "<strong>" not in later
    assert "View the agreement so far" in later
    assert "<strong>" not in section(page, "own").split("<h2")[0]
    assert "agreement is shown once it is closed" in section(page, "own")


def test_the_next_step_is_a_link(pages: dict[Role, str], app: Starlette, study_template: Path) -> None:
    found = re.search(r'class="do"><a href="([^"]+)">([^<]+)</a>', pages[Role.LEAD])
    assert found is not None
    assert found[2] == "Settle 13 cases of the round phases"
    assert signed_in(app, study_template, Role.LEAD).get(found[1]).status_code == 200


def test_every_number_of_the_funnel_opens_its_items(pages: dict[Role, str]) -> None:
    for role in (Role.LEAD, Role.VIEWER, Role.REVIEWER):
        assert re.search(r'<a href="/steps/1/kept"[^>]*>24</a>', pages[role])
        assert '<a href="/steps/1/dropped">1 dropped</a>' in pages[role]


def test_readers_see_the_page_without_the_parts_for_the_lead(pages: dict[Role, str]) -> None:
    for role in (Role.VIEWER, Role.REVIEWER):
        page = pages[role]
        assert "20 of 24" in section(page, "later")
        for words in (
            'class="next"',
            "View the agreement",
            "/agreement",
            "κ",
            "<form",
            "command line",
            str(Path.cwd()),
        ):
            assert words not in page, (role, words)
    assert "rater-1 rated 24 items in later" in pages[Role.VIEWER]
    assert "rater A rated 24 items in later" in pages[Role.REVIEWER]
    for name in ("rater-1", "rater-2", "rater-3", ">lead<", "lead rated"):
        assert name not in pages[Role.REVIEWER].replace("The lead rated", ""), name


def test_no_role_sees_answers_and_raters_see_only_their_tasks(pages: dict[Role, str]) -> None:
    for page in pages.values():
        assert TELLING not in page
        assert len(page.encode()) < 150_000
    for role in (Role.RATER, Role.TIE_BREAKER):
        for words in ("rater-2", "κ", "Recent activity", "20 of 24"):
            assert words not in pages[role], (role, words)


def test_viewing_agreement_from_the_start_page_is_recorded(study_template: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(study_template, tmp_path / "study", ignore=shutil.ignore_patterns("people.db*")))
    with closing_app(make_app(folder, passwords=Passwords(QUICK))) as app:
        lead = signed_in(app, folder, Role.LEAD)
        assert csrf_in(section(lead.get("/").text, "later"))
        done = post(lead, "/rounds/later/look", {}, page="/")
        assert (done.status_code, done.headers["location"]) == (303, "/rounds/later/agreement")
        later = section(lead.get("/").text, "later")
        assert "<strong>" in later
        assert "View the agreement" not in later
        assert "You viewed the ratings of later" in lead.get("/").text
    with open_coding(open_study(folder)) as coding:
        assert coding.state.round("later").unblinded == ["lead"]


def test_studies_without_acts_or_without_content_show_the_first_step(tmp_path: Path) -> None:
    for folder, words in (
        (unrated_study(tmp_path / "unrated", items=3).root, "Import the codebook"),
        (new_study(tmp_path / "blank", "blank"), "study.toml"),
    ):
        with closing_app(make_app(folder, passwords=Passwords(QUICK))) as app:
            page = signed_in(app, folder, Role.LEAD).get("/").text
        assert 'class="do"' in page
        assert words in page
        assert "No activity yet" in page
        assert str(tmp_path) not in page
