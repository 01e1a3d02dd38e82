"""The `quaestor` command: registers the command groups and turns every failure into one message and an exit code."""

from __future__ import annotations

import io
import os
import signal
import sys
from itertools import takewhile
from typing import Annotated, Any

import typer
from rich.markup import escape
from typer.core import TyperGroup

from quaestor import __version__
from quaestor.base.errors import Interrupted, QuaestorError
from quaestor.cli import backup as store
from quaestor.cli import demo, people, study, synth
from quaestor.cli.coding import agreement, codebook, decisions, phrases, ratings, rounds
from quaestor.cli.evidence import funnel
from quaestor.cli.evidence import ingest as evidence
from quaestor.cli.interviews import interview as interviews
from quaestor.cli.output import errors
from quaestor.cli.publication import report as results
from quaestor.cli.surveys import survey as surveys

UsageError: type[Exception] = typer.BadParameter.__mro__[1]
"""The base class of the errors that typer raises for a wrong call; typer does not export it."""

OLD_OPTIONS = {
    "agreement": {"--item": "--item-column", "--rater": "--rater-column"},
    "codebook move": {"--to": "--parent"},
    "codebook split": {"--items": "--items-file"},
    "decisions tie": {"--text": "--reason"},
    "interview agreement": {"--use": "--put-in-force"},
    "interview code-agreement": {"--by": "--unit"},
    "interview speakers": {"--raw": "--original-names"},
    "interview transcript": {"--raw": "--original-names"},
    "phrases unify": {"--part": "--kind", "--rule": "--relation", "--to": "--into"},
    "phrases words": {"--part": "--kind"},
    "ratings give": {"--key": "--rating-id"},
    "ratings import": {"--rater": "--as"},
    "round replace": {"--by": "--replacement"},
    "sample": {"--after": "--step"},
    "survey claims release": {"--most": "--count"},
    "survey decide": {"--why": "--reason"},
    "survey erase": {"--why": "--reason"},
    "survey preview": {"--most": "--limit"},
    "synth ratings": {"--settle": "--settle-disagreements"},
}
"""Names that options had before each had one name on all commands; scripts that use them still work."""


class CommandLine(TyperGroup):
    """The root of the commands, which also accepts the old names of options."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, replace_old_options(args))


def replace_old_options(arguments: list[str]) -> list[str]:
    """Returns the arguments of a call with the current names of options."""
    words = list(takewhile(lambda argument: not argument.startswith("-"), arguments))
    commands = (" ".join(words[:count]) for count in (1, 2, 3))
    names = next((OLD_OPTIONS[command] for command in commands if command in OLD_OPTIONS), {})
    replaced = list(arguments)
    for index, argument in enumerate(arguments):
        if argument == "--":  # the rest are no options
            break
        name, equals, value = argument.partition("=")
        replaced[index] = f"{names.get(name, name)}{equals}{value}"
    return replaced


app = typer.Typer(
    name="quaestor",
    cls=CommandLine,
    help="Takes an empirical study from raw evidence to published findings. A study is a folder.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for group in (
    study, evidence, funnel, codebook, rounds, ratings, agreement, decisions, phrases, surveys, interviews, results,
    store, synth, people, demo,
):  # fmt: skip
    group.add_to(app)


def _show_version(requested: bool) -> None:
    if requested:
        print(f"quaestor {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Quaestor."""


def run() -> None:
    """Runs the command line; the entry point of the console script."""
    signal.signal(signal.SIGINT, _interrupt)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that lacks a character still gets the rest
    try:
        sys.exit(app(standalone_mode=False))
    except UsageError as error:
        _explain(error)
        sys.exit(2)
    except QuaestorError as error:
        errors().print("[red]quaestor:[/red]", escape(str(error)), soft_wrap=True)
        sys.exit(error.exit_code)
    except OSError as error:
        if isinstance(error, BrokenPipeError):  # the reader of the output closed the pipe, as `head` does
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(0)
        where = f"{error.filename}: " if error.filename else ""
        errors().print("[red]quaestor:[/red]", escape(f"{where}{error.strerror or error}"), soft_wrap=True)
        sys.exit(2)


def _explain(error: Exception) -> None:
    """Prints a wrong call as one sentence, or the help if no command was named."""
    message = getattr(error, "format_message", lambda: str(error))().strip()
    if "\n" in message:
        print(message, file=sys.stderr)
    elif message:  # a group without a command has printed its help
        words, context = ["--help"], getattr(error, "ctx", None)
        while context is not None:
            words.insert(0, context.info_name if context.parent else "quaestor")
            context = context.parent
        hint = f"see `{' '.join(words)}`"
        errors().print("[red]quaestor:[/red]", escape(f"{message.rstrip('.')}: {hint}"), soft_wrap=True)


def _interrupt(number: int, frame: object) -> None:
    raise Interrupted("interrupted; no partial results were saved, run the command again to continue")


if __name__ == "__main__":
    run()
