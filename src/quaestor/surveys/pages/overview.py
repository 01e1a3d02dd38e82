"""Overview of surveys for the lead: status, responses, changes in the file, next steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from statistics import median

from quaestor.base.errors import InputError, Problem
from quaestor.base.names import fits_url
from quaestor.study.folder import Study
from quaestor.surveys.check_questionnaire import check_survey
from quaestor.surveys.invitations import ResponseRate, ResponseRates, response_rates
from quaestor.surveys.lifecycle import (
    CLOSED,
    DRAFT,
    OPEN,
    Surveys,
    SurveyState,
    answers_path,
    find_effects_of_edit,
    survey_file,
    survey_files,
)
from quaestor.surveys.merges import EarlierPart, MergedPart, list_earlier_parts, list_merges
from quaestor.surveys.model.in_words import condition_in_words
from quaestor.surveys.model.questionnaire_checks import find_problems
from quaestor.surveys.model.questionnaire_file import parse_questionnaire, read_questionnaire
from quaestor.surveys.model.records import Page, Question, Questionnaire, ResponseStatus
from quaestor.surveys.model.version_edits import VersionEdits
from quaestor.surveys.pages.version_changes import CHANGED, Change, changes_between
from quaestor.surveys.recipients import count_recipients
from quaestor.surveys.status import IMPORTED, STANDING_WORDS, SurveyStatus, read_status
from quaestor.surveys.store.recipients import RecipientCounts

_MOST_DAYS = 62
_WEEK = 7


@dataclass(frozen=True)
class SurveyFile:
    """The current questionnaire file, or why it cannot be read."""

    questionnaire: Questionnaire | None
    why_not: str = ""
    problems: tuple[Problem, ...] = ()
    minutes: float | None = None
    """Estimated minutes for the longest path, if computed."""

    @property
    def grave(self) -> int:
        return sum(problem.grave for problem in self.problems)


@dataclass(frozen=True)
class SurveyLine:
    """One survey in the list of all."""

    name: str
    title: str
    survey_status: SurveyStatus
    file: SurveyFile
    closes: str
    most: int | None
    by_invitation: bool
    takes_more: bool
    """Whether a response can be started now."""
    invited: ResponseRates

    @property
    def status(self) -> str:
        return self.survey_status.status

    @property
    def version(self) -> int | None:
        return self.survey_status.version

    @property
    def changed(self) -> bool:
        """Tells whether the file differs from the opened version."""
        return self.survey_status.changed

    @property
    def tally(self) -> list[tuple[ResponseStatus, str, int]]:
        """Returns the number of responses by status, finished first, each with a label."""
        responses = self.survey_status.responses
        return [(status, words, responses[status]) for status, words in STANDING_WORDS.items()]

    @property
    def responses(self) -> int:
        return sum(self.survey_status.responses.values())

    @property
    def has_page(self) -> bool:
        return fits_url(self.name)

    @property
    def can_open(self) -> bool:
        return self.file.questionnaire is not None and not self.file.grave and self.is_openable

    @property
    def is_openable(self) -> bool:
        """Tells whether it is not open with the current file."""
        return self.status != OPEN or self.changed

    @property
    def next(self) -> str:
        """Returns the lead's next step."""
        if self.status == IMPORTED:
            return "Read the results"
        if self.status != CLOSED and self.file.why_not:
            return f"Fix its file: {self.file.why_not}"
        if self.status == DRAFT:
            return "Fix its problems" if self.file.grave else "Check the preview, then open it"
        if self.status == CLOSED:
            return (
                "Read the results"
                if self.survey_status.responses[ResponseStatus.FINISHED]
                else "Open it again if needed"
            )
        if self.changed:
            return "The file has changed: open the new version, or restore the file"
        if not self.takes_more:
            return "It accepts no more responses: close it"
        if self.responses:
            return "Follow the responses as they come in"
        return "Invite people" if self.by_invitation else "Send people the link"


@dataclass(frozen=True)
class Period:
    """A day, or a week in long surveys, and the number of responses started in it."""

    first: str
    last: str
    count: int

    @property
    def words(self) -> str:
        return self.first if self.first == self.last else f"{self.first} to {self.last}"


@dataclass(frozen=True)
class SurveyQuestionLine:
    """Summary of a question."""

    question: Question
    shown_if: str
    research: tuple[str, ...] = ()


@dataclass(frozen=True)
class PageLines:
    """Summary of a page."""

    page: Page
    shown_if: str
    questions: tuple[SurveyQuestionLine, ...]


@dataclass(frozen=True)
class SurveyOverview:
    """Everything on the page of one survey."""

    line: SurveyLine
    fielding: SurveyState
    questionnaire: Questionnaire | None
    """The current file, else the version opened last."""
    pages: tuple[PageLines, ...] = ()
    changes: tuple[Change, ...] = ()
    edits: VersionEdits = field(default_factory=VersionEdits)
    """What the changes do to earlier answers."""
    periods: tuple[Period, ...] = ()
    median_seconds: float | None = None
    """Median of the counted responses with a known time."""
    left_out: int = 0
    """Responses excluded by the lead."""
    quotas: tuple[tuple[str, int], ...] = field(default=())
    mailed: RecipientCounts = field(default_factory=RecipientCounts)
    """People who are invited by e-mail."""
    knows_started: bool = False
    """Whether it is known how many of them started."""
    merges: tuple[MergedPart, ...] = ()
    earlier_parts: tuple[EarlierPart, ...] = ()
    """Options and rows of older versions that can be merged."""

    @property
    def mailed_facts(self) -> list[tuple[str, int]]:
        """Returns how many people were invited by e-mail and what became of it; a rare state is left out if it is 0."""
        mailed = self.mailed
        started = [("started", mailed.started)] if self.knows_started else []
        rare = [("opted out", mailed.opted_out), ("refused", mailed.refused), ("uncertain", mailed.uncertain)]
        facts = [("recipients", mailed.all), ("invited", mailed.invited), ("reminded", mailed.reminded), *started]
        return [*facts, *((words, count) for words, count in rare if count)]

    @property
    def next_mail(self) -> str:
        """Returns the command that sends the next e-mails; empty if none can be sent now."""
        if not self.mailed.all or not self.line.takes_more:
            return ""
        if self.mailed.invited + self.mailed.opted_out + self.mailed.refused < self.mailed.all:
            return f"Send the invitations: `quaestor survey mail {self.line.name}`"
        return f"Remind those who have not answered: `quaestor survey remind {self.line.name}`"

    @property
    def can_open(self) -> bool:
        """Tells whether opening can succeed; errors that name an earlier code disappear with the lead's answers."""
        return self.line.can_open or bool(self.edits.replaced and self.line.is_openable)


def has_surveys(study: Study) -> bool:
    """Tells whether there is a questionnaire, or answers to one."""
    return bool(survey_files(study)) or answers_path(study).exists()


def was_opened_once(surveys: Surveys | None, name: str) -> bool:
    return surveys is not None and surveys.answers.version(name) is not None


def survey_names(study: Study, surveys: Surveys | None) -> list[str]:
    return surveys.names() if surveys else list(survey_files(study))


def survey_lines(study: Study, surveys: Surveys | None) -> list[SurveyLine]:
    """Every survey of a study."""
    return [_line(study, surveys, name) for name in survey_names(study, surveys)]


def survey_overview(study: Study, surveys: Surveys | None, name: str) -> SurveyOverview:
    """Returns one survey; raises InputError with the available ones if it does not exist."""
    line = _line(study, surveys, name, checked=True)
    opened = surveys.questionnaire(name) if surveys and line.version else None
    questionnaire = line.file.questionnaire or opened
    fielding = surveys.fielding(name) if surveys else SurveyState(name)
    mailed, knows_started = count_recipients(surveys, name) if surveys else (RecipientCounts(), False)
    return SurveyOverview(
        line=line,
        fielding=fielding,
        questionnaire=questionnaire,
        pages=tuple(_page(page, questionnaire) for page in questionnaire.pages) if questionnaire else (),
        changes=tuple(_changes(line, opened)) if opened and line.changed else (),
        edits=find_effects_of_edit(surveys, name, line.file.questionnaire)
        if surveys and opened and line.changed and line.file.questionnaire
        else VersionEdits(),
        periods=tuple(periods(surveys.answers.days(name))) if surveys else (),
        median_seconds=_median_seconds(surveys, name) if surveys else None,
        left_out=sum(not decision.keep for decision in fielding.decisions.values()),
        quotas=tuple((condition_in_words(quota.condition, questionnaire), quota.most) for quota in questionnaire.quotas)
        if questionnaire
        else (),
        mailed=mailed,
        knows_started=knows_started,
        merges=tuple(list_merges(surveys, name)) if surveys and opened else (),
        earlier_parts=tuple(list_earlier_parts(surveys, name)) if surveys and opened else (),
    )


def _line(study: Study, surveys: Surveys | None, name: str, checked: bool = False) -> SurveyLine:
    was_opened = was_opened_once(surveys, name)
    file = _file(study, name, needed=not was_opened, checked=checked)
    questionnaire = surveys.questionnaire(name) if surveys and was_opened else file.questionnaire
    return SurveyLine(
        name=name,
        title=questionnaire.title if questionnaire else name,
        survey_status=read_status(surveys, name) if surveys and was_opened else SurveyStatus(name),
        file=file,
        closes=questionnaire.closes if questionnaire else "",
        most=questionnaire.most if questionnaire else None,
        by_invitation=questionnaire is not None and questionnaire.by_invitation,
        takes_more=surveys is not None and was_opened and surveys.is_open(name),
        invited=response_rates(surveys, name) if surveys else ResponseRates(ResponseRate(name, 0, 0)),
    )


def _file(study: Study, name: str, needed: bool, checked: bool) -> SurveyFile:
    """Reads the file; a file removed after opening is reported, not raised."""
    file = survey_file(study, name) if needed else survey_files(study).get(name)
    if file is None:
        return SurveyFile(None, f"instruments/{name}.toml no longer exists")
    try:
        if checked:
            whole = check_survey(file)
            return SurveyFile(whole.questionnaire, "", whole.problems, whole.minutes)
        questionnaire = read_questionnaire(file)
        return SurveyFile(questionnaire, "", tuple(find_problems(questionnaire)))
    except InputError as error:
        return SurveyFile(None, str(error).replace(f"{study.root}/", ""))


def _changes(line: SurveyLine, opened: Questionnaire) -> Sequence[Change]:
    now = line.file.questionnaire
    if now is None:
        return ()
    differences = changes_between(opened, now)
    return differences or [Change(CHANGED, "only comments, formatting or texts in another language differ")]


def _page(page: Page, questionnaire: Questionnaire) -> PageLines:
    return PageLines(
        page,
        condition_in_words(page.show_if, questionnaire) if page.show_if else "",
        tuple(
            SurveyQuestionLine(
                question,
                condition_in_words(question.show_if, questionnaire) if question.show_if else "",
                tuple(questionnaire.research.get(name, name) for name in question.answers),
            )
            for question in page.questions
        ),
    )


def _median_seconds(surveys: Surveys, name: str) -> float | None:
    dropped = surveys.fielding(name).dropped
    known = [seconds for response, seconds in surveys.answers.seconds(name).items() if response not in dropped]
    return median(known) if known else None


def periods(days: Mapping[str, int]) -> list[Period]:
    """Returns every day from the first to the last, including those without responses; weeks if there are many."""
    known = sorted(day for day in days if day)
    if not known:
        return []
    first, last = date.fromisoformat(known[0]), date.fromisoformat(known[-1])
    length = 1 if (last - first).days < _MOST_DAYS else _WEEK
    weeks, begin = [], first
    while begin <= last:
        inside = [(begin + timedelta(days=more)).isoformat() for more in range(length)]
        weeks.append(Period(inside[0], inside[-1], sum(days.get(day, 0) for day in inside)))
        begin += timedelta(days=length)
    return weeks


def questionnaire_now(study: Study, name: str, language: str = "") -> Questionnaire:
    """Returns the current questionnaire file in one of its languages."""
    return parse_questionnaire(survey_file(study, name).read_text("utf-8-sig"), f"{name}.toml", language)
