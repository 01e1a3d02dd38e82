"""Rating one item at a time in the terminal; the automatic proposal is shown only after the rating."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from typing import Any

from quaestor.coding.model.answers import check_answer, name_answer, write_cell
from quaestor.coding.model.conditions import describe_condition
from quaestor.coding.model.facet_kinds import find_kind
from quaestor.coding.model.facet_kinds.base import KEYS, AnswerChoice
from quaestor.coding.model.facet_kinds.passages import find_passage_facet, require_passage_facet
from quaestor.coding.model.phrase_proposals.proposal import propose
from quaestor.coding.model.ratings import build_practice_act, list_untried_practice
from quaestor.coding.model.records import CANNOT_JUDGE, Codebook, Facet, RaterView
from quaestor.coding.model.state import State
from quaestor.coding.model.views import build_rater_view
from quaestor.coding.rating_files import rate
from quaestor.coding.session import CodingSession, open_coding
from quaestor.evidence.item_texts import mask_item_text, read_item_texts
from quaestor.store.records import NewAct
from quaestor.study.features import open_known_names
from quaestor.study.folder import Study

_MARKUP = re.compile(r"<[^>]+>")
_LINE_END = re.compile(r"<(?:br|/li|/tr|/div)\b[^>]*>", re.IGNORECASE)
_BLOCK_END = re.compile(r"</(?:p|pre|h[1-6]|ul|ol|blockquote|table)\b[^>]*>", re.IGNORECASE)
_BREAKS = re.compile(r"\n{3,}")
_LONGEST = 3_000


def build_next_item(study: Study, name: str, rater: str) -> dict[str, Any]:
    """Returns the next item of a rater with its text and facets."""
    with open_coding(study) as coding:
        view = build_rater_view(coding.state, name, rater)
        trying = [practice.item for practice in list_untried_practice(coding.state.round(name), rater)]
    item = trying[0] if trying else view.left[0] if view.left else None
    item_text = read_item_texts(study, [item] if item else []).get(item or "")
    if item_text:
        with open_known_names(study) as mask:
            item_text = mask_item_text(mask, item_text)
    return {
        "round": name,
        "item": item,
        "title": html.unescape(item_text.title) if item_text else item or "",
        "text": strip_markup(item_text.body) if item_text else "",
        "answer": strip_markup(item_text.answer) if item_text else "",
        "tags": list(item_text.tags) if item_text else [],
        "link": item_text.link if item_text else "",
        "instructions": view.instructions,
        "practice": bool(trying),
        "facets": [_describe_facet(facet, view, item) for facet in view.facets],
        "done": len(view.items) - len(view.left),
        "items": len(view.items),
        "set": view.set,
        "sets": view.sets,
    }


def _describe_facet(facet: Facet, view: RaterView, item: str | None) -> dict[str, Any]:
    proposed = view.proposals.get(item or "", {}) if find_kind(facet).confirms_proposal else {}
    return {
        "facet": facet.id,
        "kind": facet.kind,
        "question": facet.question,
        "ask_if": describe_condition(facet.ask_if),
        "allowed": f"{find_kind(facet).hint(facet, view.codebook)}   or: {CANNOT_JUDGE}",
        "proposed": list_proposals(proposed),
    }


def list_proposals(proposed: Mapping[str, str]) -> list[str]:
    """Returns what a rater is asked to confirm, one line for each facet."""
    return [f"{name}: {proposed[name]}" for name in sorted(proposed, key=_sort_key)]


def _sort_key(name: str) -> tuple[int, str]:
    """Sorts issue, object and phase in this order, before other facets."""
    triplet = ("phrase", "object", "phase")
    return (triplet.index(name) if name in triplet else len(triplet), name)


def list_choices(facet: Facet, book: Codebook) -> tuple[AnswerChoice, ...]:
    """Returns the choices of a facet with their keys: that of the codebook if the desk leaves it free, else another."""
    kind = find_kind(facet)
    choices = kind.choices(facet, book)
    own = {choice.value: choice.key for choice in choices if choice.key and choice.key not in kind.desk_keys}
    free = [key for key in KEYS if key not in own.values() and key not in kind.desk_keys]
    keyed = []
    for choice in choices:
        key = own.get(choice.value) or (free.pop(0) if free else "")
        keyed.append(AnswerChoice(choice.value, choice.label, key, choice.definition, choice.group))
    return tuple(keyed)


def record_rating(
    study: Study,
    name: str,
    rater: str,
    item: str,
    answers: Mapping[str, Any],
    *,
    unsure: tuple[str, ...] = (),
    memo: str = "",
    seconds: float = 0.0,
    key: str = "",
) -> dict[str, Any]:
    """Records a rating; returns the automatic proposal, which can no longer influence the rater."""
    with open_coding(study) as coding:
        rate(coding, name, rater, item, answers, unsure=unsure, memo=memo, seconds=seconds, key=key)
        view = build_rater_view(coding.state, name, rater)
    proposal = ""
    if any(find_kind(facet).unifies_words for facet in view.facets):
        item_text = read_item_texts(study, [item]).get(item)
        phrase = propose(item_text.title) if item_text else None
        proposal = f"{phrase.verb}, {phrase.object} ({phrase.certainty})" if phrase else ""
    return {"done": len(view.items) - len(view.left), "left": len(view.left), "proposal": proposal}


def try_practice(study: Study, name: str, rater: str, item: str, answers: Mapping[str, Any]) -> dict[str, Any]:
    """Records an answer to a practice item; returns the feedback and how many are left."""
    with open_coding(study) as coding:
        outcome = record_practice(coding, name, rater, item, answers)
        return {"item": item, **outcome, "left": len(list_untried_practice(coding.state.round(name), rater))}


def record_practice(
    coding: CodingSession, name: str, rater: str, item: str, answers: Mapping[str, Any]
) -> dict[str, Any]:
    """Records an answer to a practice item; returns which facets were right, the right answers, and the feedback."""
    outcomes: list[tuple[NewAct, dict[str, bool], str]] = []

    def act(state: State) -> NewAct:
        outcomes.append(build_practice_act(state, name, rater, item, answers))
        return outcomes[-1][0]

    coding.act(act)
    state = coding.state
    plan = state.round(name).plan
    practice = next(exercise for exercise in plan.practice if exercise.item == item)
    new, right, feedback = outcomes[-1]
    own_answers = new.payload["answers"]
    return {
        "right": right,
        "answers": {facet: write_cell(plan.facet(facet), answer) for facet, answer in practice.answers.items()},
        "feedback": feedback,
        "explained": [
            _explain_practice(plan.facet(facet), state.history.at(plan.codebook), own_answers.get(facet), answer)
            for facet, answer in practice.answers.items()
        ],
    }


def _explain_practice(facet: Facet, book: Codebook, own_answer: Any, expected: Any) -> dict[str, Any]:
    """Returns the given and the right answer of a facet by name, and the definitions of their codes."""
    answers = [
        answer for answer in (own_answer, check_answer(facet, book, expected)) if answer not in (None, CANNOT_JUDGE)
    ]
    values = dict.fromkeys(value for answer in answers for value in find_kind(facet).chosen_values(answer))
    defined = {choice.value: choice for choice in find_kind(facet).choices(facet, book) if choice.definition}
    return {
        "facet": facet.id,
        "question": facet.question,
        "given": name_answer(facet, book, own_answer),
        "expected": name_answer(facet, book, check_answer(facet, book, expected)),
        "definitions": {defined[value].label: defined[value].definition for value in values if value in defined},
    }


def strip_markup(body: str, longest: int | None = _LONGEST) -> str:
    """Returns a post without its markup, for the terminal and spreadsheets."""
    lines = _BLOCK_END.sub("\n\n", _LINE_END.sub("\n", body))
    text = html.unescape(_MARKUP.sub("", lines))
    text = "".join(character for character in text if character.isprintable() or character in "\n\t")
    text = _BREAKS.sub("\n\n", text).strip()
    return text if longest is None or len(text) <= longest else f"{text[:longest]} …"


def codes_passages(coding: CodingSession, name: str) -> bool:
    """Returns whether the raters of a round code passages of transcripts."""
    with coding.locked_state() as state:
        return find_passage_facet(state.round(name).plan) is not None


def require_passages(coding: CodingSession, name: str) -> None:
    """Raises StateError if a round rates whole items."""
    with coding.locked_state() as state:
        require_passage_facet(state.round(name).plan)
