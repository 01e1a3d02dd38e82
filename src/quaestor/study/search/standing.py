"""Whether what the funnel found still holds, asked with every page and worked out only when something changed."""

from __future__ import annotations

from pathlib import Path

from quaestor.base.errors import StateError
from quaestor.coding.state import State
from quaestor.corpus.records import FunnelResult
from quaestor.study.coding import Coding
from quaestor.study.folder import Study
from quaestor.study.funnel import RESULT, last_result

_KNOWN: dict[Path, tuple[object, FunnelResult]] = {}
"""By study folder: what the answer depends on, and a result that holds."""


def standing_result(study: Study, coding: Coding | None) -> FunnelResult:
    """The last result of the funnel; raises StateError where it has to run first, or again."""
    depends = (*map(_stamp, _files(study)), _decided(study, coding))
    known = _KNOWN.get(study.root)
    if known is not None and known[0] == depends:
        return known[1]
    found = last_result(study, coding)
    if found is None:
        raise StateError("the funnel has not run yet: run `quaestor funnel` first")
    if not found[1]:
        raise StateError("evidence or study.toml changed since the funnel ran: run `quaestor funnel` again")
    _KNOWN[study.root] = depends, found[0]
    return found[0]


def _files(study: Study) -> list[Path]:
    return [study.file, study.funnel_folder / RESULT, study.evidence_of(study.funnel_source()) / "manifest.json"]


def _stamp(path: Path) -> tuple[int, int, int]:
    try:
        found = path.stat()
    except FileNotFoundError:
        return (0, 0, 0)
    return (found.st_mtime_ns, found.st_size, found.st_ino)


def _decided(study: Study, coding: Coding | None) -> tuple[object, ...]:
    rounds = [step.round for step in study.settings.funnel.steps if step.round]
    if coding is None or not rounds:
        return ()
    with coding.looking() as state:
        return tuple(_sign(state, name) for name in rounds)


def _sign(state: State, name: str) -> tuple[object, ...]:
    one = state.rounds.get(name)
    return (name,) if one is None else (name, one.status, one.closed, sum(map(len, one.decisions.values())))
