"""The whole product on synthetic evidence, each part through the door a person uses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from quaestor.base.errors import StateError
from quaestor.coding.codebook import CODEBOOK_FILE
from quaestor.coding.session import CodingSession, open_coding
from quaestor.demo.coding import (
    CodingOutcome,
    add_visitor_round,
    import_bundled_codebook,
    open_visitor_round,
    run_rounds,
)
from quaestor.demo.folder import VISITOR, create_demo_folder
from quaestor.demo.interviews import build_demo_interviews
from quaestor.demo.progress import FunnelCompared, Comparison, DemoFinished, RoundOpened, SurveyOpened, SendEvent, ProgressReporter, build_event_printer
from quaestor.demo.survey import SURVEY, WATCHED, open_demo_survey, survey_so_far
from quaestor.evidence.funnel import run_funnel, write_funnel_svg
from quaestor.evidence.ingest import ingest_source
from quaestor.evidence.records import FunnelResult
from quaestor.evidence.sources.protocol import Progress
from quaestor.publication.handbook.make import make_handbook
from quaestor.publication.report.make import ReportOutcome, build_report
from quaestor.render.figures.discrepancy import draw_round_curves
from quaestor.render.figures.export import write_svg
from quaestor.study.folder import Study, open_study
from quaestor.synth.dump_files import synthesise
from quaestor.synth.stackexchange import Truth

STUDY = "dl-implementation-issues"


@dataclass(frozen=True)
class DemoOutcome:
    """What the demo found beside what was planted."""

    funnel: FunnelResult
    planted: tuple[int, ...]
    figure: Path
    coded: CodingOutcome
    report: ReportOutcome

    @property
    def matches_plan(self) -> bool:
        """Whether the computed steps found what was planted; raters may err, and the demo says how often."""
        return tuple(step.kept for step in self.funnel.steps)[: len(self.planted)] == self.planted


def run_demo(folder: Path, seed: int, say: Callable[[str], None], progress: Progress) -> DemoOutcome:
    """The whole demo, told in lines as they are printed."""
    return build_demo(folder, seed, build_event_printer(say, progress))


def build_demo(folder: Path, seed: int, tell: SendEvent) -> DemoOutcome:
    """Dump, study, ingest, funnel, rounds, report; an earlier demo in the folder makes room, anything else does not.

    The visitor's round opens as soon as there is something to rate; what comes later goes on beside it.
    """
    teller = ProgressReporter(tell)
    teller.begin("study")
    create_demo_folder(folder, STUDY)
    teller.say(f"A new study in {folder}, from the bundled {STUDY}")
    truth = _gather(folder, seed, teller)
    study = add_visitor_round(open_study(folder))
    with open_coding(study) as coding:
        teller.begin("codebook")
        book = import_bundled_codebook(coding, folder / CODEBOOK_FILE)
        teller.say(f"The codebook, {len(book.codes):,} codes in {len(book.facets)} facets")
        teller.begin("your-turn")
        yours = open_visitor_round(coding, seed).plan
        teller.say(
            f"Your round of {len(yours.items)} posts is open for the rater {VISITOR!r}; two simulated raters go on"
        )
        tell(RoundOpened())
        teller.begin("survey")
        teller.say(_surveyed(coding, seed))
        tell(SurveyOpened(SURVEY))
        teller.begin("interviews")
        tell(build_demo_interviews(folder, seed, teller.say, teller.count))
        coded = run_rounds(coding, seed, teller)
    write_svg(draw_round_curves(coded.curves, "phrases", simulated=True), study.published)
    outcome = _publish(study, truth, coded, teller)
    tell(FunnelCompared(_compared(outcome)))
    if not outcome.matches_plan:
        raise StateError("the funnel did not find what was planted: please report this with the seed")
    tell(DemoFinished(_conclusion(outcome)))
    return outcome


def _gather(folder: Path, seed: int, teller: ProgressReporter) -> Truth:
    """A dump whose truth is known, its evidence, and the funnel over it."""
    teller.begin("dump")
    truth = synthesise(folder / "dump", posts=None, seed=seed, like=STUDY, progress=teller.progress)
    teller.say(f"A synthetic dump, seed {seed}: {truth.questions:,} questions, {truth.answers:,} answers, eight tables")
    teller.begin("ingest")
    study = open_study(folder)
    manifest = ingest_source(study, "stackoverflow", progress=teller.progress).manifest
    rate = manifest.text_bytes / 1e6 / max(manifest.seconds, 0.001)
    teller.say(f"Ingested {manifest.text_bytes / 1e6:,.0f} MB in {manifest.seconds:.1f} s ({rate:,.0f} MB/s), by tag")
    teller.begin("funnel")
    result = run_funnel(study)
    teller.say(f"The funnel, {len(result.steps)} steps; a fifth waits for two raters")
    return truth


def _surveyed(coding: CodingSession, seed: int) -> str:
    """The survey opened and answered, and whether what was planted is found in the answers."""
    planted = open_demo_survey(coding, seed)
    so_far = survey_so_far(coding.study)
    found = {one.id: tuple(bar.count for bar in one.bars) for one in so_far.questions} if so_far else {}
    if any(found.get(name) != tuple(planted.truth[name].counts.values()) for name in WATCHED):
        raise StateError("the survey did not find what was planted: please report this with the seed")
    uses = planted.truth["uses-onnx"]
    return (
        f"A survey is open, with {planted.responses} synthetic responses: {uses.counts['yes']} of {uses.answered} use "
        f"ONNX, {planted.truth['problems'].answered} say what goes wrong, as planted"
    )


def _publish(study: Study, truth: Truth, coded: CodingOutcome, teller: ProgressReporter) -> DemoOutcome:
    """Report, audit and handbook from what was decided."""
    teller.begin("report")
    result = run_funnel(study)
    drawing = write_funnel_svg(study, result)
    published = build_report(study, teller.count)
    held = f"{published.held} of {published.findings} findings hold"
    teller.say(f"The report: {published.tables} tables, {published.figures} figures, {held}")
    for words in published.failures:
        teller.say(words)
    teller.begin("audit")
    if published.audit is not None:
        counts = published.audit.summary()
        teller.say(
            f"The audit against the printed figures: of {counts['cells']:,} cells {counts['match']:,} match, "
            f"{counts['rounding']:,} up to rounding, {counts['differs']:,} differ"
        )
    teller.begin("handbook")
    book, built = make_handbook(study, teller.count)
    teller.say(f"The handbook: {built.pages:,} pages, {len(book.entries):,} codes, searchable")
    planted = tuple(step.leaving for step in truth.funnel)
    return DemoOutcome(result, planted, drawing, coded, published)


def _compared(outcome: DemoOutcome) -> tuple[Comparison, ...]:
    planted = (*outcome.planted, outcome.coded.planted)
    return tuple(
        Comparison(step.step, count, step.kept) for step, count in zip(outcome.funnel.steps, planted, strict=True)
    )


def _conclusion(outcome: DemoOutcome) -> tuple[str, ...]:
    coded = outcome.coded
    return (
        f"The last step is what two simulated raters decided: {coded.correct:,} of {coded.planted:,} planted posts are "
        f"among the {coded.kept:,} kept",
        f"The funnel and the curves are drawn in {outcome.figure.parent}",
    )
