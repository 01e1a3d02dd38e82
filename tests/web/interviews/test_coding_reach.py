"""The coding page in a real browser: every part of a long transcript can be seen and reached by keyboard."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect
from tests.support.coded_interviews import CODEBOOK, ROUND, coded_study, on_record
from tests.support.small_interviews import TALK
from tests.support.windows import Server, signed_in

from quaestor.coding.round_acts import close_by_name
from quaestor.people.roles import Role
from quaestor.study.folder import Study

pytestmark = pytest.mark.browser
LONG = "\n".join(f"This is sentence {number} of a long answer." for number in range(80))
ARABIC = "ندرب النموذج كل يوم ثم نقيس."
_AGAIN = [("Interviewer", "And then?"), ("Guest", "Then it is trained. " * 20)] * 35
TALKS = ([*TALK, *_AGAIN, ("Guest", LONG)], TALK, [TALK[0], ("Guest", ARABIC)])
HARSH = CODEBOOK + "".join(
    f'\n[[code]]\nid = "more-{number}"\nfacet = "themes"\nparent = "legitimacy"\nname = "training, part {number}"\n'
    for number in range(40)
)


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    return coded_study(tmp_path_factory.mktemp("reach"), TALKS, codebook=HARSH)


@pytest.fixture(scope="module")
def server(study: Study) -> Iterator[Server]:
    found = Server(study.root)
    yield found
    found.stop()


@pytest.fixture(scope="module")
def rater(browser: Browser, server: Server, study: Study) -> Iterator[BrowserContext]:
    with signed_in(browser, server, study.root, Role.RATER, "rater-1") as found:
        yield found["rater-1"]


@pytest.fixture
def page(rater: BrowserContext, server: Server) -> Iterator[Page]:
    found = rater.new_page()
    found.goto(f"{server.address}rounds/{ROUND}/code/P1")
    yield found
    found.close()


def all_saved(page: Page) -> None:
    expect(page.locator("#saved")).to_have_text("All saved", timeout=30_000)


def stand_on(page: Page, turn: int) -> None:
    page.locator(f"#turn-{turn} .spoken").focus()


def in_sight(page: Page, place: str) -> bool:
    """Whether something lies within the window and under nothing else."""
    return bool(
        page.locator(place).evaluate(
            """one => {
              const { top, bottom, left } = one.getBoundingClientRect();
              const panel = document.getElementById("panel");
              const over = panel.getBoundingClientRect();
              const lowest = over.left < 40 && !panel.contains(one) ? over.top : innerHeight;
              return top >= 0 && Math.min(bottom, top + 30) <= lowest && left >= 0;
            }"""
        )
    )


def codes_of(page: Page, study: Study, item: str) -> list[str]:
    all_saved(page)
    return [passage.get("code", "") for passage in on_record(study, "rater-1", item) or []]


@pytest.mark.parametrize("width", [1280, 320])
def test_the_next_turn_and_a_linked_turn_are_scrolled_into_view(page: Page, server: Server, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 700})
    last = page.locator(".turn.own").last.get_attribute("id")
    assert last
    page.locator(".turn.own").nth(-2).locator(".spoken").focus()
    page.keyboard.press("n")
    assert in_sight(page, "*:focus")
    page.goto(f"{server.address}rounds/{ROUND}/code/P1?turn={last.removeprefix('turn-')}#{last}")
    assert in_sight(page, f"#{last} .who")


def test_a_key_moves_to_the_next_unread_turn(page: Page) -> None:
    stand_on(page, 1)
    page.keyboard.press("n")
    expect(page.locator("#turn-3 .spoken")).to_be_focused()


def test_the_fields_of_a_chosen_code_are_scrolled_into_view(page: Page, study: Study) -> None:
    stand_on(page, 3)
    page.keyboard.press("w")
    page.keyboard.press("/")
    page.keyboard.type("indicator")
    page.keyboard.press("Enter")
    expect(page.locator("#details input").first).to_be_focused()
    assert in_sight(page, "#details input >> nth=0")
    page.keyboard.press("Escape")
    page.locator("#panel").evaluate("one => { one.scrollTop = 10_000; }")
    page.keyboard.press("m")
    assert in_sight(page, "#details textarea")
    page.keyboard.press("Escape")
    assert codes_of(page, study, "P1/00003") == ["indicator"]
    page.reload()
    page.locator("#turn-3 mark").click(position={"x": 30, "y": 8})
    expect(page.locator("#details h2")).to_have_text("indicator")
    page.keyboard.press("x")
    assert codes_of(page, study, "P1/00003") == []


def test_a_code_is_found_by_name_and_applied_to_the_selected_words(page: Page, study: Study) -> None:
    stand_on(page, 1)
    for key in ("ArrowRight", "ArrowRight", "/"):
        page.keyboard.press(key)
    page.keyboard.type("nothing like it")
    expect(page.locator("#no-code")).to_be_visible()
    page.locator("#find").fill("training, part 1")
    page.keyboard.press("Enter")
    assert codes_of(page, study, "P1/00001") == ["more-1"], "the whole name goes before others that begin so"
    (made,) = on_record(study, "rater-1", "P1/00001")
    assert TALK[1][1][made["start"] : made["end"]] == "I"
    page.keyboard.press("z")
    stand_on(page, 1)
    page.keyboard.press("ArrowRight")
    page.locator("#find").click()
    page.keyboard.type("training, part 3")
    for key in ("ArrowDown", "ArrowDown", "ArrowUp", "Enter"):
        page.keyboard.press(key)
    assert codes_of(page, study, "P1/00001") == ["more-3"]
    page.keyboard.press("z")
    page.locator("#turn-1 .spoken").dblclick(position={"x": 12, "y": 12})
    page.locator("#find").click()
    page.keyboard.type("designing")
    page.locator(".code:visible").first.click()
    assert codes_of(page, study, "P1/00001") == ["practice/design"]
    page.keyboard.press("z")
    assert codes_of(page, study, "P1/00001") == [], "z undoes, whatever key the codebook gives to a code"


def test_the_end_of_a_long_selection_stays_in_view_and_extends_across_turns(page: Page, study: Study) -> None:
    address = page.url
    page.goto(f"{address}?turn={len(TALKS[0]) - 1}")
    stand_on(page, len(TALKS[0]) - 1)
    for _ in range(60):
        page.keyboard.press("Shift+ArrowDown")
    end = page.evaluate("[...getSelection().getRangeAt(0).getClientRects()].at(-1).bottom")
    assert 0 < end <= 900
    page.goto(address)
    stand_on(page, 1)
    for _ in range(4):
        page.keyboard.press("Shift+ArrowDown")
    page.keyboard.press("Shift+ArrowUp")
    page.keyboard.press("1")
    all_saved(page)
    parts = {item: on_record(study, "rater-1", item) for item in ("P1/00001", "P1/00003", "P1/00005")}
    assert [len(part or []) for part in parts.values()] == [1, 1, 1]
    assert len({part[0]["link"] for part in parts.values() if part}) == 1
    page.keyboard.press("z")
    assert codes_of(page, study, "P1/00001") == codes_of(page, study, "P1/00005") == []


def test_the_keyboard_continues_from_a_mouse_selection(page: Page) -> None:
    place = page.locator("#turn-1 .spoken").evaluate(
        """one => {
          const range = document.createRange();
          const words = document.createTreeWalker(one, NodeFilter.SHOW_TEXT).nextNode();
          range.setStart(words, words.data.indexOf("look"));
          range.setEnd(words, words.data.indexOf("look") + 4);
          const { x, y, width, height } = range.getBoundingClientRect();
          return [x + width / 2, y + height / 2];
        }"""
    )
    page.mouse.dblclick(*place)
    assert page.evaluate("getSelection().toString().trim()") == "look"
    page.keyboard.press("Shift+ArrowRight")
    assert page.evaluate("getSelection().toString()") == "look at"


def test_two_windows_coding_the_same_turn_do_not_undo_each_other(
    page: Page, rater: BrowserContext, server: Server, study: Study
) -> None:
    other = rater.new_page()
    for opened in (page, other):
        opened.goto(f"{server.address}rounds/{ROUND}/code/P2")
    rater.set_offline(True)
    for opened, key in ((page, "1"), (other, "2")):
        stand_on(opened, 1)
        opened.keyboard.press(key)
    rater.set_offline(False)
    for opened in (page, other):
        all_saved(opened)
    assert codes_of(other, study, "P2/00001") == ["practice/data", "practice/design"]
    stand_on(page, 1)
    page.keyboard.press("z")
    assert codes_of(page, study, "P2/00001") == ["practice/design"], "undone is what this window did"
    expect(page.locator("#turn-1 .chip")).to_have_text(["designing a model"])
    stand_on(other, 1)
    other.keyboard.press("z")
    assert codes_of(other, study, "P2/00001") == []
    expect(other.locator("#turn-1 .chip")).to_have_count(0)
    other.close()


def test_right_to_left_text_is_selected_with_the_left_arrow(page: Page, server: Server, study: Study) -> None:
    page.goto(f"{server.address}rounds/{ROUND}/code/P3")
    stand_on(page, 1)
    for key in ("ArrowLeft", "ArrowLeft", "Shift+ArrowLeft", "1"):
        page.keyboard.press(key)
    all_saved(page)
    (made,) = on_record(study, "rater-1", "P3/00001")
    assert ARABIC[made["start"] : made["end"]] == " ".join(ARABIC.split()[1:3])
    page.keyboard.press("z")
    all_saved(page)


def test_the_guide_question_stays_in_view(page: Page) -> None:
    page.locator(".turn.own").nth(12).scroll_into_view_if_needed()
    page.mouse.wheel(0, 600)
    expect(page.locator(".asked").last).to_be_in_viewport()


def test_a_closed_round_reports_the_codings_that_were_not_saved(
    page: Page, rater: BrowserContext, study: Study
) -> None:
    rater.set_offline(True)
    stand_on(page, 3)
    page.keyboard.press("1")
    expect(page.locator("#saved")).to_contain_text("1 not yet saved")
    close_by_name(study, ROUND, None, incomplete="the raters go on elsewhere")
    address = page.url
    page.close()
    again = rater.new_page()
    rater.set_offline(False)
    again.goto(address)
    expect(again.get_by_text("This round is closed")).to_be_visible()
    expect(again.locator("#unsent")).to_contain_text(
        "It closed before one change from this browser arrived. Unsent changes are kept here: tell the lead."
    )
