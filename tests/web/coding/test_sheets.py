"""Rating sheets of every facet kind, unrated, rated and rejected, and responses when the store fails."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient
from tests.support.desk import HERE, QUICK, closing_app, csrf_in, invited, join
from tests.support.desk import browser as visitor
from tests.support.small_study import ITEMS, small_study

from quaestor.coding.codebook import import_codebook
from quaestor.coding.disagreements import settle_agreed
from quaestor.coding.pages.rating_sheet import Desk
from quaestor.coding.rating_files import rate
from quaestor.coding.round_acts import close_by_name, open_by_name
from quaestor.coding.session import open_coding
from quaestor.evidence.funnel import run_funnel
from quaestor.people.credentials import Passwords
from quaestor.people.roles import Role
from quaestor.study.folder import Study, open_study
from quaestor.web.app import make_app

MORE = """
[facets.topics]
kind = "multiple"
options = ["data", "model", "speed"]

[facets.why]
kind = "text"
required = false

[facets.many]
kind = "single"
options = [{options}]

[[rounds]]
round = "kinds"
items = {{ after = "how-to" }}
facets = ["relevance", "phase", "topics", "phrase", "why"]
raters = ["rater-1"]

[[rounds]]
round = "many"
items = {{ after = "how-to" }}
facets = ["many"]
raters = ["rater-1"]

[[rounds]]
round = "confirmed"
items = {{ again = "pilot" }}
facets = ["triplet"]
raters = ["rater-1"]
confirms = ["pilot"]
"""
OPTIONS = [f"option {number:02}" for number in range(36)]
WHOLE = {
    "answer.relevance": "exclude: crash",
    "answer.phase": "training",
    "answer.topics": ["data", "speed"],
    "verb.phrase": "save",
    "object.phrase": "layer",
    "answer.why": "because it says so",
    "memo": "a thought",
    "unsure": ["phase"],
}


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    folder = tmp_path_factory.mktemp("sheets") / "study"
    small_study(folder)
    text = (folder / "study.toml").read_text("utf-8")
    options = ", ".join(f'"{option}"' for option in OPTIONS)
    (folder / "study.toml").write_text(text + MORE.format(options=options), "utf-8")
    found = open_study(folder)
    run_funnel(found)
    import_codebook(found)
    open_by_name(found, "pilot", None)
    with open_coding(found) as coding:
        for item in coding.state.rounds["pilot"].plan.items:
            for rater in ("rater-1", "rater-2"):
                rate(coding, "pilot", rater, item, {"relevance": "keep"})
    close_by_name(found, "pilot", None)
    settle_agreed(found, "pilot", None)
    for name in ("kinds", "many", "confirmed"):
        open_by_name(found, name, None)
    return found


@pytest.fixture
def app(study: Study) -> Iterator[Starlette]:
    with closing_app(make_app(study.root, passwords=Passwords(QUICK))) as opened:
        yield opened


@pytest.fixture
def rater(app: Starlette, study: Study) -> TestClient:
    opened = visitor(app)
    join(opened, invited(study.root, Role.RATER, "rater-1"))
    return opened


def send(rater: TestClient, name: str, item: str, fields: dict[str, Any]) -> Any:
    page = rater.get(f"/rounds/{name}/rate?item={item}")
    assert page.status_code == 200
    data = {"csrf": csrf_in(page.text), "item": item, "key": f"{name}{item}{len(fields)}", **fields}
    return rater.post(f"/rounds/{name}/ratings", data=data, headers={"origin": HERE})


def sent_by_script(rater: TestClient, record: Any) -> Any:
    headers = {"x-csrf-token": csrf_in(rater.get("/rounds/kinds/rate").text), "origin": HERE}
    headers["content-type"] = "application/json"
    return rater.post("/rounds/kinds/ratings", content=json.dumps(record), headers=headers)


def test_every_kind_of_facet_can_be_answered_and_is_shown_again(rater: TestClient) -> None:
    first, second = ITEMS[:2]
    assert rater.get("/rounds/kinds/ahead", params={"after": first}).status_code == 200
    assert send(rater, "kinds", first, WHOLE).status_code == 303
    page = rater.get(f"/rounds/kinds/rate?item={first}").text
    for words in ('value="exclude: crash" checked', 'value="data" checked', 'value="speed" checked', 'value="save"'):
        assert words in page
    for words in ('value="layer"', "because it says so", "a thought", 'value="phase" checked'):
        assert words in page
    assert 'value="model" checked' not in page
    assert second in rater.get("/rounds/kinds/mine").text or first in rater.get("/rounds/kinds/mine").text


def test_a_rejected_sheet_keeps_the_entered_answers(rater: TestClient) -> None:
    typed = {name: value for name, value in WHOLE.items() if name != "answer.phase"}
    answer = send(rater, "kinds", ITEMS[3], typed)
    assert answer.status_code == 422
    for words in ("phase", 'value="exclude: crash" checked', 'value="save"', "a thought", "because it says so"):
        assert words in answer.text


@pytest.mark.parametrize("answer", ["yes", "no", "no: something else", "cannot judge"])
def test_a_confirmation_facet_shows_the_recorded_answer_again(rater: TestClient, study: Study, answer: str) -> None:
    with open_coding(study) as coding:
        item = coding.state.rounds["confirmed"].plan.items[0]
        rate(coding, "confirmed", "rater-1", item, {"triplet": answer})
    page = rater.get(f"/rounds/confirmed/rate?item={item}")
    assert page.status_code == 200
    assert f'value="{answer.partition(":")[0]}" checked' in page.text
    assert ('value="something else"' in page.text) == answer.endswith("else")


def test_36_codes_have_distinct_keys_that_do_not_clash_with_desk_shortcuts(study: Study) -> None:
    desk = Desk(study)
    sheet = desk.build_sheet("many", "rater-1")
    assert sheet is not None
    keys = [choice.key for choice in sheet.facets[0].choices]
    desk.close()
    assert len(set(keys)) == len(OPTIONS)
    assert all(keys)
    assert not set(keys) & set("umsbz0/")


@pytest.mark.parametrize(
    "record",
    [
        {"key": "\ud800", "item": ITEMS[0], "answers": {}},
        {"key": "k" * 500, "item": ITEMS[0], "answers": {}},
        {"key": "ключ", "item": ITEMS[0], "answers": {}},
    ],
    ids=["half a character", "too long", "not plain"],
)
def test_a_rating_with_a_malformed_key_is_rejected(rater: TestClient, record: Any) -> None:
    assert sent_by_script(rater, record).status_code == 400


def test_deeply_nested_json_is_rejected(rater: TestClient) -> None:
    headers = {"x-csrf-token": csrf_in(rater.get("/rounds/kinds/rate").text), "origin": HERE}
    headers["content-type"] = "application/json"
    answer = rater.post("/rounds/kinds/ratings", content="[" * 50_000, headers=headers)
    assert answer.status_code == 400


def test_a_form_without_an_item_is_handled_when_everything_is_rated(rater: TestClient, study: Study) -> None:
    with open_coding(study) as coding:
        for item in coding.state.rounds["confirmed"].plan.items:
            rate(coding, "confirmed", "rater-1", item, {"triplet": "yes"})
    csrf = csrf_in(rater.get("/me").text)
    answer = rater.post("/rounds/confirmed/ratings", data={"csrf": csrf, "key": "x"}, headers={"origin": HERE})
    assert answer.status_code == 422
    assert "All rated" in answer.text


WHOLE_RECORD = {
    "key": "later",
    "item": ITEMS[5],
    "answers": {
        "relevance": "keep",
        "phase": "training",
        "topics": ["data"],
        "phrase": {"verb": "save", "object": "layer"},
    },
}


def test_an_invalid_study_file_does_not_stop_raters(app: Starlette, rater: TestClient, study: Study) -> None:
    page = rater.get("/rounds/kinds/rate")
    lead = visitor(app)
    join(lead, invited(study.root, Role.LEAD))
    headers = {"x-csrf-token": csrf_in(page.text), "origin": HERE}
    text = study.file.read_text("utf-8")
    study.file.write_text(f"{text}\n[study", "utf-8")
    try:
        record = {**WHOLE_RECORD, "key": "meanwhile", "item": ITEMS[4]}
        assert rater.post("/rounds/kinds/ratings", json=record, headers=headers).status_code == 200
        for path in ("/", "/rounds/kinds/rate", "/rounds/kinds/mine"):
            assert rater.get(path).status_code == 200, path
        assert "is not valid TOML" in lead.get("/").text
    finally:
        study.file.write_text(text, "utf-8")
    assert lead.get("/").status_code == 200


def test_a_store_failure_asks_the_browser_to_retry_and_the_retry_succeeds(rater: TestClient, study: Study) -> None:
    headers = {"x-csrf-token": csrf_in(rater.get("/rounds/kinds/rate").text), "origin": HERE}
    with closing(sqlite3.connect(study.root / "study.db")) as store:
        store.execute("ALTER TABLE acts RENAME TO hidden")
        try:
            answer = rater.post("/rounds/kinds/ratings", json=WHOLE_RECORD, headers=headers)
            assert answer.status_code == 503
            assert str(study.root) not in answer.text
            assert rater.get("/rounds/kinds/rate").status_code == 503
        finally:
            store.execute("ALTER TABLE hidden RENAME TO acts")
    assert rater.post("/rounds/kinds/ratings", json=WHOLE_RECORD, headers=headers).status_code == 200


def test_a_rating_for_a_round_of_another_study_is_rejected(rater: TestClient) -> None:
    record = {"key": "elsewhere", "item": ITEMS[6], "answers": {}, "opened": "2020-01-01T00:00:00.000000+00:00"}
    assert sent_by_script(rater, record).status_code == 409
