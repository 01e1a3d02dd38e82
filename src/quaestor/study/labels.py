"""Labels of a replication package: read into the codebook they were given under, and carried on to the printed one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from quaestor.base.errors import InputError
from quaestor.base.toml import read_toml
from quaestor.coding.codebook.file import read_codebook
from quaestor.coding.records import Codebook

LABELS_FILE = "labels.toml"


@dataclass(frozen=True)
class Labels:
    """How the labels of a study are read, and the acts that lead from their codebook to the printed one."""

    codebook: Path
    phases: Mapping[str, str]
    words: Mapping[str, str]
    moves: Sequence[tuple[str, dict[str, Any]]]
    source: Mapping[str, Any] = field(default_factory=dict)
    """How the file of labelled items is read, in the words of a table source."""

    def payload(self) -> dict[str, Any]:
        """What imports the codebook of the labels."""
        return read_codebook(self.codebook)

    def read(self, label: str, book: Codebook) -> tuple[str, str]:
        """(verb, code) of a label such as `rotate,image,d`; raises InputError where it says nothing known."""
        parts = [part.strip() for part in label.rsplit(",", 2)]
        if len(parts) < 3 or parts[-1] not in self.phases:
            raise InputError(f"the label {label!r} does not end with an object and a phase")
        verb, thing, phase = parts[0], self.thing(parts[-2]), self.phases[parts[-1]]
        wanted = thing.casefold()
        found = [code for code in book.children(phase) if wanted.endswith(code.name.casefold())]
        if not found:
            raise InputError(f"the label {label!r} names no object of {phase}")
        return verb, max(found, key=lambda code: len(code.name)).id

    def thing(self, word: str) -> str:
        """What a word of a label stands for."""
        return self.words.get(word, word)

    def phrase(self, label: str) -> dict[str, str]:
        """Verb and object of a label, in whole words."""
        verb, thing, _ = (part.strip() for part in label.rsplit(",", 2))
        return {"verb": verb, "object": self.thing(thing)}


def read_labels(folder: Path) -> Labels:
    """The labels of a study folder or bundled study."""
    path = folder / LABELS_FILE
    if not path.exists():
        raise InputError(f"{path} does not exist: this study does not say how published labels are read")
    raw = read_toml(path, InputError)
    moves = [(f"codebook.{one['kind']}", {key: one[key] for key in one if key != "kind"}) for one in raw["moves"]]
    return Labels(folder / raw["codebook"], raw["phases"], raw["words"], moves, raw.get("source", {}))
