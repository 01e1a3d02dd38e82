"""TOML files that people write: every way in which one cannot be read is one sentence."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from quaestor.base.errors import QuaestorError

MOST_BYTES = 16 * 1024 * 1024


def read_toml(path: Path, failure: type[QuaestorError]) -> dict[str, Any]:
    """The content of a file; `failure` is raised with what is wrong and where."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise failure(f"{path} is over {MOST_BYTES // 2**20} MB long, as no file of settings is: shorten it")
        text = path.read_text("utf-8-sig")
    except OSError as error:
        raise failure(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise failure(f"{path} is not UTF-8 (byte {error.start}): save it as UTF-8") from None
    return parsed_toml(text, str(path), failure)


def parsed_toml(text: str, where: str, failure: type[QuaestorError]) -> dict[str, Any]:
    """What a text of TOML says."""
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise failure(f"{where} is not valid TOML: {error}") from None
