"""Respondents withdraw while other programs read the same files: what the page says about their words must be true.

python -m tests.campaigns.read_during_withdrawal [--withdrawals 40] [--seed 1]
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path

from starlette.testclient import TestClient
from tests.support.answering import asking, begun, send, sent_again
from tests.support.desk import browser
from tests.support.reading_elsewhere import files_with, read_elsewhere
from tests.support.small_survey import FORMS

NOTHING_LEFT = "Nothing of what you sent is left here"


@dataclass(frozen=True)
class Withdrawals:
    """How many people withdrew, how many of them while another program read, and how often the page was wrong."""

    tried: int
    while_reading: int
    untrue: int
    """Pages that said that nothing is left although words were found in a file."""
    left_at_the_end: int
    """People whose words were still found after every reader had gone and the desk had written again."""

    @property
    def succeeded(self) -> bool:
        return self.untrue > 0 or self.left_at_the_end > 0


def withdraw_among_readers(folder: Path, withdrawals: int, seed: int) -> Withdrawals:
    """Answer and withdraw again and again, half of the time with a reader on the file of answers."""
    chance = random.Random(seed)
    people = [f"zebra-words-{number}-of-{seed}" for number in range(withdrawals)]
    while_reading = untrue = 0
    with asking(folder) as app, closing(browser(app)) as visitor:
        for words in people:
            link = _answer(visitor, words)
            with ExitStack() as stack:
                if chance.random() < 0.5:
                    stack.enter_context(read_elsewhere(folder / "answers.db"))
                    while_reading += 1
                page = sent_again(visitor, f"{link}/withdraw", {}, {}).text
                untrue += NOTHING_LEFT in page and bool(files_with(folder, words))
        _answer(visitor, "the next page that is written")
        left = sum(bool(files_with(folder, words)) for words in people)
    return Withdrawals(withdrawals, while_reading, untrue, left)


def _answer(visitor: TestClient, words: str) -> str:
    link = begun(visitor)
    send(visitor, link, FORMS["consent"])
    send(visitor, link, {**FORMS["you"], "q.role.other.text": [words]})
    return link


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--withdrawals", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = withdraw_among_readers(Path(folder) / "study", options.withdrawals, options.seed)
    print(
        f"{found.tried} withdrawals, {found.while_reading} of them while another program read: "
        f"{found.untrue} untrue pages, words of {found.left_at_the_end} people left at the end"
    )
    return 1 if found.succeeded else 0


if __name__ == "__main__":
    sys.exit(main())
