"""Every text beside transcripts that may be published or shown, told with its kind and where it stands."""

from __future__ import annotations

from collections.abc import Iterator

from quaestor.coding.records import stretches_in
from quaestor.coding.state import RoundState, State
from quaestor.coding.stretches import is_stretches
from quaestor.instruments.interviews.name_search import Finder
from quaestor.instruments.interviews.records import Guide
from quaestor.study.folder import Study
from quaestor.study.interviews.code_names import ID, called_without_name, words_in_code
from quaestor.study.interviews.conversation import conversation
from quaestor.study.interviews.free_text import is_turn
from quaestor.study.interviews.room import Interviews

NOTE, PARTICIPANT, MEMO, CODE = "note", "participant", "memo", "code"
GUIDE, STUDY, DECIDED = "guide", "study", "decided"
WRITTEN = (NOTE, PARTICIPANT, MEMO, GUIDE)
"""What somebody wrote, in which `rewording` can replace names."""
Text = tuple[str, str, str]
"""Its kind, where it stands, and what it says."""


def texts_of(interviews: Interviews, finder: Finder) -> Iterator[Text]:
    """All of them."""
    yield from _notes(interviews)
    yield from guide_texts(interviews)
    yield from _in_settings(interviews.study)
    with interviews.coding.looking() as state:
        found = [*_codes(finder, state), *_beside_items(state)]
    yield from found


def guide_texts(interviews: Interviews) -> Iterator[Text]:
    """What is read out of guides, in every version by which an interview is planned or was held."""
    used = sorted({(one.guide, one.version) for one in interviews.interviews()})
    for name, version in used:
        for what, words in _words_of(interviews.guide(name, version)):
            yield GUIDE, f"{what} of the guide {name!r}, version {version}", words


def _words_of(guide: Guide) -> Iterator[tuple[str, str]]:
    yield "the title", guide.title
    yield from ((f"the research question {name!r}", words) for name, words in guide.research.items())
    for section in guide.sections:
        yield f"the title of the section {section.id!r}", section.title
        yield f"the words before the section {section.id!r}", section.script
        for question in section.questions:
            told = (question.text, *question.probes, *(item.label for item in question.items))
            yield from ((f"the question {question.id!r}", words) for words in told)


def _in_settings(study: Study) -> Iterator[Text]:
    """What study.toml says of the study and of what is published."""
    settings = study.settings
    yield STUDY, "the title of the study", settings.study.title
    yield STUDY, "the description of the study", settings.study.description
    for table in settings.tables:
        yield from ((STUDY, f"the table {table.table!r}", words) for words in (table.title, table.stub, table.note))
    for finding in settings.findings:
        yield STUDY, f"the finding {finding.finding!r}", finding.sentence
    for number, words in enumerate(settings.report.threats, start=1):
        yield STUDY, f"threat {number} of the report", words


def _notes(interviews: Interviews) -> Iterator[Text]:
    for person in interviews.participants():
        for what, words in (("role", person.role), ("field", person.field)):
            yield PARTICIPANT, f"the {what} of {person.pseudonym}", words
    for one in interviews.interviews():
        held = conversation(interviews, one.id)
        for number, note in enumerate(held.notes, start=1):
            on = f" on the question {note.question!r}" if note.question else ""
            yield NOTE, f"note {number} of {one.id}{on}", note.text
        for tick in held.ticks:
            if tick.on and tick.other:
                yield NOTE, f"an item that was added to the question {tick.question!r} of {one.id}", tick.other


def _codes(finder: Finder, state: State) -> Iterator[Text]:
    """Codes in their words; one that another has taken the place of is published nowhere."""
    latest = state.history.latest
    for code in latest.codes.values():
        if state.history.read(code.id, latest.version, "", {}).code != code.id:
            continue
        for what, words in words_in_code(code):
            yield ID if what == ID else CODE, f"the {what} of {called_without_name(finder, code)}", words


def _beside_items(state: State) -> Iterator[Text]:
    """What raters wrote beside turns, as it counts now, and what was decided in words about any item."""
    for name, one in state.rounds.items():
        texts = {facet.id for facet in one.plan.facets if facet.kind == "text"}
        yield from _rated(name, one)
        yield from _discussed(name, one)
        for (item, facet), made in one.decisions.items():
            where, last = f"what was decided about {item} in the round {name!r}", made[-1]
            if is_turn(one.plan, item):
                yield MEMO, where, last.reason
                yield from ((MEMO, where, words) for words in _in_answer(last.answer, facet in texts))
            elif facet in texts:  # the journal keeps what else was written there, and nobody publishes it
                yield from ((DECIDED, where, words) for words in _in_answer(last.answer, True))


def _rated(name: str, one: RoundState) -> Iterator[Text]:
    texts = {facet.id for facet in one.plan.facets if facet.kind == "text"}
    for rater, items in one.ratings.items():
        for item, given in items.items():
            if not is_turn(one.plan, item):
                continue
            where = f"what {rater} wrote beside {item} in the round {name!r}"
            yield MEMO, where, given[-1].memo
            for facet, answer in given[-1].answers.items():
                yield from ((MEMO, where, words) for words in _in_answer(answer, facet in texts))


def _discussed(name: str, one: RoundState) -> Iterator[Text]:
    for comment in (*one.comments, *one.tie_comments.values()):
        if is_turn(one.plan, comment.item):
            yield MEMO, f"a comment on {comment.item} in the round {name!r}", comment.text


def _in_answer(answer: object, is_text: bool) -> Iterator[str]:
    """The words of an answer that are somebody's own: a text, a reason, and what stands beside stretches."""
    if isinstance(answer, str):
        yield from (answer,) if is_text else ()
    elif is_stretches(answer):
        for stretch in stretches_in(answer):
            yield from (stretch.memo, *stretch.fields.values())
    elif isinstance(answer, dict):
        yield str(answer.get("reason") or "")
