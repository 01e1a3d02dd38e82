"""Interviews: open, code and save in a transcript of 50,000 words with 2,000 codings, by server and in a browser."""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import shutil
from pathlib import Path
from typing import Any

from benchmarks.desk import row, shares
from benchmarks.desk_client import JSON, Client, csrf_in
from benchmarks.desk_study import Serving, joined, serving
from quaestor.coding.codebook import import_codebook
from quaestor.coding.rating_files import rate
from quaestor.coding.round_acts import open_by_name
from quaestor.coding.round_setup import add_round
from quaestor.coding.session import open_coding
from quaestor.evidence.funnel import run_funnel
from quaestor.evidence.ingest import ingest_source
from quaestor.interviews.items import SOURCE, STEP, make_items
from quaestor.interviews.pages.coding_sheet import split_pages
from quaestor.interviews.participants.consent import put_consent_form_in_force, record_consent
from quaestor.interviews.participants.people import add_participant
from quaestor.interviews.repository import open_interviews
from quaestor.interviews.transcripts.import_file import import_bytes
from quaestor.people.membership import invite
from quaestor.people.roles import Role
from quaestor.store.records import new_key
from quaestor.study.folder import Study, open_study
from quaestor.study.templates import template_folder

WORDS, CODINGS, BAR = 50_000, 2_000, 100
OPENED, SAVED, IN_BROWSER = 200, 300, 60
ROUND, RATERS, SEED = "main", ("rater-1", "rater-2"), 7
_STUDY = """[study]
name = "interviews"
seed = 7

[facets.themes]
kind = "stretches"
codes = "themes"
fields.indicator = ["what", "threshold"]
"""
_STOCK = """
first we look at the data and then the model is designed trained checked and shipped by whoever has time for it when
shapes do not match you see it at once but a loss that never falls tells you nothing for two days so the framework
should say what is wrong and where instead of printing numbers that nobody can read
"""


def main(folder: Path, options: argparse.Namespace) -> None:
    study = _made(folder / "interviews")
    with open_interviews(study) as interviews:
        transcript = interviews.transcripts()[0]
        words = sum(len(turn.text.split()) for turn in transcript.turns)
        pages = len(split_pages(transcript))
    print(f"{words:,} words in {len(transcript.turns):,} turns, {CODINGS:,} codings a rater, {pages} pages")
    print("\n| one transcript | median | 95th percentile | bar |\n| --- | --- | --- | --- |")
    with serving(study) as desk:
        asyncio.run(_by_server(desk, study, pages))
        _in_browser(desk, study, pages)


def _made(place: Path) -> Study:
    """One long conversation by the bundled guide, coded by two raters through the front door."""
    shutil.rmtree(place, ignore_errors=True)
    bundled = template_folder("dl-framework-interviews")
    shutil.copytree(bundled / "instruments", place / "instruments")
    shutil.copy(bundled / "codebook.toml", place / "codebook.toml")
    (place / "study.toml").write_text(_STUDY, "utf-8")
    (place / "talk.txt").write_text(_talk(random.Random(SEED)), "utf-8")
    study = open_study(place)
    with open_interviews(study) as interviews:
        put_consent_form_in_force(interviews)
        who = add_participant(interviews, synthetic=True).pseudonym
        record_consent(interviews, who, "accepted", "spoken")
        name = interviews.plan(who, "guide", interviews.coding.lead).id
        import_bytes(interviews, name, (place / "talk.txt").read_bytes(), "talk.txt")
        make_items(interviews)
    study = open_study(place)
    ingest_source(study, SOURCE)
    run_funnel(study)
    add_round(study, {"round": ROUND, "items": {"after": STEP}, "facets": ["themes"], "raters": list(RATERS)})
    study = open_study(place)
    import_codebook(study)
    open_by_name(study, ROUND, None)
    _code(study)
    return study


def _talk(dice: random.Random) -> str:
    lines, words, stock = [], 0, _STOCK.split()
    while words < WORDS:
        for speaker, size in (("Interviewer", dice.randint(5, 15)), ("Participant", dice.randint(60, 120))):
            said = [dice.choice(stock) for _ in range(size)]
            lines.append(f"{speaker}: {' '.join(said)}.")
            words += size
    return "\n".join(lines)


def _code(study: Study) -> None:
    """Every turn read, with stretches that overlap now and then."""
    with open_coding(study) as coding:
        items = coding.state.round(ROUND).plan.items
        codes = [code.id for code in coding.state.history.latest.active("themes", "code")]
        for rater in RATERS:
            dice = random.Random(f"{SEED}/{rater}")
            places: dict[str, list[dict[str, Any]]] = {item: [] for item in items}
            for _ in range(CODINGS):
                start = dice.randint(0, 200)
                one = {"start": start, "end": start + dice.randint(10, 120), "code": dice.choice(codes)}
                places[dice.choice(items)].append(one)
            for item, stretches in places.items():
                rate(coding, ROUND, rater, item, {"themes": stretches})


# By server


async def _by_server(desk: Serving, study: Study, pages: int) -> None:
    client = await joined(desk, f"/join/{invite(study, RATERS[0], Role.RATER)[0]}")
    dice = random.Random(SEED)
    shown = [await client.get(f"/rounds/{ROUND}/code/P1?page={page}") for page in range(1, pages + 1)]
    held = {turn: stretches for page in shown for turn, stretches in _stretches_in(page.text).items()}
    with shares(desk.process) as share:
        opened = [await client.get(f"/rounds/{ROUND}/code/P1?page={dice.randint(1, pages)}") for _ in range(OPENED)]
        saved = [await _saved(client, csrf_in(shown[0].text), held, dice) for _ in range(SAVED)]
    row("server: a page opened", [one.seconds for one in opened], BAR)
    row("server: a stretch saved, on the disk", saved, BAR)
    largest = max(len(one.body) for one in opened)
    print(f"\nlargest page {largest / 1e3:.0f} kB   {share}\n")
    print("| in a browser | median | 95th percentile | bar |\n| --- | --- | --- | --- |")


def _stretches_in(page: str) -> dict[str, list[dict[str, Any]]]:
    """By turn what a page knows of it, as its script reads it."""
    found: dict[str, list[dict[str, Any]]] = json.loads(page.partition('id="stretches">')[2].partition("</script>")[0])
    return found


async def _saved(client: Client, csrf: str, held: dict[str, list[dict[str, Any]]], dice: random.Random) -> float:
    """One more stretch in a turn and one less, sent as the page's script sends it: with all else that the turn has."""
    turn = dice.choice(list(held))
    start = dice.randint(0, 200)
    held[turn] = [*held[turn][1:], {"start": start, "end": start + 20, "code": "dataset"}]
    body = json.dumps({"key": new_key(), "turn": int(turn), "stretches": held[turn]}).encode()
    answer = await client.ask(
        "POST", f"/rounds/{ROUND}/code/P1/turns", body, JSON, {"Origin": client.origin, "X-CSRF-Token": csrf}
    )
    if answer.status != 200:
        raise SystemExit(f"a stretch was answered with {answer.status}: {answer.text[:300]}")
    return answer.seconds


# In a browser

_KEYED = """(turn) => new Promise((done) => {
  const spoken = document.querySelector(`#turn-${turn} .spoken`);
  const saved = document.getElementById("saved");
  spoken.focus({ preventScroll: true });
  const press = (key, more) => spoken.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, ...more }));
  press("ArrowRight");
  const started = performance.now();
  press("v");
  const coded = performance.now() - started;
  if (saved.textContent === "All saved") throw new Error("nothing was sent");
  const observer = new MutationObserver(() => {
    if (saved.textContent !== "All saved") return;
    observer.disconnect();
    done([coded, performance.now() - started]);
  });
  observer.observe(saved, { childList: true, characterData: true, subtree: true });
})"""
_LOADED = "performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd"
_PRESSED = """document.addEventListener("DOMContentLoaded", () => {
  const spoken = document.querySelector(".turn.own .spoken[tabindex]");
  if (!spoken) return;
  spoken.focus({ preventScroll: true });
  spoken.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
  if (document.getSelection().toString()) globalThis.keysWorkedAt = performance.now();
})"""
"""The first key on a page, as early as anybody can press one: what counts is that it selected a word."""
_READY = """() => new Promise((done, fail) => {
  const look = () => {
    if (globalThis.keysWorkedAt) done(globalThis.keysWorkedAt);
    else if (performance.getEntriesByType("navigation")[0].domContentLoadedEventEnd) fail(new Error("no key works"));
    else setTimeout(look, 5);
  };
  look();
})"""


def _in_browser(desk: Serving, study: Study, pages: int) -> None:
    from playwright.sync_api import sync_playwright
    from tests.support.browser import FLAGS, find_browser

    path = find_browser()
    if path is None:
        print("no Chromium on this machine: the page was not measured in a browser")
        return
    dice = random.Random(SEED)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        page = browser.new_page()
        page.goto(f"{desk.address}/join/{invite(study, RATERS[1], Role.RATER)[0]}")
        for label in ("Choose a password", "Repeat password"):
            page.get_by_label(label).fill("a few plain words")
        page.get_by_role("button", name="Join").click()
        page.wait_for_url(lambda address: "/join/" not in address)
        page.add_init_script(_PRESSED)
        nothing, opened, coded, saved = [], [], [], []
        used: set[str] = set()
        for _ in range(IN_BROWSER):
            page.goto(f"{desk.address}/health")
            nothing.append(page.evaluate(_LOADED) / 1e3)
            page.goto(f"{desk.address}/rounds/{ROUND}/code/P1?page={dice.randint(1, pages)}", wait_until="commit")
            opened.append(page.evaluate(_READY) / 1e3)
            turns = page.locator(".turn.own").evaluate_all("all => all.map((one) => one.dataset.turn)")
            turn = next(one for one in turns if one not in used)
            used.add(turn)
            made = page.evaluate(_KEYED, turn)
            coded.append(made[0] / 1e3)
            saved.append(made[1] / 1e3)
        browser.close()
    row("beside it, what this browser takes for an answer of two words", nothing)
    row("a page asked for, until a key has selected a word in it", opened, BAR)
    row("a key, until the stretch is drawn", coded, BAR)
    row("a key, until the stretch is on the server's disk", saved, BAR)
