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
from quaestor.base.files import write_atomically
from quaestor.base.names import suggest
from quaestor.coding.model.state import State
from quaestor.coding.session import CodingSession, StudyOrSession, find_study, open_coding, require_lead
from quaestor.store.records import Act, NewAct
from quaestor.study.folder import Study
from quaestor.surveys.free_text import ANSWERS_FILE, DECIDE_ACT
from quaestor.surveys.model.question_versions import find_doubled_codes
from quaestor.surveys.model.questionnaire_checks import find_problems
from quaestor.surveys.model.questionnaire_file import check_factor, parse_questionnaire, read_questionnaire
from quaestor.surveys.model.records import Questionnaire, ResponseStatus
from quaestor.surveys.model.version_edits import (
    UNIT,
    EditAnswers,
    PartKey,
    ReplacedPart,
    VersionEdits,
    find_edits,
    find_outdated_factors,
    write_same_parts,
)
from quaestor.surveys.store.answers import AnswerFile, SurveyVersion
from quaestor.surveys.store.invitations import InvitationFile

INVITATIONS_FILE = "invitations.db"
DRAFT, OPEN, CLOSED = "draft", "open", "closed"
MERGE_ACT, UNMERGE_ACT = "survey.merge", "survey.unmerge"


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
    merges: dict[tuple[str, str, str], str] = field(default_factory=dict)
    """By question, `option` or `row`, and code: the code it is counted as."""
    separate: frozenset[tuple[str, str, str]] = frozenset()
    """Parts of earlier versions that the lead declared different from those that replaced them."""

    @property
    def dropped(self) -> frozenset[str]:
        """Returns the responses that the lead excluded."""
        return frozenset(decision.response for decision in self.decisions.values() if not decision.keep)


class Surveys:
    """The surveys of a study and their answers; thread-safe. Without a session, only answers can be read."""

    def __init__(self, coding: CodingSession | None, answers: AnswerFile, study: Study | None = None) -> None:
        self._coding = coding
        self._study = study
        self.answers = answers
        self._versions: dict[tuple[str, int, str], Questionnaire] = {}
        self._folded: tuple[Sequence[Act], int, dict[str, SurveyState]] = ((), 0, {})
        """The acts, how many of them were processed, and the resulting states."""

    @property
    def coding(self) -> CodingSession:
        if self._coding is None:
            raise RuntimeError("these surveys were opened without the journal")
        return self._coding

    @property
    def study(self) -> Study:
        return self._study or self.coding.study

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

    def versions(self, name: str) -> dict[int, Questionnaire]:
        """Returns every version of a questionnaire that was opened or imported, in its first language."""
        newest = self.answers.version(name)
        return {number: self.questionnaire(name, number) for number in range(1, (newest.number if newest else 0) + 1)}

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


def find_effects_of_edit(surveys: Surveys, name: str, questionnaire: Questionnaire | None = None) -> VersionEdits:
    """Returns what the current file, or another questionnaire, would do to earlier answers."""
    versions, fielding = surveys.versions(name), surveys.fielding(name)
    if not versions:
        return VersionEdits()
    edited = questionnaire or read_questionnaire(survey_file(surveys.study, name))
    return find_edits(versions, edited, surveys.answers.responses(name), fielding.merges, fielding.separate)


def describe_effects_of_version(surveys: Surveys, name: str, version: int) -> tuple[str, ...]:
    """Returns what an opened version does to the answers of earlier ones, as sentences."""
    versions, fielding = surveys.versions(name), surveys.fielding(name)
    earlier = {number: questionnaire for number, questionnaire in versions.items() if number < version}
    responses = (response for response in surveys.answers.responses(name) if response.version in earlier)
    return find_edits(earlier, versions[version], responses, fielding.merges, fielding.separate).notes


def open_survey(
    surveys: Surveys, name: str, actor: str | None = None, answers: EditAnswers | None = None, *, separate: bool = False
) -> SurveyVersion:
    """Opens a survey, or a new version of it; respondents who have started keep their version.

    Raises StateError if earlier answers would lose an option that may only be reworded, and `answers` does not say
    whether it is; with `separate` none of them is. What is the same gets its earlier code in the file.
    """
    lead = require_lead(surveys.coding, actor, "open a survey")
    path = survey_file(surveys.study, name)
    questionnaire = read_questionnaire(path)
    text = path.read_text("utf-8-sig")
    answers = answers or EditAnswers()
    replaced = find_effects_of_edit(surveys, name, questionnaire).replaced
    unanswered = [] if separate else [part for part in replaced if not answers.is_answered(part.key)]
    if unanswered:
        raise StateError(f"{path.name}: {unanswered[0].sentence} {_how_to_answer(unanswered[0])}")
    same = {part.key: answers.same[part.key] for part in replaced if part.key in answers.same}
    _check_same(replaced, same)
    different = [part.key for part in replaced if part.key not in same]
    if same:
        text = write_same_parts(text, name, same)
        questionnaire = parse_questionnaire(text, path.name)
    grave = [problem for problem in find_problems(questionnaire) if problem.grave]
    if grave:
        more = f" and {len(grave) - 1} more" if len(grave) > 1 else ""
        raise StateError(f"{path.name}, {grave[0].where}: {grave[0].words}{more} (`quaestor survey check {name}`)")
    for outdated in find_outdated_factors(surveys.versions(name), questionnaire):
        raise StateError(f"{path.name}: {outdated[:-1]}")
    for doubled in find_doubled_codes(questionnaire, surveys.fielding(name).merges):
        raise StateError(
            f"{path.name}: {doubled[:-1]}: remove one, or separate them with `quaestor survey merge {name} … --undo`"
        )
    if questionnaire.closes and date.fromisoformat(questionnaire.closes) < date.fromisoformat(surveys.today()):
        raise StateError(f"{path.name}: survey.closes is {questionnaire.closes}, which has passed: set a later day")
    _keep_promises(surveys, name, questionnaire)
    if same:
        write_atomically(path, text.encode())
    version = surveys.answers.add_version(name, text, surveys.today())
    now = surveys.fielding(name)
    if now.status == OPEN and now.version == version.number:
        raise StateError(f"the survey {name!r} is already open with this questionnaire: nothing has changed")
    payload = {"survey": name, "version": version.number, "sha256": version.sha256}
    if same or different:
        parts = ("question", "part", "code")
        payload["same"] = [{**dict(zip(parts, key, strict=True)), "as": new} for key, new in same.items()]
        payload["different"] = [dict(zip(parts, key, strict=True)) for key in different]

    def opened(state: State) -> NewAct:
        fielding = fieldings(state.unhandled_acts).get(name)
        if fielding is not None and fielding.final:
            words = f"the survey {name!r} is closed permanently, because its last cards were released in a small batch"
            raise StateError(f"{words}: payment would identify new respondents, so use a survey with another name")
        return NewAct("survey.open", lead, payload)

    surveys.coding.act(opened)
    return version


def _how_to_answer(part: ReplacedPart) -> str:
    question, kind, code = part.key
    if kind == UNIT:
        return f"Answer with --convert {question}=FACTOR, or --different {question}.{code}"
    return f"Answer with --same {question}.{code}={part.candidates[0][0]}, or --different {question}.{code}"


def _check_same(replaced: Sequence[ReplacedPart], same: Mapping[PartKey, str]) -> None:
    """Raises InputError if something is said to be the same as what is not new, or as two things."""
    for part in replaced:
        new = same.get(part.key)
        if new is None:
            continue
        if part.key[1] == UNIT:
            check_factor(new)
        elif new not in dict(part.candidates):
            known = suggest(new, dict(part.candidates))
            raise InputError(f"{new!r} is not a new {part.noun} of {part.key[0]!r}, available: {known}")
    options = [(*key[:2], new) for key, new in same.items() if key[1] != UNIT]
    twice = next((option for option in options if options.count(option) > 1), None)
    if twice is not None:
        raise InputError(f"{twice[2]!r} of {twice[0]!r} cannot be the same as two earlier ones: merge them afterwards")


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
            separate = {(part["question"], part["part"], part["code"]) for part in payload.get("different", ())}
            now = replace(
                now, status=OPEN, version=payload["version"], opened=act.time, closed="",
                separate=now.separate | separate,
            )  # fmt: skip
        elif act.kind == "survey.close":
            now = replace(now, status=CLOSED, closed=act.time)
        elif act.kind == "survey.final":
            now = replace(now, final=True)
        elif act.kind == MERGE_ACT:
            key = payload["question"], payload["part"], payload["code"]
            now = replace(now, merges={**now.merges, key: payload["into"]})
        elif act.kind == UNMERGE_ACT:
            undone = payload["question"], payload["part"], payload["code"]
            now = replace(now, merges={key: into for key, into in now.merges.items() if key != undone})
        elif act.kind == DECIDE_ACT:
            decision = ResponseDecision(payload["response"], payload["keep"], payload["why"], act.actor, act.time)
            decisions.setdefault(now.survey, dict(now.decisions))[decision.response] = decision
        updated[payload["survey"]] = now
    return updated | {name: replace(updated[name], decisions=decision) for name, decision in decisions.items()}


@lru_cache(maxsize=64)
def _parsed(text: str, name: str, language: str) -> Questionnaire:
    return parse_questionnaire(text, name, language)
