"""Send hostile requests to every route of the desk: none may break it, and each is answered below 500.

python -m tests.campaigns.fuzz_routes [--requests 20000] [--seed 1]

The names of parameters and the values that pages know are read from the sources of the pages, so that a new parameter
is attacked from its first day on. The same seed sends the same requests.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import tempfile
import traceback
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from html.parser import HTMLParser
from itertools import chain
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urljoin, urlsplit

from starlette.applications import Starlette
from starlette.routing import Mount, Route
from starlette.testclient import TestClient
from tests.support.coded_interviews import ROUND, TALK, coded_study
from tests.support.desk import HERE, NAMES, QUICK, closing_app, csrf_in, invited, join
from tests.support.settled_study import differing
from tests.support.small_interviews import GUIDE, with_interview
from tests.support.small_study import ITEMS
from tests.support.small_survey import FORMS, NAME, answered, small_survey

import quaestor.web
from quaestor.coding.round_acts import open_by_name
from quaestor.interviews.participants.consent import ACCEPTED, SPOKEN, make_link, record_consent
from quaestor.interviews.participants.people import add_participant
from quaestor.interviews.repository import open_interviews
from quaestor.people.credentials import Passwords
from quaestor.people.roles import Role
from quaestor.study.folder import Study
from quaestor.surveys.invitations import invite
from quaestor.surveys.lifecycle import open_survey, open_surveys
from quaestor.surveys.payment import claim_token
from quaestor.web.app import make_app

HOSTILE = (
    *(
        "",
        " ",
        "\0",
        "a\0b",
        "main\0",
        "\0main",
        "-",
        ",",
        ";",
        ":",
        "=",
        "/",
        "//",
        "'",
        '"',
        "\\",
        "*",
        "(",
        "[",
        "%",
    ),
    *("-1", "0", "1", "-0", "+5", "0.1", "1_000", "0x10", "1e308", "1e400", "-1e18", "nan", "NaN", "inf", "-Infinity"),
    *("9" * 20, "9" * 5000, "2147483648", "99999999999999", "9223372036854775808", "253402300800", "²", "٣", "１"),
    *("\ud800", "\udfff\ud800", "\uffff", "\U0010ffff", "\u202e", "é" * 300, "x" * 100_000, "a\n\r\nb"),
    *(
        "../../etc/passwd",
        "..\\..",
        "/etc/passwd",
        "%00",
        "%2e%2e",
        "%s%n",
        "{0}",
        "{{7*7}}",
        "${x}",
        "<script>",
        "=1+1",
    ),
    *("' OR 1=1 --", "; DROP TABLE acts", "%' LIKE '%", "a" + "(" * 200, "NEAR(", '"a', "\r\nSet-Cookie: a=b"),
    *("9999-12-31T23:59:59+00:00", "10000-01-01", "0000-00-00", "2026-02-30", "2026-02-29T25:61"),
    *("0001-01-01T00:00:00+14:00", "null", "true", "[]", "{}", "None", "a=b", "1-2", "9-1", "1:2:3", "0:0:0:"),
    *("forum/question/\0", "forum/question/" + "9" * 30, "P1/99999", "P1/-1", "P1/" + "9" * 30),
)
"""Texts that a page may be sent in the place of any of its parameters."""

HOSTILE_JSON: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 0.5, 2**31, 2**63, -(2**63) - 1, 10**400, 1e308),
    *(float("nan"), float("inf"), -float("inf"), [], {}, [None], [[]], [{}], {"": ""}, {"\0": "\0"}),
    *([[[[[[[[[[]]]]]]]]]], {"start": -1, "end": 2**70}, [{"start": 0, "end": 1, "code": "\0"}]),
    *({"verb": None, "object": []}, {"answer": {}}, {"answer": "keep", "reason": "\ud800"}),
)

FILES = (b"", b"\0", b"PK\x03\x04", b"WEBVTT\n\n\0", b"\xff\xfe\0")
NO_OBJECTS = ("", "[", "[" * 100_000, "null", '"a"', "[1]", "1e999", "\0", "{}")
"""What a script may send that is no object with fields."""

NUMBERS = ("seconds", "when", "seen", "turn", "stop", "after")
LISTS = ("answers", "stretches", "before", "read", "unsure", "memo")

NOT_SENT = frozenset({"results-make"})
"""Routes that start long work in another process."""

LEAVING = frozenset({"sign-out", "sign-out-everywhere"})
"""Routes that end the session of the attacker."""


@dataclass(frozen=True)
class Attack:
    """One request; `body` is a form where it has fields, JSON where it is a text."""

    method: str
    route: str
    path: str
    query: str = ""
    form: Mapping[str, str] | None = None
    script: str | None = None
    file: bytes | None = None

    def __str__(self) -> str:
        sent = self.form or self.script or self.file or ""
        return f"{self.method} {self.path[:120]}?{self.query[:200]} {str(sent)[:300]}"


@dataclass(frozen=True)
class Broken:
    """A request that broke the desk, and how."""

    attack: Attack
    role: Role | None
    why: str


@dataclass(frozen=True)
class Target:
    """A study to attack, and the ids in it that are worth naming."""

    study: Study
    roles: Sequence[Role | None]
    known: Mapping[str, Sequence[str]] = field(default_factory=dict)
    scripts: Sequence[Attack] = ()
    """What scripts send where pages have no form for it."""
    doors: Sequence[str] = ()
    """Pages that are reached by a secret link alone."""


@cache
def words_of_pages() -> tuple[Mapping[str, Sequence[str]], Sequence[str]]:
    """By module the names of the parameters that its pages read, and the values that any of them knows."""
    folder = Path(str(quaestor.web.__path__[0]))
    templates = "".join(path.read_text("utf-8") for path in sorted((folder / "templates").glob("*.html")))
    scripts = "".join(path.read_text("utf-8") for path in sorted((folder / "static").glob("*.js")))
    names, values = {}, set(re.findall(r'\bvalue="([a-z][a-z -]*)"', templates))
    values |= set(re.findall(r'\b(?:act|what|do): "([a-z-]+)"', scripts))
    for path in sorted(folder.rglob("*.py")):
        source = path.read_text("utf-8")
        read = re.findall(r'(?:\.get\(|_of\([a-z_]+, |text_in\([a-z_]+, |\[)f?"([a-z][a-z_.-]*)', source)
        names[f"quaestor.web.{path.stem}"] = tuple(sorted(set(read) - {"csrf"}))
        values |= set(re.findall(r'case "([^"]+)"', source))
    return names, tuple(sorted(values))


def attacks_on(app: Starlette, target: Target, dice: random.Random, many: int) -> Iterator[Attack]:
    """So many requests, spread evenly over the routes."""
    routes = [one for one in app.routes if getattr(one, "name", "") not in NOT_SENT | LEAVING]
    for number in range(many):
        route = routes[number % len(routes)]
        if isinstance(route, Mount):
            path = f"{route.path}/{quote(dice.choice(HOSTILE)[:2000].encode('utf-8', 'surrogatepass'), safe='/')}"
            yield Attack("GET", route.name or "", path)
        elif isinstance(route, Route):
            yield _attack(route, target, dice)


def _attack(route: Route, target: Target, dice: random.Random) -> Attack:
    kind_of_place = route.path.split("/")[1]
    path = re.sub(
        r"{(\w+)(?::\w+)?}", lambda part: _encoded(_in_path(f"{kind_of_place}/{part[1]}", target, dice)), route.path
    )
    method = dice.choice(sorted((route.methods or {"GET"}) - {"HEAD"}))
    fields = {name: _value(name, target, dice) for name in _names(route, dice)}
    if method == "GET":
        query = "&".join(f"{_encoded(name)}={_encoded(value[:8000])}" for name, value in fields.items())[:60_000]
        return Attack(method, route.name, path, query)
    kind = dice.random()
    if kind < 0.5:
        return Attack(method, route.name, path, form=fields)
    if kind < 0.6:
        return Attack(method, route.name, path, form=fields, file=dice.choice(FILES))
    values: dict[str, Any] = {"key": f"key-{dice.randrange(10**6)}", **fields}
    for name in (*NUMBERS, *LISTS, *fields):
        if dice.random() < 0.3:
            values[name] = dice.choice((*HOSTILE_JSON, *HOSTILE))
    if dice.random() < 0.3:
        values["answers"] = {name: dice.choice((*HOSTILE_JSON, *HOSTILE)) for name in ("relevance", "themes", "\0")}
    text = json.dumps(values) if dice.random() < 0.95 else dice.choice(NO_OBJECTS)
    return Attack(method, route.name, path, script=text)


def changed(base: Attack, dice: random.Random) -> Attack:
    """A request with one or two of its values exchanged for hostile ones."""
    times = dice.choice((1, 1, 2))
    if base.script is not None:
        record: dict[str, Any] = json.loads(base.script)
        for _ in range(times):
            record[dice.choice(sorted(record))] = dice.choice((*HOSTILE_JSON, *HOSTILE))
        return replace(base, script=json.dumps({**record, "key": record.get("key") or "k"}))
    fields = dict(base.form) if base.form is not None else dict(parse_qsl(base.query, keep_blank_values=True))
    for name in dice.sample(sorted(fields), min(times, len(fields))):
        fields[name] = dice.choice(HOSTILE)
    if base.form is not None and fields:
        return replace(base, form=fields)
    if fields:
        return replace(base, query=urlencode({name: value[:8000] for name, value in fields.items()}, errors="replace"))
    head, _, _ = base.path.rpartition("/")
    return replace(base, path=f"{head}/{_encoded(dice.choice(HOSTILE)[:2000])}")


def _names(route: Route, dice: random.Random) -> list[str]:
    """Parameters of the page itself for the most part, and some that helpers or other pages read."""
    names, _ = words_of_pages()
    own = names.get(getattr(route.endpoint, "__module__", ""), ())
    others = sorted({name for some in names.values() for name in some})
    usual = ("item", "act", "facet", "round", "turn", "when", "version", "page", "key", "code")
    chosen = [*dice.sample(own, min(len(own), dice.randint(1, 6))), *dice.sample(usual, 2), *dice.sample(others, 2)]
    return list(dict.fromkeys(chosen))


def _value(name: str, target: Target, dice: random.Random) -> str:
    if dice.random() < 0.3:
        return dice.choice(HOSTILE)
    return _known(name, target, dice)


def _known(name: str, target: Target, dice: random.Random) -> str:
    """A value that makes sense there, so that a request gets far enough to do harm with another."""
    if name == "key":
        return f"key-{dice.randrange(10**6)}"
    for known in (name, name.rpartition("/")[2]):
        if known in target.known:
            return dice.choice(target.known[known])
    _, values = words_of_pages()
    return dice.choice((*values, *(one for some in target.known.values() for one in some)))


def _in_path(name: str, target: Target, dice: random.Random) -> str:
    if dice.random() < 0.1:
        return dice.choice(HOSTILE)[:2000] or "-"
    return _known(name, target, dice)


def _encoded(text: str) -> str:
    return quote(text.encode("utf-8", "surrogatepass"), safe="")


class _Forms(HTMLParser):
    """The forms and links of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.forms: list[tuple[str, str, dict[str, str]]] = []
        self._named: dict[str, dict[str, str]] = {}
        self._select = ""

    def handle_starttag(self, tag: str, given: list[tuple[str, str | None]]) -> None:
        told = {name: value or "" for name, value in given}
        if tag == "a":
            self.links.append(told.get("href", ""))
        elif tag == "form":
            fields = self._named.setdefault(told.get("id", f"form {len(self.forms)}"), {})
            self.forms.append((told.get("method", "get").upper(), told.get("action", ""), fields))
        elif tag == "option" and self._select:
            self._put(self._select, told)
        elif tag in ("input", "textarea", "button", "select") and told.get("name"):
            self._select = told["name"] if tag == "select" else ""
            self._put(told["name"], told)

    def _put(self, name: str, told: Mapping[str, str]) -> None:
        """A field belongs to the form that it names, else to the one that was begun last; a chosen value stays."""
        fields = self._named.setdefault(told["form"], {}) if "form" in told else self.forms[-1][2] if self.forms else {}
        if not fields.get(name) or "checked" in told or "selected" in told:
            fields[name] = told.get("value", "")


class Attacker:
    """A browser that means harm, signed in with a role or not at all."""

    def __init__(self, app: Starlette, study: Path, role: Role | None) -> None:
        self._app, self._study, self._role, self._joined = app, study, role, 0
        self._sign_in()

    def _sign_in(self) -> None:
        self._browser = TestClient(self._app, base_url=HERE, follow_redirects=False)
        self._csrf = ""
        if self._role is None:
            self._csrf = csrf_in(self._browser.get("/sign-in").text)
            return
        # An attack may have taken the account away: then somebody of the same role comes instead.
        self._joined += 1
        name = NAMES[self._role] if self._joined == 1 else f"{NAMES[self._role]}-{self._joined}"
        join(self._browser, invited(self._study, self._role, name))
        self._csrf = csrf_in(self._browser.get("/me").text)

    def harvest(self, doors: Sequence[str], most: int) -> list[Attack]:
        """The requests that pages lead to, as a browser would send them: what is worth changing a little."""
        waiting, seen = [*doors, "/"], set()
        found: dict[tuple[str, str, str], Attack] = {}
        while waiting and len(seen) < most:
            address = waiting.pop(0)
            if address in seen or address.startswith(("/sign-out", "/static/")):
                continue
            seen.add(address)
            answer = self._browser.get(address)
            if not answer.headers.get("content-type", "").startswith("text/html"):
                continue
            page = _Forms()
            page.feed(answer.text)
            for link in [*page.links, answer.headers.get("location", "")]:
                target = urlsplit(urljoin(f"{HERE}{address}", link))
                if link and target.netloc == urlsplit(HERE).netloc:
                    waiting.append(f"{target.path}?{target.query}" if target.query else target.path)
            for method, action, fields in page.forms:
                path = urlsplit(urljoin(f"{HERE}{address}", action or address)).path
                sent = {name: value for name, value in fields.items() if name != "csrf"}
                if method == "POST" and not path.startswith(("/sign-out", "/results")):
                    act = sent.get("act", "")
                    found.setdefault((method, path, act), Attack(method, path, path, form=sent))
                elif method == "GET":
                    found.setdefault((method, path, ""), Attack(method, path, path, query=urlencode(sent)))
        for address in seen:
            path, _, query = address.partition("?")
            found.setdefault(("GET", path, query), Attack("GET", path, path, query=query))
        return [found[key] for key in sorted(found)]

    def send(self, attack: Attack) -> Broken | None:
        """Send it; how it broke the desk, or none."""
        address = f"{attack.path}?{attack.query}" if attack.query else attack.path
        headers = {"origin": HERE, "x-csrf-token": self._csrf}
        try:
            if attack.method == "GET":
                answer = self._browser.get(address)
            elif attack.file is not None:
                files = {"file": ("talk.vtt", attack.file)}
                answer = self._browser.post(address, data=_plain(attack.form), files=files, headers=headers)
            elif attack.script is not None:
                headers["content-type"] = "application/json"
                answer = self._browser.post(address, content=attack.script, headers=headers)
            else:
                body = "&".join(f"{_encoded(name)}={_encoded(value)}" for name, value in (attack.form or {}).items())
                headers["content-type"] = "application/x-www-form-urlencoded"
                answer = self._browser.post(address, content=body, headers=headers)
        except Exception:  # noqa: BLE001 - whatever it is, it is what the campaign looks for
            return Broken(attack, self._role, "".join(traceback.format_exc().splitlines(keepends=True)[-8:]))
        if answer.headers.get("location", "").startswith("/sign-in") and self._role is not None:
            self._sign_in()
        if answer.status_code >= 500:
            return Broken(attack, self._role, f"{answer.status_code} {answer.text[:500]}")
        return None


def _plain(form: Mapping[str, str] | None) -> dict[str, str]:
    """Fields as a multipart form can carry them."""
    return {name: value.encode("utf-8", "replace").decode() for name, value in (form or {}).items()}


def targets(folder: Path) -> list[Target]:
    """Two studies that between them have something on every page: rounds and a survey; interviews that are coded."""
    rated = differing(folder / "rated")
    open_by_name(rated, "pilot", None)
    small_survey(rated.root)
    with open_surveys(rated) as surveys:
        open_survey(surveys, NAME)
        codes = [answered(surveys)[0], answered(surveys, forms={})[0]]
        responses = [response.id for response in surveys.answers.responses(NAME)]
        claim = claim_token(surveys, codes[0])
        tokens = [one.token for one in invite(surveys, NAME, "first", stratum="pro", count=3)]
    known = {
        "name": (NAME,),
        "rounds/name": ("main", "pilot"),
        "round": ("main", "pilot"),
        "item": ITEMS,
        "facet": ("relevance", "phase"),
        "code": (*codes, "training"),
        "response": responses,
        "token": tokens,
        "survey": (NAME,),
        "page": (*FORMS, "1"),
        "rater": ("rater-1", "rater-2"),
        "step": ("1", "2"),
        "side": ("kept", "dropped"),
        "form": ("csv", "xlsx"),
        "answer": ("keep", "exclude: crash"),
        "version": ("1", "2"),
        "figure": ("saturation",),
    }
    coded = coded_study(folder / "coded", [TALK, TALK])
    with open_interviews(coded) as interviews:
        invented = add_participant(interviews, synthetic=True).pseudonym
        record_consent(interviews, invented, ACCEPTED, SPOKEN)
        planned = [with_interview(interviews).id, with_interview(interviews, invented).id]
        consent = make_link(interviews, invented).code
        talks = [*sorted({talk.interview for talk in interviews.transcripts()}), *planned]
    about = {
        "name": talks,
        "rounds/name": (ROUND,),
        "guides/name": (GUIDE,),
        "round": (ROUND,),
        "interview": talks,
        "participant": talks,
        "facet": ("themes",),
        "item": tuple(f"{talk}/00001" for talk in talks),
        "turn": ("1", "2", "3"),
        "code": ("practice",),
        "stop": ("0", "1"),
        "version": ("1",),
        "figure": ("saturation", "codes"),
        "what": ("start", "end", "agreed", "asked"),
        "guide": (GUIDE,),
        "question": ("stages",),
    }
    stretch = {"start": 0, "end": 3, "code": "practice", "memo": "", "fields": {}}
    rating = {"item": ITEMS[0], "answers": {"relevance": "keep"}, "unsure": [], "memo": "", "seconds": 3, "opened": ""}
    turn = {"turn": 1, "stretches": [stretch], "before": [], "seen": 0, "seconds": 2, "opened": "", "rater": ""}
    note = {"act": "note", "question": "stages", "text": "x", "when": 1893499261.5, "opened": "", "follow_up": False}
    tick = {"act": "tick", "question": "factors", "item": "data", "other": "", "on": True, "when": 1893499261.5}
    clock = {"act": "clock", "what": "start", "section": "", "when": 1893499261.5}
    return [
        Target(
            rated,
            (Role.LEAD, Role.RATER, Role.TIE_BREAKER, Role.VIEWER, Role.PAYER, None),
            known,
            [_script("/rounds/pilot/ratings", rating), _script("/rounds/pilot/ratings", {**rating, "practice": True})],
            [f"/s/{NAME}", *(f"/s/{NAME}/{code}" for code in codes), f"/claim/{NAME}/{claim}", f"/i/{tokens[0]}"],
        ),
        Target(
            coded,
            (Role.LEAD, Role.RATER, Role.INTERVIEWER, None),
            about,
            [
                _script(f"/rounds/{ROUND}/code/{talks[0]}/turns", turn),
                _script(f"/rounds/{ROUND}/code/{talks[0]}/turns", {"read": [0, 3], "opened": ""}),
                *(
                    _script(f"/interviews/{interview}/conduct/acts", told)
                    for interview in planned
                    for told in (note, tick, clock)
                ),
            ],
            [f"/c/{consent}", f"/c/{consent}/withdraw"],
        ),
    ]


def _script(path: str, record: Mapping[str, Any]) -> Attack:
    return Attack("POST", path, path, script=json.dumps({**record, "key": f"script {len(json.dumps(record))}"}))


def fuzz(target: Target, seed: int, many: int, pages: int = 60) -> tuple[int, list[Broken]]:
    """Attack a study by each role in turn; how many requests were sent, and which broke it.

    Half of the requests are those of the pages with a value changed, which get far; half are made up for each route,
    which reach what no page leads to.
    """
    broken: list[Broken] = []
    sent = 0
    with closing_app(make_app(target.study.root, passwords=Passwords(QUICK))) as app:
        for place, role in enumerate(target.roles):
            attacker = Attacker(app, target.study.root, role)
            dice = random.Random(f"{seed}/{target.study.root.name}/{place}")
            share = many // len(target.roles) // 2
            bases, scripts = attacker.harvest(target.doors, pages), target.scripts
            likely = (changed(dice.choice(scripts if dice.random() < 0.3 else bases), dice) for _ in range(share))
            for attack in chain(likely, attacks_on(app, target, dice, share)):
                sent += 1
                found = attacker.send(attack)
                if found is not None:
                    broken.append(found)
    return sent, broken


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    broken: list[Broken] = []
    with tempfile.TemporaryDirectory(prefix="quaestor-fuzz-") as folder:
        found = targets(Path(folder))
        for target in found:
            sent, more = fuzz(target, options.seed, options.requests // len(found))
            print(f"{target.study.root.name}: {sent:,} requests, {len(more):,} broke the desk")
            broken += more
    for one in broken:
        print(f"\n{one.role}: {one.attack}\n{one.why}")
    sys.exit(1 if broken else 0)


if __name__ == "__main__":
    main()
