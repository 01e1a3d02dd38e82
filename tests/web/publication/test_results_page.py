"""The results page: results are stale when their inputs change, and are rebuilt when the lead opens the page."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect
from starlette.applications import Starlette
from tests.support.acting import Table
from tests.support.desk import QUICK, closing_app, invited, post, signed_in
from tests.support.labelled_study import labelled_study
from tests.support.windows import assert_for_everyone, complaints_of, serving, session_after

from quaestor.coding.session import open_coding
from quaestor.people.credentials import Passwords
from quaestor.people.roles import Role
from quaestor.publication.handbook.make import make_handbook
from quaestor.publication.publication_status import check_freshness
from quaestor.publication.rebuild_jobs import RebuildProgress
from quaestor.publication.report.make import build_report
from quaestor.study.folder import Study
from quaestor.web.app import make_app


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    found = labelled_study(tmp_path_factory.mktemp("results") / "study")
    build_report(found, lambda words: None)
    make_handbook(found, lambda what, done, total: None)
    return found


@pytest.fixture
def app(study: Study) -> Iterator[Starlette]:
    with closing_app(make_app(study.root, passwords=Passwords(QUICK))) as opened:
        yield opened


def holding(study: Study) -> list[bool]:
    with open_coding(study) as coding:
        return [freshness.is_current for freshness in check_freshness(study, coding.state)]


def test_ratings_do_not_make_results_stale_until_their_round_is_closed() -> None:
    table = Table()
    table.codebook()
    assert table.state.changed == 1
    table.open()
    table.rate("first", "i1", relevance="keep")
    assert (table.state.head, table.state.changed) == (3, 2)


def test_freshly_built_results_are_up_to_date_and_show_their_findings(app: Starlette, study: Study) -> None:
    assert holding(study) == [True, True]
    reader = signed_in(app, study.root, Role.VIEWER)
    page = reader.get("/results").text
    assert "Open the report" in page
    assert "Open the audit" in page
    assert "Open the handbook" in page
    assert "The study has changed since" not in page
    assert "Rebuild all" not in page, "a reader reads"
    assert page.count("source") == 10
    assert reader.post("/results/make").status_code == 403


def test_the_report_archive_contains_all_files_and_is_reproducible(app: Starlette, study: Study) -> None:
    reader = signed_in(app, study.root, Role.VIEWER)
    answer = reader.get("/results/report.zip")
    assert answer.headers["content-type"] == "application/zip"
    assert answer.content == reader.get("/results/report.zip").content
    with zipfile.ZipFile(io.BytesIO(answer.content)) as packed:
        assert packed.testzip() is None
        for name in ("index.html", "tables/table-3.xlsx", "tables/table-3.tex", "figures/by-year.pdf", "audit.json"):
            assert packed.read(f"report/{name}") == (study.published / "report" / name).read_bytes()
    assert reader.get("/results/study.zip").status_code == 409
    assert reader.get("/results/..%2fstudy.zip").status_code in (404, 409)


def test_stale_results_are_rebuilt_when_the_lead_opens_the_page(app: Starlette, study: Study) -> None:
    reader, lead = signed_in(app, study.root, Role.VIEWER), signed_in(app, study.root, Role.LEAD)
    before = {file: file.stat().st_mtime_ns for file in study.published.rglob("index.html")}
    text = study.file.read_text("utf-8")
    study.file.write_text(f"{text}\n# a word more\n", "utf-8")
    assert holding(study) == [False, False]
    assert "The study has changed since report and handbook were built." in reader.get("/results").text
    assert before == {file: file.stat().st_mtime_ns for file in study.published.rglob("index.html")}, "it only looked"
    assert "Rebuilding" in lead.get("/results").text
    assert app.state.remaking.wait() == RebuildProgress()
    assert holding(study) == [True, True]
    page = reader.get("/results").text
    assert "The study has changed since" not in page
    assert "rebuild failed" not in page


def test_a_failed_build_shows_its_reason_and_keeps_the_old_results(app: Starlette, study: Study) -> None:
    lead = signed_in(app, study.root, Role.LEAD)
    index = (study.published / "report" / "index.html").read_bytes()
    printed = study.root / "printed" / "printed.toml"
    text = printed.read_text("utf-8")
    printed.write_text("[[", "utf-8")
    try:
        assert "Rebuilding" in lead.get("/results").text
        assert "is not valid TOML" in app.state.remaking.wait().failed
        page = lead.get("/results").text
        assert "The rebuild failed" in page
        assert "printed.toml is not valid TOML" in page
        assert not app.state.remaking.progress.running, "it is not tried again and again"
    finally:
        printed.write_text(text, "utf-8")
    assert (study.published / "report" / "index.html").read_bytes() == index
    assert post(lead, "/results/make", {}, "/results").status_code == 303
    assert app.state.remaking.wait() == RebuildProgress()
    assert holding(study) == [True, True]


@pytest.mark.browser
def test_the_results_page_is_accessible(browser: Browser, study: Study) -> None:
    with serving(study.root) as address:
        state = session_after(f"{address}join/{invited(study.root, Role.VIEWER)}")
        context = browser.new_context(storage_state=state)
        page = context.new_page()
        complaints = complaints_of(page, address)
        page.goto(f"{address}results")
        expect(page.get_by_role("heading", name="Findings")).to_be_visible()
        assert_for_everyone(page)
        assert complaints == []
        context.close()
