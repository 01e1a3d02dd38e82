"""The page texts in one language."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

_FILLED_IN = re.compile(r"\{(\w+)\}")
_FROM_RIGHT = frozenset({"ar", "ckb", "dv", "fa", "he", "ps", "sd", "ug", "ur", "yi"})


@dataclass(frozen=True)
class Wording:
    """Texts of the respondents' pages in one language."""

    language: str
    texts: Mapping[str, str]
    lacking: frozenset[str] = frozenset()
    """Keys without a text in this language; English is shown instead."""

    @property
    def direction(self) -> Literal["ltr", "rtl"]:
        return "rtl" if base_language(self.language) in _FROM_RIGHT else "ltr"

    def say(self, key: str, **values: object) -> str:
        """Returns a text with its `{names}` filled in; unknown names in a study's own text stay."""
        return _FILLED_IN.sub(lambda match: str(values.get(match[1], match[0])), self.texts[key])


def base_language(language: str) -> str:
    """Returns the base language: `pt` for `pt-br`."""
    return re.split(r"[-_]", language, maxsplit=1)[0]


def find_placeholders(text: str) -> set[str]:
    """Returns the placeholders of a text."""
    return set(_FILLED_IN.findall(text))
