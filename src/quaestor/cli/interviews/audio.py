"""`quaestor interview audio`: add, list and remove the audio recordings of interviews."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from quaestor.cli.interviews.transcripts import NameArgument
from quaestor.cli.output import ActorOption, JsonOption, StudyOption, chosen_study, console, number, print_json, say

group = typer.Typer(help="Audio recordings of interviews, sealed like transcripts.", no_args_is_help=True)


def add_to(app: typer.Typer) -> None:
    app.add_typer(group, name="audio")


@group.callback()
def audio() -> None:
    """Seal the audio recording of an interview; the lead plays it at the desk from any turn of the transcript."""


@group.command()
def add(
    name: NameArgument,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A WAV, MP3, M4A, OGG, FLAC or WebM file.")],
    replace: Annotated[
        bool, typer.Option("--replace", help="Erase the existing recording and store this one.")
    ] = False,
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Add the audio recording of an interview; adding the same file again changes nothing.

    Only the lead can listen to it, since names are spoken in it. It is in backups, sealed, and in no publication.

    Example: quaestor interview audio add P1 recording.m4a
    """
    from quaestor.interviews.audio import add_audio
    from quaestor.interviews.repository import open_interviews

    with open_interviews(chosen_study(study)) as interviews:
        recording, is_new = add_audio(interviews, name, file, actor, replace=replace)
    if json:
        print_json({**asdict(recording), "new": is_new})
    elif is_new:
        say(f"{number(recording.bytes)} bytes of {recording.format} sealed as the recording of {name}")
        say(f"Delete {file} and other copies yourself: a withdrawal erases only the sealed one")
    else:
        say(f"{name} already has this recording")


@group.command("list")
def list_all(study: StudyOption = None, json: JsonOption = False) -> None:
    """List the audio recordings with format, size and day.

    Example: quaestor interview audio list
    """
    from rich.table import Table

    from quaestor.interviews.audio import list_audio
    from quaestor.interviews.repository import open_interviews

    with open_interviews(chosen_study(study)) as interviews:
        recordings = list_audio(interviews)
    if json:
        print_json([asdict(recording) for recording in recordings])
        return
    if not recordings:
        say("No audio recordings: `quaestor interview audio add P1 FILE`")
        return
    table = Table("interview", "format", "bytes", "added", box=None, pad_edge=False)
    table.columns[2].justify = "right"
    for recording in recordings:
        table.add_row(recording.interview, recording.format, number(recording.bytes), recording.day)
    console().print(table)


@group.command()
def remove(name: NameArgument, actor: ActorOption = None, study: StudyOption = None, json: JsonOption = False) -> None:
    """Erase the audio recording of an interview; the transcript stays.

    Example: quaestor interview audio remove P1
    """
    from quaestor.interviews.audio import remove_audio
    from quaestor.interviews.repository import open_interviews

    with open_interviews(chosen_study(study)) as interviews:
        removed = remove_audio(interviews, name, actor)
    if json:
        print_json({"interview": name, "removed": removed})
    else:
        say(f"The recording of {name} is erased" if removed else f"{name} has no recording")
