"""Finds shared texts that quote an answer: a withdrawal cannot erase them, so this shows the lead where they are.

Codebook definitions and round instructions are shared and stay in the journal; so do memos about other answers. Only
the places are recorded, never the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from quaestor.base.names import strip_strand
from quaestor.coding.model.records import SURVEYS
from quaestor.coding.model.state import RoundState, State
from quaestor.surveys.model.records import Response

_WORD = re.compile(r"\w+")
_RUN = 4
"""Number of consecutive words that count as a quotation; a shorter answer counts as a whole."""
_FEWEST = 2
Runs = set[tuple[str, ...]]


def places_that_quote(state: State, response: Response) -> tuple[str, ...]:
    """Lists places that quote a response's open answers and that its withdrawal does not erase."""
    runs = _runs_of_answers(response)
    if not runs:
        return ()
    return tuple(dict.fromkeys(place for place, text in _shared_texts(state, response) if _has_run(text, runs)))


def is_quoted_in(response: Response, text: str) -> bool:
    """Tells whether a text quotes an open answer of a response."""
    return _has_run(text, _runs_of_answers(response))


def _runs_of_answers(response: Response) -> Runs:
    written = [answer.get("text", "") for answer in response.answers.values()]
    written += [text for answer in response.answers.values() for text in answer.get("texts", {}).values()]
    return {run for text in written for run in _runs(text, max(_FEWEST, min(_RUN, len(_words(text)))))}


def _has_run(text: str, runs: Runs) -> bool:
    return any(not runs.isdisjoint(_runs(text, length)) for length in {len(run) for run in runs})


def _shared_texts(state: State, response: Response) -> Iterator[tuple[str, str]]:
    for number, (kind, payload) in enumerate(state.history.changes, start=1):
        name = kind.removeprefix("codebook.")
        for entry in payload.get("codes", ()) if name == "import" else [payload]:
            code = entry.get("id") or entry.get("code") or ""
            place = f"change {number} of the codebook, {name} {code}".strip()
            yield from ((place, text) for text in _texts_in(entry))
    for act in state.unhandled_acts:
        yield f"the reason of act {act.number}, {act.kind}", str(act.payload.get("why", ""))
    for name, round_state in state.rounds.items():
        yield f"the instructions of the round {name!r}", round_state.plan.instructions
        yield f"why the round {name!r} was closed incomplete", round_state.incomplete
        yield f"why the threshold of the round {name!r} was waived", round_state.waived
        # Older rounds contain texts about the response itself; newer ones are erased with it.
        is_older = not round_state.plan.origin and strip_strand(round_state.plan.items[0]).startswith(
            f"{response.survey}/"
        )
        for item, place, text in _written(name, round_state) if round_state.plan.origin == SURVEYS or is_older else ():
            if is_older or not strip_strand(item).startswith(f"{response.survey}/{response.id}/"):
                yield place, text


def _written(name: str, round_state: RoundState) -> Iterator[tuple[str, str, str]]:
    """Yields the texts about the items of a round: item, place, text."""
    for rating in round_state.all_ratings():
        for text in (rating.memo, *_texts_in(rating.answers)):
            yield rating.item, f"what {rating.rater} wrote about {rating.item} in the round {name!r}", text
    for comment in (*round_state.comments, *round_state.tie_comments.values()):
        for text in (comment.text, *_texts_in(comment.answer)):
            yield comment.item, f"a comment on {comment.item} in the round {name!r}", text
    for decision in (decision for decisions in round_state.decisions.values() for decision in decisions):
        for text in (decision.reason, *_texts_in(decision.answer)):
            yield decision.item, f"what was decided about {decision.item} in the round {name!r}", text


def _texts_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _texts_in(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts_in(inner)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _runs(text: str, length: int) -> Runs:
    words = _words(text)
    return {tuple(words[start : start + length]) for start in range(len(words) - length + 1)}
