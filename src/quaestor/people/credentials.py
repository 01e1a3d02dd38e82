"""Passwords: Argon2id, and the same work for a name that does not exist."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading
import unicodedata

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from quaestor.base.errors import InputError

SHORTEST = 10
LONGEST = 1000


class Passwords:
    """Hashes and checks passwords, two at a time: each takes 64 MB, and strangers may ask for it."""

    def __init__(self, hasher: PasswordHasher | None = None) -> None:
        self._hasher = hasher or PasswordHasher()
        self._turns = threading.BoundedSemaphore(2)
        self._nobody = self._hasher.hash(secrets.token_urlsafe(32))

    def hash(self, password: str) -> str:
        """What is stored of a password, if it is one that may be chosen."""
        check_choice(password)
        with self._turns:
            return self._hasher.hash(_normal(password))

    def verify(self, hashed: str | None, password: str) -> bool:
        """Whether the password is the hashed one; without a hash it takes as long and the answer is no."""
        if len(password) > LONGEST:
            password = ""
        with self._turns:
            try:
                return self._hasher.verify(hashed or self._nobody, _normal(password)) and hashed is not None
            except (VerificationError, InvalidHashError):
                return False


def check_choice(password: str) -> None:
    """Refuses a password nobody should choose, in one sentence."""
    if len(_normal(password)) < SHORTEST:
        raise InputError(f"The password is too short: take at least {SHORTEST} characters.")
    if len(password) > LONGEST:
        raise InputError(f"The password is too long: take at most {LONGEST:,} characters.")
    if not password.strip():
        raise InputError("The password is nothing but spaces: take other characters too.")


def _normal(password: str) -> str:
    """One spelling of each character, whichever keyboard typed it; what is no text at all stays comparable."""
    return unicodedata.normalize("NFC", password.encode("utf-8", "replace").decode("utf-8"))


def new_token() -> str:
    return secrets.token_urlsafe(32)


def fingerprint(token: str) -> str:
    """What is stored of a token. A plain hash is enough: nobody can try out 256 random bits."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def form_token(token: str) -> str:
    """What a form carries to show that it comes from a page of the browser that holds the token."""
    return hmac.digest(token.encode("utf-8", "surrogatepass"), b"quaestor form", "sha256").hex()


def same(one: str, other: str) -> bool:
    """Whether two secrets are equal, in a time that does not tell how far."""
    return hmac.compare_digest(one.encode("utf-8", "surrogatepass"), other.encode("utf-8", "surrogateescape"))
