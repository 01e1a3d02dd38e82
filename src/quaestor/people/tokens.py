"""Secrets that travel in links and cookies; what is kept of them cannot be turned back."""

from __future__ import annotations

import hashlib
import hmac
import secrets


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
