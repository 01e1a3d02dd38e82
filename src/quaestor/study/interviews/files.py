"""The two sealed files of a study's interviews, their keys, and where they lie."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

from quaestor.base.errors import StateError
from quaestor.store.erased_list import ErasedList
from quaestor.store.sealed_file import SealedFile, sealed_form
from quaestor.study.folder import Study

INTERVIEWS_FILE, INTERVIEWS_KEY = "interviews.db", "interviews.key"
IDENTITIES_FILE, IDENTITIES_KEY = "identities.db", "identities.key"
KEYS = "QUAESTOR_KEYS"
"""Names a folder in which the keys of interviews lie, where they shall not lie in the study folder."""
INTERVIEWS, IDENTITIES = sealed_form("interviews", 0x51496E74), sealed_form("identities", 0x51496465)
"""What a backup holds of the two files: their rows, which stay sealed, and never a key."""


def interviews_path(study: Study) -> Path:
    return study.root / INTERVIEWS_FILE


def identities_path(study: Study) -> Path:
    return study.root / IDENTITIES_FILE


def keys_of(study: Study) -> dict[str, Path]:
    """Where the key of each file lies, or would lie."""
    folder = Path(os.environ.get(KEYS) or study.root)
    return {INTERVIEWS.name: folder / INTERVIEWS_KEY, IDENTITIES.name: folder / IDENTITIES_KEY}


def opened_interviews(study: Study) -> SealedFile:
    """The file that knows participants by their pseudonyms, with its key, made where there is none yet."""
    path, key = interviews_path(study), keys_of(study)[INTERVIEWS.name]
    if not key.parent.is_dir():
        raise StateError(f"{KEYS} names {key.parent}, which is no folder: make it, for your eyes alone")
    return SealedFile(path, key, INTERVIEWS.kind, INTERVIEWS.name, ErasedList.beside(path))


def opened_copies(study: Study, interviews: sqlite3.Connection, identities: sqlite3.Connection) -> list[SealedFile]:
    """Copies of the two files, opened with the keys at hand."""
    keys = keys_of(study)
    return [
        SealedFile(study.root / name, keys[form.name], form.kind, form.name, copy=copy)
        for name, form, copy in ((INTERVIEWS_FILE, INTERVIEWS, interviews), (IDENTITIES_FILE, IDENTITIES, identities))
    ]


def opened_files(study: Study) -> tuple[SealedFile, SealedFile]:
    """The two files with their keys, made where there are none yet."""
    interviews = opened_interviews(study)
    try:
        path, key = identities_path(study), keys_of(study)[IDENTITIES.name]
        if not path.exists() and interviews.head():
            # An empty one in its place would know no name, and nothing would keep names from being published.
            raise StateError(
                f"{path} is not there, in which the names of the people in {interviews.path} are kept: "
                "bring it back, or restore a backup of it with `quaestor restore FILE --replace`"
            )
        return interviews, SealedFile(path, key, IDENTITIES.kind, IDENTITIES.name)
    except BaseException:
        interviews.close()
        raise
