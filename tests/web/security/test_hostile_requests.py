"""Hostile requests get a page or a one-sentence error and never break the desk."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from httpx2 import Response
from starlette.applications import Starlette
from starlette.testclient import TestClient
from tests.campaigns.fuzz_routes import LEAVING, NOT_SENT, Target, attacks_on, fuzz, targets, words_of_pages
from tests.support.desk import HERE, QUICK, closing_app, csrf_in, signed_in
from tests.support.small_study import ITEMS

from quaestor.people.credentials import Passwords
from quaestor.people.roles import Role
from quaestor.web.app import make_app
from quaestor.web.security.permissions import PERMISSIONS_BY_ROUTE

ATTACKED = 240
"""Requests for each study and role; `python -m tests.campaigns.fuzz_routes` sends many more."""


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> list[Target]:
    return targets(tmp_path_factory.mktemp("attacked"))


@pytest.fixture(scope="module", params=[0, 1], ids=["rated", "coded"])
def target(request: pytest.FixtureRequest, both: list[Target]) -> Target:
    return both[request.param]


@pytest.mark.slow
@pytest.mark.parametrize("role", [Role.LEAD, Role.RATER])
def test_no_route_fails_on_hostile_values(target: Target, role: Role) -> None:
    sent, broken = fuzz(replace(target, roles=(role,)), seed=1, many=ATTACKED, pages=8)
    assert sent == ATTACKED
    assert [(str(one.attack), one.why) for one in broken] == []


def test_the_campaign_attacks_every_route(rated: tuple[Starlette, Path], both: list[Target]) -> None:
    attacks = attacks_on(rated[0], both[0], random.Random(1), ATTACKED // 2)
    assert {attack.route for attack in attacks} == PERMISSIONS_BY_ROUTE.keys() - NOT_SENT - LEAVING


def test_the_campaign_knows_the_parameters_of_every_page() -> None:
    names, values = words_of_pages()
    assert {"item", "answers", "when", "page"} <= {name for some in names.values() for name in some}
    assert {"plan", "withdraw", "clock"} <= set(values)


@pytest.fixture(scope="module")
def rated(both: list[Target]) -> Iterator[tuple[Starlette, Path]]:
    with closing_app(make_app(both[0].study.root, passwords=Passwords(QUICK))) as app:
        yield app, both[0].study.root


@pytest.fixture(scope="module")
def coded(both: list[Target]) -> Iterator[tuple[Starlette, Path]]:
    with closing_app(make_app(both[1].study.root, passwords=Passwords(QUICK))) as app:
        yield app, both[1].study.root


def by_script(opened: TestClient, path: str, body: str) -> Response:
    headers = {"origin": HERE, "x-csrf-token": csrf_in(opened.get("/me").text), "content-type": "application/json"}
    return opened.post(path, content=body, headers=headers)


@pytest.mark.parametrize("item", ["%00", "forum/question/1%00", "forum/question/" + "9" * 30])
def test_an_item_id_that_a_database_cannot_store_is_not_found(rated: tuple[Starlette, Path], item: str) -> None:
    reader = signed_in(*rated, role=Role.VIEWER)
    assert reader.get(f"/evidence/item?item={item}").status_code in (404, 409)
    assert reader.get(f"/evidence?words={item}&item={item}").status_code < 500


@pytest.mark.parametrize(
    ("field", "value", "status"),
    [
        ("seconds", "1" + "0" * 400, 400),
        ("seconds", "1e999", 400),
        ("seconds", "NaN", 400),
        ("answers", '{"relevance": "exclude: \\ud800"}', 422),
        ("answers", '{"relevance": "exclude: \\u0000"}', 422),
        ("answers", '{"relevance": ' + "[" * 900 + "]" * 900 + "}", 422),
        ("memo", '"half \\ud800"', 422),
        ("item", '"\\ud800"', 422),
        ("item", '"\\u0000"', 422),
        ("key", '"\\u0000"', 400),
        ("key", '"import/0123"', 400),
    ],
)
def test_a_rating_with_unusual_values_is_rejected(
    rated: tuple[Starlette, Path], field: str, value: str, status: int
) -> None:
    rater = signed_in(*rated, role=Role.RATER)
    sent = {"item": json.dumps(ITEMS[0]), "answers": '{"relevance": "keep"}', "key": '"k"', field: value}
    body = "{" + ", ".join(f'"{name}": {text}' for name, text in sent.items()) + "}"
    assert by_script(rater, "/rounds/pilot/ratings", body).status_code == status


@pytest.mark.parametrize("when", ["253402300800", "-1e18", "1e308", "1" + "0" * 400, "NaN", '"soon"', "[]", "1e999"])
def test_an_invalid_time_is_rejected(coded: tuple[Starlette, Path], both: list[Target], when: str) -> None:
    interviewer = signed_in(*coded, role=Role.INTERVIEWER)
    path = next(script.path for script in reversed(both[1].scripts) if script.path.endswith("/conduct/acts"))
    body = f'{{"act": "clock", "what": "start", "key": "k", "when": {when}}}'
    assert by_script(interviewer, path, body).status_code in (400, 422)


def test_a_guide_name_too_long_for_a_file_is_not_found(coded: tuple[Starlette, Path]) -> None:
    lead = signed_in(*coded)
    fields = {"csrf": csrf_in(lead.get("/me").text), "act": "plan", "guide": "é" * 300, "key": "k"}
    answer = lead.post("/participants/P1/acts", data=fields, headers={"origin": HERE})
    assert answer.status_code == 422
    assert "there is no interview guide" in answer.text
