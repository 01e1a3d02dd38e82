"""Agreement on passages: Krippendorff's α for unitizing, over the characters of texts.

Every rater divides a text into sections: passages with codes, and gaps. Sections of two raters intersect, and each
intersection counts with its length (Krippendorff, Mathet, Bouvry and Widlöcher 2016). Passages of one rater may
overlap: a section then has a set of codes, and sets differ by the MASI distance; without overlaps, this is the nominal
distance of the paper.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from quaestor.measures.agreement.chance_corrected import REPLICATES, build_membership, draw_samples, masi_distance
from quaestor.measures.agreement.estimates import bootstrap_estimate, undefined_estimate
from quaestor.measures.agreement.table import Floats, sort_labels
from quaestor.measures.records import Estimate

Value = frozenset[str]
"""The codes of a section; empty for a gap."""
Section = tuple[int, int, Value]


@dataclass(frozen=True)
class CodedText:
    """A text with the passages that each of its raters coded, as (start, end, code)."""

    length: int
    passages: Mapping[str, Sequence[tuple[int, int, str]]]
    """By rater; a rater who read the text and coded nothing has no passages."""


def list_passage_codes(texts: Sequence[CodedText]) -> tuple[str, ...]:
    """Returns the codes of all passages."""
    return sort_labels({code for text in texts for passages in text.passages.values() for _, _, code in passages})


def keep_codes(texts: Sequence[CodedText], codes: Collection[str]) -> list[CodedText]:
    """Returns the texts with only the passages of some codes."""
    return [
        CodedText(
            text.length,
            {
                rater: [passage for passage in passages if passage[2] in codes]
                for rater, passages in text.passages.items()
            },
        )
        for text in texts
    ]


def u_alpha(texts: Sequence[CodedText], *, seed: int, replicates: int = REPLICATES) -> Estimate:
    """Returns uα: agreement on where passages are and which codes they have."""
    return _compute_alpha(_count_sections(texts), seed, replicates)


def u_alpha_binary(texts: Sequence[CodedText], *, seed: int, replicates: int = REPLICATES) -> Estimate:
    """Returns the binary uα: agreement on which characters have any code."""
    return _compute_alpha(_count_sections(texts, binary=True), seed, replicates)


def cu_alpha(texts: Sequence[CodedText], *, seed: int, replicates: int = REPLICATES) -> Estimate:
    """Returns cuα: agreement on the codes of characters that two raters coded; it ignores where passages end."""
    return _compute_alpha(_count_intersections(texts), seed, replicates)


@dataclass(frozen=True, eq=False)
class _Coincidences:
    """What the coefficients need, one row for each text, so that texts can be resampled."""

    lengths: Floats
    """Texts × values: the characters with each value, over all raters."""
    disagreement: Floats
    """The disagreement of pairs of raters."""
    own_pairs: Floats
    """Pairs within one section, which by chance are never compared: the square of its length, for a gap its length."""
    distance: Floats
    """Values × values."""


def _count_sections(texts: Sequence[CodedText], *, binary: bool = False) -> _Coincidences:
    """Counts passages and gaps of texts with at least two raters."""
    divided = [_divide_by_rater(text) for text in texts if len(text.passages) > 1]
    values = _list_values(divided)
    distance = _build_distance(values)
    if binary:
        gaps = np.array([not value for value in values])
        distance = (gaps[:, None] != gaps).astype(np.float64)
    places = {value: place for place, value in enumerate(values)}
    lengths, disagreement, own_pairs = _prepare_counts(len(divided), len(values))
    for row, sections in enumerate(divided):
        for start, end, value in (section for rater in sections for section in rater):
            lengths[row, places[value]] += end - start
            own_pairs[row] += (end - start) ** 2 if value else end - start
        for length, at_once in _intersect(sections):
            chosen = [places[value] for value in at_once]
            disagreement[row] += length * distance[np.ix_(chosen, chosen)].sum() / (len(chosen) - 1)
    return _Coincidences(lengths, disagreement, own_pairs, distance)


def _count_intersections(texts: Sequence[CodedText]) -> _Coincidences:
    """Counts the characters that two raters coded; a character counts by its share of such pairs."""
    divided = [_divide_by_rater(text) for text in texts if len(text.passages) > 1]
    values = [value for value in _list_values(divided) if value]
    distance = _build_distance(values)
    places = {value: place for place, value in enumerate(values)}
    lengths, disagreement, own_pairs = _prepare_counts(len(divided), len(values))
    for row, sections in enumerate(divided):
        paired: dict[tuple[int, int], float] = {}
        at = 0
        for length, at_once in _intersect(sections):
            chosen = [(rater, places[value]) for rater, value in enumerate(at_once) if value]
            share = length * (len(chosen) - 1) / (len(sections) - 1)
            for rater, place in chosen if len(chosen) > 1 else ():
                lengths[row, place] += share
                section = next(number for number, (_, end, _) in enumerate(sections[rater]) if at < end)
                paired[rater, section] = paired.get((rater, section), 0.0) + share
            codes = [place for _, place in chosen]
            disagreement[row] += length * distance[np.ix_(codes, codes)].sum() / (len(sections) - 1)
            at += length
        own_pairs[row] = sum(length**2 for length in paired.values())
    return _Coincidences(lengths, disagreement, own_pairs, distance)


def _prepare_counts(texts: int, values: int) -> tuple[Floats, Floats, Floats]:
    return np.zeros((texts, values)), np.zeros(texts), np.zeros(texts)


def _list_values(divided: Sequence[Sequence[Sequence[Section]]]) -> list[Value]:
    used = {value for sections in divided for rater in sections for _, _, value in rater}
    return sorted(used, key=lambda codes: (len(codes), sort_labels(codes)))


def _build_distance(values: Sequence[Value]) -> Floats:
    return masi_distance(build_membership(values, sort_labels({code for value in values for code in value})))


def _divide_by_rater(text: CodedText) -> list[list[Section]]:
    return [_divide(text.length, passages) for passages in text.passages.values()]


def _divide(length: int, passages: Sequence[tuple[int, int, str]]) -> list[Section]:
    """Divides a text at the ends of one rater's passages; overlapping passages with the same code count as one."""
    merged: list[tuple[int, int, str]] = []
    for start, last, code in sorted(passages, key=lambda passage: (passage[2], passage[:2])):
        end = min(last, length)
        if merged and merged[-1][2] == code and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end), code)
        elif start < end:
            merged.append((start, end, code))
    cuts = sorted({0, length, *(place for start, end, _ in merged for place in (start, end))})
    return [
        (start, end, frozenset(code for low, high, code in merged if low <= start and end <= high))
        for start, end in pairwise(cuts)
    ]


def _intersect(sections: Sequence[Sequence[Section]]) -> list[tuple[int, list[Value]]]:
    """Returns the intersections of all raters' sections: the length of each, and every rater's value."""
    cuts = sorted({place for rater in sections for start, end, _ in rater for place in (start, end)})
    places = [0] * len(sections)
    intersections = []
    for start, end in pairwise(cuts):
        for number, rater in enumerate(sections):
            while rater[places[number]][1] <= start:
                places[number] += 1
        values = [rater[place][2] for rater, place in zip(sections, places, strict=True)]
        intersections.append((end - start, values))
    return intersections


def _compute_alpha(counts: _Coincidences, seed: int, replicates: int) -> Estimate:
    """Returns 1 − observed ÷ expected disagreement, with a bootstrap interval over the texts."""
    texts = len(counts.disagreement)
    if not texts:
        return undefined_estimate("no text was coded by two raters")
    value = float(_compute_alphas(counts, np.ones((texts, 1)))[0])
    if not np.isfinite(value):
        return undefined_estimate("every character has the same codes, so agreement by chance is certain")
    samples = draw_samples(np.ones(texts, dtype=np.int64), replicates, np.random.default_rng(seed))
    replicated = [_compute_alphas(counts, sample.astype(np.float64)) for sample in samples] if texts > 1 else []
    return bootstrap_estimate(value, np.concatenate(replicated) if replicated else np.empty(0))


def _compute_alphas(counts: _Coincidences, samples: Floats) -> Floats:
    """Returns α of each sample (texts × samples); infinite if nothing can differ."""
    lengths = counts.lengths.T @ samples
    total = lengths.sum(axis=0)
    expected = np.einsum("vs,vs->s", lengths, counts.distance @ lengths)
    alphas = np.full(samples.shape[1], np.inf)
    varied = expected > 1e-12 * total**2
    pairable = total[varied] - (counts.own_pairs @ samples)[varied] / total[varied]
    alphas[varied] = 1 - (counts.disagreement @ samples)[varied] * pairable / expected[varied]
    return alphas
