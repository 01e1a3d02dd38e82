"""Records the codes that raters propose, and the lead's decisions about them."""

from __future__ import annotations

from quaestor.coding.codebook import require_free_keys, require_no_names
from quaestor.coding.model.code_proposals import (
    NewCode,
    ProposedCode,
    build_proposal_act,
    build_settlement_acts,
    list_proposed_codes,
)
from quaestor.coding.model.records import ACCEPTED
from quaestor.coding.model.state import State
from quaestor.coding.session import CodingSession, StudyOrSession, open_coding, require_lead
from quaestor.store.records import Act, NewAct, new_key
from quaestor.study.contributions import KnownNames
from quaestor.study.features import open_known_names


def propose_code(study: StudyOrSession, name: str, rater: str, item: str, new: NewCode, *, key: str = "") -> int:
    """Records a rater's proposal of a code; sending it twice with the same key records it once."""
    with open_coding(study) as coding:
        now = coding.now()

        def build_act(state: State) -> NewAct:
            return build_proposal_act(state, name, rater, item, new, now=now, key=key or new_key())

        def is_same(state: State, known: Act) -> bool:
            return known.kind == "code.propose" and known.actor == rater and known.payload["item"] == item

        return coding.act(build_act, key, is_same)[0].number


def read_proposed_codes(study: StudyOrSession, actor: str | None = None) -> list[ProposedCode]:
    """Returns the proposed codes for the lead, without the names of raters."""
    with open_coding(study) as coding:
        return list_proposed_codes(coding.state, require_lead(coding, actor, "see proposed codes"))


def settle_proposed_code(
    study: StudyOrSession,
    number: int,
    outcome: str,
    actor: str | None = None,
    *,
    code: str = "",
    new: NewCode | None = None,
    reason: str = "",
) -> str:
    """Decides about a proposed code and returns the code that it became; empty if it was declined."""
    with open_coding(study) as coding, open_known_names(coding) as names:
        lead = require_lead(coding, actor, "decide about proposed codes")

        def build_acts(state: State) -> list[NewAct]:
            acts = build_settlement_acts(state, lead, number, outcome, code=code, new=new, reason=reason)
            if outcome == ACCEPTED:
                check_new_code(coding, state, acts[0], names)
            return acts

        return str(coding.act(build_acts)[-1].payload.get("code", ""))


def check_new_code(coding: CodingSession, state: State, act: NewAct, names: KnownNames) -> None:
    """Raises if an added code has a key that the desk needs, or contains a known name."""
    before, after = state.history.latest, state.history.preview_change(act.kind, act.payload)
    require_free_keys(coding.study, before, after)
    require_no_names(names, before, after)
