"""The page of the codes that raters proposed: what the lead sees of each, and what it can become."""

from __future__ import annotations

from dataclasses import dataclass

from quaestor.coding.model.code_proposals import ProposedCode, list_codes_to_choose, list_parents, list_proposed_codes
from quaestor.coding.session import StudyOrSession, open_coding, require_lead


@dataclass(frozen=True)
class ProposalRow:
    """A proposed code on the lead's page; it never says who proposed it."""

    proposed: ProposedCode
    items: tuple[str, ...]
    """The items for which it was proposed; empty while the round is open."""
    count: int
    """For how many items it was proposed."""
    codes: tuple[tuple[str, str], ...]
    """The codes that it can be merged into."""
    parents: tuple[tuple[str, str], ...]
    """The codes that it can be below."""
    became: str = ""
    """The name of the code that it became."""


def build_proposal_rows(study: StudyOrSession, actor: str | None = None) -> list[ProposalRow]:
    """Returns the proposed codes for the lead, undecided ones first."""
    with open_coding(study) as coding:
        lead = require_lead(coding, actor, "see proposed codes")
        state, rows = coding.state, []
        book = state.history.latest
        for proposed in list_proposed_codes(state, lead):
            facet = state.round(proposed.round).plan.facet(proposed.facet)
            code = proposed.first.code
            rows.append(
                ProposalRow(
                    proposed,
                    proposed.items if proposed.may_show_items else (),
                    len(proposed.items),
                    tuple(list_codes_to_choose(state, [facet])[facet.id]),
                    tuple(list_parents(book, facet)),
                    book.path_name(code) if code in book.codes else code,
                )
            )
        return rows
