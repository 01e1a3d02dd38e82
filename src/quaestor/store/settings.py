"""What a study file may say about where its acts are kept."""

from __future__ import annotations

import re

from pydantic import field_validator

from quaestor.base.settings import Settings

_FORMS = re.compile(r"(sqlite|postgresql|postgres)://.+|\$\{\w+\}")


class StoreSettings(Settings):
    """Where the journal is; without an address it is the file study.db in the study folder."""

    address: str | None = None

    @field_validator("address")
    @classmethod
    def _names_a_store(cls, address: str | None) -> str | None:
        # The address is not shown: it may hold a password.
        if address is not None and not _FORMS.fullmatch(address):
            raise ValueError('"sqlite:///FILE", "postgresql://USER@HOST/DATABASE" or "${NAME}" is allowed')
        return address
