"""What somebody wants to find, as a value and as the query of an address that can be shared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from urllib.parse import urlencode

from quaestor.base.errors import InputError
from quaestor.base.names import listed, nearest_first
from quaestor.base.numbers import whole_number

SIDES = ("kept", "dropped")
DISAGREEMENTS = ("any", "open", "settled")
ORDERS = ("best", "newest", "oldest", "viewed", "scored")
_LAST_PAGE = 1_000_000
_LONGEST = 1_000
_YEARS = range(1, 10_000)


@dataclass(frozen=True)
class Wanted:
    """Every condition that is given must hold; an empty one asks for nothing."""

    words: str = ""
    tag: str = ""
    year: int | None = None
    step: str = ""
    side: str = ""
    """What the step kept, where it is not said, or dropped."""
    round: str = ""
    facet: str = ""
    code: str = ""
    """What an item was decided to be: a code with all below it, or the words of an answer."""
    disagreement: str = ""
    """Items on which the raters of a closed round differ: any, or those still open, or settled."""
    order: str = ""
    page: int = 1

    @classmethod
    def of(cls, query: Mapping[str, str]) -> Wanted:
        """What the query of an address asks for; what it does not know is left alone, as other pages may add to it."""
        given = {name: query.get(name, "").strip() for name in (*_TEXTS, "year", "page", "code")}
        for name, value in given.items():
            if name != "words" and len(value) > _LONGEST:
                raise InputError(f"the {name} has {len(value):,} characters: choose one from the list")
        facet, colon, code = given["code"].partition(":")
        return cls(
            **{name: given[name] for name in _TEXTS},
            year=_number(given["year"], "year", _YEARS),
            facet=facet.strip() if colon else "",
            code=code.strip() if colon else given["code"],
            page=_number(given["page"], "page", range(1, _LAST_PAGE + 1)) or 1,
        ).checked()

    def checked(self) -> Wanted:
        """The same; raises InputError where a choice is none of those there are."""
        for name, allowed in (("side", SIDES), ("disagreement", DISAGREEMENTS), ("order", ORDERS)):
            value = getattr(self, name)
            if value and value not in allowed:
                raise InputError(f"{name} is {value[:60]!r}, allowed: {listed(nearest_first(value, allowed))}")
        return self

    def query(self, **changed: object) -> str:
        """The query of the address that asks for this, or for this with something changed."""
        wanted = replace(self, **changed) if changed else self  # type: ignore[arg-type]
        parts = {name: getattr(wanted, name) for name in (*_TEXTS, "year")}
        parts["code"] = _decision(wanted.facet, wanted.code)
        parts["page"] = wanted.page if wanted.page > 1 else ""
        return urlencode({name: value for name, value in parts.items() if value})

    @property
    def decision(self) -> str:
        """Facet and code as a form names them."""
        return _decision(self.facet, self.code)

    @property
    def narrowed(self) -> bool:
        """Whether anything is asked for at all."""
        return replace(self, order="", page=1) != Wanted()


_TEXTS = tuple(one.name for one in fields(Wanted) if one.name not in ("year", "facet", "code", "page"))


def _decision(facet: str, code: str) -> str:
    return f"{facet}:{code}" if facet or ":" in code else code


def _number(text: str, name: str, allowed: range) -> int | None:
    if not text:
        return None
    number = whole_number(text)
    if number is None or number not in allowed:
        raise InputError(f"the {name} is {text[:60]!r}: write it as a number from {allowed[0]} to {allowed[-1]:,}")
    return number
