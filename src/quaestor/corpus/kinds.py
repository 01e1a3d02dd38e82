"""Question kinds as named patterns over title and body; a study may put its own in their place."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import TYPE_CHECKING

from quaestor.corpus.settings import KindSettings

if TYPE_CHECKING:
    import ibis.expr.types as ir


@cache
def bundled_kinds() -> MappingProxyType[str, KindSettings]:
    """The ten kinds of Treude, Barzilay and Storey, as patterns."""
    text = resources.files("quaestor.corpus").joinpath("kinds.toml").read_text("utf-8")
    return MappingProxyType({name: KindSettings(**kind) for name, kind in tomllib.loads(text).items()})


def is_of_kind(kind: KindSettings, title: ir.StringValue, body: ir.StringValue | None) -> ir.BooleanValue:
    """Whether a question is of the kind, as an expression."""
    texts = [(title, kind.title)] + ([(body, kind.body)] if body is not None else [])
    conditions = [_finds(text, patterns) for text, patterns in texts if patterns]
    found = conditions[0]
    for condition in conditions[1:]:
        found = found | condition
    return found & ~_finds(title, kind.unless_title) if kind.unless_title else found


def _finds(text: ir.StringValue, patterns: tuple[str, ...]) -> ir.BooleanValue:
    joined = "|".join(f"(?:{pattern})" for pattern in patterns)
    return text.re_search(f"(?i){joined}").fill_null(False)
