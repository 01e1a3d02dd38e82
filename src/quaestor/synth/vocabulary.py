"""The words, sentences and code that synthetic posts are made of, read from the files in `words`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from importlib import resources
from typing import Any

Words = Mapping[str, tuple[str, ...]]
"""By name of a slot, what can stand in it."""


def read_words(name: str) -> str:
    return (resources.files("quaestor.synth") / "words" / name).read_text("utf-8")


def _lists(section: Mapping[str, Any]) -> Words:
    return {name: tuple(values) for name, values in section.items()}


_WORDS = tomllib.loads(read_words("words.toml"))
_CODE = tomllib.loads(read_words("code.toml"))

TAGS = _lists(_WORDS["tags"])
GENERAL_WORDS, LEARNING_WORDS = _lists(_WORDS["general"]), _lists(_WORDS["learning"])
SENTENCES, TITLES = _lists(_WORDS["sentences"]), _lists(_WORDS["titles"])
EXCLUDED, EXCLUDED_WORDS = _lists(_WORDS["excluded"]), _lists(_WORDS["excluded_words"])
GENERAL_CODE, _ANY_CODE, _LEARNING_CODE = tuple(_CODE["general"]), tuple(_CODE["any"]), _lists(_CODE["learning"])


def learning_code(framework: str) -> tuple[str, ...]:
    """Snippets that users of the framework would post."""
    return _LEARNING_CODE.get(framework, ()) + _ANY_CODE


def display_name(framework: str) -> str:
    """The framework as people write it in a sentence."""
    name: str = _WORDS["frameworks"].get(framework, framework)
    return name
