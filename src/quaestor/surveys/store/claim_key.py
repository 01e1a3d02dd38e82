"""The key of the payment file: derives tokens of finished respondents, recognises them, and encrypts addresses.

A token is derived from a respondent's code and this key, so nothing is written when somebody finishes, and the end
page always shows the same token. The answers file stores only hashes of codes, so no token can be derived from it.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import secrets
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from quaestor.base.errors import StateError
from quaestor.store.keys import get_or_create_secret
from quaestor.surveys.model.wording.catalogue import InvalidAnswer

LONGEST_ADDRESS = 240
"""Bytes; all encrypted addresses have the same size, so that their length reveals nothing."""
_HALF = 16
_PADDED = 256


class ClaimKey:
    """The secret key of the payment file."""

    def __init__(self, path: Path, text: str | None = None) -> None:
        """Reads the key of a file and creates it if there is none; or uses the given text instead of the file."""
        self._path = path
        self._secret = get_or_create_secret(path, "claims") if text is None else bytes.fromhex(text)

    @property
    def text(self) -> str:
        """Returns the content of its file."""
        return self._secret.hex()

    def token(self, survey: str, code: str) -> str:
        """Returns the payment token of a finished respondent: always the same, and verifiable by its second half."""
        nonce = self._derived("nonce", survey, code.encode("utf-8", "surrogatepass"))
        return base64.urlsafe_b64encode(nonce + self._derived("mark", survey, nonce)).rstrip(b"=").decode()

    def claim_id(self, survey: str, token: str) -> bytes | None:
        """Returns the id of a token's claim; None for a token of another key or survey."""
        try:
            raw = base64.b64decode(f"{token}=".encode("ascii"), altchars=b"-_", validate=True)
        except (UnicodeEncodeError, binascii.Error):
            return None
        nonce, mark = raw[:_HALF], raw[_HALF:]
        if not hmac.compare_digest(mark, self._derived("mark", survey, nonce)):
            return None
        return hashlib.sha256(nonce).digest()

    def sealed(self, address: str, claim: bytes) -> bytes:
        """Encrypts an address for its claim; the result reveals neither time nor length."""
        raw = address.encode()
        if len(raw) > LONGEST_ADDRESS:
            raise InvalidAnswer("too-long", length=len(raw), most=LONGEST_ADDRESS)
        nonce = secrets.token_bytes(12)
        return nonce + self._cipher().encrypt(nonce, raw.ljust(_PADDED, b"\0"), claim)

    def opened(self, sealed: bytes, claim: bytes) -> str:
        try:
            return self._cipher().decrypt(sealed[:12], sealed[12:], claim).rstrip(b"\0").decode()
        except InvalidTag:
            raise StateError(
                f"{self._path} is not the key that sealed these addresses: restore the original key"
            ) from None

    def _cipher(self) -> AESGCM:
        return AESGCM(hmac.digest(self._secret, b"addresses", "sha256"))

    def _derived(self, what: str, survey: str, data: bytes) -> bytes:
        return hmac.digest(self._secret, b"\0".join((what.encode(), survey.encode(), data)), "sha256")[:_HALF]
