"""Erasures that are not finished yet: which files of a study they are in, and how they come to an end."""

from __future__ import annotations

from pathlib import Path

from quaestor.store.erasure import erasures_pending, finish_erasures

__all__ = ["describe_pending_erasures", "finish_erasures"]


def describe_pending_erasures(folder: Path) -> str:
    """What is not finished, why, and what to do, in a few sentences; empty where nothing is pending."""
    names = erasures_pending(folder)
    if not names:
        return ""
    files = f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]
    return (
        f"What was erased can still be found in the bytes of {files}, because another program was using the file or "
        "the disk was full. The desk tries to remove it every minute, and so does the next command that opens the "
        "file; until then, do not copy it."
    )
