"""Three strands at the desk: two raters rate and code, the lead closes the rounds and opens the joint display."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect
from tests.support.mixed_study import ANSWERS, FACETS, TURNS, mixed_study
from tests.support.windows import Server, assert_for_everyone, complaints_of, signed_in

from quaestor.people.roles import Role
from quaestor.study.folder import Study

pytestmark = pytest.mark.browser
RATERS = ("rater-1", "rater-2")


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    return mixed_study(tmp_path_factory.mktemp("mixed"))


@pytest.fixture(scope="module")
def server(study: Study) -> Iterator[Server]:
    server = Server(study.root)
    yield server
    server.stop()


@pytest.fixture(scope="module")
def windows(browser: Browser, server: Server, study: Study) -> Iterator[dict[str, BrowserContext]]:
    with (
        signed_in(browser, server, study.root, Role.RATER, *RATERS) as raters,
        signed_in(browser, server, study.root, Role.LEAD, "lead") as leads,
    ):
        yield raters | leads


def rate_all(page: Page, address: str) -> None:
    """Rates every item as custom layers; inference speed where the text says slow."""
    page.goto(address)
    finished = page.get_by_role("heading", name="All rated")
    while finished.count() == 0:
        sheet = page.locator("form.sheet")
        item = sheet.get_attribute("data-item") or ""
        page.keyboard.press("i" if item.endswith("p2") else "c")
        page.keyboard.press("Enter")
        expect(page.locator(f"form.sheet:not([data-item='{item}'])").or_(finished)).to_be_visible()


def code_all(page: Page, address: str, interview: str) -> None:
    """Codes every turn of a transcript as a whole."""
    page.goto(f"{address}/code/{interview}")
    for turn in (1, 3):
        page.locator(f"#turn-{turn} .spoken").focus()
        page.keyboard.press("c")
        expect(page.locator(f"#turn-{turn} .chip")).to_have_text(["custom layers"])
    expect(page.locator("#saved")).to_have_text("All saved", timeout=30_000)


@pytest.mark.parametrize("path", ["rounds/answers/rate", "rounds/interviews", "rounds/interviews/code/P1", ""])
def test_pages_for_raters_fit_and_are_accessible(windows: dict[str, BrowserContext], server: Server, path: str) -> None:
    page = windows["rater-1"].new_page()
    page.goto(f"{server.address}{path}")
    assert_for_everyone(page)
    page.close()


def test_a_mixed_study_is_coded_closed_and_published_with_its_joint_display_at_the_desk(
    windows: dict[str, BrowserContext], server: Server, study: Study
) -> None:
    complaints = []
    for rater in RATERS:
        page = windows[rater].new_page()
        complaints.append(complaints_of(page, server.address))
        for name in ("posts", "answers"):
            rate_all(page, f"{server.address}rounds/{name}/rate")
        for interview in ("P1", "P2"):
            code_all(page, f"{server.address}rounds/interviews", interview)
        page.close()

    lead = windows["lead"].new_page()
    complaints.append(complaints_of(lead, server.address))
    for name in FACETS:
        lead.goto(f"{server.address}rounds/{name}")
        lead.get_by_role("button", name=f"Close {name}").click()
        expect(lead.get_by_text("closed").first).to_be_visible()
    lead.goto(f"{server.address}results")
    lead.get_by_role("button", name="Rebuild all").click()
    joint = lead.get_by_role("link", name="Open the joint display")
    expect(joint).to_be_visible(timeout=120_000)
    joint.click()
    table = lead.locator("#table-joint")
    row = table.get_by_role("row").filter(has_text="custom layers")
    for words in ("1 50.0%", "2 100.0%", "How to convert a custom layer?", "First I look at the data"):
        expect(row).to_contain_text(words)
    assert_for_everyone(lead)
    lead.goto(f"{server.address}results")
    expect(lead.get_by_role("link", name="Open the handbook")).to_be_visible(timeout=120_000)  # built after the report
    lead.goto(f"{server.address}handbook/strands.html")
    expect(lead.get_by_role("rowheader", name="inference speed")).to_be_visible()
    assert_for_everyone(lead)
    assert [line for lines in complaints for line in lines] == []


@pytest.mark.parametrize(
    "path",
    [
        "", "funnel", f"funnel?strand={TURNS}", f"evidence?strand={TURNS}", f"evidence?strand={ANSWERS}",
        f"evidence/item?item={TURNS}:P1/00003", "rounds/answers", "rounds/interviews", "rounds/new", "codebook",
        "codebook/code?code=layers", "results", "surveys/tools", "interviews",
    ],
)  # fmt: skip
def test_pages_for_the_lead_fit_and_are_accessible(
    windows: dict[str, BrowserContext], server: Server, path: str
) -> None:
    page = windows["lead"].new_page()
    page.goto(f"{server.address}{path}")
    while page.get_by_text("Building the search index").count():
        page.goto(f"{server.address}{path}")
    assert_for_everyone(page)
    page.close()
