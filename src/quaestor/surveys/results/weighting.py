"""The weights of responses: the targets of study.toml, applied to the counted responses of a survey."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quaestor.base.errors import InputError, SettingsError
from quaestor.base.names import count_of, suggest
from quaestor.measures.arrays import Floats
from quaestor.measures.weighting import Margin, SampleSize, build_margin, fit_weights, measure_sample_size
from quaestor.render.number_format import decimal, percent, whole
from quaestor.render.table_model import Cell, Column, Group, Row, Table
from quaestor.study.settings.weights import MarginSettings
from quaestor.surveys.lifecycle import Surveys
from quaestor.surveys.model.answer_columns import Flags, find_index
from quaestor.surveys.model.question_results import Groups, size_json
from quaestor.surveys.results.counting import CountedAnswers, group_responses

INTERVALS = (
    "Weighted shares have Wilson's interval for the effective sample size (Kish), and weighted means a linearised one; "
    "medians, figures and tests are unweighted."
)
SMALL_CELL = 5
"""A cell with fewer responses carries a caution: their weights depend on chance."""
_JOIN = "|"
_MAX_NAMED = 5


@dataclass(frozen=True)
class TargetCell:
    """One cell of a margin: its responses, their share, the target, and the weighted share."""

    options: tuple[str, ...]
    label: str
    count: int
    share: float
    target: float
    weighted: float


@dataclass(frozen=True)
class WeightedMargin:
    """A margin and how its shares change with the weights."""

    by: tuple[str, ...]
    label: str
    source: str
    without_answer: int
    """Number of counted responses without an answer; their weight does not depend on this margin."""
    cells: tuple[TargetCell, ...]


@dataclass(frozen=True)
class SurveyWeights:
    """The weights of the counted responses of a survey."""

    method: str
    values: Floats = field(repr=False)
    """By response; NaN for responses that are not counted."""
    size: SampleSize
    margins: tuple[WeightedMargin, ...]
    rounds: int
    trimmed: int
    largest_difference: float
    bounds: tuple[float | None, float | None]


def compute_weights(surveys: Surveys, counted: CountedAnswers) -> SurveyWeights | None:
    """Returns the weights of all counted responses; None if study.toml has no weights for the survey, or nobody counts.

    Raises SettingsError if the targets do not fit the questions and the responses.
    """
    declared = surveys.study.settings.weights
    for name in declared:
        if name not in surveys.names():
            known = suggest(name, surveys.names())
            raise SettingsError(f"study.toml: weights.{name} names no survey of this study; choose from: {known}")
    settings = declared.get(counted.survey)
    if settings is None or not counted.base:
        return None
    try:
        parts = [_read_margin(counted, margin) for margin in settings.margins]
        margins = [margin for margin, _ in parts]
        fitted = fit_weights(margins, settings.min_weight, settings.max_weight)
    except InputError as error:
        raise SettingsError(f"study.toml: weights.{counted.survey}: {error}") from None
    values = np.full(len(counted.columns), np.nan)
    values[counted.used] = fitted.weights
    described = zip(settings.margins, parts, strict=True)
    return SurveyWeights(
        settings.method,
        values,
        measure_sample_size(fitted.weights),
        tuple(_describe(counted, margin, *part, fitted.weights) for margin, part in described),
        fitted.rounds,
        fitted.trimmed,
        fitted.largest_difference,
        (settings.min_weight, settings.max_weight),
    )


def _read_margin(counted: CountedAnswers, settings: MarginSettings) -> tuple[Margin, list[tuple[tuple[str, ...], str]]]:
    """Returns a margin of the counted responses, with options and label of each cell."""
    grouped = [_group(counted, by) for by in settings.by]
    unknown = {name for groups in grouped for name in groups.keys} & {*settings.unknown}
    for name in settings.unknown:
        if name not in unknown:
            find_index(name, [key for groups in grouped for key in groups.keys], "option in unknown")
    codes = [np.where(_is_any(groups, settings.unknown), -1, groups.codes())[counted.used] for groups in grouped]
    has_all = np.all([code >= 0 for code in codes], axis=0)
    members, named = [], []
    for cell in settings.cells():
        places = [_find_options(option, groups) for option, groups in zip(cell, grouped, strict=True)]
        here = [np.isin(code, place) for code, place in zip(codes, places, strict=True)]
        members.append(np.all(here, axis=0) & has_all)
        labels = [" or ".join(groups.labels[at] for at in place) for groups, place in zip(grouped, places, strict=True)]
        named.append((cell, " × ".join(labels)))
    chosen = np.stack(members, axis=1)
    _check_cells(settings, grouped, codes, chosen, has_all)
    cells = np.where(chosen.any(axis=1), chosen.argmax(axis=1), -1)
    return build_margin(cells, list(settings.cells().values())), named


def _group(counted: CountedAnswers, by: str) -> Groups:
    groups = group_responses(counted, by)
    if groups.overlapping:
        raise InputError(f"{by!r} takes several answers, so it has no shares that sum to 1: choose another question")
    return groups


def _is_any(groups: Groups, names: Sequence[str]) -> Flags:
    places = [place for place, key in enumerate(groups.keys) if key in names]
    return np.asarray(groups.members[:, places].any(axis=1))


def _find_options(option: str, groups: Groups) -> list[int]:
    """Returns the places of an option, or of several that `|` joins."""
    names = [option] if option in groups.keys else [name.strip() for name in option.split(_JOIN)]
    return [find_index(name, groups.keys, f"answer to {groups.name!r}") for name in names]


def _check_cells(
    settings: MarginSettings,
    grouped: Sequence[Groups],
    codes: Sequence[NDArray[np.integer[Any]]],
    chosen: Flags,
    has_all: Flags,
) -> None:
    """Raises InputError for answers in no cell or in two, and for cells without responses, with the remedy."""
    lacking = has_all & ~chosen.any(axis=1)
    if lacking.any():
        rows = np.stack([code[lacking] for code in codes], axis=1)
        combinations, counts = np.unique(rows, axis=0, return_counts=True)
        names = [
            f"{_name_cell(settings, [groups.keys[at] for groups, at in zip(grouped, row, strict=True)])} "
            f"({count_of(int(count), 'response')})"
            for row, count in zip(combinations, counts, strict=True)
        ]
        raise InputError(
            f"{_list_some(names)} {'has' if len(names) == 1 else 'have'} no target: add it, merge it with another "
            f'option, written as "A {_JOIN} B", or list it in unknown'
        )
    cells = list(settings.cells().items())
    twice = np.flatnonzero(chosen.sum(axis=1) > 1)
    if len(twice):
        both = [_name_cell(settings, cells[place][0]) for place in np.flatnonzero(chosen[twice[0]])]
        raise InputError(f"{' and '.join(both)} overlap: name each option once")
    empty = np.flatnonzero(~chosen.any(axis=0)).tolist()
    if empty:
        names = [_name_cell(settings, cells[place][0]) for place in empty]
        (cell, target) = cells[empty[0]]
        same = [other for other in cells if other[0][:-1] == cell[:-1] and other[0] != cell] or [
            other for other in cells if other[0] != cell
        ]
        example = f'"{cell[-1]} {_JOIN} {same[0][0][-1]}" = {target + same[0][1]:.6g}'
        raise InputError(
            f"no response has {_list_some(names)}, so no weight reaches the target: merge it with a similar option, "
            f"for example {example}"
        )


def _name_cell(settings: MarginSettings, options: Sequence[str]) -> str:
    return " and ".join(f"{by} = {option}" for by, option in zip(settings.by, options, strict=True))


def _list_some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MAX_NAMED} more" if len(names) > _MAX_NAMED else ""
    return ", ".join(names[:_MAX_NAMED]) + more


def _describe(
    counted: CountedAnswers,
    settings: MarginSettings,
    margin: Margin,
    named: Sequence[tuple[tuple[str, ...], str]],
    weights: Floats,
) -> WeightedMargin:
    counts, weighted = margin.count(), margin.shares(weights)
    answered = int(counts.sum())
    cells = tuple(
        TargetCell(options, label, count, count / answered, target, share)
        for (options, label), count, target, share in zip(
            named, counts.tolist(), margin.targets.tolist(), weighted.tolist(), strict=True
        )
    )
    labels = [group_responses(counted, by).label for by in settings.by]
    return WeightedMargin(settings.by, " × ".join(labels), settings.source, counted.base - answered, cells)


def weights_in_words(weights: SurveyWeights) -> list[str]:
    """Describes the weights: method, effective sample size, range, trimming, responses without an answer, cautions."""
    size = weights.size
    method = "raking" if weights.method == "raking" else "post-stratification"
    sentences = [f"Weighted by {method}: {size_in_words(size)}."]
    least, most = weights.bounds
    if least is not None or most is not None:
        limits = [f"at least {least:g}" if least is not None else "", f"at most {most:g}" if most is not None else ""]
        trimmed = "no weight was trimmed"
        if weights.trimmed:
            differing = f"weighted shares then differ by up to {100 * weights.largest_difference:.1f} percentage points"
            trimmed = f"{count_of(weights.trimmed, 'weight')} trimmed; {differing} from their targets"
        sentences.append(f"Weights are {' and '.join(filter(None, limits))}: {trimmed}.")
    for margin in weights.margins:
        names = " and ".join(margin.by)
        if margin.without_answer:
            without = count_of(margin.without_answer, "response")
            sentences.append(f"{without} without an answer to {names}: together they keep their unweighted share.")
        if margin.source:
            sentences.append(f"Targets of {names}: {margin.source.rstrip('.')}.")
    cells = [cell for margin in weights.margins for cell in margin.cells]
    few = [f"{cell.label} ({cell.count})" for cell in cells if cell.count < SMALL_CELL]
    if few:
        caution = f"fewer than {SMALL_CELL} responses carry the weight of {_list_some(few)}"
        sentences.append(f"Interpret with caution: {caution}.")
    return [*sentences, INTERVALS]


def size_in_words(size: SampleSize) -> str:
    """Returns the effective sample size, the design effect and the range of the weights."""
    if not size.n:
        return "no responses"
    return (
        f"effective sample size {size.effective:.1f} of {size.n:,}, design effect {decimal(size.design_effect)}, "
        f"weights from {decimal(size.least)} to {decimal(size.most)}"
    )


def weights_table(weights: SurveyWeights) -> Table:
    """Returns the margins: responses and share of each cell, its target, and its weighted share."""
    columns = (
        Column("n", "n"), Column("share", "share"), Column("weighted", "weighted share"), Column("target", "target")
    )  # fmt: skip
    groups = []
    for margin in weights.margins:
        rows = []
        for cell in margin.cells:
            shares = (cell.share, cell.weighted, cell.target)
            count = Cell((whole(cell.count),), (cell.count,))
            cells = (count, *(Cell((percent(share),), (share,)) for share in shares))
            rows.append(Row(".".join((*margin.by, *cell.options)), cell.label, cells))
        groups.append(Group(margin.label, tuple(rows)))
    return Table("weights", "Weights", "", columns, tuple(groups), notes=tuple(weights_in_words(weights)))


def weights_json(weights: SurveyWeights | None) -> Mapping[str, Any] | None:
    """Returns the weights as JSON, unrounded, without those of single responses."""
    if weights is None:
        return None
    return {
        "method": weights.method,
        **(size_json(weights.size) or {}),
        "rounds": weights.rounds,
        "min_weight": weights.bounds[0],
        "max_weight": weights.bounds[1],
        "trimmed": weights.trimmed,
        "largest_difference": weights.largest_difference,
        "margins": [
            {
                "by": list(margin.by),
                "label": margin.label,
                "source": margin.source,
                "without_answer": margin.without_answer,
                "cells": [
                    {
                        "cell": list(cell.options), "label": cell.label, "count": cell.count, "share": cell.share,
                        "weighted": cell.weighted, "target": cell.target,
                    }
                    for cell in margin.cells
                ],
            }
            for margin in weights.margins
        ],
    }  # fmt: skip
