"""Imports, changes, exports and compares the codebook of a study."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from quaestor.base.errors import InputError, StateError
from quaestor.base.files import write_atomically
from quaestor.base.names import count_of
from quaestor.coding.model.codebook.changes import apply_change
from quaestor.coding.model.codebook.file import read_codebook, write_codebook
from quaestor.coding.model.codebook.history import IMPORT, list_differences, list_undone
from quaestor.coding.model.codebook.import_acts import Change, list_import_acts
from quaestor.coding.model.facet_kinds import FACET_KINDS
from quaestor.coding.model.facet_kinds.base import KEYS
from quaestor.coding.model.facet_kinds.passages import KIND
from quaestor.coding.model.records import Code, Codebook, CodeFacet, Difference, RoundPlan
from quaestor.coding.model.state import State
from quaestor.coding.session import StudyOrSession, find_study, open_coding, require_lead
from quaestor.evidence.table_rows import read_rows
from quaestor.store.records import NewAct
from quaestor.study.contributions import KnownNames
from quaestor.study.features import open_known_names
from quaestor.study.folder import Study, has_journal

ID = "id"
_BETWEEN_WORDS = re.compile(r"[-_/]+")


def require_no_names(names: KnownNames, before: Codebook, after: Codebook) -> None:
    """Raises StateError if a change adds a known name to the codebook; names already in it can be corrected."""
    for description, field, text in _iterate_new_texts(names, before, after):
        if names_found := names.find(text):
            raise StateError(
                f"the {field} of {description} contains the known name of {names_found[0]}, and the journal would "
                "keep it forever: choose other words"
            )


def iterate_code_texts(code: Code) -> Iterator[tuple[str, str]]:
    """Yields (field, text) for all texts of a code."""
    yield "name", code.name
    yield "definition", code.definition
    yield "use", f"{code.use}\n{code.not_}"
    yield "examples", "\n".join(code.examples)
    yield ID, _split_id(code.id)


def describe_code(names: KnownNames, code: Code) -> str:
    """Returns a description of a code by its id, or by its facet alone if the id contains a known name."""
    return f"a code of the facet {code.facet!r}" if names.find(_split_id(code.id)) else f"the code {code.id!r}"


def _iterate_new_texts(names: KnownNames, before: Codebook, after: Codebook) -> Iterator[tuple[str, str, str]]:
    if after.name != before.name:
        yield "the codebook", "name", after.name
    for facet in after.facets.values():
        if facet.id not in before.facets:
            for what, words in _iterate_facet_texts(facet):
                yield "a new facet", what, words
    for code in after.codes.values():
        known = before.codes.get(code.id)
        texts_before = set(iterate_code_texts(known)) if known else set()
        description = describe_code(names, code) if known else "a new code"
        for what, words in iterate_code_texts(code):
            if (what, words) not in texts_before:
                yield description, what, words


def _iterate_facet_texts(facet: CodeFacet) -> Iterator[tuple[str, str]]:
    yield ID, _split_id(facet.id)
    yield "title", facet.title
    yield "levels", "\n".join(facet.levels)


def _split_id(name: str) -> str:
    """Returns the words of an id."""
    return _BETWEEN_WORDS.sub(" ", name)


def require_usable_rules(state: State, kind: str, payload: Mapping[str, Any]) -> None:
    """Raises StateError for a split with a rule that no rating of a transcript can match."""
    book = state.history.latest
    if kind != "codebook.split" or payload["code"] not in book.codes:
        return
    tree = book.codes[payload["code"]].facet
    plans = [
        round_state.plan
        for round_state in state.rounds.values()
        if any(facet.codes == tree for facet in round_state.plan.facets)
    ]
    spoken = [facet.id for plan in plans for facet in plan.facets if facet.kind == KIND and facet.codes == tree]
    for rule in payload.get("rules", ()) if spoken else ():
        if not any(_can_fit(plan, book, rule["facet"], rule["answer"]) for plan in plans):
            raise StateError(
                f"the rule {rule['facet']}={rule['answer']} matches no turn of a transcript: name {spoken[0]} and "
                "one of its codes, which another passage of the same turn may have"
            )


def require_free_keys(study: Study, before: Codebook, after: Codebook) -> None:
    """Raises StateError if a change gives a code a key that the desk itself needs; older codes keep theirs."""
    for code in after.codes.values():
        old = before.codes.get(code.id)
        if not code.key or (old is not None and old.key == code.key):
            continue
        kinds = [facet.kind for facet in study.settings.facets.values() if facet.codes == code.facet]
        needed = "".join(FACET_KINDS[kind].desk_keys for kind in kinds or ["single"])
        if code.key in needed:
            used = {other.key for other in after.active(code.facet)}
            free = " ".join(key for key in KEYS if key not in needed and key not in used)
            raise StateError(f"the key {code.key!r} of {code.id!r} has another function at the desk; free keys: {free}")


def _can_fit(plan: RoundPlan, book: Codebook, name: str, answer: str) -> bool:
    """Returns whether a rating of a round can have this answer; for passages, whether it is one of their codes."""
    facet_plan = next((facet for facet in plan.facets if facet.id == name), None)
    if facet_plan is None or facet_plan.kind != KIND:
        return facet_plan is not None
    return answer in book.codes and book.codes[answer].facet == facet_plan.codes


CODEBOOK_FILE = "codebook.toml"


class CodebookChanged(StateError):
    """The codebook changed between the preview of a change and the change."""


@dataclass(frozen=True)
class CodebookImport:
    """The acts that the import of a file records, and the codebook before and after them."""

    before: Codebook
    after: Codebook
    acts: tuple[Change, ...]
    """Empty if the file contains the current codebook."""
    is_in_use: bool
    """Whether ratings or decisions can refer to codes, so that the codebook is changed and not replaced."""

    @property
    def stamp(self) -> str:
        """Changes with the acts and with the version that they apply to."""
        content = json.dumps([self.before.version, self.acts], sort_keys=True)
        return hashlib.sha256(content.encode("utf-8")).hexdigest()

    @property
    def differences(self) -> list[Difference]:
        return list_differences(self.before, self.after)

    def describe_acts(self) -> list[str]:
        return [_describe_change(kind.removeprefix("codebook."), payload) for kind, payload in self.acts]


def plan_import(state: State, payload: dict[str, Any]) -> CodebookImport:
    """Plans to replace the codebook by that of a file, or to change it once rounds or decisions can refer to codes."""
    before = state.history.latest
    is_in_use = bool(before.codes and (state.rounds or state.published))
    acts: list[Change] = list_import_acts(state.history, payload) if is_in_use else [(IMPORT, payload)]
    after = before
    for kind, content in acts:
        after = apply_change(after, kind, content)
    if not is_in_use and before.version and write_codebook(before) == write_codebook(after):
        return CodebookImport(before, before, (), is_in_use)
    return CodebookImport(before, after, tuple(acts), is_in_use)


def preview_import(study: StudyOrSession, file: Path | None = None) -> CodebookImport:
    """Returns what importing a file would do, without recording anything."""
    payload = read_codebook(file or find_study(study).root / CODEBOOK_FILE)
    if isinstance(study, Study) and not has_journal(study):
        return plan_import(State(), payload)
    with open_coding(study) as coding:
        return plan_import(coding.state, payload)


def import_codebook(
    study: StudyOrSession, file: Path | None = None, actor: str | None = None, stamp: str = ""
) -> Codebook:
    """Imports the codebook from a file; refused if `stamp`, that of the preview, is no longer the current one."""
    payload = read_codebook(file or find_study(study).root / CODEBOOK_FILE)
    with open_coding(study) as coding, open_known_names(coding) as names:
        who = require_lead(coding, actor, "change the codebook")

        def build_acts(state: State) -> list[NewAct]:
            planned = plan_import(state, payload)
            if stamp not in ("", planned.stamp):
                raise CodebookChanged(
                    "the codebook or the file has changed since the preview, and nothing was saved: check the new "
                    "preview and confirm it again"
                )
            require_free_keys(coding.study, planned.before, planned.after)
            require_no_names(names, planned.before, planned.after)
            return [
                NewAct(kind, who, content, version)
                for version, (kind, content) in enumerate(planned.acts, start=planned.before.version + 1)
            ]

        coding.act(build_acts)
        return coding.state.history.latest


def change_codebook(
    study: StudyOrSession, kind: str, payload: dict[str, Any], actor: str | None = None, at: int | None = None
) -> int:
    """Changes the codebook and returns the new version; refused if `at` is no longer the current version."""
    with open_coding(study) as coding, open_known_names(coding) as names:
        who = require_lead(coding, actor, "change the codebook")

        def build_act(state: State) -> NewAct:
            version = state.history.latest.version
            if at is not None and at != version:
                raise CodebookChanged(
                    f"the codebook has changed since the preview (version {at} then, {version} now), and nothing was "
                    "saved: check the new preview and confirm it again"
                )
            book = state.history.preview_change(kind, payload)
            require_usable_rules(state, kind, payload)
            require_free_keys(coding.study, state.history.latest, book)
            require_no_names(names, state.history.latest, book)
            return NewAct(kind, who, payload, book.version)

        coding.act(build_act)
        return coding.state.history.latest.version


def read_codebook_version(study: StudyOrSession, version: int | None) -> Codebook:
    with open_coding(study) as coding:
        history = coding.state.history
        return history.latest if version is None else history.at(version)


def compare_codebook_versions(study: StudyOrSession, before: int, after: int | None) -> list[Difference]:
    with open_coding(study) as coding:
        history = coding.state.history
        return list_differences(history.at(before), history.latest if after is None else history.at(after))


def save_codebook(book: Codebook, path: Path) -> None:
    write_atomically(path, write_codebook(book).encode("utf-8"))


def codebook_to_json(book: Codebook) -> dict[str, Any]:
    """Returns a version of the codebook for JSON."""
    return {
        "version": book.version,
        "name": book.name,
        "facets": [
            {"id": facet.id, "title": facet.title, "levels": list(facet.levels)} for facet in book.facets.values()
        ],
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


def list_changes(study: StudyOrSession) -> list[dict[str, Any]]:
    """Returns every change with its number and a description."""
    with open_coding(study) as coding:
        acts = [act for act in coding.journal.acts() if act.kind.startswith("codebook.")]
        undone = list_undone(coding.state.history.changes)
    return [
        {
            "version": number,
            "time": act.time,
            "actor": act.actor,
            "kind": act.kind.removeprefix("codebook."),
            "change": _describe_change(act.kind.removeprefix("codebook."), act.payload),
            "undone": number in undone,
        }
        for number, act in enumerate(acts, start=1)
    ]


def _describe_change(kind: str, payload: dict[str, Any]) -> str:
    if kind == "import":
        return f"import {count_of(len(payload['codes']), 'code')}"
    if kind == "merge":
        return f"merge {', '.join(payload['codes'])} into {payload['into']}"
    if kind == "split":
        return f"split {payload['code']} into {', '.join(part['id'] for part in payload['parts'])}"
    if kind == "undo":
        return f"undo change {payload['version']}"
    more = {
        "rename": f"to {payload.get('name')!r}",
        "move": f"to {payload.get('parent') or 'the top'}",
        "redefine": f"({', '.join(name for name in payload if name != 'code')})",
    }.get(kind, "")
    return f"{kind} {payload.get('code') or payload.get('id')} {more}".strip()


def read_split_items(path: Path) -> dict[str, str]:
    """Reads item → part from a table with these two columns."""
    parts = {}
    for number, row in read_rows(path):
        if not row.get("item") or not row.get("part"):
            raise InputError(f"{path}, row {number}: fill in both item and part")
        parts[row["item"]] = row["part"]
    return parts
