"""The last acts of a study in words: who did what and when, never what was said."""

from __future__ import annotations

from dataclasses import dataclass

from quaestor.coding.records import Noted
from quaestor.coding.state import OPEN
from quaestor.study.sight import Sight

MOST = 15
_RATED = ("rating", "practice", "ratings.import")
_JOINED = (*_RATED, "survey.decide")

_WORDS = {
    "practice": "practised for {round}",
    "ratings.import": "brought in a file of ratings for {round}",
    "round.open": "opened the round {round}",
    "round.close": "closed the round {round}",
    "round.reopen": "opened the round {round} again",
    "round.waive": "waived what {round} had to reach",
    "round.replace": "gave a seat of {round} to somebody else",
    "round.deadline": "set the deadline of {round}",
    "round.set": "went on to the next set of {round}",
    "round.unblind": "looked at what was said in {round}",
    "comment": "commented on a disagreement of {round}",
    "tie.comment": "gave an independent answer in {round}",
    "decision.import": "brought in published decisions, {round}",
    "words.unify": "unified words of {round}",
    "words.reread": "asked for an item of {round} to be read again",
    "words.compare": "compared the words of a set of {round}",
    "codebook.import": "imported the codebook",
    "codebook.facet": "added a facet to the codebook",
    "codebook.add": "added a code",
    "codebook.rename": "renamed a code",
    "codebook.redefine": "changed the definition of a code",
    "codebook.merge": "merged codes",
    "codebook.split": "split a code",
    "codebook.move": "moved a code",
    "codebook.retire": "retired a code",
    "codebook.undo": "took back a change of the codebook",
    "interview.adopt": "adopted words of a participant as a code in {round}",
    "survey.open": "opened the survey {survey}",
    "survey.close": "closed the survey {survey}",
    "survey.final": "handed over the last cards of {survey}, which closes it for good",
    "survey.erase": "erased a response to {survey}",
    "survey.import": "brought in a file of answers to {survey}",
    "survey.invite": "made invitations to {survey}",
    "interview.agreement": "put an agreement to interviews in force",
    "interview.withdraw": "withdrew from the interviews",
}

TOLD = frozenset({"rating", "decision", "survey.decide", *_WORDS})
"""Every kind of act that is told; others are of no interest to people."""


@dataclass(frozen=True)
class Done:
    """What somebody did, one or several times in a row."""

    who: str
    what: str
    when: str


@dataclass
class _Run:
    last: Noted
    times: int = 1


def latest_acts(sight: Sight, most: int = MOST) -> list[Done]:
    """The last acts as far as the viewer may know of them, the newest first.

    Ratings of one rater that nothing but other ratings came between are told as one, and so are decisions about
    responses.
    """
    runs: list[_Run] = []
    joined: dict[tuple[str, str, str, str], _Run] = {}
    for act in reversed(sight.state.latest):
        if len(runs) > most:
            break
        if act.kind not in _JOINED:
            joined = {}
        if not _may_know(sight, act) or act.kind not in TOLD:
            continue
        known = joined.get((act.kind, act.actor, act.round, act.survey))
        if known is not None:
            known.times += 1
            continue
        run = _Run(act)
        runs.append(run)
        if act.kind in _JOINED:
            joined[act.kind, act.actor, act.round, act.survey] = run
    return [Done(_who(sight, run.last), _what(run), run.last.time) for run in runs[:most]]


def _may_know(sight: Sight, act: Noted) -> bool:
    """Who rates in an open blind round is told nothing of what the others do in it."""
    one = sight.state.rounds.get(act.round)
    if one is None or act.kind not in _RATED or act.actor == sight.viewer.name:
        return True
    return not (one.status == OPEN and one.plan.blind and one.seat_of(sight.viewer.name))


def called(sight: Sight, round_: str, actor: str) -> str:
    """How somebody is called where it is told that they acted, not what they said."""
    return actor if sight.viewer.sees_names and actor != sight.viewer.name else sight.shown(round_, actor)


def _who(sight: Sight, act: Noted) -> str:
    if act.kind == "interview.withdraw":
        return "A participant"
    if act.actor == sight.viewer.name:
        return "You"
    found = called(sight, act.round, act.actor)
    return f"The {found}" if found in ("lead", "tie-breaker") and not sight.viewer.sees_names else found


def _what(run: _Run) -> str:
    act = run.last
    if act.kind == "rating":
        return f"rated {_items(run.times)} in {act.round}"
    if act.kind == "decision":
        return f"settled {_items(act.count)} of {act.round}"
    if act.kind == "survey.decide":
        return f"decided about {'1 response' if run.times == 1 else f'{run.times:,} responses'} to {act.survey}"
    return _WORDS[act.kind].format(round=act.round, survey=act.survey)


def _items(number: int) -> str:
    return "1 item" if number == 1 else f"{number:,} items"
