"""What people wrote in their own words, as items that raters can code in rounds like posts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from quaestor.base.errors import InputError, StateError
from quaestor.base.names import suggest
from quaestor.coding.session import require_lead
from quaestor.evidence.derived_items import DerivedItems, DerivedSource, as_html, erase_lines, write_derived_items
from quaestor.evidence.erasure import erase_items, list_sources_in_folder
from quaestor.store.records import NewAct
from quaestor.study.folder import Study, open_study
from quaestor.surveys.free_text import FOLDER
from quaestor.surveys.lifecycle import Surveys
from quaestor.surveys.model.records import CHOSEN, Kind, Question, Questionnaire, Response, Standing
from quaestor.surveys.quoted_answers import is_quoted_in, places_that_quote

_COLUMNS = ("id", "response", "question", "part", "title", "body")
_WORDED = (Kind.TEXT, Kind.LONG_TEXT)


@dataclass(frozen=True)
class OpenAnswer:
    """Words of one respondent to one question; the response's id is random, and nothing else says who it was."""

    response: str
    question: str
    part: str
    """The option or row the words belong to; empty where they are the whole answer."""
    title: str
    text: str
    survey: str

    @property
    def item(self) -> str:
        place = f"{self.question}.{self.part}" if self.part else self.question
        return f"{self.survey}/{self.response}/{place}"


def response_of(item: str) -> str:
    """The response that an item comes from."""
    parts = item.split("/")
    if len(parts) != 3:
        raise InputError(f"{item!r} is no open answer of a survey: it would be SURVEY/RESPONSE/QUESTION")
    return parts[1]


def open_answers(surveys: Surveys, name: str, question: str) -> list[OpenAnswer]:
    """All that respondents wrote to a question, "other" texts too: of finished responses that were not left out."""
    decisions = surveys.fielding(name).decisions
    found: list[OpenAnswer] = []
    for one in surveys.answers.responses(name):
        left_out = one.id in decisions and not decisions[one.id].keep
        if one.standing is Standing.FINISHED and not left_out:
            asked = surveys.questionnaire(name, one.version).question(question)
            found += _words(asked, one) if asked is not None else ()
    return found


def make_items(surveys: Surveys, name: str, question: str, actor: str | None = None) -> DerivedItems:
    """Write the open answers to a question as the input of a source, and put the source into study.toml.

    Called again it writes what stands then. Words of who withdraws are taken out at once, here and wherever they went
    from here.
    """
    require_lead(surveys.coding, actor, "make items of open answers")
    _require_words(surveys.questionnaire(name), question)
    study = open_study(surveys.study.root)
    source = DerivedSource(
        f"{name}-{question}",
        FOLDER,
        _COLUMNS,
        "open answers",
        f"Open answers to {name}-{question}, written by `quaestor survey items`.",
    )

    def found(known: bool) -> list[tuple[str, ...]]:
        said = open_answers(surveys, name, question)
        if not said and not known:
            raise StateError(f"nobody has answered {question!r} of {name!r} in words yet: there are no items to make")
        return [_line(one) for one in said]

    return write_derived_items(study, source, found, "response")


def forget_response(study: Study, survey: str, response: str) -> None:
    """Take the words of one response out of the items made of open answers, and of all that was made of those."""
    erase_lines(study.root / FOLDER, _COLUMNS.index("response"), response)
    for source in list_sources_in_folder(study, FOLDER):
        erase_items(study, source, f"{survey}/{response}/")


def _words(question: Question, response: Response) -> Iterator[OpenAnswer]:
    said = response.answers.get(question.id, {})
    if question.kind in _WORDED and said.get("text", "").strip():
        yield OpenAnswer(response.id, question.id, "", question.text, said["text"], response.survey)
    parts = {one.code: one.label for one in question.options} | {one.code: one.label for one in question.rows}
    for part, text in said.get("texts", {}).items():
        if text.strip():
            title = f"{question.text} ({parts.get(part, part)})"
            yield OpenAnswer(response.id, question.id, part, title, text, response.survey)


def _require_words(asked: Questionnaire, name: str) -> None:
    """Refuse a question that nobody can answer in words."""
    worded = [one.id for one in asked.questions() if _is_worded(one)]
    if asked.question(name) is None or name not in worded:
        what = "asks for no words of one's own" if asked.question(name) is not None else "is not asked"
        options = suggest(name, worded) or "none"
        raise InputError(f"{name!r} {what} in {asked.id!r}, questions that are answered in words: {options}")


def _is_worded(question: Question) -> bool:
    parts = question.options if question.kind in CHOSEN else question.rows
    return question.kind in _WORDED or any(one.text for one in parts)


def _line(one: OpenAnswer) -> tuple[str, ...]:
    return one.item, one.response, one.question, one.part, one.title, as_html(one.text)


def erase_response(surveys: Surveys, name: str, response: str, why: str, actor: str | None = None) -> tuple[str, ...]:
    """Erase a response as the lead, such as one that was imported; on record is that it was done and why, not which.

    Returns the places that still quote it.
    """
    lead = require_lead(surveys.coding, actor, "erase a response")
    found = surveys.answers.response(response)
    if found is None or found.survey != name:
        raise InputError(f"there is no response {response[:60]!r} to {name!r}: it may have been erased already")
    if not why.strip():
        raise InputError("say why: a response is erased for a reason that others can read")
    if is_quoted_in(found, why):
        raise InputError("the reason quotes the answer, and would stay on record: give it in other words")
    quoted = _places_that_quote(surveys, found)
    erase_everywhere(surveys, found, "lead")
    surveys.coding.act(lambda state: NewAct("survey.erase", lead, {"survey": name, "why": why.strip()}))
    return quoted


def erase_everywhere(surveys: Surveys, response: Response, by: str) -> bool:
    """Erase a response and all that was made of it; whether it was still there."""
    # What was made of it goes first: where that fails, all is still there, and so is the code to try again with.
    forget_response(surveys.study, response.survey, response.id)
    quoted = _places_that_quote(surveys, response)
    erased = surveys.answers.erase_response(response.id, surveys.today(), by, quoted)
    forget_response(
        surveys.study, response.survey, response.id
    )  # again, since items may have been made between the two
    return erased


def _places_that_quote(surveys: Surveys, response: Response) -> tuple[str, ...]:
    with surveys.coding.locked_state() as state:
        return places_that_quote(state, response)
