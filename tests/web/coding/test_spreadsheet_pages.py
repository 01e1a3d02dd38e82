"""Raters download their items as a spreadsheet and upload it again at the desk."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from httpx2 import Response
from playwright.sync_api import Browser, expect
from starlette.applications import Starlette
from starlette.testclient import TestClient
from tests.support.desk import QUICK, browser, closing_app, csrf_in, invited, join
from tests.support.filled_spreadsheets import fill, read_sheets
from tests.support.small_study import small_study
from tests.support.windows import assert_for_everyone, serving, session_after

from quaestor.coding.round_acts import close_by_name, list_rater_items, open_by_name
from quaestor.coding.session import open_coding
from quaestor.people.credentials import Passwords
from quaestor.people.roles import Role
from quaestor.study.folder import Study
from quaestor.web.app import make_app
from quaestor.web.security.forms import LONGEST_WITH_A_FILE

PAGE, FILE = "/rounds/pilot/mine", "/rounds/pilot/spreadsheet.xlsx"


@pytest.fixture
def study(tmp_path: Path) -> Study:
    study = small_study(tmp_path / "study")
    open_by_name(study, "pilot", None)
    return study


@pytest.fixture
def app(study: Study) -> Iterator[Starlette]:
    with closing_app(make_app(study.root, passwords=Passwords(QUICK))) as opened:
        yield opened


def sign_in(app: Starlette, study: Study, name: str = "rater-1") -> TestClient:
    opened = browser(app)
    join(opened, invited(study.root, Role.RATER, name))
    return opened


def send(opened: TestClient, data: bytes, name: str = "filled.xlsx") -> Response:
    token, origin = csrf_in(opened.get(PAGE).text), str(opened.base_url).rstrip("/")
    files = {"file": (name, data, "application/octet-stream")}
    return opened.post("/rounds/pilot/spreadsheet", data={"csrf": token}, files=files, headers={"origin": origin})


def list_items(study: Study) -> list[str]:
    return [entry["item"] for entry in list_rater_items(study, "pilot", "rater-1", left_only=False)]


def count_ratings(study: Study, rater: str = "rater-1") -> int:
    with open_coding(study) as coding:
        return len(coding.state.round("pilot").ratings.get(rater, {}))


def test_a_rater_downloads_a_spreadsheet_and_uploads_it_half_filled(app: Starlette, study: Study) -> None:
    rater = sign_in(app, study)
    assert FILE in rater.get(PAGE).text
    answer = rater.get(FILE)
    assert answer.headers["content-disposition"] == "attachment; filename*=UTF-8''pilot-rater-1.xlsx"
    first, second, *_ = list_items(study)
    filled = fill(answer.content, {first: {"relevance": "keep"}, second: {"memo": "<b>later</b>"}})
    page = send(rater, filled)
    assert page.status_code == 200
    assert "Spreadsheet recorded" in page.text
    assert "relevance has no answer" in page.text
    assert "<dt>recorded</dt><dd>1</dd>" in page.text
    assert "Nothing new in the spreadsheet" in send(rater, filled).text
    assert count_ratings(study) == 1
    assert dict.fromkeys(row[4] for row in read_sheets(rater.get(FILE).content)["Ratings"][1:]).keys() == {"keep", ""}


def test_invalid_cells_are_listed_escaped_and_nothing_is_recorded(app: Starlette, study: Study) -> None:
    rater = sign_in(app, study)
    first, second, *_ = list_items(study)
    answers = {first: {"relevance": "<script>alert(1)</script>"}, second: {"relevance": "keep"}}
    page = send(rater, fill(rater.get(FILE).content, answers), "<i>x</i>.xlsx")
    assert page.status_code == 422
    assert "&lt;script&gt;" in page.text
    assert "<script>alert" not in page.text
    assert "<i>x</i>" not in page.text
    assert "Nothing was recorded" in page.text
    assert count_ratings(study) == 0


@pytest.mark.parametrize(
    ("name", "data", "status"),
    [
        ("filled.xlsx", b"", 422),
        ("filled.xlsx", b"no workbook", 422),
        ("filled.ods", b"PK\x03\x04", 422),
        ("../../etc/passwd", b"item,relevance\n", 422),
        ("\udcff.csv", b"item,relevance\nforum/question/1,perhaps\n", 422),
        ("big.csv", b"a" * LONGEST_WITH_A_FILE, 413),
    ],
)
def test_a_file_that_is_no_spreadsheet_is_refused(
    app: Starlette, study: Study, name: str, data: bytes, status: int
) -> None:
    assert send(sign_in(app, study), data, name.encode("utf-8", "replace").decode()).status_code == status
    assert count_ratings(study) == 0


def test_nobody_uploads_the_spreadsheet_of_somebody_else(app: Starlette, study: Study) -> None:
    theirs = sign_in(app, study, "rater-2").get(FILE).content
    filled = fill(theirs, {list_items(study)[0]: {"relevance": "keep"}})
    rater = sign_in(app, study)
    page = send(rater, filled)
    assert (page.status_code, "is the spreadsheet of &#39;rater-2&#39;" in page.text) == (422, True)
    item = list_items(study)[0]
    page = send(rater, f"item,rater,relevance\n{item},rater-2,keep\n".encode(), "theirs.csv")
    assert (page.status_code, "the row is by &#39;rater-2&#39;" in page.text) == (422, True)
    assert (count_ratings(study), count_ratings(study, "rater-2")) == (0, 0)
    stranger = sign_in(app, study, "stranger")
    assert stranger.get(FILE).status_code == 409
    origin = {"origin": str(rater.base_url).rstrip("/")}
    without_token = rater.post("/rounds/pilot/spreadsheet", files={"file": ("a.xlsx", theirs)}, headers=origin)
    assert without_token.status_code == 403


def test_a_closed_round_can_be_downloaded_and_not_uploaded(app: Starlette, study: Study) -> None:
    rater = sign_in(app, study)
    filled = fill(rater.get(FILE).content, {list_items(study)[0]: {"relevance": "keep"}})
    close_by_name(study, "pilot", None, "enough")
    page = rater.get(PAGE).text
    assert FILE in page
    assert 'type="file"' not in page
    token = csrf_in(rater.get("/me").text)
    origin = {"origin": str(rater.base_url).rstrip("/")}
    files = {"file": ("filled.xlsx", filled)}
    refused = rater.post("/rounds/pilot/spreadsheet", data={"csrf": token}, files=files, headers=origin)
    assert (refused.status_code, "is closed" in refused.text) == (409, True)


@pytest.mark.browser
def test_the_pages_of_the_spreadsheet_work_for_everyone(browser: Browser, study: Study, tmp_path: Path) -> None:
    with serving(study.root) as address:
        context = browser.new_context(
            storage_state=session_after(f"{address}join/{invited(study.root, Role.RATER, 'rater-1')}"),
            accept_downloads=True,
        )
        page = context.new_page()
        page.goto(f"{address}rounds/pilot/mine")
        assert_for_everyone(page)
        with page.expect_download() as download:
            page.get_by_role("link", name="Download as spreadsheet").click()
        saved = tmp_path / "saved.xlsx"
        download.value.save_as(saved)
        first, second, *_ = list_items(study)
        for answer, heading in (("perhaps", "Nothing was recorded"), ("keep", "Spreadsheet recorded")):
            saved.write_bytes(fill(saved.read_bytes(), {first: {"relevance": answer}, second: {"memo": "later"}}))
            page.get_by_label("Your spreadsheet").set_input_files(saved)
            page.get_by_role("button", name="Upload").click()
            expect(page.get_by_role("heading", level=1)).to_have_text(heading)
            assert_for_everyone(page)
        context.close()
