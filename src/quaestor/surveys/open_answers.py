"""Turns open answers into items that raters code in rounds."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from quaestor.base.errors import InputError, StateError
from quaestor.base.names import slugify, strip_strand, suggest
from quaestor.coding.model.records import SURVEYS
from quaestor.coding.model.state import RoundState, State
from quaestor.coding.session import require_lead
from quaestor.evidence.derived_items import DerivedItems, DerivedSource, as_html, erase_lines, write_derived_items
from quaestor.evidence.erasure import erase_items, list_sources_in_folder
from quaestor.store.records import NewAct
from quaestor.study.folder import Study, open_study
from quaestor.surveys.free_text import FOLDER
from quaestor.surveys.lifecycle import Surveys, fieldings
from quaestor.surveys.model.question_kinds import kind_of
from quaestor.surveys.model.records import Question, Questionnaire, Response, ResponseStatus
from quaestor.surveys.publication_guard import remove_published

_COLUMNS = ("id", "response", "question", "part", "title", "body")


@dataclass(frozen=True)
class OpenAnswer:
    """One respondent's text to one question; the response's id is random and does not identify anybody."""

    response: str
    question: str
    part: str
    """The option or row of the text; empty if it is the whole answer."""
    title: str
    text: str
    survey: str

    @property
    def item(self) -> str:
        place = f"{self.question}.{self.part}" if self.part else self.question
        return f"{self.survey}/{self.response}/{place}"


def parse_response(item: str) -> str:
    """Returns the response that an item comes from."""
    return parse_item(item)[1]


def parse_item(item: str) -> tuple[str, str, str]:
    """Returns the survey, the response and the question of an item."""
    parts = strip_strand(item).split("/")
    if len(parts) != 3:
        raise InputError(f"{item!r} is not an open answer: the format is SURVEY/RESPONSE/QUESTION")
    survey, response, question = parts
    return survey, response, question


def find_excluded_answers(state: State, items: Iterable[str]) -> frozenset[str]:
    """Returns those of the items that come from responses which the lead excluded."""
    states = fieldings(state.unhandled_acts)
    excluded = {survey: survey_state.dropped for survey, survey_state in states.items()}
    parts_by_item = {item: strip_strand(item).split("/") for item in items}
    return frozenset(
        item for item, (survey, *rest) in parts_by_item.items() if survey in excluded and {*rest[:1]} & excluded[survey]
    )


def open_answers(surveys: Surveys, name: str, question: str) -> list[OpenAnswer]:
    """Returns all texts to a question, including those of "other", of finished responses that were not excluded."""
    dropped = surveys.fielding(name).dropped
    answers: list[OpenAnswer] = []
    for response in surveys.answers.responses(name):
        if response.standing is ResponseStatus.FINISHED and response.id not in dropped:
            version_question = surveys.questionnaire(name, response.version).question(question)
            answers += _texts(version_question, response) if version_question is not None else ()
    return answers


def make_items(surveys: Surveys, name: str, question: str, actor: str | None = None) -> DerivedItems:
    """Writes the open answers to a question as the input of a source, and adds the source to study.toml.

    Calling it again writes the current answers. Texts of withdrawn responses are removed at once, here and in every
    copy made from here.
    """
    require_lead(surveys.coding, actor, "make items of open answers")
    _require_text(surveys.questionnaire(name), question)
    study = open_study(surveys.study.root)
    source = DerivedSource(
        f"{name}-{question}",
        slugify(f"{name}-{question}"),
        FOLDER,
        _COLUMNS,
        "open answers",
        f"Open answers to {name}-{question}, written by `quaestor survey items`.",
    )

    def read_lines(known: bool) -> list[tuple[str, ...]]:
        answers = open_answers(surveys, name, question)
        if not answers and not known:
            raise StateError(f"{question!r} of {name!r} has no open answers yet")
        return [_line(answer) for answer in answers]

    return write_derived_items(study, source, read_lines, "response")


def forget_response(study: Study, survey: str, response: str) -> bool:
    """Removes the texts of a response from items made of open answers, and from everything derived from them.

    Returns whether there were any.
    """
    changes = [erase_lines(study.root / FOLDER, _COLUMNS.index("response"), response)]
    changes += [erase_items(study, source, f"{survey}/{response}/") for source in list_sources_in_folder(study, FOLDER)]
    return any(changes)


def _texts(question: Question, response: Response) -> Iterator[OpenAnswer]:
    kind, answer = kind_of(question), response.answers.get(question.id, {})
    if kind.is_free_text and (whole := kind.in_words(question, answer)).strip():
        yield OpenAnswer(response.id, question.id, "", question.text, whole, response.survey)
    parts = {option.code: option.label for option in question.options} | {row.code: row.label for row in question.rows}
    for part, text in answer.get("texts", {}).items():
        if text.strip():
            title = f"{question.text} ({parts.get(part, part)})"
            yield OpenAnswer(response.id, question.id, part, title, text, response.survey)


def _require_text(questionnaire: Questionnaire, name: str) -> None:
    """Raises InputError if a question has no text field."""
    with_text = [question.id for question in questionnaire.questions() if _is_worded(question)]
    if questionnaire.question(name) is None or name not in with_text:
        what = "has no text field" if questionnaire.question(name) is not None else "is not a question"
        options = suggest(name, with_text) or "none"
        raise InputError(f"{name!r} {what} in {questionnaire.id!r}, questions with text fields: {options}")


def _is_worded(question: Question) -> bool:
    kind = kind_of(question)
    return kind.is_free_text or bool(kind.worded_parts(question))


def _line(answer: OpenAnswer) -> tuple[str, ...]:
    return answer.item, answer.response, answer.question, answer.part, answer.title, as_html(answer.text)


def erase_response(surveys: Surveys, name: str, response: str, why: str, actor: str | None = None) -> tuple[str, ...]:
    """Erases a response on behalf of the lead and returns the places that still quote it.

    The journal records the erasure and its reason, not the response.
    """
    lead = require_lead(surveys.coding, actor, "erase a response")
    stored = surveys.answers.response(response)
    if stored is None or stored.survey != name:
        raise InputError(f"{name!r} has no response {response[:60]!r}: it may have been erased already")
    if not why.strip():
        raise InputError("give a reason for erasing the response")
    if is_quoted_in(stored, why):
        raise InputError("the reason quotes the answer, but is kept in the journal: rephrase it")
    quoted = _places_that_quote(surveys, stored)
    erase_everywhere(surveys, stored, "lead")
    surveys.coding.act(lambda state: NewAct("survey.erase", lead, {"survey": name, "why": why.strip()}))
    return quoted


def erase_everywhere(surveys: Surveys, response: Response, by: str) -> bool:
    """Erases a response and everything derived from it, and returns whether it still existed."""
    # Items first: if that fails, the response and its code still exist for another attempt.
    had_items = forget_response(surveys.study, response.survey, response.id)
    if had_items:
        remove_published(surveys.study)
    quoted = _places_that_quote(surveys, response)
    erased = surveys.answers.erase_response(response.id, surveys.today(), by, quoted)
    # Again, because items may have been written, and results published, in between.
    if forget_response(surveys.study, response.survey, response.id) or had_items:
        remove_published(surveys.study)
    return erased


def _places_that_quote(surveys: Surveys, response: Response) -> tuple[str, ...]:
    with surveys.coding.locked_state() as state:
        return places_that_quote(state, response)


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
