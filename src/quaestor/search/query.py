"""What somebody wants to find, as a value and as the query of an address that can be shared."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from urllib.parse import urlencode

from quaestor.base.errors import InputError
from quaestor.base.names import join_with_or, parse_whole_number, sort_by_similarity

SIDES = ("kept", "dropped")
DISAGREEMENTS = ("any", "open", "settled")
ORDERS = ("best", "newest", "oldest", "viewed", "scored")
_LAST_PAGE = 1_000_000
_LONGEST = 1_000
_YEARS = range(1, 10_000)


@dataclass(frozen=True)
class Query:
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
    def from_parameters(cls, query: Mapping[str, str]) -> Query:
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
        ).validated()

    def validated(self) -> Query:
        """The same; raises InputError where a choice is none of those there are."""
        for name, allowed in (("side", SIDES), ("disagreement", DISAGREEMENTS), ("order", ORDERS)):
            value = getattr(self, name)
            if value and value not in allowed:
                raise InputError(
                    f"{name} is {value[:60]!r}, allowed: {join_with_or(sort_by_similarity(value, allowed))}"
                )
        return self

    def to_query_string(self, **changed: object) -> str:
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
    def is_narrowed(self) -> bool:
        """Whether anything is asked for at all."""
        return replace(self, order="", page=1) != Query()


_TEXTS = tuple(one.name for one in fields(Query) if one.name not in ("year", "facet", "code", "page"))


def _decision(facet: str, code: str) -> str:
    return f"{facet}:{code}" if facet or ":" in code else code


def _number(text: str, name: str, allowed: range) -> int | None:
    if not text:
        return None
    number = parse_whole_number(text)
    if number is None or number not in allowed:
        raise InputError(f"the {name} is {text[:60]!r}: write it as a number from {allowed[0]} to {allowed[-1]:,}")
    return number


MAX_SEARCH_LENGTH = 500
"""Characters of a search."""
_MOST = 30
_SHORTEST = 2
"""Letters before a star: a single one begins half of all words."""
_TERM = re.compile(r'(-?)(?:"([^"]*)(?:"|$)(\*?)|(\S+))')


@dataclass(frozen=True)
class Terms:
    """What texts must have, and what they must not have: words and phrases, each quoted for the index."""

    required: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()

    @property
    def match_expression(self) -> str:
        """What finds the texts, where there is something they must have."""
        found = " AND ".join(self.required)
        return f"({found}) NOT ({' OR '.join(self.excluded)})" if self.excluded else found


def parse_terms(words: str) -> Terms:
    """Words that must all occur, "phrases in quotes", beginnings with a star, and -words that must not occur."""
    if len(words) > MAX_SEARCH_LENGTH:
        raise InputError(f"the search has {len(words):,} characters: shorten it to {MAX_SEARCH_LENGTH}")
    having: list[str] = []
    without: list[str] = []
    for minus, phrase, star, word in _TERM.findall(_plain(words)):
        text = phrase or word.rstrip("*")
        if not any(character.isalnum() for character in text):
            continue
        begins = star or word.endswith("*")
        if begins and len(text) < _SHORTEST:
            raise InputError(f"{text}* fits too many words: write at least {_SHORTEST} letters before the star")
        (without if minus else having).append(f'"{text.replace(chr(34), chr(34) * 2)}"{"*" if begins else ""}')
    if words.strip() and not (having or without):
        raise InputError(f"{words.strip()[:60]!r} has no word to search for: type letters or digits")
    if len(having) + len(without) > _MOST:
        raise InputError(f"the search has {len(having) + len(without)} words: take at most {_MOST}")
    return Terms(tuple(having), tuple(without))


def _plain(words: str) -> str:
    """Without half characters and control characters, which the index cannot take."""
    whole = words.encode("utf-8", "replace").decode("utf-8")
    return "".join(character if character.isprintable() else " " for character in whole)
