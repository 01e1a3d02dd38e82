"""The claims file, separate from the answers: ids derived from tokens, and encrypted addresses.

Nobody with this file and the answers must be able to match them. So it stores no time and no number, all claims have
the same size, and each new claim rewrites the file in the order of its keys: a row's position depends on its key, a
hash of random data, not on when it came. The write-ahead log is emptied each time.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from quaestor.store.private_file_copy import PrivateFileSchema

_KIND = 0x51436C6D
_FIRST = """
CREATE TABLE claims (
    id BLOB PRIMARY KEY, survey TEXT NOT NULL, sealed BLOB NOT NULL, stage INTEGER NOT NULL
) WITHOUT ROWID
"""
CLAIMS = PrivateFileSchema(
    "claims", _KIND, (_FIRST,), "restore a backup of it with `quaestor restore --claims FILE --replace`"
)


class PaymentStage(StrEnum):
    """Stage of a claim."""

    WAITING = "waiting"
    """Until several can be released to the payer together."""
    RELEASED = "released"
    EXPORTED = "exported"
    PAID = "paid"


_STAGES = tuple(PaymentStage)


@dataclass(frozen=True)
class Claim:
    """A claim for payment, without anything about the answers."""

    id: bytes
    survey: str
    sealed: bytes
    stage: PaymentStage


class ClaimFile:
    """All claims of a study; safe for threads and processes."""

    def __init__(self, path: Path) -> None:
        self._file = CLAIMS.open(path)

    def __enter__(self) -> ClaimFile:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        self._file.close()

    def add(self, claim: bytes, survey: str, sealed: bytes) -> bool:
        """Stores a claim; returns whether it is new. Claiming twice, even concurrently, counts once."""
        with self._file.writing() as writing:
            if writing.execute("SELECT 1 FROM claims WHERE id = ?", (claim,)).fetchone():
                return False
            rows = writing.execute("SELECT id, survey, sealed, stage FROM claims").fetchall()
            writing.execute("DELETE FROM claims")
            waiting = _STAGES.index(PaymentStage.WAITING)
            rows = sorted([*rows, (claim, survey, sealed, waiting)])
            writing.executemany("INSERT INTO claims VALUES (?, ?, ?, ?)", rows)
        self._file.clear_log()
        return True

    def stage(self, claim: bytes) -> PaymentStage | None:
        """Returns the stage of a claim; None if it does not exist."""
        with self._file.reading() as reading:
            row = reading.execute("SELECT stage FROM claims WHERE id = ?", (claim,)).fetchone()
        return _STAGES[row[0]] if row else None

    def counts(self, survey: str) -> dict[PaymentStage, int]:
        with self._file.reading() as reading:
            return _counts(reading, survey)

    def surveys(self) -> list[str]:
        with self._file.reading() as reading:
            return [name for (name,) in reading.execute("SELECT DISTINCT survey FROM claims ORDER BY survey")]

    def claims(self, survey: str, stage: PaymentStage) -> list[Claim]:
        """Returns claims in the order of their keys, which is random."""
        with self._file.reading() as reading:
            return _claims(reading, survey, stage)

    def move(
        self,
        survey: str,
        source: PaymentStage,
        target: PaymentStage,
        choose: Callable[[Sequence[Claim], dict[PaymentStage, int]], Sequence[Claim]],
    ) -> list[Claim]:
        """Moves the claims that `choose` selects to another stage, atomically."""
        with self._file.writing() as writing:
            chosen = list(choose(_claims(writing, survey, source), _counts(writing, survey)))
            writing.executemany(
                "UPDATE claims SET stage = ? WHERE id = ?", [(_STAGES.index(target), claim.id) for claim in chosen]
            )
        self._file.clear_log()
        return chosen


def _claims(connection: sqlite3.Connection, survey: str, stage: PaymentStage) -> list[Claim]:
    rows = connection.execute(
        "SELECT id, survey, sealed, stage FROM claims WHERE survey = ? AND stage = ? ORDER BY id",
        (survey, _STAGES.index(stage)),
    )
    return [Claim(name, of, sealed, _STAGES[number]) for name, of, sealed, number in rows]


def _counts(connection: sqlite3.Connection, survey: str) -> dict[PaymentStage, int]:
    counts = dict(connection.execute("SELECT stage, count(*) FROM claims WHERE survey = ? GROUP BY 1", (survey,)))
    return {stage: counts.get(number, 0) for number, stage in enumerate(_STAGES)}
