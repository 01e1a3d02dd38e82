"""Tables of themes: how many participants mention each theme, and who mentions what."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from quaestor.coding.model.facet_kinds.passages import SEPARATOR
from quaestor.interviews.coding.decided_passages import (
    DISPUTED,
    OTHER_SPEAKER,
    OUTSIDE,
    UNDECIDED,
    UNRATED,
    UncountedTurns,
)
from quaestor.interviews.themes.records import (
    CODE,
    PARTICIPANT,
    QUOTATION,
    THEME,
    InterviewThemes,
    Quotation,
    Reference,
    ReferenceTally,
    UsedCode,
    count_mentions,
    select_by,
)
from quaestor.measures.co_occurrence import participant_shares
from quaestor.measures.descriptive import share
from quaestor.measures.records import Share
from quaestor.render.number_format import ABSENT, percent, whole
from quaestor.render.table_model import Cell, Column, Group, Row, Selection, Table

THEMES, MATRIX = "themes", "matrix"
NOTHING = "·"
_ONE = ("",)


def by_theme(themes: InterviewThemes) -> Iterator[tuple[str, str, list[UsedCode]]]:
    """Yields (theme, its name, its codes in use) in the order of the codebook."""
    for theme, name in dict.fromkeys((code.theme, code.theme_name) for code in themes.codes):
        yield theme, name, [code for code in themes.codes if code.theme == theme]


def base_notes(themes: InterviewThemes) -> tuple[str, ...]:
    """Returns the notes on what was counted and what was left out."""
    several = len(themes.interviews)
    notes = [
        f"{_count(len(themes.quotations), 'quotation')} of {_count(len(themes.participants), 'participant')} in "
        f"{_count(several, 'coded interview')} ({', '.join(themes.rounds)}); a participant counts once for a code."
    ]
    notes += (_describe_uncounted(turns, themes.rounds) for turns in themes.uncounted)
    if themes.missing:
        verb = "is" if len(themes.missing) == 1 else "are"
        notes.append(f"{join_with_and(themes.missing)} {verb} not counted: nothing that they said is decided yet.")
    if themes.declined:
        verb = "is" if themes.declined == 1 else "are"
        notes.append(f"{_count(themes.declined, 'participant')} declined after the interview and {verb} not counted.")
    if themes.uncoded:
        notes.append(f"{_count(themes.uncoded, 'passage')} without a code because it was split or withdrawn.")
    if themes.in_vivo:
        notes.append(f"{_count(themes.in_vivo, 'passage')} in vivo, not adopted as a code, not counted.")
    if themes.withdrawn:
        verb = "is" if themes.withdrawn == 1 else "are"
        notes.append(f"{_count(themes.withdrawn, 'participant')} withdrew and {verb} not counted.")
    if themes.simulated:
        notes.append("The raters were simulated.")
    notes += themes.blindness
    if themes.synthetic:
        notes.append("The interviews are synthetic.")
    return tuple(notes)


def _describe_uncounted(uncounted: UncountedTurns, rounds: Sequence[str]) -> str:
    """Describes turns that are not counted, and whose they are."""
    words = {
        DISPUTED: "with undecided disagreements, not counted",
        UNDECIDED: "rated but not decided, not counted",
        UNRATED: "that nobody rated, not counted",
        OUTSIDE: f"{'outside of ' + join_with_and(rounds) if rounds else OUTSIDE}, not counted",
        OTHER_SPEAKER: "coded before the speaker was corrected to somebody else, not counted",
    }
    people = ", ".join(f"{participant} ({number:,})" for participant, number in uncounted.turns)
    return f"{_count(uncounted.total, 'turn')} {words[uncounted.reason]}: {people}."


def _count(number: int, word: str, plural: str = "s") -> str:
    return f"{number:,} {word}{'' if number == 1 else plural}"


def themes_table(themes: InterviewThemes) -> Table:
    """Builds the table of participants who mention each theme and code, with their share and its interval."""
    shares = dict(zip([code.id for code in themes.codes], participant_shares(count_mentions(themes)), strict=True))
    everybody = len(themes.participants)
    groups = []
    for theme, name, codes in by_theme(themes):
        own = themes.of(theme)
        rows = []
        if [code.id for code in codes] != [theme]:
            whole_theme = share(len({quotation.participant for quotation in own}), everybody)
            rows.append(Row(theme, "any of these", _cells(whole_theme, len(own), select_by(THEME, theme)), total=True))
        for code in codes:
            title = code.name if code.id != theme else f"{name}, no further"
            cells = _cells(shares[code.id], sum(two.code == code.id for two in own), select_by(CODE, code.id))
            rows.append(Row(build_row_key(code, codes), title, cells))
        groups.append(Group(name, tuple(rows)))
    columns = (
        Column("participants", "participants"),
        Column("share", "share"),
        Column("interval", "95% interval", numbers=("low", "high")),
        Column("mentions", "mentions"),
    )
    unused = f"Not mentioned: {', '.join(themes.unused)}." if themes.unused else ""
    undecided = f"Not decided yet: {', '.join(themes.undecided)}." if themes.undecided else ""
    notes = tuple(filter(None, (*base_notes(themes), unused, undecided)))
    return Table(THEMES, "Themes by participants", "code", columns, tuple(groups), notes=notes)


def build_row_key(code_used: UsedCode, codes: Sequence[UsedCode]) -> str:
    """Returns the key of a code's row; a theme with further codes is the row of all of them."""
    return f"{code_used.id} itself" if code_used.id == code_used.theme and len(codes) > 1 else code_used.id


def _cells(share: Share, times: int, selection: Selection) -> tuple[Cell, ...]:
    bounds = ABSENT if share.low is None or share.high is None else f"{percent(share.low)} to {percent(share.high)}"
    return (
        Cell((whole(share.count),), (share.count,), selection),
        Cell((percent(share.value),), (share.value,)),
        Cell((bounds,), (share.low, share.high)),
        Cell((whole(times),), (times,), selection),
    )


def matrix_table(themes: InterviewThemes) -> Table:
    """Builds the table of how often each participant mentions each code."""
    mention_matrix = count_mentions(themes)
    rows = {code.id: mention_matrix[place] for place, code in enumerate(themes.codes)}
    groups = []
    for theme, name, codes in by_theme(themes):
        theme_rows = []
        for code in codes:
            cells = [
                _times(int(times), select_by(CODE, code.id).narrow(PARTICIPANT, who))
                for who, times in zip(themes.participants, rows[code.id].tolist(), strict=True)
            ]
            cells.append(_times(int(rows[code.id].sum()), select_by(CODE, code.id)))
            title = code.name if code.id != theme else f"{name}, no further"
            theme_rows.append(Row(build_row_key(code, codes), title, tuple(cells)))
        groups.append(Group(name, tuple(theme_rows)))
    bottom = [
        _times(int(times), select_by(PARTICIPANT, who))
        for who, times in zip(themes.participants, mention_matrix.sum(axis=0).tolist(), strict=True)
    ]
    total = Row("all", "all codes", (*bottom, _times(len(themes.quotations), Selection())), total=True)
    columns = (
        *(Column(participant, participant, numbers=_ONE) for participant in themes.participants),
        Column("all", "all", numbers=_ONE),
    )
    groups.append(Group("", (total,)))
    return Table(
        MATRIX, "Mentions of each code by participant", "code", columns, tuple(groups), notes=base_notes(themes)
    )


def _times(times: int, selection: Selection) -> Cell:
    return Cell((whole(times) if times else NOTHING,), (times,), selection if times else None)


QUOTATIONS = "quotations"
UNSAID, DIFFER = "not said", "raters differ"
_MOST_VALUES = 8
"""A field with more different values than this gets no table of counts."""
_SCALE = (
    "none", "negligible", "trivial", "very low", "low", "minor", "small", "medium", "moderate", "normal", "high",
    "major", "large", "serious", "severe", "very high", "critical", "blocking",
)  # fmt: skip
"""Common words for importance, lowest first."""


def reference_tables(themes: InterviewThemes) -> list[Table]:
    """Builds a table per question with reference items: who ticked an item, and who mentioned it in their own words."""
    return [_reference_table(themes, reference) for reference in themes.references]


def _reference_table(themes: InterviewThemes, reference: Reference) -> Table:
    coded = set(themes.participants)
    everybody = coded | set(reference.reached)
    rows = [_tally(item, len(reference.reached), len(coded), len(everybody)) for item in reference.items]
    groups = [Group("", tuple(rows))]
    if reference.others:
        added = []
        for number, (words, who) in enumerate(reference.others, start=1):
            nothing = (Cell((NOTHING,), (0,)), Cell((whole(len(who)),), (len(who),)))
            added.append(Row(f"added-{number}", words, (Cell((whole(len(who)),), (len(who),)), *nothing, _people(who))))
        groups.append(Group("added by participants", tuple(added)))
    columns = (
        Column("ticked", "ticked", ("", "share"), numbers=("", "share")),
        Column("named", "named", ("", "share"), numbers=("", "share")),
        Column("either", "either", ("", "share"), numbers=("", "share")),
        Column("who", "who", numeric=False),
    )
    notes = (
        f"Ticked: of {len(reference.reached):,} participants who were asked this, or ticked something, in an interview "
        f"held at the desk. Named: of {len(coded):,} participants whose words were coded. A tick has no quotation: the "
        "list behind “either” shows the participants who named the item.",
        *base_notes(themes),
    )
    return Table(reference.question, reference.text, "item", columns, tuple(groups), notes=notes)


def _tally(reference_tally: ReferenceTally, reached: int, coded: int, everybody: int) -> Row:
    either = tuple(dict.fromkeys((*reference_tally.ticked, *reference_tally.named)))
    named = select_by(CODE, *reference_tally.codes) if reference_tally.named else None
    cells = (
        _part(len(reference_tally.ticked), reached),
        _part(len(reference_tally.named), coded, named),
        _part(len(either), everybody, named),
        _people(either),
    )
    return Row(reference_tally.key, reference_tally.label, cells)


def _part(number: int, of_all: int, selection: Selection | None = None) -> Cell:
    estimate = share(number, of_all)
    return Cell((whole(number), percent(estimate.value)), (number, estimate.value), selection)


def _people(who: Sequence[str]) -> Cell:
    return Cell((", ".join(who) or ABSENT,))


def field_tables(themes: InterviewThemes) -> list[Table]:
    """Builds tables for codes with fields: a list of the quotations, and counts if a theme has several such codes."""
    asking: dict[tuple[str, tuple[str, ...]], list[UsedCode]] = {}
    for code in themes.codes:
        if code.fields:
            asking.setdefault((code.theme, code.fields), []).append(code)
    tables: list[Table] = []
    for (theme, fields), codes in asking.items():
        quotations = [quotation for code in codes for quotation in themes.quotations if quotation.code == code.id]
        if len(codes) > 1 and (counted := _by_first_field(themes, theme, codes, quotations)) is not None:
            tables.append(counted)
        tables.append(_listing(themes, theme, fields, codes, quotations))
    return tables


def _listing(
    themes: InterviewThemes,
    theme: str,
    fields: Sequence[str],
    codes: Sequence[UsedCode],
    quotations: Sequence[Quotation],
) -> Table:
    """Builds a table with one row per quotation, grouped by code if there are several."""
    alone = len(codes) == 1
    related = (
        {}
        if alone
        else {quotation.id: also_coded for quotation in quotations if (also_coded := _list_related(themes, quotation))}
    )
    groups = []
    for code in codes:
        rows = []
        for number, quotation in enumerate(
            (quotation for quotation in quotations if quotation.code == code.id), start=1
        ):
            more = (_related_cell(themes, related.get(quotation.id, [])),) if related else ()
            rows.append(
                Row(f"{quotation.code}-{number}", quotation.participant, (*_field_cells(fields, quotation), *more))
            )
        groups.append(Group("" if alone else code.name, tuple(rows)))
    columns = (
        *(Column(f"field {field}", field, numeric=False) for field in fields),
        Column("words", "quotation", numeric=False),
        *([Column("also", "in the same answer", numeric=False)] if related else []),
    )
    name = codes[0].id if alone else theme
    title = f"{codes[0].name if alone else codes[0].theme_name}: {join_with_and(fields)}, in the participants' words"
    return Table(name, _capitalise(title), "who", columns, tuple(groups), notes=_notes(themes, fields, quotations))


def _field_cells(fields: Sequence[str], quotation: Quotation) -> tuple[Cell, ...]:
    cells = [Cell((_format_field(quotation.fields.get(field, "")),)) for field in fields]
    return (*cells, Cell((f"“{quotation.words}”",), (), select_by(QUOTATION, quotation.id)))


def _format_field(words: str) -> str:
    if SEPARATOR in words:
        return f"{DIFFER}: {words.replace(SEPARATOR, ' or ')}"
    return words or UNSAID


def join_with_and(names: Sequence[str]) -> str:
    """Joins names as in `P1, P2 and P3`."""
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _notes(themes: InterviewThemes, fields: Sequence[str], quotations: Sequence[Quotation]) -> tuple[str, ...]:
    differ = any(SEPARATOR in quotation.fields.get(field, "") for quotation in quotations for field in fields)
    note = (
        f"{_capitalise(DIFFER)}: they gave the same code but filled in its fields differently, and nobody has decided."
    )
    return (*([note] if differ else []), *base_notes(themes))


def _list_related(themes: InterviewThemes, quotation: Quotation) -> list[Quotation]:
    """Returns the quotations of other themes in the same answer, such as what is done about a defect."""
    return [two for two in themes.quotations if two.theme != quotation.theme and {*quotation.answers} & {*two.answers}]


def _related_cell(themes: InterviewThemes, related: Sequence[Quotation]) -> Cell:
    names = [code.name for code in themes.codes if code.id in {two.code for two in related}]
    opens = select_by(QUOTATION, *(two.id for two in related)) if related else None
    return Cell((", ".join(names) or NOTHING,), (), opens)


def _by_first_field(
    themes: InterviewThemes, theme: str, codes: Sequence[UsedCode], quotations: Sequence[Quotation]
) -> Table | None:
    """Counts a theme's codes by their first field, such as the importance of defects; None for too many values."""
    field = codes[0].fields[0]
    titles: dict[str, str] = {}
    for key, title in (_value(quotation, field) for quotation in quotations):
        titles.setdefault(key, title)
    last = [f"{field} {title}" for title in (UNSAID, DIFFER)]
    ordered = [*sorted(titles.keys() - set(last), key=_scale_order), *(key for key in last if key in titles)]
    if len(titles.keys() - set(last)) > _MOST_VALUES:
        return None
    rows = []
    for code in codes:
        own = [quotation for quotation in quotations if quotation.code == code.id]
        cells = [_quoted([quotation for quotation in own if _value(quotation, field)[0] == key]) for key in ordered]
        people = {quotation.participant for quotation in own}
        cells += [_quoted(own), Cell((whole(len(people)),), (len(people),), select_by(CODE, code.id))]
        rows.append(Row(code.id, code.name, tuple(cells)))
    columns = (
        *(Column(key, titles[key], spanner=field, numbers=("",)) for key in ordered),
        Column("mentions", "mentions", numbers=("",)),
        Column("participants", "participants"),
    )
    title = f"{codes[0].theme_name} by type and {field}"
    notes = _notes(themes, [field], quotations)
    return Table(f"{theme}-{field}", _capitalise(title), "type", columns, (Group("", tuple(rows)),), notes=notes)


def _scale_order(key: str) -> tuple[int, str]:
    """Sorts words of a scale from low to high, and other words after them."""
    words = key.partition("=")[2]
    return _SCALE.index(words) if words in _SCALE else len(_SCALE), key


def _value(quotation: Quotation, field: str) -> tuple[str, str]:
    """Returns the key and title of the column in which a quotation counts; keys never equal those of other columns."""
    words = " ".join(quotation.fields.get(field, "").split())
    if SEPARATOR in words:
        return f"{field} {DIFFER}", DIFFER
    if words.casefold() in ("", UNSAID):
        return f"{field} {UNSAID}", UNSAID
    return f"{field}={words.casefold()}", words


def _quoted(several: Sequence[Quotation]) -> Cell:
    number = len(several)
    opens = select_by(QUOTATION, *(quotation.id for quotation in several)) if several else None
    return Cell((whole(number) if number else NOTHING,), (number,), opens)


def _capitalise(title: str) -> str:
    return f"{title[:1].upper()}{title[1:]}"


def quotations_table(themes: InterviewThemes) -> Table:
    """Builds the table of all quotations by code, with the question and the context."""
    groups = []
    for _, _, codes in by_theme(themes):
        for code in codes:
            own = [quotation for quotation in themes.quotations if quotation.code == code.id]
            rows = tuple(_quotation_row(number, quotation) for number, quotation in enumerate(own, start=1))
            groups.append(Group(code.path, rows))
    columns = tuple(
        Column(key, title, numeric=False)
        for key, title in (
            ("question", "question"),
            ("before", "before"),
            ("words", "quotation"),
            ("after", "after"),
        )
    )
    return Table(QUOTATIONS, "Quotations", "who", columns, tuple(groups), notes=base_notes(themes))


def _quotation_row(number: int, quotation: Quotation) -> Row:
    earlier = (
        f"({quotation.earlier.voice}: {quotation.earlier.words}) "
        if quotation.earlier and quotation.earlier.words != quotation.question_text
        else ""
    )
    later = f" ({quotation.later.voice}: {quotation.later.words})" if quotation.later else ""
    cells = (
        Cell((quotation.question_text or ABSENT,)),
        Cell((shortened(earlier + quotation.before, from_end=True),)),
        Cell((f"“{quotation.words}”",), (), select_by(QUOTATION, quotation.id)),
        Cell((shortened(quotation.after + later),)),
    )
    return Row(f"{quotation.code}-{number}", quotation.participant, cells)


def with_surroundings(quotation: Quotation) -> str:
    """Returns a quotation within its turn, keeping the spaces around it."""
    before, after = shortened(quotation.before, from_end=True), shortened(quotation.after)
    before += " " if quotation.before[-1:].isspace() else ""
    after = (" " if quotation.after[:1].isspace() else "") + after
    return f"{before}“{quotation.words}”{after}".strip()


def shortened(words: str, most: int = 240, *, from_end: bool = False) -> str:
    """Shortens the context of a quotation at a space if it is long."""
    text = " ".join(words.split())
    if len(text) <= most:
        return text
    if from_end:
        return f"… {text[-most:].partition(' ')[2]}"
    return f"{text[:most].rpartition(' ')[0]} …"
