"""Password hashing with Argon2id, and tokens of sessions, links and forms."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading
import unicodedata

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from quaestor.base.errors import InputError

MIN_LENGTH = 10
MAX_LENGTH = 1000


class Passwords:
    """Hashes and checks passwords, two at a time: each takes 64 MB, and strangers can trigger it."""

    def __init__(self, hasher: PasswordHasher | None = None) -> None:
        self._hasher = hasher or PasswordHasher()
        self._slots = threading.BoundedSemaphore(2)
        self._dummy_hash = self._hasher.hash(secrets.token_urlsafe(32))

    def hash(self, password: str) -> str:
        """Returns the hash to store for a password; raises InputError for an unacceptable one."""
        require_acceptable_password(password)
        with self._slots:
            return self._hasher.hash(_normalize(password))

    def verify(self, hashed: str | None, password: str) -> bool:
        """Whether a password has this hash; without a hash it never has, after the same amount of work."""
        if len(password) > MAX_LENGTH:
            password = ""
        with self._slots:
            try:
                return self._hasher.verify(hashed or self._dummy_hash, _normalize(password)) and hashed is not None
            except (VerificationError, InvalidHashError):
                return False


def require_acceptable_password(password: str) -> None:
    """Raises InputError for a password that is too short, too long or blank."""
    if len(_normalize(password)) < MIN_LENGTH:
        raise InputError(f"The password is too short: use at least {MIN_LENGTH} characters.")
    if len(password) > MAX_LENGTH:
        raise InputError(f"The password is too long: use at most {MAX_LENGTH:,} characters.")
    if not password.strip():
        raise InputError("The password consists only of spaces: add other characters.")


def _normalize(password: str) -> str:
    """Returns the NFC form, so that a password is the same from every keyboard, even with invalid characters."""
    return unicodedata.normalize("NFC", password.encode("utf-8", "replace").decode("utf-8"))


def new_token() -> str:
    return secrets.token_urlsafe(32)


def hash_token(token: str) -> str:
    """Returns what is stored of a token; a plain hash is enough because nobody can guess 256 random bits."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def derive_form_token(token: str) -> str:
    """Returns the value that proves that a form was sent from a page of the browser with this token."""
    return hmac.digest(token.encode("utf-8", "surrogatepass"), b"quaestor form", "sha256").hex()


def equal_secrets(first: str, second: str) -> bool:
    """Whether two secrets are equal, in a time that does not depend on where they differ."""
    return hmac.compare_digest(first.encode("utf-8", "surrogatepass"), second.encode("utf-8", "surrogateescape"))
