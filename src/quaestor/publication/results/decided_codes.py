"""Finds each item's decided code, at the deepest codebook level that its phrase leads to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from quaestor.base.errors import StateError
from quaestor.coding.model.codebook.file import read_codebook
from quaestor.coding.model.codebook.history import History
from quaestor.coding.model.conditions import describe_condition
from quaestor.coding.model.decisions import find_decisions, find_excluded_items, find_undecided, list_kept
from quaestor.coding.model.facet_kinds.confirm import NO
from quaestor.coding.model.phrase_placement import PhrasePlacer, read_placement_words
from quaestor.coding.model.records import CANNOT_JUDGE, Codebook, Decision
from quaestor.coding.model.state import CLOSED, State
from quaestor.render.number_format import series
from quaestor.study.folder import Study
from quaestor.surveys.open_answers import find_excluded_answers

PLACING_FILE = "placing.toml"


class NothingDecided(StateError):
    """A round that results need does not exist, is not closed, or is not settled."""


@dataclass(frozen=True)
class ItemCodes:
    """One decided item: its code in the tree, its codes in other facets, and the phrase that placed it."""

    code: str
    place: str | None = None
    """The more specific code that the phrase leads to; it may be below another object, as for issues of all data."""
    phrase: tuple[str, str] = ("", "")
    across: Mapping[str, str] = field(default_factory=dict)
    """By facet of the codebook: the code there."""
    whys: Mapping[str, str] = field(default_factory=dict)
    """By facet of the codebook: why the phrase does not place the item in it."""


@dataclass(frozen=True)
class CodedItems:
    """All decided items under one codebook."""

    book: Codebook
    items: Mapping[str, ItemCodes]
    left_out: Mapping[str, int] = field(default_factory=dict)
    """By reason: number of items without a final code."""
    simulated: bool = False
    source: str = ""
    """For published decisions: the file they come from."""
    rejected: int = 0
    """Number of items whose triplet the raters rejected without naming another code."""
    excluded: int = 0
    """Number of coded items that are left out because raters decided to exclude them."""
    pooled: str = ""
    """If several rounds are pooled: which decision counts, as a sentence."""


def read_coded_items(
    study: Study, state: State, version: int | None = None, *, with_excluded: bool = False
) -> CodedItems:
    """Returns the final codes of a study, under an earlier codebook if a version is given.

    Items that raters decided to exclude are left out unless `with_excluded` is set.
    """
    results = study.settings.results
    if not results.code:
        raise NothingDecided(
            f"{study.file} does not define final codes: add [results] with code = 'ROUND.FACET', "
            "where the facet has a single code"
        )
    _require_closed_funnel(study, state)
    pooled = pool_rounds(state, results.code)
    codes = pooled.decisions
    phrases = _decisions(state, *results.phrase.split(".")) if results.phrase else {}
    confirmed = _decisions(state, *results.confirm.split(".")) if results.confirm else {}
    history = state.history
    book = history.at(version) if version is not None else history.latest
    carry = _read_taxonomy(study, book, history.latest.version)
    placing = PhrasePlacer.build(carry.book, read_placement_words(study.root / PLACING_FILE))
    coded_by_item: dict[str, ItemCodes] = {}
    places: dict[tuple[str, tuple[str, str] | None], ItemCodes] = {}
    left_out: dict[str, int] = {}
    rejected = 0
    unanswered = _list_unanswered(state, results.code, codes)
    excluded = frozenset() if with_excluded else find_excluded_items(state)
    items = _list_items_to_code(study, state, codes, unanswered)
    excluded_answers = find_excluded_answers(state, items)
    if excluded_answers:
        left_out["the lead excluded the survey response"] = len(excluded_answers)
    for item in items:
        if item in excluded or item in excluded_answers:
            continue
        answers = pooled.answers[pooled.winners[item]].get(item, {}) if item in pooled.winners else {}
        code, why = _code(history, item, codes.get(item), answers, book.version)
        code = carry.code(code)
        if code is None:
            why = unanswered.get(item, why)
            left_out[why] = left_out.get(why, 0) + 1
            continue
        verdict = confirmed.get(item)
        if verdict is not None and verdict.answer != CANNOT_JUDGE and verdict.answer["answer"] == NO:
            instead = _find_code(carry.book, results.tree, str(verdict.answer.get("instead", "")))
            rejected += instead is None
            code = instead or code
        phrase = _phrase(phrases.get(item))
        if (code, phrase) not in places:
            places[code, phrase] = _place_item(carry.book, placing, code, phrase)
        coded_by_item[item] = places[code, phrase]
    every = [*codes.values(), *phrases.values(), *confirmed.values()]
    source = next((coded_item.source for coded_item in codes.values() if coded_item.source), "")
    return CodedItems(
        carry.book,
        coded_by_item,
        left_out,
        any(decision.simulated for decision in every),
        source,
        rejected,
        len(excluded.intersection(codes)),
        pooled.describe(),
    )


@dataclass(frozen=True)
class PooledRounds:
    """The decisions of one or several rounds; where several decided an item, that of the last listed round counts."""

    decisions: Mapping[str, Decision]
    winners: Mapping[str, str]
    """By item: the round whose decision counts."""
    answers: Mapping[str, Mapping[str, Mapping[str, Any]]]
    """By round and item: all decisions on the item, which the rules of a split code depend on."""
    repeated: int = 0
    """Number of items that several rounds decided."""
    differing: int = 0
    """Number of these items whose earlier decision differs from the one that counts."""

    def describe(self) -> str:
        """Returns a sentence on which decision counts; empty for a single round."""
        if len(self.answers) == 1:
            return ""
        counts = Counter(self.winners.values())
        origins = series([f"{name} ({counts[name]:,} items)" for name in self.answers])
        if not self.repeated:
            return f"The codes come from the rounds {origins}; no item was decided in two of them."
        return (
            f"The codes come from the rounds {origins}. {self.repeated:,} "
            f"{'item was' if self.repeated == 1 else 'items were'} decided in several of them, {self.differing:,} of "
            "these differently; the decision of the later round counts."
        )


def pool_rounds(state: State, references: Sequence[str]) -> PooledRounds:
    """Returns the decisions of the rounds in `round.facet` references, the ones that count most last."""
    decisions: dict[str, Decision] = {}
    winners: dict[str, str] = {}
    repeated: set[str] = set()
    differing: set[str] = set()
    latest = state.history.latest.version
    answers: dict[str, Mapping[str, Mapping[str, Any]]] = {}

    def find_latest_code(name: str, item: str, decision: Decision) -> str | None:
        return _code(state.history, item, decision, answers[name].get(item, {}), latest)[0]

    for reference in references:
        name, facet = reference.split(".")
        decided = _decisions(state, name, facet)
        answers[name] = _answers(state, name)
        for item, decision in decided.items():
            if item in decisions:
                repeated.add(item)
                earlier = find_latest_code(winners[item], item, decisions[item])
                is_same = earlier == find_latest_code(name, item, decision)
                (differing.discard if is_same else differing.add)(item)
            decisions[item], winners[item] = decision, name
    return PooledRounds(decisions, winners, answers, len(repeated), len(differing))


def list_decided_elsewhere(state: State, references: Sequence[str], name: str) -> frozenset[str]:
    """Returns the items that another one of the pooled rounds decided; empty if `name` is not pooled."""
    pairs = [reference.split(".") for reference in references]
    if name not in [round_name for round_name, _ in pairs]:
        return frozenset()
    others = [pair for pair in pairs if pair[0] != name and (pair[0] in state.rounds or pair[0] in state.published)]
    return frozenset(item for round_name, facet in others for item in find_decisions(state, round_name, facet))


def results_can_be_made(study: Study, state: State) -> bool:
    """Tells whether every round that results need has decisions, without computing any code."""
    results = study.settings.results
    if not results.code:
        return False
    try:
        _require_closed_funnel(study, state)
        return all(_decisions(state, *reference.split(".")) for reference in results.references)
    except NothingDecided:
        return False


def _decisions(state: State, name: str, facet: str) -> dict[str, Decision]:
    """Returns the final answers of a closed round, or of published decisions."""
    round_state = state.rounds.get(name)
    if round_state is None and name not in state.published:
        raise NothingDecided(f"the round {name!r} has not been opened: open it, rate and settle it first")
    if round_state is not None and round_state.status != CLOSED:
        raise NothingDecided(f"the round {name!r} is still open: close and settle it first")
    decisions = find_decisions(state, name, facet)
    if not decisions:
        raise NothingDecided(
            f"the round {name!r} has no decision on {facet!r} yet: settle its disagreements, and run `quaestor "
            f"decisions agree {name}` if the raters agree on answers that are not recorded"
        )
    return decisions


def _require_closed_funnel(study: Study, state: State) -> None:
    """Raises NothingDecided while a round of the funnel is open: what it keeps is not known."""
    for step in study.funnel.steps:
        round_state = state.rounds.get(step.round or "")
        if round_state is not None and round_state.status != CLOSED:
            raise NothingDecided(f"the round {step.round!r} is still open: close and settle it first")


def _list_unanswered(state: State, references: Sequence[str], decided: Collection[str]) -> dict[str, str]:
    """Lists the items of rounds that need no decision on a facet, each with the reason; not those decided elsewhere."""
    reasons: dict[str, str] = {}
    undecided: set[str] = set()
    for name, facet in (reference.split(".") for reference in references):
        if name not in state.rounds or facet not in {known.id for known in state.round(name).plan.facets}:
            continue
        round_state = state.round(name)
        undecided |= find_undecided(state, name).items
        condition = describe_condition(round_state.plan.facet(facet).ask_if)
        for item in round_state.items_left():
            is_asked = not condition or round_state.find_asked(item, facet)
            optional = "the question is optional, and no rater answered it"
            reasons[item] = optional if is_asked else f"the question is asked only if {condition}"
    return {item: reason for item, reason in reasons.items() if item not in decided and item not in undecided}


def _list_items_to_code(
    study: Study, state: State, codes: Mapping[str, Decision], unanswered: Mapping[str, str]
) -> list[str]:
    """Lists the items that need a code: what the last round of the funnel kept, if there is one.

    While that round is not settled, items that it has not decided to keep are left out.
    """
    rounds = [step.round for step in study.funnel.steps if step.round and step.round in state.rounds]
    if not rounds:
        return sorted(codes.keys() | unanswered)
    kept = list_kept(state, rounds[-1])
    if kept is not None:
        return sorted(kept)
    return sorted((codes.keys() | unanswered) - find_undecided(state, rounds[-1]).items)


def _answers(state: State, name: str) -> dict[str, dict[str, Any]]:
    """Returns by item all decisions of a round, which the rules of a split code depend on."""
    answers_by_item: dict[str, dict[str, Any]] = {}
    round_state = state.rounds.get(name)
    every = round_state.counted_decisions() if round_state is not None else state.published[name].values()
    for decision in every:
        answers_by_item.setdefault(decision.item, {})[decision.facet] = decision.answer
    return answers_by_item


def _code(
    history: History, item: str, decision: Decision | None, answers: Mapping[str, Any], version: int
) -> tuple[str | None, str]:
    if decision is None:
        return None, "not decided"
    if decision.answer == CANNOT_JUDGE:
        return None, "could not be judged"
    if not isinstance(decision.answer, str):
        return None, "the answer is not a single code"
    reading = history.find_code(decision.answer, version, item, answers)
    return reading.code, reading.why


@dataclass(frozen=True)
class _CarriedOver:
    """Maps codes of one codebook to another by their paths of names, or leaves them as they are."""

    book: Codebook
    codes: Mapping[str, str] | None = None

    def code(self, code: str | None) -> str | None:
        return code if code is None or self.codes is None else self.codes.get(code)


def _read_taxonomy(study: Study, book: Codebook, latest: int) -> _CarriedOver:
    file = study.settings.results.taxonomy
    if file is None:
        return _CarriedOver(book)
    history = History()
    history.record("codebook.import", read_codebook(study.root / Path(file).name))
    taxonomy = history.latest
    names = {taxonomy.path_name(code.id).casefold(): code.id for code in taxonomy.codes.values() if code.active}
    own = {code.id: book.path_name(code.id).casefold() for code in book.codes.values() if code.active}
    missing = sorted(set(own.values()) - set(names))
    if missing and book.version < latest:
        return _CarriedOver(book)  # an older version with another structure is counted unchanged
    if missing:
        raise StateError(f"{study.root / file} has no code {missing[0]!r}: add it, or leave out results.taxonomy")
    return _CarriedOver(taxonomy, {code: names[name] for code, name in own.items()})


def _place_item(book: Codebook, placing: PhrasePlacer, code: str, phrase: tuple[str, str] | None) -> ItemCodes:
    """Returns an item's code at the deepest level that its phrase leads to."""
    if phrase is None:
        return ItemCodes(code, whys=dict.fromkeys(book.facets, "no phrase"))
    verb, thing = phrase
    core = core_object(book, code, thing) or code
    place = placing.place(verb, thing, core)
    across = dict(book.codes[place.code].across) if place.code else {}
    whys = {} if place.code else {book.codes[core].facet: place.why}
    words = placing.words
    others = ((words.types, placing.object_type(thing)), (words.operations, placing.operation(verb, thing)))
    for facet, answers in others:
        if answers.code is None:
            whys[facet] = answers.why
        else:
            across.setdefault(facet, answers.code)
    return ItemCodes(core, place.code, phrase, across, whys)


def core_object(book: Codebook, code: str, thing: str) -> str | None:
    """Returns the child code whose name ends the phrase, longest first: a convolution layer is a layer."""
    if book.codes[code].parent:
        return None
    words = (thing.casefold(), thing.casefold().removesuffix("s"))
    childs = [child for child in book.children(code) if any(word.endswith(child.name.casefold()) for word in words)]
    return max(childs, key=lambda child: len(child.name)).id if childs else None


def _find_code(book: Codebook, tree: str, name: str) -> str | None:
    """Finds a code by its id or its path of names, as a rater wrote it."""
    if name in book.codes:
        return name
    normal = " ".join(name.replace("›", " ").replace("/", " ").casefold().split())
    for code in book.active(tree):
        if book.path_name(code.id).replace(" › ", " ").casefold() == normal:
            return code.id
    return None


def _phrase(decision: Decision | None) -> tuple[str, str] | None:
    answer: Any = decision.answer if decision is not None else None
    if isinstance(answer, Mapping) and answer.get("verb"):
        return str(answer["verb"]), str(answer["object"])
    if isinstance(answer, str) and "," in answer:
        verb, _, thing = answer.partition(",")
        return verb.strip(), thing.strip()
    return None
