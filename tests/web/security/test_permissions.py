"""Every route with every role and without a session, compared with a second permission table."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect
from tests.support.desk import QUICK, browser, closing_app, post, signed_in
from tests.support.small_study import small_study

from quaestor.evidence.text_index import build_index
from quaestor.people.credentials import Passwords
from quaestor.people.roles import Role
from quaestor.study.folder import open_study
from quaestor.web.app import make_app
from quaestor.web.security.permissions import PERMISSIONS_BY_ROUTE

EVERYBODY = {None, *Role}
MEMBERS = set(Role)
READING = MEMBERS - {Role.PAYER}
READERS = {Role.LEAD, Role.VIEWER, Role.REVIEWER}
RATERS = {Role.LEAD, Role.RATER, Role.TIE_BREAKER, Role.INTERVIEWER}
INTERVIEWERS = {Role.LEAD, Role.INTERVIEWER}
WITHOUT_A_ROUND = ("rate", "ahead", "mine", "rating-spreadsheet", "disagreements", "ties", "ratings-file",
                   "decisions-file", "agreement", "confused", "agreement-json", "agreement-csv",
                   "confusion-csv", "phrases", "coding", "coding-transcript", "in-vivo", "code-agreement")  # fmt: skip
"""Pages that say, in a study without rounds, that there are none."""
WITHOUT_A_SURVEY = ("survey", "survey-preview", "survey-responses", "survey-flags", "survey-response",
                    "survey-invitations", "survey-results", "survey-answers", "survey-drawing")  # fmt: skip
"""The same of surveys."""
WITHOUT_AN_INTERVIEW = ("interview", "interview-transcript", "interview-audio", "participant", "guide",
                        "participant-contact", "interview-conduct", "interview-since", "interview-protocol",
                        "interview-protocol-file", "interview-themes", "interview-drawing", "interview-quotations",
                        "interview-code")  # fmt: skip
"""The same of interviews."""
BEHIND_A_LINK = ("join", "answer-begin", "answer", "answer-end", "answer-withdraw", "invitation", "invitation-stop",
                 "claim", "consent", "consent-withdraw")  # fmt: skip
"""Pages of those who hold a link; the ones written below lead nowhere."""

# route: an address of it, and who may have it. A new route needs a row here and one in web/matrix.py.
WRITTEN: dict[str, tuple[str, set[Role | None]]] = {
    "home": ("/", MEMBERS),
    "funnel": ("/funnel", READERS),
    "drawing": ("/funnel.svg", READERS),
    "items": ("/steps/1/kept", READERS),
    "evidence": ("/evidence", READERS),
    "item": ("/evidence/item?item=forum/question/1", READERS),
    "evidence-csv": ("/evidence.csv", READERS),
    "filters": ("/evidence/filters", READERS),
    "rate": ("/rounds/main/rate", RATERS),
    "give": ("/rounds/main/ratings", RATERS),
    "ahead": ("/rounds/main/ahead", RATERS),
    "mine": ("/rounds/main/mine", RATERS),
    "my-ratings": ("/mine", RATERS),
    "rating-spreadsheet": ("/rounds/main/spreadsheet.xlsx", RATERS),
    "rating-spreadsheet-import": ("/rounds/main/spreadsheet", RATERS),
    "coding": ("/rounds/main/code", RATERS),
    "coding-transcript": ("/rounds/main/code/P1", RATERS),
    "coding-give": ("/rounds/main/code/P1/turns", RATERS),
    "in-vivo": ("/rounds/main/in-vivo", {Role.LEAD}),
    "proposed-codes": ("/codebook/proposals", {Role.LEAD}),
    "agreement": ("/rounds/main/agreement", RATERS),
    "code-agreement": ("/rounds/main/code-agreement", RATERS),
    "look": ("/rounds/main/look", RATERS),
    "confused": ("/rounds/main/confused", RATERS),
    "agreement-json": ("/rounds/main/agreement.json", RATERS),
    "agreement-csv": ("/rounds/main/agreement.csv", RATERS),
    "confusion-csv": ("/rounds/main/confusion.csv", RATERS),
    "disagreements": ("/rounds/main/disagreements", RATERS),
    "comment": ("/rounds/main/comments", RATERS),
    "decide": ("/rounds/main/decisions", RATERS),
    "assent": ("/rounds/main/assents", RATERS),
    "settle-agreed": ("/rounds/main/agreed", {Role.LEAD}),
    "ties": ("/rounds/main/ties", {Role.LEAD, Role.TIE_BREAKER}),
    "rounds": ("/rounds", {Role.LEAD}),
    "round-new": ("/rounds/new", {Role.LEAD}),
    "round": ("/rounds/main", {Role.LEAD}),
    "round-act": ("/rounds/main/acts", {Role.LEAD}),
    "ratings-file": ("/rounds/main/ratings.csv", RATERS),
    "decisions-file": ("/rounds/main/decisions.csv", RATERS),
    "phrases": ("/rounds/main/phrases", RATERS),
    "phrases-act": ("/rounds/main/phrases", RATERS),
    "people": ("/people", {Role.LEAD}),
    "people-act": ("/people/acts", {Role.LEAD}),
    "codebook": ("/codebook", READING),
    "code": ("/codebook/code", READING),
    "codebook-history": ("/codebook/history", READING),
    "codebook-diff": ("/codebook/diff", READING),
    "codebook-file": ("/codebook.toml", READING),
    "codebook-change": ("/codebook/change", {Role.LEAD}),
    "codebook-preview": ("/codebook/preview", {Role.LEAD}),
    "codebook-act": ("/codebook/acts", {Role.LEAD}),
    "results": ("/results", READERS),
    "results-make": ("/results/make", {Role.LEAD}),
    "results-zip": ("/results/report.zip", READERS),
    "report": ("/report/", READERS),
    "handbook": ("/handbook/", READERS),
    "surveys": ("/surveys", READERS),
    "survey": ("/surveys/none", {Role.LEAD}),
    "survey-act": ("/surveys/none/acts", {Role.LEAD}),
    "survey-preview": ("/surveys/none/preview", {Role.LEAD}),
    "survey-responses": ("/surveys/none/responses", {Role.LEAD}),
    "survey-flags": ("/surveys/none/flags", {Role.LEAD}),
    "survey-response": ("/surveys/none/responses/abc", {Role.LEAD}),
    "survey-decide": ("/surveys/none/responses/abc/decision", {Role.LEAD}),
    "survey-erase": ("/surveys/none/responses/abc/erasure", {Role.LEAD}),
    "survey-invitations": ("/surveys/none/invitations", {Role.LEAD}),
    "survey-results": ("/surveys/none/results", READERS),
    "survey-answers": ("/surveys/none/answers?question=none", READERS),
    "survey-drawing": ("/surveys/none/drawing", READERS),
    "interviews": ("/interviews", INTERVIEWERS),
    "interview": ("/interviews/P1", INTERVIEWERS),
    "interview-agreement": ("/interviews/agreement", INTERVIEWERS),
    "guides": ("/interviews/guides", INTERVIEWERS),
    "guide": ("/interviews/guides/none", INTERVIEWERS),
    "interview-transcript": ("/interviews/P1/transcript", INTERVIEWERS),
    "interview-audio": ("/interviews/P1/audio", {Role.LEAD}),
    "interview-import": ("/interviews/P1/transcript/file", INTERVIEWERS),
    "interview-conduct": ("/interviews/P1/conduct", INTERVIEWERS),
    "interview-act": ("/interviews/P1/conduct/acts", INTERVIEWERS),
    "interview-since": ("/interviews/P1/conduct/since?after=0", INTERVIEWERS),
    "interview-protocol": ("/interviews/P1/protocol", INTERVIEWERS),
    "interview-protocol-file": ("/interviews/P1/protocol.md", INTERVIEWERS),
    "interview-names": ("/interviews/names", {Role.LEAD}),
    "interview-names-act": ("/interviews/names/acts", {Role.LEAD}),
    "interview-themes": ("/interviews/themes", READERS),
    "interview-drawing": ("/interviews/drawings/saturation", READERS),
    "interview-quotations": ("/interviews/quotations?cell=themes:data:participants", READERS),
    "interview-code": ("/interviews/themes/code?code=data", READERS),
    "agreement-act": ("/interviews/agreement/versions", {Role.LEAD}),
    "participant": ("/participants/P1", INTERVIEWERS),
    "participant-add": ("/interviews/participants", INTERVIEWERS),
    "participant-act": ("/participants/P1/acts", INTERVIEWERS),
    "participant-lead": ("/participants/P1/lead", {Role.LEAD}),
    "participant-contact": ("/participants/P1/contact", {Role.LEAD}),
    "help": ("/help", MEMBERS),
    "help-topic": ("/help/tutorial", MEMBERS),
    "me": ("/me", MEMBERS),
    "sign-out": ("/sign-out", MEMBERS),
    "sign-out-everywhere": ("/sign-out-everywhere", MEMBERS),
    "claims": ("/pay", {Role.LEAD, Role.PAYER}),
    "claims-act": ("/pay/none/acts", {Role.PAYER}),
    "claims-file": ("/pay/none/cards.csv", {Role.PAYER}),
    "invitation": ("/i/unknown", EVERYBODY),
    "invitation-stop": ("/i/unknown/stop", EVERYBODY),
    "claim": ("/claim/none/unknown", EVERYBODY),
    "answer-begin": ("/s/unknown", EVERYBODY),
    "answer": ("/s/unknown/code", EVERYBODY),
    "answer-end": ("/s/unknown/code/end", EVERYBODY),
    "answer-withdraw": ("/s/unknown/code/withdraw", EVERYBODY),
    "consent": ("/c/unknown", EVERYBODY),
    "consent-withdraw": ("/c/unknown/withdraw", EVERYBODY),
    "sign-in": ("/sign-in", EVERYBODY),
    "join": ("/join/unknown", EVERYBODY),
    "health": ("/health", EVERYBODY),
    "tokens": ("/static/tokens.css", EVERYBODY),
    "icon": ("/static/mark.svg", EVERYBODY),
    "static": ("/static/desk.css", EVERYBODY),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("matrix") / "study"
    small_study(folder)
    for name in ("report", "handbook"):
        (folder / "published" / name).mkdir(parents=True)
        (folder / "published" / name / "index.html").write_text(f"<title>{name}</title>")
    build_index(open_study(folder), lambda *_: None)  # a page that starts to build it says to wait
    return folder


@pytest.fixture(scope="module")
def app(folder: Path) -> Iterator[Starlette]:
    with closing_app(make_app(folder, passwords=Passwords(QUICK))) as opened:
        yield opened


@pytest.fixture(scope="module", params=[None, *Role], ids=lambda role: role or "nobody")
def visit(request: pytest.FixtureRequest, app: Starlette, folder: Path) -> Iterator[tuple[Role | None, TestClient]]:
    opened = browser(app) if request.param is None else signed_in(app, folder, request.param)
    yield request.param, opened
    opened.close()


def test_every_route_has_exactly_one_row_here_and_in_the_permission_table(app: Starlette) -> None:
    names = [route.name for route in app.routes]  # type: ignore[attr-defined]
    assert len(set(names)) == len(names)
    assert set(names) == set(WRITTEN) == set(PERMISSIONS_BY_ROUTE)


def test_no_route_contains_nested_routes(app: Starlette) -> None:
    assert all(isinstance(route, Route | Mount) for route in app.routes)
    assert all(not route.routes for route in app.routes if isinstance(route, Mount))


@pytest.mark.parametrize("name", WRITTEN)
def test_a_page_is_open_exactly_to_the_listed_roles(
    visit: tuple[Role | None, TestClient], app: Starlette, name: str
) -> None:
    role, opened = visit
    path, allowed = WRITTEN[name]
    route = next(one for one in app.routes if one.name == name)  # type: ignore[attr-defined]
    methods = {"GET", "POST", "DELETE"}
    for method in sorted(methods):
        if name.startswith("sign-out") and method == "POST" and role in allowed:
            continue  # tried below, where it may end the session
        answer = opened.request(method, path)
        verdict = (method, answer.status_code, answer.headers.get("location", ""))
        if role in allowed:
            changing = method not in ("GET", "HEAD")
            assert answer.status_code == 403 if changing else answer.status_code != 403, verdict
            assert not answer.headers.get("location", "").startswith("/sign-in"), verdict
            if not changing and method in (getattr(route, "methods", None) or methods):
                nothing = name in (*WITHOUT_A_ROUND, *WITHOUT_A_SURVEY, *WITHOUT_AN_INTERVIEW)
                usual = (404,) if name in BEHIND_A_LINK else (409,) if nothing else (200, 303)
                assert answer.status_code in usual, verdict
        elif role is None:
            assert answer.status_code == 303, verdict
            assert answer.headers["location"].startswith("/sign-in"), verdict
        else:
            assert answer.status_code == 403, verdict
            assert "which has no access to this page" in answer.text or method == "HEAD"


@pytest.mark.parametrize("name", ["sign-out", "sign-out-everywhere"])
@pytest.mark.parametrize("role", Role)
def test_every_signed_in_person_can_sign_out(app: Starlette, folder: Path, role: Role, name: str) -> None:
    opened = signed_in(app, folder, role)
    done = post(opened, f"/{name}", {}, page="/me")
    assert (done.status_code, done.headers["location"]) == (303, "/sign-in")
    assert opened.get("/me").status_code == 303


def test_an_unknown_path_does_not_reveal_that_it_is_unknown(visit: tuple[Role | None, TestClient]) -> None:
    role, opened = visit
    for path in ("/nowhere", "/steps/x/kept", "/people.db", "/../people.db", "/report%2f..%2fpeople.db"):
        assert opened.get(path).status_code in ((303,) if role is None else (403, 404)), path


def test_a_route_without_permissions_is_closed_to_everyone(folder: Path) -> None:
    async def forgotten(request: object) -> None:
        raise AssertionError("a page without a row was reached")

    async def talking(socket: object) -> None:
        raise AssertionError("a socket was reached")

    with closing_app(make_app(folder, passwords=Passwords(QUICK))) as app:
        app.router.routes.append(Route("/forgotten", forgotten, name="forgotten"))
        app.router.routes.append(WebSocketRoute("/socket", talking, name="health"))
        for role in (None, *Role):
            opened = browser(app) if role is None else signed_in(app, folder, role)
            assert opened.get("/forgotten").status_code == (303 if role is None else 403)
            with pytest.raises(WebSocketDisconnect), opened.websocket_connect("ws://127.0.0.1/socket"):
                pass


def test_published_files_need_the_same_permission_as_their_index(
    visit: tuple[Role | None, TestClient], folder: Path
) -> None:
    role, opened = visit
    (folder / "published" / "report" / "items.json").write_text("[]")
    for path in ("/report/items.json", "/report/index.html", "/report", "/report/%2e/index.html"):
        answer = opened.get(path)
        assert (answer.text == "[]") <= (role in READERS), path
        if role not in READERS:
            assert answer.status_code in (303, 307, 403, 404), path


def test_raters_and_reviewers_see_no_names_of_others(visit: tuple[Role | None, TestClient]) -> None:
    role, opened = visit
    others = {
        Role.RATER: ("rater-2", "journal", "reader"),
        Role.TIE_BREAKER: ("rater-1", "rater-2", "journal", "reader"),
        Role.REVIEWER: ("rater-1", "rater-2", "tie-breaker", "journal", "reader", ">lead<"),
    }.get(role or Role.LEAD, ())
    for path in (path for path, _ in WRITTEN.values() if not path.startswith("/help")):  # documentation names nobody
        page = opened.get(path).text
        assert not [name for name in others if name in page], path
