"""The answers file compared with a simple model, and its content after a withdrawal."""

from __future__ import annotations

import stat
import string
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from quaestor.base.errors import InputError, StateError
from quaestor.store.private_file import PrivateFile
from quaestor.surveys.model.records import ResponseStatus
from quaestor.surveys.model.wording.catalogue import TooLate
from quaestor.surveys.store.answers import _FIRST, _KIND, AnswerFile
from quaestor.surveys.store.page_submission import MOST_BYTES, MOST_SAVES, PageSubmission
from quaestor.surveys.store.responses import new_code

PAGES, QUESTIONS, KEYS = ("a", "b"), ("q1", "q2", "q3"), tuple(string.ascii_lowercase)
ANSWERS = st.dictionaries(st.sampled_from(QUESTIONS), st.fixed_dictionaries({"text": st.text(max_size=8)}), max_size=3)


@pytest.fixture
def answers(tmp_path: Path) -> Iterator[AnswerFile]:
    with AnswerFile(tmp_path / "answers.db") as opened:
        opened.add_version("s", "text", "2026-01-01")
        yield opened


class AgainstAModel(RuleBasedStateMachine):
    """After any sequence of starts, pages and withdrawals, the last answer counts and the journal has every page."""

    @initialize()
    def opened(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.file = AnswerFile(Path(self.folder.name) / "answers.db")
        self.file.add_version("s", "text", "2026-01-01")
        self.codes: list[str] = []
        self.journals: dict[str, list[tuple[str, Any]]] = {}
        self.keys: dict[str, tuple[str, str]] = {}
        self.under: dict[str, Any] = {}
        self.finished: set[str] = set()
        self.erased = 0

    def teardown(self) -> None:
        if hasattr(self, "file"):
            self.file.close()
            self.folder.cleanup()

    @rule()
    def begins(self) -> None:
        code = new_code()
        self.file.begin("s", 1, code, "2026-01-01")
        self.codes.append(code)
        self.journals[code] = []

    @precondition(lambda self: self.codes)
    @rule(
        data=st.data(), page=st.sampled_from(PAGES), key=st.sampled_from(KEYS), said=ANSWERS, last=st.integers(0, 9),
    )  # fmt: skip
    def sends(self, data: st.DataObject, page: str, key: str, said: dict[str, Any], last: int) -> None:
        code = data.draw(st.sampled_from(self.codes))
        standing = ResponseStatus.FINISHED if last == 0 else ResponseStatus.OPEN
        known = self.keys.get(key)
        sending = PageSubmission(code, page, said, key, standing, 1.5)
        if known == (code, page) and self.under[key] == said:  # once more: answered as if it were the first time
            self.file.save(sending)
        elif known not in (None, (code, page)) or code in self.finished:
            with pytest.raises(StateError):
                self.file.save(sending)
        else:
            assert self.file.save(sending).standing is standing
            self.keys[key] = (code, page)
            self.under[key] = said
            self.journals[code].append((page, said))
            self.finished |= {code} if standing is ResponseStatus.FINISHED else set()

    @precondition(lambda self: self.codes)
    @rule(data=st.data())
    def withdraws(self, data: st.DataObject) -> None:
        code = data.draw(st.sampled_from(self.codes))
        assert self.file.erase(code, "2026-01-02")
        assert not self.file.erase(code, "2026-01-02")
        self.codes.remove(code)
        del self.journals[code]
        self.keys = {key: (owner, page) for key, (owner, page) in self.keys.items() if owner != code}
        self.finished.discard(code)
        self.erased += 1
        with pytest.raises(InputError):
            self.file.save(PageSubmission(code, "a", {}, "late", ResponseStatus.OPEN))

    @invariant()
    def is_what_the_model_says(self) -> None:
        if not hasattr(self, "file"):
            return
        for code, journal in self.journals.items():
            found = self.file.find(code)
            assert found is not None
            latest: dict[str, Any] = {}
            for _, said in journal:
                latest |= said
            assert found.answers == latest
            assert set(found.sent) == {page for page, _ in journal}
            assert found.seconds == 1.5 * len(journal)
            assert [(page, said) for _, page, said in self.file.journal(found.id)] == journal
        counts = self.file.counts("s")
        assert counts[ResponseStatus.FINISHED] == len(self.finished)
        assert sum(counts.values()) == len(self.codes) == len(list(self.file.responses("s")))
        assert self.file.erased("s") == self.erased


TestAgainstAModel = AgainstAModel.TestCase
TestAgainstAModel.settings = settings(max_examples=15, stateful_step_count=20, deadline=None)


def test_a_withdrawal_leaves_no_byte_of_the_answers(answers: AnswerFile, tmp_path: Path) -> None:
    """Checks short and long texts, in the file and in its log, while others answer."""
    secrets = ["zebra-short", "giraffe-long " * 2_000]
    codes = [new_code() for _ in range(6)]
    for number, code in enumerate(codes):
        answers.begin("s", 1, code, "2026-01-01", language="xx" if number == 3 else "en")
        for turn, words in enumerate(secrets if number == 3 else ["plain", "plain " * 2_000]):
            answers.save(
                PageSubmission(code, f"p{turn}", {"q": {"text": words}}, f"{number}.{turn}", ResponseStatus.OPEN)
            )
    held = b"".join(path.read_bytes() for path in tmp_path.glob("answers.db*"))
    assert b"zebra-short" in held
    assert b"giraffe-long" in held
    gone = answers.find(codes[3])
    assert gone is not None
    assert answers.erase(codes[3], "2026-01-02")
    for path in tmp_path.glob("answers.db*"):
        left = path.read_bytes()
        for trace in (b"zebra-short", b"giraffe-long", gone.id.encode(), codes[3].encode()):
            assert trace not in left, (path.name, trace)
    assert all(answers.find(code) for code in codes if code != codes[3])


def test_an_older_file_keeps_its_erasures_and_records_new_ones_by_id(tmp_path: Path) -> None:
    path = tmp_path / "answers.db"
    with PrivateFile(path, _KIND, (_FIRST,), "") as old, old.writing() as writing:
        writing.execute("INSERT INTO erasures (survey, day, by) VALUES ('s', '2026-01-01', 'respondent')")
    with AnswerFile(path) as answers:
        code = new_code()
        response = answers.begin("s", 1, code, "2026-01-02")
        assert not answers.is_erased(response.id)
        assert not answers.is_erased("")
        assert answers.erase(code, "2026-01-03")
        assert answers.is_erased(response.id)
        assert answers.erased("s") == 2


def test_the_answers_file_is_private_and_contains_no_codes(answers: AnswerFile, tmp_path: Path) -> None:
    code = new_code()
    answers.begin("s", 1, code, "2026-01-01")
    for path in tmp_path.glob("answers.db*"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert code.encode() not in path.read_bytes()


def test_two_simultaneous_tabs_make_two_entries_and_the_last_counts(answers: AnswerFile) -> None:
    code = new_code()
    begun = answers.begin("s", 1, code, "2026-01-01")

    def send(tab: int) -> None:
        answers.save(PageSubmission(code, "a", {"q": {"text": str(tab)}}, f"tab {tab}", ResponseStatus.OPEN))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(send, range(40)))
    journal = answers.journal(begun.id)
    assert sorted(int(said["q"]["text"]) for _, _, said in journal) == list(range(40))
    found = answers.find(code)
    assert found is not None
    assert found.answers == journal[-1][2]
    assert found.sent == ("a",)


def test_a_changed_page_with_the_same_key_is_saved(answers: AnswerFile) -> None:
    """As a browser sends it that shows an old form again: each change is an entry, each repetition is none."""
    code = new_code()
    begun = answers.begin("s", 1, code, "2026-01-01")
    for words in ("4", "4", "44", "44", "4"):
        kept = answers.save(PageSubmission(code, "a", {"q": {"text": words}}, "key", ResponseStatus.OPEN))
        assert kept.answers == {"q": {"text": words}}
    assert [said["q"]["text"] for _, _, said in answers.journal(begun.id)] == ["4", "44", "4"]


def test_a_page_validated_against_an_outdated_state_is_not_saved(answers: AnswerFile) -> None:
    code = new_code()
    begun = answers.begin("s", 1, code, "2026-01-01")
    line = [
        PageSubmission(code, page, {page: {"text": "x"}}, page, ResponseStatus.OPEN, before=begun) for page in PAGES
    ]
    for sending in line:
        answers.submissions.add(sending)
    answers.submissions.record()
    assert [sending.overtaken for sending in line] == [False, True]
    after = answers.save(replace(line[1], before=line[0].result()))
    assert set(after.answers) == set(PAGES)


def test_declining_later_leaves_no_answers(answers: AnswerFile, tmp_path: Path) -> None:
    code = new_code()
    begun = answers.begin("s", 1, code, "2026-01-01")
    answers.save(PageSubmission(code, "a", {"c": {"choices": ["agree"]}}, "1", ResponseStatus.OPEN))
    answers.save(
        PageSubmission(
            code, "b", {"q": {"text": "giraffe-long " * 2_000}, "r": {"text": "zebra"}}, "2", ResponseStatus.OPEN
        )
    )
    said = {"c": {"choices": ["decline"]}}
    for _ in range(2):
        after = answers.save(PageSubmission(code, "a", said, "3", ResponseStatus.DECLINED))
        assert after.standing is ResponseStatus.DECLINED
        assert after.answers == {**said, "q": {}, "r": {}}
    assert [(page, kept) for _, page, kept in answers.journal(begun.id)] == [("a", said)]
    for path in tmp_path.glob("answers.db*"):
        left = path.read_bytes()
        assert b"giraffe" not in left
        assert b"zebra" not in left


def test_saves_per_page_and_the_size_of_a_response_are_limited(answers: AnswerFile) -> None:
    codes = [new_code(), new_code()]
    often, large = (answers.begin("s", 1, code, "2026-01-02") for code in codes)

    def sent(
        code: str, page: str, words: str, number: int, standing: ResponseStatus = ResponseStatus.OPEN
    ) -> PageSubmission:
        return PageSubmission(code, page, {"q": {"text": words}}, f"{code}.{page}.{number}", standing)

    for number in range(MOST_SAVES):
        answers.save(sent(codes[0], "a", str(number), number))
    with pytest.raises(TooLate, match="has been sent too often"):
        answers.save(sent(codes[0], "a", "one more", MOST_SAVES))
    answers.save(sent(codes[0], "a", "49", MOST_SAVES - 1))  # the same once more is no other one
    found = answers.save(sent(codes[0], "b", "another page", 0))
    assert found.answers["q"] == {"text": "another page"}
    assert len(answers.journal(often.id)) == MOST_SAVES + 1
    assert answers.save(sent(codes[0], "a", "", 99, ResponseStatus.DECLINED)).standing is ResponseStatus.DECLINED
    for number in range(3):
        for page in ("a", "b"):
            answers.save(sent(codes[1], page, f"{number}" * (MOST_BYTES // 2), number))
    with pytest.raises(TooLate, match="What you sent last is kept"):
        answers.save(sent(codes[1], "a", "little", 3))
    assert answers.save(sent(codes[1], "c", "a page of its own", 0)).id == large.id


def test_an_invalid_page_does_not_affect_others_in_the_queue(answers: AnswerFile) -> None:
    codes = [new_code() for _ in range(3)]
    for code in codes[:2]:
        answers.begin("s", 1, code, "2026-01-01")
    line = [PageSubmission(code, "a", {}, code, ResponseStatus.OPEN) for code in codes]
    for sending in line:
        answers.submissions.add(sending)
    answers.submissions.record()
    assert [sending.result().sent for sending in line[:2]] == [("a",), ("a",)]
    with pytest.raises(InputError, match="unknown response: it was withdrawn"):
        line[2].result()


def test_beginning_twice_with_one_code_creates_one_response(answers: AnswerFile) -> None:
    code = new_code()
    assert answers.begin("s", 1, code, "2026-01-01") == answers.begin("s", 1, code, "2026-01-02")


def test_an_unchanged_questionnaire_creates_no_new_version(answers: AnswerFile) -> None:
    assert answers.add_version("s", "text", "2026-01-02").number == 1
    assert answers.add_version("s", "other text", "2026-01-02").number == 2
    assert answers.add_version("s", "text", "2026-01-03").number == 3
    first = answers.version("s", 1)
    assert first is not None
    assert first.text == "text"
