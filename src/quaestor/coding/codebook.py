"""The codebook of a study: its file, its changes, its versions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from quaestor.base.errors import InputError, StateError
from quaestor.base.files import write_whole
from quaestor.coding.codebook.differences import differences
from quaestor.coding.codebook.file import read_codebook, write_codebook
from quaestor.coding.codebook.history import undone_in
from quaestor.coding.records import Codebook, Difference
from quaestor.coding.split_rules import refuse_rules_that_fit_nothing
from quaestor.coding.state import State
from quaestor.store.records import NewAct
from quaestor.study.coding import Where, open_coding, require_lead, study_of
from quaestor.study.interviews.code_names import known_names, refuse_names_in_codebook
from quaestor.study.tables import read_rows

CODEBOOK_FILE = "codebook.toml"


class CodebookChanged(StateError):
    """Somebody changed the codebook between the look at what an act would move and the act."""


def import_codebook(study: Where, file: Path | None = None, actor: str | None = None) -> Codebook:
    """Begin the codebook with a file; afterwards the journal is the truth."""
    payload = read_codebook(file or study_of(study).root / CODEBOOK_FILE)
    change_codebook(study, "codebook.import", payload, actor)
    return codebook_at(study, None)


def change_codebook(
    study: Where, kind: str, payload: dict[str, Any], actor: str | None = None, at: int | None = None
) -> int:
    """One act on the codebook; the version it led to. Refused where `at`, the version it was meant for, is gone."""
    with open_coding(study) as coding:
        who = require_lead(coding, actor, "change the codebook")
        names = known_names(coding)

        def decide(state: State) -> NewAct:
            version = state.history.latest.version
            if at is not None and at != version:
                raise CodebookChanged(
                    f"the codebook has changed since you looked (version {at} then, {version} now), and nothing was "
                    "done: look at what this would move now, and confirm it again"
                )
            book = state.history.then(kind, payload)
            refuse_rules_that_fit_nothing(state, kind, payload)
            refuse_names_in_codebook(names, state.history.latest, book)
            return NewAct(kind, who, payload, book.version)

        coding.act(decide)
        return coding.state.history.latest.version


def codebook_at(study: Where, version: int | None) -> Codebook:
    with open_coding(study) as coding:
        history = coding.state.history
        return history.latest if version is None else history.at(version)


def codebook_differences(study: Where, before: int, after: int | None) -> list[Difference]:
    with open_coding(study) as coding:
        history = coding.state.history
        return differences(history.at(before), history.latest if after is None else history.at(after))


def save_codebook(book: Codebook, path: Path) -> None:
    write_whole(path, write_codebook(book).encode("utf-8"))


def codes_json(book: Codebook) -> dict[str, Any]:
    """A version as plain values."""
    return {
        "version": book.version,
        "name": book.name,
        "facets": [{"id": one.id, "title": one.title, "levels": list(one.levels)} for one in book.facets.values()],
        "codes": [
            {
                "id": code.id,
                "facet": code.facet,
                "level": book.level(code.id),
                "parent": code.parent,
                "name": code.name,
                "definition": code.definition,
                "use": code.use,
                "not": code.not_,
                "examples": list(code.examples),
                "colour": code.colour,
                "key": code.key,
                "status": code.status,
                "into": code.into,
                "across": dict(code.across),
            }
            for code in book.codes.values()
        ],
    }


def changes(study: Where) -> list[dict[str, Any]]:
    """Every change with its number, in words."""
    with open_coding(study) as coding:
        acts = [act for act in coding.journal.acts() if act.kind.startswith("codebook.")]
        undone = undone_in(coding.state.history.changes)
    return [
        {
            "version": number,
            "time": act.time,
            "actor": act.actor,
            "kind": act.kind.removeprefix("codebook."),
            "change": _in_words(act.kind.removeprefix("codebook."), act.payload),
            "undone": number in undone,
        }
        for number, act in enumerate(acts, start=1)
    ]


def _in_words(kind: str, said: dict[str, Any]) -> str:
    if kind == "import":
        return f"import {len(said['codes'])} codes"
    if kind == "merge":
        return f"merge {', '.join(said['codes'])} into {said['into']}"
    if kind == "split":
        return f"split {said['code']} into {', '.join(part['id'] for part in said['parts'])}"
    if kind == "undo":
        return f"undo change {said['version']}"
    more = {"rename": said.get("name"), "move": f"to {said.get('parent') or 'the top'}"}.get(kind, "")
    return f"{kind} {said.get('code') or said.get('id')} {more}".strip()


def split_items(path: Path) -> dict[str, str]:
    """item → part, from a table with these two columns."""
    found = {}
    for number, row in read_rows(path):
        if not row.get("item") or not row.get("part"):
            raise InputError(f"{path}, row {number}: item and part are both needed")
        found[row["item"]] = row["part"]
    return found
