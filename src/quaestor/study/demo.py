"""The whole product on synthetic evidence, each part through the door a person uses."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from quaestor.base.errors import InputError
from quaestor.corpus.records import FunnelResult
from quaestor.publish.curves import save_curves
from quaestor.sources.records import Progress
from quaestor.study.codebook import CODEBOOK_FILE
from quaestor.study.coding import open_coding
from quaestor.study.demo_coding import CodingOutcome, run_rounds
from quaestor.study.folder import open_study
from quaestor.study.funnel import draw, run_funnel
from quaestor.study.results.handbook import make_handbook
from quaestor.study.results.report import ReportOutcome, build_report
from quaestor.study.sources import ingest_source
from quaestor.study.synthetic import synthesise
from quaestor.study.templates import new_study

STUDY = "dl-implementation-issues"
_MARK = ".quaestor-demo"


@dataclass(frozen=True)
class DemoOutcome:
    """What the demo found beside what was planted."""

    funnel: FunnelResult
    planted: tuple[int, ...]
    drawing: Path
    coded: CodingOutcome
    report: ReportOutcome
    handbook_pages: int

    @property
    def agrees(self) -> bool:
        """Whether the computed steps found what was planted; raters may err, and the demo says how often."""
        return tuple(step.kept for step in self.funnel.steps)[: len(self.planted)] == self.planted


def run_demo(folder: Path, seed: int, say: Callable[[str], None], progress: Progress) -> DemoOutcome:
    """Dump, study, ingest, funnel; an earlier demo in the folder makes room, anything else does not."""
    if folder.exists() and any(folder.iterdir()):
        if not (folder / _MARK).exists():
            raise InputError(f"{folder} is there and not an earlier demo: name another folder")
        shutil.rmtree(folder)
    new_study(folder, STUDY)
    (folder / _MARK).touch()
    say(f"1. A new study in {folder}, from the bundled {STUDY}")
    truth = synthesise(folder / "dump", posts=None, seed=seed, like=STUDY, progress=progress)
    say(f"2. A synthetic dump, seed {seed}: {truth.questions:,} questions, {truth.answers:,} answers, eight tables")
    study = open_study(folder)
    report = ingest_source(study, "stackoverflow", progress=progress)
    manifest = report.manifest
    rate = manifest.text_bytes / 1e6 / max(manifest.seconds, 0.001)
    say(f"3. Ingested {manifest.text_bytes / 1e6:,.0f} MB in {manifest.seconds:.1f} s ({rate:,.0f} MB/s), by tag")
    result = run_funnel(study)
    say(f"4. The funnel, {len(result.steps)} steps; a fifth waits for two raters")
    with open_coding(study) as coding:
        coded = run_rounds(coding, folder / CODEBOOK_FILE, seed, say)
    save_curves(coded.curves, study.published, "phrases", simulated=True)
    result = run_funnel(study)
    drawing = draw(study, result)
    published = build_report(study, lambda words: None)
    held = f"{published.held} of {published.findings} findings hold"
    say(f"11. The report: {published.tables} tables, {published.figures} figures, {held}")
    for words in published.failures:
        say(f"   {words}")
    if published.audit is not None:
        counts = published.audit.summary()
        say(
            f"12. The audit against the printed figures: of {counts['cells']:,} cells {counts['match']:,} match, "
            f"{counts['rounding']:,} up to rounding, {counts['differs']:,} differ"
        )
    book, built = make_handbook(study, lambda what, done, total: None)
    say(f"13. The handbook: {built.pages:,} pages, {len(book.entries):,} codes, searchable")
    planted = tuple(step.leaving for step in truth.funnel)
    return DemoOutcome(result, planted, drawing, coded, published, built.pages)
