"""Turns decided passages of all interviews into quotations; withdrawn and declined participants are left out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from quaestor.base.errors import StateError
from quaestor.coding.model.closing import can_reopen_blind
from quaestor.coding.model.facet_kinds.passages import require_passage_facet
from quaestor.coding.model.records import Codebook
from quaestor.coding.model.rounds import list_round_notes
from quaestor.coding.model.state import State
from quaestor.coding.visibility import Viewer, Visibility
from quaestor.interviews.coding.code_agreement import map_items_to_answers
from quaestor.interviews.coding.decided_passages import (
    CodedPassage,
    DecidedPassages,
    group_linked_passages,
    list_coded_rounds,
    read_coded_passages,
    read_decided_passages,
)
from quaestor.interviews.conduct.conversation_state import ASKED, Conversation, read_conversation
from quaestor.interviews.model.records import Asks, SpokenTurn, Transcript
from quaestor.interviews.names.masking import build_masker, mask_transcript
from quaestor.interviews.participants.consent import list_declined
from quaestor.interviews.repository import Interviews
from quaestor.interviews.themes.participant_groups import list_attributes
from quaestor.interviews.themes.records import (
    ContextTurn,
    InterviewThemes,
    ParticipantAttribute,
    Quotation,
    QuotationPart,
    Reference,
    ReferenceTally,
    UsedCode,
)
from quaestor.interviews.transcripts.import_file import find_latest_import
from quaestor.people.roles import Role


def mask_themes(interviews: Interviews, themes: InterviewThemes) -> InterviewThemes:
    """Masks known names in codes and added items; a code whose name contains one also gets another id."""
    mask = build_masker(interviews)
    names = {code.id: code.name for code in themes.codes} | {code.theme: code.theme_name for code in themes.codes}
    words = {name: mask(name) for name in (*names.values(), *themes.unused, *themes.undecided)}
    named = [code for code, name in names.items() if words[name] != name or mask(code) != code]
    ids = _other_ids(named, names)
    return replace(
        themes,
        codes=tuple(_code(code, ids, words) for code in themes.codes),
        quotations=tuple(_quotation(quotation, ids) for quotation in themes.quotations),
        references=tuple(_reference(mask, reference, ids) for reference in themes.references),
        unused=tuple(words[name] for name in themes.unused),
        undecided=tuple(words[name] for name in themes.undecided),
        attributes=tuple(_attribute(mask, attribute) for attribute in themes.attributes),
    )


def _attribute(mask: Callable[[str], str], attribute: ParticipantAttribute) -> ParticipantAttribute:
    values = tuple(dict.fromkeys(mask(value) for value in attribute.values))
    return replace(
        attribute, values=values, by_participant={who: mask(value) for who, value in attribute.by_participant.items()}
    )


def _other_ids(named: Iterable[str], used_ids: Mapping[str, str]) -> dict[str, str]:
    """Maps ids to shown ids: a code whose name is masked gets a neutral one, because an id is derived from a name."""
    free = (candidate for number in range(1, 2 * len(used_ids) + 2) if (candidate := f"code-{number}") not in used_ids)
    return {code: code for code in used_ids} | {code: next(free) for code in named}


def _code(code_used: UsedCode, ids: Mapping[str, str], words: Mapping[str, str]) -> UsedCode:
    return replace(
        code_used,
        id=ids[code_used.id],
        name=words[code_used.name],
        theme=ids[code_used.theme],
        theme_name=words[code_used.theme_name],
    )


def _quotation(quotation: Quotation, ids: Mapping[str, str]) -> Quotation:
    called = quotation.id.removesuffix(quotation.code) + ids[quotation.code]
    return replace(quotation, id=called, code=ids[quotation.code], theme=ids[quotation.theme])


def _reference(mask: Callable[[str], str], reference: Reference, ids: Mapping[str, str]) -> Reference:
    items = tuple(replace(item, codes=tuple(ids.get(code, code) for code in item.codes)) for item in reference.items)
    return replace(reference, items=items, others=tuple((mask(words), who) for words, who in reference.others))


_OTHER = "other"


def read_themes(interviews: Interviews, rounds: Sequence[str] = (), actor: str | None = None) -> InterviewThemes:
    """Returns the results of the named rounds, or of all closed rounds on transcripts; a rater's view is recorded."""
    coded = read_coded_passages(interviews, rounds, actor)
    if not coded.rounds:
        raise StateError(NOTHING)
    return _build_themes(interviews, coded)


def read_visible_themes(interviews: Interviews, viewer: Viewer) -> InterviewThemes:
    """Returns the results of the rounds that a viewer may see; records no view."""
    with interviews.coding.locked_state() as state:
        sight = Visibility(state, interviews.coding.lead, viewer)
        whys = {name: sight.why_no_decisions(name) or _why_not_yet(state, name) for name in list_coded_rounds(state)}
        sees_ratings = not any(sight.why_no_disagreements(name) for name, why in whys.items() if not why)
        changed = state.changed
    hidden = {name: why for name, why in whys.items() if why}
    rounds, is_lead = [name for name in whys if name not in hidden], viewer.role is Role.LEAD

    def gathered() -> InterviewThemes:
        coded = read_decided_passages(interviews, rounds)
        return _build_themes(interviews, coded) if is_lead else _without_names(interviews, coded)

    # Ratings in an open round change neither `changed` nor, unless they contain free text, the files.
    settings = interviews.study.settings
    mark = (changed, interviews.version(), settings.study.seed, settings.interviews)
    what = f"themes {'of the lead' if is_lead else 'without names'}: {rounds}"
    themes = interviews.computed_once(what, mark, gathered)
    shown = replace(themes, hidden=hidden, undecided=themes.undecided if sees_ratings else ())
    return shown if is_lead else guard_groups(interviews, shown)


def guard_groups(interviews: Interviews, themes: InterviewThemes) -> InterviewThemes:
    """Returns the results as they may leave the study: small groups of participants are shown as one."""
    return replace(themes, smallest_group=interviews.study.settings.interviews.smallest_group)


def _why_not_yet(state: State, name: str) -> str:
    """Returns why a closed round is not shown yet: it can be reopened, and raters must not see each other's codes."""
    return (
        f"{name} can still be reopened: its codes are shown once something in it is decided"
        if can_reopen_blind(state, name)
        else ""
    )


def _without_names(interviews: Interviews, coded: DecidedPassages) -> InterviewThemes:
    """Builds the results for everybody but the lead, with all known names masked, confirmed or not."""
    talks = {transcript.interview: mask_transcript(interviews, transcript) for transcript in interviews.transcripts()}
    mask = build_masker(interviews)

    def unnamed(passage: CodedPassage) -> CodedPassage:
        turn = talks[passage.interview].turns[passage.turn]
        start, end = turn.to_shown(passage.start, passage.end)
        fields = {name: mask(words) for name, words in passage.fields.items()}
        return replace(passage, words=turn.text[start:end], memo=mask(passage.memo), fields=fields)

    passages = tuple(unnamed(passage) for passage in coded.passages)
    return mask_themes(interviews, _build_themes(interviews, replace(coded, passages=passages), talks))


NOTHING = (
    "no round on transcripts is closed yet: code them, close the round, and settle the disagreements "
    "(`quaestor round close NAME`, `quaestor decisions list NAME --open`)"
)


def has_themes(state: State) -> bool:
    """Whether a round on transcripts has any decision."""
    return any(
        state.round(name).last_decisions(require_passage_facet(state.round(name).plan).id)
        for name in list_coded_rounds(state)
    )


def _build_themes(
    interviews: Interviews, coded: DecidedPassages, shown: Mapping[str, Transcript] | None = None
) -> InterviewThemes:
    state = interviews.coding.state
    book = state.history.latest
    transcripts = shown or {transcript.interview: transcript for transcript in interviews.transcripts()}
    counted = [passage for passage in coded.passages if passage.code]
    questions = {name: _questions(interviews, transcript) for name, transcript in transcripts.items()}
    fields_by_code = _list_fields(state, coded.rounds)
    quotations = tuple(
        _quotations(book, counted, transcripts, questions, map_items_to_answers(interviews), fields_by_code)
    )
    codes = tuple(_codes_used(book, fields_by_code, {quotation.code for quotation in quotations}))
    facets = {require_passage_facet(state.round(name).plan).codes for name in coded.rounds}
    offered = [code.id for facet in facets for code in book.active(facet) if not book.children(code.id)]
    unused = [code for code in offered if code not in {code_used.id for code_used in codes}]
    participants, settings = interviews.participants(), interviews.study.settings
    synthetic = {participant.pseudonym for participant in participants if participant.synthetic}
    events, same_day = _list_events(interviews, coded.interviews)
    order = tuple((name, transcripts[name].participant) for event in events for name in event)
    coded_people = {participant for _, participant in order}
    return InterviewThemes(
        coded.rounds,
        quotations,
        codes,
        order,
        tuple(events),
        tuple(name for name in coded.interviews if not interviews.interview(name).day),
        same_day,
        tuple(_references(interviews, book, quotations)),
        tuple(book.path_name(code) for code in unused if code not in coded.undecided),
        tuple(book.path_name(code) for code in unused if code in coded.undecided),
        coded.turns,
        coded.uncounted,
        coded.missing,
        coded.declined,
        coded.uncoded,
        sum(not passage.code for passage in coded.passages),
        len(interviews.file.list_erased()),
        coded.simulated,
        any(participant in synthetic for _, participant in order),
        blindness=tuple(list_round_notes(state.round(name) for name in coded.rounds)),
        seed=settings.study.seed,
        attributes=list_attributes(
            [person for person in participants if person.pseudonym in coded_people], settings.interviews
        ),
        compared=settings.interviews.themes_by,
    )


def _list_events(interviews: Interviews, coded: Sequence[str]) -> tuple[list[tuple[str, ...]], bool]:
    """Returns the coded interviews in their order, and whether some of one day have no times.

    Interviews that were held together are one event: they have the same group, or their transcripts the same file. The
    order is that in which they were held if all have a date, otherwise that of the participants.
    """
    known = {interview.id: interview for interview in interviews.interviews()}
    groups: dict[str, list[str]] = {}
    for name in coded:
        imported = find_latest_import(interviews.file.read_entries(about=name))
        recording = imported.content["sha256"] if imported else name
        groups.setdefault(known[name].group.casefold() or recording, []).append(name)
    events = [tuple(event) for event in groups.values()]
    if not all(known[name].day for name in coded):
        return events, False
    starts = {event: min((known[name].day, known[name].began) for name in event) for event in events}
    days = [day for day, _ in starts.values()]
    same_day = any(days.count(day) > 1 and not began for day, began in starts.values())
    return sorted(events, key=starts.__getitem__), same_day


def _questions(interviews: Interviews, transcript: Transcript) -> dict[str, str]:
    guide = interviews.guide(transcript.guide, transcript.version)
    return {question.id: question.text for question in guide.questions()}


def _quotations(
    book: Codebook,
    passages: Sequence[CodedPassage],
    transcripts: Mapping[str, Transcript],
    questions: Mapping[str, Mapping[str, str]],
    answers: Mapping[str, str],
    fields_by_code: Mapping[str, tuple[str, ...]],
) -> Iterator[Quotation]:
    """Yields one quotation for each group of linked passages."""
    for several in group_linked_passages(passages):
        ordered = sorted(several, key=lambda passage: (passage.turn, passage.start))
        first, last = ordered[0], ordered[-1]
        spoken = transcripts[first.interview].turns
        start, _ = spoken[first.turn].to_shown(first.start, first.end)
        _, end = spoken[last.turn].to_shown(last.start, last.end)
        yield Quotation(
            f"{first.item}@{first.start}-{first.end}:{first.code}",
            first.code,
            book.path(first.code)[0],
            first.interview,
            first.participant,
            first.question,
            questions[first.interview].get(first.question, ""),
            tuple(
                QuotationPart(
                    passage.item, passage.turn, passage.start, passage.end, passage.words, answers.get(passage.item, "")
                )
                for passage in ordered
            ),
            _fields(ordered, fields_by_code.get(first.code, ())),
            " ".join(passage.memo for passage in ordered if passage.memo),
            len({rater for passage in ordered for rater in passage.raters}),
            _build_context(spoken, first.turn - 1),
            spoken[first.turn].text[:start],
            spoken[last.turn].text[end:],
            _build_context(spoken, last.turn + 1),
        )


def _fields(several: Sequence[CodedPassage], field_names: Sequence[str]) -> dict[str, str]:
    """Returns the filled-in fields in the order of the code; if several parts fill in a field, the first counts."""
    values = {name: words for passage in reversed(several) for name, words in passage.fields.items() if words}
    return {name: values[name] for name in dict.fromkeys((*field_names, *values)) if name in values}


def _build_context(turns: Sequence[SpokenTurn], number: int) -> ContextTurn | None:
    return ContextTurn(turns[number].voice, turns[number].text) if 0 <= number < len(turns) else None


def _list_fields(state: State, rounds: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Maps each current code to its fields; a code inherits the fields of codes merged into it."""
    fields_by_code: dict[str, tuple[str, ...]] = {}
    for code, names in (field for name in rounds for field in require_passage_facet(state.round(name).plan).fields):
        now = state.history.find_code(code, state.history.latest.version, "", {}).code or code
        fields_by_code[now] = tuple(dict.fromkeys((*fields_by_code.get(now, ()), *names)))
    return fields_by_code


def _codes_used(book: Codebook, fields_by_code: Mapping[str, tuple[str, ...]], used: set[str]) -> Iterator[UsedCode]:
    """Yields the codes in use in the order of the codebook, retired ones last."""
    places = {code: place for place, code in enumerate(book.codes)}

    def place(code: str) -> tuple[bool, list[int]]:
        return not book.codes[code].active, [places[step] for step in book.path(code)]

    for code in sorted(used, key=place):
        root = book.path(code)[0]
        yield UsedCode(code, book.codes[code].name, root, book.codes[root].name, fields_by_code.get(code, ()))


def _references(interviews: Interviews, book: Codebook, quotations: Sequence[Quotation]) -> Iterator[Reference]:
    """Yields every question with reference items, as in the last guide that has it."""
    left_out = list_declined(interviews)
    interviews_kept = [interview for interview in interviews.interviews() if interview.participant not in left_out]
    talks = {interview.id: read_conversation(interviews, interview.id) for interview in interviews_kept}
    people = {interview.id: interview.participant for interview in interviews_kept}
    reference_questions: dict[str, tuple[str, list[tuple[str, str]], bool]] = {}
    for interview in interviews_kept:
        for question in interviews.guide_of(interview).questions():
            if question.asks is Asks.REFERENCE:
                items = [(item.code, item.label) for item in question.items]
                reference_questions[question.id] = (question.text, items, question.other)
    for name, (text, items, other) in reference_questions.items():
        named = _map_mentions(book, [code for code, _ in items], quotations)
        tallies = [
            ReferenceTally(code, label, _ticking(talks, people, name, code), *named.get(code, ((), ())))
            for code, label in items
        ]
        added = _others(talks, people, name)
        if other:
            everybody = {who for _, several in added for who in several}
            of_all = tuple(fromkey for fromkey in dict.fromkeys(people.values()) if fromkey in everybody)
            tallies.append(ReferenceTally(_OTHER, "other", of_all, *named.get(_OTHER, ((), ()))))
        reached = dict.fromkeys(
            people[interview_id] for interview_id, talk in talks.items() if talk.state_of(name) == ASKED
        )
        yield Reference(name, text, tuple(reached), tuple(tallies), tuple(added))


def _ticking(talks: Mapping[str, Conversation], people: Mapping[str, str], question: str, item: str) -> tuple[str, ...]:
    mentioning = (
        people[name] for name, talk in talks.items() if any(tick.item == item for tick in talk.ticked(question))
    )
    return tuple(dict.fromkeys(mentioning))


def _others(
    talks: Mapping[str, Conversation], people: Mapping[str, str], question: str
) -> list[tuple[str, tuple[str, ...]]]:
    """Groups items that participants added by their text, ignoring case."""
    additions: dict[str, tuple[str, list[str]]] = {}
    for name, talk in talks.items():
        for tick in talk.ticked(question):
            if words := " ".join(tick.other.split()):
                additions.setdefault(words.casefold(), (words, []))[1].append(people[name])
    return [(words, tuple(dict.fromkeys(who))) for words, who in additions.values()]


def _map_mentions(
    book: Codebook, items: Sequence[str], quotations: Sequence[Quotation]
) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    """Maps each item to (participants, codes): a code with the item's id mentions it, its siblings mention `other`.

    If the code was merged, the code that it was merged into mentions the item.
    """
    here: dict[str, tuple[str, ...]] = {item: (_follow_merges(book, item),) for item in items if item in book.codes}
    theirs = {code for codes in here.values() for code in codes}
    above = {book.codes[code].parent for code in theirs} - {""}
    used = {quotation.code for quotation in quotations} - theirs
    sisters = (code.id for code in book.codes.values() if code.id in used and code.parent in above)
    here[_OTHER] = (*here.get(_OTHER, ()), *sisters)
    return {
        item: (
            tuple(dict.fromkeys(quotation.participant for quotation in quotations if quotation.code in codes)),
            codes,
        )
        for item, codes in here.items()
    }


def _follow_merges(book: Codebook, code: str) -> str:
    while into := book.codes[code].into:
        code = into
    return code
