"""Whether a known name remains anywhere that may be published: transcripts, notes, memos, codes, fields."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from quaestor.base.errors import StateError
from quaestor.coding.records import Code, stretches_in
from quaestor.coding.state import RoundState, State
from quaestor.coding.stretches import KIND
from quaestor.instruments.interviews.name_search import Finder
from quaestor.study.coding import Where, study_of
from quaestor.study.interviews.conversation import conversation
from quaestor.study.interviews.names import finder_of
from quaestor.study.interviews.proposals import still_open
from quaestor.study.interviews.room import Interviews, interviews_path, open_interviews

TRANSCRIPT, NOTE, PARTICIPANT, MEMO, CODE = "transcript", "note", "participant", "memo", "code"
_TOLD = 3


@dataclass(frozen=True)
class Remaining:
    """A place where a known name stands; the name itself is not told, only what is shown instead of it."""

    kind: str
    where: str
    shown: str


def remaining(interviews: Interviews) -> list[Remaining]:
    """Every place where a known name remains."""
    found = [
        Remaining(TRANSCRIPT, f"turn {one.turn + 1} of the transcript {one.interview}", one.shown)
        for one in still_open(interviews)
    ]
    finder = finder_of(interviews)
    if not finder.names:
        return found
    with interviews.coding.looking() as state:
        texts = [*_codes(finder, state), *_memos(state)]
    for kind, where, text in [*_notes(interviews), *texts]:
        found += [Remaining(kind, where, one) for one in dict.fromkeys(each.shown for each in finder.names_in(text))]
    return found


def found_in(interviews: Interviews, texts: Iterable[tuple[str, str]], kind: str) -> list[Remaining]:
    """Known names in any other texts, given as (where, text), such as the cells of a table."""
    finder = finder_of(interviews)
    return [Remaining(kind, where, one.shown) for where, text in texts for one in finder.names_in(text)]


def refuse_names(where: Where) -> None:
    """Nothing of a study is published while a known name remains in its interviews."""
    if not interviews_path(study_of(where)).exists():
        return
    with open_interviews(where) as interviews:
        refuse_names_in(interviews)


def refuse_names_in(interviews: Interviews) -> None:
    """The same, with the interviews at hand."""
    found = remaining(interviews)
    if not found:
        return
    told = "; ".join(f"{one.where} ({one.shown})" for one in found[:_TOLD])
    more = f"; and {len(found) - _TOLD:,} more" if len(found) > _TOLD else ""
    places = "a known name remains" if len(found) == 1 else f"known names remain in {len(found):,} places"
    raise StateError(
        f"nothing is published while {places}: {told}{more}. Answer them on the page Names of the interviews, or see "
        "`quaestor interview names remaining`"
    )


def _notes(interviews: Interviews) -> Iterator[tuple[str, str, str]]:
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


def _codes(finder: Finder, state: State) -> Iterator[tuple[str, str, str]]:
    """Codes in their words; one whose id holds a name is told by its facet alone."""
    for code in state.history.latest.codes.values():
        called = f"the code {code.id!r}" if not finder.names_in(code.id) else f"a code of the facet {code.facet!r}"
        for what, words in _words_of(code):
            yield CODE, f"the {what} of {called}", words


def _words_of(code: Code) -> Iterator[tuple[str, str]]:
    yield "name", code.name
    yield "definition", code.definition
    yield "use", f"{code.use}\n{code.not_}"
    yield "examples", "\n".join(code.examples)


def _memos(state: State) -> Iterator[tuple[str, str, str]]:
    """What raters wrote beside transcripts, as it counts now, and what was decided of it."""
    for name, one in state.rounds.items():
        for facet in one.plan.facets:
            if facet.kind == KIND:
                yield from _in_round(name, one, facet.id)


def _in_round(name: str, one: RoundState, facet: str) -> Iterator[tuple[str, str, str]]:
    for rater, items in one.ratings.items():
        for item, given in items.items():
            where = f"what {rater} wrote beside {item} in the round {name!r}"
            yield MEMO, where, given[-1].memo
            yield from ((MEMO, where, words) for words in _beside(given[-1].answers.get(facet)))
    for item, made in one.decided(facet).items():
        where = f"what was decided about {item} in the round {name!r}"
        yield MEMO, where, made.reason
        yield from ((MEMO, where, words) for words in _beside(made.answer))
    for comment in one.comments:
        yield MEMO, f"a comment on {comment.item} in the round {name!r}", comment.text


def _beside(answer: object) -> Iterator[str]:
    for stretch in stretches_in(answer):
        yield from (stretch.memo, *stretch.fields.values())
