"""Codes that follow from what a respondent holds, so that a button pressed twice leads to one place.

Of a code only its hash is kept, and of what it follows from nothing at all.
"""

from __future__ import annotations

import base64
import hmac

from quaestor.study.surveys.fielding import Surveys

_SHORTEST_KEY = 32
"""Characters of a key that nobody guesses, as the pages make them; a shorter one stands for nothing."""


def code_of_link(token: str) -> str:
    """The code of whoever holds an invitation of a survey that is not anonymous."""
    return _made(token, "quaestor respondent")


def code_of_page(token: str, key: str) -> str:
    """The code of whoever begins an anonymous survey from a page that was made for them; empty without its key.

    Whoever holds the token alone cannot find it: the key is known to the page and nobody else.
    """
    return _made(token, f"quaestor page {key}") if len(key) >= _SHORTEST_KEY else ""


def code_at_entrance(surveys: Surveys, name: str, key: str) -> str:
    """The same for a survey that everybody can answer; empty where the page was used and somebody else sits there now.

    A page from which answers were sent begins anew: behind it may be the next person at the same computer.
    """
    code = _made(key, f"quaestor entrance {name}") if len(key) >= _SHORTEST_KEY else ""
    begun = surveys.answers.find(code) if code else None
    return "" if begun is not None and begun.sent else code


def _made(secret: str, words: str) -> str:
    made = hmac.digest(secret.encode("utf-8", "surrogatepass"), words.encode("utf-8", "surrogatepass"), "sha256")
    return base64.urlsafe_b64encode(made[:18]).decode()
