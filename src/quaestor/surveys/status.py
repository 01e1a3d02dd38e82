"""Status of a study's surveys in numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from quaestor.coding.session import StudyOrSession, find_study
from quaestor.study.contributions import Next, StatusLine, StatusPart, StatusRequest
from quaestor.study.folder import Study
from quaestor.surveys.lifecycle import (
    CLOSED,
    DRAFT,
    OPEN,
    Surveys,
    answers_path,
    last_paying,
    open_surveys,
    survey_files,
)
from quaestor.surveys.model.records import ResponseStatus
from quaestor.surveys.payment import payment

IMPORTED = "imported"
"""Status of a survey that was never opened but has imported answers."""
STANDING_WORDS = {
    ResponseStatus.FINISHED: "finished",
    ResponseStatus.OPEN: "in progress",
    ResponseStatus.SCREENED_OUT: "screened out",
    ResponseStatus.DECLINED: "declined",
}


@dataclass(frozen=True)
class SurveyStatus:
    """One survey: whether it is open, its version, and its responses by status."""

    survey: str
    status: str = DRAFT
    version: int | None = None
    responses: Mapping[str, int] = field(default_factory=lambda: {status.value: 0 for status in ResponseStatus})
    """By status."""
    erased: int = 0
    """Number of withdrawn responses."""
    quoted: tuple[str, ...] = ()
    """Places that still quote a withdrawn response, which nothing erases."""
    changed: bool = False
    """Whether the file differs from the version that respondents get."""
    to_ingest: tuple[str, ...] = ()
    """Always empty, for programs that read the JSON: open answers are read when they are needed."""
    affordable: int | None = None
    """How many more cards its budget covers, if it pays and has one."""

    @property
    def in_words(self) -> str:
        """Describes how many responses have which status."""
        counted = [(self.responses[status], words) for status, words in STANDING_WORDS.items()]
        return ", ".join(f"{count:,} {words}" for count, words in counted if count) or "no responses yet"


def survey_status(study_or_session: StudyOrSession) -> list[SurveyStatus]:
    """Returns every survey of a study; does not create the answers file if none was opened yet."""
    study = find_study(study_or_session)
    if not answers_path(study).exists():
        return [SurveyStatus(name) for name in survey_files(study)]
    with open_surveys(study_or_session) as surveys:
        return [read_status(surveys, name) for name in surveys.names()]


def surveys_status(request: StatusRequest) -> StatusPart:
    """Returns a status line for each survey, and next steps."""
    lines = survey_status(request.session or request.study)
    order = (OPEN, CLOSED, IMPORTED, DRAFT)
    first = min(
        lines, key=lambda line: (order.index(line.status), _waits_for_a_file(request.study, line)), default=None
    )
    return StatusPart(tuple(map(_stage, lines)), _next(first) if first else None, collects=True)


def _waits_for_a_file(study: Study, survey_status: SurveyStatus) -> bool:
    """Tells whether a draft waits for an import of answers: it has a mapping file."""
    return (
        survey_status.status == DRAFT and (study.root / "instruments" / f"{survey_status.survey}.mapping.toml").exists()
    )


def _next(survey_status: SurveyStatus) -> Next:
    name = survey_status.survey
    if survey_status.status == OPEN:
        command = f"quaestor serve, so that respondents can answer {name}"
        if survey_status.responses.get("finished"):
            command += f"; when enough have answered, quaestor survey close {name}"
        return Next(command, f"{name} is open: {survey_status.in_words}", "survey", survey=name)
    if survey_status.status == DRAFT:
        return Next(f"quaestor survey check {name}, and open it", f"Check {name}, then open it", "survey", survey=name)
    words = f"Read the results of {name}"
    return Next(f"quaestor survey results {name}", words, "survey-results", survey=name, is_optional=True)


def _stage(survey_status: SurveyStatus) -> StatusLine:
    if survey_status.status == DRAFT:
        return StatusLine(f"survey {survey_status.survey}", "waiting", "a draft, not opened yet")
    changed = "; the file has changed" if survey_status.changed else ""
    detail = f"{survey_status.status}, version {survey_status.version}: {survey_status.in_words}{changed}"
    state = "done" if survey_status.status != OPEN else "stale" if survey_status.changed else "waiting"
    return StatusLine(f"survey {survey_status.survey}", state, detail)


def read_status(surveys: Surveys, name: str) -> SurveyStatus:
    """Returns the status of one survey."""
    fielding = surveys.fielding(name)
    kept = surveys.answers.version(name, fielding.version)
    counts = surveys.answers.counts(name)
    imported = fielding.status == DRAFT and any(counts.values())
    file = survey_files(surveys.study).get(name)
    return SurveyStatus(
        survey=name,
        status=IMPORTED if imported else fielding.status,
        version=kept.number if imported and kept else fielding.version,
        responses={standing.value: count for standing, count in counts.items()},
        erased=surveys.answers.erased(name),
        quoted=surveys.answers.quoted(name),
        changed=kept is not None and file is not None and file.read_text("utf-8-sig") != kept.text,
        affordable=payment(surveys, name).affordable if last_paying(surveys, name) else None,
    )


def imported_before(surveys: Surveys, name: str) -> int:
    """Returns the number of imported answers to a survey that was never opened, else 0."""
    status = read_status(surveys, name)
    return sum(status.responses.values()) if status.status == IMPORTED else 0
