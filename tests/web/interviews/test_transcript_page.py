"""The transcript page: import from a file, reading in parts, corrections by form, also in a real browser."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from httpx2 import Response
from playwright.sync_api import Browser, expect
from starlette.datastructures import Headers
from starlette.testclient import TestClient
from tests.interviews.test_audio import write_wav
from tests.support.coded_interviews import coded_study
from tests.support.desk import QUICK, closing_app, csrf_in, invited, post, signed_in
from tests.support.small_interviews import a_study, with_interview, with_transcript
from tests.support.themed_interviews import themed_study
from tests.support.transcript_writers import table_document, teams_webvtt
from tests.support.windows import assert_for_everyone, complaints_of, serving, session_after, width_of

from quaestor.interviews.audio import add_audio
from quaestor.interviews.model.records import Voice
from quaestor.interviews.participants.consent import ACCEPTED, DECLINED, SPOKEN, record_consent
from quaestor.interviews.repository import open_interviews
from quaestor.interviews.transcripts.import_file import import_bytes
from quaestor.interviews.withdrawal import withdraw
from quaestor.people.credentials import Passwords
from quaestor.people.roles import Role
from quaestor.study.folder import Study
from quaestor.web.app import make_app
from quaestor.web.security.forms import LONGEST_WITH_A_FILE, Upload, read_upload

PAGE = "/interviews/P1/transcript"
TALK = [
    ("Zanthor Quell", "Thanks. So tell me, which stages does your work have?"),
    ("Obviax Trin", "First the data <b>&amp; then</b> <script>alert(1)</script> the model. It takes days."),
    ("Zanthor Quell", "And the factors that you weigh?"),
    ("Obviax Trin", "Mostly time. שלום 🙂 and the size of the data."),
    ("Zanthor Quell", "Does that make a model a bad one?"),
    ("Obviax Trin", "No. Only when shapes do not match: then nothing runs at all."),
]
LONG = [(("Interviewer", "Guest")[place % 2], f"What is said in turn {place}.") for place in range(310)]


@pytest.fixture
def study(tmp_path: Path) -> Study:
    made = a_study(tmp_path / "study")
    with open_interviews(made) as interviews:
        with_interview(interviews)
    return made


@pytest.fixture
def lead(study: Study) -> Iterator[TestClient]:
    with closing_app(make_app(study.root, passwords=Passwords(QUICK))) as app:
        yield signed_in(app, study.root)


def send(opened: TestClient, data: bytes, name: str = "talk.vtt", csrf: str = "", **fields: str) -> Response:
    token = csrf or csrf_in(opened.get(PAGE).text)
    origin = str(opened.base_url).rstrip("/")
    files = {"file": (name, data, "application/octet-stream")}
    return opened.post(f"{PAGE}/file", data={"csrf": token, **fields}, files=files, headers={"origin": origin})


def turns(study: Study) -> list[tuple[Voice, str]]:
    with open_interviews(study) as interviews:
        return [(turn.voice, turn.question if turn.asks else "") for turn in interviews.transcript("P1").turns]


def test_an_interview_without_a_transcript_shows_the_upload_form(lead: TestClient) -> None:
    page = lead.get(PAGE).text
    assert "No transcript yet" in page
    assert 'enctype="multipart/form-data"' in page


def test_an_uploaded_transcript_is_imported_and_its_html_is_escaped(lead: TestClient, study: Study) -> None:
    assert send(lead, teams_webvtt(TALK)).headers["location"] == f"{PAGE}?taken=yes"
    page = lead.get(f"{PAGE}?taken=yes").text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "<script>" not in page
    assert "שלום 🙂 and the size of the data." in page
    assert "Which stages does your work have?</h2>" in page.replace(' <span class="small">matched</span>', "")
    assert "Obviax" not in page, "names that a file gives to speakers are nobody's business"
    assert [voice for voice, _ in turns(study)] == [Voice.INTERVIEWER, Voice.PARTICIPANT] * 3


def test_a_word_document_is_imported_and_importing_it_again_changes_nothing(lead: TestClient, study: Study) -> None:
    data = table_document(TALK)
    assert b"\r\n" in data or b"\n" in data
    assert send(lead, data, "talk.docx").status_code == 303
    assert len(turns(study)) == len(TALK)
    assert send(lead, data, "talk.docx").headers["location"] == f"{PAGE}?taken=known"
    refused = send(lead, teams_webvtt(TALK))
    assert refused.status_code == 409
    assert "choose the file again under “Another file”" in refused.text
    assert "--replace" not in refused.text
    assert len(turns(study)) == len(TALK)
    assert send(lead, teams_webvtt(TALK[:2]), replace="yes").status_code == 303
    assert len(turns(study)) == 2


def test_left_out_notes_and_suspicious_characters_are_shown_and_can_be_fixed(lead: TestClient, study: Study) -> None:
    noted = teams_webvtt(TALK).replace(b"WEBVTT", b"WEBVTT\n\nNOTE <b>by</b> Obviax Trin", 1)
    page = lead.get(str(send(lead, noted).headers["location"])).text
    assert "Left out of the file: 1 note or header" in page
    assert '<li dir="auto">NOTE &lt;b&gt;by&lt;/b&gt; P1</li>' in page
    assert "characters look wrong" not in page
    odd = "Interviewer: Как дела?\n\nGuest: Хорошо, спасибо.".encode("cp1251")
    page = lead.get(str(send(lead, odd, "talk.txt", replace="yes").headers["location"])).text
    assert "The characters look wrong" in page
    assert "Left out of the file" not in page
    send(lead, odd, "talk.txt", replace="yes", encoding="Windows-1251")
    page = lead.get(PAGE).text
    assert "Хорошо, спасибо." in page
    assert "characters look wrong" not in page
    assert send(lead, odd, "talk.txt", replace="yes", speakers="Nobody\r\nGuest").status_code == 422
    assert send(lead, odd, "talk.txt", replace="yes", encoding="klingon").status_code == 422
    assert len(turns(study)) == 2


def test_no_upload_form_is_shown_if_the_file_would_be_refused(lead: TestClient, study: Study) -> None:
    token = csrf_in(lead.get(PAGE).text)
    with open_interviews(study) as interviews:
        record_consent(interviews, "P1", DECLINED, SPOKEN)
    page = lead.get(PAGE).text
    assert "P1 declined on" in page
    assert 'type="file"' not in page
    assert send(lead, teams_webvtt(TALK), csrf=token).status_code == 409
    with open_interviews(study) as interviews:
        record_consent(interviews, "P1", ACCEPTED, SPOKEN)
    send(lead, teams_webvtt(TALK))
    assert 'type="file"' in lead.get(PAGE).text, "who agrees after all is transcribed"


def test_a_transcript_assigned_to_raters_shows_why_it_cannot_be_replaced(tmp_path: Path) -> None:
    study = coded_study(tmp_path)
    with closing_app(make_app(study.root, passwords=Passwords(QUICK))) as app:
        lead = signed_in(app, study.root)
        page = lead.get(PAGE).text
        assert "Turns of P1 are assigned to raters (themes)" in page
        assert 'type="file"' not in page
        assert send(lead, teams_webvtt(TALK), csrf=csrf_in(page), replace="yes").status_code == 409


def test_an_unreadable_transcript_is_rejected(lead: TestClient) -> None:
    answer = send(lead, b"PK\x03\x04 broken", "talk.docx")
    assert answer.status_code == 422
    assert "not a valid Word document" in answer.text
    assert send(lead, b"").status_code == 422


def test_an_upload_needs_a_csrf_token_and_has_a_size_limit(lead: TestClient) -> None:
    assert send(lead, teams_webvtt(TALK), csrf="guessed").status_code == 403
    assert send(lead, b"a" * LONGEST_WITH_A_FILE).status_code == 413
    token = csrf_in(lead.get(PAGE).text)
    large = lead.post(PAGE, data={"csrf": token, "act": "a" * 1_100_000}, headers={"origin": "http://127.0.0.1"})
    assert large.status_code == 413, "other forms stay as short as they were"


def test_only_leads_and_interviewers_see_transcripts(study: Study) -> None:
    with closing_app(make_app(study.root, passwords=Passwords(QUICK))) as app:
        assert signed_in(app, study.root, Role.INTERVIEWER).get(PAGE).status_code == 200
        for role in (Role.RATER, Role.VIEWER, Role.REVIEWER):
            assert signed_in(app, study.root, role).get(PAGE).status_code == 403


def test_speaker_and_question_of_a_turn_are_corrected_by_form(lead: TestClient, study: Study) -> None:
    send(lead, teams_webvtt(TALK))
    assert [asks for _, asks in turns(study)] == ["stages", "", "factors", "", "", ""]
    form = lead.get(f"{PAGE}?turn=4").text
    assert "Speaker" in form
    fields = {"act": "turn", "turn": "4", "voice": "interviewer", "question": "illegal"}
    answer = post(lead, PAGE, fields)
    assert answer.headers["location"] == f"{PAGE}?page=1#turn-4"
    assert turns(study)[4] == (Voice.INTERVIEWER, "illegal")
    assert post(lead, PAGE, {"act": "speaker", "speaker": "1", "voice": "other"}).status_code == 303
    assert turns(study)[0] == (Voice.OTHER, "")
    assert turns(study)[4] == (Voice.OTHER, "illegal"), "what was said by hand stands"
    for wrong in ({"act": "turn", "turn": "99"}, {"act": "turn"}, {"act": "sink"}, {"act": "speaker", "speaker": "9"}):
        assert post(lead, PAGE, wrong).status_code == 422, wrong


def test_a_long_transcript_is_shown_page_by_page(lead: TestClient) -> None:
    send(lead, teams_webvtt(LONG))
    page = lead.get(PAGE)
    assert len(page.content) < 150_000
    assert "turn 149." in page.text
    assert "turn 150." not in page.text
    assert "turn 150." in lead.get(f"{PAGE}?page=2").text
    assert lead.get(f"{PAGE}?page=4").status_code == 404


def upload_in(body: bytes, headers: Headers) -> Upload:
    return asyncio.run(read_upload(body, headers))


def test_multipart_form_parts_are_parsed_byte_by_byte() -> None:
    head = Headers({"content-type": 'multipart/form-data; boundary="x y"'})
    file = b"\x00\r\n--x\r\n\r\nbinary\r\n"
    body = (
        b'--x y\r\nContent-Disposition: form-data; name="csrf"\r\n\r\ntoken\r\n'
        b'--x y\r\nContent-Disposition: form-data; name="file"; filename="../../a\xc3\xa4.vtt"\r\n'
        b"Content-Type: text/vtt\r\n\r\n" + file + b"\r\n--x y--\r\n"
    )
    sent = upload_in(body, head)
    assert sent.fields == {"csrf": "token"}
    assert (sent.files["file"].name, sent.files["file"].data) == ("aä.vtt", file)
    assert upload_in(body[:-8], head).fields == {}, "what was cut off is nothing"
    assert upload_in(body, Headers({"content-type": "multipart/form-data"})).fields == {}
    assert upload_in(b"--x y\r\n" * 100 + b"--x y--", head).fields == {}


@pytest.mark.browser
def test_a_transcript_is_imported_and_corrected_by_keyboard_on_a_phone_in_both_themes(
    study: Study, browser: Browser, tmp_path: Path
) -> None:
    path = tmp_path / "talk.vtt"
    path.write_bytes(teams_webvtt(TALK))
    link = invited(study.root, Role.INTERVIEWER)
    with serving(study.root) as address:
        state = session_after(f"{address}join/{link}")
        context = browser.new_context(storage_state=state, viewport={"width": 320, "height": 700}, color_scheme="dark")
        page = context.new_page()
        complaints = complaints_of(page, address)
        page.goto(f"{address}{PAGE[1:]}")
        assert Axe().run(page).violations_count == 0
        page.get_by_label("Transcript file").set_input_files(path)
        page.get_by_role("button", name="Import").focus()
        page.keyboard.press("Enter")
        expect(page.get_by_role("status")).to_contain_text("Transcript imported")
        assert width_of(page) <= 320
        assert Axe().run(page).violations_count == 0
        page.get_by_role("link", name="Correct turn 4").focus()
        page.keyboard.press("Enter")
        page.get_by_label("Question of the guide asked here").select_option("illegal")
        page.emulate_media(color_scheme="light")
        assert Axe().run(page).violations_count == 0
        page.get_by_role("button", name="Save").last.click()
        expect(page.get_by_role("heading", name="When do you call a model illegal? by hand")).to_be_visible()
        assert width_of(page) <= 320
        assert complaints == []
        context.close()
    with open_interviews(study) as interviews:
        assert not import_bytes(interviews, "P1", teams_webvtt(TALK), "talk.vtt").new
        assert interviews.transcript("P1").turns[5].question == "illegal"


def test_an_answer_is_ended_and_a_day_is_set_by_form(lead: TestClient, study: Study) -> None:
    send(lead, teams_webvtt(TALK[:4]), held="2026-03-01")
    assert "Held: 2026-03-01" in lead.get(PAGE).text
    post(lead, PAGE, {"act": "turn", "turn": "2", "question": "-"})
    assert "Outside the guide" in lead.get(PAGE).text
    with open_interviews(study) as interviews:
        assert [turn.question for turn in interviews.transcript("P1").turns] == ["stages", "stages", "", ""]
    post(lead, PAGE, {"act": "occasion", "held": "2026-03-02", "group": "focus"})
    assert "Held: 2026-03-02, with the group focus" in lead.get(PAGE).text
    assert post(lead, PAGE, {"act": "occasion", "held": "2999-01-01"}).status_code == 422
    post(lead, PAGE, {"act": "occasion", "held": "2026-03-02", "group": ""})
    with open_interviews(study) as interviews:
        assert (interviews.interview("P1").day, interviews.interview("P1").group) == ("2026-03-02", "")


def test_a_turn_that_was_coded_before_its_speaker_was_corrected_says_that_it_is_not_counted(tmp_path: Path) -> None:
    study = themed_study(tmp_path / "study", [("{data:One}.", "two", "three")])
    words = "Coded before its speaker was corrected: not counted"
    with closing_app(make_app(study.root, passwords=Passwords(QUICK))) as app:
        lead = signed_in(app, study.root)
        assert words not in lead.get(PAGE).text
        post(lead, PAGE, {"act": "turn", "turn": "1", "voice": "interviewer"})
        page = lead.get(PAGE).text
        assert page.count(words) == 1
        assert page.index('id="turn-1"') < page.index(words) < page.index('id="turn-2"')
        post(lead, PAGE, {"act": "turn", "turn": "1", "voice": "participant"})
        assert words not in lead.get(PAGE).text


AUDIO = "/interviews/P1/audio"
TIMED = [("Interviewer", "When?", 0.0, 1.0), ("Guest", "When shapes do not match.", 1.5, 2.5)]


def add_recording(study: Study, folder: Path, seconds: float = 3) -> bytes:
    data = write_wav(folder / "talk.wav", seconds)
    with open_interviews(study) as interviews:
        with_transcript(interviews, "P1", TIMED)
        add_audio(interviews, "P1", folder / "talk.wav")
    return data


def test_the_lead_hears_a_recording_in_parts_and_nobody_else_does(study: Study, tmp_path: Path) -> None:
    data = add_recording(study, tmp_path)
    size = len(data)
    with closing_app(make_app(study.root, passwords=Passwords(QUICK))) as app:
        lead = signed_in(app, study.root)
        for role in (Role.INTERVIEWER, Role.RATER, Role.TIE_BREAKER, Role.VIEWER, Role.REVIEWER, Role.PAYER):
            other = signed_in(app, study.root, role)
            assert other.get(AUDIO).status_code == 403
            if role is Role.INTERVIEWER:
                assert "<audio" not in other.get(PAGE).text
        page = lead.get(PAGE)
        assert f'src="{AUDIO}"' in page.text
        assert 'hidden data-at="1.5"' in page.text
        assert "media-src 'self'" in page.headers["content-security-policy"]
        whole = lead.get(AUDIO)
        assert (whole.status_code, whole.content == data, whole.headers["content-type"]) == (200, True, "audio/wav")
        assert (whole.headers["accept-ranges"], whole.headers["x-content-type-options"]) == ("bytes", "nosniff")
        for asked, start, end in (
            ("bytes=0-99", 0, 100),
            ("bytes=200000-", 200_000, size),
            ("bytes=-10", size - 10, size),
            (f"bytes=5-{size * 2}", 5, size),
        ):
            part = lead.get(AUDIO, headers={"range": asked})
            assert (part.status_code, part.content == data[start:end]) == (206, True)
            assert part.headers["content-range"] == f"bytes {start}-{end - 1}/{size}"
        beyond = lead.get(AUDIO, headers={"range": f"bytes={size}-"})
        assert (beyond.status_code, beyond.headers["content-range"]) == (416, f"bytes */{size}")
        for odd in ("bytes=", "bytes=-", "lines=1-2", "bytes=0-1,3-4", "bytes=a-b"):
            assert lead.get(AUDIO, headers={"range": odd}).status_code == 200
        assert lead.head(AUDIO).headers["content-length"] == str(size)
        with open_interviews(study) as interviews:
            withdraw(interviews, "P1")
        assert lead.get(AUDIO).status_code == 404


@pytest.mark.browser
def test_a_recording_plays_from_a_turn(browser: Browser, study: Study, tmp_path: Path) -> None:
    add_recording(study, tmp_path)
    with serving(study.root) as address:
        state = session_after(f"{address}join/{invited(study.root, Role.LEAD)}")
        page = browser.new_context(storage_state=state).new_page()
        complaints = complaints_of(page, address)
        page.goto(f"{address.rstrip('/')}{PAGE}")
        page.get_by_role("button", name="Play turn 1 from").click()
        pause = page.get_by_role("button", name="Pause turn 1 from")
        expect(pause).to_be_visible()
        assert page.locator("#recording").evaluate("player => player.currentTime") >= 1.5
        pause.click()
        expect(page.get_by_role("button", name="Play turn 1 from")).to_be_visible()
        assert page.locator("#recording").evaluate("player => player.paused")
        assert_for_everyone(page)
        assert complaints == []
        page.context.close()
