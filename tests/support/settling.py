"""Settles disagreements as people do: one person proposes, the others assent."""

from __future__ import annotations

from typing import Any

from quaestor.coding.disagreements import assent_to_proposal, settle_item
from quaestor.coding.model.settlement import list_needed_assents
from quaestor.coding.session import CodingSession, open_coding
from quaestor.study.folder import Study


def settle_with_assents(
    study: Study | CodingSession,
    name: str,
    actor: str | None,
    item: str,
    facet: str | None,
    answer: Any,
    how: str = "discussion",
    reason: str = "",
) -> None:
    """Proposes a decision by discussion, and lets everybody else assent to it."""
    with open_coding(study) as coding:
        settle_item(coding, name, actor, item, facet, answer, how, reason)
        round_state = coding.state.round(name)
        chosen = facet or round_state.plan.facets[0].id
        for person in list_needed_assents(round_state, item, how):
            proposal = coding.state.round(name).proposals.get((item, chosen))
            if proposal is not None and person not in proposal.assents:
                assent_to_proposal(coding, name, person, item, chosen)
