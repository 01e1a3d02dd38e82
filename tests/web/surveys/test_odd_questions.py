"""Unusual addresses and parameters never break a page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.testclient import TestClient
from tests.support.desk import HERE, NAMES, QUICK, csrf_in, invited, join
from tests.support.settled_study import differing

from quaestor.people.credentials import Passwords
from quaestor.people.roles import Role
from quaestor.web.app import make_app

ENDLESS = "9" * 5000
"""More digits than Python makes a number of."""
ODD = [
    *({"page": text} for text in (ENDLESS, "-1", "²", "٣")),
    *({"version": text, "item": "nothing"} for text in (ENDLESS, "²")),
    {"set": ENDLESS, "before": ENDLESS, "year": ENDLESS, "act": "add", "from": ENDLESS, "facet": "nothing"},
    {"after": ENDLESS, "act": "undo", "version": "999999999", "item": f"forum/question/{ENDLESS}"},
    {"item": "forum/question/1", "facet": "nothing", "level": "nothing", "page": "999999"},
]
PATHS: dict[str, str | int] = {"name": "main", "step": 1, "side": "kept", "token": "unknown"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return differing(tmp_path_factory.mktemp("odd") / "study").root


@pytest.fixture(scope="module")
def app(folder: Path) -> Iterator[Starlette]:
    opened = make_app(folder, passwords=Passwords(QUICK))
    yield opened
    opened.state.let_go()


@pytest.fixture(scope="module", params=[Role.LEAD, Role.RATER, Role.VIEWER])
def visit(request: pytest.FixtureRequest, app: Starlette, folder: Path) -> Iterator[TestClient]:
    opened = TestClient(app, base_url=HERE, follow_redirects=False, raise_server_exceptions=False)
    join(opened, invited(folder, request.param, NAMES[request.param]))
    yield opened
    opened.close()


def pages(app: Starlette) -> list[str]:
    """An address of every route that can be asked for."""
    found = [route for route in app.routes if isinstance(route, Route) and "GET" in (route.methods or ())]
    paths = [(route.name, {name: PATHS.get(name, "nothing") for name in route.param_convertors}) for route in found]
    return [str(app.url_path_for(name, **path)) for name, path in paths]


@pytest.mark.parametrize("asked", ODD, ids=lambda asked: urlencode(asked)[:40])
def test_unusual_query_parameters_break_no_page(visit: TestClient, app: Starlette, asked: dict[str, str]) -> None:
    query = urlencode(asked)
    answers = {path: visit.get(f"{path}?{query}").status_code for path in pages(app)}
    assert len(answers) > 25
    assert not {path: status for path, status in answers.items() if status >= 500}


@pytest.mark.parametrize("step", [ENDLESS, "0", "²", "٣", "-1", "nothing"])
def test_an_unknown_step_is_not_found(visit: TestClient, step: str) -> None:
    assert visit.get(f"/steps/{step}/kept").status_code in (403, 404)


def test_very_long_numbers_in_a_form_are_rejected(app: Starlette, folder: Path) -> None:
    lead = TestClient(app, base_url=HERE, follow_redirects=False, raise_server_exceptions=False)
    join(lead, invited(folder, Role.LEAD, "lead-2"))
    sent = {"csrf": csrf_in(lead.get("/me").text), "act": "invite", "name": "reader-2", "role": "viewer"}
    for days in (ENDLESS, "²", "٣", "0", "366"):
        answer = lead.post("/people/acts", data={**sent, "days": days}, headers={"origin": HERE})
        assert answer.status_code == 422
        assert "give a number from 1 to 365" in answer.text
        assert "9" * 100 not in answer.text.partition('role="alert"')[2].partition("</p>")[0]
