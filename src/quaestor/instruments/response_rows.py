"""A response as a row of the file that keeps it, and how it is found there."""

from __future__ import annotations

import hashlib
import json
import secrets
import sqlite3
from collections.abc import Sequence
from typing import Any

from quaestor.instruments.records import Response, Standing


def new_code() -> str:
    """What a respondent holds, and nobody else: who has it can go on, and can withdraw."""
    return secrets.token_urlsafe(18)


def new_id() -> str:
    return secrets.token_hex(8)


def hashed(code: str) -> str:
    return hashlib.sha256(code.encode("utf-8", "surrogatepass")).hexdigest()


def find_response(connection: sqlite3.Connection, code: str) -> Response | None:
    row = connection.execute("SELECT * FROM responses WHERE code = ?", (hashed(code),)).fetchone()
    return response_in(row) if row else None


def row_of(code: str, one: Response) -> tuple[Any, ...]:
    return (
        one.id, hashed(code), one.survey, one.version, one.standing.value, one.language, one.seed, one.stratum,
        one.seconds, as_json(list(one.sent)), as_json(dict(one.answers)), one.day, one.source, int(one.synthetic),
    )  # fmt: skip


def response_in(row: Sequence[Any]) -> Response:
    name, _, survey, version, standing, language, seed, stratum, seconds, sent, answers, day, source, synthetic = row
    return Response(
        name, survey, version, Standing(standing), json.loads(answers), language, seed, stratum, seconds,
        tuple(json.loads(sent)), day, source, bool(synthetic),
    )  # fmt: skip


def as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"))
