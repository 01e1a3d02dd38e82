"""The numbers of the random sequences that a recount runs: 500 in the suite, more in a campaign that can be resumed.

`QUAESTOR_SEQUENCES` is how many. `QUAESTOR_CAMPAIGN` is a folder in which each part records its next sequence, so that
an interrupted campaign goes on where it stopped. A sequence that fails is the first one of the next run.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

PARTS = 10
"""The sequences are split into so many tests, which can run in parallel."""


def iterate_sequences(name: str, part: int) -> Iterator[int]:
    """Yields the numbers of one part of a recount that have not passed yet."""
    total = int(os.environ.get("QUAESTOR_SEQUENCES", "500"))
    campaign = os.environ.get("QUAESTOR_CAMPAIGN", "")
    progress = Path(campaign) / f"{name}-{part}" if campaign else None
    first = int(progress.read_text("utf-8")) if progress is not None and progress.exists() else part
    for number in range(first, total, PARTS):
        yield number
        if progress is not None:  # the caller asks for the next number, so this sequence has passed
            progress.parent.mkdir(parents=True, exist_ok=True)
            unfinished = progress.with_suffix(".new")
            unfinished.write_text(str(number + PARTS), "utf-8")
            unfinished.replace(progress)
