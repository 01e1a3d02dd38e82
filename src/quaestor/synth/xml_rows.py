"""Writes the rows of a table, and formats attributes that many tables share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from quaestor.evidence.sources.protocol import Progress
from quaestor.synth.plan import END
from quaestor.synth.questions import Times

_LICENCES = (b"CC BY-SA 2.5", b"CC BY-SA 3.0", b"CC BY-SA 4.0")
_LICENCE_TURNS = np.array(["2011-04-08", "2018-05-02"], "datetime64[ms]").astype(np.int64)


@dataclass(frozen=True)
class TableRows:
    """The rows of a table in blocks, and their number."""

    stem: str
    total: int
    blocks: Iterator[list[bytes]]

    @property
    def name(self) -> str:
        return self.stem.lower()


def write_rows(folder: Path, table: TableRows, seed: int, progress: Progress) -> int:
    """Writes a table in the official format, marked as synthetic, and returns its number of rows."""
    written = 0
    with (folder / f"{table.stem}.xml").open("wb") as file:
        file.write(b'\xef\xbb\xbf<?xml version="1.0" encoding="utf-8"?>\n')
        file.write(f"<!-- Synthetic evidence, seed {seed}. Not written by people. -->\n".encode())
        file.write(f"<{table.name}>\n".encode())
        for rows in table.blocks:
            file.write(b"".join(rows))
            written += len(rows)
            progress(table.name, written, table.total)
        file.write(f"</{table.name}>\n".encode())
    return written


def write_times(times: npt.NDArray[Any]) -> list[bytes]:
    """Formats milliseconds as in dumps: `2015-01-27T20:09:32.720`."""
    texts: list[bytes] = np.datetime_as_string(times.astype("datetime64[ms]"), unit="ms").astype("S").tolist()
    return texts


def list_licences(times: Times) -> list[bytes]:
    """Returns the licence of texts by date."""
    return [_LICENCES[turn] for turn in np.searchsorted(_LICENCE_TURNS, times, side="right").tolist()]


def delay_times(times: Times, median_hours: float, rng: np.random.Generator) -> Times:
    """Draws a time after each of these, but not after the end of the dump."""
    delays = rng.lognormal(np.log(median_hours * 3_600_000), 2.0, len(times)) + 1_000
    return np.minimum(times + delays.astype(np.int64), END.astype(np.int64) - 1)


def format_optional(name: str, values: list[int], present: list[bool]) -> list[bytes]:
    """Formats an attribute that only some rows have."""
    pattern = f' {name}="%d"'.encode()
    return [pattern % value if there else b"" for value, there in zip(values, present, strict=True)]


def format_optional_times(name: str, times: Times, present: npt.NDArray[np.bool_]) -> list[bytes]:
    """Formats a date that only some rows have."""
    pattern = f' {name}="%b"'.encode()
    written = iter(write_times(times[present]))
    return [pattern % next(written) if there else b"" for there in present.tolist()]
