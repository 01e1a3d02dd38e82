"""Items and what was said about them, as pages show them: no known name, however old the evidence is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from quaestor.coding.confusion import ConfusedItems
from quaestor.evidence.records import Example, FunnelResult
from quaestor.interviews.names.masked_cases import unnamed_texts
from quaestor.interviews.names.masking import masker
from quaestor.interviews.repository import Interviews
from quaestor.search.coded_items import Answer
from quaestor.search.item_history import Event, ItemHistory


def unnamed_examples(interviews: Interviews | None, examples: Sequence[Example]) -> tuple[Example, ...]:
    """Items of a step of the funnel."""
    if interviews is None:
        return tuple(examples)
    found = [(one, *unnamed_texts(interviews, one.item, one.title, one.body)) for one in examples]
    return tuple(replace(one, title=title, body=body) for one, title, body in found)


def unnamed_result(interviews: Interviews | None, result: FunnelResult) -> FunnelResult:
    """A funnel with what its steps show as examples."""
    steps = (
        replace(
            step,
            kept_examples=unnamed_examples(interviews, step.kept_examples),
            dropped_examples=unnamed_examples(interviews, step.dropped_examples),
        )
        for step in result.steps
    )
    return replace(result, steps=tuple(steps))


def unnamed_history(interviews: Interviews | None, history: ItemHistory) -> ItemHistory:
    """What raters and those who settled wrote about an item; its own words are a reading, which has its own way."""
    if interviews is None:
        return history
    masked = masker(interviews)
    rounds = (replace(part, events=tuple(_event(one, masked) for one in part.events)) for part in history.rounds)
    decided = tuple(_answer(one, masked) for one in history.decided)
    return replace(history, decided=decided, rounds=tuple(rounds))


def unnamed_confused(interviews: Interviews | None, found: ConfusedItems | None) -> ConfusedItems | None:
    """Items on which raters stand apart, with what each of them noted."""
    if interviews is None or found is None:
        return found
    masked = masker(interviews)
    items = tuple(
        replace(
            one,
            title=unnamed_texts(interviews, one.item, one.title, "")[0],
            opinions=tuple(replace(each, answer=masked(each.answer), memo=masked(each.memo)) for each in one.opinions),
        )
        for one in found.items
    )
    return replace(found, items=items)


def _event(one: Event, masked: Callable[[str], str]) -> Event:
    said = tuple((facet, masked(words)) for facet, words in one.said)
    return replace(one, said=said, text=masked(one.text), decision=masked(one.decision))


def _answer(one: Answer, masked: Callable[[str], str]) -> Answer:
    return replace(one, words=masked(one.words), decision=masked(one.decision))
