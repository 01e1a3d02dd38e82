"""Tables of correlations, comparisons, associations and trends."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from quaestor.base.errors import InputError
from quaestor.measures.association import association, pearson, spearman
from quaestor.measures.descriptive import count_groups, count_pairs
from quaestor.measures.group_comparison import cliffs_delta, kruskal_wallis
from quaestor.measures.item_columns import ANY_VALUE, NONE, Attribute
from quaestor.measures.records import Correlation
from quaestor.measures.trends import trend, yearly_shares
from quaestor.publication.results.count_tables import TOTAL, TablePart, base_note, select_part, stub_title
from quaestor.publication.results.item_columns import YEAR, StudyResults
from quaestor.publication.results.median_tables import ALL, measure_title
from quaestor.render.number_format import ABSENT, decimal, interval, percent, probability, whole
from quaestor.render.table_model import Cell, Column, Group, Row, Selection, Table
from quaestor.study.settings.publication import PublishedTableSettings

SIGNIFICANT = 0.05
_STAR = {"*": "Significant at p < 0.05."}


def correlations_table(results: StudyResults, settings: PublishedTableSettings, kind: str) -> Table:
    """Correlates the counts of two columns over the rows of a level, group by group."""
    part = select_part(results, settings)
    groups = part.decided.get_attribute(settings.rows[0])
    over = part.decided.get_attribute(settings.over or "")
    by = part.decided.get_attribute(settings.columns or "")
    counts = count_pairs(over.codes, len(over.keys), by.codes, len(by.keys))
    columns = (
        Column("n", "n"),
        *(
            Column(f"{first}_vs_{second}_{part_}", title, spanner=f"{first} vs. {second}")
            for first, second in settings.against
            for part_, title in (("r", "r"), ("p", "p"), ("rho", "ρ"), ("rho_p", "p of ρ"))
        ),
    )
    rows = []
    if not set(over.parents) & set(groups.keys):
        raise InputError(f"{over.name} is not below {groups.name} in the codebook: correlate over a level that is")
    everything = count_groups(over.codes, len(over.keys))
    for key in [*groups.keys, ALL]:
        places = [n for n, above in enumerate(over.parents) if key in (ALL, above)]
        cells: list[Cell] = [Cell((whole(len(places)),), (len(places),))]
        for pair in settings.against:
            x, y = ((everything if name == TOTAL else counts[:, by.find_position(name)])[places] for name in pair)
            named = [name for name in pair if name != TOTAL]
            selection = part.selection if key == ALL else part.selection.narrow(groups.name, key)
            if len(named) == len(pair):
                selection = selection.narrow(by.name, *named)
            cells += _build_correlation_cells(pearson(x, y), spearman(x, y), selection)
        title = key if key == ALL else groups.get_title(key)
        rows.append(Row(key, title, tuple(cells), total=key == ALL))
    printed = "Pearson's r" if kind == "pearson" else "Spearman's ρ"
    notes = (
        base_note(part, results),
        f"Correlation of counts over n {over.name} codes; both Pearson's r and Spearman's ρ; the study "
        f"prints {printed}.",
        f"{ABSENT}: one of the two columns is constant or has fewer than three rows.",
        settings.note,
    )
    return Table(
        settings.table, settings.title, stub_title(settings), columns, (Group("", tuple(rows)),), _STAR,
        tuple(note for note in notes if note),
    )  # fmt: skip


def _build_correlation_cells(first: Correlation, second: Correlation, selection: Selection) -> list[Cell]:
    cells = []
    for name in (first, second):
        star = ("*",) if name.p is not None and name.p < SIGNIFICANT else ()
        cells.append(Cell((decimal(name.value),), (name.value,), selection, star))
        cells.append(Cell((probability(name.p),), (name.p,), selection))
    return cells


def measures_table(results: StudyResults, settings: PublishedTableSettings) -> Table:
    """Correlates measures of the same items, always with both coefficients."""
    part = select_part(results, settings)
    columns = (
        Column("n", "n"),
        Column("pearson_r", "r", spanner="Pearson"), Column("pearson_ci", "95% CI", spanner="Pearson"),
        Column("pearson_p", "p", spanner="Pearson"),
        Column("spearman_rho", "ρ", spanner="Spearman"), Column("spearman_ci", "95% CI", spanner="Spearman"),
        Column("spearman_p", "p", spanner="Spearman"),
    )  # fmt: skip
    rows, reasons = [], []
    for first, second in combinations(settings.measures, 2):
        x, y = part.decided.get_numbers(first), part.decided.get_numbers(second)
        correlations = (pearson(x, y), spearman(x, y))
        selection = part.selection.narrow(first, ANY_VALUE).narrow(second, ANY_VALUE)
        cells = [Cell((whole(correlations[0].n),), (correlations[0].n,), selection)]
        for correlation in correlations:
            star = ("*",) if correlation.p is not None and correlation.p < SIGNIFICANT else ()
            cells.append(Cell((decimal(correlation.value),), (correlation.value,), selection, star))
            cells.append(Cell((interval(correlation.low, correlation.high),), (), selection))
            cells.append(Cell((probability(correlation.p),), (correlation.p,), selection))
        if correlations[0].undefined and correlations[0].value is None:
            reasons.append(f"{measure_title(first)} and {measure_title(second).lower()}: {correlations[0].undefined}.")
        rows.append(Row(f"{first}-{second}", f"{measure_title(first)} – {measure_title(second).lower()}", tuple(cells)))
    note = "In heavy-tailed data a few large values dominate Pearson's r; Spearman's ρ uses ranks."
    notes = (base_note(part, results), note, *reasons, settings.note)
    return Table(
        settings.table, settings.title, settings.stub or "measures", columns, (Group("", tuple(rows)),), _STAR,
        tuple(note for note in notes if note),
    )  # fmt: skip


def comparison_table(results: StudyResults, settings: PublishedTableSettings) -> Table:
    """Tests whether groups differ in a measure, which pairs do, and by how much."""
    part = select_part(results, settings)
    attribute = part.decided.get_attribute(settings.rows[0])
    columns = (Column("z", "z"), Column("p", "p"), Column("holm", "p (Holm)"), Column("delta", "Cliff's δ"),
               Column("delta_ci", "95% CI"), Column("band", "Effect", numeric=False))  # fmt: skip
    groups, notes = [], [base_note(part, results)]
    for measure in settings.measures:
        values = part.decided.get_numbers(measure)
        test = kruskal_wallis(values, attribute.codes, len(attribute.keys))
        sentence = test.undefined or (
            f"H = {decimal(test.statistic)}, df = {test.df}, p {_equals(test.p)}, n = {test.n}"
        )
        notes.append(f"{measure_title(measure)}, Kruskal–Wallis: {sentence}.")
        rows = []
        for pair in test.pairs:
            first, second = attribute.keys[pair.first], attribute.keys[pair.second]
            delta = cliffs_delta(values[attribute.codes == pair.first], values[attribute.codes == pair.second])
            selection = part.selection.narrow(attribute.name, first, second)
            star = ("*",) if pair.adjusted < SIGNIFICANT else ()
            cells = (
                Cell((decimal(pair.z),), (pair.z,), selection),
                Cell((probability(pair.p),), (pair.p,), selection),
                Cell((probability(pair.adjusted),), (pair.adjusted,), selection, star),
                Cell((decimal(delta.value),), (delta.value,), selection),
                Cell((interval(delta.low, delta.high),), (), selection),
                Cell((delta.band or ABSENT,), (), selection),
            )
            title = f"{attribute.titles[pair.first]} – {attribute.titles[pair.second]}"
            rows.append(Row(f"{measure}:{first}-{second}", title, cells))
        groups.append(Group(measure_title(measure), tuple(rows)))
    notes.append("Pairs by Dunn's test, adjusted by Holm's method; δ > 0: the first of a pair tends to be larger.")
    footnotes = {"*": "Significant at p < 0.05 after Holm's correction."}
    return Table(settings.table, settings.title, stub_title(settings), columns, tuple(groups), footnotes,
                 (*notes, *([settings.note] if settings.note else [])))  # fmt: skip


def _equals(p: float | None) -> str:
    text = probability(p)
    return text.replace("<", "< ") if text.startswith("<") else f"= {text}"


def association_table(results: StudyResults, settings: PublishedTableSettings, seed: int) -> Table:
    """Tests whether two attributes depend on each other, and how strongly."""
    part = select_part(results, settings)
    across = part.decided.get_attribute(settings.columns or "")
    columns = (Column("n", "n"), Column("test", "Test", numeric=False), Column("statistic", "χ²"), Column("df", "df"),
               Column("p", "p"), Column("cramers_v", "Cramér's V"))  # fmt: skip
    rows, notes = [], [base_note(part, results)]
    for name in settings.rows:
        attribute = part.decided.get_attribute(name)
        counts = count_pairs(attribute.codes, len(attribute.keys), across.codes, len(across.keys))
        result = association(counts, seed)
        selection = part.selection.narrow(attribute.name, ANY_VALUE).narrow(across.name, ANY_VALUE)
        star = ("*",) if result.p is not None and result.p < SIGNIFICANT else ()
        cells = (
            Cell((whole(result.n),), (result.n,), selection),
            Cell((result.test or ABSENT,), (), selection),
            Cell((decimal(result.statistic),), (result.statistic,), selection),
            Cell((ABSENT if result.df is None else whole(result.df),), (result.df,), selection),
            Cell((probability(result.p),), (result.p,), selection, star),
            Cell((decimal(result.cramers_v),), (result.cramers_v,), selection),
        )
        if result.undefined:
            notes.append(f"{name}: {result.undefined}.")
        rows.append(Row(name, f"{name} × {across.name}", cells))
    return Table(settings.table, settings.title, settings.stub or "attributes", columns,
                 (Group("", tuple(rows)),), _STAR, (*notes, *([settings.note] if settings.note else [])))  # fmt: skip


def trends_table(results: StudyResults, settings: PublishedTableSettings) -> Table:
    """Returns the share of each row by year and its trend."""
    part = select_part(results, settings)
    attribute, years = part.decided.get_attribute(settings.rows[0]), part.decided.get_attribute(YEAR)
    columns = (
        *(Column(year, year, ("", "95% CI"), spanner="Share of the year's items") for year in years.keys),
        Column("tau", "τ", spanner="Mann–Kendall"), Column("p", "p", spanner="Mann–Kendall"),
        Column("direction", "Trend", spanner="Mann–Kendall", numeric=False),
    )  # fmt: skip
    rows = [_trend(part, attribute, years, place) for place in range(len(attribute.keys))]
    notes = (base_note(part, results), "Shares with Wilson's 95% interval.", settings.note)
    return Table(settings.table, settings.title, stub_title(settings), columns, (Group("", tuple(rows)),), _STAR,
                 tuple(note for note in notes if note))  # fmt: skip


def _trend(part: TablePart, attribute: Attribute, years: Attribute, place: int) -> Row:
    dated = years.codes != NONE
    when = np.array([int(key) for key in years.keys], np.float64)[years.codes[dated]]
    shares = yearly_shares(when, (attribute.codes == place)[dated], [int(key) for key in years.keys])
    trend_test = trend(shares)
    selection = part.selection.narrow(attribute.name, attribute.keys[place])
    by_year = {str(share.year): share for share in shares}
    cells = [
        Cell((percent(count.share), interval(count.low and 100 * count.low, count.high and 100 * count.high, 1)),
             (count.share,), selection.narrow(YEAR, year))
        for year in years.keys
        for count in [by_year[year]]
    ]  # fmt: skip
    star = ("*",) if trend_test.p is not None and trend_test.p < SIGNIFICANT else ()
    cells += [
        Cell((decimal(trend_test.tau),), (trend_test.tau,), selection),
        Cell((probability(trend_test.p),), (trend_test.p,), selection, star),
        Cell((trend_test.direction or ABSENT,), (), selection),
    ]
    return Row(attribute.keys[place], attribute.titles[place], tuple(cells))
