"""A study coded from pilot to triplets over its journal, on both databases."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.support.acting import rebuilt
from tests.support.filled_spreadsheets import read_sheets
from tests.support.settling import settle_with_assents
from tests.support.small_study import ITEMS, small_study

from quaestor.base.clock import parse_utc
from quaestor.base.errors import InputError, StateError
from quaestor.base.table_files import ExportTable, write_table
from quaestor.coding.agreement_access import compute_rounds_agreement
from quaestor.coding.codebook import change_codebook, import_codebook, read_codebook_version
from quaestor.coding.disagreements import break_tie, list_disagreement_rows, settle_agreed
from quaestor.coding.model.closing import build_close_acts
from quaestor.coding.model.decisions import build_agreed_act
from quaestor.coding.model.state import State
from quaestor.coding.phrases import (
    adopt_objects,
    draw_curves,
    list_proposed_objects,
    list_words,
    request_reread,
    unify_words,
)
from quaestor.coding.rating import build_next_item, record_rating
from quaestor.coding.rating_files import export_ratings, import_decisions, import_ratings, rate
from quaestor.coding.rating_spreadsheet import build_rating_spreadsheet
from quaestor.coding.round_acts import (
    close_by_name,
    list_rater_items,
    list_rounds,
    next_set_by_name,
    open_by_name,
    reopen_by_name,
    replace_by_name,
    waive_by_name,
)
from quaestor.coding.session import open_coding
from quaestor.coding.status import coding_status
from quaestor.evidence.funnel import last_result, run_funnel
from quaestor.evidence.step_items import list_step_items
from quaestor.store.journal import Journal, JournalTransaction
from quaestor.store.records import NewAct
from quaestor.study.contributions import StatusRequest
from quaestor.study.folder import Study, open_study
from quaestor.study.session import Session


def rate_all(study: Study, name: str, said: Callable[[str, str], dict[str, str]]) -> None:
    with open_coding(study) as coding:
        for rater in ("rater-1", "rater-2"):
            for rater_item in list_rater_items(study, name, rater, left_only=True):
                rate(coding, name, rater, rater_item["item"], said(rater, rater_item["item"]))


def through_pilot(study: Study) -> None:
    open_by_name(study, "pilot", None)
    first = list_rater_items(study, "pilot", "rater-1", left_only=False)[0]["item"]
    rate_all(study, "pilot", lambda rater, item: {"relevance": "exclude: crash" if item == first else "keep"})
    close_by_name(study, "pilot", None)


def through_main(study: Study) -> None:
    """Both keep all but the last two; they differ on the first."""
    through_pilot(study)
    open_by_name(study, "main", None)

    def said(rater: str, item: str) -> dict[str, str]:
        out = item in ITEMS[-2:] or (item == ITEMS[0] and rater == "rater-2")
        return {"relevance": "exclude: crash" if out else "keep"}

    rate_all(study, "main", said)
    close_by_name(study, "main", None)
    settle_agreed(study, "main", None)
    break_tie(study, "main", "tie-breaker", ITEMS[0], None, "keep", "it works")
    settle_with_assents(study, "main", "rater-1", ITEMS[0], None, "keep", "together", "")


@pytest.fixture(params=["sqlite", "postgresql"])
def study(request: pytest.FixtureRequest, tmp_path: Path) -> Study:
    store = request.getfixturevalue("postgresql") if request.param == "postgresql" else ""
    return small_study(tmp_path / "study", store)


def test_a_study_goes_from_pilot_to_triplets_and_the_funnel_uses_the_decisions(study: Study) -> None:
    import_codebook(study)
    through_main(study)
    result = run_funnel(study)
    assert [step.kept for step in result.steps] == [12, 10]
    assert not result.pending
    open_by_name(study, "phrases", None)
    phrases = {"rater-1": "save, layer", "rater-2": "store, layer"}
    for _ in range(2):
        rate_all(study, "phrases", lambda rater, item: {"phrase": phrases[rater]})
        if draw_curves(study, "phrases", None)[0][-1].set == 1:
            unify_words(study, "phrases", "rater-1", "verb", ["store"], "save", "same meaning", "")
            next_set_by_name(study, "phrases", None)
    close_by_name(study, "phrases", None)
    found, drawing = draw_curves(study, "phrases", None)
    assert [(one.items, one.discrepancy) for one in found] == [(4, 1.0), (6, 0.0)]
    assert "raters differ" in drawing.read_text("utf-8")
    open_by_name(study, "phases", None)
    rate_all(study, "phases", lambda rater, item: {"phase": "training"})
    close_by_name(study, "phases", None)
    settle_agreed(study, "phases", None)
    (proposed,) = list_proposed_objects(study, "phrases", "phases", 1, None)
    assert (proposed.phase, proposed.object, proposed.count, proposed.known) == ("training", "layer", 10, False)
    adopt_objects(study, "phrases", "phases", ["training=layer"], None)
    assert read_codebook_version(study, None).codes["training/layer"].name == "layer"
    open_by_name(study, "triplets", None)
    shown = build_next_item(study, "triplets", "rater-1")
    assert shown["facets"][0]["proposed"] == ["phrase: save, layer", "object: layer", "phase: training"]
    with open_coding(study) as coding:
        header, first, *_ = read_sheets(build_rating_spreadsheet(coding, "triplets", "rater-1").content)["Ratings"]
        assert first[header.index("triplet: proposed")] == "phrase: save, layer\nobject: layer\nphase: training"
        assert rebuilt(coding.journal) == coding.state


def test_the_main_round_needs_its_pilot_and_a_waiver_is_recorded(study: Study) -> None:
    open_by_name(study, "pilot", None)
    rate_all(study, "pilot", lambda rater, item: {"relevance": "keep" if rater == "rater-1" else "exclude: crash"})
    close_by_name(study, "pilot", None)
    with pytest.raises(StateError, match=r"'pilot' did not reach its kappa of 0\.4"):
        open_by_name(study, "main", None)
    found = compute_rounds_agreement(study, "pilot", [])[0]
    assert (found.passed, found.verdict) == (False, "threshold of 0.4 for kappa not reached")
    waive_by_name(study, "pilot", None, "four items say little")
    open_by_name(study, "main", None)
    assert [one["status"] for one in list_rounds(study)][:3] == ["closed", "open", "not opened"]


def test_exported_ratings_are_imported_once(study: Study, tmp_path: Path) -> None:
    open_by_name(study, "pilot", None)
    items = [rater_item["item"] for rater_item in list_rater_items(study, "pilot", "rater-1", left_only=False)]
    rows = [{"item": item, "rater": rater, "relevance": "exclude: crash", "memo": "=1+1", "seconds": "12.5"}
            for item in items for rater in ("rater-1", "rater-2")]  # fmt: skip
    for name in ("ratings.csv", "ratings.xlsx"):
        write_table(ExportTable.from_mappings("ratings", rows), tmp_path / name)
    with open_coding(study) as coding:
        assert import_ratings(coding, "pilot", tmp_path / "ratings.xlsx").added == 8
        again = import_ratings(coding, "pilot", tmp_path / "ratings.xlsx")
        assert (again.added, again.known) == (0, 8)
    close_by_name(study, "pilot", None)
    with open_coding(study) as coding:
        exported = export_ratings(coding, "pilot", "lead")
    assert len(exported) == 8
    assert {(row["relevance"], row["memo"], row["seconds"], row["codebook"]) for row in exported} == {
        ("exclude: crash", "=1+1", "12.5", "0")
    }


def test_a_longer_or_renamed_file_adds_only_new_ratings_and_undoes_no_correction(tmp_path: Path) -> None:
    study = small_study(tmp_path / "study")
    open_by_name(study, "pilot", None)
    items = [rater_item["item"] for rater_item in list_rater_items(study, "pilot", "rater-1", left_only=False)]
    rows = [{"item": item, "rater": "rater-1", "relevance": "keep"} for item in items]
    write_table(ExportTable.from_mappings("ratings", rows[:3]), tmp_path / "first.csv")
    write_table(ExportTable.from_mappings("ratings", rows), tmp_path / "second.csv")
    with open_coding(study) as coding:
        assert import_ratings(coding, "pilot", tmp_path / "first.csv").added == 3
        rate(coding, "pilot", "rater-1", items[0], {"relevance": "exclude: crash"})
        assert import_ratings(coding, "pilot", tmp_path / "second.csv").added == 1
        current = coding.state.round("pilot").current("rater-1", items[0])
        assert current is not None
        assert current.answers["relevance"]["answer"] == "exclude"
        assert len(coding.state.round("pilot").all_ratings()) == 5


def test_proposals_to_confirm_come_only_from_closed_rounds(tmp_path: Path) -> None:
    study = small_study(tmp_path / "study")
    import_codebook(study)
    through_main(study)
    open_by_name(study, "phrases", None)
    with pytest.raises(StateError, match="confirms what 'phrases' decides, which is still open"):
        open_by_name(study, "triplets", None)


def test_comparing_phrases_is_recorded_and_ends_rating_of_the_set(tmp_path: Path) -> None:
    study = small_study(tmp_path / "study")
    through_main(study)
    open_by_name(study, "phrases", None)
    with pytest.raises(StateError, match="set 1 of 'phrases' is not complete"):
        list_words(study, "phrases", "verb", "rater-1")
    rate_all(study, "phrases", lambda rater, item: {"phrase": "save, layer"})
    assert list_words(study, "phrases", "verb", "rater-1")[0]["word"] == "save"
    with open_coding(study) as coding:
        one = coding.state.round("phrases")
        assert one.compared == [1]
        with pytest.raises(StateError, match="set 1 of 'phrases' has been compared"):
            rate(coding, "phrases", "rater-1", one.open_items()[0], {"phrase": "store, layer"})


def test_only_the_lead_opens_rounds_and_changes_the_codebook(tmp_path: Path) -> None:
    study = small_study(tmp_path / "study")
    with pytest.raises(StateError, match="'rater-1' is not the lead"):
        open_by_name(study, "pilot", "rater-1")
    with pytest.raises(StateError, match="'rater-1' is not the lead"):
        import_codebook(study, None, "rater-1")


def test_threads_sharing_a_session_record_every_act_once(tmp_path: Path) -> None:
    study = small_study(tmp_path / "study")
    open_by_name(study, "pilot", None)
    items = [rater_item["item"] for rater_item in list_rater_items(study, "pilot", "rater-1", left_only=False)]
    with open_coding(study) as coding:

        def write(rater: str) -> None:
            for item in items * 4:
                rate(coding, "pilot", rater, item, {"relevance": "keep"})

        def look() -> None:
            for _ in range(60):
                _ = coding.state

        threads = [threading.Thread(target=write, args=(rater,)) for rater in ("rater-1", "rater-2")]
        threads += [threading.Thread(target=look) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert coding.state == rebuilt(coding.journal)
        assert len(coding.state.round("pilot").all_ratings()) == 32


def test_unrated_items_are_reported_in_the_funnel(tmp_path: Path) -> None:
    study = small_study(tmp_path / "study")
    through_pilot(study)
    open_by_name(study, "main", None)
    with open_coding(study) as coding:
        for rater in ("rater-1", "rater-2"):
            for item in ITEMS[:6]:
                rate(coding, "main", rater, item, {"relevance": "keep"})
    close_by_name(study, "main", None, "out of time")
    settle_agreed(study, "main", None)
    result = run_funnel(study)
    assert result.steps[-1].kept == 6
    assert "6 items of the round main were never rated" in result.note


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("item,rater\nx,y\n", "no column 'relevance'"),
        ("item,rater,relevance\n", "has no ratings"),
        (
            "item,rater,relevance\nforum/question/99,rater-1,keep\n",
            "A2: 'forum/question/99' is not an item of the round",
        ),
        ("item,rater,relevance,seconds\n{item},rater-1,keep,soon\n", "D2: seconds is 'soon'"),
        ("item,rater,relevance,time\n{item},rater-1,keep,soon\n", "D2: 'soon' is not a valid time"),
        ("item,rater,relevance\n{item},rater-1,perhaps\n", "C2: relevance is 'perhaps'"),
    ],
)
def test_an_invalid_ratings_file_is_refused_completely(tmp_path: Path, text: str, words: str) -> None:
    study = small_study(tmp_path / "study")
    open_by_name(study, "pilot", None)
    item = list_rater_items(study, "pilot", "rater-1", left_only=False)[0]["item"]
    path = tmp_path / "ratings.csv"
    # A valid row comes first: it must not be imported either.
    header, _, bad = text.format(item=item).partition("\n")
    good = f"{item},rater-2,keep{',' * (header.count(',') - 2)}\n" if bad and "relevance" in header else ""
    path.write_text(f"{header}\n{good}{bad}", "utf-8")
    words = words.replace("2: ", "3: ")
    with open_coding(study) as coding, pytest.raises(InputError, match=words):
        import_ratings(coding, "pilot", path)
    with open_coding(study) as coding:
        assert not coding.state.round("pilot").all_ratings()


def test_a_rater_sees_only_their_own_ratings_during_a_round_and_a_later_view_is_recorded(tmp_path: Path) -> None:
    study = small_study(tmp_path / "study")
    open_by_name(study, "pilot", None)
    rate_all(study, "pilot", lambda rater, item: {"relevance": "keep" if rater == "rater-1" else "exclude: crash"})
    with open_coding(study) as coding:
        assert {row["rater"] for row in export_ratings(coding, "pilot", "rater-1")} == {"rater-1"}
        assert {row["rater"] for row in export_ratings(coding, "pilot", "lead")} == {"rater-1", "rater-2"}
    with pytest.raises(StateError, match="the ratings of others are shown once it is closed"):
        compute_rounds_agreement(study, "pilot", [], actor="rater-2")
    close_by_name(study, "pilot", None)
    list_disagreement_rows(study, "pilot", "rater-2", open_only=False, item=None, answer=None)
    with open_coding(study) as coding:
        assert coding.state.round("pilot").unblinded == ["lead", "rater-2"]
    with pytest.raises(StateError, match="rater-2 saw the ratings"):
        reopen_by_name(study, "pilot", None, "again")


def test_the_proposed_phrase_is_shown_only_after_the_raters_answer(tmp_path: Path) -> None:
    study = small_study(tmp_path / "study")
    through_main(study)
    open_by_name(study, "phrases", None)
    shown = build_next_item(study, "phrases", "rater-1")
    assert shown["title"].startswith("how to save layer")
    assert shown["text"] == "I want to save it"
    assert "proposal" not in shown
    assert shown["facets"][0]["proposed"] == []
    done = record_rating(study, "phrases", "rater-1", shown["item"], {"phrase": "store, layer"})
    assert done["proposal"].startswith("save, layer")


def test_a_rating_with_a_repeated_key_is_recorded_once_even_after_closing(study: Study) -> None:
    open_by_name(study, "pilot", None)
    item = list_rater_items(study, "pilot", "rater-1", left_only=False)[0]["item"]
    with open_coding(study) as coding:
        first = rate(coding, "pilot", "rater-1", item, {"relevance": "keep"}, key="k1")
    close_by_name(study, "pilot", None, "a test")
    with open_coding(study) as coding:
        assert rate(coding, "pilot", "rater-1", item, {"relevance": "keep"}, key="k1") == first
        assert len(coding.state.round("pilot").all_ratings()) == 1
        with pytest.raises(StateError, match="used before for another act"):
            rate(coding, "pilot", "rater-1", item, {"relevance": "exclude: crash"}, key="k1")


def test_an_act_that_the_state_rejects_is_not_recorded(study: Study) -> None:
    import_codebook(study)
    with open_coding(study) as coding:
        head = coding.state.head
        add = {"id": "training/new", "facet": "issue", "parent": "training", "name": "new"}
        with pytest.raises(StateError, match="is or was used by a code"):
            coding.act(lambda state: [NewAct("codebook.add", "lead", add), NewAct("codebook.add", "lead", add)])
        assert coding.journal.head() == coding.state.head == head
        assert "training/new" not in coding.state.history.latest.codes
    change_codebook(study, "codebook.add", add)
    assert read_codebook_version(study, None).version == 2


def test_an_act_whose_commit_fails_is_not_in_the_state(tmp_path: Path) -> None:
    study = small_study(tmp_path / "study")
    open_by_name(study, "pilot", None)
    item = list_rater_items(study, "pilot", "rater-1", left_only=False)[0]["item"]

    class FullDisk(Journal):
        """A journal on a disk that fills up at the last moment."""

        @contextmanager
        def writing(self) -> Iterator[JournalTransaction]:
            with super().writing() as writing:
                yield writing
                raise OSError("no space left on device")

    with open_coding(study) as coding:
        assert coding.state.head
        whole = coding.journal
        coding.journal = FullDisk(whole.database, whole.clock)
        with pytest.raises(OSError, match="no space"):
            rate(coding, "pilot", "rater-1", item, {"relevance": "keep"})
        coding.journal = whole
        assert coding.state == rebuilt(whole)
        assert not coding.state.round("pilot").all_ratings()
        rate(coding, "pilot", "rater-1", item, {"relevance": "exclude: crash"})
        assert len(coding.state.round("pilot").all_ratings()) == 1


def test_two_sessions_on_one_journal_see_each_others_acts(study: Study) -> None:
    open_by_name(study, "pilot", None)
    items = [rater_item["item"] for rater_item in list_rater_items(study, "pilot", "rater-1", left_only=False)]
    with open_coding(study) as one, open_coding(study) as other:
        rate(one, "pilot", "rater-1", items[0], {"relevance": "keep"})
        rate(other, "pilot", "rater-2", items[0], {"relevance": "keep"})
        assert one.state == other.state
        with pytest.raises(StateError):
            one.act(lambda state: build_close_acts(state, "pilot", "lead"))


def test_many_concurrent_raters_lose_no_ratings(study: Study) -> None:
    open_by_name(study, "pilot", None)
    items = [rater_item["item"] for rater_item in list_rater_items(study, "pilot", "rater-1", left_only=False)]
    failures: list[Exception] = []

    def work(rater: str) -> None:
        try:
            with open_coding(study) as coding:
                for item in items * 5:
                    rate(coding, "pilot", rater, item, {"relevance": "keep"})
        except Exception as error:  # noqa: BLE001 - told to the test, which fails with it
            failures.append(error)

    threads = [threading.Thread(target=work, args=(rater,)) for rater in ("rater-1", "rater-2") for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    with open_coding(study) as coding:
        assert len(coding.state.round("pilot").all_ratings()) == 6 * 20
        assert rebuilt(coding.journal) == coding.state


def test_a_replacement_gets_the_remaining_items(tmp_path: Path) -> None:
    study = small_study(tmp_path / "study")
    open_by_name(study, "pilot", None)
    item = list_rater_items(study, "pilot", "rater-2", left_only=False)[0]["item"]
    with open_coding(study) as coding:
        rate(coding, "pilot", "rater-2", item, {"relevance": "keep"})
    done = replace_by_name(study, "pilot", None, "rater-2", "rater-3", "ill")
    assert done["raters"] == ["rater-1", "rater-2 then rater-3"]
    assert len(list_rater_items(study, "pilot", "rater-3", left_only=False)) == 3


def test_imported_published_decisions_are_marked_as_published(tmp_path: Path) -> None:
    study = small_study(tmp_path / "study")
    path = tmp_path / "labels.csv"
    path.write_text("item,phase\nforum/question/1,training\nforum/question/2,setting\n", "utf-8")
    with open_coding(study) as coding:
        assert import_decisions(coding, "labels", path, "lead", "a paper") == 2
        import_decisions(coding, "labels", path, "lead", "a paper")
        found = coding.state.published["labels"]
    assert {made.how for made in found.values()} == {"decided outside Quaestor"}
    assert len(found) == 2


def test_settling_a_round_makes_the_funnel_step_it_decides_stale(tmp_path: Path) -> None:
    study = small_study(tmp_path / "study")
    with pytest.raises(StateError, match="the round 'main' has to be decided first"):
        list_step_items(study, "kept by raters", dropped=False, limit=1)
    through_main(study)
    found = last_result(study)
    assert found is not None
    assert not found[1]


def test_a_time_is_parsed_in_usual_notations() -> None:
    assert parse_utc("2027-03-01") == "2027-03-01T23:59:59.000000+00:00"
    assert parse_utc("2027-03-01T18:00+01:00") == "2027-03-01T17:00:00.000000+00:00"
    with pytest.raises(InputError, match="'soon' is not a valid time"):
        parse_utc("soon")


def test_the_state_of_a_fresh_journal_is_empty(tmp_path: Path) -> None:
    study = small_study(tmp_path / "study")
    with open_coding(study) as coding:
        assert coding.state == State()
        assert isinstance(coding, Session)
        with pytest.raises(StateError, match="the round 'main' has not been opened, opened so far: none"):
            coding.act(lambda state: build_agreed_act(state, "main", "lead"))


def test_only_raters_can_unify_words_or_request_rereading(tmp_path: Path) -> None:
    study = small_study(tmp_path / "study")
    through_main(study)
    open_by_name(study, "phrases", None)
    rate_all(study, "phrases", lambda rater, item: {"phrase": "save, layer"})
    for attempt in (
        lambda: unify_words(study, "phrases", "stranger", "verb", ["save"], "store", "hypernym", ""),
        lambda: request_reread(study, "phrases", "stranger", ITEMS[0]),
        lambda: next_set_by_name(study, "phrases", "stranger"),
        lambda: list_words(study, "phrases", "verb", "stranger"),
    ):
        with pytest.raises(StateError, match="'stranger' does not rate in 'phrases'") as refused:
            attempt()
        assert "rater-" not in str(refused.value)


def test_items_outside_the_round_are_reported_in_the_funnel(tmp_path: Path) -> None:
    study = small_study(tmp_path / "study")
    text = study.file.read_text("utf-8")
    text = text.replace('items = { after = "how-to" }', 'items = { after = "how-to", without = ["pilot"] }')
    study.file.write_text(text, "utf-8")
    study = open_study(study.root)
    run_funnel(study)
    through_pilot(study)
    open_by_name(study, "main", None)
    rate_all(study, "main", lambda rater, item: {"relevance": "keep"})
    close_by_name(study, "main", None)
    settle_agreed(study, "main", None)
    result = run_funnel(study)
    assert result.steps[-1].kept == 8
    assert "4 items were not drawn for the round main" in result.note


def test_contradicting_ratings_are_refused_and_an_unknown_column_is_ignored_and_named(tmp_path: Path) -> None:
    study = small_study(tmp_path / "study")
    open_by_name(study, "pilot", None)
    item = list_rater_items(study, "pilot", "rater-1", left_only=False)[0]["item"]
    path = tmp_path / "ratings.csv"
    path.write_text(f"item,rater,relevance\n{item},rater-1,keep\n{item},rater-1,exclude: crash\n", "utf-8")
    with open_coding(study) as coding, pytest.raises(InputError, match=r"A3: 'rater-1' rates .* in row 2 too"):
        import_ratings(coding, "pilot", path)
    path.write_text(f"item,rater,relevance,memmo\n{item},rater-1,keep,x\n", "utf-8")
    with open_coding(study) as coding:
        done = import_ratings(coding, "pilot", path)
    assert (done.added, done.ignored) == (1, ("memmo",))
    with pytest.raises(InputError, match=r"neither \.csv nor \.xlsx"):
        write_table(ExportTable.from_mappings("ratings", []), tmp_path / "ratings.ods")


def test_status_reports_a_pilot_below_its_threshold(tmp_path: Path) -> None:
    study = small_study(tmp_path / "study")
    open_by_name(study, "pilot", None)
    rate_all(study, "pilot", lambda rater, item: {"relevance": "keep" if rater == "rater-1" else "exclude: crash"})
    close_by_name(study, "pilot", None)
    with open_coding(study) as coding:
        status = coding_status(StatusRequest(study, coding, {}, wait=True))
    assert "below its threshold of 0.4" in next(line.detail for line in status.lines if line.name == "round pilot")
    import_codebook(study)
    with open_coding(study) as coding:
        later = coding_status(StatusRequest(study, coding, {}, wait=True))
    assert status.next is not None
    assert later.next is not None
    assert status.next.command == "quaestor codebook import"
    assert later.next.command == "quaestor agreement pilot"


def test_status_asks_to_settle_a_pilot_whose_codes_are_published(tmp_path: Path) -> None:
    study = small_study(tmp_path / "study")
    import_codebook(study)
    open_by_name(study, "pilot", None)
    rate_all(study, "pilot", lambda rater, item: {"relevance": "keep" if rater == "rater-1" else "exclude: crash"})
    close_by_name(study, "pilot", None)
    waive_by_name(study, "pilot", None, "tested")
    with open_coding(study) as coding:
        unpublished = coding_status(StatusRequest(study, coding, {}, wait=True))
    study.file.write_text(study.file.read_text("utf-8") + '\n[results]\ncode = "pilot.relevance"\n', "utf-8")
    study = open_study(study.root)
    with open_coding(study) as coding:
        published = coding_status(StatusRequest(study, coding, {}, wait=True))
    assert unpublished.next is not None
    assert published.next is not None
    assert unpublished.next.command == "quaestor round open main"
    assert published.next.command == "quaestor decisions list pilot --open"
