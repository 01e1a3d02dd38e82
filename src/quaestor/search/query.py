"""A search query, as a value and as the query string of a URL that can be shared."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from urllib.parse import urlencode

from quaestor.base.errors import InputError
from quaestor.base.names import parse_whole_number, suggest

SIDES = ("kept", "dropped")
DISAGREEMENTS = ("any", "open", "settled")
ORDERS = ("best", "newest", "oldest", "viewed", "scored")
_LAST_PAGE = 1_000_000
_MAX_VALUE_LENGTH = 1_000
_YEARS = range(1, 10_000)


@dataclass(frozen=True)
class Query:
    """The conditions of a search; an item must match all that are not empty."""

    strand: str = ""
    """The strand of the items; empty for the first one."""
    words: str = ""
    tag: str = ""
    year: int | None = None
    step: str = ""
    side: str = ""
    """Whether the step kept (the default) or dropped the item."""
    round: str = ""
    facet: str = ""
    code: str = ""
    """The decided answer: a code with all codes below it, or the text of an answer."""
    disagreement: str = ""
    """Items on which the raters of a closed round disagree: any, open or settled."""
    order: str = ""
    page: int = 1

    @classmethod
    def from_parameters(cls, query: Mapping[str, str]) -> Query:
        """Reads a query from URL parameters; ignores unknown ones, which other pages may add."""
        values = {name: query.get(name, "").strip() for name in (*_TEXT_FIELDS, "year", "page", "code")}
        for name, value in values.items():
            if name != "words" and len(value) > _MAX_VALUE_LENGTH:
                raise InputError(f"the {name} has {len(value):,} characters: choose one from the list")
        facet, colon, code = values["code"].partition(":")
        return cls(
            **{name: values[name] for name in _TEXT_FIELDS},
            year=_parse_number(values["year"], "year", _YEARS),
            facet=facet.strip() if colon else "",
            code=code.strip() if colon else values["code"],
            page=_parse_number(values["page"], "page", range(1, _LAST_PAGE + 1)) or 1,
        ).validated()

    def validated(self) -> Query:
        """Returns the query itself; raises InputError for a value that is not allowed."""
        for name, allowed in (("side", SIDES), ("disagreement", DISAGREEMENTS), ("order", ORDERS)):
            value = getattr(self, name)
            if value and value not in allowed:
                raise InputError(f"{name} is {value[:60]!r}; choose from: {suggest(value, allowed)}")
        return self

    def to_query_string(self, **changed: object) -> str:
        """Returns the query string of the URL of this query, with some fields changed."""
        query = replace(self, **changed) if changed else self  # type: ignore[arg-type]
        parameters = {name: getattr(query, name) for name in (*_TEXT_FIELDS, "year")}
        parameters["code"] = query.decision
        parameters["page"] = query.page if query.page > 1 else ""
        return urlencode({name: value for name, value in parameters.items() if value})

    @property
    def decision(self) -> str:
        """The facet and the code as the search form writes them."""
        return f"{self.facet}:{self.code}" if self.facet or ":" in self.code else self.code

    @property
    def is_narrowed(self) -> bool:
        """Whether the query has any condition."""
        return replace(self, strand="", order="", page=1) != Query()


_TEXT_FIELDS = tuple(field.name for field in fields(Query) if field.name not in ("year", "facet", "code", "page"))


def _parse_number(text: str, name: str, allowed: range) -> int | None:
    if not text:
        return None
    number = parse_whole_number(text)
    if number is None or number not in allowed:
        raise InputError(f"the {name} is {text[:60]!r}: write it as a number from {allowed[0]} to {allowed[-1]:,}")
    return number


MAX_SEARCH_LENGTH = 500
"""The longest search text, in characters."""
_MAX_TERMS = 30
_MIN_PREFIX = 2
"""Letters required before a star, because a single letter matches far too many words."""
_TERM = re.compile(r'(-?)(?:"([^"]*)(?:"|$)(\*?)|(\S+))')


@dataclass(frozen=True)
class Terms:
    """The words and phrases that texts must and must not contain, each quoted for the index."""

    required: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()

    @property
    def match_expression(self) -> str:
        """The full-text expression of the terms, if any are required."""
        expression = " AND ".join(self.required)
        return f"({expression}) NOT ({' OR '.join(self.excluded)})" if self.excluded else expression


def parse_terms(words: str) -> Terms:
    """Parses a search text: words that must all occur, "quoted phrases", prefixes with a star*, and -excluded words."""
    if len(words) > MAX_SEARCH_LENGTH:
        raise InputError(f"the search has {len(words):,} characters: shorten it to {MAX_SEARCH_LENGTH}")
    required: list[str] = []
    excluded: list[str] = []
    for minus, phrase, star, word in _TERM.findall(_clean(words)):
        text = phrase or word.rstrip("*")
        if not any(character.isalnum() for character in text):
            continue
        is_prefix = star or word.endswith("*")
        if is_prefix and len(text) < _MIN_PREFIX:
            raise InputError(f"{text}* matches too many words: write at least {_MIN_PREFIX} letters before the star")
        (excluded if minus else required).append(f'"{text.replace(chr(34), chr(34) * 2)}"{"*" if is_prefix else ""}')
    if words.strip() and not (required or excluded):
        raise InputError(f"{words.strip()[:60]!r} has no word to search for: type letters or digits")
    if len(required) + len(excluded) > _MAX_TERMS:
        raise InputError(f"the search has {len(required) + len(excluded)} words: use at most {_MAX_TERMS}")
    return Terms(tuple(required), tuple(excluded))


def _clean(words: str) -> str:
    """Replaces unpaired surrogates and control characters, which the index cannot process."""
    whole = words.encode("utf-8", "replace").decode("utf-8")
    return "".join(character if character.isprintable() else " " for character in whole)
