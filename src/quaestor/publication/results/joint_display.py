"""The joint display: how often posts, respondents and participants mention each code of one codebook."""

from __future__ import annotations

import hashlib
import html
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from quaestor.base.errors import StateError
from quaestor.base.names import slugify
from quaestor.coding.model.decisions import find_decisions, find_excluded_items, find_undecided
from quaestor.coding.model.facet_kinds import find_kind
from quaestor.coding.model.records import INTERVIEWS, SURVEYS, Facet
from quaestor.coding.model.rounds import list_round_notes
from quaestor.coding.model.state import CLOSED, State
from quaestor.coding.session import CodingSession
from quaestor.evidence.erasure import drop_withdrawn
from quaestor.evidence.item_texts import mask_item_text, read_item_texts
from quaestor.interviews.model.records import find_participant
from quaestor.interviews.repository import open_interviews
from quaestor.interviews.themes.quotations import read_themes
from quaestor.measures.descriptive import share
from quaestor.render.figures.records import FigurePlan, StrandShare
from quaestor.render.number_format import percent, whole
from quaestor.render.report_parts import Section
from quaestor.render.table_model import Cell, Column, Group, Row, Table
from quaestor.study.contributions import ReportPart
from quaestor.study.features import open_known_names
from quaestor.study.settings.publication import JointStrandSettings
from quaestor.surveys.open_answers import find_excluded_answers, parse_response

_UNITS: Mapping[str, tuple[str, Callable[[str], str | None]]] = {
    SURVEYS: ("respondents", parse_response),
    INTERVIEWS: ("participants", find_participant),
}
"""By origin of a round: what is counted, and the function that finds it by item; other items are posts."""
_EXCERPT = 160
_WORDS = (
    "The codes of one codebook in each strand: how many of its units mention a code, with a 95 % interval (Wilson). "
    "Strands agree on a code if their intervals overlap; a strand is silent if none of its units mentions the code."
)


@dataclass(frozen=True)
class StrandCodes:
    """The coded units of one strand, and one example by code."""

    title: str
    unit: str
    """What is counted: posts, respondents or participants."""
    units: frozenset[str]
    units_by_code: Mapping[str, frozenset[str]]
    """By code of the rows: the units that mention it, or a code below it."""
    examples: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def share_of(self, code: str) -> StrandShare:
        result = share(len(self.units_by_code.get(code, ())), len(self.units))
        return StrandShare(result.count, len(self.units), result.value, result.low, result.high)


@dataclass(frozen=True)
class JointDisplay:
    """The compared strands, and the codes of the rows with their names."""

    title: str
    codes: Mapping[str, str]
    strands: tuple[StrandCodes, ...]

    def compare(self, code: str) -> str:
        """Returns how the strands relate on a code: agree, differ, or which of them are silent or have no data."""
        shares = {strand.title: strand.share_of(code) for strand in self.strands}
        known = {title: counted for title, counted in shares.items() if counted.base}
        missing = [title for title in shares if title not in known]
        silent = [title for title, counted in known.items() if not counted.count]
        parts = []
        if known and len(silent) == len(known):
            parts.append("not mentioned")
        else:
            if len(known) > 1:
                parts.append("agree" if _overlap(list(known.values())) else "differ")
            parts += [f"{title} silent" for title in silent]
        return "; ".join([*parts, *(f"no data: {title}" for title in missing)])


def _overlap(shares: Sequence[StrandShare]) -> bool:
    """Tells whether all intervals have a common share."""
    return max(counted.low or 0.0 for counted in shares) <= min(counted.high or 0.0 for counted in shares)


def build_joint_part(coding: CodingSession, notify: Callable[[str], None]) -> ReportPart | None:
    """Builds the section of the report; None if the study has no joint display."""
    joint = compute_joint_display(coding)
    if joint is None:
        return None
    table = build_joint_table(joint)
    notify(f"table {table.id}: {table.title} ({table.size})")
    counted = ", ".join(f"{len(strand.units):,} {strand.unit}" for strand in joint.strands)
    return ReportPart((Section(joint.title, _WORDS, (plan_figure(joint),), (table,)),), counted)


def compute_joint_display(coding: CodingSession) -> JointDisplay | None:
    """Counts the codes of every strand; None if study.toml has no `[joint_display]`.

    Raises StateError if a round is open, or if the strands were coded under different facets of the codebook.
    """
    settings, state = coding.study.settings.joint_display, coding.state
    if not settings.strands:
        return None
    facets = [_find_facet(state, strand) for strand in settings.strands]
    codes = settings.codes or facets[0].codes
    for facet, strand in zip(facets, settings.strands, strict=True):
        if facet.codes != codes:
            raise StateError(
                f"the joint display compares codes of {codes!r}, but {strand.code!r} was coded with "
                f"{facet.codes or 'options'!r}: name facets of one codebook"
            )
    book = state.history.latest
    if codes not in book.facets:
        raise StateError(f"the codebook has no facet {codes!r}: correct joint_display.codes in {coding.study.file}")
    level = settings.level or book.facets[codes].levels[0]
    rows = {code.id: code.name for code in book.active(codes, level)}
    if not rows:
        raise StateError(f"the codebook has no codes at the level {level!r} of {codes!r}: correct joint_display.level")
    strands = (
        _count_strand(coding, strand, facet, lambda code: book.at_level(code, level))
        for strand, facet in zip(settings.strands, facets, strict=True)
    )
    return JointDisplay(settings.title, rows, tuple(strands))


def _find_facet(state: State, strand: JointStrandSettings) -> Facet:
    name, facet = strand.code.split(".")
    round_state = state.round(name)
    if round_state.status != CLOSED:
        raise StateError(f"the joint display needs the round {name!r}, which is still open: close and settle it first")
    return round_state.plan.facet(facet)


def _count_strand(
    coding: CodingSession, settings: JointStrandSettings, facet: Facet, row_of: Callable[[str], str | None]
) -> StrandCodes:
    name = settings.code.split(".")[0]
    round_state = coding.state.round(name)
    title = settings.title or coding.study.in_strand_of(round_state.plan.items[0]).strand_title
    examples: dict[str, str] = {}
    if find_kind(facet).has_fields:  # passages of transcripts
        with open_interviews(coding) as interviews:
            themes = read_themes(interviews, (name,))
        mentions = [(row_of(quotation.code), quotation.participant) for quotation in themes.quotations]
        if settings.quote:
            quotations = sorted(themes.quotations, key=lambda quotation: _shuffled(quotation.id))
            examples = {
                row: f"“{_shorten(html.escape(quotation.words))}” ({quotation.participant})"
                for quotation in reversed(quotations)
                if (row := row_of(quotation.code)) is not None
            }
        units = frozenset(themes.participants)
        notes = _list_notes(coding.state, name, facet, title)
        return StrandCodes(title, "participants", units, _by_code(mentions), examples, notes)
    decided = _decided_codes(coding, name, facet)
    unit, find_unit = _UNITS.get(round_state.plan.origin, ("posts", str))
    is_private = round_state.plan.origin in _UNITS
    unit_of = {item: find_unit(item) or item for item in decided}
    mentions = [(row_of(code), unit_of[item]) for item, codes in decided.items() for code in codes]
    if settings.quote or not is_private:
        examples = _read_examples(coding, decided, row_of, as_quote=is_private)
    units = frozenset(unit_of.values())
    return StrandCodes(title, unit, units, _by_code(mentions), examples, _list_notes(coding.state, name, facet, title))


def _list_notes(state: State, name: str, facet: Facet, title: str) -> tuple[str, ...]:
    """Returns what a reader must know about the codes of a strand."""
    round_state = state.round(name)
    undecided = find_undecided(state, name).about(facet.id).without(find_excluded_items(state))
    notes = []
    if undecided:
        count = len(undecided.items)
        what = "item is" if count == 1 else "items are"
        notes.append(f"{title}: {count:,} {what} undecided and not counted ({undecided.describe()}).")
    if round_state.simulated:
        notes.append(f"{title}: the raters were simulated.")
    return (*notes, *list_round_notes([round_state]))


def _by_code(mentions: Sequence[tuple[str | None, str]]) -> dict[str, frozenset[str]]:
    units: dict[str, set[str]] = {}
    for code, unit in mentions:
        if code is not None:
            units.setdefault(code, set()).add(unit)
    return {code: frozenset(mentioning) for code, mentioning in units.items()}


def _decided_codes(coding: CodingSession, name: str, facet: Facet) -> dict[str, list[str]]:
    """Returns by item the decided codes under the latest codebook.

    Excluded items, and answers of people who withdrew or whom the lead excluded, are not among them.
    """
    state, round_state = coding.state, coding.state.round(name)
    decisions = find_decisions(state, name, facet.id)
    excluded = find_excluded_items(state) | find_excluded_answers(state, decisions) | frozenset(round_state.gone)
    items = drop_withdrawn(coding.study, decisions.keys() - excluded, round_state.plan.origin)
    latest = state.history.latest.version
    decided: dict[str, list[str]] = {}
    for item in items:
        answer = decisions[item].answer
        codes = [answer] if isinstance(answer, str) else list(answer)
        readings = (state.history.find_code(code, latest, item, {facet.id: answer}) for code in codes)
        decided[item] = [reading.code for reading in readings if reading.code is not None]
    return decided


def _read_examples(
    coding: CodingSession, decided: Mapping[str, Sequence[str]], row_of: Callable[[str], str | None], *, as_quote: bool
) -> dict[str, str]:
    """Returns by code the title of one item, or the beginning of its text; the same for the same decisions."""
    item_by_row: dict[str, str] = {}
    for item in sorted(decided, key=_shuffled):
        for code in decided[item]:
            row = row_of(code)
            if row is not None:
                item_by_row.setdefault(row, item)
    texts = read_item_texts(coding.study, sorted(set(item_by_row.values())))
    with open_known_names(coding) as mask:
        masked = {item: mask_item_text(mask, text) for item, text in texts.items()}
    return {
        row: _quote(item, masked[item].body) if as_quote else _shorten(html.escape(masked[item].title))
        for row, item in item_by_row.items()
        if item in masked
    }


def _quote(item: str, body: str) -> str:
    participant = find_participant(item)
    return f"“{_shorten(body)}”{f' ({participant})' if participant else ''}"


def _shuffled(name: str) -> str:
    """Returns a sort key that prefers no item: the first ones of a source are often alike."""
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()


def _shorten(text: str) -> str:
    """Returns the beginning of a text, without markup and on one line."""
    line = " ".join(html.unescape(re.sub(r"<[^>]*>", " ", text)).split())
    return line if len(line) <= _EXCERPT else f"{line[:_EXCERPT].rsplit(' ', 1)[0]} …"


def build_joint_table(joint: JointDisplay) -> Table:
    """Returns a row for each code: count, share and interval in each strand, how the strands relate, and examples."""
    keys = [slugify(strand.title) or f"strand-{number}" for number, strand in enumerate(joint.strands, start=1)]
    keys = [key if keys.count(key) == 1 else f"{key}-{number}" for number, key in enumerate(keys, start=1)]
    columns = [
        Column(key, f"{strand.title} ({strand.unit})", ("count", "share", "interval"),
               numbers=("count", "share", "low", "high"))
        for key, strand in zip(keys, joint.strands, strict=True)
    ]  # fmt: skip
    columns.append(Column("comparison", "Comparison", numeric=False))
    with_examples = [(key, strand) for key, strand in zip(keys, joint.strands, strict=True) if strand.examples]
    columns += [Column(f"example-{key}", f"Example: {strand.title}", numeric=False) for key, strand in with_examples]
    rows = [
        Row(
            code,
            name,
            (
                *(_share_cell(strand.share_of(code)) for strand in joint.strands),
                Cell((joint.compare(code),)),
                *(Cell((strand.examples.get(code, ""),)) for _, strand in with_examples),
            ),
        )
        for code, name in joint.codes.items()
    ]
    bases = ", ".join(f"{len(strand.units):,} {strand.unit} ({strand.title})" for strand in joint.strands)
    notes = (
        f"Of {bases}; each unit counts once per code. Intervals are Wilson's 95 % intervals.",
        *dict.fromkeys(note for strand in joint.strands for note in strand.notes),
    )
    return Table("joint", joint.title, "Code", tuple(columns), (Group("", tuple(rows)),), notes=notes)


def _share_cell(counted: StrandShare) -> Cell:
    if counted.share is None or counted.low is None or counted.high is None:
        return Cell(("no data", "", ""), (None, None, None, None))
    interval = f"[{percent(counted.low)}, {percent(counted.high)}]"
    values = (counted.count, counted.share, counted.low, counted.high)
    return Cell((whole(counted.count), percent(counted.share), interval), values)


def plan_figure(joint: JointDisplay, *, narrow: bool = False) -> FigurePlan:
    rows = [(name, [strand.share_of(code) for strand in joint.strands]) for code, name in joint.codes.items()]
    titles = [f"{strand.title} ({len(strand.units):,} {strand.unit})" for strand in joint.strands]
    title = f"{joint.title}: shares with 95% intervals"
    return FigurePlan("joint_display", (titles, rows), {"title": title, "narrow": narrow})
