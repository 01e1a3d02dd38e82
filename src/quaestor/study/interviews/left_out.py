"""What came in with a transcript and is no part of it: what its file says beside the conversation, and doubts."""

from __future__ import annotations

from dataclasses import dataclass

from quaestor.study.interviews.masking import masked_words
from quaestor.study.interviews.room import Interviews
from quaestor.study.interviews.transcripts import latest_import

MOST = 20
"""As many are listed; the others are counted."""
_LONGEST = 200


@dataclass(frozen=True)
class LeftOut:
    """What was left out of a file when it came in."""

    lines: tuple[str, ...] = ()
    """Notes, styles, headers and footnotes, with known names replaced."""
    count: int = 0
    encoding: str = ""
    doubtful: bool = False
    """Whether the letters may be wrong, since the file does not say its encoding."""

    @property
    def more(self) -> int:
        return self.count - len(self.lines)


def left_out_of(interviews: Interviews, name: str) -> LeftOut:
    """Of the transcript that an interview has now; nothing where it has none."""
    known = latest_import(interviews.file.entries(about=name))
    if known is None:
        return LeftOut()
    kept = known.said.get("left_out", [])
    lines = (masked_words(interviews, _in_a_line(one)) for one in kept[:MOST])
    return LeftOut(
        tuple(line if len(line) <= _LONGEST else f"{line[:_LONGEST].rstrip()} …" for line in lines),
        known.said.get("left_out_count", len(kept)),
        known.said.get("encoding", ""),
        known.said.get("doubtful", False),
    )


def _in_a_line(text: str) -> str:
    """Words that may be printed on a screen: nothing in them moves it."""
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
