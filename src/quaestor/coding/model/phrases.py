"""Constant comparison: phrases are rated in sets, words are unified after each set, and two curves should fall."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from quaestor.base.errors import InputError, StateError
from quaestor.base.names import count_of
from quaestor.coding.model.facet_kinds import find_kind
from quaestor.coding.model.facet_kinds.phrase import PARTS, unify_words
from quaestor.coding.model.records import CANNOT_JUDGE, Decision, Facet, Unification
from quaestor.coding.model.rounds import list_missing
from quaestor.coding.model.state import OPEN, RoundState, State
from quaestor.render.figures.records import SetCurve
from quaestor.store.records import NewAct

SAME_MEANING, HYPERNYM = "same meaning", "hypernym"


def find_words_before(round_state: RoundState, number: int) -> dict[str, dict[str, str]]:
    """Returns by part which word replaces which, as of the start of a set."""
    return _find_words(round_state, number)


def find_all_words(round_state: RoundState) -> dict[str, dict[str, str]]:
    """Returns by part which word replaces which, after all unifications."""
    return _find_words(round_state, None)


def _find_words(round_state: RoundState, before: int | None) -> dict[str, dict[str, str]]:
    """Returns the replacements; cached because every phrase needs them and only a unification changes them."""
    key = ("words", before, len(round_state.unifications))
    if key not in round_state.cache:
        round_state.cache[key] = _build_word_table(
            unification for unification in round_state.unifications if before is None or unification.set < before
        )
    words: dict[str, dict[str, str]] = round_state.cache[key]
    return words


def _build_word_table(unifications: Iterable[Unification]) -> dict[str, dict[str, str]]:
    words: dict[str, dict[str, str]] = {part: {} for part in PARTS}
    for unification in unifications:
        table = words[unification.part]
        to = table.get(unification.to, unification.to)
        if to in unification.words:  # the reverse of an earlier unification: the new word stays
            table.pop(unification.to, None)
            to = unification.to
        for word in unification.words:
            if word != to:
                table[word] = to
        for word, to in list(table.items()):
            if to in table:
                table[word] = table[to]
    return words


def find_phrase_facet(round_state: RoundState) -> Facet:
    facet = next((facet for facet in round_state.plan.facets if find_kind(facet).unifies_words), None)
    if facet is None:
        raise StateError(f"the round {round_state.plan.round!r} has no phrase facet")
    return facet


def list_phrases(round_state: RoundState, items: Iterable[str]) -> dict[str, list[Mapping[str, str]]]:
    """Returns the phrases of items, one for each slot that gave one."""
    facet = find_phrase_facet(round_state).id
    phrases: dict[str, list[Mapping[str, str]]] = {}
    for item in items:
        for slot in round_state.slots:
            rating = round_state.rating_in_slot(slot, item)
            answer = rating.answers.get(facet) if rating else None
            if answer and answer != CANNOT_JUDGE:
                phrases.setdefault(item, []).append(answer)
    return phrases


def build_unify_act(
    state: State,
    name: str,
    actor: str,
    part: str,
    words: Sequence[str],
    to: str,
    rule: str,
    reason: str = "",
    *,
    simulated: bool = False,
) -> NewAct:
    """Builds the act that unifies words: of synonyms the more frequent one stays; a hypernym replaces special words."""
    round_state = _require_rated_set(state, name)
    if part not in PARTS:
        raise InputError(f"{part!r} is not a part of a phrase; choose from: verb or object")
    if rule not in (SAME_MEANING, HYPERNYM):
        raise InputError(f"the rule is {rule!r}; choose from: {SAME_MEANING} or {HYPERNYM}")
    words = [" ".join(word.lower().split()) for word in words]
    to = " ".join(to.lower().split())
    counts = count_words(round_state, part)
    for word in words:
        if word not in counts:
            raise InputError(
                f"no phrase of {name!r} so far has the {part} {word!r}: list them with `quaestor phrases words`"
            )
    if not to or set(words) <= {to}:
        raise InputError(f"name the words to unify and another word that replaces them, not {to!r} alone")
    if rule == SAME_MEANING and not reason:
        if to not in counts:
            raise InputError(f"no phrase has the {part} {to!r}: name the most frequent word with that meaning")
        most = max(words, key=lambda word: counts[word])
        if counts[most] > counts[to]:
            raise InputError(
                f"{most!r} ({counts[most]} times) is more frequent than {to!r} ({counts[to]}): unify to it, "
                "or give a reason"
            )
    payload: dict[str, object] = {
        "round": name,
        "set": round_state.set,
        "part": part,
        "words": words,
        "to": to,
        "rule": rule,
    }
    payload |= {"reason": reason} if reason else {}
    payload |= {"simulated": True} if simulated else {}
    return NewAct("words.unify", actor, payload, round_state.plan.codebook)


def _require_rated_set(state: State, name: str) -> RoundState:
    """Returns an open round whose current set is fully rated, so that words can be compared; raises otherwise."""
    round_state = state.round(name)
    find_phrase_facet(round_state)
    if round_state.status != OPEN:
        raise StateError(
            f"the round {name!r} is closed and its words can no longer change: "
            "settle disagreements with `quaestor decisions`"
        )
    if left := list_missing(round_state):
        raise StateError(
            f"set {round_state.set} of {name!r} is not complete, {count_of(len(left), 'rating')} missing: "
            "words can be compared once all raters have finished it"
        )
    return round_state


def build_compare_act(state: State, name: str, actor: str) -> NewAct | None:
    """Builds the act that records that raters saw each other's words of this set; None if it is already recorded."""
    round_state = state.round(name)
    if round_state.set in round_state.compared or round_state.status != OPEN:
        return None
    return NewAct("words.compare", actor, {"round": name, "set": round_state.set}, round_state.plan.codebook)


def build_reread_act(state: State, name: str, actor: str, item: str) -> NewAct:
    """Builds the act that requests another rating of an item whose phrase is unclear."""
    round_state = _require_rated_set(state, name)
    if item not in round_state.open_items():
        raise InputError(f"the item {item!r} is not in set {round_state.set} of {name!r}")
    return NewAct(
        "words.reread", actor, {"round": name, "set": round_state.set, "item": item}, round_state.plan.codebook
    )


def count_words(round_state: RoundState, part: str) -> Counter[str]:
    """Returns how often raters wrote each word in the sets so far, before unification."""
    items = [item for items in round_state.sets[: round_state.set] for item in items]
    return Counter(phrase[part] for phrases in list_phrases(round_state, items).values() for phrase in phrases)


def build_curves(round_state: RoundState) -> list[SetCurve]:
    """Returns discrepancy and incompatibility of each set that all raters have finished.

    Discrepancy: the share of a set's items on which raters differ after the unifications made before the set.
    Incompatibility: the share whose phrase was rewritten after the set, because its words did not match those of
    earlier sets.
    """
    curves = []
    for number, items in enumerate(round_state.sets[: round_state.set], start=1):
        due = [(slot, item) for item in items for slot in round_state.slots if slot.has(slot.raters[0], item)]
        if any(round_state.rating_in_slot(slot, item) is None for slot, item in due):
            continue
        phrases_by_item = {
            item: phrases for item, phrases in list_phrases(round_state, items).items() if len(phrases) > 1
        }
        if not phrases_by_item:
            continue
        before, after = find_words_before(round_state, number), find_words_before(round_state, number + 1)
        differ = sum(
            len({unify_words(phrase, before) for phrase in phrases}) > 1 for phrases in phrases_by_item.values()
        )
        rewritten = sum(
            any(unify_words(phrase, before) != unify_words(phrase, after) for phrase in phrases)
            for phrases in phrases_by_item.values()
        )
        curves.append(
            SetCurve(number, len(phrases_by_item), differ / len(phrases_by_item), rewritten / len(phrases_by_item))
        )
    return curves


def list_agreed_phrases(round_state: RoundState) -> dict[str, tuple[str, str]]:
    """Returns the phrase of each item that was decided or whose raters agree after unification."""
    words = find_all_words(round_state)
    facet = find_phrase_facet(round_state).id
    agreed: dict[str, tuple[str, str]] = {}
    for item, phrases in list_phrases(round_state, round_state.plan.items).items():
        decision = round_state.decisions.get((item, facet))
        if round_state.find_asked(item, facet) is False:
            continue
        if decision and decision[-1].answer != CANNOT_JUDGE:
            agreed[item] = unify_words(decision[-1].answer, words)
        elif not decision and len(phrases) == sum(slot.has(slot.raters[0], item) for slot in round_state.slots):
            unified = {unify_words(phrase, words) for phrase in phrases}
            agreed |= {item: unified.pop()} if len(unified) == 1 else {}
    return agreed


def propose_objects(
    phrases: Mapping[str, tuple[str, str]], phases: Mapping[str, Decision], at_least: int = 1
) -> list[tuple[str, str, int]]:
    """Returns (phase, object, count) for the objects of the phrases of each phase, the most frequent first."""
    counts = Counter(
        (phases[item].answer, thing)
        for item, (_, thing) in phrases.items()
        if item in phases and isinstance(phases[item].answer, str) and phases[item].answer != CANNOT_JUDGE
    )
    rows = [(phase, thing, count) for (phase, thing), count in counts.items() if count >= at_least]
    return sorted(rows, key=lambda row: (row[0], -row[2], row[1]))
