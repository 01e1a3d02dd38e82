"""Who may ask for which page: one row a route, by its name; a route without a row is for nobody."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from quaestor.people.roles import Permission

Public = Literal["public"]
PUBLIC: Final[Public] = "public"

BY_LINK = frozenset({"answer-begin", "answer", "answer-withdraw", "consent", "consent-withdraw"})
"""Pages of respondents and participants, who need no cookie: the address is the secret.

What is sent must come from a page of ours.
"""

WITH_A_FILE = frozenset({"interview-import"})
"""Forms that send a file, and so may be longer than others."""

FILES = frozenset({"health", "tokens", "icon", "static"})
"""What every page needs to be shown, pages that say why there is no other too: the same for everybody who asks."""

MATRIX: Mapping[str, Permission | Public] = {
    "home": Permission.VISIT,
    "funnel": Permission.READ_EVIDENCE,
    "drawing": Permission.READ_EVIDENCE,
    "items": Permission.READ_EVIDENCE,
    "evidence": Permission.READ_EVIDENCE,
    "item": Permission.READ_EVIDENCE,
    "evidence-csv": Permission.READ_EVIDENCE,
    "filters": Permission.READ_EVIDENCE,
    "rate": Permission.RATE,
    "give": Permission.RATE,
    "ahead": Permission.RATE,
    "mine": Permission.RATE,
    "coding": Permission.RATE,
    "coding-transcript": Permission.RATE,
    "coding-give": Permission.RATE,
    "in-vivo": Permission.LEAD,
    "agreement": Permission.RATE,
    "look": Permission.RATE,
    "confused": Permission.RATE,
    "agreement-json": Permission.RATE,
    "agreement-csv": Permission.RATE,
    "confusion-csv": Permission.RATE,
    "disagreements": Permission.RATE,
    "comment": Permission.RATE,
    "decide": Permission.RATE,
    "settle-agreed": Permission.LEAD,
    "ties": Permission.BREAK_TIES,
    "rounds": Permission.LEAD,
    "round-new": Permission.LEAD,
    "round": Permission.LEAD,
    "round-act": Permission.LEAD,
    "ratings-file": Permission.RATE,
    "decisions-file": Permission.RATE,
    "phrases": Permission.RATE,
    "phrases-act": Permission.RATE,
    "people": Permission.LEAD,
    "people-act": Permission.LEAD,
    "codebook": Permission.READ_CODEBOOK,
    "code": Permission.READ_CODEBOOK,
    "codebook-history": Permission.READ_CODEBOOK,
    "codebook-diff": Permission.READ_CODEBOOK,
    "codebook-file": Permission.READ_CODEBOOK,
    "codebook-change": Permission.LEAD,
    "codebook-preview": Permission.LEAD,
    "codebook-act": Permission.LEAD,
    "results": Permission.READ_RESULTS,
    "results-make": Permission.LEAD,
    "results-zip": Permission.READ_RESULTS,
    "report": Permission.READ_RESULTS,
    "handbook": Permission.READ_RESULTS,
    "surveys": Permission.READ_RESULTS,
    "survey": Permission.LEAD,
    "survey-act": Permission.LEAD,
    "survey-preview": Permission.LEAD,
    "survey-responses": Permission.LEAD,
    "survey-flags": Permission.LEAD,
    "survey-response": Permission.LEAD,
    "survey-decide": Permission.LEAD,
    "survey-erase": Permission.LEAD,
    "survey-invitations": Permission.LEAD,
    "survey-results": Permission.READ_RESULTS,
    "survey-answers": Permission.READ_RESULTS,
    "survey-drawing": Permission.READ_RESULTS,
    "interviews": Permission.CONDUCT,
    "interview": Permission.CONDUCT,
    "interview-agreement": Permission.CONDUCT,
    "guides": Permission.CONDUCT,
    "guide": Permission.CONDUCT,
    "interview-transcript": Permission.CONDUCT,
    "interview-import": Permission.CONDUCT,
    "interview-names": Permission.LEAD,
    "interview-names-act": Permission.LEAD,
    "interview-conduct": Permission.CONDUCT,
    "interview-act": Permission.CONDUCT,
    "interview-since": Permission.CONDUCT,
    "interview-protocol": Permission.CONDUCT,
    "interview-protocol-file": Permission.CONDUCT,
    "interview-themes": Permission.READ_RESULTS,
    "interview-drawing": Permission.READ_RESULTS,
    "interview-quotations": Permission.READ_RESULTS,
    "interview-code": Permission.READ_RESULTS,
    "agreement-act": Permission.LEAD,
    "participant": Permission.CONDUCT,
    "participant-add": Permission.CONDUCT,
    "participant-act": Permission.CONDUCT,
    "participant-lead": Permission.LEAD,
    "participant-contact": Permission.LEAD,
    "me": Permission.VISIT,
    "sign-out": Permission.VISIT,
    "sign-out-everywhere": Permission.VISIT,
    "claims": Permission.SEE_PAY,
    "claims-act": Permission.PAY,
    "claims-file": Permission.PAY,
    "invitation": PUBLIC,
    "claim": PUBLIC,
    "answer-begin": PUBLIC,
    "answer": PUBLIC,
    "answer-end": PUBLIC,
    "answer-withdraw": PUBLIC,
    "consent": PUBLIC,
    "consent-withdraw": PUBLIC,
    "sign-in": PUBLIC,
    "join": PUBLIC,
    "health": PUBLIC,
    "tokens": PUBLIC,
    "icon": PUBLIC,
    "static": PUBLIC,
}
