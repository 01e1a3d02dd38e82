"""Builds the demo: a complete study on synthetic evidence, with the functions that the commands use."""

from __future__ import annotations

from pathlib import Path

from quaestor.base.errors import StateError
from quaestor.base.names import count_of
from quaestor.coding.codebook import CODEBOOK_FILE
from quaestor.coding.session import CodingSession, open_coding
from quaestor.demo.coding import add_visitor_round, import_bundled_codebook, open_visitor_round, run_rounds
from quaestor.demo.folder import VISITOR, create_demo_folder
from quaestor.demo.interviews import build_demo_interviews
from quaestor.demo.progress import (
    Comparison,
    DemoFinished,
    FunnelCompared,
    ProgressReporter,
    RoundOpened,
    SendEvent,
    SurveyOpened,
)
from quaestor.demo.strands import add_strands, code_topics, open_answer_round
from quaestor.demo.survey import SHOWN_QUESTIONS, SURVEY, count_survey_responses, open_demo_survey
from quaestor.evidence.funnel import run_funnel, write_funnel_svg
from quaestor.evidence.ingest import ingest_source
from quaestor.evidence.records import FunnelResult
from quaestor.publication.handbook.make import make_handbook
from quaestor.publication.report.make import build_report
from quaestor.render.figures.discrepancy import draw_round_curves
from quaestor.render.figures.export import write_svg
from quaestor.study.folder import Study, open_study
from quaestor.synth.stackexchange import synthesise
from quaestor.synth.truth import Truth

STUDY = "dl-implementation-issues"


def build_demo(folder: Path, seed: int, send: SendEvent) -> None:
    """Builds dump, study, evidence, funnel, rounds and report; replaces an earlier demo in the folder.

    The visitor's round opens as soon as there is something to rate, while the later steps are still running.
    """
    reporter = ProgressReporter(send)
    reporter.begin("study")
    create_demo_folder(folder, STUDY, add_strands)
    reporter.say(f"A new study in {folder}: posts, a survey and interviews on deep-learning frameworks")
    truth = _prepare_evidence(folder, seed, reporter)
    study = add_visitor_round(open_study(folder))
    with open_coding(study) as coding:
        reporter.begin("codebook")
        book = import_bundled_codebook(coding, folder / CODEBOOK_FILE)
        reporter.say(f"The codebook, {count_of(len(book.codes), 'code')} in {count_of(len(book.facets), 'facet')}")
        reporter.begin("your-turn")
        plan = open_visitor_round(coding, seed).plan
        reporter.say(
            f"Your round of {len(plan.items)} posts is open for the rater {VISITOR!r}; simulated raters do the rest"
        )
        send(RoundOpened())
        reporter.begin("survey")
        reporter.say(_run_survey(coding, seed))
        open_answer_round(coding)
        send(SurveyOpened(SURVEY))
        reporter.begin("interviews")
        send(build_demo_interviews(coding, seed, reporter.say, reporter.count))
        coded = run_rounds(coding, seed, reporter)
        code_topics(coding, seed, reporter)
    write_svg(draw_round_curves(coded.curves, "phrases", simulated=True), study.published)
    funnel, figure = _publish(study, reporter)
    planted = [step.leaving for step in truth.funnel]
    compared = zip(funnel.steps, (*planted, coded.planted), strict=True)
    send(FunnelCompared(tuple(Comparison(step.step, count, step.kept) for step, count in compared)))
    # The last step is not compared: it was decided by raters, who may err.
    if [step.kept for step in funnel.steps][: len(planted)] != planted:
        raise StateError("the funnel does not match the planted numbers: please report this with the seed")
    decided = (
        f"The last step was decided by two simulated raters: the {coded.kept:,} posts they kept include "
        f"{coded.correct:,} of the {coded.planted:,} planted ones"
    )
    joint = "The report and the handbook compare posts, open answers and interviews topic by topic"
    send(DemoFinished((decided, joint, f"Figures of the funnel and the curves are in {figure.parent}")))


def _prepare_evidence(folder: Path, seed: int, reporter: ProgressReporter) -> Truth:
    """Writes the dump, ingests it, runs the funnel, and returns the planted truth."""
    reporter.begin("dump")
    truth = synthesise(folder / "dump", posts=None, seed=seed, like=STUDY, progress=reporter.progress)
    reporter.say(
        f"A synthetic dump, seed {seed}: {truth.questions:,} questions, {truth.answers:,} answers, eight tables"
    )
    reporter.begin("ingest")
    study = open_study(folder)
    manifest = ingest_source(study, "stackoverflow", progress=reporter.progress).manifest
    rate = manifest.text_bytes / 1e6 / max(manifest.seconds, 0.001)
    reporter.say(f"Ingested {manifest.text_bytes / 1e6:,.0f} MB in {manifest.seconds:.1f} s ({rate:,.0f} MB/s), by tag")
    reporter.begin("funnel")
    result = run_funnel(study)
    reporter.say(f"The funnel, {len(result.steps)} steps; another step waits for two raters")
    return truth


def _run_survey(coding: CodingSession, seed: int) -> str:
    """Opens the survey, adds simulated responses, and checks that the counts match the plan."""
    planted = open_demo_survey(coding, seed)
    so_far = count_survey_responses(coding.study)
    counts = {question.id: tuple(bar.count for bar in question.bars) for question in so_far.questions} if so_far else {}
    if any(counts.get(name) != tuple(planted.truth[name].counts.values()) for name in SHOWN_QUESTIONS):
        raise StateError("the survey does not match the planted numbers: please report this with the seed")
    uses = planted.truth["uses-onnx"]
    return (
        f"A survey is open, with {planted.responses} synthetic responses: {uses.counts['yes']} of {uses.answered} use "
        f"ONNX and {planted.truth['problems'].answered} report problems, as planted"
    )


def _publish(study: Study, reporter: ProgressReporter) -> tuple[FunnelResult, Path]:
    """Builds report, audit and handbook from the decisions; returns the funnel and its figure."""
    reporter.begin("report")
    result = run_funnel(study)
    figure = write_funnel_svg(study, result)
    published = build_report(study, reporter.count)
    findings = f"{published.supported} of {published.findings} findings hold"
    reporter.say(f"The report: {published.tables} tables, {published.figures} figures, {findings}")
    for failure in published.failures:
        reporter.say(failure)
    reporter.begin("audit")
    if published.audit is not None:
        counts = published.audit.summary()
        reporter.say(
            f"The audit against the printed figures: of {counts['cells']:,} cells, {counts['match']:,} match exactly, "
            f"{counts['rounding']:,} match after rounding, {counts['differs']:,} differ, "
            "the rest cannot be compared"
        )
    reporter.begin("handbook")
    book, built = make_handbook(study, reporter.count)
    reporter.say(f"The handbook: {built.pages:,} pages, {len(book.entries):,} codes, searchable")
    return result, figure
