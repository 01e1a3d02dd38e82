"""Random sequences of acts on rounds: every published count equals a naive recount from the stored acts.

The recount below reads the journal's rows and shares no function with the package.
"""

from __future__ import annotations

import json
import random
import shutil
import sqlite3
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.support.made_once import study_of
from tests.support.sequences import PARTS, iterate_sequences

from quaestor.base.errors import QuaestorError
from quaestor.coding.agreement import compute_round_agreement
from quaestor.coding.codebook import change_codebook, import_codebook
from quaestor.coding.disagreements import assent_to_proposal, settle_agreed, settle_item
from quaestor.coding.model.decisions import find_undecided
from quaestor.coding.pages.codebook.code_detail import collect_uses, count_items
from quaestor.coding.rating_files import rate
from quaestor.coding.round_acts import close_by_name, open_by_name, reopen_by_name, replace_by_name
from quaestor.coding.session import CodingSession, open_coding
from quaestor.publication.publication import compute_publication, open_computed
from quaestor.study.folder import Study, open_study

ITEMS = [f"forum/question/{number}" for number in range(11, 17)]
RATERS = ("rater-1", "rater-2")
CODES = ("setting", "training", "training/loss")
STUDY = """
[study]
name = "own"
lead = "lead"

[sources.sheet]
kind = "table"
path = "posts.csv"
item = "forum/question/{id}"
columns.id = { type = "whole" }
columns.title = {}

[[funnel.steps]]
step = "all"
where = "title.contains('how')"

[facets.relevance]
kind = "keep"

[facets.topic]
kind = "single"
codes = "issue"
required = false

[[rounds]]
round = "main"
items = { after = "all" }
facets = ["relevance", "topic"]
raters = ["rater-1", "rater-2"]

[[rounds]]
round = "again"
items = { after = "all" }
facets = ["relevance"]
raters = ["rater-1", "rater-2"]

[results]
code = "main.topic"

[[tables]]
table = "1"
title = "Topics"
rows = ["topic"]
"""
CODEBOOK = """
[[facet]]
id = "issue"
levels = ["topic", "part"]

[[code]]
id = "setting"
facet = "issue"
name = "Setting"

[[code]]
id = "training"
facet = "issue"
name = "Training"

[[code]]
id = "training/loss"
facet = "issue"
parent = "training"
name = "loss"
"""


ALWAYS, IF_KEPT = "required = false", 'ask_if = { relevance = "keep" }'
"""The topic is asked about every item and optional, or asked and required where the relevance is keep."""


@pytest.fixture(scope="module", params=[ALWAYS, IF_KEPT], ids=["optional", "under a condition"])
def template(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Study:
    posts = "\n".join(["id,title", *(f"{number},how to do {number}" for number in range(11, 17))])
    files = {"posts.csv": posts, "study.toml": STUDY.replace(ALWAYS, request.param), "codebook.toml": CODEBOOK}
    study = study_of(tmp_path_factory.mktemp("recounts") / "study", files)
    import_codebook(study)
    return study


class Recount:
    """The state of both rounds, recounted from the rows of the journal, one act after the other."""

    def __init__(self, root: Path) -> None:
        self.open: dict[str, bool] = {}
        self.ratings: dict[str, dict[tuple[int, str], dict[str, Any]]] = {"main": {}, "again": {}}
        self.slots: dict[str, list[list[str]]] = {}
        self.decided: dict[str, dict[tuple[str, str], tuple[int, Any, str]]] = {"main": {}, "again": {}}
        self.merged: dict[str, str] = {}
        self.conditional = False
        with sqlite3.connect(root / "study.db") as store:
            rows = store.execute("SELECT number, kind, actor, payload FROM acts ORDER BY number").fetchall()
        for number, kind, actor, payload in rows:
            handler = getattr(self, kind.replace(".", "_"), None)
            if handler is not None:
                handler(number, actor, json.loads(payload))

    def round_open(self, number: int, actor: str, payload: dict[str, Any]) -> None:
        name = payload["plan"]["round"]
        self.open[name], self.slots[name] = True, [[rater] for rater in payload["plan"]["raters"]]
        self.conditional |= any(facet["ask_if"] for facet in payload["plan"]["facets"])

    def round_close(self, number: int, actor: str, payload: dict[str, Any]) -> None:
        self.open[payload["round"]] = False

    def round_reopen(self, number: int, actor: str, payload: dict[str, Any]) -> None:
        self.open[payload["round"]] = True
        self.decided[payload["round"]] = {}

    def round_replace(self, number: int, actor: str, payload: dict[str, Any]) -> None:
        next(slot for slot in self.slots[payload["round"]] if payload["rater"] in slot).append(payload["by"])

    def rating(self, number: int, actor: str, payload: dict[str, Any]) -> None:
        place = next(place for place, slot in enumerate(self.slots[payload["round"]]) if actor in slot)
        self.ratings[payload["round"]][place, payload["item"]] = payload["answers"]
        if self.conditional and payload["round"] == "main":
            kept = payload["answers"]["relevance"] == {"answer": "keep"}
            assert ("topic" in payload["answers"]) == kept, "an answer is given exactly where it is asked"

    def decision(self, number: int, actor: str, payload: dict[str, Any]) -> None:
        for entry in payload["decisions"]:
            key = (entry["item"], entry["facet"])
            if entry["how"] in ("agreement", "single") and "reason" not in payload:
                answers = self.answers(payload["round"], *key)
                assert len(answers) == 2, "both raters have the item, so one answer is not agreement"
                assert answers[0] == answers[1] == entry["answer"]
            self.decided[payload["round"]][key] = (number, entry["answer"], entry["how"])

    def codebook_merge(self, number: int, actor: str, payload: dict[str, Any]) -> None:
        for code in payload["codes"]:
            self.merged[code] = payload["into"]

    def excluded(self) -> set[str]:
        last: dict[str, tuple[int, Any, str]] = {}
        for name, is_open in self.open.items():
            for (item, facet), decision in self.decided[name].items():
                if facet == "relevance" and not is_open and decision > last.get(item, (0, "", "")):
                    last[item] = decision
        return {item for item, (_, answer, _) in last.items() if answer["answer"] != "keep"}

    def answers(self, name: str, item: str, facet: str) -> list[Any]:
        ratings = (self.ratings[name].get((place, item)) for place in range(2))
        return [rating[facet] for rating in ratings if rating and facet in rating]

    def rated(self, name: str, item: str) -> bool:
        return any((place, item) in self.ratings[name] for place in range(2))

    def undecided(self, name: str) -> Counter[str]:
        """Items by reason; an item can have several."""
        out = {item for (item, facet), (_, answer, _) in self.decided[name].items()
               if facet == "relevance" and answer["answer"] != "keep"}  # fmt: skip
        reasons: dict[str, set[str]] = {}
        for item in ITEMS:
            for facet in ("relevance", "topic") if name == "main" else ("relevance",):
                if item in out or (item, facet) in self.decided[name]:
                    continue
                answers = self.answers(name, item, facet)
                if facet == "topic" and self.conditional and self.rated(name, item):
                    agreed = self.answers(name, item, "relevance")
                    is_kept = (item, "relevance") in self.decided[name] or agreed == [{"answer": "keep"}] * 2
                    if agreed == [{"answer": "exclude"}] * 2:
                        continue
                    if not is_kept:
                        reasons.setdefault("waiting", set()).add(item)
                        continue
                    if not answers:
                        reasons.setdefault("incomplete", set()).add(item)
                        continue
                labels = {answer["answer"] if isinstance(answer, dict) else answer for answer in answers}
                rated = self.rated(name, item)
                if len(labels) > 1 or "cannot judge" in labels:
                    reasons.setdefault("disagreements", set()).add(item)
                elif len(answers) == 1:
                    reasons.setdefault("incomplete", set()).add(item)
                elif not answers and (facet == "relevance" or not rated):
                    reasons.setdefault("unrated", set()).add(item)
                elif answers:
                    reasons.setdefault("agreed", set()).add(item)
        return Counter({reason: len(items) for reason, items in reasons.items()})

    def topics(self) -> Counter[str]:
        """Counted items by their code today."""
        counts: Counter[str] = Counter()
        for (item, facet), (_, answer, _) in self.decided["main"].items():
            relevance = self.decided["main"].get((item, "relevance"), (0, {"answer": "open"}, ""))[1]["answer"]
            if facet == "topic" and self.conditional and relevance != "keep":
                continue
            if facet == "topic" and item not in self.excluded():
                code = answer
                while code in self.merged:
                    code = self.merged[code]
                counts[code] += 1
        return counts


def random_answer(dice: random.Random, conditional: bool) -> dict[str, Any]:
    relevance = dice.choice(["keep", "keep", "keep", "exclude", "cannot judge"])
    answers: dict[str, Any] = {"relevance": relevance}
    if relevance == "keep" if conditional else dice.random() < 0.8:
        answers["topic"] = dice.choice([*CODES, CODES[0], CODES[0]])
    return answers


def is_conditional(coding: CodingSession) -> bool:
    return bool(coding.study.settings.facets["topic"].ask_if)


def rate_most(coding: CodingSession, dice: random.Random) -> None:
    """Both raters rate most items, and mostly agree, so that many sequences get as far as publishing."""
    for item in ITEMS:
        answers = random_answer(dice, is_conditional(coding))
        for rater in RATERS:
            if dice.random() < 0.9:
                rate(
                    coding,
                    "main",
                    rater,
                    item,
                    answers if dice.random() < 0.7 else random_answer(dice, is_conditional(coding)),
                )


def act_at_random(coding: CodingSession, dice: random.Random) -> None:
    """Tries one act, allowed or not."""
    name = dice.choice(["main", "main", "main", "again"])
    people = [*RATERS, "rater-3", "lead"]
    actor, item, facet = dice.choice(people), dice.choice(ITEMS), dice.choice(["relevance", "topic"])

    def rate_some() -> None:
        for rated in dice.sample(ITEMS, dice.randint(1, len(ITEMS))):
            answers = random_answer(dice, is_conditional(coding))
            chosen = answers if name == "main" else {"relevance": answers["relevance"]}
            rate(coding, name, actor, rated, chosen)

    def settle() -> None:
        answer = random_answer(dice, is_conditional(coding))
        value = answer["relevance"] if facet == "relevance" else answer.get("topic", CODES[0])
        how, reason = dice.choice(["discussion", "one-person"]), dice.choice(["", "because"])
        settle_item(coding, name, actor, item, facet, value, how, reason)

    choices: list[Callable[[], object]] = [
        lambda: open_by_name(coding, name, None),
        *([rate_some] * 6),
        lambda: close_by_name(coding, name, None, dice.choice(["", "enough"]), final=dice.random() < 0.3),
        lambda: close_by_name(coding, name, None, "enough"),
        lambda: reopen_by_name(coding, name, None, "a typo", not_blind=dice.random() < 0.5),
        lambda: replace_by_name(coding, name, None, dice.choice(RATERS), "rater-3", "ill"),
        *([settle] * 5),
        *([lambda: assent_to_proposal(coding, name, actor, item, facet)] * 4),
        lambda: settle_agreed(coding, name, None, dice.choice(["", "they left"])),
        lambda: change_codebook(coding, "codebook.merge", {"codes": ["training/loss"], "into": "training"}),
    ]
    try:
        dice.choice(choices)()
    except QuaestorError:
        return


def check_counts(coding: CodingSession, study: Study) -> int:
    """Compares everything that is published now with a recount; returns the number of counted items."""
    recount, state = Recount(study.root), coding.state
    for name, is_open in recount.open.items():
        if is_open:
            assert state.round(name).decisions == {}, "an open round has decided nothing"
            continue
        undecided = find_undecided(state, name)
        counted = {reason: len({item for item, _ in getattr(undecided, reason)})
                   for reason in ("disagreements", "incomplete", "agreed", "unrated", "waiting")}  # fmt: skip
        assert Counter({reason: count for reason, count in counted.items() if count}) == recount.undecided(name)
        pairs = [(recount.ratings[name].get((0, item)), recount.ratings[name].get((1, item))) for item in ITEMS]
        both = [(one["relevance"], two["relevance"]) for one, two in pairs if one and two]
        judged = [pair for pair in both if "cannot judge" not in pair]
        if len(judged) > 1:
            same = sum(one["answer"] == two["answer"] for one, two in judged)
            agreement = compute_round_agreement(state, name, "relevance")
            assert agreement.n == len(judged)
            assert agreement.percent.value == pytest.approx(same / len(judged))
        topics = [
            (one["topic"], two["topic"]) for one, two in pairs if one and two and "topic" in one and "topic" in two
        ]
        if name == "main" and len(topics) > 1:
            assert compute_round_agreement(state, name, "topic").n == len(topics)
        for (item, facet), (_, _, how) in recount.decided[name].items():
            if how == "agreement":
                assert len(recount.answers(name, item, facet)) == 2, "one rating is no agreement"
    if recount.open.get("main", True):
        return 0
    uses = collect_uses(state, decided=["main"])
    counted_topics = recount.topics()
    counts = count_items(uses, state.history.latest)
    assert {code: len(counts.own.get(code, ())) for code in CODES if counts.own.get(code)} == dict(counted_topics)
    if not counted_topics:
        with pytest.raises(QuaestorError), open_computed(study):
            pass
        return 0
    with open_computed(study) as computed:
        publication = compute_publication(computed, lambda message: None)
    table = {row.key: row.cells[-1].values[0] for row in publication.tables["1"].rows()}
    assert table["total"] == sum(counted_topics.values())
    assert table.get("setting", 0) == counted_topics["setting"]
    assert table.get("training", 0) == counted_topics["training"] + counted_topics["training/loss"]
    return sum(counted_topics.values())


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_every_count_equals_a_naive_recount_after_random_acts(template: Study, tmp_path: Path, part: int) -> None:
    counted = []
    for number in iterate_sequences("rounds", part):
        dice = random.Random(number)
        folder = tmp_path / "study"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(template.root, folder)
        study = open_study(folder)
        with open_coding(study) as coding:
            open_by_name(coding, "main", None)
            rate_most(coding, dice)
            for _ in range(dice.randint(1, 15)):
                act_at_random(coding, dice)
            if not coding.state.round("main").closed and dice.random() < 0.9:
                close_by_name(coding, "main", None, "enough")
            for _ in range(dice.randint(1, 25)):
                act_at_random(coding, dice)
            try:
                counted.append(check_counts(coding, study))
            except (AssertionError, QuaestorError) as error:
                error.add_note(f"sequence {number}")
                raise
    if len(counted) >= 50:
        assert sum(count > 0 for count in counted) > len(counted) / 5, "enough sequences publish something"
