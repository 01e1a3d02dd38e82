"""Simulated raters in a study: they rate, unify words and settle through the doors that people use."""

from __future__ import annotations

import csv
import functools
import random
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from quaestor.base.errors import InputError, StateError
from quaestor.coding.answers import choices
from quaestor.coding.decisions import TIE_BREAKER, TOGETHER, decide, disagreements, tie_comment
from quaestor.coding.phrases import SAME_MEANING, phrases_of, unify, word_counts, words_before
from quaestor.coding.ratings import give_rating
from quaestor.coding.records import Facet
from quaestor.coding.rounds import missing, next_set
from quaestor.coding.state import OPEN, RoundState, State
from quaestor.coding.stretches import KIND as STRETCHES
from quaestor.store.records import NewAct
from quaestor.study.coding import Coding
from quaestor.study.folder import Study, open_study
from quaestor.synth.raters import Simulated, meaning
from quaestor.synth.truth import ITEMS_FILE

Truth = Mapping[str, Mapping[str, str]]
Said = Callable[[str, Facet, str], Any]
"""What a simulated rater says to a facet of an item."""
Right = Callable[[Facet, str], Any]
"""What is planted as the answer to a facet of an item."""
_IMPLEMENTATION = "implementation"
_SOME_PHASE = "data-processing"  # of a post that was kept by mistake, and has none


@functools.lru_cache(maxsize=1)
def planted_truth(study: Path) -> Truth:
    """What the synthetic dump of a study folder plants about each item, by item id."""
    return _planted(open_study(study))


def _planted(study: Study) -> Truth:
    source = study.funnel_source()
    path = study.path_of(source) / ITEMS_FILE
    if not path.exists():
        raise StateError(f"{path} does not exist: simulated raters need a synthetic dump, which knows the truth")
    site = getattr(study.source(source), "site", None) or Path(study.source(source).path).name
    with path.open(encoding="utf-8", newline="") as file:
        return {f"{site}/question/{row['id']}": row for row in csv.DictReader(file)}


def simulate_ratings(
    coding: Coding, name: str, *, accuracy: float, confusion: float, seed: int, only: str | None = None
) -> int:
    """Let simulated raters give every rating that is missing from a round (or one of its sets); how many they gave."""
    one = coding.state.round(name)
    require_open(one)
    if any(facet.kind == STRETCHES for facet in one.plan.facets):
        raise InputError(f"the round {name!r} codes transcripts: name the folder of synthetic ones with --truth")
    truth = planted_truth(coding.study.root)
    raters = {seat.rater: Simulated(seat.rater, accuracy, confusion, seed) for seat in one.seats}
    book = coding.state.history.at(one.plan.codebook)
    offered = {facet.id: list(choices(facet, book)) for facet in one.plan.facets}

    def said(rater: str, facet: Facet, item: str) -> Any:
        return raters[rater].answer(item, facet, true_answer(one, facet, item, truth), offered[facet.id])

    return give_missing(coding, name, said, seed=seed, only=only)


def require_open(one: RoundState) -> None:
    if one.status != OPEN:
        raise StateError(f"the round {one.plan.round!r} is closed: its ratings stand as they are")


def give_missing(coding: Coding, name: str, said: Said, *, seed: int, only: str | None = None) -> int:
    """Give every rating that is missing from an open round, each on record as simulated; how many."""
    one = coding.state.round(name)
    now = coding.now()

    def give(state: State) -> list[NewAct]:
        return [
            give_rating(
                state,
                name,
                rater,
                item,
                {facet.id: said(rater, facet, item) for facet in one.plan.facets},
                now=now,
                seconds=random.Random(f"{seed}/{rater}/{item}").uniform(20, 90),
                simulated=True,
                key=f"simulated/{name}/{rater}/{seed}/{item}",
            )
            for rater, item in missing(one)
            if only in (None, rater)
        ]

    return len(coding.act(give))


def true_answer(one: RoundState, facet: Facet, item: str, truth: Truth) -> Any:
    """The planted answer to a facet."""
    if item not in truth:
        raise StateError(f"nothing is planted about {item!r}: simulated raters rate synthetic evidence alone")
    row = truth[item]
    if facet.kind == "keep":
        keep = row["topic"] == _IMPLEMENTATION
        return {"answer": "keep"} if keep else {"answer": "exclude", "reason": row["topic"]}
    if facet.kind == "phrase":
        return {"verb": row["verb"].lower() or "do", "object": _thing(row) or "task"}
    if facet.kind == "confirm":
        proposed = one.plan.proposals.get(item, {})
        return "yes" if _slug(row["phase"]) in proposed.values() and "phrase" in proposed else "no"
    phase = _slug(row["phase"]) or _SOME_PHASE
    return [phase] if facet.kind == "multiple" else phase


def _thing(row: Mapping[str, str]) -> str:
    """What the question is about in the words it uses: a transformer layer, where the object is a layer."""
    thing = row["object"].lower()
    named = re.search(rf"\b(?:an?|the) ((?:[\w-]+ ){{0,2}}{re.escape(thing)})\b", row.get("text", "").lower())
    return named[1] if named and thing else thing


def _slug(name: str) -> str:
    return name.lower().replace(" ", "-")


def simulate_sets(coding: Coding, name: str, *, accuracy: float, seed: int, tell: Callable[[int, int], None]) -> int:
    """Rate set after set; after each, the simulated pair unifies words that mean the same. How many ratings."""
    given = 0
    while True:
        given += simulate_ratings(coding, name, accuracy=accuracy, confusion=0.0, seed=seed)
        coding.act(lambda state: _unifications(state.round(name), state))
        one = coding.state.round(name)
        tell(one.set, len(one.sets))
        if one.set == len(one.sets):
            return given
        coding.act(lambda state: next_set(state, name, state.round(name).plan.raters[0], simulated=True))


def _unifications(one: RoundState, state: State) -> list[NewAct]:
    """Words of the set that mean the same become the usual one, or the most frequent of them."""
    acts = []
    known = words_before(one, one.set + 1)
    actor = one.plan.raters[0]
    for part in ("verb", "object"):
        counts = word_counts(one, part)
        groups: dict[str, set[str]] = {}
        for phrases in phrases_of(one, one.open_items()).values():
            for phrase in phrases:
                word = known[part].get(phrase[part], phrase[part])
                groups.setdefault(meaning(word), set()).add(word)
        # What earlier sets called the thing belongs to it too.
        for word in counts:
            said = known[part].get(word, word)
            if meaning(said) in groups:
                groups[meaning(said)].add(said)
        for words in groups.values():
            if len(words) > 1:
                usual = sorted(word for word in words if word == meaning(word))
                to = usual[0] if usual else max(sorted(words), key=lambda word: counts[word])
                others = sorted(words - {to})
                why = "" if counts[to] >= max(counts[word] for word in words) else "the usual word"
                acts.append(
                    unify(state, one.plan.round, actor, part, others, to, SAME_MEANING, reason=why, simulated=True)
                )
    return acts


def simulate_settling(
    coding: Coding, name: str, *, seed: int, consulted: float = 0.3, planted: Right | None = None
) -> dict[str, int]:
    """Settle every disagreement: most by discussion, the others with the tie-breaker; how many each way.

    What is right the dump of the study knows, or `planted`, which a tie-breaker then knows too.
    """
    truth = planted_truth(coding.study.root) if planted is None else {}
    dice = random.Random(f"{seed}/{name}/settling")
    one = coding.state.round(name)
    plan = one.plan
    tie_breaker = Simulated(plan.tie_breaker or "nobody", 0.95, 0.0, seed)
    book = coding.state.history.at(plan.codebook)
    ways: dict[str, int] = {}
    for found in disagreements(coding.state, name):
        if found.decision is not None:
            continue
        item, facet = found.item, plan.facet(found.facet)
        right = true_answer(one, facet, item, truth) if planted is None else planted(facet, item)
        right = {"answer": right} if facet.kind == "confirm" else right
        how = "discussion"
        asked = plan.tie_breaker and plan.settle in ("discussion", "two-step") and dice.random() < consulted
        if plan.settle == "tie-breaker" or asked:
            how = TIE_BREAKER if plan.settle == "tie-breaker" else TOGETHER
            offered = list(choices(facet, book))
            said = right if planted else tie_breaker.answer(item, facet, _plain(facet, right), offered)
            coding.act(_tie(name, plan.tie_breaker, item, facet.id, said))
        actor = plan.tie_breaker if how == TIE_BREAKER else plan.raters[0]
        coding.act(_decision(name, actor, item, facet.id, right, how))
        ways[how] = ways.get(how, 0) + 1
    return ways


def _plain(facet: Facet, answer: Any) -> Any:
    return answer["answer"] if facet.kind == "confirm" else answer


def _tie(name: str, actor: str, item: str, facet: str, answer: Any) -> Callable[[State], NewAct]:
    return lambda state: tie_comment(state, name, actor, item, facet, answer, "simulated comment", simulated=True)


def _decision(name: str, actor: str, item: str, facet: str, answer: Any, how: str) -> Callable[[State], NewAct]:
    return lambda state: decide(state, name, actor, item, facet, answer, how, simulated=True)
