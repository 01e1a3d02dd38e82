"""What every part of a study file shares: unknown keys are errors, and values cannot change once read."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints


class Settings(BaseModel):
    """A part of a study file: unknown keys are errors, values cannot change once read."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


Name = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f]+$")]
Seed = Annotated[int, Field(ge=0, lt=2**63)]
