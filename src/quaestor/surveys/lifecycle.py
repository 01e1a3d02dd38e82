"""Lifecycle of surveys: which are open, in which version, and the lead's decisions on responses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import date
from functools import lru_cache
from pathlib import Path
from typing import Any

from quaestor.base.errors import InputError, StateError
from quaestor.base.names import suggest
from quaestor.coding.model.state import State
from quaestor.coding.session import CodingSession, StudyOrSession, find_study, open_coding, require_lead
from quaestor.store.records import Act, NewAct
from quaestor.study.folder import Study
from quaestor.surveys.free_text import ANSWERS_FILE, DECIDE_ACT
from quaestor.surveys.model.questionnaire_checks import find_problems
from quaestor.surveys.model.questionnaire_file import parse_questionnaire, read_questionnaire
from quaestor.surveys.model.records import Questionnaire, ResponseStatus
from quaestor.surveys.store.answers import AnswerFile, SurveyVersion
from quaestor.surveys.store.invitations import InvitationFile

INVITATIONS_FILE = "invitations.db"
DRAFT, OPEN, CLOSED = "draft", "open", "closed"


@dataclass(frozen=True)
class ResponseDecision:
    """The lead's decision to keep or exclude a response, and why."""

    response: str
    keep: bool
    why: str
    actor: str
    time: str


@dataclass(frozen=True)
class SurveyState:
    """State of a survey."""

    survey: str
    status: str = DRAFT
    version: int | None = None
    """The version for new respondents."""
    opened: str = ""
    closed: str = ""
    final: bool = False
    """The last cards were released in a batch smaller than usual, so nobody may start any more."""
    decisions: dict[str, ResponseDecision] = field(default_factory=dict)
    """By response; the latest decision counts."""


class Surveys:
    """The surveys of a study and their answers; thread-safe."""

    def __init__(self, coding: CodingSession, answers: AnswerFile) -> None:
        self.coding = coding
        self.answers = answers
        self._versions: dict[tuple[str, int, str], Questionnaire] = {}
        self._folded: tuple[Sequence[Act], int, dict[str, SurveyState]] = ((), 0, {})
        """The acts, how many of them were processed, and the resulting states."""

    @property
    def study(self) -> Study:
        return self.coding.study

    def fielding(self, name: str) -> SurveyState:
        """Returns the state of a survey; one that was never opened is a draft."""
        with self.coding.locked_state() as state:
            # Every respondent page needs this while raters wait for the lock, so only new acts are processed.
            acts, count, known = self._folded
            if acts is not state.unhandled_acts:
                count, known = 0, {}
            if count != len(state.unhandled_acts):
                known = fieldings(state.unhandled_acts[count:], known)
            self._folded = state.unhandled_acts, len(state.unhandled_acts), known
            fielding = known.get(name)
        if fielding is None:
            survey_file(self.study, name)
            return SurveyState(name)
        return fielding

    def today(self) -> str:
        return self.coding.journal.clock().date().isoformat()

    def names(self) -> list[str]:
        """Lists all surveys: those with a file, and those that were opened once."""
        return sorted({*survey_files(self.study), *self.answers.surveys()})

    def questionnaire(self, name: str, version: int | None = None, language: str = "") -> Questionnaire:
        """Returns the newest or given version of an opened questionnaire; for a draft, the current file."""
        known = self._versions.get((name, version, language)) if version is not None else None
        if known is not None:  # versions never change, so this cache is always valid
            return known
        kept_version = self.answers.version(name, version)
        if kept_version is None and version is None:
            return read_questionnaire(survey_file(self.study, name), language)
        if kept_version is None:
            raise InputError(f"the survey {name!r} has no version {version}")
        questionnaire = self._versions[name, kept_version.number, language] = _parsed(kept_version.text, name, language)
        return questionnaire

    def is_open(self, name: str) -> bool:
        """Tells whether a response can start now: open, before its last day, and below the maximum."""
        if self.fielding(name).status != OPEN:
            return False
        questionnaire = self.questionnaire(name)
        if questionnaire.closes and self.today() > questionnaire.closes:
            return False
        return questionnaire.most is None or self.answers.counts(name)[ResponseStatus.FINISHED] < questionnaire.most


def survey_files(study: Study) -> dict[str, Path]:
    """Returns questionnaires of the study folder by name; names with a dot, as NAME.mapping.toml, are skipped."""
    files = sorted((study.root / "instruments").glob("*.toml"))
    return {path.stem: path for path in files if "." not in path.stem}


def survey_file(study: Study, name: str) -> Path:
    files = survey_files(study)
    if name not in files:
        options = suggest(name, files) or "none: write instruments/NAME.toml"
        raise InputError(f"there is no questionnaire {name!r} in {study.root / 'instruments'}, available: {options}")
    return files[name]


@contextmanager
def open_surveys(study_or_session: StudyOrSession) -> Iterator[Surveys]:
    """Opens the surveys of a study for one command."""
    with open_coding(study_or_session) as coding, AnswerFile(answers_path(find_study(study_or_session))) as answers:
        yield Surveys(coding, answers)


def answers_path(study: Study) -> Path:
    return study.root / ANSWERS_FILE


def open_survey(surveys: Surveys, name: str, actor: str | None = None) -> SurveyVersion:
    """Opens a survey, or a new version of it; respondents who have started keep their version."""
    lead = require_lead(surveys.coding, actor, "open a survey")
    path = survey_file(surveys.study, name)
    questionnaire = read_questionnaire(path)
    grave = [problem for problem in find_problems(questionnaire) if problem.grave]
    if grave:
        more = f" and {len(grave) - 1} more" if len(grave) > 1 else ""
        raise StateError(f"{path.name}, {grave[0].where}: {grave[0].words}{more} (`quaestor survey check {name}`)")
    if questionnaire.closes and date.fromisoformat(questionnaire.closes) < date.fromisoformat(surveys.today()):
        raise StateError(f"{path.name}: survey.closes is {questionnaire.closes}, which has passed: set a later day")
    _keep_promises(surveys, name, questionnaire)
    version = surveys.answers.add_version(name, path.read_text("utf-8-sig"), surveys.today())
    now = surveys.fielding(name)
    if now.status == OPEN and now.version == version.number:
        raise StateError(f"the survey {name!r} is already open with this questionnaire: nothing has changed")
    payload = {"survey": name, "version": version.number, "sha256": version.sha256}

    def opened(state: State) -> NewAct:
        fielding = fieldings(state.unhandled_acts).get(name)
        if fielding is not None and fielding.final:
            words = f"the survey {name!r} is closed permanently, because its last cards were released in a small batch"
            raise StateError(f"{words}: payment would identify new respondents, so use a survey with another name")
        return NewAct("survey.open", lead, payload)

    surveys.coding.act(opened)
    return version


def last_paying(surveys: Surveys, name: str, language: str = "") -> Questionnaire | None:
    """Returns the newest opened version that pays, in one of its languages; None if none does."""
    newest = surveys.answers.version(name)
    for number in range(newest.number if newest else 0, 0, -1):
        questionnaire = surveys.questionnaire(name, number)
        if questionnaire.pay is not None:
            return (
                surveys.questionnaire(name, number, language) if language in questionnaire.languages else questionnaire
            )
    return None


def _keep_promises(surveys: Surveys, name: str, questionnaire: Questionnaire) -> None:
    """Raises StateError if a new version breaks a promise made to people who were invited or have started."""
    if surveys.answers.version(name) is None:
        return
    if questionnaire.anonymous != surveys.questionnaire(name).anonymous and _has_invited(surveys, name):
        now = "true" if questionnaire.anonymous else "false"
        words = f"{name}.toml: survey.anonymous is now {now}, but people were invited before the change"
        raise StateError(f"{words}: change it back, or use a survey with another name")
    before = last_paying(surveys, name)
    counts = surveys.answers.counts(name)
    # Respondents who have started are paid by the last version that pays, so a version without pay costs them nothing.
    is_promised = counts[ResponseStatus.FINISHED] or (questionnaire.pay is not None and counts[ResponseStatus.OPEN])
    if before is None or before.pay is None or not is_promised:
        return
    promised = f"{before.pay.amount:g} {before.pay.currency}"
    pays = f"{questionnaire.pay.amount:g} {questionnaire.pay.currency}" if questionnaire.pay else ""
    if pays != promised:
        words = f"{name}.toml {f'pays {pays} now' if pays else 'no longer has [pay]'}"
        raise StateError(f"{words}, but respondents were promised {promised}: change it back")


def _has_invited(surveys: Surveys, name: str) -> bool:
    path = surveys.study.root / INVITATIONS_FILE
    if not path.exists():
        return False
    with InvitationFile(path) as invitations:
        return bool(invitations.sent(name))


def close_survey(surveys: Surveys, name: str, actor: str | None = None) -> None:
    """Closes a survey: nobody can start or continue; answers are kept."""
    lead = require_lead(surveys.coding, actor, "close a survey")
    if surveys.fielding(name).status != OPEN:
        raise StateError(f"the survey {name!r} is not open")
    surveys.coding.act(lambda state: NewAct("survey.close", lead, {"survey": name}))


def close_for_good(surveys: Surveys, name: str, actor: str | None = None) -> None:
    """Closes a survey permanently; recorded once."""

    def closed(state: State) -> NewAct | None:
        fielding = fieldings(state.unhandled_acts).get(name)
        if fielding is None or fielding.status != CLOSED:
            raise StateError(f"the survey {name!r} is open again: close it first")
        return None if fielding.final else NewAct("survey.final", actor or surveys.coding.lead, {"survey": name})

    surveys.coding.act(closed)


def review_response(surveys: Surveys, name: str, response: str, keep: bool, why: str, actor: str | None = None) -> None:
    """Keeps a response or excludes it from the results; its answers are not changed."""
    lead = require_lead(surveys.coding, actor, "decide about responses")
    stored = surveys.answers.response(response)
    if stored is None or stored.survey != name:
        raise InputError(f"{name!r} has no response {response!r}")
    if not why.strip():
        raise InputError("give a reason for keeping or excluding the response")
    payload = {"survey": name, "response": response, "keep": keep, "why": why.strip()}
    surveys.coding.act(lambda state: NewAct(DECIDE_ACT, lead, payload))


def fieldings(acts: Iterable[Act], known: Mapping[str, SurveyState] | None = None) -> dict[str, SurveyState]:
    """Returns the state of each survey after these acts, continuing from the known states."""
    updated = dict(known or {})
    decisions: dict[str, dict[str, ResponseDecision]] = {}
    for act in acts:
        if not act.kind.startswith("survey."):
            continue
        payload: dict[str, Any] = act.payload
        now = updated.get(payload["survey"], SurveyState(payload["survey"]))
        if act.kind == "survey.open":
            now = replace(now, status=OPEN, version=payload["version"], opened=act.time, closed="")
        elif act.kind == "survey.close":
            now = replace(now, status=CLOSED, closed=act.time)
        elif act.kind == "survey.final":
            now = replace(now, final=True)
        elif act.kind == DECIDE_ACT:
            decision = ResponseDecision(payload["response"], payload["keep"], payload["why"], act.actor, act.time)
            decisions.setdefault(now.survey, dict(now.decisions))[decision.response] = decision
        updated[payload["survey"]] = now
    return updated | {name: replace(updated[name], decisions=decision) for name, decision in decisions.items()}


@lru_cache(maxsize=64)
def _parsed(text: str, name: str, language: str) -> Questionnaire:
    return parse_questionnaire(text, name, language)
