"""`quaestor interview import`, `transcript`, `speakers`, `match`: transcripts in, whose voice, which question."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

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
    from quaestor.interviews.transcript_sheet import LeftOut, TurnLine
    from quaestor.interviews.transcripts.corrections import Speaker
    from quaestor.interviews.transcripts.import_file import Imported

NameArgument = Annotated[str, typer.Argument(metavar="INTERVIEW", help="An interview of the study, such as P1.")]
RawOption = Annotated[bool, typer.Option("--raw", help="With names as they were recorded; for the lead alone.")]


def add_to(group: typer.Typer) -> None:
    group.command("import")(import_file)
    group.command("transcript")(transcript)
    group.command("speakers")(speakers)
    group.command("match")(match)


def import_file(
    name: NameArgument,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="WebVTT, SRT, DOCX, text or Markdown.")],
    format: Annotated[
        str, typer.Option("--format", help="webvtt, srt, docx or text; default: what the file itself says.")
    ] = "",
    speaker: Annotated[
        list[str] | None,
        typer.Option("--speaker", metavar="NAME", help="A label that is a speaker, and no other is; once for each."),
    ] = None,
    encoding: Annotated[
        str,
        typer.Option(
            "--encoding", help="Such as Windows-1251 or Shift_JIS, where the file is no UTF-8 and came in wrong."
        ),
    ] = "",
    apart: Annotated[
        bool, typer.Option("--apart", help="Each cue or paragraph is a turn, to be corrected by itself.")
    ] = False,
    replace: Annotated[
        bool, typer.Option("--replace", help="In place of the transcript that is there, if no round has its turns.")
    ] = False,
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Take in the transcript of an interview; the same file again is nothing new.

    Example: quaestor interview import P1 recording.vtt
    """
    from quaestor.interviews.repository import open_interviews
    from quaestor.interviews.transcript_sheet import left_out_of
    from quaestor.interviews.transcripts.import_file import import_transcript

    with open_interviews(chosen_study(study)) as interviews:
        done = import_transcript(interviews, name, file, actor, format, speaker or (), replace, encoding, apart)
        beside = left_out_of(interviews, name)
    if json:
        from dataclasses import asdict

        print_json({**asdict(done), "beside": list(beside.lines)})
        return
    _tell(name, done, beside)


def _tell(name: str, done: Imported, beside: LeftOut) -> None:
    """What came in, what to look at, and what did not come in."""
    if not done.new:
        say(f"{name} has this transcript already")
        return
    say(f"{number(done.words)} words in {number(done.turns)} turns from {done.format}, {done.encoding}")
    participants, interviewers, others = done.voices
    if not interviewers or participants != 1:
        say(f"See whose voice is whose: quaestor interview speakers {name}")
    say(f"{done.asked} of {done.questions} questions of the guide found: quaestor interview match {name}")
    if done.doubtful:
        say(
            f"The letters look wrong: the file does not say its encoding and was read as {done.encoding}. If they are, "
            f"import it once more with --replace --encoding and its encoding, such as Windows-1251 or Shift_JIS"
        )
    if others:
        say(f"{number(others)} {'speaker is' if others == 1 else 'speakers are'} neither: their turns are not coded")
    if done.left_out:
        what = "note or header" if done.left_out == 1 else "notes or headers"
        say(f"{number(done.left_out)} {what} beside the conversation left out:")
        for line in beside.lines:
            say(f"  {line}")
        if beside.more:
            say(f"  … and {number(beside.more)} more")


def transcript(
    name: NameArgument,
    raw: RawOption = False,
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Print what was said: voices, times, the questions it answers, and nobody's confirmed name.

    Example: quaestor interview transcript P1
    """
    from quaestor.interviews.repository import open_interviews
    from quaestor.interviews.transcript_sheet import told_turns

    with open_interviews(chosen_study(study)) as interviews:
        lines = told_turns(interviews, name, raw, actor)
        whole = interviews.transcript(name)
    if json:
        print_json({
            "interview": name, "participant": whole.participant, "guide": whole.guide, "version": whole.version,
            "turns": [_turn_json(whole, line, raw) for line in lines],
        })  # fmt: skip
        return
    screen = console()
    for line in lines:
        if line.heading is not None:
            screen.print(f"\n{line.heading.id} · {line.heading.text}", style="bold", markup=False)
        head = f"{line.turn.number:>5} {line.time:>8} {line.who}"
        screen.print(f"{head}: {line.turn.raw if raw else line.turn.text}", markup=False, soft_wrap=True)


def speakers(
    name: NameArgument,
    set: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="SPEAKER=VOICE",
            help="By label or number; participant, interviewer or other. A turn: turn:12=…",
        ),
    ] = None,
    raw: RawOption = False,
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """List who speaks in a transcript, or say whose voice a speaker or a single turn is.

    Example: quaestor interview speakers P1 --set "Speaker 1=participant" --set turn:12=interviewer
    """
    from quaestor.coding.session import require_lead
    from quaestor.interviews.repository import open_interviews
    from quaestor.interviews.transcripts.corrections import set_speaker, set_voice, speakers_of

    wanted = named_values(set or [], '"SPEAKER=VOICE" or turn:NUMBER=VOICE')
    with open_interviews(chosen_study(study)) as interviews:
        if raw:
            require_lead(interviews.coding, actor, "read the names of speakers")
        for who, voice in wanted.items():
            turn = who.removeprefix("turn:")
            if turn != who and turn.isdecimal():
                set_voice(interviews, name, int(turn), voice, actor)
            else:
                set_speaker(interviews, name, who, voice, actor)
        found = speakers_of(interviews, name)
    if json:
        print_json({"interview": name, "speakers": [_speaker_json(one, raw) for one in found]})
        return
    from rich.markup import escape
    from rich.table import Table

    table = Table("", "Speaker", "Voice", "Turns", "Words", "Begins", box=None)
    for one in found:
        told = one.label if raw else one.shown
        how = "" if one.by_hand else " (proposed)"
        counts = (number(one.turns), number(one.words))
        table.add_row(str(one.number), escape(told), escape(f"{one.voice}{how}"), *counts, escape(one.begins))
    console().print(table)


def match(
    name: NameArgument,
    set: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="TURN=QUESTION", help="The question that a turn asks; TURN= for none."),
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="Look for the questions once more.")] = False,
    actor: ActorOption = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """List where the questions of the guide are asked, or say it by hand; what was said by hand stands.

    Example: quaestor interview match P1 --set 12=factors --set 14=
    """
    from quaestor.base.errors import InputError
    from quaestor.interviews.repository import open_interviews
    from quaestor.interviews.transcript_sheet import told_turns
    from quaestor.interviews.transcripts.corrections import match_again, set_question

    wanted = named_values(set or [], "TURN=QUESTION")
    if wrong := [turn for turn in wanted if not turn.isdecimal()]:
        raise InputError(f"{wrong[0]!r} is no number of a turn: `quaestor interview transcript {name}` lists them")
    with open_interviews(chosen_study(study)) as interviews:
        for turn, question in wanted.items():
            set_question(interviews, name, int(turn), question, actor)
        if again:
            match_again(interviews, name, actor)
        lines = [line for line in told_turns(interviews, name) if line.heading is not None]
        guide = interviews.guide_of(interviews.interview(name))
    asked = {line.turn.question for line in lines}
    missing = [one for one in guide.questions() if one.id not in asked]
    if json:
        print_json({
            "interview": name,
            "asked": [
                {"turn": line.turn.number, "question": line.turn.question, "how": _how(line)} for line in lines
            ],
            "missing": [one.id for one in missing],
        })  # fmt: skip
        return
    screen = console()
    for line in lines:
        said = f"{line.turn.number:>5} {line.time:>8} {line.turn.question} ({_how(line)}): {line.turn.text}"
        screen.print(said, markup=False, soft_wrap=True)
    for one in missing:
        say(f"not found: {one.id} · {one.text}")


def _how(line: TurnLine) -> str:
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


def _speaker_json(one: Speaker, raw: bool) -> dict[str, Any]:
    return {
        "number": one.number, "speaker": one.label if raw else one.shown, "voice": str(one.voice),
        "how": "by hand" if one.by_hand else "proposed", "turns": one.turns, "words": one.words, "begins": one.begins,
    }  # fmt: skip
