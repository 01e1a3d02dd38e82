"""The coding page in a real browser: mouse and keyboard, two raters at once, a lost connection, any writing system."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect
from tests.support.coded_interviews import ROUND, coded_study, on_record
from tests.support.small_interviews import TALK
from tests.support.windows import Server, assert_for_everyone, complaints_of, signed_in

from quaestor.coding.session import open_coding
from quaestor.people.roles import Role
from quaestor.study.folder import Study

pytestmark = pytest.mark.browser
PARTY, ARABIC = "\N{PARTY POPPER}", "ندرب النموذج"
MIXED = f"{PARTY}{PARTY} We train. {ARABIC} {PARTY} again.\r\nOn a new line {PARTY} it ends."
TALKS = ([*TALK, ("Guest", MIXED)], TALK)
DATA, ILLEGAL, ODD = "P1/00001", "P1/00003", "P1/00004"


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    return coded_study(tmp_path_factory.mktemp("coding"), TALKS)


@pytest.fixture(scope="module")
def server(study: Study) -> Iterator[Server]:
    found = Server(study.root)
    yield found
    found.stop()


@pytest.fixture(scope="module")
def raters(browser: Browser, server: Server, study: Study) -> Iterator[dict[str, BrowserContext]]:
    with signed_in(browser, server, study.root, Role.RATER, "rater-1", "rater-2") as found:
        yield found


@pytest.fixture
def page(raters: dict[str, BrowserContext], server: Server) -> Iterator[Page]:
    """The first transcript as rater-1 sees it."""
    found = raters["rater-1"].new_page()
    told = complaints_of(found, server.address)
    found.goto(f"{server.address}rounds/{ROUND}/code/P1")
    yield found
    found.close()
    assert [line for line in told if "ERR_INTERNET_DISCONNECTED" not in line and "422" not in line] == []


def all_saved(page: Page) -> None:
    expect(page.locator("#saved")).to_have_text("All saved", timeout=30_000)


def stand_on(page: Page, turn: int) -> None:
    page.locator(f"#turn-{turn} .spoken").focus()


def chips(page: Page, turn: int) -> list[str]:
    return page.locator(f"#turn-{turn} .chip").all_inner_texts()


def drag(page: Page, turn: int, words: str) -> None:
    """Select words of a turn as a mouse does."""
    page.evaluate(
        """([turn, words]) => {
          const spoken = document.querySelector(`#turn-${turn} .spoken`);
          const at = spoken.textContent.indexOf(words);
          const walker = document.createTreeWalker(spoken, NodeFilter.SHOW_TEXT);
          const find = (units) => {
            walker.currentNode = spoken;
            while (walker.nextNode()) {
              if (units <= walker.currentNode.length) return [walker.currentNode, units];
              units -= walker.currentNode.length;
            }
          };
          document.getSelection().setBaseAndExtent(...find(at), ...find(at + words.length));
        }""",
        [turn, words],
    )


def drag_over(page: Page, first: tuple[int, str], last: tuple[int, str]) -> None:
    """Select from words of one turn to words of a later one."""
    page.evaluate(
        """([[first, from], [last, to]]) => {
          const place = (turn, words, end) => {
            const spoken = document.querySelector(`#turn-${turn} .spoken`);
            const walker = document.createTreeWalker(spoken, NodeFilter.SHOW_TEXT);
            while (walker.nextNode()) {
              const at = walker.currentNode.data.indexOf(words);
              if (at >= 0) return [walker.currentNode, at + (end ? words.length : 0)];
            }
          };
          document.getSelection().setBaseAndExtent(...place(first, from, false), ...place(last, to, true));
        }""",
        [first, last],
    )


def says_it_in_a_place_of_its_own(page: Page) -> bool:
    """Whether the panel shows the save status without covering anything else."""
    return bool(
        page.evaluate(
            """() => {
              const box = document.getElementById("saved").getBoundingClientRect();
              const there = document.elementsFromPoint(box.x + box.width / 2, box.y + box.height / 2);
              const panel = there.findIndex((each) => each.id === "panel");
              const others = ".code, input, #picked, #details *";
              return panel > 0 && !there.slice(0, panel).some((each) => each.matches(others));
            }"""
        )
    )


def test_overlapping_passages_are_coded_by_key_undone_and_removed(page: Page, study: Study) -> None:
    stand_on(page, 1)
    for key in ("ArrowRight", "Shift+ArrowRight", "Shift+ArrowRight", "1"):
        page.keyboard.press(key)
    for key in ("ArrowLeft", "ArrowRight", "Shift+ArrowRight", "Shift+ArrowRight", "Shift+ArrowRight", "3"):
        page.keyboard.press(key)
    all_saved(page)
    both = [{"start": 0, "end": 12, "code": "practice/data"}, {"start": 6, "end": 19, "code": "shapes"}]
    assert on_record(study, "rater-1", DATA) == both
    assert chips(page, 1) == ["looking at the data", "shapes that do not match"]
    lanes = page.locator("#turn-1 .spoken mark").evaluate_all("all => all.map((one) => one.className)")
    assert set(lanes) == {"lane-0", "lane-1"}
    expect(page.locator("#turn-1 .bars line")).to_have_count(2)
    page.keyboard.press("z")
    all_saved(page)
    assert on_record(study, "rater-1", DATA) == both[:1]
    page.get_by_role("button", name="Remove looking at the data").click()
    all_saved(page)
    assert on_record(study, "rater-1", DATA) == []
    page.keyboard.press("z")
    all_saved(page)
    assert on_record(study, "rater-1", DATA) == both[:1]
    page.reload()
    assert chips(page, 1) == ["looking at the data"]


def test_in_vivo_codes_memos_and_fields_can_be_entered_by_keyboard(page: Page, study: Study) -> None:
    stand_on(page, 3)
    for key in ("Shift+ArrowDown", "v", "m"):
        page.keyboard.press(key)
    page.keyboard.type("their own words")
    page.keyboard.press("Escape")
    page.keyboard.press("w")
    page.keyboard.press("/")
    page.keyboard.type("indic")
    page.keyboard.press("Enter")
    page.keyboard.type("loss")
    page.keyboard.press("Tab")
    page.keyboard.type("10")
    page.keyboard.press("Enter")
    expect(page.locator("#turn-3 .more").last).to_have_text("what: lossthreshold: 10")
    expect(page.locator("#turn-3 .spoken")).to_be_focused()
    all_saved(page)
    assert on_record(study, "rater-1", ILLEGAL) == [
        {"start": 0, "end": 25, "memo": "their own words"},
        {"start": 0, "end": len(TALK[3][1]), "code": "indicator", "fields": {"what": "loss", "threshold": "10"}},
    ]
    expect(page.locator("#turn-3 .margin q")).to_have_text("When shapes do not match.")


def test_a_passage_across_turns_is_coded_undone_and_removed_as_one(page: Page, study: Study) -> None:
    def coded() -> list[list[dict[str, Any]]]:
        all_saved(page)
        both = [on_record(study, "rater-1", item) or [] for item in (DATA, ILLEGAL)]
        return [[stretch for stretch in stretches if stretch.get("code") == "practice/design"] for stretches in both]

    def passage() -> None:
        drag_over(page, (1, "model"), (3, "When"))
        page.keyboard.press("2")

    passage()
    first, last = coded()
    assert first[0]["link"] == last[0]["link"]
    page.keyboard.press("z")
    assert coded() == [[], []], "one act is undone by one key"
    passage()
    page.keyboard.press("m")
    page.keyboard.type("over both turns")
    page.keyboard.press("Escape")
    made = coded()
    assert made[1][0]["memo"] == "over both turns"
    passage()
    expect(page.locator("#picked")).to_have_text("designing a model is already coded here.")
    assert coded() == made, "coded again, nothing that was said of it is lost"
    page.locator("#turn-1").get_by_role("button", name="Remove designing a model").click()
    assert coded() == [[], []]
    page.keyboard.press("z")
    assert coded() == made
    page.locator("#turn-3").get_by_role("button", name="Remove designing a model").click()
    assert coded() == [[], []]


def test_a_rejected_coding_can_be_corrected_without_losing_later_codings(page: Page, study: Study) -> None:
    def codes() -> list[tuple[str, int]]:
        all_saved(page)
        return [(passage.get("code", ""), len(passage.get("memo", ""))) for passage in on_record(study, "rater-1", ODD)]

    memo = page.locator("#details textarea")

    def refused(text: str) -> None:
        """A memo that a browser let through, and a code that was given after it."""
        drag(page, 4, "We train")
        page.keyboard.press("1")
        expect(memo).to_have_attribute("maxlength", "4000")
        memo.evaluate("one => one.removeAttribute('maxlength')")
        memo.fill(text)
        memo.blur()
        drag(page, 4, "again")
        page.keyboard.press("2")
        expect(page.locator("#saved")).to_contain_text("turn 4, the memo of a passage of themes has 4,001 characters")

    refused("x" * 4001)
    page.reload()
    assert chips(page, 4) == ["looking at the data", "designing a model"]
    expect(memo).to_have_value("x" * 4001)
    memo.fill("shorter")
    memo.blur()
    assert codes() == [("practice/data", 7), ("practice/design", 0)]
    for _ in range(2):
        page.locator("#turn-4 .remove").first.click()
    assert codes() == []
    refused("y" * 4001)
    page.get_by_role("button", name="Undo").click()
    assert codes() == [("practice/data", 0), ("practice/design", 0)]
    memo.or_(page.locator("#turn-4 .chip").first).first.click()
    memo.fill("half a tho")
    page.reload()
    assert codes() == [("practice/data", 10), ("practice/design", 0)]
    for _ in range(2):
        page.locator("#turn-4 .remove").first.click()
    assert codes() == []


@pytest.mark.parametrize(
    "words", [ARABIC, f"{PARTY} again.", f"line {PARTY} it", f"{PARTY}{PARTY} We", "again.\r\nOn a"]
)
def test_positions_are_counted_in_characters_in_every_script(page: Page, study: Study, words: str) -> None:
    drag(page, 4, words)
    expect(page.locator("#picked")).to_contain_text(words.split("\r", maxsplit=1)[0])
    page.get_by_role("button", name="designing a model").click()
    all_saved(page)
    start = MIXED.index(words)
    assert on_record(study, "rater-1", ODD) == [{"start": start, "end": start + len(words), "code": "practice/design"}]
    page.keyboard.press("z")
    all_saved(page)


def test_a_connection_loss_neither_loses_nor_duplicates_codings(
    page: Page, raters: dict[str, BrowserContext], study: Study
) -> None:
    all_saved(page)
    raters["rater-1"].set_offline(True)
    for turn, key in ((1, "2"), (3, "3"), (4, "1")):
        stand_on(page, turn)
        page.keyboard.press(key)
    expect(page.locator("#saved")).to_contain_text("not yet saved")
    with open_coding(study) as coding:
        before = coding.state.round(ROUND).rating_count
    raters["rater-1"].set_offline(False)
    all_saved(page)
    with open_coding(study) as coding:
        assert coding.state.round(ROUND).rating_count == before + 3
    assert [passage["code"] for passage in on_record(study, "rater-1", ODD)] == ["practice/data"]
    assert page.evaluate("Object.keys(localStorage).filter((name) => name.startsWith('quaestor/'))") == []


def test_a_second_tab_overwrites_no_codings_of_the_first(
    page: Page, raters: dict[str, BrowserContext], server: Server, study: Study
) -> None:
    second = raters["rater-1"].new_page()
    second.goto(f"{server.address}rounds/{ROUND}/code/P2")
    other = raters["rater-1"].new_page()
    other.goto(f"{server.address}rounds/{ROUND}/code/P2")
    stand_on(second, 1)
    second.keyboard.press("1")
    all_saved(second)
    other.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    expect(other.locator("#turn-1 .chip")).to_have_text("looking at the data")
    stand_on(other, 1)
    other.keyboard.press("2")
    all_saved(other)
    codes = [passage["code"] for passage in on_record(study, "rater-1", "P2/00001")]
    assert codes == ["practice/data", "practice/design"]
    for opened in (second, other):
        opened.close()


def test_two_simultaneous_raters_never_see_each_others_codes(
    page: Page, raters: dict[str, BrowserContext], server: Server, study: Study
) -> None:
    other = raters["rater-2"].new_page()
    other.goto(f"{server.address}rounds/{ROUND}/code/P1")
    assert other.locator(".chip").count() == 0
    expect(other.locator("#place")).to_have_text("0 of 3 turns read")
    stand_on(other, 1)
    other.keyboard.press("4")
    all_saved(other)
    stand_on(page, 1)
    page.keyboard.press("v")
    all_saved(page)
    for opened in (page, other):
        opened.reload()
    assert chips(other, 1) == ["indicator"]
    assert "indicator" not in chips(page, 1)
    assert [passage["code"] for passage in on_record(study, "rater-2", DATA)] == ["indicator"]
    other.goto(f"{server.address}rounds/{ROUND}/code")
    assert "1 of 3 turns read" in other.inner_text("main")
    assert "rater-1" not in other.content()
    other.close()


def test_marking_the_rest_of_a_page_as_read_keeps_existing_codings(
    raters: dict[str, BrowserContext], server: Server, study: Study
) -> None:
    page = raters["rater-2"].new_page()
    page.goto(f"{server.address}rounds/{ROUND}/rate")
    page.get_by_role("link", name="P2").click()
    stand_on(page, 1)
    page.keyboard.press("1")
    page.get_by_role("button", name="Read to the end of this page").click()
    all_saved(page)
    expect(page.locator("#place")).to_have_text("2 of 2 turns read")
    assert on_record(study, "rater-2", "P2/00003") == []
    assert [passage["code"] for passage in on_record(study, "rater-2", "P2/00001")] == ["practice/data"]
    expect(page.get_by_role("link", name="Next transcript: P1")).to_be_focused()
    page.get_by_role("link", name="Back to the transcripts").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(f"Transcripts of {ROUND}")
    page.get_by_role("link", name="P2").click()
    page.get_by_role("link", name="Next transcript: P1").click()
    page.get_by_role("button", name="Read to the end of this page").click()
    all_saved(page)
    expect(page.get_by_role("link", name="Back to the transcripts")).to_be_focused()
    page.close()


def test_the_coding_page_is_accessible_at_every_width(page: Page, server: Server) -> None:
    stand_on(page, 1)
    page.keyboard.press("1")
    page.locator("#turn-1 .chip").first.click()
    all_saved(page)
    for width in (1280, 320):
        page.set_viewport_size({"width": width, "height": 700})
        assert says_it_in_a_place_of_its_own(page), width
    assert_for_everyone(page)
    page.goto(f"{server.address}rounds/{ROUND}/code")
    assert_for_everyone(page)
