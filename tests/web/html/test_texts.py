"""Texts of a questionnaire as HTML: links lead somewhere, and no text takes for ever."""

from __future__ import annotations

import pytest

from quaestor.web.html.texts import set_text, web_links


def test_addresses_of_pages_and_mailboxes_are_links() -> None:
    said = web_links("Write to lead+study@uni.example.org, or see https://example.org/a?b=1.")
    assert 'href="mailto:lead+study@uni.example.org"' in said
    assert 'href="https://example.org/a?b=1"' in said


@pytest.mark.parametrize("part", ["a", "a.", "a@", "https://.", "a@b.c-"])
def test_a_long_text_takes_no_longer_than_it_is_long(part: str) -> None:
    """With an expression that starts over at every character this would not end."""
    assert len(set_text(part * (600_000 // len(part)))) >= 600_000 - len(part)
