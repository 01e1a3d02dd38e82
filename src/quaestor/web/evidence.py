"""Evidence in a page: what strangers wrote, made harmless and readable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from markupsafe import Markup

from quaestor.study.reading import Reading
from quaestor.web.harmless import let_out, taken_in
from quaestor.web.highlight import highlighted
from quaestor.web.languages import language_of
from quaestor.web.shape import shaped

_KEPT, _LONGEST_KEPT = 1_000, 20_000
"""Posts that are kept ready, and how long one may be: those who rate together read the same ones."""


def clean(html: str, tags: Sequence[str] = (), below: int | None = 1) -> Markup:
    """A post's HTML with nothing in it that runs, loads, or styles; links leave without a trace, code is in colours.

    Its headings come below those of the page down to the level `below`; with None they are headings no more.
    """
    make = _cleaned_before if len(html) <= _LONGEST_KEPT else _cleaned
    return Markup(make(html, tuple(tags), below))  # noqa: S704 - the sanitiser has had the last word


def prepared(reading: Reading) -> Reading:
    """An item made ready for a page before anybody asks for it; what is kept meanwhile has the last step before it."""
    body, answer = (_shaped(text, reading.tags, 1) for text in (reading.body, reading.answer))
    return replace(reading, body=body, answer=answer, is_prepared=True)


def body_of(reading: Reading) -> Markup:
    return _shown(reading.body, reading)


def answer_of(reading: Reading) -> Markup:
    return _shown(reading.answer, reading)


def _shown(html: str, reading: Reading) -> Markup:
    if not reading.is_prepared:
        return clean(html, reading.tags)
    return Markup(let_out(html))  # noqa: S704 - the sanitiser has the last word, whoever kept it


def _cleaned(html: str, tags: tuple[str, ...], below: int | None) -> str:
    return let_out(_shaped(html, tags, below))


def _shaped(html: str, tags: Sequence[str], below: int | None) -> str:
    def colour(code: str, classes: str) -> str:
        return highlighted(code, language_of(code, classes, tags))

    return shaped(taken_in(html), colour, below)


_cleaned_before = lru_cache(maxsize=_KEPT)(_cleaned)
