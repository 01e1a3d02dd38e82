"""Pools of escaped bodies and titles, so that a row is assembled by a single join."""

from __future__ import annotations

import html
import math
import random
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from quaestor.synth.phrases import (
    EXCLUDED,
    EXCLUDED_WORDS,
    GENERAL_CODE,
    GENERAL_WORDS,
    IMPLEMENTATION,
    LEARNING_WORDS,
    SENTENCES,
    TITLES,
    Words,
    format_framework_name,
    list_code_snippets,
    list_phrases,
)

LONGEST_BODY = 29_000
"""Stack Overflow accepts bodies of up to 30,000 characters; openings are added to these."""

WITH_CODE = 0.6
_SLOT = re.compile(r"\{(\w+)\}")
_CODE_SLOT = re.compile(r"\$([abnAB])")


def escape(text: str) -> bytes:
    """Escapes text for an attribute of a dump."""
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
    return escaped.replace("\n", "&#xA;").encode()


def fill_pattern(pattern: str, words: Words, chance: random.Random) -> str:
    """Replaces each slot of the pattern by one of its words."""
    return _SLOT.sub(lambda slot: chance.choice(words[slot[1]]), pattern)


def write_sentence(pattern: str, words: Words, chance: random.Random) -> str:
    """Fills a pattern and capitalises the first letter."""
    text = fill_pattern(pattern, words, chance)
    return text[0].upper() + text[1:]


@dataclass(frozen=True)
class Bodies:
    """The bodies of questions and answers about a subject, and opening paragraphs for them."""

    asking: tuple[bytes, ...]
    answering: tuple[bytes, ...]
    asking_openings: tuple[bytes, ...]
    answering_openings: tuple[bytes, ...]


@dataclass(frozen=True)
class _Fragments:
    """Escaped pieces from which bodies are joined; code is grouped by language."""

    paragraphs: tuple[bytes, ...]
    lists: tuple[bytes, ...]
    codes: tuple[tuple[bytes, ...], ...]


def build_bodies(framework: str | None, amount: int, chance: random.Random) -> Bodies:
    """Builds a pool of bodies about a framework, or about programming in general."""
    words = GENERAL_WORDS if framework is None else LEARNING_WORDS
    codes = [(snippet,) for snippet in GENERAL_CODE] if framework is None else [list_code_snippets(framework)]
    asking = _make_fragments(SENTENCES["asking"], words, codes, amount, chance)
    answering = _make_fragments(SENTENCES["answering"], words, codes, amount, chance)
    return Bodies(
        asking=tuple(_body(asking, 6.55, chance) for _ in range(amount)),
        answering=tuple(_body(answering, 6.25, chance) for _ in range(amount)),
        asking_openings=asking.paragraphs,
        answering_openings=answering.paragraphs,
    )


def _make_fragments(
    patterns: tuple[str, ...],
    words: Words,
    codes: Sequence[tuple[str, ...]],
    amount: int,
    chance: random.Random,
) -> _Fragments:
    size = max(20, amount // 2)
    sentences = [write_sentence(pattern, words, chance) for pattern in chance.choices(patterns, k=2 * size)]
    return _Fragments(
        paragraphs=tuple(_paragraph(chance.choices(sentences, k=chance.randint(1, 3))) for _ in range(size)),
        lists=tuple(_list(chance.choices(SENTENCES["items"], k=3), words, chance) for _ in range(size // 4)),
        codes=tuple(tuple(_code(group, chance) for _ in range(max(5, size // len(codes)))) for group in codes),
    )


def _paragraph(sentences: Iterable[str]) -> bytes:
    return escape(f"<p>{' '.join(sentences)}</p>\n\n")


def _code(snippets: Sequence[str], chance: random.Random) -> bytes:
    names = dict(zip("ab", chance.sample(GENERAL_WORDS["name"] + LEARNING_WORDS["name"], 2), strict=True))
    names |= {name.upper(): value.capitalize() for name, value in names.items()}
    names["n"] = str(chance.choice((1, 2, 4, 8, 16, 32, 64, 100, 128, 256, 500)))
    chosen = chance.sample(snippets, min(len(snippets), chance.choice((1, 1, 2))))
    code = _CODE_SLOT.sub(lambda slot: names[slot[1]], "\n".join(chosen))
    return escape(f"<pre><code>{html.escape(code, quote=False)}</code></pre>\n\n")


def _list(patterns: Iterable[str], words: Words, chance: random.Random) -> bytes:
    kind = chance.choice(("ul", "ol"))
    items = "".join(f"<li>{fill_pattern(pattern, words, chance)}</li>\n" for pattern in patterns)
    return escape(f"<{kind}>\n{items}</{kind}>\n\n")


def _body(fragments: _Fragments, log_median: float, chance: random.Random) -> bytes:
    """Joins paragraphs, code and lists up to a length drawn from a log-normal distribution."""
    length = min(math.exp(chance.gauss(log_median, 0.95)), LONGEST_BODY - 2_000)
    with_code = chance.random() < WITH_CODE
    second = chance.choice(fragments.codes) if with_code else fragments.paragraphs
    kinds = (fragments.paragraphs, second, fragments.lists if chance.random() < 0.15 else second)
    parts = [chance.choice(second)] if with_code else []
    size = sum(map(len, parts))
    while size < length - 100:
        parts.append(chance.choice(kinds[len(parts) % len(kinds)]))
        size += len(parts[-1])
    return b"".join(parts)


@dataclass(frozen=True)
class HowTo:
    """The escaped texts of a tagged how-to question: title, opening, and opening of a reply."""

    title: bytes
    opening: bytes
    reply: bytes


def write_how_to(framework: str, topic: str, phrase: int, key: int) -> HowTo:
    """Returns the same text for the same key, so that an answer, written much later, matches its question."""
    chance = random.Random(key)
    name = format_framework_name(framework)
    if topic == IMPLEMENTATION:
        text = list_phrases()[phrase].text + chance.choice(TITLES["places"])
    else:
        words = {**EXCLUDED_WORDS, "framework": (name,)}
        text = fill_pattern(chance.choice(EXCLUDED[topic]), words, chance)
    pattern = chance.choice(TITLES["how_to"] if name in text or chance.random() < 0.3 else TITLES["how_to_with_name"])
    title = pattern.format(phrase=text, name=name)
    opening = f"<p>I work with {name} and want to {text}. {chance.choice(TITLES['reasons'])}</p>\n\n"
    reply = chance.choice(TITLES["replies"]).format(phrase=text, name=name)
    return HowTo(escape(title), escape(opening), escape(f"<p>{reply}</p>\n\n"))


@dataclass(frozen=True)
class TitlePool:
    """Beginnings and ends of titles that combine freely, separately for how-to and other titles."""

    how_to: tuple[bytes, ...]
    how_to_ends: tuple[bytes, ...]
    other: tuple[bytes, ...]
    other_ends: tuple[bytes, ...]


def build_titles(framework: str | None, amount: int, chance: random.Random) -> TitlePool:
    """Builds titles about a framework, or about programming in general."""
    words = GENERAL_WORDS if framework is None else LEARNING_WORDS
    patterns = TITLES["other"] if framework is None else TITLES["other"] + TITLES["other_learning"]
    name = "" if framework is None else f" in {format_framework_name(framework)}"
    how_to = [
        chance.choice(TITLES["how_to"]).format(phrase=fill_pattern("{act} {thing}", words, chance))
        for _ in range(amount)
    ]
    other = [write_sentence(chance.choice(patterns), words, chance) for _ in range(amount)]
    ends = [f" {limit}{place}" for limit in words["limit"] for place in ("", name)]
    ends += ["", name] * len(words["limit"])
    return TitlePool(
        how_to=tuple(escape(title.rstrip("?")) for title in how_to),
        how_to_ends=tuple(escape(end + mark) for end in ends for mark in ("", "?")),
        other=tuple(escape(title) for title in other if _lacks_how_to(title)),
        other_ends=tuple(escape(end) for end in ends),
    )


def _lacks_how_to(title: str) -> bool:
    """Whether a title lacks "how to", also within other words and together with the end that follows."""
    return "how to" not in title.lower() and not title.lower().endswith("how")
