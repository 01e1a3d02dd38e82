"""Themes as tables: how many participants speak of each, and who speaks of what."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from quaestor.measures.interviews import participant_shares
from quaestor.measures.records import Share
from quaestor.measures.shares import share
from quaestor.publish.records import Cell, Column, Group, Row, Selection, Table
from quaestor.publish.shown import ABSENT, percent, whole
from quaestor.study.interviews.theme_columns import CODE, PARTICIPANT, THEME, mentions, of
from quaestor.study.interviews.theme_records import CodeUsed, Themes

THEMES, MATRIX = "themes", "matrix"
NOTHING = "·"
_ONE = ("",)


def by_theme(themes: Themes) -> Iterator[tuple[str, str, list[CodeUsed]]]:
    """(theme, its name, its codes in use) in the order of the codebook."""
    for theme, name in dict.fromkeys((one.theme, one.theme_name) for one in themes.codes):
        yield theme, name, [one for one in themes.codes if one.theme == theme]


def base_notes(themes: Themes) -> tuple[str, ...]:
    """What was counted, and what was not."""
    several = len(themes.interviews)
    notes = [
        f"{_counted(len(themes.quotations), 'quotation')} of {_counted(len(themes.participants), 'participant')} in "
        f"{_counted(several, 'coded interview')} ({', '.join(themes.rounds)}); a participant counts once for a code."
    ]
    if themes.unsettled:
        notes.append(f"{_counted(themes.unsettled, 'turn')} on which raters differ, not decided yet, not counted.")
    if themes.uncoded:
        notes.append(f"{_counted(themes.uncoded, 'stretch', 'es')} without a code since it was split or withdrawn.")
    if themes.in_vivo:
        notes.append(f"{_counted(themes.in_vivo, 'stretch', 'es')} in vivo, adopted as no code, not counted.")
    if themes.withdrawn:
        verb = "is" if themes.withdrawn == 1 else "are"
        notes.append(f"{_counted(themes.withdrawn, 'participant')} withdrew and {verb} in no count.")
    if themes.simulated:
        notes.append("The raters were simulated.")
    notes += themes.blindness
    if themes.synthetic:
        notes.append("The interviews are synthetic.")
    return tuple(notes)


def _counted(number: int, word: str, plural: str = "s") -> str:
    return f"{number:,} {word}{'' if number == 1 else plural}"


def themes_table(themes: Themes) -> Table:
    """Participants who speak of each theme and code, with their share of all and its interval."""
    shares = dict(zip([one.id for one in themes.codes], participant_shares(mentions(themes)), strict=True))
    everybody = len(themes.participants)
    groups = []
    for theme, name, codes in by_theme(themes):
        own = themes.of(theme)
        rows = []
        if [one.id for one in codes] != [theme]:
            whole_theme = share(len({one.participant for one in own}), everybody)
            rows.append(Row(theme, "any of these", _cells(whole_theme, len(own), of(THEME, theme)), total=True))
        for one in codes:
            title = one.name if one.id != theme else f"{name}, no further"
            cells = _cells(shares[one.id], sum(two.code == one.id for two in own), of(CODE, one.id))
            rows.append(Row(_key(one, codes), title, cells))
        groups.append(Group(name, tuple(rows)))
    columns = (
        Column("participants", "participants"),
        Column("share", "share"),
        Column("interval", "95% interval", numbers=("low", "high")),
        Column("mentions", "mentions"),
    )
    unused = f"Nobody speaks of: {', '.join(themes.unused)}." if themes.unused else ""
    undecided = f"Not decided yet: {', '.join(themes.undecided)}." if themes.undecided else ""
    notes = tuple(filter(None, (*base_notes(themes), unused, undecided)))
    return Table(THEMES, "Themes by participants", "code", columns, tuple(groups), notes=notes)


def _key(one: CodeUsed, codes: Sequence[CodeUsed]) -> str:
    """How the row of a code is cited; a theme that has codes of its own is the row of all of them."""
    return f"{one.id} itself" if one.id == one.theme and len(codes) > 1 else one.id


def _cells(found: Share, times: int, selection: Selection) -> tuple[Cell, ...]:
    bounds = ABSENT if found.low is None or found.high is None else f"{percent(found.low)} to {percent(found.high)}"
    return (
        Cell((whole(found.count),), (found.count,), selection),
        Cell((percent(found.value),), (found.value,)),
        Cell((bounds,), (found.low, found.high)),
        Cell((whole(times),), (times,), selection),
    )


def matrix_table(themes: Themes) -> Table:
    """How often each participant speaks of each code."""
    found = mentions(themes)
    rows = {one.id: found[place] for place, one in enumerate(themes.codes)}
    groups = []
    for theme, name, codes in by_theme(themes):
        made = []
        for one in codes:
            cells = [
                _times(int(times), of(CODE, one.id).narrowed(PARTICIPANT, who))
                for who, times in zip(themes.participants, rows[one.id].tolist(), strict=True)
            ]
            cells.append(_times(int(rows[one.id].sum()), of(CODE, one.id)))
            title = one.name if one.id != theme else f"{name}, no further"
            made.append(Row(_key(one, codes), title, tuple(cells)))
        groups.append(Group(name, tuple(made)))
    bottom = [
        _times(int(times), of(PARTICIPANT, who))
        for who, times in zip(themes.participants, found.sum(axis=0).tolist(), strict=True)
    ]
    total = Row("all", "all codes", (*bottom, _times(len(themes.quotations), Selection())), total=True)
    columns = (*(Column(one, one, numbers=_ONE) for one in themes.participants), Column("all", "all", numbers=_ONE))
    groups.append(Group("", (total,)))
    return Table(
        MATRIX, "Mentions of each code by participant", "code", columns, tuple(groups), notes=base_notes(themes)
    )


def _times(times: int, selection: Selection) -> Cell:
    return Cell((whole(times) if times else NOTHING,), (times,), selection if times else None)
