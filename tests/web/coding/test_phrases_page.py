"""The phrases page: nothing is shown before everybody has rated a set; then words are compared and unified."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from httpx2 import Response
from playwright.sync_api import Browser, StorageState, expect
from starlette.applications import Starlette
from starlette.testclient import TestClient
from tests.support.desk import QUICK, closing_app, invited, join, post
from tests.support.desk import browser as visitor
from tests.support.small_study import small_study
from tests.support.windows import assert_for_everyone, complaints_of, serving, session_after

from quaestor.coding.codebook import import_codebook
from quaestor.coding.disagreements import settle_agreed
from quaestor.coding.pages.phrase_set import build_phrase_set
from quaestor.coding.phrases import begin_comparing, unify_words
from quaestor.coding.rating_files import rate
from quaestor.coding.round_acts import close_by_name, next_set_by_name, open_by_name
from quaestor.coding.session import CodingSession, open_coding
from quaestor.people.credentials import Passwords
from quaestor.people.roles import Role
from quaestor.study.folder import Study, open_study
from quaestor.web.app import make_app

PAGE = "/rounds/phrases/phrases"
FIRST = ("load, model", "save, lstm layer", "save, layer", "tellingverb, tellingobject")
SECOND = ("restore, model", "save, layer", "save, layer", "cannot judge")


def phrases_study(folder: Path) -> Study:
    """The round of phrases is open, and rater-2 has rated its first set."""
    study = small_study(folder)
    text = study.file.read_text("utf-8").replace('kept_by = "main", set_size = 4', 'after = "how-to", set_size = 4')
    text = text.replace(
        'items = { kept_by = "main" }\nfacets = ["phase"]', 'items = { after = "how-to" }\nfacets = ["phase"]'
    )
    study.file.write_text(text, "utf-8")
    study = open_study(study.root)
    import_codebook(study)
    open_by_name(study, "phrases", None)
    with open_coding(study) as coding:
        give(coding, "rater-2", FIRST)
    return study


def give(coding: CodingSession, rater: str, phrases: tuple[str, ...]) -> None:
    for item, phrase in zip(coding.state.round("phrases").open_items(), phrases, strict=True):
        rate(coding, "phrases", rater, item, {"phrase": phrase})


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return phrases_study(tmp_path / "study")


@pytest.fixture
def both(study: Study) -> Study:
    """Both have rated the first set."""
    with open_coding(study) as coding:
        give(coding, "rater-1", SECOND)
    return study


@pytest.fixture
def app(study: Study) -> Iterator[Starlette]:
    with closing_app(make_app(study.root, passwords=Passwords(QUICK))) as opened:
        yield opened


def joined(app: Starlette, study: Study, role: Role = Role.RATER, name: str = "rater-1") -> TestClient:
    opened = visitor(app)
    join(opened, invited(study.root, role, name))
    return opened


def act(opened: TestClient, **fields: str | list[str]) -> Response:
    return post(opened, PAGE, fields)  # type: ignore[arg-type]


def head(study: Study) -> int:
    with open_coding(study) as coding:
        return coding.state.head


def test_before_all_raters_finish_a_set_only_counts_are_shown(app: Starlette, study: Study) -> None:
    rater = joined(app, study)
    before = head(study)
    page = rater.get(PAGE).text
    assert "you: 4 left" in page
    assert "the other rater: all rated" in page
    assert not re.search("telling|lstm|rater-2", page)
    assert head(study) == before


def test_an_incomplete_set_cannot_be_compared_with_a_forged_form(app: Starlette, study: Study) -> None:
    rater = joined(app, study)
    before = head(study)
    for fields in (
        {"act": "compare"},
        {"act": "unify", "part": "object", "words": "layer", "to": "lstm layer", "rule": "hypernym"},
        {"act": "next set"},
    ):
        answer = post(rater, PAGE, fields, page="/me")
        assert answer.status_code == 409
        assert not re.search("telling|lstm|rater-2", answer.text)
    assert head(study) == before


def test_comparing_a_set_needs_a_button_press_and_is_recorded(app: Starlette, both: Study) -> None:
    rater = joined(app, both)
    before = head(both)
    page = rater.get(PAGE).text
    assert "Compare this set" in page
    assert "telling" not in page
    assert head(both) == before
    assert act(rater, act="compare").status_code == 303
    page = rater.get(PAGE).text
    assert head(both) == before + 1
    assert "3 of 4 phrases differ" in page
    assert "tellingobject" in page
    assert "rater-2" not in page
    rater.get(PAGE)
    assert head(both) == before + 1


def test_words_are_unified_with_a_click_and_the_next_set_opens(app: Starlette, both: Study) -> None:
    rater = joined(app, both)
    act(rater, act="compare")
    refused = act(rater, act="unify", part="object", words="layer", to="lstm layer", rule="same meaning")
    assert refused.status_code == 422
    assert "is more frequent than" in refused.text
    assert 'value="lstm layer"' in refused.text
    done = act(rater, act="unify", part="object", words="lstm layer", to="layer", rule="hypernym", place="side-2")
    assert done.headers["location"].endswith("#side-2")
    act(rater, act="unify", part="verb", words=["load", "restore"], to="restore", rule="same meaning")
    page = rater.get(PAGE).text
    assert "1 of 4 phrases differ" in page
    assert "the other rater wrote <q>save lstm layer</q>" in page
    assert act(rater, act="next set").status_code == 303
    assert "set 2 of 3" in rater.get(PAGE).text
    with open_coding(both) as coding:
        assert coding.state.round("phrases").set == 2
        assert [made.actor for made in coding.state.round("phrases").unifications] == ["rater-1", "rater-1"]


def test_every_offered_unification_is_accepted_when_submitted(both: Study) -> None:
    with open_coding(both) as coding:
        begin_comparing(coding, "phrases", "rater-1")
        phrase_set = build_phrase_set(coding, "phrases", "rater-1")
        ways = [way for side in phrase_set.sides for way in side.options]
        assert {(way.part, way.rule) for way in ways} == {
            (part, rule) for part in ("verb", "object") for rule in ("same meaning", "hypernym")
        }
        for way in ways:
            unify_words(coding, "phrases", "rater-1", way.part, way.words, way.to, way.rule, "")


def test_a_reread_item_hides_the_comparison_until_it_is_rated_again(app: Starlette, both: Study) -> None:
    rater = joined(app, both)
    act(rater, act="compare")
    with open_coding(both) as coding:
        item = coding.state.round("phrases").open_items()[0]
    assert act(rater, act="reread", item=item).status_code == 303
    page = rater.get(PAGE).text
    assert "you: 1 left" in page
    assert "telling" not in page
    with open_coding(both) as coding:
        for name in ("rater-1", "rater-2"):
            rate(coding, "phrases", name, item, {"phrase": "load, model"})
    assert "2 of 4 phrases differ" in rater.get(PAGE).text


def test_the_page_of_an_earlier_set_shows_nothing_of_the_open_set(app: Starlette, both: Study) -> None:
    rater = joined(app, both)
    act(rater, act="compare")
    act(rater, act="next set")
    with open_coding(both) as coding:
        give(coding, "rater-2", ("hidden, word", "hidden, word", "hidden, word", "hidden, word"))
    earlier = rater.get(f"{PAGE}?set=1").text
    assert "tellingobject" in earlier
    assert "hidden" not in earlier
    assert "Unify other words" not in earlier
    assert "hidden" not in rater.get(PAGE).text
    with open_coding(both) as coding:
        give(coding, "rater-1", ("other, word", "other, word", "other, word", "other, word"))
    earlier = rater.get(f"{PAGE}?set=1").text
    assert "hidden" not in earlier
    assert '<th scope="row" class="number">2</th>' not in earlier
    assert rater.get(f"{PAGE}?set=3").status_code == 409


def test_a_lead_who_does_not_rate_confirms_first_and_then_sees_names(app: Starlette, study: Study) -> None:
    lead = joined(app, study, Role.LEAD, "lead")
    before = head(study)
    page = lead.get(PAGE).text
    assert "you can then not rate in it" in page
    assert "telling" not in page
    assert head(study) == before
    act(lead, act="compare")
    page = lead.get(PAGE).text
    assert "tellingobject" in page
    assert "rater-2" in page
    assert head(study) == before + 1


def test_people_outside_the_round_see_no_phrases(app: Starlette, both: Study) -> None:
    for role, name in ((Role.RATER, "rater-7"), (Role.TIE_BREAKER, "tie-breaker")):
        other = joined(app, both, role, name)
        for answer in (other.get(PAGE), post(other, PAGE, {"act": "compare"}, page="/me")):
            assert answer.status_code == 409
            assert not re.search("telling|rater-[12]", answer.text)
    assert joined(app, both, Role.VIEWER, "reader").get(PAGE).status_code == 403


def test_a_round_without_a_phrase_facet_has_no_phrases_page(app: Starlette, study: Study) -> None:
    open_by_name(study, "pilot", None)
    answer = joined(app, study).get("/rounds/pilot/phrases")
    assert answer.status_code == 409
    assert "has no phrase facet" in answer.text


def test_the_lead_adopts_objects_after_the_phrase_and_phase_rounds_close(app: Starlette, both: Study) -> None:
    open_by_name(both, "phases", None)
    with open_coding(both) as coding:
        for item in coding.state.round("phases").plan.items:
            for name in ("rater-1", "rater-2"):
                rate(coding, "phases", name, item, {"phase": "training"})
    close_by_name(both, "phases", None)
    settle_agreed(both, "phases", None)
    lead = joined(app, both, Role.LEAD, "lead")
    act(lead, act="compare")
    assert "Core objects" not in lead.get(PAGE).text
    close_by_name(both, "phrases", None, "enough")
    page = lead.get(PAGE).text
    assert "Core objects, by phases" in page
    assert 'value="training=layer"' in page
    assert act(lead, act="adopt", phases="phases", objects=["training=layer"]).status_code == 303
    with open_coding(both) as coding:
        assert coding.state.history.latest.codes["training/layer"].parent == "training"
    assert 'value="training=layer"' not in lead.get(PAGE).text
    unknown = {"act": "adopt", "phases": "phases", "objects": "training=nothing"}
    assert post(lead, PAGE, unknown, page="/me").status_code == 422
    rater = joined(app, both)
    assert "Core objects" not in rater.get(PAGE).text
    assert "the round can then only be reopened as not blind" in " ".join(rater.get(PAGE).text.split())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    study = phrases_study(tmp_path_factory.mktemp("phrases") / "study")
    with open_coding(study) as coding:
        give(coding, "rater-1", SECOND)
        next_set_by_name(coding, "phrases", "rater-1")
        give(coding, "rater-1", SECOND)
        give(coding, "rater-2", FIRST)
    return study.root


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    with serving(folder) as base:
        yield base


@pytest.fixture(scope="module")
def state(browser: Browser, address: str, folder: Path) -> StorageState:
    return session_after(f"{address}join/{invited(folder, Role.RATER)}")


@pytest.mark.browser
def test_the_phrases_page_is_accessible_and_fits_its_width(browser: Browser, address: str, state: StorageState) -> None:
    context = browser.new_context(storage_state=state)
    page = context.new_page()
    complaints = complaints_of(page, address)
    page.goto(f"{address}rounds/phrases/phrases")
    if page.get_by_role("button", name="Compare this set").count():
        assert_for_everyone(page)
        page.get_by_role("button", name="Compare this set").press("Enter")
    expect(page.get_by_text("3 of 4 phrases differ")).to_be_visible()
    curves = page.locator(".curves svg")
    expect(curves).to_have_count(1)
    for label in ("raters differ", "not in earlier sets"):
        expect(curves.get_by_text(label, exact=True)).to_be_visible()
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    assert_for_everyone(page)
    assert complaints == []
    context.close()


@pytest.mark.browser
def test_words_are_unified_by_keyboard_without_javascript(
    browser: Browser, address: str, state: StorageState, folder: Path
) -> None:
    context = browser.new_context(storage_state=state, java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{address}rounds/phrases/phrases")
    if page.get_by_role("button", name="Compare this set").count():
        page.get_by_role("button", name="Compare this set").press("Enter")
    page.get_by_role("button", name="wider word → layer").press("Enter")
    expect(page.get_by_text("2 of 4 phrases differ")).to_be_visible()
    page.get_by_role("button", name="same meaning → load").press("Enter")
    expect(page.get_by_text("1 of 4 phrases differ")).to_be_visible()
    page.get_by_role("button", name="Open set 3").press("Enter")
    expect(page.get_by_text("you: 4 left")).to_be_visible()
    with open_coding(open_study(folder)) as coding:
        assert [unification.to for unification in coding.state.round("phrases").unifications] == ["layer", "load"]
    context.close()
