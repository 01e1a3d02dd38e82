"""Where the surveys of a study stand, in numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from quaestor.instruments.records import Standing
from quaestor.study.coding import Where, study_of
from quaestor.study.coding_status import Stage
from quaestor.study.surveys.fielding import CLOSED, DRAFT, OPEN, Surveys, answers_path, open_surveys, survey_files


@dataclass(frozen=True)
class SurveyStatus:
    """One survey: whether it is open, in which version, and how far its responses have come."""

    survey: str
    status: str = DRAFT
    version: int | None = None
    responses: Mapping[str, int] = field(default_factory=lambda: {one.value: 0 for one in Standing})
    """By standing."""
    erased: int = 0
    """Withdrawn by those who gave them."""
    changed: bool = False
    """The file says something else than the version that respondents get."""


def survey_status(where: Where) -> list[SurveyStatus]:
    """Every survey of a study; where none was opened yet, nothing is written to find that out."""
    study = study_of(where)
    if not answers_path(study).exists():
        return [SurveyStatus(name) for name in survey_files(study)]
    with open_surveys(where) as surveys:
        return [status_of(surveys, name) for name in surveys.names()]


def survey_way(where: Where) -> tuple[list[Stage], str]:
    """Where each survey stands, and what comes next in them; empty where a study has none."""
    found = survey_status(where)
    stages = [_stage(one) for one in found]
    for status, words in (
        (OPEN, "quaestor serve, so that {} can be answered"),
        (CLOSED, "quaestor survey results {}"),
        (DRAFT, "quaestor survey check {}, and open it"),
    ):
        named = next((one.survey for one in found if one.status == status), None)
        if named is not None:
            return stages, words.format(named)
    return stages, ""


def _stage(one: SurveyStatus) -> Stage:
    state = {DRAFT: "waiting", OPEN: "done", CLOSED: "done"}[one.status]
    if one.status == DRAFT:
        return Stage(f"survey {one.survey}", state, "a draft, not opened yet")
    counts = (
        ", ".join(f"{count:,} {standing}" for standing, count in one.responses.items() if count) or "no responses yet"
    )
    changed = "; the file has changed since" if one.changed else ""
    detail = f"{one.status}, version {one.version}: {counts}{changed}"
    return Stage(f"survey {one.survey}", "stale" if one.changed and one.status == OPEN else state, detail)


def status_of(surveys: Surveys, name: str) -> SurveyStatus:
    """One survey of those at hand."""
    fielding = surveys.fielding(name)
    kept = surveys.answers.version(name, fielding.version)
    file = survey_files(surveys.study).get(name)
    return SurveyStatus(
        survey=name,
        status=fielding.status,
        version=fielding.version,
        responses={standing.value: count for standing, count in surveys.answers.counts(name).items()},
        erased=surveys.answers.erased(name),
        changed=kept is not None and file is not None and file.read_text("utf-8-sig") != kept.text,
    )
