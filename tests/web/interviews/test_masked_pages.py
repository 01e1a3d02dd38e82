"""Only the lead's pages show a known name, even if evidence is older than the name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.routing import Route
from tests.support.coded_interviews import ROUND, code_all, coded_study, interviews_of, on_record, stretch
from tests.support.desk import QUICK, browser, closing_app, invited, join, post
from tests.support.settling import settle_with_assents
from tests.support.small_interviews import GUIDE

from quaestor.coding.disagreements import comment_on_item, settle_agreed
from quaestor.coding.pages.disagreements import record_disagreements_view
from quaestor.coding.rating_files import rate, record_view
from quaestor.coding.round_acts import close_by_name, open_by_name
from quaestor.coding.round_setup import add_round
from quaestor.coding.session import open_coding
from quaestor.coding.visibility import Viewer
from quaestor.evidence.funnel import run_funnel
from quaestor.evidence.text_index import build_index
from quaestor.interviews.items import STEP, make_items
from quaestor.interviews.names.confirmations import answer_all_places
from quaestor.interviews.names.known_names import add_name
from quaestor.interviews.names.rewording import replace_names_in_texts
from quaestor.people.credentials import Passwords
from quaestor.people.roles import Role, can
from quaestor.study.folder import Study, open_study
from quaestor.web.app import make_app
from quaestor.web.security.permissions import PERMISSIONS_BY_ROUTE, PUBLIC

NAME, SHOWN, ITEM, PHRASES = "Brimmlow", "[a word]", "P1/00003", "words"
TALK = (
    ("Interviewer", "Which stages does your work have?"),
    ("Guest", "First I look at the data, then the model is designed and trained."),
    ("Interviewer", "When do you call a model illegal?"),
    ("Guest", "Brimmlow says when shapes do not match. Or the loss is above 10, says Brimmlow."),
)
PHRASE_FACET = """
[facets.phrase]
kind = "phrase"
question = "What is done with what?"
"""
CASE = f"/rounds/{ROUND}/disagreements?item={ITEM}"
FILES = tuple(f"/rounds/{ROUND}/{what}.csv" for what in ("ratings", "decisions"))
VALUES = {"interview": "P1", "step": "1", "side": "kept", "form": "csv", "figure": "code-map"}
"""What fills in the parameters of addresses; `name` is an interview where the route says so, else a round."""
PATHS = {"phrases": f"/rounds/{PHRASES}/phrases", "guide": f"/interviews/guides/{GUIDE}"}
"""By route, its address where `VALUES` does not fill it in."""
QUERIES = {
    "item": [f"item={ITEM}"],
    "evidence": ["", "words=shapes"],
    "disagreements": ["", f"item={ITEM}"],
    "confused": ["facet=themes&first=shapes&second=indicator"],
    "code": ["code=indicator", "code=shapes"],
    "interview-quotations": ["", "code=indicator"],
    "interview-code": ["code=indicator"],
}
"""By route, the queries without which it shows little."""
LEFT_OUT = re.compile("answer|claim|consent|health|help|icon|invitation|join|survey|tokens|results-zip")
"""Routes of surveys, pay and invitations, files of the design, and publications, which have tests of their own."""
OTHERS = tuple(role for role in Role if role is not Role.LEAD)
CONFUSED = f"/rounds/{ROUND}/confused?facet=themes&first=shapes&second=indicator"
SHOWS_IT_BEFORE = {
    *("/funnel", "/steps/1/kept", f"/evidence/item?item={ITEM}", "/evidence?words=shapes"),
    *("/codebook/code?code=indicator", f"/rounds/{ROUND}/code/P1", CASE, CONFUSED, *FILES),
    *(f"/rounds/{PHRASES}/phrases", "/interviews/P1/transcript", "/interviews/themes"),
}
"""Pages that do show the word before it is known as a name: else the test would pass without looking."""


def addresses(app: Starlette, role: Role) -> Iterator[str]:
    """Every page that a role may open, from the routes of the desk and the permission that each needs."""
    for route in app.routes:
        if not isinstance(route, Route) or "GET" not in (route.methods or ()) or LEFT_OUT.match(route.name):
            continue
        permission = PERMISSIONS_BY_ROUTE[route.name]
        if permission != PUBLIC and not can(role, permission):
            continue
        path = PATHS.get(route.name) or _filled_in(route)
        yield from (f"{path}?{query}" if query else path for query in QUERIES.get(route.name, [""]))


def _filled_in(route: Route) -> str:
    values = VALUES | {"name": "P1" if "{name:interview}" in route.path else ROUND}
    unknown = set(route.param_convertors) - values.keys()
    assert not unknown, f"{route.path} has {unknown}: say in this test how the page is opened, or leave it out"
    return re.sub(r"\{(\w+)(?::\w+)?\}", lambda match: values[match[1]], route.path)


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """A round over a transcript is closed, looked at, discussed and settled; then a name in it becomes known."""
    study = coded_study(tmp_path_factory.mktemp("made"), talks=(TALK,))
    with study.file.open("a") as file:
        file.write(PHRASE_FACET)
    add_round(
        open_study(study.root),
        {"round": PHRASES, "items": {"after": STEP}, "facets": ["phrase"], "raters": ["rater-1", "rater-2"]},
    )
    study = open_study(study.root)
    open_by_name(study, PHRASES, None)
    with open_coding(study) as coding:
        for rater in ("rater-1", "rater-2"):
            for item in coding.state.round(PHRASES).plan.items:
                rate(coding, PHRASES, rater, item, {"phrase": f"match, {NAME if item == ITEM else 'shape'}"})
    close_by_name(study, PHRASES, None)
    with open_coding(study) as coding:
        record_view(coding, PHRASES, "rater-1")
    first = [stretch(0, 24, "shapes")]
    second = [stretch(0, 40, "indicator", memo=f"the {NAME}", fields={"what": NAME}), stretch(41, 60)]
    code_all(study, {"rater-1": {ITEM: first}, "rater-2": {ITEM: second}})
    with open_coding(study) as coding:
        rate(coding, ROUND, "rater-2", ITEM, {"themes": second}, memo=f"A {NAME}, no shape.")
    close_by_name(study, ROUND, None)
    settle_agreed(study, ROUND, None)
    for rater in ("rater-1", "rater-2"):
        record_disagreements_view(study, ROUND, Viewer(rater, Role.RATER))
    comment_on_item(study, ROUND, "rater-2", ITEM, None, f"I go by the {NAME}.")
    for reason in (f"It is the {NAME}.", f"It still is the {NAME}."):
        settle_with_assents(study, ROUND, "rater-2", ITEM, "themes", second, "discussion", reason)
    build_index(study, lambda *_: None)
    return study


@pytest.fixture
def app(study: Study) -> Iterator[Starlette]:
    with closing_app(make_app(study.root, passwords=Passwords(QUICK))) as opened:
        yield opened


def pages(app: Starlette, folder: Path, role: Role) -> Iterator[tuple[str, int, str]]:
    opened = browser(app)
    join(opened, invited(folder, role, "rater-1" if role is Role.RATER else ""))
    for path in addresses(app, role):
        response = opened.get(path)
        yield path, response.status_code, response.text


def shows_name(text: str) -> bool:
    return NAME.lower() in text.lower()


@pytest.mark.slow
def test_once_a_name_is_known_only_the_lead_sees_it(app: Starlette, study: Study) -> None:
    before = {path for role in OTHERS for path, _, text in pages(app, study.root, role) if shows_name(text)}
    assert before >= SHOWS_IT_BEFORE, SHOWS_IT_BEFORE - before
    with interviews_of(study) as interviews:
        add_name(interviews, "other", [NAME], SHOWN)
    _assert_nobody_sees_it(app, study)
    with interviews_of(study) as interviews:
        answer_all_places(interviews, confirmed=True)
    _assert_nobody_sees_it(app, study)
    lead = browser(app)
    join(lead, invited(study.root, Role.LEAD))
    assert NAME not in lead.get("/evidence?words=shapes").text, "items are read with names masked"
    assert all(NAME in lead.get(path).text for path in FILES), "what the lead takes along can be brought in again"
    with interviews_of(study) as interviews:
        replace_names_in_texts(interviews)  # the guide asks for it too
        make_items(interviews)
    run_funnel(open_study(study.root))
    build_index(open_study(study.root), lambda *_: None)
    after = {path: (status, text) for path, status, text in pages(app, study.root, Role.VIEWER)}
    assert after["/evidence.csv"][0] == 200
    assert SHOWN in after[f"/evidence/item?item={ITEM}"][1]
    assert not [path for path, (_, text) in after.items() if shows_name(text)]


def _assert_nobody_sees_it(app: Starlette, study: Study) -> None:
    for role in OTHERS:
        for path, status, text in pages(app, study.root, role):
            assert not shows_name(text), (role, path)
            assert status < 500, (role, path)
            if path == "/evidence.csv":
                assert status in (200, 409), role


def test_a_masked_answer_is_chosen_and_recorded_as_originally_given(app: Starlette, study: Study) -> None:
    rater = browser(app)
    join(rater, invited(study.root, Role.RATER, "rater-1"))
    page = rater.get(CASE).text
    first, second = re.findall(r'name="answer" value="(said-[^"]+)"', page)
    seen = re.findall(r'name="seen" value="(\d+)"', page)[0]
    sent = {"item": ITEM, "facet": "themes", "how": "discussion", "seen": seen, "answer": second, "key": "once"}
    two = post(rater, f"/rounds/{ROUND}/decisions", {**sent, "other": "shapes"}, CASE)
    assert (two.status_code, "Two answers were chosen, one in dispute and" in two.text) == (422, True)
    assert re.findall(r'name="answer" value="([^"]+)"[^>]* checked', two.text) == [second]
    unknown = post(rater, f"/rounds/{ROUND}/decisions", {**sent, "answer": first[:-1]}, CASE)
    assert (unknown.status_code, "choose again" in unknown.text) == (422, True)
    assert post(rater, f"/rounds/{ROUND}/decisions", sent, CASE).status_code == 303
    with open_coding(study) as coding:
        assert coding.state.round(ROUND).last_decisions("themes")[ITEM].answer == on_record(study, "rater-2", ITEM)
