"""`quaestor synth`: generate synthetic evidence, ratings, responses and interviews with known answers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from quaestor.cli.output import JsonOption, StudyOption, chosen_study, console, number, print_json, progress_bar

group = typer.Typer(help="Generate synthetic data with known answers.", no_args_is_help=True)


def add_to(app: typer.Typer) -> None:
    app.add_typer(group, name="synth")


@group.callback()
def synth() -> None:
    """Generate synthetic data with known answers."""


@group.command()
def stackexchange(
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The folder for the dump.")],
    posts: Annotated[
        int | None, typer.Option(min=1, help="The number of posts; default: 10,000, or what --like needs.")
    ] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same files.")] = 1,
    tag_syntax: Annotated[str, typer.Option(help="`old` writes <a><b>, `new` writes |a|b|.")] = "new",
    like: Annotated[str | None, typer.Option(help="Reproduce the published figures of a bundled study.")] = None,
    only_posts: Annotated[bool, typer.Option("--only-posts", help="Omit the other seven tables.")] = False,
    json: JsonOption = False,
) -> None:
    """Write a synthetic Stack Exchange dump, with the known answers in truth.json.

    Example: quaestor synth stackexchange dump --like dl-implementation-issues --seed 7
    """
    from quaestor.synth.stackexchange import synthesise

    with progress_bar() as progress:
        truth = synthesise(
            out, posts=posts, seed=seed, tag_syntax=tag_syntax, like=like,
            only_posts=only_posts, progress=progress,
        )  # fmt: skip
    if json:
        print_json(truth.as_json())
        return
    screen = console()
    screen.print(
        f"{number(truth.questions)} questions and {number(truth.answers)} answers in {out} (synthetic, seed {seed})",
        soft_wrap=True,
    )
    for step in truth.funnel:
        screen.print(f"  expected at {step.step}: {number(step.entering)} → {number(step.leaving)}")


@group.command()
def ratings(
    name: Annotated[str, typer.Argument(metavar="ROUND", help="An open round on synthetic evidence.")],
    accuracy: Annotated[float, typer.Option(help="The share of correct ratings.")] = 0.9,
    confusion: Annotated[float, typer.Option(help="The share of errors that are systematic.")] = 0.5,
    seed: Annotated[int, typer.Option(help="The same seed gives the same ratings.")] = 1,
    rater: Annotated[str | None, typer.Option(help="Only this rater; default: all.")] = None,
    all_sets: Annotated[bool, typer.Option("--all-sets", help="Rate every set and unify words after each.")] = False,
    settle_disagreements: Annotated[
        bool, typer.Option("--settle-disagreements", help="Settle the disagreements of a closed round.")
    ] = False,
    truth: Annotated[
        Path | None,
        typer.Option(help="The folder from `synth interviews`, to code its transcripts.", show_default=False),
    ] = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Add the missing ratings of a round from simulated raters; journal and outputs mark them as simulated.

    If a round codes transcripts, `--truth` is the folder that `quaestor synth interviews` wrote, and the accuracy is
    the share of known passages that a rater finds.

    Example: quaestor synth ratings pilot --accuracy 0.87 --seed 7
    """
    from quaestor.coding.session import open_coding
    from quaestor.synth.simulated_raters import simulate_ratings, simulate_sets, simulate_settling

    if truth is not None:
        from quaestor.synth.simulated_interviews import simulate_round

        done = simulate_round(
            chosen_study(study), name, truth, accuracy=accuracy, seed=seed, only=rater, settle=settle_disagreements
        )
        _print_counts(done, json)
        return
    with open_coding(chosen_study(study)) as coding:
        if settle_disagreements:
            done = simulate_settling(coding, name, seed=seed)
        elif all_sets:
            done = {
                "ratings": simulate_sets(
                    coding, name, accuracy=accuracy, seed=seed, report_progress=lambda at, total: None
                )
            }
        else:
            count = simulate_ratings(coding, name, accuracy=accuracy, confusion=confusion, seed=seed, only=rater)
            done = {"ratings": count}
    _print_counts(done, json)


def _print_counts(counts: dict[str, int], json: bool) -> None:
    if json:
        print_json(counts | {"simulated": True})
        return
    summary = ", ".join(f"{number(count)} {noun}" for noun, count in counts.items()) or "nothing to do"
    console().print(f"{summary} (simulated)")


@group.command()
def survey(
    name: Annotated[str, typer.Argument(metavar="SURVEY", help="An open survey without responses.")],
    responses: Annotated[
        int | None, typer.Option(min=1, help="The number of respondents; default: 100, or as --like specifies.")
    ] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same answers.")] = 1,
    like: Annotated[str | None, typer.Option(help="Reproduce the published figures of a bundled study.")] = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Answer an open survey with simulated respondents; responses and results are marked as synthetic.

    Example: quaestor synth survey fielded --like onnx-interoperability --seed 7
    """
    from quaestor.surveys.lifecycle import open_surveys
    from quaestor.synth.simulated_respondents import read_bundled_plan, simulate_responses

    plan = read_bundled_plan(like, name) if like is not None else None
    with open_surveys(chosen_study(study)) as surveys, progress_bar(in_bytes=False) as progress:
        done = simulate_responses(
            surveys, name, seed=seed, responses=responses, plan=plan,
            report=lambda done, total: progress("responses", done, total),
        )  # fmt: skip
    if json:
        print_json(done.as_json(name))
        return
    console().print(f"{number(done.responses)} responses to {name} (synthetic, seed {seed})", soft_wrap=True)


@group.command()
def interviews(
    out: Annotated[Path, typer.Option(help="The folder for the files.")],
    interview_count: Annotated[
        int | None, typer.Option("--interviews", min=1, help="The number of interviews; default: as planned.")
    ] = None,
    words: Annotated[
        int | None, typer.Option(min=1, help="Approximate words per interview; default: as many as needed.")
    ] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same files.")] = 1,
    like: Annotated[str, typer.Option(help="The bundled study whose guide they follow.")] = "dl-framework-interviews",
    take_in: Annotated[
        bool,
        typer.Option("--take-in", help="Also add them to the study: participants, consent, notes, transcripts."),
    ] = False,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Write synthetic interview transcripts in six formats, with the known codes in truth.json.

    Example: quaestor synth interviews --out talks --seed 7
    """
    from quaestor.synth.interview_truth import synthesise_interviews
    from quaestor.synth.simulated_interviews import import_interviews

    target = chosen_study(study) if take_in else None
    truth = synthesise_interviews(out, seed=seed, interviews=interview_count, words=words, like=like)
    with progress_bar(in_bytes=False) as progress:
        imported = (
            import_interviews(target, out, truth, lambda done, total: progress("interviews", done, total))
            if target is not None
            else None
        )
    if json:
        print_json(truth.summary() | ({"taken_in": list(imported.interviews)} if imported else {}))
        return
    screen = console()
    screen.print(
        f"{number(len(truth.interviews))} interviews in {out} (synthetic, seed {seed}): {number(truth.words)} words, "
        f"{number(truth.passages)} coded passages with {number(len(truth.codes))} codes",
        soft_wrap=True,
    )
    screen.print(f"  new codes by interview: {', '.join(map(str, truth.new_codes))}", soft_wrap=True)
    if imported is not None:
        screen.print(
            f"  added as {', '.join(imported.interviews)}: {number(imported.turns)} turns, "
            f"{imported.questions_found} of {imported.questions_asked} questions found, {imported.names} known names",
            soft_wrap=True,
        )
