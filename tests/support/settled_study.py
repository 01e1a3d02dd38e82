"""A small study whose raters have finished and differ, for tests of what comes after."""

from __future__ import annotations

from pathlib import Path

from quaestor.coding.codebook import import_codebook
from quaestor.coding.rating_files import rate
from quaestor.coding.round_acts import close_by_name, open_by_name
from quaestor.coding.session import open_coding
from quaestor.evidence.funnel import run_funnel
from quaestor.study.folder import Study, open_study
from tests.support.small_study import ITEMS, small_study

MEMO = "the asker only wants it to run"
DEFINITIONS = """
[[code]]
id = "training"
facet = "issue"
name = "model training"
definition = "Anything done while weights are learned."
use = "The question is about the loop, the loss or the optimiser."
not = "The model is only put together."
"""


def _study(folder: Path, main: str = "", facet: str = "relevance") -> Study:
    """The small study without the pilot's gate, its main round asked as a test wants it."""
    study = small_study(folder)
    text = study.file.read_text("utf-8").replace('after = "pilot"\n', "")
    head, _, tail = text.partition('round = "main"\nitems')
    tail = tail.replace('facets = ["relevance"]', f'facets = ["{facet}"]', 1)
    if main:
        tail = tail.replace('settle = "two-step"', main, 1)
    if facet != "relevance":
        head = head.replace('[[funnel.steps]]\nstep = "kept by raters"\nround = "main"\n', "")
    study.file.write_text(f'{head}round = "main"\nitems{tail}', "utf-8")
    book = (folder / "codebook.toml").read_text("utf-8")
    plain = '[[code]]\nid = "training"\nfacet = "issue"\nname = "model training"\n'
    assert plain in book
    (folder / "codebook.toml").write_text(book.replace(plain, DEFINITIONS), "utf-8")
    study = open_study(folder)
    if facet != "relevance":
        run_funnel(study)
    import_codebook(study)
    return study


def opened(folder: Path, facet: str = "phase") -> Study:
    """The round main is open, and nobody has rated anything."""
    study = _study(folder, facet=facet)
    open_by_name(study, "main", None)
    return study


def differing(folder: Path, settle: str = "two-step", facet: str = "relevance", cases: int = 3) -> Study:
    """The round main is closed: two raters differ on the first items and agree on the rest."""
    study = _study(folder, f'settle = "{settle}"', facet)
    said = ("keep", "exclude: crash") if facet == "relevance" else ("training", "setting")
    open_by_name(study, "main", None)
    with open_coding(study) as coding:
        for number, item in enumerate(ITEMS):
            first, second = said if number < cases else (said[0], said[0])
            rate(coding, "main", "rater-1", item, {facet: first}, memo=MEMO if number == 0 else "")
            unsure = (facet,) if number == 0 else ()
            rate(coding, "main", "rater-2", item, {facet: second}, unsure=unsure)
    close_by_name(study, "main", None)
    return study
