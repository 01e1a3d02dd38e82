"""How long a page was looked at, from a mark that the page itself carries: no hour is kept, and none can be made up."""

from __future__ import annotations

import hmac

from quaestor.instruments.records import Response

LONGEST_STAY = 3600.0
"""Seconds a page counts for at most: who comes back the next day has not thought all night."""
_LONGEST_MARK = 120


def shown_mark(response: Response, page: str, moment: float) -> str:
    """What a page carries: when it was shown, and what had been spent by then, signed with what nobody is told.

    The id of a response is random, and no respondent ever sees it.
    """
    said = f"{moment:.0f}.{response.seconds * 1000:.0f}"
    return f"{said}.{_signed(response, page, said)}"


def is_mark(response: Response, page: str, mark: str) -> bool:
    """Whether a mark was made here, for this response and this page."""
    said, _, signature = mark.rpartition(".")
    if len(mark) > _LONGEST_MARK or not mark.isascii():
        return False
    return hmac.compare_digest(signature, _signed(response, page, said))


def time_spent(response: Response, page: str, mark: str, moment: float) -> float:
    """Seconds to be added when a page is sent; none where the mark is not ours.

    What two windows counted at the same time, or a page that is sent twice, counts once.
    """
    if not is_mark(response, page, mark):
        return 0.0
    shown, spent, _ = mark.split(".")
    stayed = min(max(moment - int(shown), 0.0), LONGEST_STAY)
    return max(int(spent) / 1000 + stayed - response.seconds, 0.0)


def _signed(response: Response, page: str, said: str) -> str:
    return hmac.digest(response.id.encode(), f"shown {page} {said}".encode("utf-8", "surrogatepass"), "sha256").hex()[
        :32
    ]
