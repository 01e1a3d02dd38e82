"""Disagreement and tie-breaker pages by form and by keyboard, with names hidden where required."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from urllib.parse import quote

import pytest
from httpx2 import Response
from playwright.sync_api import Browser, Page, StorageState, expect
from starlette.applications import Starlette
from starlette.testclient import TestClient
from tests.support.desk import HERE, NAMES, QUICK, closing_app, csrf_in, invited, join
from tests.support.desk import browser as visitor
from tests.support.settled_study import MEMO, differing
from tests.support.settling import settle_with_assents
from tests.support.small_study import ITEMS
from tests.support.windows import assert_for_everyone, complaints_of, serving, session_after

from quaestor.coding.disagreements import assent_to_proposal, break_tie, comment_on_item, settle_item
from quaestor.coding.session import open_coding
from quaestor.people.credentials import Passwords
from quaestor.people.roles import Role
from quaestor.study.folder import Study, open_study
from quaestor.web.app import make_app

LIST, TIES = "/rounds/main/disagreements", "/rounds/main/ties"
TELLING = "tellingword"


def case(item: str) -> str:
    return f"{LIST}?item={quote(item)}&facet=relevance"


@pytest.fixture(scope="module")
def study_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two raters differ on three of twelve items; the tie-breaker has answered the second."""
    study = differing(tmp_path_factory.mktemp("made") / "study")
    comment_on_item(study, "main", "rater-1", ITEMS[0], None, f"{TELLING}, says rater-1")
    break_tie(study, "main", "tie-breaker", ITEMS[1], None, "keep", "it works")
    return study.root


@pytest.fixture
def study(study_template: Path, tmp_path: Path) -> Study:
    return open_study(Path(shutil.copytree(study_template, tmp_path / "study")))


@pytest.fixture
def app(study: Study) -> Iterator[Starlette]:
    with closing_app(make_app(study.root, passwords=Passwords(QUICK))) as opened:
        yield opened


def as_one(app: Starlette, study: Study, role: Role, name: str | None = None) -> TestClient:
    opened = visitor(app)
    join(opened, invited(study.root, role, name or NAMES[role]))
    return opened


def look(opened: TestClient) -> TestClient:
    """Says what is asked of a rater first: that they look."""
    assert send(opened, LIST, LIST).status_code == 303
    return opened


def unblinded(study: Study) -> list[str]:
    with open_coding(study) as coding:
        return coding.state.round("main").unblinded


def send(opened: TestClient, path: str, page: str, **fields: str | list[str]) -> Response:
    data = {"csrf": csrf_in(opened.get(page).text), "facet": "relevance", **fields}
    return opened.post(path, data=data, headers={"origin": HERE})


def settled(study: Study) -> dict[str, tuple[object, str, tuple[str, ...]]]:
    """Returns the decisions that the raters did not simply agree on: answer, method and who assented."""
    with open_coding(study) as coding:
        decisions = {item: given[-1] for (item, _), given in coding.state.round("main").decisions.items()}
    return {
        item: (decision.answer, decision.how, decision.assents or (decision.actor,))
        for item, decision in decisions.items()
        if decision.how != "agreement"
    }


def proposed(study: Study) -> dict[str, tuple[object, str, tuple[str, ...]]]:
    """Returns the proposals that wait: answer, method and who assented so far."""
    with open_coding(study) as coding:
        proposals = coding.state.round("main").proposals
        return {item: (waiting.answer, waiting.how, waiting.assents) for (item, _), waiting in proposals.items()}


def send_assent(opened: TestClient, item: str, **fields: str) -> Response:
    """Sends the form of the button on the page of a case."""
    form = re.search(r'action="/rounds/main/assents">(.*?)</form>', opened.get(case(item)).text, re.DOTALL)
    assert form is not None
    hidden = dict(re.findall(r'name="(\w+)" value="([^"]*)"', form[1]))
    return opened.post("/rounds/main/assents", data={**hidden, **fields}, headers={"origin": HERE})


KEEP = {"answer": "keep"}


def test_a_rater_confirms_before_disagreements_are_shown_and_the_view_is_recorded(app: Starlette, study: Study) -> None:
    rater, lead = as_one(app, study, Role.RATER, "rater-2"), as_one(app, study, Role.LEAD)
    for path in (LIST, case(ITEMS[0]), f"{LIST}?open=1", case(ITEMS[7])):
        page = rater.get(path)
        assert (page.status_code, "main can then only be reopened as not blind" in page.text) == (200, True)
        assert not [word for word in ("rater-1", "rater A", TELLING, "exclude", "how to save") if word in page.text]
        action = re.search(
            r'<form method="post" action="([^"]+)"', page.text[page.text.index("Before you view this") :]
        )
        assert action is not None
        assert unescape(action[1]) == path
    settle_item(study, "main", "rater-1", ITEMS[0], None, "keep", "discussion", "")
    acts = (
        ("comments", {"text": "hello"}),
        ("decisions", {"answer": "keep", "how": "discussion"}),
        ("assents", {"proposal": "1"}),
    )
    for act, fields in acts:
        early = send(rater, f"/rounds/main/{act}", LIST, item=ITEMS[0], key="k", **fields)
        assert (early.status_code, "confirm that on their page first" in early.text) == (409, True)
        assert "Proposed" not in early.text
    assert lead.get(LIST).status_code == 200
    assert (unblinded(study), settled(study)) == (["rater-1", "lead"], {}), "rater-1 has commented, and the lead looked"

    away = rater.post(case(ITEMS[0]), data={"csrf": csrf_in(rater.get("/me").text)})
    assert (away.status_code, unblinded(study)) == (403, ["rater-1", "lead"]), "another site cannot say it for them"
    done = send(rater, case(ITEMS[0]), case(ITEMS[0]))
    assert (done.status_code, done.headers["location"]) == (303, case(ITEMS[0]))
    assert "rater A" in rater.get(done.headers["location"]).text
    assert unblinded(study) == ["rater-1", "lead", "rater-2"]


def test_resending_a_form_with_another_answer_is_rejected(app: Starlette, study: Study) -> None:
    rater = as_one(app, study, Role.RATER)
    fields = {"item": ITEMS[0], "how": "discussion", "reason": "clear", "seen": "0", "key": "k"}
    for _ in range(2):
        assert send(rater, "/rounds/main/decisions", "/me", answer="keep", **fields).status_code == 303
    other = send(rater, "/rounds/main/decisions", "/me", answer="exclude: crash", **fields)
    assert (other.status_code, "This form was already sent" in other.text) == (409, True)
    assert "Proposed: keep" in other.text
    assert (settled(study), proposed(study)[ITEMS[0]][0]) == ({}, KEEP)
    said = send(rater, "/rounds/main/comments", "/me", item=ITEMS[1], text="first", key="c")
    again = send(rater, "/rounds/main/comments", "/me", item=ITEMS[1], text="second thought", key="c")
    assert (said.status_code, again.status_code) == (303, 409)
    assert "second thought" in again.text, "what was typed is not lost"


def test_settling_a_case_by_form_redirects_to_the_next_open_case(app: Starlette, study: Study) -> None:
    rater = as_one(app, study, Role.RATER)
    answer = send(
        rater, "/rounds/main/decisions", case(ITEMS[0]), item=ITEMS[0], answer="keep", how="discussion", reason="clear",
        seen="0", key="k",
    )  # fmt: skip
    assert (answer.status_code, settled(study)) == (303, {})
    assert proposed(study) == {ITEMS[0]: (KEEP, "discussion", ("rater-1",))}
    following = rater.get(answer.headers["location"]).text
    assert "how to save layer 2" in following
    assert "0 of 3 settled" in following
    assert "Saved." in following
    own = rater.get(case(ITEMS[0])).text
    assert "Proposed: keep" in own
    assert "Waiting for rater B." in own
    assert ">Assent<" not in own, "the person who proposes has assented"
    assert "proposed: keep, waiting for rater B" in rater.get(LIST).text

    other = look(as_one(app, study, Role.RATER, "rater-2"))
    shown = other.get(case(ITEMS[0])).text
    assert "by discussion, by rater A" in shown
    assert "Waiting for you." in shown
    stale = send_assent(other, ITEMS[0], proposal="1")
    assert (stale.status_code, "changed in the meantime" in stale.text) == (409, True)
    answer = send_assent(other, ITEMS[0])
    assert (answer.status_code, proposed(study)) == (303, {})
    assert settled(study) == {ITEMS[0]: (KEEP, "discussion", ("rater-1", "rater-2"))}
    following = other.get(answer.headers["location"]).text
    assert "how to save layer 2" in following
    assert "1 of 3 settled" in following
    again = other.get(case(ITEMS[0])).text
    assert "Settled: keep" in again
    assert "by discussion: rater A, you" in again
    assert "clear" in again


def test_the_lead_who_does_not_rate_has_no_assent_to_give(app: Starlette, study: Study) -> None:
    lead = as_one(app, study, Role.LEAD)
    settle_item(study, "main", "rater-1", ITEMS[0], None, "keep", "discussion", "")
    page = lead.get(case(ITEMS[0])).text
    assert "Waiting for rater-2." in page
    assert ">Assent<" not in page
    refused = send(lead, "/rounds/main/assents", "/me", item=ITEMS[0], proposal="", key="k")
    assert refused.status_code == 409
    assert settled(study) == {}


def test_one_person_settles_a_case_only_with_a_reason(app: Starlette, study: Study) -> None:
    rater = as_one(app, study, Role.RATER)
    fields = {"item": ITEMS[0], "answer": "keep", "how": "one-person", "seen": "0"}
    silent = send(rater, "/rounds/main/decisions", case(ITEMS[0]), **fields, key="a")
    assert (silent.status_code, "say why with a reason" in silent.text) == (422, True)
    answer = send(rater, "/rounds/main/decisions", case(ITEMS[0]), **fields, reason="rater-2 has left", key="b")
    assert answer.status_code == 303
    assert settled(study) == {ITEMS[0]: (KEEP, "one-person", ("rater-1",))}
    assert "by one person: you" in rater.get(case(ITEMS[0])).text


def test_the_tie_breaker_assents_to_a_joint_decision_without_seeing_names(app: Starlette, study: Study) -> None:
    breaker = as_one(app, study, Role.TIE_BREAKER)
    reason = "rater-1 and rater-2 agree now"
    settle_item(study, "main", "rater-1", ITEMS[1], None, "keep", "together", reason)
    assert "<strong>3</strong> of 3 cases left" in breaker.get("/").text
    assert "proposed, waiting for your assent" in breaker.get(f"{TIES}?all=1").text
    page = breaker.get(f"{TIES}?item={quote(ITEMS[1])}").text
    assert "Proposed: keep" in page
    assert "agree now" in page
    assert not [name for name in ("rater-1", "rater-2") if name in page]
    number = re.search(r'name="proposal" value="(\d+)"', page)
    assert number is not None
    fields = {"item": ITEMS[1], "proposal": number[1], "key": "k"}
    answer = send(breaker, "/rounds/main/assents", TIES, **fields)
    assert (answer.status_code, answer.headers["location"].partition("?")[0]) == (303, TIES)
    assert proposed(study)[ITEMS[1]][2] == ("rater-1", "tie-breaker")
    assert "Proposed" not in breaker.get(f"{TIES}?item={quote(ITEMS[1])}").text
    assert "<strong>2</strong> of 3 cases left" in breaker.get("/").text
    assent_to_proposal(study, "main", "rater-2", ITEMS[1], None)
    assert settled(study) == {ITEMS[1]: (KEEP, "together", ("rater-1", "rater-2", "tie-breaker"))}


def test_after_the_last_case_the_page_says_what_comes_next(app: Starlette, study: Study) -> None:
    for item in ITEMS[:2]:
        settle_with_assents(study, "main", "rater-1", item, None, "keep")
    lead = as_one(app, study, Role.LEAD)
    answer = send(
        lead, "/rounds/main/decisions", case(ITEMS[2]), item=ITEMS[2], other="exclude: installation",
        how="one-person", reason="it never installed", key="k", seen="0",
    )  # fmt: skip
    assert settled(study)[ITEMS[2]][0] == {"answer": "exclude", "reason": "installation"}
    page = lead.get(answer.headers["location"]).text
    assert "All settled" in page
    assert "&#39;kept by raters&#39; of the funnel uses this round" in page
    assert "Record decisions" not in page, "closing the round decided what the raters agree on"
    with open_coding(study) as coding:
        assert len(coding.state.round("main").decisions) == 12


def test_a_rejected_decision_shows_the_reason_and_keeps_the_typed_text(app: Starlette, study: Study) -> None:
    rater = as_one(app, study, Role.RATER)
    fields = {"item": ITEMS[0], "how": "together", "reason": "a long thought", "seen": "0", "key": "k"}
    early = send(rater, "/rounds/main/decisions", case(ITEMS[0]), **fields, answer="keep")
    assert early.status_code == 409
    assert "wait for the independent comment" in early.text
    assert "a long thought" in early.text
    assert re.search(r'value="keep"[^>]* checked', early.text)
    both = send(rater, "/rounds/main/decisions", case(ITEMS[0]), **fields, answer="keep", other="exclude: crash")
    assert both.status_code == 422
    assert 'role="alert">Two answers were chosen' in both.text
    silent = send(rater, "/rounds/main/comments", case(ITEMS[0]), item=ITEMS[0], text="  ", key="k")
    assert (silent.status_code, "the comment is empty" in silent.text) == (422, True)
    assert settled(study) == {}
    settle_with_assents(study, "main", "rater-2", ITEMS[0], None, "keep")
    late = send(rater, "/rounds/main/decisions", case(ITEMS[0]), **(fields | {"how": "discussion"}), answer="keep")
    assert late.status_code == 409
    assert "settled this case in the meantime" in late.text
    assert "Settled: keep" in late.text


def test_a_comment_appears_in_the_discussion_without_names_of_other_raters(app: Starlette, study: Study) -> None:
    second = look(as_one(app, study, Role.RATER, "rater-2"))
    answer = send(second, "/rounds/main/comments", case(ITEMS[0]), item=ITEMS[0], text="I <b>see</b>", key="c")
    assert answer.headers["location"].endswith("#discussion")
    page = second.get(answer.headers["location"]).text
    assert "I &lt;b&gt;see&lt;/b&gt;" in page
    assert f"{TELLING}, says rater A" in page
    assert MEMO in page
    assert "rater-1" not in page


def test_the_list_shows_every_answer_and_can_be_filtered(app: Starlette, study: Study) -> None:
    lead = as_one(app, study, Role.LEAD)
    settle_with_assents(study, "main", "rater-1", ITEMS[0], None, "keep")
    page = lead.get(LIST).text
    assert all(f"how to save layer {number}<" in page for number in (1, 2, 3))
    assert "how to save layer 4<" not in page
    assert re.search(r'scope="col">rater-1</th><th scope="col">rater-2', page)
    assert "the tie-breaker says keep" in page
    assert "how to save layer 1<" not in lead.get(f"{LIST}?open=1").text
    assert "No matches" in lead.get(f"{LIST}?answer=installation").text
    assert lead.get(f"{LIST}?page=x").status_code == 404
    assert lead.get(case(ITEMS[7])).status_code == 409


def test_viewers_reviewers_and_raters_of_other_rounds_see_no_disagreements(app: Starlette, study: Study) -> None:
    for role in (Role.VIEWER, Role.REVIEWER):
        opened = visitor(app)
        token = invited(study.root, role)
        if role is Role.REVIEWER:
            opened.post(
                f"/join/{token}", data={"csrf": csrf_in(opened.get(f"/join/{token}").text)}, headers={"origin": HERE}
            )
        else:
            join(opened, token)
        assert {opened.get(path).status_code for path in (LIST, case(ITEMS[0]), TIES)} == {403}
    other = as_one(app, study, Role.RATER, "rater-9")
    for answer in (
        other.get(LIST),
        other.get(case(ITEMS[0])),
        send(other, "/rounds/main/comments", "/me", item=ITEMS[0], text="hello", key="k"),
        send(other, "/rounds/main/decisions", "/me", item=ITEMS[0], answer="keep", how="discussion", key="k"),
    ):
        assert answer.status_code == 409
        assert not [word for word in ("rater-1", "rater-2", TELLING, "exclude") if word in answer.text]
    assert send(other, "/rounds/main/agreed", "/me").status_code == 403
    assert other.get(TIES).status_code == 403


def test_the_tie_breaker_sees_no_names_before_everything_is_settled(app: Starlette, study: Study) -> None:
    breaker = as_one(app, study, Role.TIE_BREAKER)
    assert (breaker.get(LIST).status_code, breaker.get(LIST).headers["location"]) == (303, TIES)
    answers = [breaker.get(path) for path in ("/", LIST, case(ITEMS[0]), TIES, f"{TIES}?all=1")]
    answers += [breaker.get(f"{TIES}?item={quote(item)}") for item in (*ITEMS[:4], "nothing")]
    answers += [breaker.get(f"/rounds/main/{page}") for page in ("rate", "mine", "ahead")]
    fields = {"item": ITEMS[0], "answer": "keep", "key": "k"}
    for how in ("discussion", "together", "tie-breaker", "agreement"):
        answers.append(send(breaker, "/rounds/main/decisions", TIES, **fields, how=how, seen="0"))
    answers.append(send(breaker, "/rounds/main/comments", TIES, item=ITEMS[0], text="who said that?", key="c"))
    answers.append(send(breaker, TIES, TIES, item=ITEMS[1], answer="keep", key="again"))
    answers.append(send(breaker, TIES, TIES, item=ITEMS[5], answer="keep", key="agreed"))
    answers.append(send(breaker, TIES, TIES, item=ITEMS[0], answer="", key="none"))
    answers.append(send(breaker, TIES, TIES, **fields, text="it works"))
    for answer in answers:
        told = f"{answer.url} {dict(answer.headers)} {answer.text}"
        assert not [word for word in ("rater-1", "rater-2", "rater A", TELLING, MEMO, ">unsure<") if word in told], (
            answer.url
        )
    assert settled(study) == {}
    for item in ITEMS[:3]:
        settle_with_assents(study, "main", "rater-1", item, None, "keep", "discussion", "clear")
    assert "See who gave which answer" in breaker.get(TIES).text
    assert "rater A" in breaker.get(LIST).text


def test_the_tie_breaker_answers_each_case_once_and_gets_the_next(app: Starlette, study: Study) -> None:
    breaker = as_one(app, study, Role.TIE_BREAKER)
    page = breaker.get(TIES).text
    assert "how to save layer 1" in page
    assert "1 of 3 done" in page
    for number in (0, 2):
        answer = send(breaker, TIES, TIES, item=ITEMS[number], answer="exclude: crash", text="a crash", key=str(number))
        assert answer.status_code == 303
    done = breaker.get(answer.headers["location"]).text
    assert "You are done here" in done
    assert "You said: exclude: crash" in breaker.get(f"{TIES}?item={quote(ITEMS[0])}").text
    twice = send(breaker, TIES, "/me", item=ITEMS[0], answer="keep", text="my new thought", key="x")
    assert (twice.status_code, "cannot be changed" in twice.text) == (409, True)
    assert as_one(app, study, Role.LEAD).get(TIES).status_code == 409


def test_the_start_page_links_to_each_persons_open_tasks(app: Starlette, study: Study) -> None:
    rater, breaker = as_one(app, study, Role.RATER, "rater-2"), as_one(app, study, Role.TIE_BREAKER)
    start = rater.get("/").text
    assert f'href="{LIST}"' in start
    assert "disagreements left" not in start, "how often raters differ is not told before they look"
    rater.get(LIST)
    assert "disagreements left" not in rater.get("/").text, "nor by being asked whether they do"
    look(rater)
    assert "<strong>3</strong> of 3 disagreements left" in rater.get("/").text
    start = breaker.get("/").text
    assert f'href="{TIES}"' in start
    assert "<strong>2</strong> of 3 cases left" in start
    for item in ITEMS[:3]:
        settle_with_assents(study, "main", "rater-1", item, None, "keep")
    assert "No tasks" in rater.get("/").text


@pytest.fixture(scope="module")
def folder(study_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(shutil.copytree(study_template, tmp_path_factory.mktemp("served") / "study"))


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    with serving(folder) as base:
        yield base


@pytest.fixture(scope="module")
def states(browser: Browser, address: str, folder: Path) -> dict[Role, StorageState]:
    roles = (Role.LEAD, Role.RATER, Role.TIE_BREAKER)
    return {role: session_after(f"{address}join/{invited(folder, role)}") for role in roles}


def open_at(browser: Browser, address: str, state: StorageState, path: str, **more: object) -> tuple[Page, list[str]]:
    page = browser.new_context(storage_state=state, **more).new_page()  # type: ignore[arg-type]
    complaints = complaints_of(page, address)
    page.goto(f"{address.rstrip('/')}{path}")
    return page, complaints


@pytest.mark.browser
@pytest.mark.parametrize(
    ("role", "paths"),
    [(Role.LEAD, (LIST, case(ITEMS[1]))), (Role.RATER, ("/",)), (Role.TIE_BREAKER, (TIES, f"{TIES}?all=1"))],
)
def test_disagreement_pages_are_accessible_and_fit_their_width(
    browser: Browser, address: str, states: dict[Role, StorageState], role: Role, paths: tuple[str, ...]
) -> None:
    page, complaints = open_at(browser, address, states[role], paths[0])
    for path in paths:
        page.goto(f"{address.rstrip('/')}{path}")
        assert_for_everyone(page)
    assert complaints == []
    page.context.close()


@pytest.mark.browser
def test_ties_and_cases_can_be_settled_by_keyboard_alone(
    browser: Browser, address: str, states: dict[Role, StorageState], folder: Path
) -> None:
    study = open_study(folder)
    page, complaints = open_at(browser, address, states[Role.TIE_BREAKER], TIES)
    title = page.get_by_role("heading", level=1)
    expect(title).to_have_text("how to save layer 1")
    first = page.locator("[data-key='1']").get_attribute("value")
    for key in ("r", "w", "h", "y", "Escape", "1", "Enter"):
        page.keyboard.press(key)
    expect(title).to_have_text("how to save layer 3")
    with open_coding(study) as coding:
        said = coding.state.round("main").tie_comments[ITEMS[0], "relevance"]
        assert (said.answer["answer"], said.text) == (str(first).partition(":")[0], "why")
    page.context.close()

    page, more = open_at(browser, address, states[Role.RATER], LIST)
    page.get_by_role("link", name="first open case").press("Enter")
    title = page.get_by_role("heading", level=1)
    expect(title).to_have_text("how to save layer 1")
    expect(title).to_be_focused()
    page.keyboard.press("j")
    expect(title).to_have_text("how to save layer 2")
    page.keyboard.press("p")
    expect(title).to_have_text("how to save layer 1")
    page.keyboard.press("Enter")
    assert settled(study) == {}, "Enter settles nothing before an answer is chosen"
    page.keyboard.press("o")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Escape")
    page.keyboard.press("2")
    assert page.locator("#other").input_value() == "", "an answer in dispute takes the place of another one"
    page.keyboard.press("Enter")
    expect(title).to_have_text("how to save layer 2")
    expect(title).to_be_focused()
    crash = {"answer": "exclude", "reason": "crash"}
    assert (settled(study), proposed(study)) == ({}, {ITEMS[0]: (crash, "together", ("rater-1",))})
    page.keyboard.press("c")
    page.keyboard.type("j 1 k")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".remarks")).to_contain_text("j 1 k")
    assert complaints + more == []
    page.context.close()


@pytest.mark.browser
def test_a_case_can_be_settled_without_javascript(
    browser: Browser, address: str, states: dict[Role, StorageState], folder: Path
) -> None:
    page, _ = open_at(browser, address, states[Role.LEAD], case(ITEMS[2]), java_script_enabled=False)
    page.get_by_label("Another answer").select_option("exclude: installation")
    page.get_by_label("by one person").check()
    page.get_by_role("textbox", name="Reason").fill("it never installed")
    page.get_by_role("button", name="Settle").click()
    expect(page.get_by_role("status")).to_contain_text("Saved")
    assert settled(open_study(folder))[ITEMS[2]][0] == {"answer": "exclude", "reason": "installation"}
    page.context.close()
