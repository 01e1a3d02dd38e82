"""Texts of a questionnaire as HTML: addresses become links, and no text takes long."""

from __future__ import annotations

import pytest

from quaestor.web.html.texts import set_text, web_links


def test_web_and_email_addresses_become_links() -> None:
    said = web_links("Write to lead+study@uni.example.org, or see https://example.org/a?b=1.")
    assert 'href="mailto:lead+study@uni.example.org"' in said
    assert 'href="https://example.org/a?b=1"' in said


@pytest.mark.parametrize("part", ["a", "a.", "a@", "https://.", "a@b.c-"])
def test_formatting_a_long_text_takes_linear_time(part: str) -> None:
    """With an expression that starts over at every character this would not end."""
    assert len(set_text(part * (600_000 // len(part)))) >= 600_000 - len(part)
