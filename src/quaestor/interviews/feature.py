"""What interviews contribute to a study, and their lines in its status."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from quaestor.base.errors import QuaestorError
from quaestor.interviews.backup import InterviewBackup
from quaestor.interviews.coding.decided_passages import ADOPT_ACT
from quaestor.interviews.free_text import REWORD_ACT, WITHDRAW_ACT, InterviewText
from quaestor.interviews.guide_versions import list_guides
from quaestor.interviews.left_out_turns import TURNS_ACT, list_turns_left_out, list_turns_restored
from quaestor.interviews.model.records import find_participant
from quaestor.interviews.overview import build_overview, has_interviews, read_overview
from quaestor.interviews.publication_guard import InterviewGuard, fingerprint
from quaestor.interviews.report_section import InterviewSection
from quaestor.interviews.repository import FOLDER, INTERVIEWS_FILE, Interviews
from quaestor.interviews.text_mask import open_text_mask
from quaestor.store.erasure import ErasedList
from quaestor.store.private_file import read_without_key
from quaestor.store.sealed_file_restore import read_erasures
from quaestor.study.contributions import ActKind, Next, StatusLine, StatusPart, StatusRequest
from quaestor.study.features import Feature
from quaestor.study.folder import Study

FEATURE_NAME = _STAGE = "interviews"
_ITEMS = Next("quaestor interview items", "Build items for raters from what participants said", "interviews")
_FIRST = Next("quaestor interview participant add", "Add the first participant of the interviews", "interviews")


def awaits_items(study: Study) -> bool:
    """Whether the items that raters will code must still be built from transcripts."""
    if not any(facet.kind == "stretches" for facet in study.settings.facets.values()):
        return False
    from quaestor.interviews.items import SOURCE

    path = study.root / FOLDER / f"{SOURCE}.csv"
    return SOURCE in study.settings.sources and study.path_of(SOURCE) == path and not path.exists()


def interviews_status(request: StatusRequest) -> StatusPart:
    """Returns the progress of interviews, and their next step until every transcript is imported."""
    lines, following = _lines_and_next(request) if has_interviews(request.study) else ([], None)
    return StatusPart(tuple(lines), following, collects=True, precedes_evidence=awaits_items(request.study))


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
        return [StatusLine(_STAGE, "done", detail)], _ITEMS if awaits_items(study) else None
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
    input_folder=FOLDER,
    input_made_of="transcripts",
    input_command="quaestor interview items",
    free_text=InterviewText,
    withdrawn_items=_withdrawn_items,
    known_names=open_text_mask,
    fingerprint=fingerprint,
    report_section=InterviewSection(),
    publication_guard=InterviewGuard(),
)
