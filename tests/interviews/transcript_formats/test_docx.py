"""Word documents: words stay separated, notes are reported, and the text is read from the right part."""

from __future__ import annotations

import pytest
from tests.support.transcript_writers import document, paragraph, run, table

from quaestor.interviews.transcript_formats import read_transcript


def words_of(data: bytes) -> list[str]:
    return [word for turn in read_transcript(data, "talk").turns for word in turn.text.split()]


@pytest.mark.parametrize("within", [paragraph("Box words"), table(("Box words",))])
def test_a_text_box_inside_a_paragraph_separates_words(within: str) -> None:
    box = f"<w:r><w:pict><w:txbxContent>{within}</w:txbxContent></w:pict></w:r>"
    amid = f"<w:p>{run('Guest A: before')}{box}{run('after')}</w:p>"
    assert words_of(document(amid)) == ["before", "Box", "words", "after"]
    cell = table(("Guest A", "so")).replace(paragraph("so"), amid.replace("Guest A: ", ""))
    assert words_of(document(cell)) == ["before", "Box", "words", "after"]


def test_a_positioned_tab_separates_words() -> None:
    placed = '<w:r><w:ptab w:relativeTo="margin" w:alignment="right" w:leader="none"/></w:r>'
    assert words_of(document(f"<w:p>{run('Guest A: so')}{placed}{run('it')}</w:p>")) == ["so", "it"]


def test_headers_footers_and_tables_in_notes_are_reported() -> None:
    beside = {
        "word/header1.xml": paragraph("A study"),
        "word/header2.xml": paragraph("A study"),
        "word/footer1.xml": paragraph("Page 1"),
        "word/footnotes.xml": table(("who", "Trin")) + paragraph("checked"),
    }
    transcript = read_transcript(document(paragraph("Guest A: so"), beside=beside), "talk")
    assert [turn.text for turn in transcript.turns] == ["so"]
    assert transcript.left_out == ("Footnote: who | Trin", "Footnote: checked", "Header: A study", "Footer: Page 1")


def test_the_text_is_read_from_the_part_named_by_the_document() -> None:
    beside = {"word/footnotes2.xml": paragraph("checked")}
    transcript = read_transcript(document(paragraph("Guest A: so"), part="word/document2.xml", beside=beside), "talk")
    assert [(turn.speaker, turn.text) for turn in transcript.turns] == [("Guest A", "so")]
    assert transcript.left_out == ("Footnote: checked",)
