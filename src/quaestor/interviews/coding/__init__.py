"""Coding transcripts: passages, progress, agreement by code, in-vivo codes."""
