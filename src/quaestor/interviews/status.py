"""The status line of interviews in the study's status, and their next step."""

from __future__ import annotations

from quaestor.base.errors import QuaestorError
from quaestor.interviews.guide_versions import list_guides
from quaestor.interviews.overview import build_overview, has_interviews, read_overview
from quaestor.interviews.repository import Interviews
from quaestor.study.contributions import Next, StatusLine, StatusPart, StatusRequest
from quaestor.study.folder import Study

FEATURE_NAME = _STAGE = "interviews"
_ITEMS = Next("quaestor interview items", "Build items for raters from what participants said", "interviews")
_FIRST = Next("quaestor interview participant add", "Add the first participant of the interviews", "interviews")


def awaits_items(study: Study) -> bool:
    """Whether the items that raters will code must still be built from transcripts."""
    if not any(facet.kind == "stretches" for facet in study.settings.facets.values()):
        return False
    from quaestor.interviews.free_text import FOLDER
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
