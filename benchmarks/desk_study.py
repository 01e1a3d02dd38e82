"""Create a study of any size with an open round through the public interface, and serve it in a subprocess."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from benchmarks.desk_client import Client, csrf_in, wait_until_there
from benchmarks.measure import run
from quaestor import __version__
from quaestor.people.membership import invite
from quaestor.people.roles import Role
from quaestor.study.folder import Study, open_study

QUAESTOR = str(Path(sys.executable).with_name("quaestor"))
ROUND, FACET, QUESTION = "main", "relevance", "Does the post ask how to implement something?"
REASONS = ("program crash", "training anomaly", "model deployment", "comprehension", "installation", "performance")
_PASSWORD = "a few plain words"  # noqa: S105 - of accounts that live as long as the race
_POSTS_AN_ITEM = 2.6
"""Four posts in ten of a synthetic dump are questions, nineteen questions in twenty are open."""
_SETTINGS = """
[study]
name = "desk"
seed = 5

[sources.stackoverflow]
kind = "stackexchange"
path = "dump"
site = "stackoverflow"

[[funnel.steps]]
step = "not closed"
closed = false

[samples.all]
after = "not closed"
size = {items}

[facets.{facet}]
kind = "keep"
question = "{question}"
reasons = {reasons}

[[rounds]]
round = "{round}"
items = {{ sample = "all" }}
facets = ["{facet}"]
raters = {raters}
instructions = "Read the title and the question, then decide."
"""


@dataclass(frozen=True)
class RoundStudy:
    """A study whose round is open, and what it took from the dump to the open round."""

    study: Study
    items: int
    raters: tuple[str, ...]
    import_seconds: float


@dataclass(frozen=True)
class Serving:
    """A desk that answers."""

    address: str
    process: psutil.Process
    lead_link: str


def make(folder: Path, items: int, raters: int) -> RoundStudy:
    """The study with nobody in it and nothing rated; its dump is kept from run to run."""
    names = tuple(f"rater-{number}" for number in range(1, raters + 1))
    settings = _SETTINGS.format(
        items=items, facet=FACET, question=QUESTION, round=ROUND, reasons=json.dumps(REASONS), raters=json.dumps(names)
    )
    made_of = hashlib.sha256(f"{__version__} {_POSTS_AN_ITEM} {settings}".encode()).hexdigest()[:8]
    place = folder / f"desk-{items}-{made_of}"
    place.mkdir(exist_ok=True)
    (place / "study.toml").write_text(settings, "utf-8")
    if not (place / "dump" / "truth.json").exists():
        posts = ["--posts", str(int(items * _POSTS_AN_ITEM)), "--seed", "5", "--only-posts", "--json"]
        run([QUAESTOR, "synth", "stackexchange", str(place / "dump"), *posts])
    for name in ("study.db*", "people.db*"):
        for path in place.glob(name):
            path.unlink()
    shutil.rmtree(place / "evidence", ignore_errors=True)
    at = ["--study", str(place), "--json"]
    started = time.perf_counter()
    run([QUAESTOR, "ingest", *at])
    run([QUAESTOR, "funnel", *at])
    opened = run([QUAESTOR, "round", "open", ROUND, *at]).output
    spent = time.perf_counter() - started
    if opened["items"] != items:
        raise SystemExit(f"the round has {opened['items']:,} items, {items:,} were wanted")
    return RoundStudy(open_study(place), items, names, spent)


@contextmanager
def serving(study: Study) -> Iterator[Serving]:
    """Run `quaestor serve` until `kill -9`: every acknowledged act must still be recorded."""
    command = [QUAESTOR, "serve", "--study", str(study.root), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            told = server.stdout.readline() + server.stdout.readline()
            address, link = re.search(r"at (http://\S+)", told), re.search(r"Open http://[^/]+(/join/\S+)", told)
            if address is None or link is None:
                raise SystemExit(f"the desk did not say where it is: {told}")
            wait_until_there(address[1].rstrip("/"), "/health", server)
            yield Serving(address[1].rstrip("/"), psutil.Process(server.pid), link[1])
        finally:
            server.kill()


async def joined(desk: Serving, path: str) -> Client:
    """Somebody who followed a link and chose a password, as a browser does it."""
    client = Client(desk.address)
    page = await client.get(path)
    fields = {"csrf": csrf_in(page.text), "password": _PASSWORD, "again": _PASSWORD}
    answer = await client.form(path, fields)
    if answer.status != 303:
        raise SystemExit(f"{path} was answered with {answer.status}: {answer.text[:500]}")
    return client


async def all_joined(desk: Serving, made: RoundStudy) -> Sequence[Client]:
    """A client for each rater."""
    links = [f"/join/{invite(made.study, name, Role.RATER)[0]}" for name in made.raters]
    return await asyncio.gather(*(joined(desk, link) for link in links))
