"""The words of the pages in one language."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

_FILLED_IN = re.compile(r"\{(\w+)\}")
_FROM_RIGHT = frozenset({"ar", "ckb", "dv", "fa", "he", "ps", "sd", "ug", "ur", "yi"})


@dataclass(frozen=True)
class Wording:
    """What pages say to a respondent, in one language."""

    language: str
    texts: Mapping[str, str]
    lacking: frozenset[str] = frozenset()
    """Texts that nobody wrote in this language: they stand in English."""

    @property
    def direction(self) -> Literal["ltr", "rtl"]:
        return "rtl" if base_of(self.language) in _FROM_RIGHT else "ltr"

    def say(self, key: str, **values: object) -> str:
        """A text with its `{names}` filled in; what a study wrote and nobody fills in stands as it is."""
        return _FILLED_IN.sub(lambda match: str(values.get(match[1], match[0])), self.texts[key])


def base_of(language: str) -> str:
    """The language of which another one is a kind: `pt` of `pt-br`."""
    return re.split(r"[-_]", language, maxsplit=1)[0]


def names_in(text: str) -> set[str]:
    """What a text asks to be filled in."""
    return set(_FILLED_IN.findall(text))
