"""Label Studio on its default SQLite: tasks imported, annotated by four users through its API, exported."""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import secrets
import shutil
import sqlite3
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import psutil

from benchmarks.desk_client import JSON, Client
from benchmarks.desk_race import LEAD_PASSWORD, RATERS, Item, Raced, durability, environment, free_port, race, started
from benchmarks.desk_raters import ANSWERS, expect
from benchmarks.desk_study import FACET

_CSRF = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')
_QUIET = {"SENTRY_DSN": "", "FRONTEND_SENTRY_DSN": "", "COLLECT_ANALYTICS": "false", "LATEST_VERSION_CHECK": "false"}
"""It would tell strangers about this run."""
_FORM = (
    '<View><Header value="$title"/><HyperText name="body" value="$body"/>'
    f'<Choices name="{FACET}" toName="body" choice="single" required="true">'
    + "".join(f'<Choice value="{answer}"/>' for answer in ANSWERS)
    + "</Choices></View>"
)


def label_studio(folder: Path, items: Sequence[Item]) -> Raced:
    """The race at Label Studio's desk."""
    programs, version = environment(folder, "label-studio", "label-studio")
    place = folder.resolve() / "label-studio-data"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    port, token = free_port(), secrets.token_hex(20)
    account = ["--username", "lead@example.org", "--password", LEAD_PASSWORD, "--user-token", token]
    command = [str(programs / "label-studio"), "start", "--no-browser", "--data-dir", str(place), "--port", str(port)]
    command += ["--internal-host", "127.0.0.1", *account, "--enable-legacy-api-token"]
    with started(command, place, port, "/health", {**os.environ, **_QUIET}) as (address, process):
        raced = Raced(f"Label Studio {version}", _durability(place / "label_studio.sqlite3"))
        asyncio.run(_all(raced, Client(address, _as(token)), items, process))
    return raced


def _as(token: str) -> dict[str, str]:
    return {"Authorization": f"Token {token}"}


def _durability(path: Path) -> str:
    """Its settings leave the database as SQLite makes it, so a new connection shows what its own have."""
    with closing(sqlite3.connect(path)) as connection:
        mode, level = (connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "synchronous"))
    return durability(mode, level)


async def _all(raced: Raced, lead: Client, items: Sequence[Item], process: psutil.Process) -> None:
    made = await _posted(
        lead, "/api/projects/", {"title": "race", "label_config": _FORM, "maximum_annotations": RATERS}
    )
    project = int(json.loads(made)["id"])
    tasks = [{"item": item.item, "title": item.title, "body": item.body} for item in items]
    begun = time.perf_counter()
    told = json.loads(await _posted(lead, f"/api/projects/{project}/import", tasks))
    raced.import_seconds = time.perf_counter() - begun
    if told["task_count"] != len(items):
        raise SystemExit(f"Label Studio took {told['task_count']} of {len(items)} items")
    raters = [await _joined(lead, number, project) for number in range(1, RATERS + 1)]
    await race(raced, raters, process)
    begun = time.perf_counter()
    answer = expect(await lead.get(f"/api/projects/{project}/export?exportType=JSON"), 200)
    raced.export_seconds = time.perf_counter() - begun
    raced.exported = sum(len(task["annotations"]) for task in json.loads(answer.body))


async def _posted(client: Client, path: str, value: object) -> bytes:
    return expect(await client.ask("POST", path, json.dumps(value).encode(), JSON), 201).body


async def _joined(lead: Client, number: int, project: int) -> _Rater:
    """A user of their own, who came by an invitation."""
    link = json.loads(expect(await lead.get("/api/invite"), 200).body)["invite_url"]
    visitor = Client(lead.origin)
    found = _CSRF.search((await visitor.get(link)).text)
    if found is None:
        raise SystemExit("Label Studio shows no form to sign up")
    account = {"email": f"rater-{number}@example.org", "password": LEAD_PASSWORD, "allow_newsletters": "false"}
    expect(await visitor.form(link, {"csrfmiddlewaretoken": found[1], **account}), 302)
    token = json.loads(expect(await visitor.get("/api/current-user/token"), 200).body)["token"]
    return _Rater(Client(lead.origin, _as(token)), number, project)


class _Rater:
    """A user with a token; cookies are not sent, so that no check of forms is asked for."""

    def __init__(self, client: Client, number: int, project: int) -> None:
        self._client = client
        self._chance = random.Random(number)
        self._project = project

    async def next(self) -> str:
        self._client.cookies.clear()
        return str(json.loads(expect(await self._client.get(f"/api/projects/{self._project}/next"), 200).body)["id"])

    async def save(self, item: str) -> None:
        chosen = {"choices": [self._chance.choice(ANSWERS)]}
        result = [{"from_name": FACET, "to_name": "body", "type": "choices", "value": chosen}]
        self._client.cookies.clear()
        path = f"/api/tasks/{item}/annotations/?project={self._project}"
        await _posted(self._client, path, {"result": result, "lead_time": 8.5})
