"""Finds known names left in anything that may be published: transcripts, written texts, guides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from quaestor.base.errors import StateError
from quaestor.coding.codebook import ID, describe_code, iterate_code_texts
from quaestor.coding.model.facet_kinds import find_kind
from quaestor.coding.model.facet_kinds.passages import is_passages
from quaestor.coding.model.records import read_passages
from quaestor.coding.model.state import RoundState, State
from quaestor.coding.session import StudyOrSession, find_study
from quaestor.deidentify.finder import Finder
from quaestor.interviews.conduct.conversation_state import read_conversation
from quaestor.interviews.free_text import is_turn
from quaestor.interviews.model.records import Guide
from quaestor.interviews.names.known_names import InterviewNames, get_finder, is_default_replacement, list_all_names
from quaestor.interviews.names.matches import list_open_places
from quaestor.interviews.repository import Interviews, interviews_path, open_interviews
from quaestor.study.folder import Study

NOTE, PARTICIPANT, MEMO, CODE = "note", "participant", "memo", "code"
GUIDE, STUDY, DECIDED = "guide", "study", "decided"
WRITTEN = (NOTE, PARTICIPANT, MEMO, GUIDE)
"""Kinds of written text in which `rewording` can replace names."""
Text = tuple[str, str, str]
"""Its kind, where it is, and the text."""


def list_texts(interviews: Interviews, finder: Finder) -> Iterator[Text]:
    """Yields every text that may be published except transcripts and items."""
    yield from _list_notes(interviews)
    yield from list_guide_texts(interviews)
    yield from _list_settings_texts(interviews.study)
    with interviews.coding.locked_state() as state:
        places = [*_list_code_texts(finder, state), *_list_round_texts(state)]
    yield from places


def list_guide_texts(interviews: Interviews) -> Iterator[Text]:
    """Yields the text of every guide version by which an interview is planned or was held."""
    used = sorted({(interview.guide, interview.version) for interview in interviews.interviews()})
    for name, version in used:
        for what, words in _list_guide_words(interviews.guide(name, version)):
            yield GUIDE, f"{what} of the guide {name!r}, version {version}", words


def _list_guide_words(guide: Guide) -> Iterator[tuple[str, str]]:
    yield "the title", guide.title
    yield from ((f"the research question {name!r}", words) for name, words in guide.research.items())
    for section in guide.sections:
        yield f"the title of the section {section.id!r}", section.title
        yield f"the words before the section {section.id!r}", section.script
        for question in section.questions:
            texts = (question.text, *question.probes, *(item.label for item in question.items))
            yield from ((f"the question {question.id!r}", words) for words in texts)


def _list_settings_texts(study: Study) -> Iterator[Text]:
    """Yields the texts of study.toml that are published."""
    settings = study.settings
    yield STUDY, "the title of the study", settings.study.title
    yield STUDY, "the description of the study", settings.study.description
    for table in settings.tables:
        yield from ((STUDY, f"the table {table.table!r}", words) for words in (table.title, table.stub, table.note))
    for finding in settings.findings:
        yield STUDY, f"the finding {finding.finding!r}", finding.sentence
    for number, words in enumerate(settings.report.threats, start=1):
        yield STUDY, f"threat {number} of the report", words


def _list_notes(interviews: Interviews) -> Iterator[Text]:
    for person in interviews.participants():
        for what, words in (("role", person.role), ("field", person.field), *person.attributes.items()):
            yield PARTICIPANT, f"the {what} of {person.pseudonym}", words
    for interview in interviews.interviews():
        talk = read_conversation(interviews, interview.id)
        for number, note in enumerate(talk.notes, start=1):
            on = f" on the question {note.question!r}" if note.question else ""
            yield NOTE, f"note {number} of {interview.id}{on}", note.text
        for tick in talk.ticks:
            if tick.on and tick.other:
                yield NOTE, f"an item that was added to the question {tick.question!r} of {interview.id}", tick.other


def _list_code_texts(finder: Finder, state: State) -> Iterator[Text]:
    """Yields the texts of codes; a code that was replaced by another is not published, so it is left out."""
    latest = state.history.latest
    for code in latest.codes.values():
        if state.history.find_code(code.id, latest.version, "", {}).code != code.id:
            continue
        for what, words in iterate_code_texts(code):
            yield (
                ID if what == ID else CODE,
                f"the {what} of {describe_code(InterviewNames(finder), code)}",
                words,
            )


def _list_round_texts(state: State) -> Iterator[Text]:
    """Yields the current memos and comments of raters on turns, and the texts of decisions about any item."""
    for name, round_state in state.rounds.items():
        texts = {facet.id for facet in round_state.plan.facets if find_kind(facet).is_free_text}
        yield from _list_rating_texts(name, round_state)
        yield from _list_comments(name, round_state)
        for (item, facet), decision in round_state.decisions.items():
            where, last = f"what was decided about {item} in the round {name!r}", decision[-1]
            if is_turn(round_state.plan, item):
                yield MEMO, where, last.reason
                yield from ((MEMO, where, words) for words in _list_answer_texts(last.answer, facet in texts))
            elif facet in texts:  # other free text about these items stays in the journal and is never published
                yield from ((DECIDED, where, words) for words in _list_answer_texts(last.answer, True))


def _list_rating_texts(name: str, round_state: RoundState) -> Iterator[Text]:
    texts = {facet.id for facet in round_state.plan.facets if find_kind(facet).is_free_text}
    for rater, items in round_state.ratings.items():
        for item, ratings in items.items():
            if not is_turn(round_state.plan, item):
                continue
            where = f"what {rater} wrote about {item} in the round {name!r}"
            yield MEMO, where, ratings[-1].memo
            for facet, answer in ratings[-1].answers.items():
                yield from ((MEMO, where, words) for words in _list_answer_texts(answer, facet in texts))


def _list_comments(name: str, round_state: RoundState) -> Iterator[Text]:
    for comment in (*round_state.comments, *round_state.tie_comments.values()):
        if is_turn(round_state.plan, comment.item):
            yield MEMO, f"a comment on {comment.item} in the round {name!r}", comment.text


def _list_answer_texts(answer: object, is_text: bool) -> Iterator[str]:
    """Yields the free text in an answer: a text, a reason, and the memos and fields of passages."""
    if isinstance(answer, str):
        yield from (answer,) if is_text else ()
    elif is_passages(answer):
        for passage in read_passages(answer):
            yield from (passage.memo, *passage.fields.values())
    elif isinstance(answer, dict):
        yield str(answer.get("reason") or "")


__all__ = ["TRANSCRIPT", "WRITTEN", "RemainingName", "find_remaining_names", "refuse_names", "refuse_names_in"]

TRANSCRIPT, SHOWN = "transcript", "shown"
_WITH_ADDRESSES = (SHOWN, NOTE, PARTICIPANT, MEMO)
"""Kinds in which an address belongs to a person; a definition, a guide or a title may cite one as a source."""
_TOLD = 3
_WRITTEN = "replace them in what was written (page Names, or `quaestor interview names replace-written`)"
_MENDS = {
    TRANSCRIPT: "answer them on the Names page of the interviews",
    SHOWN: "choose another replacement for that name",
    NOTE: _WRITTEN,
    PARTICIPANT: _WRITTEN,
    MEMO: _WRITTEN,
    GUIDE: f"remove them from the guide for future interviews, and {_WRITTEN}",
    STUDY: "change study.toml",
    DECIDED: "record the decision again in other words",
    CODE: "rename or redefine the code",
    ID: "an id cannot change, so merge the code into a new one (`quaestor codebook merge`)",
}


@dataclass(frozen=True)
class RemainingName:
    """A place where a known name is left; it holds only the name's replacement, never the name."""

    kind: str
    where: str
    shown: str


def find_remaining_names(interviews: Interviews) -> list[RemainingName]:
    """Finds every place where a known name is left, in transcripts and in written texts."""
    remainings = [
        RemainingName(TRANSCRIPT, f"the turn {proposal.place.partition(':')[0]}", proposal.shown)
        for proposal in list_open_places(interviews)
    ]
    finder = get_finder(interviews)
    for kind, where, text in [*_list_replacements(interviews), *list_texts(interviews, finder)]:
        named = finder.find_sure_names(text)
        if kind in _WITH_ADDRESSES:
            named += [
                match for match in finder.find_sure(text) if not any(match.overlaps(n.start, n.end) for n in named)
            ]
        remainings += [RemainingName(kind, where, fromkey) for fromkey in dict.fromkeys(each.shown for each in named)]
    return remainings


def refuse_names(study_or_session: StudyOrSession) -> None:
    """Raises StateError if a known name is left anywhere in the interviews of a study."""
    if not interviews_path(find_study(study_or_session)).exists():
        return
    with open_interviews(study_or_session) as interviews:
        _refuse(find_remaining_names(interviews))


def refuse_names_in(interviews: Interviews) -> None:
    """Raises StateError if a known name is left in transcripts or written texts."""
    _refuse(find_remaining_names(interviews))


def refuse_names_in_transcripts(interviews: Interviews) -> None:
    """Raises StateError if a known name is left in transcripts or in the guide questions asked in them."""
    _refuse([in_word for in_word in find_remaining_names(interviews) if in_word.kind in (TRANSCRIPT, SHOWN, GUIDE)])


def _refuse(remainings: Sequence[RemainingName]) -> None:
    if not remainings:
        return
    listed_places = "; ".join(f"{place.where} ({place.shown})" for place in remainings[:_TOLD])
    more = f"; and {len(remainings) - _TOLD:,} more" if len(remainings) > _TOLD else ""
    places = "a known name remains" if len(remainings) == 1 else f"known names remain in {len(remainings):,} places"
    mends = ", ".join(dict.fromkeys(_MENDS[place.kind] for place in remainings))
    raise StateError(
        f"nothing can be published while {places}: {listed_places}{more}. To fix it: {mends}; "
        "`quaestor interview names remaining` lists all"
    )


def _list_replacements(interviews: Interviews) -> Iterator[tuple[str, str, str]]:
    """Yields the replacements that people chose, and those in transcripts for names that are no longer known."""
    ids_by_replacement = {
        known_name.shown: known_name.id
        for known_name in list_all_names(interviews)
        if not is_default_replacement(known_name.id, known_name.shown)
    }
    for shown, name in ids_by_replacement.items():
        yield SHOWN, f"the replacement of the name {name}", shown
    for talk in interviews.transcripts():
        theirs = [
            replacement.shown
            for turn in talk.turns
            for replacement in turn.replacements
            if not is_default_replacement(replacement.name, replacement.shown)
        ]
        for shown in dict.fromkeys(theirs):
            if shown not in ids_by_replacement:
                yield SHOWN, f"a replacement in the transcript {talk.interview}", shown
