"""Turns open answers into items that raters code in rounds."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from quaestor.base.errors import InputError, SettingsError, StateError
from quaestor.base.names import slugify, strip_strand, suggest
from quaestor.coding.model.records import SURVEYS
from quaestor.coding.model.state import RoundState, State
from quaestor.coding.session import require_lead
from quaestor.evidence.erasure import contains_items, forget_items, remove_copies
from quaestor.evidence.live_items import AddedItems, add_live_source, as_html
from quaestor.store.records import Act, NewAct
from quaestor.study.folder import Study, has_journal, open_journal, open_study
from quaestor.study.session import Session
from quaestor.study.settings.sources import COPIES_FOLDERS, OpenAnswerSettings
from quaestor.surveys.free_text import ANSWERS_FILE, DECIDE_ACT
from quaestor.surveys.lifecycle import Surveys, answers_path, fieldings
from quaestor.surveys.model.question_kinds import kind_of
from quaestor.surveys.model.records import Question, Questionnaire, Response, ResponseStatus
from quaestor.surveys.publication_guard import remove_published
from quaestor.surveys.store.answers import AnswerFile, stamp_answers


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


def list_open_answers(surveys: Surveys, name: str, *questions: str) -> list[OpenAnswer]:
    """Returns all texts to some questions, or to all, including those of "other", of finished responses."""
    answers: list[OpenAnswer] = []
    for response in surveys.answers.responses(name):
        if response.standing is ResponseStatus.FINISHED:
            questionnaire = surveys.questionnaire(name, response.version)
            for question in questionnaire.questions():
                if not questions or question.id in questions:
                    answers += _texts(question, response)
    return answers


_LONGEST_NAME = 40
"""Characters in the name of a strand."""


class OpenAnswerSource:
    """Open answers as items, read from the answers file; implements `LiveSource`."""

    kind = "open-answers"
    file = ANSWERS_FILE
    items_are = "open answers of finished responses"
    columns: tuple[str, ...] = ("id", "response", "question", "part", "title", "body")

    def stamp(self, study: Study) -> object:
        return stamp_answers(answers_path(study))

    def read_rows(self, study: Study, source: str) -> list[tuple[str, ...]]:
        if not answers_path(study).exists():
            return []
        with AnswerFile(answers_path(study)) as answers:
            surveys = Surveys(None, answers, study)
            settings = study.source(source)
            if isinstance(settings, OpenAnswerSettings):
                survey, questions = settings.survey, settings.questions
            else:
                survey, questions = _parse_copied_name(surveys, Path(settings.path).stem)
            texts = list_open_answers(surveys, survey, *questions)
        return [(text.item, text.response, text.question, text.part, text.title, as_html(text.text)) for text in texts]

    def read_left_out(self, study: Study, session: Session[Any] | None) -> Callable[[str], bool]:
        """Returns a test for answers of responses that the lead excluded."""
        acts: Iterable[Act] = ()
        if session is not None:
            acts = session.state.unhandled_acts
        elif has_journal(study):
            with open_journal(study) as journal:
                acts = journal.read_acts_of_kinds([DECIDE_ACT])
        excluded = {(survey, response) for survey, state in fieldings(acts).items() for response in state.dropped}
        return lambda item: tuple(item.split("/")[:2]) in excluded


def _parse_copied_name(surveys: Surveys, name: str) -> tuple[str, tuple[str, ...]]:
    """Returns the survey and the question of a table that an earlier version wrote, from its name."""
    for survey in surveys.answers.surveys():
        question = name.removeprefix(f"{survey}-")
        if question != name and surveys.questionnaire(survey).question(question) is not None:
            return survey, (question,)
    table = f"{COPIES_FOLDERS[OpenAnswerSource.kind]}/{name}.csv"
    raise SettingsError(
        f'{surveys.study.file}: no survey of this study made the table {table}: use kind = "open-answers" with its '
        "survey and questions, or move the table to another folder"
    )


def make_items(surveys: Surveys, name: str, *questions: str, actor: str | None = None) -> AddedItems:
    """Adds the open answers to some questions of a survey, or to all, to study.toml as a source with a strand.

    The items follow the answers: new ones enter with the next run of the funnel, erased ones are gone at once.
    """
    require_lead(surveys.coding, actor, "make items of open answers")
    questionnaire = surveys.questionnaire(name)
    for question in questions:
        _require_text(questionnaire, question)
    chosen = tuple(dict.fromkeys(questions))
    study = open_study(surveys.study.root)
    source = strand = "-".join((name, *chosen))
    if len(source) > _LONGEST_NAME:  # it is the name of a strand, which is in every item id
        digest = hashlib.sha256(source.encode()).hexdigest()[:6]
        strand = f"{source[: _LONGEST_NAME - 7]}-{digest}"
        source = strand if len(chosen) > 1 else source
    if source not in study.settings.sources and not list_open_answers(surveys, name, *chosen):
        of = f"{' and '.join(map(repr, chosen))} of {name!r}" if chosen else repr(name)
        raise StateError(f"{of} has no open answers yet")
    settings: dict[str, Any] = {"survey": name, **({"questions": list(chosen)} if chosen else {})}
    about = f"Open answers of the survey {name}, read from {ANSWERS_FILE}; added by `quaestor survey items`."
    return add_live_source(study, source, OpenAnswerSource(), settings, slugify(strand), "open answers", about)


def forget_response(study: Study, survey: str, response: str) -> bool:
    """Removes an erased response from the results of funnels; returns whether they had its items."""
    return forget_items(study, OpenAnswerSource.kind, f"{survey}/{response}/")


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
    # Copies first: if one cannot be removed, the response and its code still exist for another attempt.
    had_items = bool(remove_copies(surveys.study))
    had_items |= contains_items(surveys.study, OpenAnswerSource.kind, f"{response.survey}/{response.id}/")
    if had_items:
        remove_published(surveys.study)
    quoted = _places_that_quote(surveys, response)
    erased = surveys.answers.erase_response(response.id, surveys.today(), by, quoted)
    # Again, because the funnel may have run, and results may have been published, in between.
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
