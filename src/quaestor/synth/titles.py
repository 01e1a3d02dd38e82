"""Titles: those that say "how to", and those that must not."""

from __future__ import annotations

import random
from dataclasses import dataclass

from quaestor.synth.excluded import EXCLUDED, EXCLUDED_WORDS
from quaestor.synth.phrases import IMPLEMENTATION, all_phrases
from quaestor.synth.texts import escape, fill, sentence
from quaestor.synth.words import GENERAL_WORDS, LEARNING_WORDS, display_name

_HOW_TO_WITH_NAME = (
    "How to {phrase} in {name}?", "How to {phrase} in {name}", "How to {phrase} with {name}?",
    "{name}: how to {phrase}?", "{name} - How to {phrase}", "I want to know how to {phrase} in {name}",
    "Not sure how to {phrase} using {name}", "In {name}, how to {phrase}?", "{name}, how to {phrase}",
)  # fmt: skip
_HOW_TO = (
    "How to {phrase}?", "How to {phrase}", "how to {phrase}", "I want to know how to {phrase}",
    "Any idea how to {phrase}?", "Beginner question: How to {phrase}?", "HOW TO {phrase}?",
)  # fmt: skip

_OTHER = (
    "{trouble} when I {act} {thing}", "Why does {part} return {trouble}", "{act} {thing} with {tool}",
    "Getting {trouble} in {part}", "Is it possible to {act} {thing}", "Best way to {act} {thing}",
    "What is the difference between {tool} and {part}", "{part} does not {act} {thing}",
    "Unexpected result of {part} with {tool}", "Can I use {tool} in {part}",
    "Strange behaviour of {tool} in {part}", "{trouble} after changing {part}",
    "Should I {act} {thing} with {tool}", "{name} are empty in {part}",
)  # fmt: skip
_OTHER_LEARNING = (
    "ValueError: shapes do not match when I {act} {thing}", "Why does my loss become NaN in {part}",
    "Accuracy stays the same although I {act} {thing}", "{thing} predicts only one class",
    "What is the meaning of {name} in {part}", "CUDA out of memory in {part}",
)  # fmt: skip

_PLACES = ("", "", "", " inside a function", " at run time", " in a notebook", " with the high-level API")
_REASONS = (
    "It has to work for batches of any size.",
    "The documentation covers only the simple case.",
    "My current solution copies everything through NumPy, which feels wrong.",
    "I found an old example, but it does not fit my network.",
    "A small example would be enough.",
)
_REPLIES = (
    "To {phrase}, a few lines are enough:",
    "You can {phrase} directly with {name}.",
    "There is no single call for it, but this is how I {phrase}:",
    "If you want to {phrase}, do it before the model is compiled or first called.",
    "It is possible to {phrase}; the trick is to keep the shapes known.",
)


@dataclass(frozen=True)
class HowTo:
    """The words of one tagged how-to question, escaped: its title, its opening and that of a reply."""

    title: bytes
    opening: bytes
    reply: bytes


def write_how_to(framework: str, topic: str, phrase: int, key: int) -> HowTo:
    """The same words for the same key, so that an answer, written much later, speaks of its question."""
    chance = random.Random(key)
    name = display_name(framework)
    if topic == IMPLEMENTATION:
        text = all_phrases()[phrase].text + chance.choice(_PLACES)
    else:
        words = {**EXCLUDED_WORDS, "framework": (name,)}
        text = fill(chance.choice(EXCLUDED[topic]), words, chance)
    pattern = chance.choice(_HOW_TO if name in text or chance.random() < 0.3 else _HOW_TO_WITH_NAME)
    title = pattern.format(phrase=text, name=name)
    opening = f"<p>I work with {name} and want to {text}. {chance.choice(_REASONS)}</p>\n\n"
    reply = chance.choice(_REPLIES).format(phrase=text, name=name)
    return HowTo(escape(title), escape(opening), escape(f"<p>{reply}</p>\n\n"))


@dataclass(frozen=True)
class TitlePool:
    """Beginnings and ends of titles, joined freely; how-to's and others are kept apart."""

    how_to: tuple[bytes, ...]
    how_to_ends: tuple[bytes, ...]
    other: tuple[bytes, ...]
    other_ends: tuple[bytes, ...]


def make_titles(framework: str | None, amount: int, chance: random.Random) -> TitlePool:
    """Titles about one framework, or about programming in general."""
    words = GENERAL_WORDS if framework is None else LEARNING_WORDS
    patterns = _OTHER if framework is None else _OTHER + _OTHER_LEARNING
    name = "" if framework is None else f" in {display_name(framework)}"
    how_to = [chance.choice(_HOW_TO).format(phrase=fill("{act} {thing}", words, chance)) for _ in range(amount)]
    other = [sentence(chance.choice(patterns), words, chance) for _ in range(amount)]
    ends = [f" {limit}{place}" for limit in words["limit"] for place in ("", name)]
    ends += ["", name] * len(words["limit"])
    return TitlePool(
        how_to=tuple(escape(title.rstrip("?")) for title in how_to),
        how_to_ends=tuple(escape(end + mark) for end in ends for mark in ("", "?")),
        other=tuple(escape(title) for title in other if _says_no_how_to(title)),
        other_ends=tuple(escape(end) for end in ends),
    )


def _says_no_how_to(title: str) -> bool:
    """No "how to", not even inside other words or across the seam to an end."""
    return "how to" not in title.lower() and not title.lower().endswith("how")
