"""The latest acts of a study without their content, and the rounds in which a person has something to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache

from quaestor.base.clock import Clock, now
from quaestor.base.names import fits_url
from quaestor.coding.model.decisions import list_disagreements, list_incomplete_cases
from quaestor.coding.model.records import ActSummary
from quaestor.coding.model.state import CLOSED, OPEN, RoundState, State
from quaestor.coding.model.views import build_rater_position, build_unblind_act, list_tie_cases
from quaestor.coding.visibility import Visibility
from quaestor.study.contributions import ActKind
from quaestor.study.features import features

MOST = 15
_RATED = ("rating", "practice", "ratings.import")


@cache
def _act_kinds() -> Mapping[str, ActKind]:
    """Returns every declared kind of act; acts of other kinds are not listed."""
    return {kind: described for feature in features() for kind, described in feature.act_kinds.items()}


@dataclass(frozen=True)
class ActivityLine:
    """One line of the activity list: what somebody did, once or several times in a row."""

    who: str
    what: str
    when: str


@dataclass
class _Run:
    last: ActSummary
    times: int = 1


def list_latest_acts(visibility: Visibility, most: int = MOST) -> list[ActivityLine]:
    """Returns the latest acts that the viewer may know of, newest first.

    Consecutive ratings of one rater are combined into one line, even if other raters rated in between, and so are
    decisions on responses.
    """
    runs: list[_Run] = []
    joined: dict[tuple[str, str, str, str], _Run] = {}
    for act in reversed(visibility.state.latest):
        if len(runs) > most:
            break
        act_kind = _act_kinds().get(act.kind)
        if act_kind is None or not act_kind.is_joined:
            joined = {}
        if act_kind is None or not _is_visible(visibility, act):
            continue
        known = joined.get((act.kind, act.actor, act.round, act.survey))
        if known is not None:
            known.times += 1
            continue
        run = _Run(act)
        runs.append(run)
        if act_kind.is_joined:
            joined[act.kind, act.actor, act.round, act.survey] = run
    return [ActivityLine(_name_actor(visibility, run.last), _describe_run(run), run.last.time) for run in runs[:most]]


def _is_visible(visibility: Visibility, act: ActSummary) -> bool:
    """Returns whether the viewer may know of an act; raters of an open blind round see no acts of other raters."""
    round_state = visibility.state.rounds.get(act.round)
    if round_state is None or act.kind not in _RATED or act.actor == visibility.viewer.name:
        return True
    return not (round_state.status == OPEN and round_state.plan.blind and round_state.slot_of(visibility.viewer.name))


def name_person(visibility: Visibility, round_: str, actor: str) -> str:
    """Returns the name of a person in a list of acts, which does not show answers."""
    return (
        actor
        if visibility.viewer.sees_names and actor != visibility.viewer.name
        else visibility.name_actor(round_, actor)
    )


def _name_actor(visibility: Visibility, act: ActSummary) -> str:
    if actor := _act_kinds()[act.kind].actor:
        return actor
    if act.actor == visibility.viewer.name:
        return "You"
    name = name_person(visibility, act.round, act.actor)
    return f"The {name}" if name in ("lead", "tie-breaker") and not visibility.viewer.sees_names else name


def _describe_run(run: _Run) -> str:
    act, described = run.last, _act_kinds()[run.last.kind]
    count = run.times if described.is_joined else act.count
    return described.describe(round=act.round, survey=act.survey, count=count)


RATE, BREAK_TIES, DISCUSS = "rate", "break ties", "discuss"


@dataclass(frozen=True)
class PendingTask:
    """A round in which somebody has something left to do."""

    round: str
    kind: str
    part: str  # rate, break ties, discuss
    done: int
    items: int
    deadline: str = ""
    set: int = 0
    sets: int = 0
    until: str = ""
    """The deadline as text."""
    is_late: bool = False
    has_viewed: bool = True
    """Whether this rater has seen the other ratings of a discussion; before that, the counts are hidden too."""

    @property
    def left(self) -> int:
        return self.items - self.done


def list_pending_tasks(state: State, name: str, clock: Clock = now) -> list[PendingTask]:
    """Returns the rounds in which somebody has something to do, the nearest deadline first."""
    moment = clock()
    tasks = []
    for round_state in state.rounds.values():
        plan = round_state.plan
        if not fits_url(plan.round):  # opened by an older version that allowed such names; it has no pages
            continue
        if round_state.status == OPEN and round_state.slot_of(name) is not None:
            position = build_rater_position(state, plan.round, name)
            done, total = position.progress.done, len(position.progress)
            until, is_late = describe_deadline(round_state.deadline, moment)
            tasks.append(
                PendingTask(
                    plan.round, plan.kind, RATE, done, total, round_state.deadline, position.set, position.sets,
                    until, is_late,
                )
            )  # fmt: skip
        if round_state.status == CLOSED and plan.tie_breaker == name and plan.settle in ("tie-breaker", "two-step"):
            cases = list_tie_cases(state, plan.round, name)
            done = sum(case.is_done for case in cases)
            tasks.append(PendingTask(plan.round, plan.kind, BREAK_TIES, done, len(cases)))
        if round_state.status == CLOSED and round_state.slot_of(name) is not None and plan.settle != "tie-breaker":
            tasks.append(_build_discussion(state, round_state, name))
    waits = (task for task in tasks if task.left or not task.has_viewed)
    return sorted(
        waits, key=lambda wait: (wait.deadline or "9", (RATE, BREAK_TIES, DISCUSS).index(wait.part), wait.round)
    )


def _build_discussion(state: State, round_state: RoundState, name: str) -> PendingTask:
    """Returns a discussion; hides the counts before the view, since they would reveal ratings of a reopenable round."""
    plan = round_state.plan
    if build_unblind_act(state, plan.round, name) is not None:
        return PendingTask(plan.round, plan.kind, DISCUSS, 0, 0, has_viewed=False)
    cases = [*list_disagreements(state, plan.round), *list_incomplete_cases(state, plan.round)]
    return PendingTask(plan.round, plan.kind, DISCUSS, sum(case.decision is not None for case in cases), len(cases))


@dataclass(frozen=True)
class OwnRound:
    """A round of a rater, and how many items they have rated in it."""

    round: str
    status: str
    rated: int


def list_own_rounds(state: State, rater: str) -> list[OwnRound]:
    """Returns the rounds in which somebody rates or has rated, the latest first."""
    return [
        OwnRound(round_state.plan.round, round_state.status, len(round_state.ratings.get(rater, ())))
        for round_state in reversed(state.rounds.values())
        if round_state.slot_of(rater) is not None and fits_url(round_state.plan.round)
    ]


def describe_deadline(deadline: str, moment: datetime) -> tuple[str, bool]:
    """Returns a deadline as text, and whether it has passed."""
    if not deadline:
        return "", False
    end = datetime.fromisoformat(deadline)
    left = end - moment
    day = f"{end:%A} {end.day} {end:%B}" + (f" {end.year}" if end.year != moment.year else "")
    if left.total_seconds() < 0:
        return f"was due on {day}", True
    days = (end.date() - moment.date()).days
    near = {0: "today", 1: "tomorrow"}.get(days, f"in {days} days")
    return f"until {day}, {end:%H:%M} UTC, {near}", False
