"""Imports and exports ratings and decisions, and records who sees them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from quaestor.base.errors import InputError, Problem, StateError
from quaestor.base.names import suggest
from quaestor.base.table_files import FILE_FORMATS, ExportTable, format_table
from quaestor.coding.model.answers import check_answers, write_cell
from quaestor.coding.model.code_proposals import NewCode, build_proposal_act
from quaestor.coding.model.decisions import build_published_act
from quaestor.coding.model.ratings import build_rating_act, require_practice
from quaestor.coding.model.records import Facet, Rating
from quaestor.coding.model.state import OPEN, RoundState, State
from quaestor.coding.model.views import build_rater_position, build_unblind_act, needs_consent, require_lead_view
from quaestor.coding.rating_rows import FIXED, SortedRows, merge_problems, read_rating_file, sort_rows
from quaestor.coding.session import CodingSession, StudyOrSession, open_coding
from quaestor.evidence.erasure import find_origin
from quaestor.evidence.table_rows import read_rows
from quaestor.store.records import Act, NewAct
from quaestor.study.contributions import KnownNames
from quaestor.study.features import open_known_names
from quaestor.study.session import PendingAct

MaskAnswer = Callable[[Any], Any]
"""Returns a text or an answer with known names masked for a reader."""
_LINK = "link"
"""The key of a passage that pages generate; it contains no words of a rater."""
_EXPORTED_DECISION = {"item", "facet", "answer", "how", "by"}
"""The columns that identify an export of decisions, which has one row per answer."""


@dataclass(frozen=True)
class RatingImport:
    """How many ratings an import added, how many were already known, and which rows it did not record."""

    added: int
    known: int
    empty: int = 0
    """Rows without any answer."""
    unfinished_rows: int = 0
    """Rows with some answers missing."""
    unfinished: tuple[Problem, ...] = ()
    """The missing answers of these rows."""
    notes: tuple[Problem, ...] = ()
    """Rows that were not recorded for another reason."""
    ignored: tuple[str, ...] = ()
    """Columns that no rating has."""


class WrongStudy(StateError):
    """A rating for a round of the same name in another study."""


@dataclass(frozen=True)
class NewRating:
    """A rating to record."""

    item: str
    answers: Mapping[str, Any]
    unsure: tuple[str, ...] = ()
    memo: str = ""
    seconds: float = 0.0
    key: str = ""
    opened: str = ""
    """When the round was opened, if known; identifies the study."""
    proposed: NewCode | None = None
    """A code that the rater proposes for the item."""


def keep_text(text: Any) -> Any:
    """Returns a text or an answer unchanged, for readers who may see names."""
    return text


def rate(coding: CodingSession, name: str, rater: str, item: str, answers: Mapping[str, Any], **more: Any) -> int:
    """Records one rating with the other fields of `NewRating`; returns the number of its act."""
    pending = queue_rating(coding, name, rater, NewRating(item, answers, **more))
    coding.pending.add(pending)
    coding.pending.record()
    return pending.result()[0].number


def queue_rating(coding: CodingSession, name: str, rater: str, rating: NewRating) -> PendingAct[State]:
    """Returns the pending act of a rating; sending the same rating twice records it once."""
    now = coding.now()

    def same(state: State, known: Act) -> bool:
        plan = state.round(name).plan
        answers = check_answers(plan, state.history.at(plan.codebook), rating.answers)
        recorded = {"unsure": [], "memo": "", **known.payload}
        expected = {"round": name, "item": rating.item, "answers": answers, "unsure": sorted(rating.unsure)}
        by_rater = known.kind == "rating" and state.current_name(known.actor) == rater
        if not by_rater or not expected.items() <= recorded.items():
            return False
        return (
            str(recorded["memo"]).splitlines() == rating.memo.splitlines()
        )  # a form and a script end lines differently

    def build_acts(state: State) -> list[NewAct]:
        acts = [build_checked_rating(state, name, rater, rating, now)]
        if rating.proposed is not None:
            key = f"{acts[0].key}/code"
            acts.append(build_proposal_act(state, name, rater, rating.item, rating.proposed, now=now, key=key))
        return acts

    return PendingAct(build_acts, rating.key, same)


def build_checked_rating(state: State, name: str, rater: str, rating: NewRating, now: str) -> NewAct:
    """Builds the act of a rating; raises WrongStudy if it belongs to another study."""
    if rating.opened and rating.opened != state.round(name).opened:
        raise WrongStudy("this was rated in another study")
    return build_rating_act(
        state, name, rater, rating.item, rating.answers,
        now=now, unsure=rating.unsure, memo=rating.memo, seconds=rating.seconds, key=rating.key,
    )  # fmt: skip


def import_ratings(
    coding: CodingSession,
    name: str,
    path: Path,
    rater: str | None = None,
    *,
    data: bytes | None = None,
    is_own: bool = False,
) -> RatingImport:
    """Imports a file of ratings into an open round; importing it twice adds them once.

    Columns: item, rater (or the argument), one for each facet, and optionally unsure, memo, seconds and time; or the
    spreadsheet of a rater. If any cell is invalid, nothing is imported. Unfinished rows are not imported. With `data`,
    the path is only the name of an upload; `is_own` if the rater imports it, who has the rights of a rater.
    """
    data = path.read_bytes() if data is None and path.is_file() else data
    with coding.locked_state() as state:
        if is_own and rater:
            build_rater_position(state, name, rater)  # raises StateError for somebody else
            require_practice(state.round(name), rater)
    file = read_rating_file(coding.state, name, path, data, rater, is_own=is_own)
    digest = hashlib.sha256(data or b"").hexdigest()
    now = coding.now()
    sorted_rows = SortedRows()

    def build_acts(state: State) -> list[NewAct]:
        nonlocal sorted_rows
        sorted_rows = sort_rows(state, name, file, now)
        if not sorted_rows.acts:
            return []
        about = {"round": name, "file": path.name, "sha256": digest, "rows": len(file.table.rows)}
        key = f"import/{name}/{digest}"
        if file.origin:  # sent back several times, it can become the same file again
            about["rows"], key = len(sorted_rows.acts), f"{key}/{state.head}"
        codebook = state.round(name).plan.codebook
        actor = file.rater or coding.lead
        return [NewAct("ratings.import", actor, about, codebook, key), *sorted_rows.acts]

    before = coding.state.head
    ratings = [act for act in coding.act(build_acts) if act.kind == "rating"]
    added = sum(act.number > before for act in ratings)
    return RatingImport(
        added,
        sorted_rows.unchanged + len(ratings) - added,
        sorted_rows.empty,
        sorted_rows.unfinished_rows,
        tuple(merge_problems(sorted_rows.unfinished)),
        tuple(merge_problems(sorted_rows.notes)),
        file.ignored,
    )


def export_ratings(coding: CodingSession, name: str, actor: str, *, superseded: bool = False) -> list[dict[str, str]]:
    """Returns the ratings an actor may see: all of a round, or a rater's own while it is open and blind.

    Known names in the ratings of others are masked for everybody but the lead.
    """
    coding.require_words()
    state = coding.state
    round_state = state.round(name)
    if round_state.slot_of(actor) and round_state.plan.blind and round_state.status == "open":
        own = [rating for ratings in round_state.ratings.get(actor, {}).values() for rating in ratings]
        return _build_rows(round_state, own, superseded, keep_text)
    require_lead_view(state, name, actor, coding.lead)
    record_view(coding, name, actor)
    with open_mask(coding, actor) as mask:
        return _build_rows(round_state, round_state.all_ratings(), superseded, mask)


@contextmanager
def open_mask(coding: CodingSession, actor: str) -> Iterator[MaskAnswer]:
    """Yields a function that masks known names; it changes nothing for the lead, who can import the file again."""
    if actor == coding.lead:
        yield keep_text
        return
    with open_known_names(coding) as names:
        yield lambda answer: _mask_answer(answer, names)


def _mask_answer(answer: Any, names: KnownNames) -> Any:
    if isinstance(answer, str):
        return names.mask(answer)
    if isinstance(answer, Mapping):
        return {part: words if part == _LINK else _mask_answer(words, names) for part, words in answer.items()}
    return [_mask_answer(part, names) for part in answer] if isinstance(answer, list | tuple) else answer


def _build_rows(
    round_state: RoundState, ratings: Iterable[Rating], superseded: bool, mask: MaskAnswer
) -> list[dict[str, str]]:
    rows = []
    for rating in ratings:
        counts = rating.item not in round_state.gone and round_state.current(rating.rater, rating.item) == rating
        if not counts and not superseded:
            continue
        rows.append(
            {
                "item": rating.item,
                "rater": rating.rater,
                **{
                    facet.id: write_cell(facet, mask(rating.answers.get(facet.id))) for facet in round_state.plan.facets
                },
                "unsure": "; ".join(rating.unsure),
                "memo": mask(rating.memo),
                "seconds": f"{rating.seconds:g}",
                "time": rating.time,
                "codebook": str(rating.codebook),
                "simulated": "true" if rating.simulated else "",
                "superseded": "" if counts else "true",
                **({"blindness": round_state.blindness} if round_state.blindness else {}),
            }
        )
    return rows


def record_view(coding: CodingSession, name: str, actor: str) -> None:
    """Records that somebody sees the ratings of a round; this cannot be undone."""
    with coding.locked_state() as state:
        due = build_unblind_act(state, name, actor) is not None
    if due:
        coding.act(lambda state: build_unblind_act(state, name, actor))


def export_decisions(state: State, name: str, mask: MaskAnswer = keep_text) -> list[dict[str, str]]:
    """Returns the final answer of every item, how it was decided, and by whom."""
    blindness = ""
    facets: dict[str, Facet] = {}
    if name in state.published:
        decisions = list(state.published[name].values())
    else:
        round_state = state.round(name)
        decisions = sorted(round_state.counted_decisions(), key=lambda decision: (decision.item, decision.facet))
        blindness = round_state.blindness
        facets = {facet.id: facet for facet in round_state.plan.facets}
    return [
        {
            "item": decision.item,
            "facet": decision.facet,
            "answer": write_cell(facets.get(decision.facet), mask(decision.answer)),
            "how": decision.how,
            "by": decision.actor,
            "time": decision.time,
            "reason": mask(decision.reason),
            "source": mask(decision.source),
            "simulated": "true" if decision.simulated else "",
            **({"blindness": blindness} if blindness else {}),
        }
        for decision in decisions
    ]


def read_decisions(study: StudyOrSession, name: str, actor: str | None) -> list[dict[str, str]]:
    """Returns the decisions of a round and records the view; raises StateError if the actor may not see them."""
    with open_coding(study) as coding:
        if name not in coding.state.published:
            require_lead_view(coding.state, name, actor or coding.lead, coding.lead)
            record_view(coding, name, actor or coding.lead)
        coding.require_words()
        with open_mask(coding, actor or coding.lead) as mask:
            return export_decisions(coding.state, name, mask)


def import_decisions(coding: CodingSession, name: str, path: Path, actor: str, source: str) -> int:
    """Imports published decisions: a table with item and a column for each facet, or an export of Quaestor."""
    rows = list(read_rows(path))
    if not rows:
        raise InputError(f"{path} has no decisions: give a header and one row for each item")
    if "item" not in rows[0][1]:
        raise InputError(f"{path} has no column 'item', found: {suggest('item', rows[0][1])}")
    entries = [
        {"item": row["item"], "facet": facet, "answer": answer}
        for _, row in rows
        for facet, answer in (
            [(row["facet"], row["answer"])]
            if row.keys() >= _EXPORTED_DECISION
            else [(column, cell) for column, cell in row.items() if column not in FIXED]
        )
        if answer
    ]
    if name in coding.state.rounds:
        raise InputError(f"{name!r} is a round of this study: give published decisions another name")
    key = f"published/{name}/{hashlib.sha256(path.read_bytes()).hexdigest()[:24]}"
    version = coding.state.history.latest.version
    act = build_published_act(name, actor, source or path.name, entries, version)
    payload = {**act.payload, "origin": find_origin(coding.study)}
    coding.act(lambda state: NewAct(act.kind, act.actor, payload, act.codebook, key), key)
    return len(entries)


@dataclass(frozen=True)
class RoundFile:
    """A file to download."""

    name: str
    kind: str
    content: bytes


def needs_view_consent(state: State, name: str, actor: str, lead: str) -> bool:
    """Returns whether somebody must first consent to the record that they see the ratings of a round."""
    round_state = state.round(name)
    if round_state.slot_of(actor) and round_state.plan.blind and round_state.status == OPEN:
        return False  # raters of an open blind round get only their own ratings
    require_lead_view(state, name, actor, lead)
    return needs_consent(state, name, actor)


@dataclass(frozen=True)
class ViewConsent:
    """What a viewer must consent to before seeing the ratings of a round for the first time."""

    is_open: bool


def find_view_consent(coding: CodingSession, name: str, actor: str) -> ViewConsent | None:
    """Returns the consent that a viewer must give first; None if none is needed."""
    with coding.locked_state() as state:
        if name in state.published or not needs_view_consent(state, name, actor, coding.lead):
            return None
        return ViewConsent(state.round(name).status == OPEN)


def explain_no_files(state: State, name: str, actor: str, lead: str) -> str:
    """Returns why somebody cannot download files of a round now; empty if they can."""
    try:
        needs_view_consent(state, name, actor, lead)
    except StateError as refusal:
        return str(refusal)
    return ""


def record_consented_view(coding: CodingSession, name: str, actor: str) -> None:
    """Records the view of somebody who consented to it."""
    with coding.locked_state() as state:
        if needs_view_consent(state, name, actor, coding.lead):
            record_view(coding, name, actor)


def build_ratings_file(
    coding: CodingSession, name: str, actor: str, form: str = "csv", *, superseded: bool = False
) -> RoundFile:
    """Builds the file of the ratings an actor may see; the caller has asked for consent first."""
    with coding.locked_state():
        rows = export_ratings(coding, name, actor, superseded=superseded)
    return _build_file("ratings", rows, name, form)


def build_decisions_file(coding: CodingSession, name: str, actor: str, form: str = "csv") -> RoundFile:
    return _build_file("decisions", read_decisions(coding, name, actor), name, form)


def _build_file(content_name: str, rows: Sequence[Mapping[str, str]], name: str, file_format: str) -> RoundFile:
    content = format_table(ExportTable.from_mappings(content_name, rows), file_format)
    return RoundFile(f"{name}-{content_name}.{file_format}", FILE_FORMATS[file_format], content)
