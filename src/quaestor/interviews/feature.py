"""What interviews contribute to a study, and their lines in its status."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from quaestor.base.errors import QuaestorError, StateError
from quaestor.interviews.backup import InterviewBackup
from quaestor.interviews.coding.decided_passages import ADOPT_ACT
from quaestor.interviews.free_text import REWORD_ACT, WITHDRAW_ACT, InterviewText
from quaestor.interviews.guide_versions import list_guides
from quaestor.interviews.items import TurnSource, find_turn_source
from quaestor.interviews.left_out_turns import TURNS_ACT, list_turns_left_out, list_turns_restored
from quaestor.interviews.model.records import Transcript, find_participant
from quaestor.interviews.names.remaining import find_remaining_names, refuse_names
from quaestor.interviews.overview import build_overview, has_interviews, read_overview
from quaestor.interviews.report_section import InterviewSection
from quaestor.interviews.repository import (
    INTERVIEWS,
    INTERVIEWS_FILE,
    Interviews,
    identities_path,
    interviews_path,
    open_interviews,
)
from quaestor.interviews.text_mask import open_text_mask
from quaestor.store.erasure import ErasedList
from quaestor.store.private_file import read_without_key
from quaestor.store.sealed_file import change_stamp
from quaestor.store.sealed_file_restore import read_erasures
from quaestor.study.contributions import ActKind, Next, StatusLine, StatusPart, StatusRequest
from quaestor.study.features import Feature
from quaestor.study.folder import Study


class InterviewGuard:
    """Implements `study.contributions.PublicationGuard`."""

    def refuse(self, study: Study) -> None:
        refuse_names(study)

    def text_stamps(self, study: Study) -> dict[str, str]:
        """Returns a stamp per interview that changes with every place where a name is replaced."""
        if not interviews_path(study).exists():
            return {}
        with open_interviews(study) as interviews:
            return _stamps(interviews)

    def watch_withdrawals(self, study: Study, what: str) -> Callable[[], AbstractContextManager[None]]:
        return WithdrawalGuard(study, what).placing

    def withheld(self, opened: Interviews | None, published: Mapping[str, Mapping[str, str]]) -> Collection[str]:
        """Returns the results that may contain a name known by now, cached until the study changes."""
        if opened is None or not published:
            return ()
        study = opened.study
        with opened.coding.locked_state() as state:
            changed = state.changed
        settings = study.file.stat().st_mtime_ns if study.file.exists() else 0
        files = (change_stamp(interviews_path(study)), change_stamp(identities_path(study)), changed, settings)

        def find_withheld() -> tuple[str, ...]:
            if find_remaining_names(opened):
                return tuple(published)
            now = _stamps(opened)
            return tuple(
                name
                for name, stamps in published.items()
                if any(now.get(interview) != stamp for interview, stamp in stamps.items())
            )

        return opened.remembered("withheld", (files, published), find_withheld)


def fingerprint(study: Study) -> str:
    """Returns a stamp that changes with the files of interviews and identities."""
    return "".join(f"{change_stamp(path)}\0" for path in (interviews_path(study), identities_path(study)))


def _stamps(interviews: Interviews) -> dict[str, str]:
    return {transcript.interview: _stamp(transcript) for transcript in interviews.transcripts()}


def _stamp(transcript: Transcript) -> str:
    places = [(turn.number, name.start, name.end) for turn in transcript.turns for name in turn.replacements]
    return hashlib.sha256(repr(places).encode()).hexdigest()


class WithdrawalGuard:
    """Refuses to place a result if a participant withdrew while it was generated; `what` names it, as in `report`."""

    def __init__(self, study: Study, what: str) -> None:
        self._path = interviews_path(study)
        self._what = what
        self._before: set[str] = set()
        if self._path.exists():
            with INTERVIEWS.open(self._path) as file, file.reading() as reading:
                self._before = set(read_erasures(reading))

    @contextmanager
    def placing(self) -> Iterator[None]:
        """Blocks withdrawals while the result is placed; raises StateError if somebody has withdrawn meanwhile."""
        if not self._path.exists():
            yield
            return
        with INTERVIEWS.open(self._path) as file, file.writing() as writing:
            if since := set(read_erasures(writing)) - self._before:
                raise StateError(
                    f"{min(since)} withdrew while the {self._what} was generated, which may quote them: rebuild it"
                )
            yield


FEATURE_NAME = _STAGE = "interviews"
_ITEMS = Next("quaestor interview items", "Build items for raters from what participants said", "interviews")
_FIRST = Next("quaestor interview participant add", "Add the first participant of the interviews", "interviews")


def interviews_status(request: StatusRequest) -> StatusPart:
    """Returns the progress of interviews, and their next step until every transcript is imported."""
    lines, following = _lines_and_next(request) if has_interviews(request.study) else ([], None)
    # Until the first transcript is imported, raters who will code passages have nothing to code.
    is_first = codes_passages(request.study) and following is not None
    return StatusPart(tuple(lines), following, collects=True, precedes_evidence=is_first)


def codes_passages(study: Study) -> bool:
    """Whether raters will code passages of transcripts."""
    return any(facet.kind == "stretches" for facet in study.settings.facets.values())


def _lines_and_next(request: StatusRequest) -> tuple[list[StatusLine], Next | None]:
    study = request.study
    interviews: Interviews | None = request.opened.get(FEATURE_NAME)
    try:
        overview = (
            build_overview(study, interviews, leads=False) if interviews else read_overview(request.session or study)
        )
    except QuaestorError as error:
        return [StatusLine(_STAGE, "doubtful", str(error))], None
    lines = [line for person in overview.people for line in person.interviews]
    detail = ", ".join(f"{count:,} {words}" for words, count in overview.tally)
    if lines and all(line.interview.transcript for line in lines):
        awaits_items = codes_passages(study) and not find_turn_source(study)
        return [StatusLine(_STAGE, "done", detail)], _ITEMS if awaits_items else None
    unusable = next((guide_line for guide_line in list_guides(study, None) if guide_line.why or guide_line.grave), None)
    if unusable is not None:
        words = f"the guide {unusable.name} {unusable.words}" if unusable.grave else unusable.words
        check = Next("quaestor interview check", f"Fix the guide {unusable.name}", "guides")
        return [StatusLine(_STAGE, "doubtful", words)], check
    if not overview.people:
        return [StatusLine(_STAGE, "waiting", "no participants yet")], _FIRST
    words = "Continue with the interviews" if lines else "Plan the first interview"
    return [StatusLine(_STAGE, "waiting", detail)], Next("quaestor interview list", words, "interviews")


def _withdrawn_items(study: Study) -> Callable[[str], bool]:
    """Returns a test for turns of withdrawn participants; it needs no key."""
    file = study.root / INTERVIEWS_FILE
    people = {*ErasedList.for_file(file).list_names(), *read_without_key(file, read_erasures)}

    return lambda item: find_participant(item) in people


def _turns_of_participant(payload: Mapping[str, Any]) -> Callable[[str], object]:
    """Returns a test for turns of a withdrawn participant."""
    return lambda item: find_participant(item) == payload["participant"]


FEATURE = Feature(
    FEATURE_NAME,
    status=interviews_status,
    backup=InterviewBackup(),
    act_kinds={
        ADOPT_ACT: ActKind("adopted an in vivo passage as a code in {round}"),
        "interview.agreement": ActKind("put a consent form for interviews in force"),
        TURNS_ACT: ActKind(
            "changed which turns of the interviews count", removes=list_turns_left_out, restores=list_turns_restored
        ),
        REWORD_ACT: ActKind("replaced names in texts about interviews"),
        WITHDRAW_ACT: ActKind("withdrew from the interviews", actor="A participant", removes=_turns_of_participant),
    },
    live_source=TurnSource(),
    free_text=InterviewText,
    withdrawn_items=_withdrawn_items,
    known_names=open_text_mask,
    fingerprint=fingerprint,
    report_section=InterviewSection(),
    publication_guard=InterviewGuard(),
)
