"""Compare phrases proposed from titles with those of raters and with a first-verb baseline."""

from __future__ import annotations

import argparse
import csv
import statistics
import time
from collections.abc import Callable
from pathlib import Path

from tests.support.paths import SHARED
from tests.support.phrase_scoring import (
    Labelled,
    Score,
    exactly,
    first_verb,
    is_for_tuning,
    labelled,
    leniently_object,
    leniently_verb,
    score,
)

from quaestor.coding.model.phrase_proposals.proposal import PhraseProposal, propose

POSTS = SHARED / "data" / "dl-posts" / "open.csv"
ROUNDS = 5

Propose = Callable[[str], PhraseProposal | None]


def plain(title: str) -> PhraseProposal | None:
    """Only the proposals that are marked as plain."""
    proposal = propose(title)
    return proposal if proposal and proposal.certainty == "plain" else None


MATCHING = {"exact": (exactly, exactly), "lenient": (leniently_verb, leniently_object)}
WAYS: dict[str, Propose] = {"first verb": first_verb, "propose": propose, "propose, plain": plain}


def main(folder: Path, options: argparse.Namespace) -> None:
    if not POSTS.exists():
        print("skipped: the labelled posts ../shared/data/dl-posts/open.csv are not here")
        return
    with POSTS.open(encoding="utf-8", newline="") as file:
        posts = [labelled(row["id"], row["title"], row["label"]) for row in csv.DictReader(file)]
    tuning = [post for post in posts if is_for_tuning(post.item)]
    held_out = [post for post in posts if not is_for_tuning(post.item)]
    print("| half | matching | way | coverage | P verb | P object | P both | R verb | R object | R both |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for half, items in (("tuning", tuning), ("held out", held_out)):
        for matching, judges in MATCHING.items():
            for name, way in WAYS.items():
                print(_line(half, matching, name, score(items, way, *judges)))
    print(
        f"{len(tuning)} posts for tuning, {len(held_out)} held out; {_titles_per_second(posts):,.0f} titles per second"
    )


def _line(half: str, matching: str, way: str, found: Score) -> str:
    correct = (found.verbs, found.objects, found.both)
    shares = (found.coverage, *map(found.precision, correct), *map(found.recall, correct))
    return " | ".join(["", half, matching, way, *(f"{share:.2f}" for share in shares), ""]).strip()


def _titles_per_second(posts: list[Labelled]) -> float:
    speeds = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        for post in posts:
            propose(post.title)
        speeds.append(len(posts) / (time.perf_counter() - started))
    return statistics.median(speeds)
