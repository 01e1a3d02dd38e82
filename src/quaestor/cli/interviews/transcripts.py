"""`quaestor interview import`, `transcript`, `speakers`, `match`: import transcripts, assign speakers and questions."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from quaestor.base.names import count_of
from quaestor.cli.output import (
    ActorOption,
    JsonOption,
    StudyOption,
    chosen_study,
    console,
    named_values,
    number,
    print_json,
    say,
)

if TYPE_CHECKING:
    from quaestor.interviews.model.records import Transcript
    from quaestor.interviews.transcript_sheet import SkippedLines, TurnLine
    from quaestor.interviews.transcripts.corrections import Speaker
    from quaestor.interviews.transcripts.import_file import TranscriptImport

NameArgument = Annotated[str, typer.Argument(metavar="INTERVIEW", help="An interview, such as P1.")]
OriginalNamesOption = Annotated[
    bool, typer.Option("--original-names", help="With the original names; only for the lead.")
]


def add_to(group: typer.Typer) -> None:
    group.command("import")(import_file)
    group.command("transcript")(transcript)
    group.command("speakers")(speakers)
    group.command("match")(match)


def import_file(
    name: NameArgument,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="WebVTT, SRT, DOCX, text or Markdown.")],
    format: Annotated[
        str, typer.Option("--format", help="webvtt, srt, docx or text; default: detected from the file.")
    ] = "",
    speaker: Annotated[
        list[str] | None,
        typer.Option(
            "--speaker", metavar="NAME", help="A speaker label; repeat for each. No other label is a speaker."
        ),
    ] = None,
    encoding: Annotated[
        str,
        typer.Option("--encoding", help="The encoding, such as Windows-1251 or Shift_JIS, if it is detected wrongly."),
    ] = "",
    day: Annotated[
        str | None, typer.Option("--held", metavar="DATE", help="The day of the interview, such as 2026-03-01.")
    ] = None,
    group: Annotated[
        str | None,
        typer.Option("--group", help="A focus group's name: its interviews count as one for saturation; '' for none."),
    ] = None,
    apart: Annotated[bool, typer.Option("--apart", help="Keep each cue or paragraph as its own turn.")] = False,
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace the existing transcript, unless a round uses its turns.")
    ] = False,
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Import the transcript of an interview; importing the same file again changes nothing.

    Example: quaestor interview import P1 recording.vtt --held 2026-03-01
    """
    from quaestor.interviews.repository import open_interviews
    from quaestor.interviews.transcript_sheet import read_omitted_text
    from quaestor.interviews.transcripts.import_file import import_bytes, read_transcript_file

    with open_interviews(chosen_study(study)) as interviews:
        if day is None and not interviews.interview(name).day and sys.stdin.isatty() and not json:
            day = typer.prompt("Day of the interview, such as 2026-03-01 (Enter if unknown)", "", show_default=False)
        data = read_transcript_file(file)
        done = import_bytes(
            interviews, name, data, file.name, actor, format, speaker or (), replace, encoding, apart, day, group
        )
        left_out = read_omitted_text(interviews, name)
    if json:
        from dataclasses import asdict

        print_json({**asdict(done), "beside": list(left_out.lines)})
        return
    _print_import(name, done, left_out)


def _print_import(name: str, done: TranscriptImport, left_out: SkippedLines) -> None:
    """Prints what was imported, what to check, and what was left out."""
    if not done.new:
        say(f"{name} already has this transcript")
        return
    say(f"{count_of(done.words, 'word')} in {count_of(done.turns, 'turn')} from {done.format}, {done.encoding}")
    participants, interviewers, others = done.voices
    if not interviewers or participants != 1:
        say(f"Check who the speakers are: `quaestor interview speakers {name}`")
    say(f"{done.asked} of {done.questions} questions of the guide found: `quaestor interview match {name}`")
    if done.doubtful:
        say(
            f"The text may be garbled: the file does not declare its encoding and was read as {done.encoding}. If so, "
            f"import it again with --replace and --encoding, such as --encoding Windows-1251 or Shift_JIS"
        )
    if others:
        noun = "speaker is" if others == 1 else "speakers are"
        say(f"{number(others)} {noun} neither participant nor interviewer: their turns are not coded")
    if done.left_out:
        noun = "note or header" if done.left_out == 1 else "notes or headers"
        say(f"{number(done.left_out)} {noun} outside the conversation left out:")
        for line in left_out.lines:
            say(f"  {line}")
        if left_out.more:
            say(f"  … and {number(left_out.more)} more")


def transcript(
    name: NameArgument,
    original_names: OriginalNamesOption = False,
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Print a transcript with speakers, times and questions; confirmed names are replaced.

    Example: quaestor interview transcript P1
    """
    from quaestor.interviews.repository import open_interviews
    from quaestor.interviews.transcript_sheet import list_turn_lines

    with open_interviews(chosen_study(study)) as interviews:
        lines = list_turn_lines(interviews, name, original_names, actor)
        whole = interviews.transcript(name)
    if json:
        print_json({
            "interview": name, "participant": whole.participant, "guide": whole.guide, "version": whole.version,
            "turns": [_turn_json(whole, line, original_names) for line in lines],
        })  # fmt: skip
        return
    screen = console()
    for line in lines:
        if line.heading is not None:
            screen.print(f"\n{line.heading.id} · {line.heading.text}", style="bold", markup=False)
        elif line.leaves_guide:
            screen.print("\noutside the guide", style="bold")
        head = f"{line.turn.number:>5} {line.time:>8} {line.who}"
        screen.print(f"{head}: {line.turn.raw if original_names else line.turn.text}", markup=False, soft_wrap=True)


def speakers(
    name: NameArgument,
    set: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="SPEAKER=VOICE",
            help="Assign a speaker (label or number) or a turn (turn:12) to participant, interviewer or other.",
        ),
    ] = None,
    original_names: OriginalNamesOption = False,
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """List the speakers of a transcript, or assign speakers and single turns to participant or interviewer.

    Example: quaestor interview speakers P1 --set "Speaker 1=participant" --set turn:12=interviewer
    """
    from quaestor.coding.session import require_lead
    from quaestor.interviews.left_out_turns import list_uncounted_turns
    from quaestor.interviews.repository import open_interviews
    from quaestor.interviews.transcripts.corrections import list_speakers, set_speaker, set_voice

    assignments = named_values(set or [], '"SPEAKER=VOICE" or turn:NUMBER=VOICE')
    with open_interviews(chosen_study(study)) as interviews:
        if original_names:
            require_lead(interviews.coding, actor, "read the names of speakers")
        for speaker, voice in assignments.items():
            turn = speaker.removeprefix("turn:")
            if turn != speaker and turn.isdecimal():
                set_voice(interviews, name, int(turn), voice, actor)
            else:
                set_speaker(interviews, name, speaker, voice, actor)
        rows = list_speakers(interviews, name)
        uncounted = list_uncounted_turns(interviews, name)
    if json:
        print_json({"interview": name, "speakers": [_speaker_json(row, original_names) for row in rows]})
        return
    from rich.markup import escape
    from rich.table import Table

    table = Table("", "Speaker", "Voice", "Turns", "Words", "Begins", box=None)
    for row in rows:
        label = row.label if original_names else row.shown
        suffix = "" if row.by_hand else " (proposed)"
        counts = (number(row.turns), number(row.words))
        table.add_row(str(row.number), escape(label), escape(f"{row.voice}{suffix}"), *counts, escape(row.begins))
    console().print(table)
    if uncounted:
        turns = ("turn was", "its", "is") if len(uncounted) == 1 else ("turns were", "their", "are")
        say(
            f"{number(len(uncounted))} {turns[0]} coded before {turns[1]} speaker was corrected, and {turns[2]} not "
            f"counted in any result: {', '.join(map(str, uncounted))}"
        )


def match(
    name: NameArgument,
    set: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="TURN=QUESTION", help="The question that a turn asks; TURN= ends the answer."),
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="Search for the questions again.")] = False,
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """List where the questions of the guide are asked, or set it by hand; manual entries are never overwritten.

    Example: quaestor interview match P1 --set 12=factors --set 14=
    """
    from quaestor.base.errors import InputError
    from quaestor.interviews.repository import open_interviews
    from quaestor.interviews.transcript_sheet import list_turn_lines
    from quaestor.interviews.transcripts.corrections import match_again, set_question

    assignments = named_values(set or [], "TURN=QUESTION")
    if wrong := [turn for turn in assignments if not turn.isdecimal()]:
        raise InputError(f"{wrong[0]!r} is not a turn number: `quaestor interview transcript {name}` lists them")
    with open_interviews(chosen_study(study)) as interviews:
        for turn, question in assignments.items():
            set_question(interviews, name, int(turn), question, actor)
        if again:
            match_again(interviews, name, actor)
        lines = [line for line in list_turn_lines(interviews, name) if line.heading is not None]
        guide = interviews.guide_of(interviews.interview(name))
    matched = {line.turn.question for line in lines}
    missing = [planned for planned in guide.questions() if planned.id not in matched]
    if json:
        print_json({
            "interview": name,
            "asked": [
                {"turn": line.turn.number, "question": line.turn.question, "how": _describe_source(line)}
                for line in lines
            ],
            "missing": [planned.id for planned in missing],
        })  # fmt: skip
        return
    screen = console()
    for line in lines:
        text = f"{line.turn.number:>5} {line.time:>8} {line.turn.question} ({_describe_source(line)}): {line.turn.text}"
        screen.print(text, markup=False, soft_wrap=True)
    for planned in missing:
        say(f"not found: {planned.id} · {planned.text}")


def _describe_source(line: TurnLine) -> str:
    return "by hand" if line.by_hand else "matched"


def _turn_json(transcript: Transcript, line: TurnLine, raw: bool) -> dict[str, Any]:
    turn = line.turn
    cues = [
        {"at": at if raw else turn.to_shown(at, at + 1)[0], "start": start, "end": end} for at, start, end in turn.cues
    ]
    return {
        "turn": turn.number, "item": transcript.item(turn.number), "voice": str(turn.voice), "start": turn.start,
        "end": turn.end, "question": turn.question, "asks": turn.asks, "text": turn.raw if raw else turn.text,
        "cues": cues,
    }  # fmt: skip


def _speaker_json(speaker: Speaker, raw: bool) -> dict[str, Any]:
    return {
        "number": speaker.number, "speaker": speaker.label if raw else speaker.shown, "voice": str(speaker.voice),
        "how": "by hand" if speaker.by_hand else "proposed", "turns": speaker.turns, "words": speaker.words,
        "begins": speaker.begins,
    }  # fmt: skip
