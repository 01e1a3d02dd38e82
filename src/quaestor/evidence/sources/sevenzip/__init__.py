"""Streams members out of `.7z` archives; see `archive` for how."""

from quaestor.evidence.sources.sevenzip.archive import Member, SevenZip, looks_like_sevenzip

__all__ = ["Member", "SevenZip", "looks_like_sevenzip"]
