"""What a viewer may see of the rounds of a study; these checks record nothing.

The lead sees what `coding.model.views` allows and what needs no new record. Viewers and reviewers see the decisions of
closed rounds, and ratings once no rating is missing and every disagreement is settled; a page that shows them ratings
records it first (`Visibility.build_view_acts`). Everybody sees their own ratings.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from quaestor.base.errors import StateError
from quaestor.coding.model.closing import can_reopen_blind
from quaestor.coding.model.decisions import is_settled_round
from quaestor.coding.model.state import CLOSED, RoundState, State
from quaestor.coding.model.views import build_unblind_act, needs_consent, require_lead_view
from quaestor.people.roles import Permission, Role, can
from quaestor.store.records import NewAct

ASKER = "asker"
"""Replaces the author of an item for viewers who see no names."""


@dataclass(frozen=True)
class Viewer:
    """A person with their role."""

    name: str
    role: Role

    @property
    def sees_names(self) -> bool:
        return can(self.role, Permission.SEE_NAMES)


@dataclass(frozen=True)
class Visibility:
    """What one viewer may see in one state of the study."""

    state: State
    lead: str
    viewer: Viewer

    def why_no_decisions(self, name: str) -> str:
        """Returns why the viewer does not see the decisions of a round; empty if they do."""
        if name in self.state.published:
            return ""
        if self.state.round(name).status != CLOSED:
            return f"the round {name} is open: its decisions are shown once it is closed"
        if self.state.round(name).plan.blind and can_reopen_blind(self.state, name):
            return f"the round {name} can still be reopened: its decisions are shown once somebody views its ratings"
        return self._why_not(name)

    def why_no_ratings(self, name: str) -> str:
        """Returns why the viewer does not see the ratings of a round; empty if they do."""
        round_state = self.state.round(name)
        if self.viewer.role is Role.LEAD:
            return self._why_not(name) or self._why_not_yet(name)
        if round_state.status != CLOSED or not is_settled_round(self.state, name):
            return (
                f"the ratings of {name} are shown once it is closed, no rating is missing (or it is final) "
                "and every disagreement is settled"
            )
        return self._why_not(name)

    def build_view_acts(self, names: Iterable[str]) -> list[NewAct]:
        """Builds the acts that record that the viewer sees the ratings of these rounds, where allowed and new."""
        return [
            act
            for name in names
            if not self.why_no_ratings(name)
            and (act := build_unblind_act(self.state, name, self.viewer.name)) is not None
        ]

    def why_no_disagreements(self, name: str) -> str:
        """Returns why the viewer does not see the disagreements of a round; empty if they do."""
        if self.state.round(name).status != CLOSED:
            return f"the round {name} is open: its disagreements are shown once it is closed"
        return self.why_no_ratings(name)

    def _why_not(self, name: str) -> str:
        if self.viewer.role in (Role.RATER, Role.TIE_BREAKER, Role.INTERVIEWER):
            return f"raters, tie-breakers and interviewers see {name} on its own pages"
        if self.viewer.role is not Role.LEAD:
            return ""
        try:
            round_state = require_lead_view(self.state, name, self.viewer.name, self.lead)
        except StateError as refusal:
            return str(refusal)
        if round_state.status == CLOSED and round_state.slot_of(self.viewer.name) is None:
            return ""
        return self._why_not_yet(name)

    def _why_not_yet(self, name: str) -> str:
        """Returns what the lead must do before ratings are shown, because the view is recorded."""
        if not needs_consent(self.state, name, self.viewer.name):
            return ""
        if self.state.round(name).status == CLOSED:
            return f"open the disagreements of {name} to see its ratings; that view is recorded"
        return f"the round {name} is open and blind: open its page to see ratings; you can then no longer rate in it"

    def name_actor(self, name: str, actor: str) -> str:
        """Returns the name of an actor of a round as this viewer may read it."""
        if actor == self.viewer.name:
            return "you"
        people = list_raters(self.state.rounds[name]) if name in self.state.rounds else []
        if actor in people:
            return actor if self.viewer.role is Role.LEAD else _letter(people.index(actor))
        if self.viewer.sees_names:
            return actor
        return "lead" if actor == self.lead else "tie-breaker"

    def mask_people(self, name: str, text: str) -> str:
        """Replaces the names of the round's people in a text if the viewer may not see them."""
        if self.viewer.role is Role.LEAD or not text:
            return text
        round_state = self.state.rounds.get(name)
        people = [*list_raters(round_state), round_state.plan.tie_breaker] if round_state else []
        for actor in sorted({*people, self.lead} - {""}, key=len, reverse=True):
            instead = self.name_actor(name, actor)
            text = re.sub(rf"(?<!\w){re.escape(actor)}(?!\w)", lambda _, put=instead: put, text, flags=re.IGNORECASE)  # type: ignore[misc]
        return text


def list_raters(round_state: RoundState) -> list[str]:
    """Returns all raters of a round, including replaced ones, in the order of the slots."""
    return [rater for slot in round_state.slots for rater in slot.raters]


def _letter(number: int) -> str:
    return f"rater {chr(ord('A') + number)}" if number < 26 else f"rater {number + 1}"
