"""Selects the items of a round: from the evidence or an earlier round, by conditions, and by drawing some of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from quaestor.base.errors import StateError
from quaestor.base.names import count_of
from quaestor.coding.coded_items import VisibleDecisions, find_coded_items
from quaestor.coding.model.decisions import list_kept
from quaestor.coding.model.state import CLOSED, State
from quaestor.coding.visibility import Viewer, Visibility
from quaestor.evidence.erasure import drop_withdrawn
from quaestor.evidence.funnel import read_passed, step_number
from quaestor.evidence.item_facts import filter_items
from quaestor.evidence.samples import Sample, draw_sample, draw_simple_sample
from quaestor.people.roles import Role
from quaestor.study.folder import Study
from quaestor.study.settings.coding import ItemConditions, RoundItems, RoundSettings


@dataclass(frozen=True)
class EarlierItems:
    """The items that a round takes from earlier rounds, and those it leaves out."""

    items: tuple[str, ...] = ()
    left_out: frozenset[str] = frozenset()
    origin: str | None = None
    """The origin of the items taken from an earlier round; None if they come from the evidence."""
    coded: frozenset[str] | None = None
    """The items with the code or the disagreement that the round asks for; None if it asks for neither."""
    left_out_of_sample: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By round: the items that its sample is not drawn from."""


@dataclass(frozen=True)
class ChosenItems:
    """The items of a round, and how they were selected, in words."""

    items: tuple[str, ...]
    selection: str


def find_earlier_items(study: Study, state: State, round_settings: RoundSettings) -> EarlierItems:
    """Finds what a round takes from earlier rounds; raises StateError if one of them is not ready."""
    items: tuple[str, ...] = ()
    earlier = round_settings.items.kept_by or round_settings.items.again
    if round_settings.items.kept_by is not None:
        kept = list_kept(state, round_settings.items.kept_by)
        if kept is None:
            raise StateError(
                f"{round_settings.round!r} takes what {round_settings.items.kept_by!r} keeps, which is not settled yet"
            )
        items = tuple(sorted(kept))
    elif round_settings.items.again is not None:
        items = state.round(round_settings.items.again).plan.items
    left_out = frozenset(item for name in round_settings.items.without for item in state.round(name).plan.items)
    sample = study.settings.samples[round_settings.items.sample] if round_settings.items.sample else None
    return EarlierItems(
        items,
        left_out,
        state.round(earlier).plan.origin if earlier else None,
        _find_coded(study, state, round_settings.items.where),
        {name: state.round(name).plan.items for name in sample.without} if sample else {},
    )


@dataclass(frozen=True)
class _CodedQuery:
    """The conditions of a round on decisions and disagreements."""

    round: str = ""
    facet: str = ""
    code: str = ""
    disagreement: str = ""


def _find_coded(study: Study, state: State, where: ItemConditions | None) -> frozenset[str] | None:
    """Returns the items that a search by the lead finds; raises StateError if it would leave out a closed round."""
    if where is None or not (where.code or where.disagreement or where.round):
        return None
    facet, colon, code = (where.code or "").partition(":")
    query = _CodedQuery(
        where.round or "",
        facet.strip() if colon else "",
        code.strip() if colon else facet,
        where.disagreement or "",
    )
    lead = study.settings.study.lead
    visibility = Visibility(state, lead, Viewer(lead, Role.LEAD))
    for name, round_state in state.rounds.items():
        why = visibility.why_no_disagreements(name) if query.disagreement else visibility.why_no_decisions(name)
        if round_state.status == CLOSED and why and not query.round:
            raise StateError(f"where needs the results of every closed round, or the name of one in where.round: {why}")
    return frozenset(find_coded_items(VisibleDecisions(visibility), query) or ())


def find_strand(study: Study, round_settings: RoundSettings) -> Study:
    """Returns the study as seen from the strand that a round takes its items from, if not from an earlier round."""
    items = round_settings.items
    sample = study.settings.samples[items.sample] if items.sample is not None else None
    step, strand = (sample.after, sample.strand) if sample else (items.after, items.strand)
    if strand is not None:
        return study.in_strand(strand)
    return study.in_strand_with_step(step) if step is not None else study


def choose_items(study: Study, round_settings: RoundSettings, known: EarlierItems) -> ChosenItems:
    """Returns the items of a round, from an earlier round or the evidence, without those of withdrawn people."""
    settings = round_settings.items
    available: Iterable[str]
    if known.origin is not None:
        available, source = drop_withdrawn(study, known.items, known.origin), _describe_source(settings)
    elif settings.sample is not None:
        sample = draw_sample(study, settings.sample, earlier=known.left_out_of_sample)
        available, source = (item for items in sample.strata.values() for item in items), _describe_sample(sample)
    else:
        strand, source = find_strand(study, round_settings), _describe_source(settings)
        passed = step_number(strand, settings.after) if settings.after else len(strand.funnel.steps) - 1
        available = drop_withdrawn(strand, read_passed(strand, passed))
    left = sorted(item for item in available if item not in known.left_out)
    source += f", not in {', '.join(settings.without)}" if settings.without else ""
    if settings.where is not None:
        left = [item for item in left if known.coded is None or item in known.coded]
        left = filter_items(study, left, settings.where)
        source += f", with {settings.where.describe()}"
    if settings.size is None:
        return ChosenItems(tuple(left), f"{count_of(len(left), 'item')} {source}")
    seed = round_settings.seed if round_settings.seed is not None else study.settings.study.seed
    drawn = tuple(draw_simple_sample(left, settings.size, seed))
    return ChosenItems(drawn, f"{len(drawn):,} of {count_of(len(left), 'item')} {source}, drawn with seed {seed}")


def _describe_source(items: RoundItems) -> str:
    if items.kept_by or items.again:
        return f"that {items.kept_by} kept" if items.kept_by else f"of {items.again}"
    return f"after {items.after!r}" if items.after else f"of the strand {items.strand}"


def _describe_sample(sample: Sample) -> str:
    without = f" not in {', '.join(sample.without)}" if sample.without else ""
    return (
        f"of the sample {sample.name} ({sample.size:,} of {count_of(sample.population, 'item')}{without}, "
        f"drawn with seed {sample.seed})"
    )
