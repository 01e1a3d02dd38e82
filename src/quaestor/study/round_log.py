"""What happened in a round, act by act, in words that tell nothing of what anybody said about an item."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from quaestor.store.records import Act
from quaestor.store.selected import acts_of_kinds
from quaestor.study.coding import Coding


@dataclass(frozen=True)
class Happened:
    """One act of a round."""

    number: int
    time: str
    actor: str
    words: str
    reason: str = ""


def round_log(coding: Coding, name: str) -> list[Happened]:
    """The acts of a round in order, but for its ratings and what was said about them."""
    found = acts_of_kinds(coding.journal, list(_WORDS))
    return [_happened(act) for act in found if _round_of(act) == name]


def _round_of(act: Act) -> str:
    plan: Mapping[str, Any] = act.payload.get("plan", {})
    return str(plan.get("round") or act.payload.get("round", ""))


def _happened(act: Act) -> Happened:
    reason = str(act.payload.get("reason") or act.payload.get("incomplete") or "")
    return Happened(act.number, act.time, act.actor, _WORDS[act.kind](act.payload), reason)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _decided(said: Mapping[str, Any]) -> str:
    ways = Counter(one["how"] for one in said["decisions"])
    return ", ".join(f"{_count(number, 'decision')} by {how}" for how, number in ways.items()) or "no decision"


def _closed(said: Mapping[str, Any]) -> str:
    if "incomplete" not in said:
        return "declared it final"
    words = "closed it although it was not complete" if said["incomplete"] else "closed it"
    return f"{words}, as final" if said.get("final") else words


_WORDS: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "round.open": lambda said: f"opened it with {_count(len(said['plan']['items']), 'item')}",
    "round.close": _closed,
    "round.reopen": lambda said: "reopened it as not blind" if said.get("not_blind") else "opened it again",
    "round.waive": lambda said: "waived its threshold",
    "round.replace": lambda said: f"gave {_count(len(said['items']), 'item')} of {said['rater']} to {said['by']}",
    "round.deadline": lambda said: f"set its deadline to {said['deadline'][:16].replace('T', ' ')} UTC",
    "round.set": lambda said: f"went on to set {said['set']}",
    "round.unblind": lambda said: "looked at its ratings",
    "ratings.import": lambda said: f"took in {_count(said['rows'], 'rating')} from {said['file']}",
    "words.compare": lambda said: f"compared the words of set {said['set']}",
    "words.unify": lambda said: f"unified words after set {said['set']}",
    "words.reread": lambda said: f"asked for an item of set {said['set']} to be read again",
    "decision": _decided,
}
