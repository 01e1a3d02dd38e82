"""Where the interviews of a study stand, as one stage of the whole way, and what comes next in them."""

from __future__ import annotations

from quaestor.base.errors import QuaestorError
from quaestor.study.coding import Where, study_of
from quaestor.study.coding_status import Next, Stage
from quaestor.study.folder import Study
from quaestor.study.interviews.guides import guide_lines
from quaestor.study.interviews.overview import has_interviews, interviews_at_a_glance, interviews_if_any
from quaestor.study.interviews.room import Interviews

_STAGE = "interviews"
_ITEMS = Next("quaestor interview items", "Make items of what participants said, for raters", "interviews")
_FIRST = Next("quaestor interview participant add", "Add the first participant of the interviews", "interviews")


def awaits_items(study: Study) -> bool:
    """Whether what raters shall code is still to be written from transcripts, as the source of turns says it is."""
    if not any(facet.kind == "stretches" for facet in study.settings.facets.values()):
        return False
    from quaestor.study.interviews.free_text import FOLDER
    from quaestor.study.interviews.items import SOURCE

    path = study.root / FOLDER / f"{SOURCE}.csv"
    return SOURCE in study.settings.sources and study.path_of(SOURCE) == path and not path.exists()


def interview_way(where: Where, interviews: Interviews | None = None) -> tuple[list[Stage], Next | None]:
    """How far the interviews have come, and the next thing to do until every transcript is there.

    `interviews` where they are open already, so that what was read before is not read again.
    """
    study = study_of(where)
    if not has_interviews(study):
        return [], None
    try:
        found = interviews_at_a_glance(study, interviews, leads=False) if interviews else interviews_if_any(where)
    except QuaestorError as error:
        return [Stage(_STAGE, "doubtful", str(error))], None
    lines = [line for one in found.people for line in one.interviews]
    detail = ", ".join(f"{count:,} {words}" for words, count in found.tally)
    if lines and all(line.interview.transcript for line in lines):
        return [Stage(_STAGE, "done", detail)], _ITEMS if awaits_items(study) else None
    unusable = next((one for one in guide_lines(study, None) if one.why or one.grave), None)
    if unusable is not None:
        words = f"the guide {unusable.name} {unusable.words}" if unusable.grave else unusable.words
        check = Next("quaestor interview check", f"Mend the guide {unusable.name}", "guides")
        return [Stage(_STAGE, "doubtful", words)], check
    if not found.people:
        return [Stage(_STAGE, "waiting", "nobody takes part yet")], _FIRST
    words = "Go on with the interviews" if lines else "Plan the first interview"
    return [Stage(_STAGE, "waiting", detail)], Next("quaestor interview list", words, "interviews")
