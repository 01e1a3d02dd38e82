"""The texts of items for those who rate them: fetched many at a time, kept for a while."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

import ibis

from quaestor.corpus.engine import engine
from quaestor.corpus.evidence import read_manifest
from quaestor.corpus.questions import item_id, read_answers, read_questions
from quaestor.study.folder import Study
from quaestor.study.funnel import link_of

BATCH, KEPT = 60, 3_000
"""Items fetched together, since one costs as much as sixty; and items kept."""
_LONGEST = 60_000


@dataclass(frozen=True)
class Reading:
    """An item as its author wrote it; all of it comes from a stranger."""

    item: str
    title: str
    body: str = ""
    tags: tuple[str, ...] = ()
    created: str = ""
    views: int | None = None
    score: int | None = None
    author: str = ""
    licence: str = ""
    link: str = ""
    answer: str = ""
    """The accepted answer, where there is one."""


class ReadingRoom:
    """What raters read, fetched ahead; safe for many threads."""

    def __init__(self, study: Study) -> None:
        self._study = study
        self._known: OrderedDict[str, Reading] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, item: str, ahead: Sequence[str] = ()) -> Reading:
        """An item, and those that come after it fetched along."""
        with self._lock:
            if item not in self._known:
                wanted = [item, *(one for one in ahead[:BATCH] if one not in self._known)]
                self._known.update(readings_of(self._study, wanted))
                while len(self._known) > KEPT:
                    self._known.popitem(last=False)
            return self._known.get(item) or Reading(item, item)


def readings_of(study: Study, items: Sequence[str]) -> dict[str, Reading]:
    """Items with their accepted answers; an id that evidence does not hold is missing."""
    evidence = study.evidence_of(study.funnel_source())
    manifest = read_manifest(evidence)
    if manifest is None or not items:
        return {}
    study.funnel_folder.mkdir(parents=True, exist_ok=True)
    with engine(study.funnel_folder) as connection:
        questions = read_questions(connection, evidence)
        questions = questions.mutate(item=item_id(questions, manifest.site))
        chosen = ibis.memtable({"item": sorted(set(items))}, schema={"item": "string"})
        rows = questions.semi_join(chosen, "item")
        answers = read_answers(connection, evidence)
        if answers is not None and "accepted_answer_id" in questions.columns:
            texts = answers.select(_answer_id=answers.id, answer_body=answers.body)
            rows = rows.left_join(texts, rows.accepted_answer_id == texts._answer_id).drop("_answer_id")
        found = rows.to_pyarrow().to_pylist()
    # The address of an invented post is that of another's.
    linked = "posts" in manifest.tables and not any("synthetic" in note.casefold() for note in manifest.notes)
    return {row["item"]: _reading(row, linked) for row in found}


def _reading(row: dict[str, object], linked: bool) -> Reading:
    created = row.get("creation_date")
    number = row.get("owner_user_id")
    tags = row.get("tags")
    item = str(row["item"])
    return Reading(
        item=item,
        title=str(row.get("title") or item),
        body=str(row.get("body") or "")[:_LONGEST],
        tags=tuple(tags) if isinstance(tags, list) else (),
        created=created.date().isoformat() if hasattr(created, "date") else "",
        views=_whole(row.get("view_count")),
        score=_whole(row.get("score")),
        author=str(row.get("owner_display_name") or (f"user {number}" if number else "")),
        licence=str(row.get("content_license") or ""),
        link=link_of(item) if linked else "",
        answer=str(row.get("answer_body") or "")[:_LONGEST],
    )


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) else None
