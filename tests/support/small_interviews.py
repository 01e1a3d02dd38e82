"""A small study with interviews: a guide, an agreement, participants, and transcripts that somebody typed."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from quaestor.interviews.model.records import Interview, Transcript, Voice
from quaestor.interviews.participants.consent import ACCEPTED, SPOKEN, record_consent
from quaestor.interviews.participants.people import add_participant
from quaestor.interviews.repository import Interviews
from quaestor.store.sealed_file import NewEntry
from quaestor.study.folder import Study, open_study

STUDY = """
[study]
name = "talks"
title = "What framework developers know"
seed = 4
"""
AGREEMENT = """# Before we talk

We ask about your work with deep-learning frameworks, for about 30 minutes. **Nothing is published with your name.**

- You may skip every question and stop at any time.
- You can withdraw later, with the same link: then all that you said is erased.
"""
SMALL = """+++
title = "How developers judge models"
minutes = 10
agreement = "agreement.md"
[research]
practice = "What do developers do when they write a script?"
legitimacy = "When is a model illegal?"
+++
# Welcome {#welcome minutes=1 .opening}
Thank you for your time.
> Start the recording.

# Practice {#practice minutes=5}
We begin with your work.
## Which stages does your work have? {#stages research=practice}
- Which one takes longest?
## Which factors do you weigh? {#factors .reference .optional research=practice}
- [ ] Size of the data {#data}
- [ ] Training time {#time}
- [ ] other

# Legitimacy {#legitimacy minutes=3}
## When do you call a model illegal? {#illegal .guided research=legitimacy}
> Ask for a number.
- By which threshold?

# Thanks {#thanks minutes=1 .closing}
Thank you: this helps.
"""
GUIDE = "guide"
TALK = (
    ("Interviewer", "Which stages does your work have?"),
    ("Guest", "First I look at the data, then the model is designed and trained."),
    ("Interviewer", "When do you call a model illegal?"),
    ("Guest", "When shapes do not match. Or the loss is above 10 after an epoch, that is my threshold."),
)
"""Who says what; the interviewer is called so."""


def a_study(folder: Path, guide: str = SMALL, more: str = "") -> Study:
    """A study folder with a guide and a consent form but no participants; `more` goes into study.toml."""
    (folder / "instruments").mkdir(parents=True, exist_ok=True)
    (folder / "study.toml").write_text(STUDY + more, "utf-8")
    (folder / "instruments" / f"{GUIDE}.md").write_text(guide, "utf-8")
    (folder / "instruments" / "agreement.md").write_text(AGREEMENT, "utf-8")
    return open_study(folder)


def with_participant(
    interviews: Interviews,
    role: str = "engineer",
    years: float | None = 5,
    field: str = "compilers",
    consent: bool = True,
) -> str:
    """Somebody who takes part and, unless told otherwise, agreed; their pseudonym."""
    participant = add_participant(interviews, role, years, field)
    if consent:
        record_consent(interviews, participant.pseudonym, ACCEPTED, SPOKEN)
    return participant.pseudonym


def with_interview(interviews: Interviews, participant: str = "", guide: str = GUIDE) -> Interview:
    """An interview that is planned, with somebody new where nobody is named."""
    return interviews.plan(participant or with_participant(interviews), guide, interviews.coding.lead)


def with_transcript(
    interviews: Interviews,
    name: str = "",
    turns: Sequence[tuple[str, str] | tuple[str, str, float, float]] = TALK,
    matched: dict[int, str] | None = None,
) -> Transcript:
    """What was said in an interview, as (speaker, words) or (speaker, words, start, end); else a new one.

    The voice of `Interviewer` is the interviewer's, every other the participant's. `matched` has the turns in which a
    question of the guide is asked; without it none is.
    """
    interview = interviews.interview(name) if name else with_interview(interviews)
    actor, time = interviews.coding.lead, interviews.now()
    pieces = [dict(zip(("speaker", "text", "start", "end"), turn, strict=False)) for turn in turns]
    words = [str(piece["text"]) for piece in pieces]
    said = {
        "format": "text",
        "sha256": hashlib.sha256("\n".join(words).encode()).hexdigest(),
        "turns": len(words),
        "words": sum(len(one.split()) for one in words),
    }
    voices = {speaker: _voice(speaker) for speaker in dict.fromkeys(turn[0] for turn in turns)}
    about = (interview.participant, interview.id, time)
    interviews.file.put_pieces(
        interview.id,
        interview.participant,
        pieces,
        NewEntry("transcript", actor, said, *about),
        *(NewEntry("speaker", actor, {"speaker": one, "voice": voice}, *about) for one, voice in voices.items()),
    )
    if matched:
        questions = {str(turn): question for turn, question in matched.items()}
        interviews.file.add(NewEntry("match", actor, {"questions": questions, "how": "by hand"}, *about))
    return interviews.transcript(interview.id)


def _voice(speaker: str) -> str:
    return Voice.INTERVIEWER if speaker == "Interviewer" else Voice.PARTICIPANT
