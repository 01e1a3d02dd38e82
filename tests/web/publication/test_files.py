"""The desk serves report and handbook, names the command to build them, and serves no other files."""

from __future__ import annotations

import http.client
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, StorageState, expect
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.testclient import TestClient
from tests.support.desk import HERE, QUICK, closing_app, invited, signed_in
from tests.support.labelled_study import STUDY, labelled_study
from tests.support.windows import assert_for_everyone, serving, session_after

from quaestor.people.credentials import Passwords
from quaestor.people.roles import Role
from quaestor.publication.handbook.make import make_handbook
from quaestor.publication.report.make import build_report
from quaestor.study.templates import new_study
from quaestor.web.app import make_app

SAFE = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study with its report and its handbook."""
    study = labelled_study(tmp_path_factory.mktemp("published") / "study")
    build_report(study, lambda words: None)
    make_handbook(study, lambda what, done, total: None)
    return study.root


@contextmanager
def reader_of(folder: Path) -> Iterator[TestClient]:
    """A reader's browser, without a window."""
    with closing_app(make_app(folder, passwords=Passwords(QUICK))) as app:
        opened = signed_in(app, folder, Role.VIEWER)
        opened.follow_redirects = True
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def client(folder: Path) -> Iterator[TestClient]:
    with reader_of(folder) as opened:
        yield opened


@pytest.fixture
def fresh(tmp_path: Path) -> Path:
    return new_study(tmp_path / "fresh", STUDY)


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    with serving(folder) as base:
        yield base


@pytest.fixture(scope="module")
def state(browser: Browser, address: str, folder: Path) -> StorageState:
    """The cookies of a browser in which the lead is signed in."""
    return session_after(f"{address}join/{invited(folder, Role.LEAD)}")


def open_page(browser: Browser, address: str, state: StorageState, width: int = 1280) -> tuple[Page, list[str]]:
    page = browser.new_context(viewport={"width": width, "height": 800}, storage_state=state).new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda asked: complaints.append(asked.url) if not asked.url.startswith(address) else None)
    return page, complaints


@pytest.mark.parametrize("name", ["report", "handbook"])
def test_an_unbuilt_report_or_handbook_page_names_the_command(fresh: Path, name: str) -> None:
    with reader_of(fresh) as client:
        for path in (f"/{name}/", f"/{name}", f"/{name}/index.html", f"/{name}/anything/else.css"):
            answer = client.get(path)
            assert answer.status_code == 409, path
            assert f"There is no {name} yet: run <code>quaestor {name}</code> to build it." in answer.text
            assert "aria-current" not in answer.text
        (fresh / "published" / name).mkdir(parents=True)
        (fresh / "published" / name / "index.html").write_text("made while the desk was open")
        answer = client.get(f"/{name}/")
        assert (answer.status_code, answer.text) == (200, "made while the desk was open")


def test_published_files_are_served_unchanged(client: TestClient, folder: Path) -> None:
    for path in ("report/index.html", "report/tables/table-3.csv", "report/figures/process.svg", "handbook/index.html"):
        answer = client.get(f"/{path}")
        assert answer.status_code == 200
        assert answer.content == (folder / "published" / path).read_bytes()
    for name in ("report", "handbook"):
        assert client.get(f"/{name}").content == (folder / "published" / name / "index.html").read_bytes()


def test_a_stale_cached_page_is_never_mixed_with_a_new_report(client: TestClient) -> None:
    """A page of a new report with the items of an old one would show numbers that open others' items."""
    answer = client.get("/report/items-data.js")
    assert answer.headers["cache-control"] == "private, no-cache"
    again = client.get("/report/items-data.js", headers={"if-none-match": answer.headers["etag"]})
    assert again.status_code == 304
    assert again.headers["cache-control"] == "private, no-cache"


def test_an_unknown_published_page_is_not_found(client: TestClient) -> None:
    for path in ("/report/nothing.html", "/report/tables/", "/report/tables", "/handbook/codes/nothing.html"):
        answer = client.get(path)
        assert answer.status_code == 404, path
        assert "There is no such page." in answer.text


@pytest.mark.parametrize(
    "path",
    [
        "/report/../study.toml",
        "/report/../../study.toml",
        "/report/%2e%2e/%2e%2e/study.toml",
        "/report/..%2f..%2fstudy.toml",
        "/report/tables/..%2f..%2f..%2fstudy.toml",
        "/handbook/..%5c..%5cstudy.toml",
        "/report//etc/passwd",
        "/report/%2fetc%2fpasswd",
        "/report/%00",
        "/handbook/../report/../../study.db",
    ],
)
def test_files_outside_the_published_folder_are_not_served(address: str, state: StorageState, path: str) -> None:
    host, _, port = address.removeprefix("http://").rstrip("/").partition(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=10)
    connection.putrequest("GET", path)  # sent unchanged: a client library would normalise the path
    connection.putheader("Cookie", "; ".join(f"{cookie['name']}={cookie['value']}" for cookie in state["cookies"]))
    connection.endheaders()
    answer = connection.getresponse()
    content = answer.read()
    assert answer.status == 404
    assert b"[study]" not in content
    assert b"root:" not in content
    connection.close()


def test_a_symbolic_link_out_of_the_folder_is_not_followed(fresh: Path) -> None:
    report = fresh / "published" / "report"
    report.mkdir(parents=True)
    (report / "index.html").write_text("a report")
    (report / "out").symlink_to(fresh / "study.toml")
    with reader_of(fresh) as client:
        assert client.get("/report/").status_code == 200
        assert client.get("/report/out").status_code == 404


@pytest.mark.parametrize(
    ("path", "scripts"),
    [
        ("/report/", True),
        ("/report/items.html", True),
        ("/report/items.js", True),
        ("/report/nothing", True),
        ("/handbook/", True),
        ("/handbook/pagefind/pagefind.js", True),
        ("/", False),
        ("/reports/", False),
        ("/health", False),
        ("/nowhere", False),
        ("/static/tokens.css", False),
        ("/static/mark.svg", False),
        ("/x/report/", False),
        ("/steps/1/kept", False),
    ],
)
def test_every_response_has_security_headers_and_only_published_pages_allow_scripts(
    client: TestClient, path: str, scripts: bool
) -> None:
    headers = client.get(path).headers
    policy = dict(directive.strip().partition(" ")[::2] for directive in headers["content-security-policy"].split(";"))
    assert policy["default-src"] == "'none'"
    assert policy["style-src"] == "'self'"
    assert policy.get("script-src") == ("'self' 'wasm-unsafe-eval'" if scripts else None)
    assert policy.get("connect-src") == ("'self'" if scripts else None)
    assert {name: headers.get(name) for name in SAFE} == SAFE


def test_errors_and_redirects_have_security_headers(client: TestClient, fresh: Path) -> None:
    answers = [
        client.get("/report", follow_redirects=False),
        client.get("/", headers={"host": "evil.example"}),
        client.post("/report/"),
    ]
    with reader_of(fresh) as unbuilt:
        answers.append(unbuilt.get("/handbook/"))
    assert [answer.status_code for answer in answers] == [307, 400, 403, 409]
    for answer in answers:
        assert {name: answer.headers.get(name) for name in SAFE} == SAFE


def test_an_internal_error_shows_no_details(fresh: Path) -> None:
    def fail(request: Request) -> Response:
        raise ZeroDivisionError("a secret")

    with closing_app(make_app(fresh)) as app:
        app.router.routes.insert(0, Route("/health", fail, name="health"))
        answer = TestClient(app, base_url=HERE, raise_server_exceptions=False).get("/health")
    assert answer.status_code == 500
    assert "Something went wrong" in answer.text
    assert "secret" not in answer.text
    assert "Traceback" not in answer.text
    assert {name: answer.headers.get(name) for name in SAFE} == SAFE
    assert "script-src" not in answer.headers["content-security-policy"]


@pytest.mark.browser
def test_results_lead_to_the_report_and_to_the_items_of_a_number(
    browser: Browser, address: str, state: StorageState
) -> None:
    page, complaints = open_page(browser, address, state)
    page.goto(address)
    page.get_by_role("navigation").get_by_role("link", name="Results").click()
    page.get_by_role("link", name="Open the report").click()
    page.wait_for_url("**/report/")
    cell = page.locator("#table-3 a[href='items.html#3:total:pytorch']")
    shown = cell.inner_text()
    cell.click()
    expect(page.locator("#list li")).to_have_count(int(shown))
    page.goto(f"{address}report/tables/table-3.html")
    assert page.locator("main").evaluate("one => getComputedStyle(one).maxWidth") != "none", "its style is applied"
    page.locator("a[href='../items.html#3:total:pytorch']").click()
    expect(page.locator("#list li")).to_have_count(int(shown))
    page.goto(f"{address}report/audit.html")
    assert page.locator("h1").inner_text() == "Computed vs. printed"
    assert complaints == []
    page.context.close()


@pytest.mark.browser
def test_results_lead_to_the_handbook_and_its_search_works(browser: Browser, address: str, state: StorageState) -> None:
    page, complaints = open_page(browser, address, state)
    page.goto(address)
    page.get_by_role("navigation").get_by_role("link", name="Results").click()
    page.get_by_role("link", name="Open the handbook").click()
    page.wait_for_url("**/handbook/")
    page.get_by_role("searchbox").first.fill("tensorboard in case")
    excerpt = page.locator(".search-results .result-excerpt").first
    expect(excerpt).to_contain_text("How to reset a tensorboard in case")
    page.locator(".search-results a").first.click()
    page.wait_for_url("**/handbook/codes/*")
    assert "ensorboard" in page.locator("main").inner_text()
    assert complaints == []
    page.context.close()


@pytest.mark.browser
def test_the_page_of_an_unbuilt_report_is_accessible(browser: Browser, fresh: Path) -> None:
    with serving(fresh) as base:
        state = session_after(f"{base}join/{invited(fresh, Role.LEAD)}")
        page, complaints = open_page(browser, base, state)
        page.goto(f"{base}report/")
        assert page.get_by_text("quaestor report").is_visible()
        assert_for_everyone(page)
        assert [complaint for complaint in complaints if "409" not in complaint] == []
        page.context.close()
