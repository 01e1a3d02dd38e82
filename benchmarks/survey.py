"""Surveys: durable page saves with 200 respondents at once, what a kill leaves; results and flags over 100,000."""

from __future__ import annotations

import argparse
import asyncio
import shutil
import sqlite3
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks.desk import DISTURBED, TRIES, Share, row, shares
from benchmarks.desk_raters import lasting
from benchmarks.desk_study import Serving, joined, serving
from benchmarks.survey_respondents import Log, Walker, many_respondents
from quaestor.store.records import new_key
from quaestor.study.folder import Study, open_study
from quaestor.study.templates import template_folder
from quaestor.surveys.flags import flag_responses
from quaestor.surveys.lifecycle import answers_path, open_survey, open_surveys
from quaestor.surveys.model.records import Questionnaire, Response, ResponseStatus
from quaestor.surveys.store.answers import AnswerFile
from quaestor.surveys.store.responses import new_code, new_id

RESPONDENTS, SECONDS, SAVE_BAR = 200, 15.0, 200
PACE, PAGE_BAR = 100, 300
"""Pages a second when everybody takes two seconds for one, and how long a page may then take to be saved."""
BURSTS = 20
RESPONSES, TOGETHER, RESULTS_BAR, FLAGS_BAR = 100_000, 5_000, 2.0, 3.0
SURVEY, BUNDLED = "onnx", template_folder("onnx-interoperability") / "instruments" / "fielded.toml"
_STUDY = '[study]\nname = "survey"\nseed = 5\n'


def main(folder: Path, options: argparse.Namespace) -> None:
    _answering(folder)
    _results(folder)


def _made(folder: Path, name: str) -> tuple[Study, Questionnaire]:
    """A study with one public open survey."""
    place = folder / name
    shutil.rmtree(place, ignore_errors=True)
    (place / "instruments").mkdir(parents=True)
    (place / "study.toml").write_text(_STUDY, "utf-8")
    text = BUNDLED.read_text("utf-8").replace("by_invitation = true", "by_invitation = false")
    (place / "instruments" / f"{SURVEY}.toml").write_text(text, "utf-8")
    study = open_study(place)
    with open_surveys(study) as surveys:
        open_survey(surveys, SURVEY)
        return study, surveys.questionnaire(SURVEY)


# Answering


def _answering(folder: Path) -> None:
    study, asked = _made(folder, "survey")
    print(f"{RESPONDENTS} respondents at once, {len(asked.pages)} pages each, {len(list(asked.questions()))} questions")
    whole = Log()
    with serving(study) as desk:
        asyncio.run(_measure(desk, asked, whole))
    _compare(study, whole)


async def _measure(desk: Serving, asked: Questionnaire, whole: Log) -> None:
    waiting = many_respondents(asked, seed=5)
    walkers = [Walker(desk.address, SURVEY, asked, waiting) for _ in range(RESPONDENTS)]
    print(f"\n| {RESPONDENTS} respondents at once | median | 95th percentile | bar |")
    print("| --- | --- | --- | --- |")
    notes = [
        await _all_at_once(desk, walkers, whole),
        await _flat_out(desk, walkers, whole),
        await _at_a_pace(desk, walkers, whole),
    ]
    print("\n" + "\n".join(notes))
    print(f"memory of the server: {desk.process.memory_info().rss / 1e6:.0f} MB")
    await _until_killed(desk, walkers, whole)


async def _all_at_once(desk: Serving, walkers: Sequence[Walker], whole: Log) -> str:
    """Everybody has a page before them and sends it at the same moment; loading the next ones is not counted."""
    log, spent = Log(), 0.0
    with shares(desk.process) as share:
        for _ in range(BURSTS):
            await asyncio.gather(*(walker.load(log) for walker in walkers))
            started = time.perf_counter()
            await asyncio.gather(*(_sent(walker, log) for walker in walkers))
            spent += time.perf_counter() - started
    _add(whole, log)
    row(f"{RESPONDENTS} pages sent at the same moment: page saved", log.saved)
    rate = len(log.saved) / spent
    return f"sent at the same moment: {rate:,.0f} durable page saves a second   bar ≥ {SAVE_BAR}   {share}"


async def _sent(walker: Walker, log: Log) -> None:
    started = time.perf_counter()
    await walker.send(log)
    log.saved.append(time.perf_counter() - started)


async def _flat_out(desk: Serving, walkers: Sequence[Walker], whole: Log) -> str:
    log, share, tries = await _calmest(desk, walkers, whole)
    row("without a pause: page saved", log.saved)
    row("without a pause: page saved, next page loaded", log.next_in_hand)
    rate = len(log.saved) / share.seconds
    loaded = f"each with its next page, and {log.begun / share.seconds:,.0f} begun"
    return f"without a pause: {rate:,.0f} durable page saves a second, {loaded}   {share}{tries}"


async def _at_a_pace(desk: Serving, walkers: Sequence[Walker], whole: Log) -> str:
    log, share, tries = await _calmest(desk, walkers, whole, RESPONDENTS / PACE)
    row(f"at {PACE} a second: page saved", log.saved, PAGE_BAR)
    row(f"at {PACE} a second: page saved, next page loaded", log.next_in_hand)
    return f"at a pace of {PACE}: {len(log.saved) / share.seconds:,.0f} durable page saves a second   {share}{tries}"


async def _calmest(desk: Serving, walkers: Sequence[Walker], whole: Log, every: float = 0.0) -> tuple[Log, Share, str]:
    """The time in which the host took the least away from this machine, of at most so many."""
    measured: list[tuple[Log, Share]] = []
    while len(measured) < TRIES and not any(share.stolen <= DISTURBED for _, share in measured):
        log = Log()
        with shares(desk.process) as share:
            going = lasting(SECONDS)
            steps = (walker.walk(log, going, every, every * at / len(walkers)) for at, walker in enumerate(walkers))
            await asyncio.gather(*steps)
        measured.append((log, share))
        _add(whole, log)
    best = min(measured, key=lambda one: one[1].stolen)
    stolen = ", ".join(f"{one.stolen:.0%}" for _, one in measured)
    return *best, f"; the calmest of {len(measured)} (stolen: {stolen})" if len(measured) > 1 else ""


async def _until_killed(desk: Serving, walkers: Sequence[Walker], whole: Log) -> None:
    """The server dies by `kill -9` while everybody answers."""
    log = Log()
    walking = [asyncio.create_task(walker.walk(log, lambda: True)) for walker in walkers]
    while len(log.acknowledged) < 2 * RESPONDENTS and not any(task.done() for task in walking):
        await asyncio.sleep(0.01)
    desk.process.kill()
    for end in await asyncio.gather(*walking, return_exceptions=True):
        if not isinstance(end, OSError | asyncio.IncompleteReadError):
            raise SystemExit(f"a respondent noticed nothing of the end of the server: {end!r}")
    _add(whole, log)


def _add(whole: Log, log: Log) -> None:
    whole.sent |= log.sent
    whole.acknowledged |= log.acknowledged
    whole.finished |= log.finished


def _compare(study: Study, log: Log) -> None:
    """Compare the answers file with acknowledged pages: none lost, duplicated or invented."""
    with AnswerFile(answers_path(study)) as answers:
        found = {code: answers.find(code) for code in {said.code for said in log.sent.values()}}
    with closing(sqlite3.connect(answers_path(study))) as reading:
        saves = reading.execute("SELECT key, response, page FROM saves").fetchall()
    kept = {key: (response, page) for key, response, page in saves}
    ids = {code: one.id if one else "" for code, one in found.items()}
    lost = [key for key in log.acknowledged if key not in kept]
    wrong = [
        key
        for key, said in log.acknowledged.items()
        if kept.get(key, (ids[said.code], said.page)) != (ids[said.code], said.page)
    ]
    twice = [key for key, number in Counter(key for key, _, _ in saves).items() if number > 1]
    unknown = [key for key in kept if key not in log.sent]
    other = [code for code, one in log.finished.items() if not _is_same(found[code], one.answers)]
    if lost or wrong or twice or unknown or other:
        raise SystemExit(
            f"THE ANSWERS DIFFER: {len(lost)} acknowledged pages lost, {len(wrong)} belong to somebody else, "
            f"{len(twice)} are there twice, {len(unknown)} were sent by nobody, {len(other)} responses are others"
        )
    print(
        f"killed by `kill -9` while all answered: all {len(log.acknowledged):,} acknowledged pages are on record, each "
        f"once ({len(kept) - len(log.acknowledged)} more were recorded and not yet acknowledged); "
        f"all {len(log.finished):,} finished responses say what was sent"
    )


def _is_same(response: Response | None, answers: Any) -> bool:
    if response is None or response.standing is not ResponseStatus.FINISHED:
        return False
    return {name: said for name, said in response.answers.items() if said and not name.startswith("_")} == dict(answers)


# Results


def _results(folder: Path) -> None:
    study, asked = _made(folder, "survey-results")
    started = time.perf_counter()
    _fill(study, asked)
    print(f"\n{RESPONSES:,} responses put in as an import does it: {time.perf_counter() - started:.1f} s")
    _flags(study)
    with serving(study) as desk:
        asyncio.run(_look(desk, asked))


def _flags(study: Study) -> None:
    with open_surveys(study) as surveys:
        started, spent = time.perf_counter(), time.process_time()
        found = flag_responses(surveys, SURVEY)
        spent, started = time.process_time() - spent, time.perf_counter() - started
    print(
        f"flags over {RESPONSES:,} responses, {len(found):,} found: {started:.2f} s, {spent:.2f} s of a processor"
        f"   bar ≤ {FLAGS_BAR:g} s of a processor"
    )


def _fill(study: Study, asked: Questionnaire) -> None:
    drawn = many_respondents(asked, seed=6)
    pages = tuple(page.id for page in asked.pages)
    with AnswerFile(answers_path(study)) as answers:
        for _ in range(RESPONSES // TOGETHER):
            answers.add(
                [
                    (
                        new_code(),
                        Response(
                            new_id(), SURVEY, 1, ResponseStatus.FINISHED, one.answers,
                            seconds=sum(one.seconds.values()), sent=pages, day="2026-01-01", synthetic=True,
                        ),
                        [(pages[-1], one.answers, new_key())],
                    )
                    for one in islice(drawn, TOGETHER)
                ]
            )  # fmt: skip


async def _look(desk: Serving, asked: Questionnaire) -> None:
    lead = await joined(desk, desk.lead_link)
    path = f"/surveys/{SURVEY}/results"
    first = await lead.get(path)
    if first.status != 200:
        print(f"{path} is answered with {first.status}: nothing to measure")
        return
    again = await lead.get(path)
    log, walker = Log(), Walker(desk.address, SURVEY, asked, many_respondents(asked, seed=7))
    await walker.walk(log, lambda: not log.finished)
    changed = await lead.get(path)
    print(
        f"results over {RESPONSES:,} responses: first load {first.seconds:.2f} s, again {again.seconds:.2f} s, "
        f"after one more {changed.seconds:.2f} s   bar < {RESULTS_BAR:g} s   ({len(first.body) / 1e3:.0f} kB)"
    )
    if f"{RESPONSES + 1:,}" not in changed.text:
        raise SystemExit("THE RESULTS DO NOT COUNT the response that came last")
    print(f"memory of the server: {desk.process.memory_info().rss / 1e6:.0f} MB")
