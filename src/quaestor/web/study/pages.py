"""The start page: study overview for leads and readers, tasks for raters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from quaestor.base.errors import QuaestorError, StateError
from quaestor.coding.agreement_access import AgreementAccess, compare_to_threshold, find_access, list_comparable_facets
from quaestor.coding.agreement_cache import CachedAgreement, find_agreement
from quaestor.coding.model.rounds import count_left_by_rater
from quaestor.coding.model.state import CLOSED, RaterSlot, RoundState, State
from quaestor.coding.model.views import require_lead_view
from quaestor.coding.pages.activity import ActivityLine, PendingTask, list_latest_acts, list_pending_tasks, name_person
from quaestor.coding.pages.agreement import build_measure
from quaestor.coding.session import CodingSession
from quaestor.coding.visibility import Viewer, Visibility
from quaestor.evidence.funnel import last_result
from quaestor.evidence.records import FunnelResult
from quaestor.interviews.overview import InterviewOverview, build_overview, has_interviews
from quaestor.measures.agreement.statistics import STATISTICS
from quaestor.people.roles import Permission, Role
from quaestor.study.contributions import Next, StatusLine
from quaestor.study.features import NOTHING_LEFT, Status, status_and_next
from quaestor.study.folder import Study
from quaestor.study.settings.coding import RoundSettings
from quaestor.surveys.lifecycle import OPEN
from quaestor.surveys.status import SurveyStatus, survey_status
from quaestor.web.navigation import link_to
from quaestor.web.page import Pages, require_visitor
from quaestor.web.security.access import Visitor

NOT_OPENED = "not opened"
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_NO_REPORT = "a report needs a settled round: one that coded transcripts, or the one named by [results] in study.toml"


@dataclass(frozen=True)
class RaterProgress:
    """A rater slot of a round and its progress."""

    rater: str
    done: int
    of: int
    hours: float | None = None


@dataclass(frozen=True)
class AgreementLine:
    """The reported statistic of a round, formatted."""

    name: str
    value: str
    interval: str
    band: str
    n: int
    more: int
    """Number of ratings since it was computed."""
    verdict: str = ""
    passed: bool | None = None
    undefined: str = ""


@dataclass(frozen=True)
class RoundLine:
    """One round on the start page."""

    round: str
    kind: str
    status: str  # not opened, open, closed
    items: int = 0
    set: int = 0
    sets: int = 0
    deadline: str = ""
    closed: str = ""
    incomplete: str = ""
    waived: str = ""
    simulated: bool = False
    blindness: str = ""
    missing: int = 0
    seats: tuple[RaterProgress, ...] = ()
    hours: float | None = None
    measured: str = ""
    """The facet whose agreement is reported; none if there is none or the viewer may not see it."""
    look: AgreementAccess | None = None
    reached: AgreementLine | None = None


@dataclass(frozen=True)
class StrandFunnel:
    """The last result of a strand's funnel, and whether it is current."""

    title: str
    query: str
    """The query of pages about this strand; empty for the first one."""
    result: FunnelResult | None
    holds: bool


@dataclass(frozen=True)
class Overview:
    """Everything on the start page."""

    stages: tuple[StatusLine, ...]
    next: Next | None
    command: str
    """The next command, if no page does it."""
    funnels: tuple[StrandFunnel, ...]
    rounds: tuple[RoundLine, ...]
    waiting: tuple[PendingTask, ...]
    latest: tuple[ActivityLine, ...]
    surveys: tuple[SurveyStatus, ...] = ()
    has_funnel: bool = True
    """Whether the study has or needs a funnel; a study of surveys and interviews has none."""
    has_rounds: bool = True

    @property
    def hours(self) -> float:
        return sum(round_state.hours or 0.0 for round_state in self.rounds)


def _read_funnel(study: Study, coding: CodingSession | None) -> StrandFunnel:
    query = "" if study.strand == study.strands[0] else urlencode({"strand": study.strand})
    last = last_result(study, coding) if study.settings.sources else None
    return StrandFunnel(study.strand_title, query, *(last or (None, True)))


def build_study_overview(
    study: Study, coding: CodingSession | None, viewer: Viewer, opened: Mapping[str, Any] | None = None
) -> Overview:
    """Builds the overview for one viewer without waiting for large computations."""
    leads = viewer.role is Role.LEAD
    status, following = status_and_next(study, coding, opened, wait=False)
    funnels = [_read_funnel(strand, coding) for strand in study.in_each_strand()]
    rounds = [
        RoundLine(round_state.round, round_state.kind, NOT_OPENED, seats=_list_planned_raters(round_state, viewer))
        for round_state in study.settings.rounds
    ]
    waiting: list[PendingTask] = []
    latest: list[ActivityLine] = []
    if coding is not None:
        with coding.locked_state() as state:
            sight = Visibility(state, coding.lead, viewer)
            opened = {name: _line(sight, round_state) for name, round_state in state.rounds.items()}
            waiting = list_pending_tasks(state, viewer.name)
            latest = list_latest_acts(sight)
        planned = [opened.pop(round_state.round, round_state) for round_state in rounds]
        rounds = [_with_agreement(coding, line) for line in (*planned, *opened.values())]
    sees = {round_state.round for round_state in rounds if round_state.look and round_state.look.may == "now"}
    surveys = survey_status(coding or study)
    following = _adapt_next_step(following, sees, surveys) if leads else None
    asks_only = (bool(surveys) or has_interviews(study)) and not study.settings.sources
    return Overview(
        tuple(_hide_details(stage, leads, sees) for stage in status.stages),
        following,
        _command(study, status) if leads and following is None else "",
        tuple(funnels),
        tuple(rounds),
        tuple(waiting),
        tuple(latest),
        tuple(surveys),
        has_funnel=not asks_only or bool(study.funnel.steps or study.settings.strands),
        has_rounds=not asks_only or bool(rounds),
    )


def _command(study: Study, status: Status) -> str:
    words, done = status.next, "Everything planned is done"
    report = next((stage.state for stage in status.stages if stage.name == "report"), "none")
    if words == "quaestor report" and report == "waiting":
        return f"{done}: publish it with `quaestor report`."
    if words == NOTHING_LEFT or words.startswith("quaestor serve"):
        return f"{done}, and the report is up to date." if report == "done" else f"{done}: {_NO_REPORT}."
    if words.startswith("quaestor "):
        return f"Run `{words}`."
    words = words.replace(f"{study.root}/", "")
    return f"{words[:1].upper()}{words[1:]}."


def _hide_details(stage: StatusLine, leads: bool, sees: set[str]) -> StatusLine:
    """Removes file paths and unseen agreement from a status line."""
    if stage.name.startswith("source ") and not leads and stage.state != "done":
        return replace(stage, detail={"none": "its input is missing"}.get(stage.state, "not up to date"))
    if stage.name.startswith("round ") and stage.detail.startswith("closed") and _round_of(stage) not in sees:
        missed = ", below its threshold" if stage.state == "doubtful" else ", not settled yet"
        return replace(stage, detail=f"closed{'' if stage.state == 'done' else missed}")
    return stage


def _round_of(stage: StatusLine) -> str:
    return stage.name.removeprefix("round ")


def _adapt_next_step(following: Next | None, sees: set[str], surveys: list[SurveyStatus]) -> Next | None:
    """Returns the next step; hides the number of disagreements from a lead who rated and has not viewed them.

    The reader is already at the desk, so an open survey needs no `quaestor serve`.
    """
    if following is not None and any(survey.survey == following.survey and survey.status == OPEN for survey in surveys):
        return replace(following, command="quaestor survey status")
    if following is None or following.page != "disagreements" or following.round in sees:
        return following
    return replace(following, words=f"Settle the round {following.round}")


def _list_planned_raters(round_settings: RoundSettings, viewer: Viewer) -> tuple[RaterProgress, ...]:
    return tuple(
        RaterProgress(rater if viewer.sees_names else f"rater {_LETTERS[place : place + 1] or place + 1}", 0, 0)
        for place, rater in enumerate(round_settings.raters)
    )


def _line(sight: Visibility, round_state: RoundState) -> RoundLine:
    plan = round_state.plan
    timed = round_state.status == CLOSED or _may_time(sight, round_state)
    hours = sum(round_state.seconds.values()) / 3600 if timed else None
    compared = list_comparable_facets(round_state)
    measured = plan.measured if plan.measured in compared else next(iter(compared), "")
    return RoundLine(
        plan.round,
        plan.kind,
        round_state.status,
        len(round_state.items_left()),
        round_state.set,
        len(round_state.sets),
        round_state.deadline,
        round_state.closed,
        round_state.incomplete if sight.viewer.role is Role.LEAD else "",
        round_state.waived if sight.viewer.role is Role.LEAD else "",
        round_state.simulated,
        round_state.blindness,
        sum(count_left_by_rater(round_state).values()),
        tuple(_build_rater_progress(sight, round_state, seat, timed) for seat in round_state.slots),
        hours or None,
        measured,
        _find_agreement_access(sight, round_state, measured),
    )


def _may_time(sight: Visibility, round_state: RoundState) -> bool:
    """Whether the viewer may see the hours of an open round: only a lead who does not rate in it."""
    if sight.viewer.role is not Role.LEAD:
        return False
    try:
        require_lead_view(sight.state, round_state.plan.round, sight.viewer.name, sight.lead)
    except StateError:
        return False
    return True


def _build_rater_progress(sight: Visibility, round_state: RoundState, seat: RaterSlot, timed: bool) -> RaterProgress:
    who = " then ".join(name_person(sight, round_state.plan.round, rater) for rater in seat.raters)
    spent = sum(round_state.seconds.get(rater, 0.0) for rater in seat.raters) / 3600
    return RaterProgress(who, round_state.rated_by(seat), len(seat.items[0]), spent if timed and spent else None)


def _find_agreement_access(sight: Visibility, round_state: RoundState, measured: str) -> AgreementAccess | None:
    if not measured or not round_state.rating_count:
        return None
    if sight.viewer.role is Role.LEAD:
        return find_access(sight.state, round_state.plan.round, sight.viewer.name, sight.lead)
    return None if sight.why_no_ratings(round_state.plan.round) else AgreementAccess("now")


def _with_agreement(coding: CodingSession, line: RoundLine) -> RoundLine:
    if line.look is None or line.look.may != "now":
        return line
    try:
        agreement = find_agreement(coding, line.round, line.measured, wait=False)
    except QuaestorError as refusal:
        return replace(line, look=AgreementAccess("not yet", f"Agreement cannot be computed: {refusal}."))
    if agreement is None:
        return line
    with coding.locked_state() as state:
        return replace(line, reached=_build_agreement_line(state, line, agreement))


def _build_agreement_line(state: State, line: RoundLine, worked_out: CachedAgreement) -> AgreementLine:
    round_state = state.round(line.round)
    result = compare_to_threshold(round_state, worked_out.agreement, as_fixed=True)
    name = round_state.plan.statistic
    measure = build_measure(worked_out.agreement, STATISTICS[name], worked_out.agreement.estimates[name])
    return AgreementLine(
        measure.name,
        measure.value,
        measure.interval,
        measure.band,
        worked_out.agreement.n,
        max(0, round_state.rating_count - worked_out.ratings),
        result.verdict,
        result.passed,
        measure.why,
    )


class StudyPages(Pages):
    """The start page: status and next step."""

    def routes(self) -> Sequence[BaseRoute]:
        return [Route("/", self.home, name="home")]

    async def home(self, request: Request) -> Response:
        """Shows the overview to readers and only their tasks to raters."""
        who = require_visitor(request)
        links = {"link_to": lambda route, query=None, **path: link_to(request, route, query, **path)}
        if who.can(Permission.PAY):
            return self.go(request, "claims")
        if not who.can(Permission.READ_EVIDENCE):
            waiting = await self.work(lambda: self._list_tasks(who.name))
            talks = await self.work(lambda: self._read_interviews(who))
            return self.page(request, "waiting.html", {"rounds": waiting, "talks": talks, **links})
        study, coding = self.session.study, self.session.coding_if_any
        viewer, session = Viewer(who.name, who.role), self.session
        study_overview = await self.work(lambda: build_study_overview(study, coding, viewer, session.open_features))
        context = {
            "overview": study_overview,
            "talks": await self.work(lambda: self._read_interviews(who)),
            "erasing": await self.pending_erasures(),
            "next_link": _next_link(request, study_overview.next),
            **links,
        }
        return self.page(request, "study.html", context)

    def _read_interviews(self, who: Visitor) -> InterviewOverview | None:
        """Reads the interviews for interviewers; none if the study has none."""
        if not who.can(Permission.CONDUCT) or not has_interviews(self.session.latest):
            return None
        return build_overview(self.session.latest, self.session.interviews_if_any, who.can(Permission.LEAD))

    def _list_tasks(self, name: str) -> list[PendingTask]:
        with self.session.locked_state() as state:
            return list_pending_tasks(state, name)


def _next_link(request: Request, following: Next | None) -> str:
    """Returns the page for the next step, or the closest one."""
    if following is None or not following.page:
        return ""
    if following.survey:
        return link_to(request, following.page, name=following.survey) or link_to(request, "surveys")
    if following.page == "rounds":
        return link_to(request, "round", name=following.round) or link_to(request, "rounds")
    if not following.round:
        return link_to(request, following.page)
    return link_to(request, following.page, name=following.round)
