"""The contributions of coding to a study, and the outcomes of rounds for its funnel."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from quaestor.coding.model.decisions import list_kept, list_rated
from quaestor.coding.session import StudyOrSession, find_study, open_coding
from quaestor.coding.status import coding_status
from quaestor.study.contributions import ActKind, RoundCounts
from quaestor.study.features import Feature

_KEPT: dict[Path, tuple[tuple[int, list[str]], dict[str, list[str]]]] = {}
"""A cache by study folder: the last act and the round names, and the items these rounds keep."""


@dataclass(frozen=True)
class JournalOutcomes:
    """Implements `study.contributions.RoundOutcomes`; each method opens the journal, or uses the open one."""

    study_or_session: StudyOrSession

    def kept_items(self, rounds: Collection[str]) -> dict[str, list[str]]:
        root = find_study(self.study_or_session).root
        with open_coding(self.study_or_session) as coding:
            head = (coding.journal.head(), sorted(rounds))
            known = _KEPT.get(root)
            if known is None or known[0] != head:
                state = coding.state
                outcomes = {name: list_kept(state, name) for name in rounds if name in state.rounds}
                known = head, {name: sorted(items) for name, items in outcomes.items() if items is not None}
                _KEPT[root] = known
        return known[1]

    def notes_on(self, reached: Mapping[str, Collection[str]]) -> list[str]:
        with open_coding(self.study_or_session) as coding:
            rounds = {name: coding.state.rounds[name] for name in reached}
        notes = []
        for name, round_state in rounds.items():
            if any(rating.simulated for rating in round_state.all_ratings()):
                notes.append(f"the round {name} was rated by simulated raters")
            if round_state.blindness:
                notes.append(f"the round {name} is {round_state.blindness}")
            counts = self.count_items(name, reached[name])
            if outside := len(reached[name]) - counts.drawn:
                notes.append(f"{outside:,} items were not drawn for the round {name}")
            if never := counts.drawn - counts.rated:
                notes.append(f"{never:,} items of the round {name} were never rated, so they are not kept")
        return notes

    def planned_items(self, rounds: Collection[str]) -> dict[str, tuple[str, ...]]:
        with open_coding(self.study_or_session) as coding:
            return {name: coding.state.round(name).plan.items for name in rounds}

    def rated_items(self, name: str) -> frozenset[str]:
        with open_coding(self.study_or_session) as coding:
            return list_rated(coding.state.round(name))

    def count_items(self, name: str, reached: Collection[str]) -> RoundCounts:
        with open_coding(self.study_or_session) as coding:
            drawn = set(coding.state.round(name).plan.items).intersection(reached)
            kept = drawn.intersection(list_kept(coding.state, name) or ())
        rated = drawn & self.rated_items(name)
        return RoundCounts(len(drawn), len(rated), len(kept), len(rated - kept))

    def change_stamp(self, rounds: Collection[str]) -> object:
        with open_coding(self.study_or_session) as coding:
            states = {name: coding.state.rounds.get(name) for name in rounds}
            return tuple(
                (name, state.status, state.closed, sum(map(len, state.decisions.values())), len(state.gone))
                if state
                else (name,)
                for name, state in states.items()
            )


FEATURE = Feature(
    "coding",
    status=coding_status,
    open_session=open_coding,
    round_outcomes=JournalOutcomes,
    act_kinds={
        "rating": ActKind("rated {count} in {round}", counted="item", is_joined=True),
        "practice": ActKind("practised for {round}", is_joined=True),
        "ratings.import": ActKind("imported a file of ratings for {round}", is_joined=True),
        "round.open": ActKind("opened the round {round}"),
        "round.close": ActKind("closed the round {round}"),
        "round.reopen": ActKind("reopened the round {round}"),
        "round.waive": ActKind("waived the threshold of {round}"),
        "round.replace": ActKind("replaced a rater of {round}"),
        "round.deadline": ActKind("set the deadline of {round}"),
        "round.set": ActKind("went on to the next set of {round}"),
        "round.unblind": ActKind("viewed the ratings of {round}"),
        "person.rename": ActKind("renamed a rater or tie-breaker"),
        "comment": ActKind("commented on a disagreement of {round}"),
        "tie.comment": ActKind("gave an independent answer in {round}"),
        "decision.propose": ActKind("proposed a decision in {round}"),
        "decision.assent": ActKind("assented to a decision in {round}"),
        "code.propose": ActKind("proposed a code in {round}"),
        "code.settle": ActKind("decided about a proposed code of {round}"),
        "decision": ActKind("recorded {count} in {round}", counted="decision"),
        "decision.import": ActKind("imported published decisions, {round}"),
        "words.unify": ActKind("unified words of {round}"),
        "words.reread": ActKind("requested another rating of an item of {round}"),
        "words.compare": ActKind("compared the words of a set of {round}"),
        "codebook.import": ActKind("imported the codebook"),
        "codebook.facet": ActKind("added a facet to the codebook"),
        "codebook.add": ActKind("added a code"),
        "codebook.rename": ActKind("renamed a code"),
        "codebook.redefine": ActKind("changed the definition of a code"),
        "codebook.merge": ActKind("merged codes"),
        "codebook.split": ActKind("split a code"),
        "codebook.move": ActKind("moved a code"),
        "codebook.retire": ActKind("retired a code"),
        "codebook.undo": ActKind("undid a change of the codebook"),
    },
)
