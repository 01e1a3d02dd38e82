"""Simulated raters that rate, unify words and settle disagreements with the functions that people use."""

from __future__ import annotations

import csv
import functools
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from quaestor.base.errors import InputError, StateError
from quaestor.coding.model.answers import answer_asked_facets
from quaestor.coding.model.decisions import build_agreed_act, list_dependent_cases, list_disagreements
from quaestor.coding.model.facet_kinds.base import allowed_choices
from quaestor.coding.model.facet_kinds.passages import KIND as STRETCHES
from quaestor.coding.model.phrases import SAME_MEANING, build_unify_act, count_words, find_words_before, list_phrases
from quaestor.coding.model.ratings import build_rating_act
from quaestor.coding.model.records import EXCLUDE, KEEP, Disagreement, Facet
from quaestor.coding.model.rounds import build_next_set_act, list_missing
from quaestor.coding.model.settlement import (
    TIE_BREAKER,
    TOGETHER,
    build_assent_acts,
    build_settling_acts,
    build_tie_act,
    list_needed_assents,
)
from quaestor.coding.model.state import OPEN, RoundState, State
from quaestor.coding.session import CodingSession
from quaestor.store.records import NewAct
from quaestor.study.folder import Study, open_study
from quaestor.synth.truth import ITEMS_FILE

# Words that mean the same to a person; each simulated rater has a favourite.
_VARIANTS: Mapping[str, tuple[str, ...]] = {
    "load": ("load", "read"),
    "restore": ("restore", "recover"),
    "get": ("get", "obtain", "retrieve"),
    "compute": ("compute", "calculate"),
    "create": ("create", "make", "generate"),
    "build": ("build", "construct"),
    "convert": ("convert", "transform"),
    "remove": ("remove", "delete", "drop"),
    "save": ("save", "store", "export"),
    "show": ("show", "display"),
    "plot": ("plot", "draw"),
    "concatenate": ("concatenate", "join"),
    "add": ("add", "insert"),
    "replace": ("replace", "swap"),
    "freeze": ("freeze", "fix"),
    "define": ("define", "write"),
    "split": ("split", "divide"),
    "image": ("image", "picture"),
    "dataset": ("dataset", "data set"),
    "weight": ("weight", "parameter"),
    "prediction result": ("prediction result", "prediction"),
    "gpu memory": ("gpu memory", "memory"),
}
_VARIATION = 0.12
_NO_PLURAL = {"data", "training data"}


@dataclass(frozen=True)
class SimulatedRater:
    """A simulated rater: the share of correct answers, the share of systematic errors, and the seed."""

    name: str
    accuracy: float
    confusion: float
    seed: int

    def __post_init__(self) -> None:
        for word, value in (("accuracy", self.accuracy), ("confusion", self.confusion)):
            if not 0 <= value <= 1:
                raise InputError(f"--{word} is {value:g}: use a share between 0 and 1")

    def answer(self, item: str, facet: Facet, truth: Any, choices: Sequence[str]) -> Any:
        """Returns this rater's answer for an item whose true answer is known."""
        dice = random.Random(f"{self.seed}/{self.name}/{facet.id}/{item}")
        right = dice.random() < self.accuracy
        if facet.kind == "phrase":
            return self._phrase(truth, dice, right)
        if facet.kind == "keep":
            return _answer_keep(truth, dice, facet.reasons, right)
        if facet.kind == "confirm":
            return {"answer": "yes" if (truth == "yes") == right else "no"}
        if facet.kind == "multiple":
            return sorted(truth) if right else sorted({*truth, self._other(dice, sorted(truth)[0], choices)})
        if facet.kind == "text":
            return str(truth)
        return truth if right else self._other(dice, truth, choices)

    def _other(self, dice: random.Random, truth: str, choices: Sequence[str]) -> str:
        """Chooses a wrong answer: systematically the same one, or a random one."""
        others = [choice for choice in choices if choice != truth]
        if not others:
            return truth
        habit = random.Random(f"{self.seed}/habit/{truth}").choice(others)
        return habit if dice.random() < self.confusion else dice.choice(others)

    def _phrase(self, truth: Mapping[str, str], dice: random.Random, right: bool) -> dict[str, str]:
        phrase = {part: self._word(word, dice) for part, word in truth.items()}
        if not right:
            phrase["object"] = dice.choice([variant for names in _VARIANTS.values() for variant in names[:1]])
        return phrase

    def _word(self, word: str, dice: random.Random) -> str:
        """Chooses mostly the rater's favourite variant of a word, sometimes another one."""
        variants = _variants(word)
        if dice.random() < _VARIATION:
            return dice.choice(variants)
        return random.Random(f"{self.seed}/{self.name}/word/{word}").choice(variants)


def _variants(word: str) -> tuple[str, ...]:
    """Lists the synonyms of a word, and its plural."""
    names = _VARIANTS.get(word, (word,))
    return names if word.endswith("s") or word in _NO_PLURAL else (*names, f"{word}s")


def find_meaning(word: str) -> str:
    """Returns the base word of a variant."""
    for name, variants in _VARIANTS.items():
        if word in variants or word == f"{name}s":
            return name
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _answer_keep(truth: Mapping[str, str], dice: random.Random, reasons: Sequence[str], right: bool) -> dict[str, str]:
    keep = truth["answer"] == KEEP
    if keep == right:
        return {"answer": KEEP}
    reason = truth.get("reason") if right else dice.choice(list(reasons)) if reasons else ""
    return {"answer": EXCLUDE, "reason": reason} if reason else {"answer": EXCLUDE}


Truth = Mapping[str, Mapping[str, str]]
AnswerFacet = Callable[[str, Facet, str], Any]
"""Returns a simulated rater's answer to a facet of an item."""
TrueAnswer = Callable[[Facet, str], Any]
"""Returns the true answer to a facet of an item."""
_IMPLEMENTATION = "implementation"
_FALLBACK_PHASE = "data-processing"  # for a post that was kept by mistake and has no phase


@functools.lru_cache(maxsize=1)
def read_planted_truth(study: Path) -> Truth:
    """Reads the truth about each item of a study's synthetic dump."""
    return _planted(open_study(study))


def _planted(study: Study) -> Truth:
    return {item: row for source in study.funnel_sources() for item, row in _planted_in_source(study, source).items()}


def _planted_in_source(study: Study, source: str) -> Truth:
    path = study.path_of(source) / ITEMS_FILE
    if not path.exists():
        raise StateError(f"{path} does not exist: simulated raters need a synthetic dump with known answers")
    site = getattr(study.source(source), "site", None) or Path(study.source(source).path).name
    with path.open(encoding="utf-8", newline="") as file:
        return {f"{site}/question/{row['id']}": row for row in csv.DictReader(file)}


def simulate_ratings(
    coding: CodingSession,
    name: str,
    *,
    accuracy: float,
    confusion: float,
    seed: int,
    only: str | None = None,
    planted: TrueAnswer | None = None,
) -> int:
    """Adds every missing rating of a round, or of its current set, and returns their number.

    The true answers come from the study's dump, or from `planted`; where there is none, nothing is answered.
    """
    round_state = coding.state.round(name)
    require_open(round_state)
    if any(facet.kind == STRETCHES for facet in round_state.plan.facets):
        raise InputError(f"the round {name!r} codes transcripts: name the folder of synthetic ones with --truth")
    truth = read_planted_truth(coding.study.root) if planted is None else {}
    raters = {slot.rater: SimulatedRater(slot.rater, accuracy, confusion, seed) for slot in round_state.slots}
    book = coding.state.history.at(round_state.plan.codebook)
    offered = {facet.id: list(allowed_choices(facet, book)) for facet in round_state.plan.facets}

    def answer_facet(rater: str, facet: Facet, item: str) -> Any:
        right = find_true_answer(round_state, facet, item, truth) if planted is None else planted(facet, item)
        return None if right is None else raters[rater].answer(item, facet, right, offered[facet.id])

    return add_missing_ratings(coding, name, answer_facet, seed=seed, only=only)


def require_open(round_state: RoundState) -> None:
    if round_state.status != OPEN:
        raise StateError(f"the round {round_state.plan.round!r} is closed: ratings can only be added to an open round")


def add_missing_ratings(
    coding: CodingSession, name: str, answer_facet: AnswerFacet, *, seed: int, only: str | None = None
) -> int:
    """Adds every missing rating of an open round, marked as simulated, and returns their number."""
    round_state = coding.state.round(name)
    book = coding.state.history.at(round_state.plan.codebook)
    now = coding.now()

    def answer_item(rater: str, item: str) -> dict[str, Any]:
        return answer_asked_facets(round_state.plan, book, lambda facet: answer_facet(rater, facet, item))

    def build_acts(state: State) -> list[NewAct]:
        return [
            build_rating_act(
                state,
                name,
                rater,
                item,
                answer_item(rater, item),
                now=now,
                seconds=random.Random(f"{seed}/{rater}/{item}").uniform(20, 90),
                simulated=True,
                key=f"simulated/{name}/{rater}/{seed}/{item}",
            )
            for rater, item in list_missing(round_state)
            if only in (None, rater)
        ]

    return len(coding.act(build_acts))


def find_true_answer(round_state: RoundState, facet: Facet, item: str, truth: Truth) -> Any:
    """Returns the planted answer to a facet."""
    if item not in truth:
        raise StateError(f"{item!r} is not synthetic: simulated raters rate only synthetic evidence")
    row = truth[item]
    if facet.kind == "keep":
        keep = row["topic"] == _IMPLEMENTATION
        return {"answer": "keep"} if keep else {"answer": "exclude", "reason": row["topic"]}
    if facet.kind == "phrase":
        return {"verb": row["verb"].lower() or "do", "object": _find_object(row) or "task"}
    if facet.kind == "confirm":
        proposed = round_state.plan.proposals.get(item, {})
        return "yes" if _slug(row["phase"]) in proposed.values() and "phrase" in proposed else "no"
    phase = _slug(row["phase"]) or _FALLBACK_PHASE
    return [phase] if facet.kind == "multiple" else phase


def _find_object(row: Mapping[str, str]) -> str:
    """Returns the object as the question words it, such as "transformer layer" for the object "layer"."""
    name = row["object"].lower()
    match = re.search(rf"\b(?:an?|the) ((?:[\w-]+ ){{0,2}}{re.escape(name)})\b", row.get("text", "").lower())
    return match[1] if match and name else name


def _slug(name: str) -> str:
    return name.lower().replace(" ", "-")


def simulate_sets(
    coding: CodingSession, name: str, *, accuracy: float, seed: int, report_progress: Callable[[int, int], None]
) -> int:
    """Rates set after set, unifies synonyms after each, and returns the number of ratings."""
    ratings = 0
    while True:
        ratings += simulate_ratings(coding, name, accuracy=accuracy, confusion=0.0, seed=seed)
        coding.act(lambda state: _build_unify_acts(state.round(name), state))
        round_state = coding.state.round(name)
        report_progress(round_state.set, len(round_state.sets))
        if round_state.set == len(round_state.sets):
            return ratings
        coding.act(lambda state: build_next_set_act(state, name, state.round(name).plan.raters[0], simulated=True))


def _build_unify_acts(round_state: RoundState, state: State) -> list[NewAct]:
    """Unifies synonyms of the set to the base word, or else to the most frequent one."""
    acts = []
    known = find_words_before(round_state, round_state.set + 1)
    actor = round_state.plan.raters[0]
    for part in ("verb", "object"):
        counts = count_words(round_state, part)
        groups: dict[str, set[str]] = {}
        for phrases in list_phrases(round_state, round_state.open_items()).values():
            for phrase in phrases:
                word = known[part].get(phrase[part], phrase[part])
                groups.setdefault(find_meaning(word), set()).add(word)
        # Words of earlier sets with the same meaning belong to the group too.
        for word in counts:
            unified = known[part].get(word, word)
            if find_meaning(unified) in groups:
                groups[find_meaning(unified)].add(unified)
        for words in groups.values():
            if len(words) > 1:
                usual = sorted(word for word in words if word == find_meaning(word))
                to = usual[0] if usual else max(sorted(words), key=lambda word: counts[word])
                others = sorted(words - {to})
                why = "" if counts[to] >= max(counts[word] for word in words) else "the usual word"
                acts.append(
                    build_unify_act(
                        state, round_state.plan.round, actor, part, others, to, SAME_MEANING, reason=why, simulated=True
                    )
                )
    return acts


def simulate_settling(
    coding: CodingSession, name: str, *, seed: int, consulted: float = 0.3, planted: TrueAnswer | None = None
) -> dict[str, int]:
    """Settles every disagreement, most by discussion and the others with the tie-breaker.

    The true answers come from the study's dump, or from `planted`, which the tie-breaker then follows exactly. Returns
    the number of decisions by method.
    """
    truth = read_planted_truth(coding.study.root) if planted is None else {}
    dice = random.Random(f"{seed}/{name}/settling")
    round_state = coding.state.round(name)
    plan = round_state.plan
    tie_breaker = SimulatedRater(plan.tie_breaker or "nobody", 0.95, 0.0, seed)
    book = coding.state.history.at(plan.codebook)
    counts: dict[str, int] = {}
    for disagreement in _iterate_cases(coding, name):
        item, facet = disagreement.item, plan.facet(disagreement.facet)
        right = find_true_answer(round_state, facet, item, truth) if planted is None else planted(facet, item)
        right = {"answer": right} if facet.kind == "confirm" else right
        how = "discussion"
        consults = plan.tie_breaker and plan.settle in ("discussion", "two-step") and dice.random() < consulted
        if plan.settle == "tie-breaker" or consults:
            how = TIE_BREAKER if plan.settle == "tie-breaker" else TOGETHER
            offered = list(allowed_choices(facet, book))
            answer = right if planted else tie_breaker.answer(item, facet, _strip_details(facet, right), offered)
            coding.act(_tie(name, plan.tie_breaker, item, facet.id, answer))
        actor = plan.tie_breaker if how == TIE_BREAKER else plan.raters[0]
        coding.act(_settle(name, actor, item, facet.id, right, how))
        if how != TIE_BREAKER:
            for person in list_needed_assents(round_state, item, how):
                if person != actor:
                    coding.act(_assent(name, person, item, facet.id))
        counts[how] = counts.get(how, 0) + 1
    return counts


def _iterate_cases(coding: CodingSession, name: str) -> Iterator[Disagreement]:
    """Yields every open case, then those that the decisions on them lead to, until none is left."""
    settled_before = -1
    while len(coding.state.round(name).decisions) > settled_before:
        settled_before = len(coding.state.round(name).decisions)
        for case in [*list_disagreements(coding.state, name), *list_dependent_cases(coding.state, name)]:
            if case.decision is None:
                yield case
        coding.act(lambda state: build_agreed_act(state, name, coding.lead))


def _strip_details(facet: Facet, answer: Any) -> Any:
    return answer["answer"] if facet.kind == "confirm" else answer


def _tie(name: str, actor: str, item: str, facet: str, answer: Any) -> Callable[[State], NewAct]:
    return lambda state: build_tie_act(state, name, actor, item, facet, answer, "simulated comment", simulated=True)


def _settle(name: str, actor: str, item: str, facet: str, answer: Any, how: str) -> Callable[[State], list[NewAct]]:
    reason = "simulated discussion"  # needed if it overrules the majority or the tie-breaker
    return lambda state: build_settling_acts(state, name, actor, item, facet, answer, how, reason, simulated=True)


def _assent(name: str, actor: str, item: str, facet: str) -> Callable[[State], list[NewAct]]:
    return lambda state: build_assent_acts(state, name, actor, item, facet, simulated=True)
