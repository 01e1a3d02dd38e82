"""Signing in and out: links, passwords, cookies, forms of other sites, and a desk behind a proxy."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from httpx2 import Response
from starlette.applications import Starlette
from starlette.testclient import TestClient
from starlette.types import Message
from tests.support.desk import (
    CHOSEN,
    HERE,
    QUICK,
    SetClock,
    browser,
    closing_app,
    csrf_in,
    invited,
    join,
    post,
    signed_in,
)
from tests.support.small_study import small_study

from quaestor.base.errors import InputError
from quaestor.coding.codebook import import_codebook
from quaestor.coding.round_acts import open_by_name
from quaestor.people.credentials import Passwords
from quaestor.people.directory import Directory
from quaestor.people.membership import PEOPLE_FILE
from quaestor.people.roles import Role
from quaestor.web.app import make_app
from quaestor.web.security.forms import local_path
from quaestor.web.security.headers import PathPrefix, require_prefix
from quaestor.web.server import ServerAddress, serve_study

ENDED = "This link has been used, has expired or was revoked"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_study(tmp_path_factory.mktemp("access") / "study").root


@pytest.fixture
def clock() -> SetClock:
    return SetClock()


@pytest.fixture
def app(folder: Path, clock: SetClock) -> Iterator[Starlette]:
    (folder / PEOPLE_FILE).unlink(missing_ok=True)
    for companion in folder.glob(f"{PEOPLE_FILE}-*"):
        companion.unlink()
    with closing_app(make_app(folder, clock, passwords=Passwords(QUICK))) as opened:
        yield opened


def sign_in(opened: TestClient, name: str, password: str = CHOSEN, **more: str) -> Response:
    return post(opened, "/sign-in", {"name": name, "password": password, **more})


def test_a_person_joins_by_link_signs_out_and_signs_in_again(app: Starlette, folder: Path, clock: SetClock) -> None:
    opened = browser(app)
    token = invited(folder, Role.LEAD, clock=clock)
    shown = opened.get(f"/join/{token}").text
    assert "You lead this study" in shown
    join(opened, token)
    assert "From all evidence" in opened.get("/").text
    assert post(opened, "/sign-out", {}, page="/me").status_code == 303
    assert opened.get("/").headers["location"].startswith("/sign-in")
    done = sign_in(opened, " lead ", next="/steps/1/kept?page=1")
    assert (done.status_code, done.headers["location"]) == (303, "/steps/1/kept?page=1")
    assert opened.get("/steps/1/kept").status_code == 200


def test_used_expired_and_unknown_links_show_the_same_page(app: Starlette, folder: Path, clock: SetClock) -> None:
    used = invited(folder, Role.RATER, clock=clock)
    join(browser(app), used)
    expired = invited(folder, Role.VIEWER, clock=clock, days=1)
    clock.pass_by(days=1)
    replaced = invited(folder, Role.TIE_BREAKER, clock=clock)
    invited(folder, Role.TIE_BREAKER, clock=clock)
    opened = browser(app)
    page = opened.get("/sign-in").text
    pages = set()
    for token in (used, expired, replaced, "unknown", "x" * 3000, "%00", "<script>"):
        answer = opened.get(f"/join/{token}")
        assert answer.status_code == 404
        pages.add(answer.text)
        sent = opened.post(
            f"/join/{token}",
            data={"csrf": csrf_in(page), "password": CHOSEN, "again": CHOSEN},
            headers={"origin": HERE},
        )
        assert sent.status_code == 404
        pages.add(sent.text)
    assert len(pages) == 1
    assert ENDED in pages.pop()


@pytest.mark.parametrize(
    ("password", "again", "words"),
    [("short", "short", "too short"), (CHOSEN, "another one here", "differ"), ("x" * 1001, "x" * 1001, "too long")],
)
def test_a_refused_password_does_not_use_up_the_invitation(
    app: Starlette, folder: Path, clock: SetClock, password: str, again: str, words: str
) -> None:
    opened, token = browser(app), invited(folder, Role.RATER, clock=clock)
    answer = post(opened, f"/join/{token}", {"password": password, "again": again})
    assert answer.status_code == 422
    assert words in answer.text
    join(opened, token)


def test_opening_an_invitation_does_not_use_it_up(app: Starlette, folder: Path, clock: SetClock) -> None:
    token = invited(folder, Role.RATER, clock=clock)
    for _ in range(3):
        assert browser(app).get(f"/join/{token}").status_code == 200
    join(browser(app), token)


def test_a_reviewer_needs_no_password_and_can_reuse_the_link(app: Starlette, folder: Path, clock: SetClock) -> None:
    token = invited(folder, Role.REVIEWER, clock=clock, days=2)
    for _ in range(2):
        opened = browser(app)
        assert 'type="password"' not in opened.get(f"/join/{token}").text
        assert post(opened, f"/join/{token}", {}).status_code == 303
        page = opened.get("/me").text
        assert "<h1>reviewer</h1>" in page
        assert "journal" not in page
    clock.pass_by(days=2)
    assert opened.get("/me").status_code == 303
    assert ENDED in opened.get(f"/join/{token}").text


def test_the_session_cookie_is_limited_to_the_desk_and_hidden_from_scripts(
    app: Starlette, folder: Path, clock: SetClock
) -> None:
    for address, secure in ((HERE, False), ("https://127.0.0.1", True)):
        opened = browser(app, address)
        token = invited(folder, Role.VIEWER, clock=clock)
        answer = post(opened, f"/join/{token}", {"password": CHOSEN, "again": CHOSEN})
        cookie = answer.headers["set-cookie"]
        for part in ("HttpOnly", "SameSite=lax", "Path=/", "Max-Age=43200"):
            assert f"; {part}" in cookie
        assert ("; Secure" in cookie) == secure


def test_a_browser_that_signed_in_gets_a_separate_device_cookie(app: Starlette, folder: Path, clock: SetClock) -> None:
    for address, secure in ((HERE, False), ("https://127.0.0.1", True)):
        opened = browser(app, address)
        answer = post(
            opened, f"/join/{invited(folder, Role.RATER, clock=clock)}", {"password": CHOSEN, "again": CHOSEN}
        )
        session, device = answer.headers.get_list("set-cookie")
        assert session.partition("=")[0] + "-device" == device.partition("=")[0]
        for part in ("HttpOnly", "SameSite=lax", "Path=/", "Max-Age=7776000"):
            assert f"; {part}" in device
        assert ("; Secure" in device) == secure
    before = dict(opened.cookies)
    post(opened, "/sign-out", {}, page="/me")
    assert dict(opened.cookies).items() < before.items(), "signing out keeps the device known"
    sign_in(opened, "rater-1")
    assert len(opened.cookies) == 2
    assert not set(before.values()) & set(dict(opened.cookies).values()), "both are new"
    reviewer = browser(app)
    post(reviewer, f"/join/{invited(folder, Role.REVIEWER, clock=clock)}", {})
    assert len(reviewer.cookies) == 1


def test_signing_out_everywhere_forgets_other_browsers(app: Starlette, folder: Path, clock: SetClock) -> None:
    here = signed_in(app, folder, Role.RATER, clock)
    lost = browser(app, client="10.0.0.7")
    sign_in(lost, "rater-1")
    post(here, "/sign-out-everywhere", {}, page="/me")
    stranger = browser(app, client="10.0.0.7")
    for _ in range(5):
        sign_in(stranger, "rater-1", "wrong password")
    assert sign_in(lost, "rater-1").status_code == 429
    assert sign_in(here, "rater-1").status_code == 303


def test_signing_in_replaces_the_session_token(app: Starlette, folder: Path, clock: SetClock) -> None:
    opened = signed_in(app, folder, Role.RATER, clock)
    old = dict(opened.cookies)
    stranger = browser(app)
    stranger.cookies.update({next(iter(old)): "planted-by-somebody"})
    done = sign_in(stranger, "rater-1")
    assert done.status_code == 303
    assert "planted-by-somebody" not in done.headers["set-cookie"]
    token = csrf_in(opened.get("/me").text)
    again = opened.post(
        "/sign-in", data={"csrf": token, "name": "rater-1", "password": CHOSEN}, headers={"origin": HERE}
    )
    assert again.status_code == 303
    former = browser(app)
    former.cookies.update(old)
    assert former.get("/me").status_code == 303
    assert opened.get("/me").status_code == 200


def test_a_wrong_name_and_a_wrong_password_give_the_same_page(app: Starlette, folder: Path, clock: SetClock) -> None:
    signed_in(app, folder, Role.RATER, clock)
    pages = []
    for name in ("rater-1", "rater-9"):
        opened = browser(app)
        answer = sign_in(opened, name, "wrong password")
        assert answer.status_code == 422
        pages.append(answer.text.replace(name, "NAME").replace(csrf_in(answer.text), "TOKEN"))
    assert pages[0] == pages[1]
    assert "The name or the password is wrong." in pages[0]


def test_after_wrong_passwords_the_page_says_how_long_to_wait(app: Starlette, folder: Path, clock: SetClock) -> None:
    owner = signed_in(app, folder, Role.RATER, clock)
    post(owner, "/sign-out", {}, page="/me")
    opened = browser(app)
    for _ in range(5):
        assert sign_in(opened, "rater-1", "wrong password").status_code == 422
    clock.pass_by(minutes=3, seconds=30)
    answer = sign_in(opened, "rater-1")
    assert answer.status_code == 429
    assert "wait 12 minutes" in answer.text
    assert answer.headers["retry-after"] == "691"
    assert sign_in(browser(app, client="10.0.0.7"), "rater-1").status_code == 303, "from elsewhere"
    assert sign_in(owner, "rater-1").status_code == 303, "in a browser that has signed in before"
    clock.pass_by(minutes=11, seconds=30)
    assert sign_in(opened, "rater-1").status_code == 303


def test_a_session_lasts_twelve_hours_after_its_last_use(app: Starlette, folder: Path, clock: SetClock) -> None:
    opened = signed_in(app, folder, Role.RATER, clock)
    for _ in range(3):
        clock.pass_by(hours=11, minutes=59)
        answer = opened.get("/me")
        assert answer.status_code == 200
        assert "Max-Age=43200" in answer.headers["set-cookie"]
        assert "set-cookie" not in opened.get("/me").headers
    clock.pass_by(hours=12)
    assert opened.get("/me").status_code == 303


def test_signing_out_everywhere_ends_the_session_in_every_browser(
    app: Starlette, folder: Path, clock: SetClock
) -> None:
    here, other = signed_in(app, folder, Role.RATER, clock), signed_in(app, folder, Role.VIEWER, clock)
    there = browser(app)
    sign_in(there, "rater-1")
    assert there.get("/me").status_code == 200
    post(there, "/sign-out-everywhere", {}, page="/me")
    assert [one.get("/me").status_code for one in (here, there, other)] == [303, 303, 200]


def test_a_removed_person_is_signed_out_at_once(app: Starlette, folder: Path, clock: SetClock) -> None:
    opened = signed_in(app, folder, Role.RATER, clock)
    with Directory(folder / PEOPLE_FILE) as elsewhere:
        elsewhere.remove("rater-1")
    assert opened.get("/me").status_code == 303


FOREIGN: list[dict[str, str]] = [
    {},
    {"origin": "null"},
    {"origin": "https://evil.example"},
    {"origin": "http://127.0.0.1.evil.example"},
    {"origin": "http://127.0.0.1:9999"},
    {"origin": "http://[bad"},
    {"sec-fetch-site": "cross-site", "origin": HERE},
    {"sec-fetch-site": "same-site", "origin": HERE},
    {"sec-fetch-site": "none", "origin": HERE},
]


@pytest.mark.parametrize("headers", FOREIGN, ids=str)
def test_a_form_from_another_site_is_rejected_even_with_a_valid_token(
    app: Starlette, folder: Path, clock: SetClock, headers: dict[str, str]
) -> None:
    opened = signed_in(app, folder, Role.RATER, clock)
    token = csrf_in(opened.get("/me").text)
    answer = opened.post("/sign-out", data={"csrf": token}, headers=headers)
    assert answer.status_code == 403
    assert "not sent from a page of this desk" in answer.text
    assert opened.get("/me").status_code == 200
    stranger = browser(app)
    page = csrf_in(stranger.get("/sign-in").text)
    sent = {"csrf": page, "name": "rater-1", "password": CHOSEN}
    assert stranger.post("/sign-in", data=sent, headers=headers).status_code == 403


def test_a_form_needs_the_csrf_token_of_its_session(app: Starlette, folder: Path, clock: SetClock) -> None:
    opened, other = signed_in(app, folder, Role.RATER, clock), signed_in(app, folder, Role.VIEWER, clock)
    foreign = csrf_in(other.get("/me").text)
    own = csrf_in(opened.get("/me").text)
    ours = {"origin": HERE}
    for fields in ({}, {"csrf": ""}, {"csrf": foreign}, {"csrf": own[:-1]}, {"other": own}, {"csrf": "ü\ud83d\ude00"}):
        data = {name: value.encode("utf-8", "replace").decode() for name, value in fields.items()}
        assert opened.post("/sign-out", data=data, headers=ours).status_code == 403
    assert opened.post(f"/sign-out?csrf={own}", headers=ours).status_code == 403
    assert opened.post("/sign-out", json={"csrf": own}, headers=ours).status_code == 403
    assert opened.post("/sign-out", headers={**ours, "x-csrf-token": foreign}).status_code == 403
    assert opened.get("/me").status_code == 200
    assert opened.post("/sign-out", headers={**ours, "x-csrf-token": own}).status_code == 303


def test_an_oversized_form_is_rejected(app: Starlette, folder: Path, clock: SetClock) -> None:
    opened = signed_in(app, folder, Role.RATER, clock)
    answer = opened.post("/sign-out", data={"csrf": "x" * 1_100_000}, headers={"origin": HERE})
    assert answer.status_code == 413
    many = "&".join(f"a{number}=1" for number in range(2_000))
    headers = {"origin": HERE, "content-type": "application/x-www-form-urlencoded"}
    assert opened.post("/sign-out", content=many, headers=headers).status_code == 403


@pytest.mark.parametrize("kind", ["application/x-www-form-urlencoded", "application/json", "text/plain"])
def test_a_csrf_token_in_a_header_does_not_raise_the_size_limit(app: Starlette, kind: str) -> None:
    nobody = browser(app)
    token = csrf_in(nobody.get("/sign-in").text)
    for said in (token, "x"):
        headers = {"origin": HERE, "x-csrf-token": said, "content-type": kind}
        assert nobody.post("/sign-in", content=b"x" * 2_000_000, headers=headers).status_code == 413
    short = {"origin": HERE, "x-csrf-token": token, "content-type": "application/x-www-form-urlencoded"}
    answer = nobody.post("/sign-in", content="name=nobody&password=wrong", headers=short)
    assert 'value="nobody"' in answer.text, "what was sent is still there for the page"


def test_a_signed_out_script_gets_401(app: Starlette) -> None:
    answer = browser(app).post("/sign-out", headers={"origin": HERE, "x-csrf-token": "x"})
    assert answer.status_code == 401
    assert "sign in and send it again" in answer.text


ELSEWHERE = [
    "https://evil.example/", "//evil.example", "/\\evil.example", "\\\\evil.example", "/\t/evil.example",
    "/\n/evil.example", "javascript:alert(1)", "evil.example", "", " /", "http:evil.example", "///evil.example",
    "/ /evil.example", "/\u2028/evil",
]  # fmt: skip


@pytest.mark.parametrize("wanted", ELSEWHERE)
def test_sign_in_never_redirects_to_another_site(app: Starlette, folder: Path, clock: SetClock, wanted: str) -> None:
    signed_in(app, folder, Role.RATER, clock)
    assert sign_in(browser(app), "rater-1", next=wanted).headers["location"] == "/"
    assert local_path(wanted, "/desk") == "/desk/"


def test_a_path_with_the_desk_prefix_in_a_longer_word_is_outside_the_desk() -> None:
    assert local_path("/desk/me", "/desk") == "/desk/me"
    assert local_path("/desktop", "/desk") == "/desk/"
    assert local_path("/me", "") == "/me"


HOSTILE = "<script>alert('1')</script>\"&{{7*7}}"


def test_a_hostile_name_is_shown_as_text(app: Starlette, folder: Path, clock: SetClock) -> None:
    opened, token = browser(app), invited(folder, Role.VIEWER, HOSTILE, clock=clock)
    pages = [opened.get(f"/join/{token}").text]
    join(opened, token)
    pages += [opened.get(path).text for path in ("/", "/me", "/nowhere")]
    pages.append(sign_in(browser(app), HOSTILE, "wrong password").text)
    for page in pages:
        assert "<script" not in page
        assert "49" not in page.split("{{7*7}}")[0][-40:]
        assert "&lt;script&gt;" in page
    assert sign_in(browser(app), HOSTILE).status_code == 303


def test_pages_that_need_a_session_are_not_cached(app: Starlette, folder: Path, clock: SetClock) -> None:
    opened = signed_in(app, folder, Role.LEAD, clock)
    for path in ("/", "/me", "/steps/1/kept", "/funnel.svg", "/nowhere", "/sign-in"):
        assert opened.get(path).headers["cache-control"] == "no-store", path
    assert opened.get("/report/").headers["cache-control"] == "private, no-cache"
    assert "cache-control" not in opened.get("/static/desk.css").headers


@pytest.mark.parametrize("taken_off", [False, True])
def test_behind_a_proxy_links_redirects_and_cookies_include_the_path_prefix(
    app: Starlette, folder: Path, clock: SetClock, taken_off: bool
) -> None:
    before = "" if taken_off else "/desk"
    opened = browser(PathPrefix(app, "/desk"))
    refused = opened.get(f"{before}/steps/1/kept")
    assert refused.headers["location"] == "/desk/sign-in?next=%2Fdesk%2Fsteps%2F1%2Fkept"
    token = invited(folder, Role.LEAD, clock=clock)
    shown = opened.get(f"{before}/join/{token}")
    assert f'action="/desk/join/{token}"' in shown.text
    assert 'href="/desk/static/desk.css"' in shown.text
    assert "Path=/desk;" in shown.headers["set-cookie"]
    cookie = shown.headers["set-cookie"].partition(";")[0]
    fields = {"csrf": csrf_in(shown.text), "password": CHOSEN, "again": CHOSEN}
    done = opened.post(f"{before}/join/{token}", data=fields, headers={"origin": HERE, "cookie": cookie})
    assert (done.status_code, done.headers["location"]) == (303, "/desk/")
    cookie = done.headers["set-cookie"].partition(";")[0]
    page = opened.get(f"{before}/", headers={"cookie": cookie})
    assert page.status_code == 200
    links = [part.split('"')[0] for part in page.text.split('href="')[1:]]
    assert all(link.startswith(("/desk/", "#", "http")) for link in links)
    assert opened.get(f"{before}/static/tokens.css").status_code == 200
    assert "script-src 'self'" in opened.get(f"{before}/report/").headers["content-security-policy"]


def test_an_invalid_path_prefix_is_refused() -> None:
    assert require_prefix("/desk/", {"me"}) == "/desk"
    assert require_prefix("", {"me"}) == ""
    for path in ("desk", "/a b", "//x", "/a/../b?", "http://x/"):
        with pytest.raises(InputError, match="--root-path"):
            require_prefix(path, {"me"})
    with pytest.raises(InputError, match="a page of the desk has that path"):
        require_prefix("/me/x", {"me"})


def test_other_machines_can_connect_only_with_an_allowed_host_name(folder: Path, app: Starlette) -> None:
    with pytest.raises(InputError, match="--allow-host NAME"):
        serve_study(folder, ServerAddress(0, "0.0.0.0"), lambda address: None)  # noqa: S104
    assert browser(app, "http://desk.example").get("/health").status_code == 400
    with closing_app(make_app(folder, allowed_hosts=["desk.example"], passwords=Passwords(QUICK))) as named:
        assert browser(named, "http://desk.example").get("/health").status_code == 200
        assert browser(named, "http://other.example").get("/health").status_code == 400


def test_a_rater_sees_only_their_own_open_rounds(tmp_path: Path, clock: SetClock) -> None:
    study = small_study(tmp_path / "study")
    with closing_app(make_app(study.root, clock, passwords=Passwords(QUICK))) as app:
        opened = signed_in(app, study.root, Role.RATER, clock)
        assert "No tasks" in opened.get("/").text
        import_codebook(study)
        open_by_name(study, "pilot", None)
        page = opened.get("/").text
        assert "Rate pilot" in page
        assert "<strong>4</strong> of 4 items left" in page
        assert "rater-2" not in page
        assert "No tasks" in signed_in(app, study.root, Role.TIE_BREAKER, clock).get("/").text


def test_a_client_that_disconnects_while_sending_a_form_causes_no_error(app: Starlette) -> None:
    scope = {
        "type": "http", "method": "POST", "path": "/sign-in", "raw_path": b"/sign-in", "query_string": b"",
        "headers": [(b"host", b"127.0.0.1"), (b"sec-fetch-site", b"same-origin")], "client": ("127.0.0.1", 50000),
        "server": ("127.0.0.1", 80), "scheme": "http", "root_path": "",
    }  # fmt: skip
    waiting: list[Message] = [
        {"type": "http.disconnect"},
        {"type": "http.request", "body": b"name=lead&pass", "more_body": True},
    ]
    sent: list[Message] = []

    async def receive() -> Message:
        return waiting.pop()

    async def send(message: Message) -> None:
        sent.append(message)

    asyncio.run(app(scope, receive, send))
    assert sent == []
