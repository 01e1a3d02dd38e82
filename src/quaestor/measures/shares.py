"""Parts of a whole, with Wilson's interval."""

from __future__ import annotations

from quaestor.base.errors import InputError
from quaestor.measures.agreement.estimates import wilson
from quaestor.measures.records import Share


def share(count: int, of: int) -> Share:
    """`count` of `of` items with Wilson's 95 % interval, which is honest for few items and at both ends."""
    if not 0 <= count <= of:
        raise InputError(f"{count} of {of} items is no share: count items among those they are a part of")
    if of == 0:
        return Share(count, of, undefined="undefined, because there is no item to take a share of")
    found = wilson(count / of, of)
    low, high = (0.0 if count == 0 else found.low), (1.0 if count == of else found.high)
    return Share(count, of, count / of, low, high)
