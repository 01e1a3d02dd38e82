"""Characters are decoded correctly, or the import reports that they may be wrong."""

from __future__ import annotations

import pytest
from tests.support.transcript_writers import document

from quaestor.base.errors import InputError
from quaestor.interviews.transcript_formats import read_transcript
from quaestor.interviews.transcript_formats.text_decoding import ENCODINGS, is_misread

OTHERS = {
    "cp1251": "Ведущий: Привет, как дела?\nОтвет: Хорошо.",
    "windows-1253": "Guest: Γεια σας, τι κάνετε",
    "cp1250": "Guest: można, właśnie; mógłbym być żołnierzem",
    "Shift-JIS": "Interviewer: こんにちは\nGuest: はい",
    "gbk": "Guest: 你好，模型训练",
    "euc-kr": "Guest: 안녕하세요",
    "koi8-r": "Guest: Привет всем",
    "ISO-8859-15": "Guest: 5 € für œuvres",
}
WESTERN = (
    "Größere Städte überall: süß, Äpfel, „Übermäßig“, „Ödnis“, ‚Ähre‘, ‚Öl‘", "créée, naïve œuvre déjà où ça « l’été »",
    "informação, opções, situações, coração: ações não vão", "näyttää pöytää pääsee hyvää yötä", "¿Qué? ¡Señor niño!",
    "það er nú á íslensku þó æði úr", "m², R² = 0.9, 5 µm, 20 °C, 3×4, ±5, §3, x²", "blåbær på øen",
)  # fmt: skip


def words(data: bytes, encoding: str = "") -> str:
    return "\n".join(f"{turn.speaker}: {turn.text}" for turn in read_transcript(data, "talk", encoding=encoding).turns)


@pytest.mark.parametrize("encoding", OTHERS)
def test_a_file_is_read_in_the_stated_encoding(encoding: str) -> None:
    written = OTHERS[encoding]
    transcript = read_transcript(written.encode(encoding), "talk", encoding=encoding)
    assert words(written.encode(encoding), encoding) == written
    assert (transcript.encoding in ENCODINGS, transcript.doubtful) == (True, False)


@pytest.mark.parametrize("encoding", ["cp1251", "windows-1253", "cp1250", "Shift-JIS", "gbk", "koi8-r"])
def test_unlikely_letter_combinations_are_reported(encoding: str) -> None:
    transcript = read_transcript(OTHERS[encoding].encode(encoding), "talk")
    assert (transcript.encoding, transcript.doubtful) == ("Windows-1252", True)


@pytest.mark.parametrize("text", WESTERN)
def test_texts_in_windows_1252_languages_are_not_reported_as_doubtful(text: str) -> None:
    assert text.encode("cp1252")
    assert not is_misread(text)


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("text", ["Guest: half", OTHERS["cp1251"], "Guest: 你好，一二三\nInterviewer: so it goes on"])
def test_utf_16_is_recognized_without_a_byte_order_mark(codec: str, text: str) -> None:
    assert words(text.encode(codec)) == text
    assert read_transcript(text.encode(codec), "talk").encoding == "UTF-16"


def test_an_encoding_that_does_not_fit_is_refused() -> None:
    cases = [(b"Guest: \x81\xff", "Shift_JIS", "is not a text in Shift_JIS"), (b"so", "klingon", "choose from: "),
             (b"so", "rot13", "there is no encoding 'rot13'"), (b"so\0", "UTF-8", "not a text in UTF-8"),
             (document("<w:p/>"), "UTF-8", "needs no encoding")]  # fmt: skip
    for data, encoding, told in cases:
        with pytest.raises(InputError, match=told):
            read_transcript(data, "talk", encoding=encoding)
    assert words("\ufeffGuest: so".encode(), "utf-8") == "Guest: so"
