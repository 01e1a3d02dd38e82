"""Erasing a response for good: by whoever gave it, or by the lead where nobody holds its code."""

from __future__ import annotations

from quaestor.base.errors import InputError
from quaestor.instruments.records import Response
from quaestor.store.records import NewAct
from quaestor.study.coding import require_lead
from quaestor.study.surveys.fielding import Surveys
from quaestor.study.surveys.open_answers import forget_response
from quaestor.study.surveys.quoting import is_quoted_in, places_that_quote


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
    with surveys.coding.looking() as state:
        return places_that_quote(state, response)
