"""Studies made by an older version, as files, with what that version printed about them.

Together with the source they say which kinds of acts a journal can hold.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
import tarfile
import zipfile
from functools import cache
from pathlib import Path
from typing import Any

from tests.support.paths import ROOT, TESTS

FOLDER = TESTS / "data" / "older-study"
NAMES = ("posts", "survey", "interviews")
_ACT_KIND = re.compile(r'"((?:codebook|decision|evidence|interview|person|ratings|round|survey|tie|words)\.[a-z]+)"')
_NO_ACT_KINDS = re.compile(r"\.(?:css|csv|db|html|js|json|key|md|number|again|without|sqlite|toml|txt)$")

_REWORDED = (
    ("rename data to 'data and its preparation'", "rename data data and its preparation"),
    ("redefine setting (examples, use)", "redefine setting"),
    ('"number": -0.235294117647,', '"number": -0.23529411764705832,'),  # the last digits depended on the processor
    (", 6 undecided (6 agreed on but not recorded)", ""),
    (
        ", 36 undecided (3 with an open disagreement, 16 answered by fewer raters than planned, 17 agreed on but not "
        "recorded)",
        "",
    ),
    ("they assume large samples", "they are made for large samples"),
    (
        "There are no disagreements, so the standard error of κ is 0 and says nothing",
        "Nobody disagrees, so the standard error of κ is 0 and tells nothing",
    ),
    ("discuss the definitions of the codes before interpreting κ", "talk about what the codes mean before reading κ"),
    ("too few for reliable conclusions", "too few to say much about it"),
    ("The attention check 'careful' was failed.", "The attention check 'careful' was answered otherwise than it asks."),
    ("2 transcribed, 2 coded, 1 withdrawn", "2 transcribed, 1 withdrawn"),
    ("1 in progress, 1 screened out", "1 under way, 1 screened out"),
    ("- Consent: accepted, version 2", "- Agreement: accepted, version 2"),
    ("cannot be determined yet", "cannot be told yet"),
    (" interviews, but there are 2.", " interviews, and there are 2."),
    ("1 participant withdrew and is not counted.", "1 participant withdrew and is in no count."),
    ("Without framework, counted in the totals only: 5.", "Without framework, and so in the totals alone: 5."),
    ("Not mentioned: Factors weighed", "Nobody speaks of: Factors weighed"),
    (": importance and case, in the participants' words", ": importance and case, as participants say it"),
    (": what and threshold, in the participants' words", ": what and threshold, as participants say it"),
    (
        "Jaccard is the share of turns, answers or characters with both codes among those with at least one.",
        "Jaccard is the part of all turns, answers or characters with either code that has both.",
    ),
    (
        "In the order in which they were held. On average: the number of codes in that many interviews, over all "
        "orders of the interviews.",
        "On average: how many codes so many of these interviews give, over all their orders.",
    ),
    ("characters,characters: Jaccard", "words,words: Jaccard"),
    (" Participants: with both codes in one turn or one answer.", ""),
    ("ticked something, in an interview held at the desk.", "ticked something, in a conversation held at the desk."),
    *(
        (
            f"A tick has no quotation: the list behind {either} shows the participants who named the item.",
            "A tick has no words: behind either are those of who names it.",
        )
        for either in ("“either”", r"\textquotedblleft{}either\textquotedblright{}")
    ),
)
"""Sentences of today, each with the sentence of the older version in its place; names and numbers have no entries."""


def unpack_older_study(name: str, folder: Path) -> Path:
    """Unpacks a study with the modes and times of its files and returns its folder."""
    with tarfile.open(FOLDER / f"{name}.tar.xz") as archive:
        archive.extractall(folder, filter="fully_trusted")  # noqa: S202 - it is our own
    return folder / name


@cache
def expected() -> Any:
    return json.loads((FOLDER / "expected.json").read_text("utf-8"))


ADDED_ACTS = {
    "decision.assent", "decision.propose", "evidence.copies", "interview.turns", "person.rename", "survey.forget",
    "survey.mail", "survey.merge", "survey.unmerge",
}  # fmt: skip
"""Kinds of acts that the older version did not record."""
ADDED = frozenset(
    {
        "assents",
        "attributes",
        "coded",
        "declined",
        "group",
        "lapsed",
        "missing",
        "order",
        "uncounted",
        "undated",
        "interviews",
        "not_asked",
        "not_drawn_at",
        "proposal",
        "sampled",
        "selection",
        "stage",
        "strand",
        "undecided",
        # of surveys
        "bases",
        "by",
        "converted",
        "dropped",
        "earlier",
        "groups",
        "high",
        "low",
        "share",
        "weighted",
        "weighted_mean",
        "weights",
        "where",
        "without",
    }
)
"""Fields of JSON that the older version did not print."""


@cache
def corrected() -> dict[tuple[str, ...], Any]:
    """What a command prints now where the older version was wrong, by study and command; each entry says why."""
    entries = json.loads((FOLDER / "corrected.json").read_text("utf-8"))
    return {(entry["study"], *entry["command"]): entry["printed"] for entry in entries}


def drop_added(value: Any, older: Any) -> Any:
    """Drops the added fields that the older output lacks."""
    if isinstance(value, list) and isinstance(older, list) and len(value) == len(older):
        return [drop_added(part, older_part) for part, older_part in zip(value, older, strict=True)]
    if isinstance(value, dict) and isinstance(older, dict):
        kept = {key: part for key, part in value.items() if key in older or key not in ADDED}
        return {key: drop_added(part, older.get(key)) for key, part in kept.items()}
    return value


def restore_wording(value: Any) -> Any:
    """Puts the sentences of the older version into what a command printed; all else must be the same anyway."""
    if isinstance(value, str):
        for today, older in _REWORDED:
            value = value.replace(today, older)
        return value
    if isinstance(value, list):
        return [restore_wording(part) for part in value]
    return {key: restore_wording(part) for key, part in value.items()} if isinstance(value, dict) else value


def _drop_added_shares(text: str) -> str:
    """Drops the shares of rows and columns, which cross tables did not have."""
    header, *rows = csv.reader(io.StringIO(text, newline=""))
    kept = [place for place, name in enumerate(header) if not name.endswith((": row share", ": column share"))]
    if len(kept) == len(header):
        return text
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator="\r\n" if "\r\n" in text else "\n").writerows(
        [row[place] for place in kept] for row in (header, *rows)
    )
    return out.getvalue()


WIDER_WORKBOOKS = frozenset({"published/report/tables/table-1.xlsx", "published/report/tables/all.xlsx"})
"""Workbooks with a cross table, whose added shares cannot be taken out again; the CSV of the same table is compared."""


def hash_in_older_wording(path: Path) -> str:
    """The SHA-256 that a file would have with the sentences of the older version."""
    content = path.read_bytes()
    if path.suffix == ".csv":
        content = _drop_added_shares(content.decode()).encode()
    if path.suffix in (".csv", ".json", ".md", ".tex"):
        content = restore_wording(content.decode()).encode()
    elif path.suffix == ".xlsx":
        packed = io.BytesIO()
        with zipfile.ZipFile(path) as workbook, zipfile.ZipFile(packed, "w") as older:
            for part in workbook.infolist():
                older.writestr(part, restore_wording(workbook.read(part).decode()))
        content = packed.getvalue()
    return hashlib.sha256(content).hexdigest()


def act_kinds_in_source() -> set[str]:
    """The kinds of acts with a dot in their name that the source mentions."""
    source = "\n".join(path.read_text("utf-8") for path in (ROOT / "src").rglob("*.py"))
    return {kind for kind in _ACT_KIND.findall(source) if not _NO_ACT_KINDS.search(kind)}
