"""Recounts interview results from stored acts and records, without any function that computes the published ones.

The acts are read from the journal's database; the interview files are encrypted, so that their entries and pieces come
from the function that decrypts them. Everything else is counted here, the slow and obvious way.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

from quaestor.interviews.repository import Interviews

ENDS_ANSWER = ("Is there anything that I should have asked?", "Where do you see the field in ten years?")
"""Questions of the interviewer that are not in the guide; all others of the transcripts are, or are follow-ups."""


@dataclass
class RecountedTurn:
    item: str
    interview: str
    participant: str
    voice: str
    text: str
    answer: str
    """The answer that it belongs to; empty outside of the guide's questions."""


@dataclass
class RecountedRound:
    items: list[str]
    raters: list[str]
    closed: int = 0
    """The number of the act that closed it; 0 while it is open."""
    ratings: dict[str, dict[str, list[dict[str, Any]]]] = field(default_factory=dict)
    """rater → item → passages."""
    decisions: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    def list_rated(self) -> set[str]:
        return {item for ratings in self.ratings.values() for item in ratings}

    def list_code_sets(self, item: str) -> list[frozenset[str]]:
        given = [self.ratings[rater][item] for rater in self.raters if item in self.ratings.get(rater, {})]
        return [frozenset(passage["code"] for passage in passages) for passages in given]

    def is_disputed(self, item: str) -> bool:
        return len(set(self.list_code_sets(item))) > 1


@dataclass
class Recount:
    """All numbers about interviews that a study publishes."""

    mentions: dict[tuple[str, str], int]
    """(code, participant) → quotations."""
    participants: set[str]
    quotations: list[tuple[str, int, int, str]]
    turns_together: dict[tuple[str, str], int]
    answers_together: dict[tuple[str, str], int]
    characters_together: dict[tuple[str, str], int]
    participants_together: dict[tuple[str, str], int]
    """Pairs of codes → participants with both in one turn or one answer."""
    events: list[tuple[str, ...]]
    new_codes: list[int]
    uncounted: dict[str, dict[str, int]]
    compared: dict[str, int]
    """By round, the items that both raters rated."""
    disagreements: dict[str, int]
    undecided: dict[str, int]
    alike: dict[tuple[str, str], tuple[int, int]]
    """(round, code) → items on which both raters gave it or neither did, and all compared items."""
    items: dict[str, int]
    """By round, the items that still count."""
    decided: dict[str, int]
    """By round, the items that still count and have a decision."""
    ratings: dict[str, int]
    """By round, the ratings of items that still count."""


def recount(root: Path, interviews: Interviews) -> Recount:
    """Recounts everything from the files of a study."""
    turns, declined = _read_turns(interviews)
    rounds = _read_rounds(root)
    state: dict[str, list[dict[str, Any]] | str] = {}
    rated: set[str] = set()
    planned: set[str] = set()
    for closed in sorted((one for one in rounds.values() if one.closed), key=lambda one: one.closed):
        rated |= closed.list_rated()
        planned |= set(closed.items)
        for item in closed.items:
            if item in closed.decisions:
                state[item] = closed.decisions[item]
            elif item in closed.list_rated():
                state[item] = "disagreement" if closed.is_disputed(item) else "undecided"
    counted: dict[str, list[dict[str, Any]]] = {}
    uncounted: dict[str, Counter[str]] = {}
    for item, turn in turns.items():
        if turn.participant in declined:
            continue
        known = state.get(item)
        if turn.voice == "participant" and isinstance(known, list):
            counted[item] = known
        elif turn.voice != "participant":
            if item in rated:
                uncounted.setdefault("other speaker", Counter())[turn.participant] += 1
        elif turn.text.strip() or item in rated:
            reason = known if isinstance(known, str) else "not rated" if item in planned else "in no closed round"
            uncounted.setdefault(reason, Counter())[turn.participant] += 1
    quotations = sorted(
        (item, passage["start"], passage["end"], passage["code"]) for item in counted for passage in counted[item]
    )
    there = {turns[item].interview for item in counted}
    events = _order_events(interviews, there)
    return Recount(
        dict(Counter((code, turns[item].participant) for item, _, _, code in quotations)),
        {turns[item].participant for item in counted},
        quotations,
        _count_pairs([(item, code) for item, _, _, code in quotations]),
        _count_pairs([(turns[item].answer, code) for item, _, _, code in quotations if turns[item].answer]),
        _count_pairs([((item, place), code) for item, low, high, code in quotations for place in range(low, high)]),
        _count_people([(turns[item], code) for item, _, _, code in quotations]),
        events,
        _count_new_codes(events, [(turns[item].interview, code) for item, _, _, code in quotations]),
        {reason: dict(numbers) for reason, numbers in uncounted.items()},
        *_compare_raters(rounds, turns, declined),
    )


def _read_turns(interviews: Interviews) -> tuple[dict[str, RecountedTurn], set[str]]:
    by_interview: dict[str, list[Any]] = {}
    consent: dict[str, str] = {}
    for entry in interviews.file.read_entries():
        if entry.about:
            by_interview.setdefault(entry.about, []).append(entry)
        elif entry.kind == "consent":
            consent[entry.participant] = entry.content["what"]
    turns = {}
    for name, entries in by_interview.items():
        turns.update(_read_talk(interviews, name, entries))
    return turns, {participant for participant, what in consent.items() if what == "declined"}


def _read_talk(interviews: Interviews, name: str, entries: Sequence[Any]) -> dict[str, RecountedTurn]:
    turns: dict[str, RecountedTurn] = {}
    speakers: dict[str, str] = {}
    voices: dict[int, str] = {}
    asks: dict[int, tuple[str, str]] = {}
    for entry in entries:
        if entry.kind == "transcript":
            speakers, voices, asks = {}, {}, {}
        elif entry.kind == "speaker":
            speakers[entry.content["speaker"]] = entry.content["voice"]
        elif entry.kind == "voice":
            voices[entry.content["turn"]] = entry.content["voice"]
        elif entry.kind == "match":
            for turn, question in entry.content["questions"].items():
                hand = entry.content["how"] == "by hand" or asks.get(int(turn), ("", ""))[1] == "by hand"
                asks[int(turn)] = (question, "by hand" if hand else "")
    answer = ""
    for number, piece in enumerate(interviews.file.read_pieces(name)):
        voice = voices.get(number) or speakers.get(piece["speaker"], "other")
        question, how = asks.get(number, ("", ""))
        if question:
            answer = f"{name}/{question}@{number}"
        elif how == "by hand" or (voice == "interviewer" and piece["text"] in ENDS_ANSWER):
            answer = ""
        item = f"{name}/{number:05d}"
        turns[item] = RecountedTurn(item, name, entries[0].participant, voice, piece["text"], answer)
    return turns


def _read_rounds(root: Path) -> dict[str, RecountedRound]:
    rounds: dict[str, RecountedRound] = {}
    with sqlite3.connect(root / "study.db") as store:
        rows = store.execute("SELECT number, kind, actor, payload FROM acts ORDER BY number").fetchall()
    for number, kind, actor, text in rows:
        payload = json.loads(text)
        if kind == "round.open":
            plan = payload["plan"]
            rounds[plan["round"]] = RecountedRound(plan["items"], plan["raters"])
        elif kind == "round.close":
            rounds[payload["round"]].closed = number
        elif kind == "rating":
            ratings = rounds[payload["round"]].ratings.setdefault(actor, {})
            ratings[payload["item"]] = payload["answers"]["themes"]
        for decision in payload.get("decisions", ()):
            rounds[payload["round"]].decisions[decision["item"]] = decision["answer"]
    return rounds


def _count_pairs(given: Sequence[tuple[Any, str]]) -> dict[tuple[str, str], int]:
    """Counts the units in which two codes occur."""
    units: dict[Any, set[str]] = {}
    for unit, code in given:
        units.setdefault(unit, set()).add(code)
    return dict(Counter(pair for codes in units.values() for pair in combinations(sorted(codes), 2)))


def _count_people(given: Sequence[tuple[RecountedTurn, str]]) -> dict[tuple[str, str], int]:
    """Counts the participants who have two codes in one turn or one answer."""
    people: dict[tuple[str, str], set[str]] = {}
    for (first, code), (second, other) in combinations(given, 2):
        if code != other and (first.item == second.item or (first.answer and first.answer == second.answer)):
            people.setdefault((min(code, other), max(code, other)), set()).add(first.participant)
    return {pair: len(names) for pair, names in people.items()}


def _order_events(interviews: Interviews, there: set[str]) -> list[tuple[str, ...]]:
    days: dict[str, str] = {}
    same: dict[str, str] = {}
    groups: dict[str, str] = {}
    for entry in interviews.file.read_entries():
        if entry.kind == "transcript":
            same[entry.about] = entry.content["sha256"]
        elif entry.kind == "occasion":
            days[entry.about], groups[entry.about] = entry.content["day"], entry.content["group"]
    events: dict[str, list[str]] = {}
    for name in sorted(there, key=lambda one: int(one.removeprefix("P"))):
        events.setdefault(groups.get(name) or same[name], []).append(name)
    ordered = [tuple(event) for event in events.values()]
    if all(days.get(name) for name in there):
        ordered.sort(key=lambda event: min(days[name] for name in event))
    return ordered


def _count_new_codes(events: Sequence[tuple[str, ...]], given: Sequence[tuple[str, str]]) -> list[int]:
    seen: set[str] = set()
    numbers = []
    for event in events:
        here = {code for name, code in given if name in event}
        numbers.append(len(here - seen))
        seen |= here
    return numbers


def _compare_raters(
    rounds: Mapping[str, RecountedRound], turns: Mapping[str, RecountedTurn], declined: set[str]
) -> tuple[
    dict[str, int],
    dict[str, int],
    dict[str, int],
    dict[tuple[str, str], tuple[int, int]],
    dict[str, int],
    dict[str, int],
    dict[str, int],
]:
    items: dict[str, int] = {}
    decided: dict[str, int] = {}
    ratings: dict[str, int] = {}
    compared: dict[str, int] = {}
    disagreements: dict[str, int] = {}
    undecided: dict[str, int] = {}
    alike: dict[tuple[str, str], tuple[int, int]] = {}
    for name, one in rounds.items():
        left = [
            item
            for item in one.items
            if item in turns and turns[item].voice == "participant" and turns[item].participant not in declined
        ]
        items[name], decided[name] = len(left), sum(item in one.decisions for item in left)
        ratings[name] = sum(item in given for given in one.ratings.values() for item in left)
        sets = [one.list_code_sets(item) for item in left]
        both = [pair for pair in sets if len(pair) == 2]
        compared[name] = len(both)
        disputed = [item for item in left if one.is_disputed(item)]
        disagreements[name] = len(disputed)
        undecided[name] = sum(item not in one.decisions for item in disputed)
        for code in {code for pair in sets for codes in pair for code in codes}:
            alike[name, code] = (sum((code in first) == (code in second) for first, second in both), len(both))
    return compared, disagreements, undecided, alike, items, decided, ratings
