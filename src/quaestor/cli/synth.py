"""`quaestor synth`: synthetic evidence of any size, with the truth beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from quaestor.cli.output import JsonOption, StudyOption, chosen_study, console, number, print_json, progress_bar

group = typer.Typer(help="Make synthetic evidence with planted, known answers.", no_args_is_help=True)


def add_to(app: typer.Typer) -> None:
    app.add_typer(group, name="synth")


@group.callback()
def synth() -> None:
    """Make synthetic evidence with planted, known answers."""


@group.command()
def stackexchange(
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The folder of the new dump.")],
    posts: Annotated[
        int | None, typer.Option(min=1, help="How many posts; default 10,000, or what --like needs.")
    ] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same bytes.")] = 1,
    tag_syntax: Annotated[str, typer.Option(help="`old` writes <a><b>, `new` writes |a|b|.")] = "new",
    like: Annotated[str | None, typer.Option(help="Plant the printed figures of a bundled study.")] = None,
    only_posts: Annotated[bool, typer.Option("--only-posts", help="Leave the other seven tables out.")] = False,
    json: JsonOption = False,
) -> None:
    """Write a synthetic Stack Exchange dump; truth.json beside it says what was planted.

    Example: quaestor synth stackexchange dump --like dl-implementation-issues --seed 7
    """
    from quaestor.synth.dump_files import synthesise

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
        screen.print(f"  planted {step.step}: {number(step.entering)} → {number(step.leaving)}")


@group.command()
def ratings(
    name: Annotated[str, typer.Argument(metavar="ROUND", help="An open round on synthetic evidence.")],
    accuracy: Annotated[float, typer.Option(help="How often a simulated rater is right.")] = 0.9,
    confusion: Annotated[float, typer.Option(help="The share of errors that follow a habit.")] = 0.5,
    seed: Annotated[int, typer.Option(help="The same seed gives the same ratings.")] = 1,
    rater: Annotated[str | None, typer.Option(help="Only this rater; default: all.")] = None,
    all_sets: Annotated[
        bool, typer.Option("--all-sets", help="Go through every set, unifying words after each.")
    ] = False,
    settle: Annotated[
        bool, typer.Option("--settle", help="Settle the disagreements of a closed round instead.")
    ] = False,
    truth: Annotated[
        Path | None, typer.Option(help="What is known about transcripts that are coded.", show_default=False)
    ] = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Let simulated raters give what is missing from a round; journal and outputs say that they are simulated.

    Where a round codes transcripts, `--truth` names the folder that `quaestor synth interviews` wrote, and the accuracy
    is how often a planted stretch is found.

    Example: quaestor synth ratings pilot --accuracy 0.87 --seed 7
    """
    from quaestor.coding.session import open_coding
    from quaestor.synth.simulated_raters import simulate_ratings, simulate_sets, simulate_settling

    if truth is not None:
        from quaestor.synth.simulated_interviews import simulate_round

        done = simulate_round(chosen_study(study), name, truth, accuracy=accuracy, seed=seed, only=rater, settle=settle)
        _tell_ratings(done, json)
        return
    with open_coding(chosen_study(study)) as coding:
        if settle:
            done = simulate_settling(coding, name, seed=seed)
        elif all_sets:
            given = simulate_sets(coding, name, accuracy=accuracy, seed=seed, tell=lambda at, total: None)
            done = {"ratings": given}
        else:
            given = simulate_ratings(coding, name, accuracy=accuracy, confusion=confusion, seed=seed, only=rater)
            done = {"ratings": given}
    _tell_ratings(done, json)


def _tell_ratings(done: dict[str, int], json: bool) -> None:
    if json:
        print_json(done | {"simulated": True})
        return
    told = ", ".join(f"{number(count)} {what}" for what, count in done.items()) or "nothing was left"
    console().print(f"{told} (simulated)")


@group.command()
def survey(
    name: Annotated[str, typer.Argument(metavar="SURVEY", help="An open survey that nobody has answered.")],
    responses: Annotated[
        int | None, typer.Option(min=1, help="How many respondents; default 100, or what --like plants.")
    ] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same answers.")] = 1,
    like: Annotated[str | None, typer.Option(help="Plant the printed figures of a bundled study.")] = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Let simulated respondents answer an open survey; every response and what is made of it say that it is synthetic.

    Example: quaestor synth survey fielded --like onnx-interoperability --seed 7
    """
    from quaestor.surveys.lifecycle import open_surveys
    from quaestor.synth.simulated_respondents import bundled_plan, simulate_responses

    plan = bundled_plan(like, name) if like is not None else None
    with open_surveys(chosen_study(study)) as surveys, progress_bar(in_bytes=False) as progress:
        done = simulate_responses(
            surveys, name, seed=seed, responses=responses, plan=plan,
            tell=lambda at, total: progress("responses", at, total),
        )  # fmt: skip
    if json:
        print_json(done.as_json(name))
        return
    console().print(f"{number(done.responses)} responses to {name} (synthetic, seed {seed})", soft_wrap=True)


@group.command()
def interviews(
    out: Annotated[Path, typer.Option(help="The folder of the new files.")],
    number_of: Annotated[
        int | None, typer.Option("--interviews", min=1, help="How many; default: those that are planned.")
    ] = None,
    words: Annotated[
        int | None, typer.Option(min=1, help="About how many words each has; default: what it takes.")
    ] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same bytes.")] = 1,
    like: Annotated[str, typer.Option(help="The bundled study whose guide they follow.")] = "dl-framework-interviews",
    take_in: Annotated[
        bool, typer.Option("--take-in", help="Hold them in this study too: participants, consent, notes, transcripts.")
    ] = False,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Write synthetic interviews as files of six formats; truth.json beside them says what was planted.

    Example: quaestor synth interviews --out talks --seed 7
    """
    from quaestor.synth.interview_truth import synthesise_interviews
    from quaestor.synth.simulated_interviews import take_in_talks

    opened = chosen_study(study) if take_in else None
    truth = synthesise_interviews(out, seed=seed, interviews=number_of, words=words, like=like)
    with progress_bar(in_bytes=False) as progress:
        taken = (
            take_in_talks(opened, out, truth, lambda done, total: progress("interviews", done, total))
            if opened is not None
            else None
        )
    if json:
        print_json(truth.summary() | ({"taken_in": list(taken.interviews)} if taken else {}))
        return
    screen = console()
    screen.print(
        f"{number(len(truth.interviews))} interviews in {out} (synthetic, seed {seed}): {number(truth.words)} words, "
        f"{number(truth.stretches)} coded stretches of {number(len(truth.codes))} codes",
        soft_wrap=True,
    )
    screen.print(f"  planted new codes by interview: {', '.join(map(str, truth.new_codes))}", soft_wrap=True)
    if taken is not None:
        screen.print(
            f"  held as {', '.join(taken.interviews)}: {number(taken.turns)} turns, {taken.questions_found} of "
            f"{taken.questions_asked} questions found, {taken.names} names known",
            soft_wrap=True,
        )
