"""Names in transcripts: known, proposed, answered by a person, replaced, and in nothing that is published."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile, is_zipfile

import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.coded_interviews import FACET, ROUND, code_all, coded_study, stretch
from tests.support.labelled_study import labelled_study
from tests.support.small_interviews import AGREEMENT, SMALL, TALK, a_study, with_interview, with_transcript

from quaestor.base.errors import InputError, StateError
from quaestor.evidence.funnel import run_funnel
from quaestor.interviews.items import SOURCE, make_items
from quaestor.interviews.names.confirmations import answer_all_places, answer_places, change_replacement, mark_as_read
from quaestor.interviews.names.known_names import (
    add_name,
    change_name,
    get_finder,
    list_all_names,
    list_names,
    remove_name,
)
from quaestor.interviews.names.masking import read_transcript_as
from quaestor.interviews.names.matches import CONFIRMED, OPEN, REFUSED, count_progress, list_proposals
from quaestor.interviews.names.remaining import find_remaining_names, refuse_names
from quaestor.interviews.overview import DONE, build_interview_line
from quaestor.interviews.participants.people import Contact, set_contact
from quaestor.interviews.repository import Interviews, open_interviews
from quaestor.interviews.transcripts.corrections import set_speaker
from quaestor.interviews.withdrawal import withdraw
from quaestor.publication.handbook.make import make_handbook
from quaestor.publication.report.make import build_report
from quaestor.store.sealed_file import NewEntry
from quaestor.study.backup import back_up_study
from quaestor.study.folder import open_study

QUELL = Contact("Zanthor Quellix", "z.quellix@obviax.example", "+41 555 0199", "")
FIRST = (
    ("Interviewer", "Hello Zanthor, which stages does your work have?"),
    (
        "Zanthor Quellix",
        "At Obviax GmbH I, Zanthor, ask Wexla Brimm. Wexla's team decides. Write to z.quellix@obviax.example.",
    ),
    ("Wexla Brimm", "That is me."),
)
SECOND = (
    ("Interviewer", "When do you call a model illegal?"),
    ("Guest", "🙂 As Quellix of OBVIAX said: when Zanthr marks it. Mark it."),
)
TELLING = ("Zanthor", "Quellix", "Obviax", "OBVIAX", "Wexla", "Brimm", "z.quellix")


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Interviews]:
    """P1 mentions themselves, their employer and a colleague, who also speaks; P2 mentions P1."""
    with open_interviews(a_study(tmp_path / "study", more=FACET)) as opened:
        with_transcript(opened, turns=FIRST)
        with_transcript(opened, turns=SECOND)
        set_contact(opened, "P1", QUELL)
        add_name(opened, "organisation", ["Obviax GmbH"])
        add_name(opened, "person", ["Wexla Brimm"])
        yield opened


def words(room: Interviews, name: str) -> str:
    return "\n".join(turn.text for turn in room.transcript(name).turns)


def test_participants_are_known_by_contact_details_and_speaker_labels(room: Interviews) -> None:
    told = {name.shown: name.forms for name in list_names(room) if name.kind == "person"}
    assert told == {"[person 1]": ("Wexla Brimm",), "P1": ("Zanthor Quellix",)}
    set_contact(room, "P1", Contact())
    assert [(one.shown, one.participant) for one in list_all_names(room) if one.derived] == [("P1", "P1")], (
        "by the recording"
    )
    assert "Quellix" not in repr(list_all_names(room))
    with pytest.raises(StateError, match="not the lead"):
        list_names(room, "rater-1")


def test_confirming_all_replaces_all_sure_matches(room: Interviews) -> None:
    assert answer_all_places(room, True) == len(list_proposals(room, state=CONFIRMED)) > 6
    assert words(room, "P1") == (
        "Hello P1, which stages does your work have?\n"
        "At [organisation A] I, P1, ask [person 1]. [person 1]'s team decides. Write to P1.\nThat is me."
    )
    assert words(room, "P2").endswith("🙂 As P1 of [organisation A] said: when Zanthr marks it. Mark it.")
    assert [(proposal.words, proposal.sure) for proposal in list_proposals(room)] == [("Zanthr", False)]
    assert answer_all_places(room, True, doubtful=True) == 1
    assert not any(name in words(room, "P1") + words(room, "P2") for name in TELLING)
    entries = [entry for entry in room.file.read_entries(about="P1") if entry.kind == "replace"]
    assert {entry.actor for entry in entries} == {"lead"}


def test_matches_are_confirmed_or_refused_one_by_one(room: Interviews) -> None:
    first, second, *_ = list_proposals(room, "P1")
    assert (first.words, first.before, first.place) == ("Zanthor", "Hello ", "P1/00000:6-13")
    assert answer_places(room, [first.place], True) == 1
    assert answer_places(room, [second.place], False) == 1
    assert second.words == "Obviax GmbH"
    left = [proposal.words for proposal in list_proposals(room, "P1")]
    assert not [one for one in left if "Obviax" in one], "what is shorter within it is refused with it"
    add_name(room, "person", ["Somebody Else"])
    assert second.place in [proposal.place for proposal in list_proposals(room, state=REFUSED)]
    assert second.place not in [proposal.place for proposal in list_proposals(room)]
    assert answer_places(room, [first.place], False) == 1, "what was replaced can be taken back"
    assert "Hello Zanthor" in words(room, "P1")
    assert answer_places(room, [first.place], True) == 1
    with pytest.raises(InputError, match="there is no name at P1/00000:0-2"):
        answer_places(room, ["P1/00000:0-2"], True)
    with pytest.raises(InputError, match="is not a place"):
        answer_places(room, ["../P1"], True)


def test_a_match_refused_for_one_name_is_proposed_for_another(room: Interviews) -> None:
    place = next(proposal.place for proposal in list_proposals(room, "P1") if proposal.words == "Wexla Brimm")
    answer_places(room, [place], False)
    name = add_name(room, "other", ["Wexla Brimm's team", "Brimm"], "[a team]")
    assert [(one.words, one.name) for one in list_proposals(room, "P1", "[a team]")] == [("Brimm", name.id)]
    remove_name(room, "[person 1]")
    again = add_name(room, "person", ["Wexla Brimm"])
    assert again.id != "person-1", "which was refused at that place"
    assert [proposal.place for proposal in list_proposals(room, "P1", again.id)][:1] == [place]
    assert answer_places(room, [place], True) == 1
    assert f"ask {again.shown}." in words(room, "P1")


def test_a_match_of_two_people_needs_a_decision(room: Interviews) -> None:
    add_name(room, "person", ["Wexla Grelvan"], participant="P2")
    add_name(room, "person", ["Wexla P Grelvan"], participant="P2")
    assert [proposal.words for proposal in list_proposals(room, "P1")].count("Wexla Brimm") == 1, (
        "which only one of them is called"
    )
    either = [proposal for proposal in list_proposals(room, "P1") if proposal.words == "Wexla"]
    assert [(one.shown, one.sure, one.why) for one in either] == [
        ("[person 1]", True, "also the name of P2"),
        ("P2", True, "also the name of [person 1]"),
    ]
    first, second = (one.place for one in either)
    assert (first, second) == (f"{either[0].at}=person-1", f"{either[0].at}=person-2")
    places = count_progress(room, "P1").found
    answer_all_places(room, True, doubtful=True)
    assert [proposal.place for proposal in list_proposals(room)] == [first, second], "nobody has said which"
    assert count_progress(room, "P1").open == 1
    assert count_progress(room, "P1").found == places, "each place counts once"
    assert [(one.kind, one.shown) for one in find_remaining_names(room)] == [("transcript", "[person 1] or P2")]
    with pytest.raises(StateError, match=r"the turn P1/00001 \(\[person 1\] or P2\)"):
        make_items(room)
    with pytest.raises(InputError, match=r"are the name of \[person 1\] or P2: choose one, as in .*=person-1"):
        answer_places(room, [either[0].at], True)
    shown = read_transcript_as(room, "P1", "rater-1").turns[1].text
    assert "[person 1] or P2's team decides" in shown
    answer_places(room, [first], False)
    (left,) = [proposal for proposal in list_proposals(room) if proposal.words == "Wexla"]
    assert (left.shown, left.why, left.place) == ("P2", "as it is known", either[0].at), "the other one comes up"
    answer_places(room, [left.place], True)
    assert "P2's team decides" in words(room, "P1")
    assert (list_proposals(room), find_remaining_names(room)) == ([], [])


def test_confirming_a_shared_match_for_one_person_closes_it_for_the_other(room: Interviews) -> None:
    add_name(room, "person", ["Wexla Grelvan"], "[person 9]")
    _, second = (proposal.place for proposal in list_proposals(room, "P1") if proposal.words == "Wexla")
    assert answer_places(room, [second], True) == 1
    assert "[person 9]'s team" in words(room, "P1")
    assert not [proposal for proposal in list_proposals(room, "P1") if proposal.words == "Wexla"]
    at = second.partition("=")[0]
    answer_places(room, [at], False)
    (again,) = [proposal for proposal in list_proposals(room, "P1") if proposal.words == "Wexla"]
    assert (again.shown, again.place) == ("[person 1]", at)
    (taken,) = [proposal.place for proposal in list_proposals(room, "P1", state=REFUSED)]
    assert answer_places(room, [taken], True) == 1
    assert "[person 9]'s team" in words(room, "P1"), "and not the one that is open there"
    answer_places(room, [at], False)
    assert answer_all_places(room, False, name="[person 1]") > 0
    assert [proposal.shown for proposal in list_proposals(room, "P1", state=REFUSED) if proposal.words == "Wexla"] == [
        "[person 9]", "[person 1]",
    ]  # fmt: skip


def test_the_lead_can_assign_all_ambiguous_matches_to_one_person(room: Interviews) -> None:
    add_name(room, "person", ["Wexla Grelvan"], "[person 9]")
    answer_all_places(room, True, name="[person 1]")
    assert [one.shown for one in list_proposals(room, "P1") if one.words == "Wexla"] == ["[person 1]", "[person 9]"]
    answer_all_places(room, True, name="[person 1]", doubtful=True)
    assert "[person 1]'s team" in words(room, "P1")


def test_a_withdrawn_participants_name_is_replaced_even_if_ambiguous(room: Interviews) -> None:
    add_name(room, "person", ["Wexla Grelvan"], participant="P2")
    said = {"question": "", "text": "ask Wexla", "at": 3.0, "section": "practice"}
    room.file.add(NewEntry("note", "lead", said, "P1", "P1", room.now()))
    assert [one.shown for one in find_remaining_names(room) if one.kind == "note"] == ["[person 1] or P2"]
    withdraw(room, "P2")
    assert "P2's team decides" in words(room, "P1")


def test_a_replacement_cannot_contain_another_known_name(room: Interviews) -> None:
    answer_all_places(room, True)
    for change in (
        lambda: add_name(room, "person", ["Anybody New"], "[a friend of Quellix]"),
        lambda: change_name(room, "[person 1]", shown="[manager at Obviax]"),
        lambda: change_replacement(room, "[person 1]", "[manager at Obviax]"),
    ):
        with pytest.raises(InputError, match="contains another known name") as refused:
            change()
        assert not any(name in str(refused.value) for name in TELLING)
    with pytest.raises(InputError, match="contains an address"):
        change_replacement(room, "[person 1]", "[see https://ovx.example/x]")
    change_replacement(room, "[person 1]", "[manager at Grelvan]")
    assert find_remaining_names(room) == []
    add_name(room, "organisation", ["Grelvan"])
    told = [(one.kind, one.where, one.shown) for one in find_remaining_names(room)]
    assert told == [("shown", "the replacement of the name person-1", "[organisation B]")]
    remove_name(room, "person-1")
    told = [(one.kind, one.where, one.shown) for one in find_remaining_names(room)]
    assert told == [("shown", "a replacement in the transcript P1", "[organisation B]")], "where it stays replaced"


def test_speaker_labels_equal_to_replacements_do_not_block_publication(tmp_path: Path) -> None:
    with open_interviews(a_study(tmp_path)) as room:
        with_transcript(room, turns=(("Interviewer", "Who?"), ("Person 1", "Person 1 is me."), ("Guest", "Product A.")))
        add_name(room, "person", ["Person 1"])
        add_name(room, "product", ["Product A"])
        answer_all_places(room, True)
        assert find_remaining_names(room) == []


def test_a_name_added_later_is_searched_for_and_a_longer_match_replaces_a_shorter(room: Interviews) -> None:
    answer_all_places(room, True)
    name = add_name(room, "other", ["ask Wexla Brimm"], "[two of them]")
    places = list_proposals(room, name="[two of them]")
    assert [(place.words, place.name) for place in places] == [("ask Wexla Brimm", name.id)]
    answer_places(room, [places[0].place], True)
    assert "I, P1, [two of them]. [person 1]'s team" in words(room, "P1")
    assert list_proposals(room, "P1") == []


def test_a_changed_replacement_applies_everywhere_and_cannot_contain_the_name(room: Interviews) -> None:
    answer_all_places(room, True)
    change_replacement(room, "person 1", "[a colleague]")
    assert "ask [a colleague]. [a colleague]'s team" in words(room, "P1")
    with pytest.raises(InputError, match="contains the name itself") as refused:
        change_replacement(room, "[a colleague]", "Wexla B.")
    assert "Wexla" not in str(refused.value)
    with pytest.raises(InputError, match="already known and shown as"):
        add_name(room, "person", ["wexla BRIMM"])
    with pytest.raises(InputError, match="fewer than two letters"):
        change_name(room, "[a colleague]", forms=["W"])
    with pytest.raises(InputError, match="comes from contact data"):
        change_name(room, "P1", shown="somebody")
    remove_name(room, "[a colleague]")
    assert "ask [a colleague]" in words(room, "P1"), "what was replaced stays replaced"
    assert add_name(room, "person", ["Anybody New"]).id != "person-1", "which stands in a transcript"


def test_names_with_signs_are_found_replaced_and_block_publication(tmp_path: Path) -> None:
    with open_interviews(a_study(tmp_path)) as room:
        said = "At AT&T, at Ernst+Young and at Hollerith & Daughters we wrote C#; C is older."
        with_transcript(room, turns=(*TALK, ("Guest", said)))
        for form in ("AT&T", "Ernst & Young", "Hollerith & Daughters"):
            add_name(room, "organisation", [form])
        add_name(room, "product", ["C#"])
        assert [remaining_name.shown for remaining_name in find_remaining_names(room)] == [
            "[organisation A]", "[organisation B]", "[organisation C]", "[product A]"
        ]  # fmt: skip
        answer_all_places(room, True)
        assert words(room, "P1").endswith(
            "At [organisation A], at [organisation B] and at [organisation C] we wrote [product A]; C is older."
        )
        assert find_remaining_names(room) == []
        add_name(room, "product", ["C++"])


@pytest.mark.parametrize("form", ["!!!", "R", "🙂", "&amp;"])
def test_an_unsearchable_name_is_refused(tmp_path: Path, form: str) -> None:
    with open_interviews(a_study(tmp_path)) as room:
        participant = with_transcript(room).participant
        with pytest.raises(InputError, match="cannot be searched for: write more of it"):
            add_name(room, "organisation", ["Obviax", form])
        with pytest.raises(InputError, match="cannot be searched for in transcripts"):
            set_contact(room, participant, Contact(form))


def test_a_speaking_colleague_is_a_known_name_whose_turns_are_kept(tmp_path: Path) -> None:
    with open_interviews(a_study(tmp_path)) as room:
        talk = with_transcript(room, turns=(*TALK, ("Guest", "As Wexla said."), ("Wexla Brimm", "Yes.")))
        about = (talk.participant, talk.interview, room.now())
        room.file.add(NewEntry("speaker", "lead", {"speaker": "Wexla Brimm", "voice": "other"}, *about))
        (place,) = list_proposals(room)
        assert (place.words, place.shown) == ("Wexla", "[person 1]")
        answer_places(room, [place.place], True)
        assert add_name(room, "person", ["Anybody New"]).shown == "[person 2]"
        withdraw(room, talk.participant)
        assert [known_name.shown for known_name in list_all_names(room)] == ["[person 2]"], (
            "who was named by one alone goes with them"
        )


def test_swapping_voices_reopens_replaced_names(tmp_path: Path) -> None:
    turns = (("Interviewer", "I am Wexla, who asks?"), ("Zanthor", "I am Zanthor, Wexla."), ("Wexla", "So it is."))
    with open_interviews(a_study(tmp_path)) as room:
        with_transcript(room, turns=turns)
        set_speaker(room, "P1", "Zanthor", "interviewer")
        set_speaker(room, "P1", "Wexla", "participant")
        answer_all_places(room, True)
        assert words(room, "P1") == "I am P1, who asks?\nI am [interviewer], P1.\nSo it is."
        assert find_remaining_names(room) == []
        set_speaker(room, "P1", "Zanthor", "participant")
        set_speaker(room, "P1", "Wexla", "interviewer")
        assert [(proposal.words, proposal.shown) for proposal in list_proposals(room)] == [
            ("Wexla", "[interviewer]"), ("Zanthor", "P1"), ("Wexla", "[interviewer]"),
        ]  # fmt: skip
        assert list_proposals(room, state=CONFIRMED) == []
        assert len(find_remaining_names(room)) == 3
        assert read_transcript_as(room, "P1", "rater-1").turns[1].text == "I am P1, [interviewer]."
        answer_all_places(room, True)
        assert words(room, "P1") == "I am [interviewer], who asks?\nI am P1, [interviewer].\nSo it is."
        assert find_remaining_names(room) == []


def test_the_names_step_is_done_when_all_matches_are_answered_and_the_transcript_was_read(room: Interviews) -> None:
    def step(name: str) -> tuple[str, str]:
        found = next(step for step in build_interview_line(room, name, leads=True).steps if step.name == "Names")
        return found.state, found.words

    assert step("P2")[1] == "3 places to check"
    answer_all_places(room, True, interview="P2", doubtful=True)
    assert step("P2")[1] == "all answered: read the transcript once more"
    assert not count_progress(room, "P2").done
    mark_as_read(room, "P2")
    assert step("P2") == (DONE, "3 replaced by pseudonyms")
    with_transcript(room)
    assert step("P3")[1] == "find names and replace them"
    mark_as_read(room, "P3")
    assert step("P3") == (DONE, "checked: no names")
    with pytest.raises(InputError, match="still has open places"):
        mark_as_read(room, "P1")
    add_name(room, "product", ["First I look"])
    assert (count_progress(room, "P3").open, step("P3")[0] == DONE) == (1, False)


def test_notes_and_participant_details_are_checked_for_names(room: Interviews) -> None:
    answer_all_places(room, True)
    assert find_remaining_names(room) == []
    said = {"question": "stages", "text": "Zanthor means Wexla", "at": 3.0, "section": "practice"}
    room.file.add(NewEntry("note", "lead", said, "P1", "P1", room.now()))
    room.file.add(
        NewEntry("participant", "lead", {"role": "at Obviax", "years": 1, "field": "", "synthetic": False}, "P2")
    )
    told = {(one.kind, one.where, one.shown) for one in find_remaining_names(room)}
    assert told == {
        ("participant", "the role of P2", "[organisation A]"),
        ("note", "note 1 of P1 on the question 'stages'", "P1"),
        ("note", "note 1 of P1 on the question 'stages'", "[person 1]"),
    }


def test_addresses_outside_transcripts_are_reported_even_without_known_names(tmp_path: Path) -> None:
    with open_interviews(a_study(tmp_path)) as room:
        name = with_interview(room).id
        said = {"question": "", "text": "some.body@example.org, 0.0001 0.0002", "at": 3.0, "section": "practice"}
        room.file.add(NewEntry("note", "lead", said, "P1", name, room.now()))
        assert [(one.where, one.shown) for one in find_remaining_names(room)] == [("note 1 of P1", "[e-mail address]")]


def test_memos_fields_and_codes_are_checked_for_names(tmp_path: Path) -> None:
    study = coded_study(tmp_path / "study")
    fields = {"what": "as Zanthor says", "threshold": "10"}
    given = [stretch(0, 4, "shapes", memo="ask Quellix"), stretch(5, 9, "indicator", fields=fields)]
    code_all(study, {"rater-1": {"P1/00003": given}})
    with open_interviews(study) as room:
        set_contact(room, "P1", QUELL)
        add_name(room, "other", ["looking at the data"], "[a phrase]")
        told = [(one.kind, one.where, one.shown) for one in find_remaining_names(room)]
    where = f"what rater-1 wrote about P1/00003 in the round {ROUND!r}"
    assert told == [
        ("code", "the name of the code 'practice/data'", "[a phrase]"),
        ("memo", where, "P1"),
        ("memo", where, "P1"),
    ]


@pytest.mark.slow
def test_publication_is_refused_while_a_known_name_remains(tmp_path: Path) -> None:
    """Refused in one sentence that tells where and never whom; afterwards no file but the sealed ones holds a name."""
    folder = labelled_study(tmp_path / "study", posts=30).root
    (folder / "instruments").mkdir(exist_ok=True)
    (folder / "instruments" / "guide.md").write_text(SMALL, "utf-8")
    (folder / "instruments" / "agreement.md").write_text(AGREEMENT, "utf-8")
    study = open_study(folder)
    with open_interviews(study) as room:
        with_transcript(room, turns=FIRST)
        with_transcript(room, turns=SECOND)
        set_contact(room, "P1", QUELL)
        add_name(room, "organisation", ["Obviax GmbH"])
        add_name(room, "person", ["Wexla Brimm"])
        with pytest.raises(StateError, match="known names remain in 8 places"):
            make_items(room)
    for publish in (
        refuse_names,
        lambda one: build_report(one, lambda _: None),
        lambda one: make_handbook(one, lambda *_: None),
    ):
        with pytest.raises(StateError, match=r"the turn P1/00000 \(P1\)") as refused:
            publish(study)
        assert not any(name in str(refused.value) for name in TELLING)
    assert not (folder / "published" / "report").exists()
    with open_interviews(study) as room:
        answer_all_places(room, True, doubtful=True)
        items = make_items(room)
    if items.added:
        run_funnel(open_study(folder).in_strand(SOURCE))
    build_report(open_study(folder), lambda _: None, with_audit=False)
    backup = back_up_study(open_study(folder), folder / "kept.backup")
    assert backup
    written = [path for path in folder.rglob("*") if path.is_file()]
    assert {"fell.parquet", "index.html", "kept.backup", "identities.db"} <= {path.name for path in written}
    for path in written:
        held = text_of(path)
        assert not [name for name in TELLING if name.encode() in held], path


def text_of(path: Path) -> bytes:
    """What a file holds, also where it is packed."""
    if path.suffix == ".parquet":
        return str(pq.read_table(path).to_pylist()).encode()
    if is_zipfile(path):
        with ZipFile(path) as packed:
            return b"".join(packed.read(name) for name in packed.namelist())
    return path.read_bytes()


PIECES = st.lists(
    st.sampled_from(
        [
            "Zanthor",
            "QUELLIX",
            "Quellix's",
            "zanthor.quellix",
            "Obviax",
            "obviaxs",
            "word",
            "🙂",
            "שלום",
            "é\u0301",
            "Zan\u00adthor",
        ]
    ),
    min_size=1,
    max_size=12,
)


def test_confirming_everything_leaves_no_known_name_in_the_text(tmp_path: Path) -> None:
    with open_interviews(a_study(tmp_path)) as room:
        add_name(room, "person", ["Zanthor Quellix"])
        add_name(room, "organisation", ["Obviax"])
        name = with_interview(room).id

        @given(st.lists(PIECES, min_size=1, max_size=3), st.sampled_from([" ", "  ", ", ", "\n", " — "]))
        @settings(max_examples=25, deadline=None)
        def confirmed(turns: list[list[str]], between: str) -> None:
            with_transcript(room, name, [("Guest", between.join(one)) for one in turns])
            answer_all_places(room, True, doubtful=True)
            assert list_proposals(room, state=OPEN) == []
            for turn in room.transcript(name).turns:
                assert get_finder(room).find_sure_names(turn.text) == [], turn.text
                assert unnamed(turn.text) == unnamed(turn.raw)

        confirmed()


def unnamed(text: str) -> list[str]:
    return [one for one in re.split(r"[\s,]+", text) if one in ("word", "🙂", "שלום")]
