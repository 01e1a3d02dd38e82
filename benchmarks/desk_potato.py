"""Potato with its default store, a file a user: items loaded at the start, annotated by four users, exported."""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import shutil
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

import psutil

from benchmarks.desk_client import JSON, Client
from benchmarks.desk_race import RATERS, Item, Raced, environment, free_port, race, started
from benchmarks.desk_raters import ANSWERS, expect
from benchmarks.desk_study import FACET, QUESTION

_INSTANCE = re.compile(r'id="instance_id"[^>]*value="([^"]+)"')


def potato(folder: Path, items: Sequence[Item]) -> Raced:
    """The race at Potato's desk."""
    programs, version = environment(folder, "potato", "potato-annotation")
    place = folder.resolve() / "potato-data"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    _write(place, items)
    port = free_port()
    command = [str(programs / "potato"), "start", "config.yaml", "-p", str(port), "--host", "127.0.0.1"]
    begun = time.perf_counter()
    with started(command, place, port, "/", dict(os.environ)) as (address, process):
        raced = Raced(f"Potato {version}", _durability(programs))
        raced.import_seconds = time.perf_counter() - begun
        asyncio.run(_race(raced, address, process))
    begun = time.perf_counter()
    asked = ["--config", "config.yaml", "--format", "jsonl", "--output", "exported"]
    subprocess.run(
        [str(programs / "python"), "-m", "potato.export", *asked], cwd=place, check=True, capture_output=True
    )
    raced.export_seconds = time.perf_counter() - begun
    raced.exported = sum(len(path.read_text("utf-8").splitlines()) for path in (place / "exported").rglob("*.jsonl"))
    return raced


def _write(place: Path, items: Sequence[Item]) -> None:
    """JSON is YAML too."""
    rows = [{"id": item.item, "text": f"<h1>{item.title}</h1>{item.body}"} for item in items]
    (place / "items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    scheme = {"annotation_type": "radio", "name": FACET, "description": QUESTION, "labels": list(ANSWERS)}
    config = {
        "annotation_task_name": "race",
        "task_dir": ".",
        "output_annotation_dir": "output",
        "data_files": ["items.jsonl"],
        "item_properties": {"id_key": "id", "text_key": "text"},
        "require_password": False,
        "user_config": {"allow_all_users": True, "users": []},
        "annotation_schemes": [scheme],
    }
    (place / "config.yaml").write_text(json.dumps(config), "utf-8")


def _durability(programs: Path) -> str:
    """Read from its source: what happens between a save and its answer."""
    source = next(programs.parent.glob("lib/python*/site-packages/potato/user_state_management.py")).read_text("utf-8")
    saving = [part.split("\n    def ")[0] for part in source.split("    def save(self, user_dir: str)")[1:]]
    synced = bool(saving) and all("os.fsync(outf.fileno())" in part for part in saving)
    if not synced:
        return "not durable: the file of a user is written without fsync"
    return "durable but for the rename: a user's whole file is written anew and fsynced, its folder is not"


async def _race(raced: Raced, address: str, process: psutil.Process) -> None:
    await race(raced, [await _joined(address, number) for number in range(1, RATERS + 1)], process)


async def _joined(address: str, number: int) -> _Rater:
    client = Client(address)
    expect(await client.form("/auth", {"email": f"rater-{number}", "pass": ""}), 302)
    return _Rater(client, number)


class _Rater:
    """A user with a page: the first is asked for, each later one is the answer to "next"."""

    def __init__(self, client: Client, number: int) -> None:
        self._client = client
        self._chance = random.Random(number)
        self._item = ""

    async def next(self) -> str:
        if not self._item:
            answer = await self._client.get("/annotate")
        else:
            body = json.dumps({"action": "next_instance", "instance_id": self._item}).encode()
            answer = await self._client.ask("POST", "/annotate", body, JSON)
        found = _INSTANCE.search(expect(answer, 200).text)
        if found is None or found[1] == self._item:
            raise SystemExit(f"Potato shows no next item: {answer.text[:300]}")
        self._item = found[1]
        return self._item

    async def save(self, item: str) -> None:
        chosen = self._chance.choice(ANSWERS)
        body = json.dumps({"instance_id": item, "annotations": {f"{FACET}:::{chosen}": chosen}}).encode()
        answer = expect(await self._client.ask("POST", "/updateinstance", body, JSON), 200)
        if json.loads(answer.body).get("status") != "success":
            raise SystemExit(f"Potato did not save: {answer.text[:300]}")
