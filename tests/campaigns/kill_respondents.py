"""Kill the process that takes answers at random moments; every page it acknowledged must be there, once and whole.

python -m tests.campaigns.kill_respondents [--kills 1000] [--seed 1]
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import threading
import time
from collections import Counter
from functools import partial
from pathlib import Path

from tests.campaigns.short_lives import Tally, acknowledged_until_killed

from quaestor.surveys.model.records import ResponseStatus
from quaestor.surveys.store.answers import AnswerFile
from quaestor.surveys.store.page_submission import PageSubmission

LONGEST = 0.03
"""Seconds a process lives after its first acknowledgement, at most."""
RESPONDENTS = 4
PAGES = 3


def kill_respondents(path: Path, kills: int, seed: int) -> Tally:
    """Start a process in which several people answer, kill it, and again; then compare."""
    with AnswerFile(path) as answers:
        answers.add_version("s", "text", "2026-01-01")
    acknowledged = acknowledged_until_killed(partial(_answer_for_ever, path), kills, seed, LONGEST)
    return _compare(path, kills, acknowledged)


def _answer_for_ever(path: Path, life: int, pipe: int) -> None:
    with AnswerFile(path) as answers:
        people = [
            threading.Thread(target=_answer, args=(answers, f"{life}.{number}", pipe)) for number in range(RESPONDENTS)
        ]
        for person in people:
            person.start()
        for person in people:
            person.join()


def _answer(answers: AnswerFile, person: str, pipe: int) -> None:
    """One response after the other, each page sent twice as by an impatient hand; told once the disk has it."""
    for turn in range(1_000_000):
        code = f"{person}.{turn}"
        answers.begin("s", 1, code, "2026-01-01")
        for page in range(PAGES):
            key = f"{code}.{page}"
            said = {f"q{page}.{part}": {"text": key} for part in range(2)}
            standing = ResponseStatus.FINISHED if page == PAGES - 1 else ResponseStatus.OPEN
            for _ in range(2):
                answers.save(PageSubmission(code, str(page), said, key, standing, 1.0))
                os.write(pipe, f"{key}\n".encode())


def _compare(path: Path, kills: int, acknowledged: list[str]) -> Tally:
    found: Counter[str] = Counter()
    halved = 0
    with AnswerFile(path) as answers:
        for response in answers.responses("s"):
            journal = answers.journal(response.id)
            found.update(said[f"q{page}.0"]["text"] for _, page, said in journal)
            latest = {question: answer for _, _, said in journal for question, answer in said.items()}
            pages = tuple(page for _, page, _ in journal)
            halved += (dict(response.answers), response.sent, response.seconds) != (latest, pages, float(len(pages)))
            halved += (response.standing is ResponseStatus.FINISHED) != (len(pages) == PAGES)
    return Tally(
        kills,
        acknowledged=len(set(acknowledged)),
        on_record=len(found),
        lost=sum(key not in found for key in set(acknowledged)),
        doubled=sum(count - 1 for count in found.values()),
        halved=halved,
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        tally = kill_respondents(Path(folder) / "answers.db", options.kills, options.seed)
    print(
        f"answers: {tally.kills:,} kills in {time.monotonic() - begun:.0f} s; "
        f"{tally.acknowledged:,} pages acknowledged, {tally.on_record:,} on record: "
        f"{tally.lost} lost, {tally.doubled} doubled, {tally.halved} by halves"
    )
    return 0 if tally.clean else 1


if __name__ == "__main__":
    sys.exit(main())
