"""Reads transcripts of any recording program: WebVTT, SubRip, Word documents, plain text, Markdown.

No word is added and none is lost. Text outside the conversation (notes, styles, table headers) is left out and
reported; line breaks that only fit text onto a screen become spaces.
"""

from __future__ import annotations

from quaestor.interviews.transcript_formats.detect import FORMATS, LARGEST, read_transcript
from quaestor.interviews.transcript_formats.text_decoding import ENCODINGS

__all__ = ["ENCODINGS", "FORMATS", "LARGEST", "read_transcript"]
