"""The form of a new round: what was typed into it, and what that asks for."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from quaestor.base.errors import InputError
from quaestor.study.moments import in_utc

Typed = Mapping[str, Sequence[str]]
_TEXTS = ("round", "kind", "statistic", "measured", "after", "settle", "tie_breaker")


def wanted_by(typed: Typed) -> dict[str, Any]:
    """A form as `[[rounds]]` of a study file would say it; what was left empty is left out."""
    wanted: dict[str, Any] = {name: _one(typed, name) for name in _TEXTS if _one(typed, name)}
    wanted["facets"] = _several(typed, "facets")
    wanted["raters"] = list(dict.fromkeys([*_several(typed, "raters"), *_names(_one(typed, "more_raters"))]))
    wanted["items"] = _items(typed)
    wanted["blind"] = _one(typed, "blind") == "yes"
    if other := _one(typed, "other_tie_breaker"):
        wanted["tie_breaker"] = other
    if confirms := _several(typed, "confirms"):
        wanted["confirms"] = confirms
    if overlap := _one(typed, "overlap"):
        wanted["overlap"] = _share(overlap)
    if threshold := _one(typed, "threshold"):
        wanted["threshold"] = threshold.replace(",", ".")
    if instructions := _one(typed, "instructions"):
        wanted["instructions"] = instructions.replace("\r\n", "\n").replace("\r", "\n")
    if deadline := _one(typed, "deadline"):
        wanted["deadline"] = datetime.fromisoformat(in_utc(deadline))
    return wanted


def _items(typed: Typed) -> dict[str, Any]:
    place, _, name = _one(typed, "items").partition("=")
    if not name:
        raise InputError("no items are chosen: say where the round takes its items from")
    found: dict[str, Any] = {place: name}
    found |= {key: value for key in ("size", "set_size") if (value := _one(typed, key))}
    if without := _several(typed, "without"):
        found["without"] = without
    return found


def typed_of(wanted: Mapping[str, Any]) -> dict[str, list[str]]:
    """A round of the study file as the form shows it."""
    typed = {name: [str(wanted[name])] for name in _TEXTS if wanted.get(name)}
    items = wanted.get("items", {})
    place = next((key for key in ("after", "sample", "kept_by", "again") if items.get(key)), "")
    typed["items"] = [f"{place}={items[place]}"] if place else []
    typed |= {key: [str(items[key])] for key in ("size", "set_size") if items.get(key)}
    typed["without"] = list(items.get("without", ()))
    typed |= {name: list(wanted.get(name, ())) for name in ("facets", "raters", "confirms")}
    typed["overlap"] = [f"{100 * wanted.get('overlap', 1.0):g}"]
    typed["threshold"] = [f"{wanted['threshold']:g}"] if wanted.get("threshold") is not None else []
    typed["blind"] = ["yes"] if wanted.get("blind", True) else []
    typed["instructions"] = [wanted.get("instructions", "")]
    typed["deadline"] = [wanted["deadline"].isoformat()[:16]] if wanted.get("deadline") else []
    return typed


NEW: Typed = {"blind": ["yes"], "overlap": ["100"], "kind": ["main"]}
"""What the form shows before anything is typed."""


class Shown:
    """What the fields of the form hold."""

    def __init__(self, typed: Typed) -> None:
        self._typed = typed

    def value(self, name: str) -> str:
        return _one(self._typed, name)

    def has(self, name: str, value: str) -> bool:
        return value in self._typed.get(name, ())


def _one(typed: Typed, name: str) -> str:
    return next(iter(typed.get(name, ())), "").strip()


def _several(typed: Typed, name: str) -> list[str]:
    return [value for value in typed.get(name, ()) if value]


def _names(text: str) -> list[str]:
    """Names one a line, or with commas in between."""
    return [name for part in re.split(r"[\r\n,]+", text) if (name := part.strip())]


def _share(percent: str) -> float:
    try:
        return float(percent.replace(",", ".")) / 100
    except ValueError:
        raise InputError(f"the overlap is {percent!r}: give a number of percent from 0 to 100") from None
