"""Builds the handbook of a study from its own results, or from printed figures alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from quaestor import __version__
from quaestor.base.errors import StateError
from quaestor.coding.codebook import CODEBOOK_FILE
from quaestor.coding.model.codebook.file import read_codebook
from quaestor.coding.model.codebook.history import History
from quaestor.coding.model.records import Code, Codebook
from quaestor.coding.model.state import State
from quaestor.evidence.item_facts import ItemFacts
from quaestor.measures.descriptive import summary
from quaestor.measures.item_columns import NONE, DecidedItems, Flags
from quaestor.measures.trends import trend, yearly_shares
from quaestor.publication.audit.compare import find_numbers
from quaestor.publication.audit.printed import Printed, read_printed
from quaestor.publication.handbook.records import BuiltHandbook, Entry, Handbook, Measures, Post
from quaestor.publication.handbook.site import build_handbook
from quaestor.publication.publication import open_computed, why_no_results
from quaestor.publication.publication_status import GuardedPublication, record_build, stamp_inputs
from quaestor.publication.results.citations import label_codes
from quaestor.publication.results.count_tables import TOTAL
from quaestor.publication.results.item_columns import YEAR, StudyResults
from quaestor.publication.results.joint_display import compute_joint_display
from quaestor.publication.results.values import Computed
from quaestor.study.folder import Study

ReportProgress = Callable[[str, int, int], None]
_OBJECT = 2
MOST_POSTS = 200
"""Maximum number of posts on a page, most viewed first."""
LICENCE = (
    "Titles of posts belong to their authors; each is under the licence shown with it, CC BY-SA on Stack Exchange."
)


def handbook_folder(study: Study) -> Path:
    return study.published / "handbook"


def make_handbook(study: Study, report_progress: ReportProgress) -> tuple[Handbook, BuiltHandbook]:
    """Builds the handbook in published/handbook."""
    guarded = GuardedPublication(study, "handbook")
    with open_computed(study, needs_results=False) as computed:
        inputs = stamp_inputs(study, computed.coding.state if computed.coding else State())
        book = _build_handbook(study, computed)
        if computed.coding is not None:
            book = replace(book, joint=compute_joint_display(computed.coding))
    study.published.mkdir(parents=True, exist_ok=True)
    built = build_handbook(book, handbook_folder(study), report_progress, guarded.placing)
    results = computed.results
    origin = "printed figures" if results is None else f"{len(results.decided):,} decided items"
    record_build(study, "handbook", inputs, guarded.stamps, origin)
    return book, built


def _build_handbook(study: Study, computed: Computed) -> Handbook:
    if computed.results is not None:
        return _from_results(study, computed.results, [*computed.undecided_notes(), *computed.blindness_notes()])
    printed = read_printed(study)
    if printed is None:
        why = why_no_results(computed)
        raise StateError(f"a handbook needs results or printed figures: there are no printed figures, and {why}")
    return _from_printed(study, printed)


def _from_results(study: Study, results: StudyResults, notes: Sequence[str]) -> Handbook:
    tree = study.settings.results.tree
    entries = tuple(_entry(study, results, code) for code in _walk_tree(results.coded.book, tree))
    origin = "synthetic" if results.synthetic else "computed"
    count = len(results.decided)
    if results.synthetic:
        note = f"Computed from {count:,} items of synthetic evidence: the numbers say nothing about real posts."
    elif results.coded.source:
        note = f"Computed from {count:,} published labels ({results.coded.source})."
    else:
        note = f"Computed from {count:,} decided items."
    note = " ".join([note, *notes])
    seed = study.settings.study.seed
    views, days = (summary(results.decided.get_numbers(name), seed).median for name in ("viewcount", "response_days"))
    return _handbook(study, results.coded.book, entries, origin, note, views, days)


def _handbook(
    study: Study, book: Codebook, entries: tuple[Entry, ...], origin: str, note: str,
    views: float | None, days: float | None,
) -> Handbook:  # fmt: skip
    about = study.settings.study
    return Handbook(
        title=about.title or about.name,
        description=about.description,
        study=about.name,
        origin=origin,
        origin_note=note,
        levels=book.facets[study.settings.results.tree].levels,
        entries=entries,
        licence_note=LICENCE,
        generated_by=f"quaestor {__version__}",
        views_middle=views,
        days_middle=days,
        attribute=next(iter(study.settings.attributes), ""),
    )


def _walk_tree(book: Codebook, tree: str) -> Iterable[Code]:
    """Yields every code of a tree, parents before children."""

    def walk(code: Code) -> Iterable[Code]:
        yield code
        for child in book.children(code.id):
            yield from walk(child)

    for root in book.children("", tree):
        yield from walk(root)


def _plain_entry(
    book: Codebook, code: Code, short: str, measures: Measures, posts: tuple[Post, ...] = (), total: int = 0
) -> Entry:
    return Entry(
        id=code.id, level=book.level(code.id), name=code.name, path=book.path(code.id), definition=code.definition,
        use=code.use, not_=code.not_, examples=code.examples, measures=measures, posts=posts, posts_total=total,
        short=short if len(short) < len(code.id) else "",
    )  # fmt: skip


def _entry(study: Study, results: StudyResults, code: Code) -> Entry:
    book, decided = results.coded.book, results.decided
    key = results.keys[code.id]
    chosen = decided.build_mask(((book.level(code.id), (key,)),))
    known = [results.known[decided.items[place]] for place in np.flatnonzero(chosen)]
    known.sort(key=lambda post: (-(post.views or 0), post.item))
    posts = tuple(_post(post) for post in known[:MOST_POSTS])
    return _plain_entry(book, code, key, _measures(study, decided, chosen), posts, len(known))


def _post(item_facts: ItemFacts) -> Post:
    """A post as the handbook lists it."""
    created = item_facts.created.date().isoformat() if item_facts.created else None
    return Post(
        item_facts.item,
        item_facts.title,
        item_facts.link,
        item_facts.author,
        item_facts.licence,
        created,
        item_facts.views,
        item_facts.score,
        item_facts.response_days,
    )


def _measures(study: Study, decided: DecidedItems, chosen: Flags) -> Measures:
    seed = study.settings.study.seed
    count = int(chosen.sum())
    views, score, days, first = (
        summary(decided.get_numbers(name)[chosen], seed)
        for name in ("viewcount", "score", "response_days", "first_answer_days")
    )
    years = decided.get_attribute(YEAR)
    dated = years.codes != NONE
    when = np.array([int(key) for key in years.keys], np.float64)[years.codes[dated]]
    shares = yearly_shares(when, chosen[dated])
    direction = trend(shares).direction if count else ""
    by = next(iter(study.settings.attributes), None)
    by_attribute: tuple[tuple[str, int], ...] = ()
    if by is not None:
        attribute = decided.get_attribute(by)
        codes = attribute.codes[chosen]
        counts = np.bincount(codes[codes != NONE], minlength=len(attribute.keys)).tolist()
        by_attribute = tuple(zip(attribute.titles, counts, strict=True))
    return Measures(
        posts=count,
        share=count / len(decided),
        views=views.median, views_low=views.low, views_high=views.high,
        score=score.median,
        days=days.median, days_low=days.low, days_high=days.high,
        first_answer_days=first.median,
        by_attribute=by_attribute,
        years=tuple((share.year, share.count, share.share) for share in shares),
        trend={"rising": "Its share rises over the years.", "falling": "Its share falls over the years.",
               "no trend": "Its share shows no trend over the years."}.get(direction, ""),
    )  # fmt: skip


def _from_printed(study: Study, printed: Printed) -> Handbook:
    """Takes codes from the study's codebook file and numbers from the printed tables that name them."""
    history = History()
    history.record("codebook.import", read_codebook(study.root / CODEBOOK_FILE))
    book, tree = history.latest, study.settings.results.tree
    cited, figures = label_codes(study, [book]), _Figures.of(printed)
    by = next(iter(study.settings.attributes.values()), None)
    names = by.first_of if by is not None else ()
    total = sum(figures.by_key.get((cited[code.id], TOTAL)) or 0 for code in book.children("", tree))
    entries = [
        _plain_entry(book, code, cited[code.id], figures.measures(book, code, cited[code.id], names, total))
        for code in _walk_tree(book, tree)
    ]
    views = [
        entry.measures.views for entry in entries if len(entry.path) == _OBJECT and entry.measures.views is not None
    ]
    days = [entry.measures.days for entry in entries if len(entry.path) == _OBJECT and entry.measures.days is not None]
    note = "Numbers are those printed in the publication; the posts behind them are not included."
    middles = (float(np.median(values)) if values else None for values in (views, days))
    return _handbook(study, book, tuple(entries), "printed", note, *middles)


@dataclass(frozen=True)
class _Figures:
    """Printed numbers of codes by key and column, and of rows by group and title."""

    by_key: Mapping[tuple[str, str], float | None]
    by_line: Mapping[tuple[str, str], float | None]

    @classmethod
    def of(cls, printed: Printed) -> _Figures:
        by_key: dict[tuple[str, str], float | None] = {}
        by_line: dict[tuple[str, str], float | None] = {}
        for layout in printed.settings.tables:
            for row in printed.tables[layout.table]:
                for column, text in row.cells.items():
                    numbers = find_numbers(text)
                    value = numbers[0][0] if numbers else None
                    if layout.by == "title" and not row.total:
                        by_line.setdefault((row.group.casefold(), row.title.casefold()), value)
                    else:
                        by_key.setdefault((row.name, column), value)
        return cls(by_key, by_line)

    def measures(self, book: Codebook, code: Code, key: str, names: tuple[str, ...], total: float) -> Measures:
        groups = (code.parent, *code.across.values())
        named = [((book.codes[group].name if group else "").casefold(), code.name.casefold()) for group in groups]
        lines = [self.by_line[line] for line in named if line in self.by_line]
        count = self.by_key.get((key, TOTAL), lines[0] if lines else None)
        return Measures(
            posts=None if count is None else int(count),
            share=count / total if count is not None and total else None,
            views=self.by_key.get((key, "viewcount")),
            score=self.by_key.get((key, "score")),
            days=self.by_key.get((key, "response_days")),
            by_attribute=tuple(
                (name, int(self.by_key[key, name] or 0)) for name in names if (key, name) in self.by_key
            ),
        )
