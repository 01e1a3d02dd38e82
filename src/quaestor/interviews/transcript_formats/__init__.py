"""Transcripts of conversations, from whatever recorded them: WebVTT, SubRip, Word documents, plain text, Markdown.

No word is added and none is lost. What a file says beside the conversation (notes, styles, headers of a table) is left
out and told; line breaks that only fit words onto a screen become spaces.
"""

from __future__ import annotations

from quaestor.interviews.transcript_formats.detect import FORMATS, LARGEST, transcript_in
from quaestor.interviews.transcript_formats.text_decoding import ENCODINGS

__all__ = ["ENCODINGS", "FORMATS", "LARGEST", "transcript_in"]
