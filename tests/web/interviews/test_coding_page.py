"""The coding page without a browser: visibility, forms without JavaScript, rejections and settling."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from httpx2 import Response
from playwright.sync_api import Browser, expect
from starlette.applications import Starlette
from starlette.testclient import TestClient
from tests.support.coded_interviews import (
    OPENED,
    ROUND,
    code_all,
    coded_study,
    copy_of,
    interviews_of,
    on_record,
    stretch,
)
from tests.support.command_line import in_this_process
from tests.support.desk import HERE, QUICK, browser, closing_app, csrf_in, invited, join, post
from tests.support.small_interviews import TALK
from tests.support.windows import assert_for_everyone, complaints_of, serving, session_after

from quaestor.base.errors import InputError
from quaestor.coding.disagreements import settle_agreed
from quaestor.coding.round_acts import close_by_name
from quaestor.coding.session import open_coding
from quaestor.interviews.pages.coding_sheet import MOST_TURNS, build_coding_sheet
from quaestor.people.credentials import Passwords
from quaestor.people.roles import Role
from quaestor.store.sealed_file import NewEntry
from quaestor.study.folder import Study
from quaestor.web.app import make_app

DATA, ILLEGAL = "P1/00001", "P1/00003"
CODE, TURNS = f"/rounds/{ROUND}/code/P1", f"/rounds/{ROUND}/code/P1/turns"
WORDS = TALK[1][1]


@pytest.fixture(scope="module")
def study_template(tmp_path_factory: pytest.TempPathFactory) -> Study:
    return coded_study(tmp_path_factory.mktemp("made"))


@pytest.fixture
def study(study_template: Study, tmp_path: Path) -> Study:
    return copy_of(study_template, tmp_path)


@pytest.fixture
def app(study: Study) -> Iterator[Starlette]:
    with closing_app(make_app(study.root, passwords=Passwords(QUICK))) as opened:
        yield opened


def visiting(app: Starlette, study: Study, name: str, role: Role = Role.RATER) -> TestClient:
    opened = browser(app)
    join(opened, invited(study.root, role, name))
    return opened


@pytest.fixture
def rater(app: Starlette, study: Study) -> TestClient:
    return visiting(app, study, "rater-1")


def run_command(*arguments: str) -> str:
    """Runs a command in this process and returns what it printed, or why it was refused."""
    result = in_this_process(*arguments)
    return str(result.exception) if isinstance(result.exception, InputError) else result.output


def by_script(opened: TestClient, said: dict[str, Any]) -> Response:
    token = csrf_in(opened.get(CODE).text)
    return opened.post(TURNS, json={"key": "k", **said}, headers={"origin": HERE, "X-CSRF-Token": token})


def test_the_rating_address_redirects_to_the_transcripts(rater: TestClient) -> None:
    assert rater.get(f"/rounds/{ROUND}/rate").headers["location"] == f"/rounds/{ROUND}/code"
    led = rater.get(f"/rounds/{ROUND}/rate?item={ILLEGAL}").headers["location"]
    assert led == f"{CODE}?turn=3#turn-3"
    shown = rater.get(led).text
    assert "When do you call a model illegal?" in shown
    assert "0 of 2 turns read" in rater.get(f"/rounds/{ROUND}/code").text


def test_without_javascript_a_passage_is_quoted_counted_or_the_whole_turn(rater: TestClient, study: Study) -> None:
    add = {"turn": "1", "page": "1", "code": "practice/data", "key": "a"}
    assert (
        post(rater, TURNS, {**add, "words": "look at  the data"}, CODE).headers["location"] == f"{CODE}?page=1#turn-1"
    )
    post(rater, TURNS, {**add, "from": "7", "to": "9", "code": "", "key": "b", "memo": "why"}, CODE)
    post(rater, TURNS, {**add, "code": "practice", "key": "c"}, CODE)
    start = WORDS.index("look")
    found = on_record(study, "rater-1", DATA)
    assert found == [
        stretch(0, len(WORDS), "practice"),
        stretch(start, start + len("look at the data"), "practice/data"),
        stretch(WORDS.index("then"), WORDS.index("model") + 5, memo="why"),
    ]
    shown = rater.get(CODE).text
    assert '<mark class="lane-0" data-mark="0">' in shown
    assert '<q dir="auto">then the model</q>' in shown
    place = f"1:{start}:{start + 16}:practice/data"
    post(rater, TURNS, {"remove": place, "page": "1", "key": "d"}, CODE)
    assert on_record(study, "rater-1", DATA) == [found[0], found[2]]


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"words": "the date"}, "does not contain these words"),
        ({"words": "a"}, "times: copy more"),
        ({"from": "4", "to": "99"}, "the turn has 13 words"),
        ({"code": "unknown"}, "choose from:"),
    ],
)
def test_a_rejected_form_keeps_its_values(rater: TestClient, study: Study, fields: dict[str, str], why: str) -> None:
    sent = {"turn": "1", "page": "1", "code": "practice", "memo": "not to be typed again", "key": "a", **fields}
    answer = post(rater, TURNS, sent, CODE)
    assert answer.status_code == 422
    assert why in answer.text
    assert "not to be typed again" in answer.text
    assert on_record(study, "rater-1", DATA) is None


def test_marking_the_rest_of_a_page_as_read_happens_once_and_completely(rater: TestClient, study: Study) -> None:
    post(rater, TURNS, {"turn": "1", "code": "practice", "page": "1", "key": "a"}, CODE)
    for _ in range(2):
        assert post(rater, TURNS, {"read": "0-3", "page": "1", "key": "b"}, CODE).status_code == 303
    assert on_record(study, "rater-1", ILLEGAL) == []
    assert on_record(study, "rater-1", DATA) == [stretch(0, len(WORDS), "practice")]
    with open_coding(study) as coding:
        assert coding.state.round(ROUND).rating_count == 2
    assert "All turns are read" in rater.get(CODE).text


def test_a_coding_sent_twice_with_one_key_is_recorded_once(rater: TestClient, study: Study) -> None:
    said = {"turn": 1, "stretches": [stretch(0, 5, "practice")], "rater": "rater-1"}
    first, second = by_script(rater, said), by_script(rater, said)
    assert (first.status_code, first.json()) == (second.status_code, second.json())
    other = by_script(rater, {**said, "stretches": []})
    assert (other.status_code, "was used before for another act" in other.json()["refused"]) == (422, True)
    assert on_record(study, "rater-1", DATA) == [stretch(0, 5, "practice")]


@pytest.mark.parametrize(
    ("said", "status"),
    [
        ({"turn": 1, "stretches": [stretch(0, 500, "practice")]}, 422),
        ({"turn": 99, "stretches": []}, 422),
        ({"turn": 0, "stretches": []}, 422),
        ({"turn": 1, "stretches": "all"}, 400),
        ({"turn": 1, "stretches": [], "rater": "rater-2"}, 409),
        ({"turn": 1, "stretches": [], "opened": "2001-01-01"}, 409),
        ({"read": [0]}, 400),
    ],
)
def test_an_invalid_coding_is_rejected(rater: TestClient, study: Study, said: dict[str, Any], status: int) -> None:
    assert by_script(rater, said).status_code == status
    with open_coding(study) as coding:
        assert coding.state.round(ROUND).rating_count == 0


def test_replacing_a_name_meanwhile_does_not_shift_a_coded_passage(rater: TestClient, study: Study) -> None:
    shown = rater.get(CODE).text
    seen = int(shown.partition('data-seen="')[2].partition('"')[0])
    place = WORDS.index("the data")
    with interviews_of(study) as interviews:
        replaced = {"turn": 1, "start": 6, "end": 12, "shown": "[person 1]", "name": "n1", "confirmed": True}
        interviews.file.add(NewEntry("replace", "lead", {"places": [replaced]}, "P1", "P1", interviews.now()))
    assert "[person 1]" in rater.get(CODE).text
    said = {"turn": 1, "stretches": [stretch(place, place + 8, "practice/data")], "seen": seen}
    assert by_script(rater, said).status_code == 200
    assert on_record(study, "rater-1", DATA) == [stretch(place, place + 8, "practice/data")]
    assert '<mark class="lane-0" data-mark="0">the data</mark>' in rater.get(CODE).text
    half = rater.get(CODE).text.partition('data-seen="')[2].partition('"')[0]
    said = {"key": "l", "turn": 1, "stretches": [stretch(8, 10)], "seen": int(half)}
    assert by_script(rater, said).status_code == 200
    assert on_record(study, "rater-1", DATA) == [stretch(6, 12)], "half of a pseudonym stands for the whole name"


def test_without_javascript_a_name_added_meanwhile_does_not_shift_a_passage(rater: TestClient, study: Study) -> None:
    """What is sent is counted in the words that the page showed, by word and by place."""
    post(rater, TURNS, {"turn": "1", "words": "is designed", "code": "practice/design", "key": "a"}, CODE)
    shown = rater.get(f"{CODE}?turn=1").text
    seen = shown.partition('name="seen" value="')[2].partition('"')[0]
    assert shown.count(f'name="seen" value="{seen}"') == 2
    with interviews_of(study) as interviews:
        name = {"turn": 1, "start": 6, "end": 24, "shown": "[person 1]", "name": "n1", "confirmed": True}
        interviews.file.add(NewEntry("replace", "lead", {"places": [name]}, "P1", "P1", interviews.now()))
    sent = {"turn": "1", "from": "7", "to": "9", "code": "practice", "key": "b", "seen": seen}
    assert post(rater, TURNS, sent, CODE).status_code == 303
    designed, model = WORDS.index("is designed"), WORDS.index("then the model")
    assert on_record(study, "rater-1", DATA) == [
        stretch(model, model + 14, "practice"),
        stretch(designed, designed + 11, "practice/design"),
    ]
    place = f"1:{designed}:{designed + 11}:practice/design"
    assert post(rater, TURNS, {"remove": place, "key": "c", "seen": seen}, CODE).status_code == 303
    assert on_record(study, "rater-1", DATA) == [stretch(model, model + 14, "practice")]


def test_no_page_shows_a_rater_the_codings_of_others(app: Starlette, rater: TestClient, study: Study) -> None:
    other = visiting(app, study, "rater-2")
    mine = {"words": WORDS[:5], "turn": "1", "page": "1", "code": "shapes", "memo": "a secret thought", "key": "a"}
    post(rater, TURNS, mine, CODE)
    for path in (CODE, f"/rounds/{ROUND}/code", f"/rounds/{ROUND}/mine", f"{CODE}?turn=1", "/", "/codebook"):
        shown = other.get(path).text
        assert "a secret thought" not in shown, path
        assert "<mark" not in shown, path
    assert "0 of 2 turns read" in other.get(CODE).text
    stranger = visiting(app, study, "rater-3")
    assert stranger.get(CODE).status_code == 409


def test_a_long_transcript_is_split_into_pages(tmp_path: Path) -> None:
    talk = [("Interviewer" if number % 2 else "Guest", f"Turn {number}.") for number in range(3 * MOST_TURNS)]
    study = coded_study(tmp_path, [talk])
    with interviews_of(study) as interviews:
        sheet = build_coding_sheet(interviews.coding, interviews, ROUND, "rater-1", "P1", page=2)
        assert (sheet.first, sheet.last, sheet.pages) == (MOST_TURNS, 2 * MOST_TURNS - 1, 3)
        by_turn = build_coding_sheet(interviews.coding, interviews, ROUND, "rater-1", "P1", turn=2 * MOST_TURNS + 4)
        assert by_turn.page == 3
        assert sum(len(answer.turns) for answer in by_turn.answers) == MOST_TURNS


@pytest.fixture
def closed(study: Study) -> Study:
    said = {
        "rater-1": {DATA: [stretch(0, 24, "practice/data")], ILLEGAL: [stretch(0, 24, "shapes")]},
        "rater-2": {DATA: [stretch(6, 24, "practice/data")], ILLEGAL: [stretch(29, 86, "indicator"), stretch(77, 86)]},
    }
    code_all(study, said)
    close_by_name(study, ROUND, None)
    settle_agreed(study, ROUND, None)
    return study


def test_passages_of_both_raters_are_side_by_side_and_settled_code_by_code(app: Starlette, closed: Study) -> None:
    lead = visiting(app, closed, "lead", Role.LEAD)
    address = f"/rounds/{ROUND}/disagreements"
    assert post(lead, address, {}).status_code == 303
    listed = lead.get(address).text
    assert "shapes that do not match" in listed
    shown = lead.get(f"{address}?item={ILLEGAL}").text
    assert "When shapes do not match" in shown
    assert "that is my threshold" in shown
    sent = {"item": ILLEGAL, "facet": "themes", "how": "one-person", "reason": "it names one"}
    sent |= {"seen": "0", "other": "indicator", "key": "a"}
    assert post(lead, f"/rounds/{ROUND}/decisions", sent, f"{address}?item={ILLEGAL}").status_code == 303
    with open_coding(closed) as coding:
        made = coding.state.round(ROUND).last_decisions("themes")[ILLEGAL].answer
    assert made == [stretch(29, 86, "indicator"), stretch(77, 86)]


def test_agreement_by_passage_is_shown_after_the_view_was_confirmed(app: Starlette, closed: Study) -> None:
    lead = visiting(app, closed, "lead", Role.LEAD)
    page = f"/rounds/{ROUND}/code-agreement"
    first = lead.get(page, follow_redirects=False)
    assert (first.status_code, first.headers["location"]) == (303, f"/rounds/{ROUND}/agreement")
    assert post(lead, f"/rounds/{ROUND}/look", {}, f"/rounds/{ROUND}/agreement").status_code == 303
    assert page in lead.get(f"/rounds/{ROUND}/agreement").text
    by_passage = lead.get(page).text
    assert "uα" in by_passage
    assert "All codes together" in by_passage
    assert "Kappa" in lead.get(f"{page}?by=answer").text
    unknown = lead.get(f"{page}?by=<b>")
    assert (unknown.status_code, "choose from: turn, answer, passage" in unknown.text) == (409, True)


def test_the_lead_settles_each_passage_of_a_turn_without_javascript(app: Starlette, closed: Study) -> None:
    lead = visiting(app, closed, "lead", Role.LEAD)
    address, target = f"/rounds/{ROUND}/disagreements?item={ILLEGAL}", f"/rounds/{ROUND}/decisions"
    assert post(lead, f"/rounds/{ROUND}/disagreements", {}).status_code == 303
    page = lead.get(address).text
    digest = re.search(r'name="rows" value="([^"]+)"', page)
    assert digest is not None
    assert [f"Passage {number}" in page for number in (1, 2, 3, 4)] == [True, True, True, False]
    sent = {"item": ILLEGAL, "facet": "themes", "how": "one-person", "reason": "it names one", "seen": "0", "key": "a"}
    sent |= {"rows": digest[1], "row.1": "none", "row.2": "other", "code.2": "shapes", "words.2": "my  threshold"}

    undecided = post(lead, target, sent, address)
    assert (undecided.status_code, "passage 3 is not decided yet" in undecided.text) == (422, True)
    assert re.search(r'name="row.2" value="other" checked', undecided.text)
    assert "my  threshold</textarea>" in undecided.text
    twice = post(lead, target, {**sent, "row.3": "A", "other": "indicator"}, address)
    assert (twice.status_code, "also single passages" in twice.text) == (422, True)
    old = post(lead, target, {**sent, "row.3": "A", "rows": "said-other"}, address)
    assert (old.status_code, "have changed since this page was opened" in old.text) == (422, True)
    wrong = post(lead, target, {**sent, "row.3": "A", "words.2": "never said"}, address)
    assert (wrong.status_code, "does not contain these words" in wrong.text) == (422, True)

    assert post(lead, target, {**sent, "row.3": "A"}, address).status_code == 303
    with open_coding(closed) as coding:
        decision = coding.state.round(ROUND).last_decisions("themes")[ILLEGAL]
    assert decision.answer == [stretch(74, 86, "shapes"), stretch(77, 86)]


@pytest.mark.browser
def test_passages_are_settled_by_keyboard_on_an_accessible_page(browser: Browser, closed: Study) -> None:
    with serving(closed.root) as address:
        state = session_after(f"{address}join/{invited(closed.root, Role.RATER, 'rater-1')}")
        page = browser.new_context(storage_state=state).new_page()
        complaints = complaints_of(page, address)
        page.goto(f"{address}rounds/{ROUND}/disagreements?item={ILLEGAL}")
        page.get_by_role("button", name="View and record it").click()
        whole, by_passage = page.locator("input[name=answer]").first, page.locator("input[value=passages]")
        expect(page.locator(".item h1")).to_be_focused()
        page.keyboard.press("1")
        expect(whole).to_be_checked()
        page.locator("input[name='row.1'][value=none]").focus()
        page.keyboard.press("Space")
        expect(by_passage).to_be_checked()
        assert_for_everyone(page)
        page.locator("input[name='row.2'][value=other]").focus()
        page.keyboard.press("Space")
        page.get_by_label("Words of passage 2").fill("the loss is above 10")
        page.keyboard.press("Escape")
        page.locator("input[name='row.3'][value=A]").focus()
        page.keyboard.press("Space")
        page.keyboard.press("Enter")
        expect(page.get_by_text("waiting for rater B")).to_be_visible()
        page.goto(f"{address}rounds/{ROUND}/disagreements?item={ILLEGAL}")
        expect(page.locator(".proposal")).to_contain_text("the loss is above 10")
        assert complaints == []
        page.context.close()
    with open_coding(closed) as coding:
        proposal = coding.state.round(ROUND).proposals[ILLEGAL, "themes"]
    assert proposal.answer == [stretch(29, 49, "indicator"), stretch(77, 86)]


def test_a_disagreement_is_settled_passage_by_passage_on_the_command_line(closed: Study) -> None:
    where = ["--study", str(closed.root)]
    listed = run_command("decisions", "passages", ROUND, ILLEGAL, "--yes", "--json", *where)
    assert [[version["words"] for version in row["versions"]] for row in json.loads(listed)] == [
        ["When shapes do not match"],
        ["the loss is above 10 after an epoch, that is my threshold"],
        ["threshold"],
    ]
    settle = ["decisions", "settle", ROUND, ILLEGAL, "--how", "discussion", "--as", "rater-1", *where]
    for more, problem in (
        (["--passage", "1=A"], "passage 2 is not decided yet"),
        (["--passage", "first=A"], "write the number of a passage"),
        (["--passage", "1=A", "--passage", "1=none"], "twice"),
        (["[]", "--passage", "1=A"], "either an answer or --passage"),
        ([], "either an answer or --passage"),
    ):
        assert problem in run_command(*settle, *more)
    choices = ["--passage", "1=a", "--passage", "2=indicator: above 10", "--passage", "3=neither"]
    assert "it counts once the others assent" in run_command(*settle, *choices)
    run_command("decisions", "assent", ROUND, ILLEGAL, "--as", "rater-2", *where)
    with open_coding(closed) as coding:
        decision = coding.state.round(ROUND).last_decisions("themes")[ILLEGAL]
    assert decision.answer == [stretch(0, 24, "shapes"), stretch(41, 49, "indicator")]


def test_the_lead_adopts_in_vivo_codes_on_their_page(app: Starlette, closed: Study) -> None:
    lead = visiting(app, closed, "lead", Role.LEAD)
    page = f"/rounds/{ROUND}/in-vivo"
    assert "No in-vivo codes" in lead.get(page).text
    value = json.dumps([stretch(29, 86, "indicator"), stretch(77, 86)])
    sent = {"item": ILLEGAL, "facet": "themes", "how": "one-person", "reason": "so it is"}
    sent |= {"seen": "0", "answer": value, "key": "a"}
    address = f"/rounds/{ROUND}/disagreements?item={ILLEGAL}"
    assert post(lead, f"/rounds/{ROUND}/decisions", sent, address).status_code == 303
    assert "threshold" in lead.get(page).text
    adopt = {"item": ILLEGAL, "start": "77", "end": "86", "code": "legitimacy", "new": "thresholds", "page": "1"}
    nothing = post(lead, page, {**adopt, "code": "", "new": " "})
    assert (nothing.status_code, "choose the code" in nothing.text) == (422, True)
    assert post(lead, page, adopt).status_code == 303
    assert "Counts as legitimacy › thresholds" in lead.get(page).text
    back = {**adopt, "code": "", "new": "", "back": "1"}
    assert 'name="back"' in lead.get(page).text
    assert (post(lead, page, back).status_code, "Counts as" in lead.get(page).text) == (303, False)
    refused = post(lead, page, {**adopt, "start": "70", "new": ""})
    assert (refused.status_code, "has no in vivo passage from 70" in refused.text) == (422, True)


def test_a_round_of_transcripts_cannot_have_other_facets(tmp_path: Path) -> None:
    from quaestor.base.errors import SettingsError

    facet = '\n[facets.mood]\nkind = "text"\n'
    study = coded_study(tmp_path)
    study.file.write_text(study.file.read_text("utf-8") + facet, "utf-8")
    from quaestor.coding.round_setup import add_round
    from quaestor.study.folder import open_study

    with pytest.raises(SettingsError, match="needs a separate round"):
        add_round(open_study(tmp_path), {**OPENED, "round": "other", "facets": ["themes", "mood"]})
