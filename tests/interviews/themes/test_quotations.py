"""Theme tables: planted themes are found, every cell opens its quotations, and withdrawn participants are left out."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from tests.support import themed_interviews
from tests.support.coded_interviews import ROUND, copy_of
from tests.support.small_interviews import with_interview
from tests.support.themed_interviews import themed_study

from quaestor.base.errors import InputError, StateError
from quaestor.coding.disagreements import settle_agreed
from quaestor.coding.model.state import State
from quaestor.coding.pages.disagreements import DisagreementFilter, build_case, list_disagreements_page, settle_case
from quaestor.coding.pages.disputed_answers import SubmittedAnswer
from quaestor.coding.rating_files import rate
from quaestor.coding.round_acts import close_by_name
from quaestor.coding.session import open_coding
from quaestor.coding.visibility import Viewer
from quaestor.interviews.coding.decided_passages import UncountedTurns
from quaestor.interviews.conduct.acts import Stamp, mark_question, move_clock, tick_item
from quaestor.interviews.conduct.conversation_state import parse_moment
from quaestor.interviews.names.known_names import add_name
from quaestor.interviews.pages.themes import themes_page
from quaestor.interviews.participants.consent import ACCEPTED, DECLINED, SPOKEN, record_consent
from quaestor.interviews.repository import open_interviews
from quaestor.interviews.themes.cells import build_interview_tables, find_quotations_behind
from quaestor.interviews.themes.co_occurrence import compute_saturation
from quaestor.interviews.themes.figures import FIGURES, render_figure
from quaestor.interviews.themes.files import find_quotations, write_themes
from quaestor.interviews.themes.quotations import read_themes, read_visible_themes
from quaestor.interviews.themes.records import InterviewThemes, select_quotations
from quaestor.interviews.withdrawal import withdraw
from quaestor.people.roles import Role
from quaestor.publication.items_behind_cell import items_behind
from quaestor.publication.publication_status import PUBLISHED, check_freshness
from quaestor.publication.rebuild_jobs import RebuildJobs
from quaestor.publication.report.make import build_report
from quaestor.render.table_model import Table
from quaestor.study.folder import Study


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    return themed_study(tmp_path_factory.mktemp("themed"))


@pytest.fixture(scope="module")
def themes(study: Study) -> InterviewThemes:
    with open_interviews(study) as interviews:
        return read_themes(interviews)


def table(themes: InterviewThemes, name: str) -> Table:
    return next(interview_table for interview_table in build_interview_tables(themes) if interview_table.id == name)


def shown(table: Table) -> dict[str, list[str]]:
    """The cell texts by row."""
    return {row.key: [" ".join(cell.parts) for cell in row.cells] for row in table.rows()}


def test_a_participant_counts_once_for_a_code_and_its_theme(themes: InterviewThemes) -> None:
    found = shown(table(themes, "themes"))
    assert found["data"] == ["3", "50.0%", "18.8% to 81.2%", "4"]
    assert found["factors"] == ["6", "100.0%", "61.0% to 100.0%", "8"]
    assert found["report"][0] == "1"
    assert "legitimacy itself" not in found


def test_the_matrix_counts_every_mention(themes: InterviewThemes) -> None:
    found = shown(table(themes, "matrix"))
    assert found["data"] == ["1", "1", "·", "2", "·", "·", "4"]
    assert found["all"] == ["6", "4", "3", "4", "3", "3", "23"]


def opens(table: Table, row: str, column: str) -> bool:
    """Whether a number counts words: shares and averages do not, and a tick has none."""
    computed = ("share", "interval", "expected", "orders", "ticked")
    cell = table.cell(row, column)
    if column == "either":
        named = table.cell(row, "named")
        return bool(named and named.values[0])
    return bool(cell and cell.values) and column not in computed


def test_every_cell_opens_what_it_counts(themes: InterviewThemes) -> None:
    """A count of mentions is the length of its list, a count of participants that of the people in it."""
    for one in build_interview_tables(themes):
        for row in one.rows():
            for column, cell in zip(one.columns, row.cells, strict=True):
                if cell.selection is None:
                    assert not opens(one, row.key, column.key) or not cell.values[0], (one.id, row.key, column.key)
                    continue
                found = find_quotations_behind(themes, f"{one.id}:{row.key}:{column.key}").quotations
                assert found == tuple(select_quotations(themes, cell.selection)) != ()
                if (one.id, column.key) == ("saturation", "total"):
                    assert cell.values[0] == len({each.code for each in found}), row.key
                elif column.key in ("participants", "named"):
                    assert cell.values[0] == len({each.participant for each in found}), (one.id, row.key, column.key)
                elif one.id in ("matrix", "defects-importance") or column.key == "mentions":
                    assert cell.values[0] == len(found), (one.id, row.key, column.key)


def test_co_occurrence_is_counted_by_turn_answer_and_shared_words(themes: InterviewThemes) -> None:
    found = shown(table(themes, "together"))
    assert found["shapes+indicator"] == ["2 0.40", "2 0.40", "11 0.08", "2"]
    on_words = find_quotations_behind(themes, "together:shapes+indicator:characters").quotations
    assert find_quotations_behind(themes, "together:shapes+indicator:words").quotations == on_words, "its older name"
    assert sorted(one.words for one in on_words) == ["Loss over 5", "Loss over 5 or shapes."]


def test_saturation_is_computed_in_the_order_of_interviews(themes: InterviewThemes) -> None:
    saturation = compute_saturation(themes)
    assert (saturation.new, saturation.total[-1]) == ((6, 2, 0, 0, 0, 1), 9)
    rows = shown(table(themes, "saturation"))
    assert rows["P6"] == ["1", "9", "9.0", "9.0 to 9.0", "another factor"]
    assert [one.words for one in find_quotations_behind(themes, "saturation:P6:new").quotations] == ["the people"]
    assert "not reached, the last 2 interviews add 12.5%." in " ".join(table(themes, "saturation").notes)


def test_interviews_of_one_day_are_ordered_by_their_start(tmp_path: Path) -> None:
    """P2 was held first, and the start of it came in last."""
    study = themed_study(tmp_path, [("{data:One}.", "two", "three"), ("{time:Two}.", "two", "three")])
    with open_interviews(study) as interviews:
        planned = parse_moment(interviews.file.read_entries(about="P2")[0])
        move_clock(interviews, "P2", Stamp(interviews.coding.lead, "late", planned), "start")
        days = {interview.day for interview in interviews.interviews()}
        assert [name for name, _ in read_themes(interviews).interviews] == ["P2", "P1"], days


def test_reference_items_are_counted_from_ticks_and_from_codes(themes: InterviewThemes) -> None:
    found = shown(table(themes, "factors"))
    assert found["data"] == ["2 50.0%", "3 50.0%", "3 50.0%", "P1, P2, P4"]
    assert found["other"] == ["2 50.0%", "1 16.7%", "3 50.0%", "P3, P4, P6"]
    assert found["added-1"] == ["2", "·", "2", "P3, P4"], "the same words in other letters are the same"


def test_a_participant_with_a_tick_stays_in_the_base_of_a_skipped_question(
    tmp_path: Path,
) -> None:
    study = themed_study(tmp_path, [("{data:One}.", "two", "three"), ("{data:One}.", "two", "three")])
    with open_interviews(study) as interviews:
        for _ in range(2):
            name, stamp = with_interview(interviews).id, Stamp(interviews.coding.lead)
            tick_item(interviews, name, stamp, "factors", "data")
            mark_question(interviews, name, stamp, "factors", "skipped")
        found = table(read_themes(interviews), "factors")
    assert shown(found)["data"] == ["4 100.0%", "2 100.0%", "4 100.0%", "P1, P2, P3, P4"]
    assert shown(found)["time"][0] == "1 25.0%", "all items of a question have one base"
    assert "of 4 participants who were asked this" in found.notes[0]


def test_fields_of_codes_are_collected_in_tables(themes: InterviewThemes) -> None:
    indicators = shown(table(themes, "indicator"))
    assert indicators["indicator-1"] == ["loss", "10", "“the loss is above 10 after an epoch”"]
    assert next(one.fields for one in themes.of("indicator")) == {"what": "loss", "threshold": "10"}
    defects = shown(table(themes, "defects"))
    assert defects["crash-1"] == ["high", "export", "“crashed on export”", "pinning a version"]
    assert defects["crash-3"] == ["not said", "not said", "“Crashes”", "·"]
    importance = table(themes, "defects-importance")
    assert [column.title for column in importance.columns][:3] == ["low", "high", "not said"]
    assert shown(importance)["crash"] == ["·", "2", "1", "3", "3"]


def test_scale_values_are_in_scale_order_and_other_values_follow(themes: InterviewThemes) -> None:
    said = iter(("urgent", "High", "medium", "low", "critical"))
    quotations = [replace(quotation, fields={"importance": next(said)}) if quotation.theme == "defects" else quotation
                  for quotation in themes.quotations]  # fmt: skip
    importance = table(replace(themes, quotations=tuple(quotations)), "defects-importance")
    assert [column.title for column in importance.columns][:5] == ["low", "medium", "High", "critical", "urgent"]


def test_a_pair_of_codes_that_never_share_words_has_no_numbers_there(themes: InterviewThemes) -> None:
    found = shown(table(themes, "together"))
    assert found["data+time"] == ["1 0.20", "1 0.20", "·", "1"]


def test_the_list_behind_a_whole_theme_is_titled_with_its_name(themes: InterviewThemes) -> None:
    assert (
        find_quotations_behind(themes, "themes:factors:participants").place == "Factors weighed, any code, participants"
    )
    assert find_quotations_behind(themes, "themes:data:mentions").place == "data, mentions"


def test_a_quotation_has_its_context(themes: InterviewThemes) -> None:
    name, found = find_quotations(themes, "slow")
    assert name == "Defects › slowness"
    first = found[0]
    assert (first.words, first.after, first.question_text) == (
        "Compiling takes minutes", " 🙂, I told them.", "What goes wrong with frameworks?"
    )  # fmt: skip
    assert first.earlier is not None
    assert (first.earlier.voice, first.later, first.raters) == ("interviewer", None, 2)
    with pytest.raises(InputError, match="no quotation has the code 'slo'; codes with quotations: slow"):
        find_quotations(themes, "slo")


@pytest.mark.parametrize(
    ("cell", "why"),
    [
        ("nothing:data:mentions", "interviews have no table 'nothing'"),
        ("themes:data:colour", "has no column 'colour'"),
        ("themes:dat:mentions", "has no row 'dat'; choose from: data"),
        ("themes:data:share", "does not count quotations"),
    ],
)
def test_an_unknown_cell_is_refused(themes: InterviewThemes, cell: str, why: str) -> None:
    with pytest.raises((InputError, StateError), match=why):
        find_quotations_behind(themes, cell)


def test_linked_passages_are_one_mention(tmp_path: Path) -> None:
    study = themed_study(tmp_path, [("{data:One}.", "two {shapes:three}", "{data:four}")], settled=False)
    with open_coding(study) as coding:
        for rater in ("rater-1", "rater-2"):
            for item, end in (("P1/00001", 3), ("P1/00005", 4)):
                rate(coding, ROUND, rater, item, {"themes": [{"start": 0, "end": end, "code": "data", "link": "a"}]})
    close_by_name(study, ROUND, None)
    settle_agreed(study, ROUND, None)
    with open_interviews(study) as interviews:
        found = read_themes(interviews)
    assert [one.words for one in found.of("data")] == ["One […] four"]
    assert shown(table(found, "matrix"))["data"] == ["1", "1"]


def test_a_passage_across_two_questions_co_occurs_with_codes_of_both_answers(tmp_path: Path) -> None:
    study = themed_study(tmp_path, [("One.", "{shapes:three} two", "four")], settled=False)
    with open_coding(study) as coding:
        for rater in ("rater-1", "rater-2"):
            part = {"start": 0, "end": 3, "code": "data", "link": "a"}
            rate(coding, ROUND, rater, "P1/00001", {"themes": [part]})
            rate(coding, ROUND, rater, "P1/00003", {"themes": [part, {"start": 0, "end": 5, "code": "shapes"}]})
    close_by_name(study, ROUND, None)
    settle_agreed(study, ROUND, None)
    with open_interviews(study) as interviews:
        found = read_themes(interviews)
    assert shown(table(found, "together"))["data+shapes"] == ["1 0.50", "1 0.50", "3 0.38", "1"]
    behind = find_quotations_behind(found, "together:data+shapes:answers").quotations
    assert {one.code for one in behind} == {"data", "shapes"}


def test_differing_field_values_of_raters_are_shown_and_can_be_settled(tmp_path: Path) -> None:
    said = ("One.", "two", "It {crash|importance=High;case=export:crashed}, {slow|importance=low:slowly}.")
    study = themed_study(tmp_path, [said], settled=False)
    item, lead = "P1/00005", Viewer("lead", Role.LEAD)
    with open_coding(study) as coding:
        assert coding.lead == lead.name
        mine = coding.state.round(ROUND).current("rater-1", item)
        assert mine is not None
        other = [{**passage, "fields": {"importance": "LOW"}} for passage in mine.answers["themes"]]
        rate(coding, ROUND, "rater-2", item, {"themes": other})
    close_by_name(study, ROUND, None)
    settle_agreed(study, ROUND, None)
    with open_interviews(study) as interviews:
        found = read_themes(interviews)
    importance = table(found, "defects-importance")
    assert [column.title for column in importance.columns][:2] == ["low", "raters differ"]
    assert shown(importance)["crash"] == ["·", "1", "1", "1"]
    assert shown(table(found, "defects"))["crash-1"][:2] == ["raters differ: High or LOW", "export"]
    assert "nobody has decided" in importance.notes[0]
    assert found.unsettled == 0, "about the codes they agree"
    everything = DisagreementFilter()
    assert [one.item for one in list_disagreements_page(study, ROUND, lead, everything).word_differences] == [item]
    case = build_case(study, ROUND, lead, item, "themes", everything)
    assert (case.differs_in_words, case.question.others) == (True, ())
    assert [method for method, _ in case.methods] == ["discussion", "one-person"]
    chosen = SubmittedAnswer(case.question.opinions[0].value)
    settle_case(study, ROUND, lead, item, "themes", chosen, "one-person", "as he said", seen=len(case.outcomes), key="")
    assert list_disagreements_page(study, ROUND, lead, everything).word_differences == ()
    assert not build_case(study, ROUND, lead, item, "themes", everything).differs_in_words
    with open_interviews(study) as interviews:
        after = table(read_themes(interviews), "defects-importance")
    assert [column.title for column in after.columns][:2] == ["low", "High"]
    assert "nobody has decided" not in str(after.notes)


def test_questions_codes_and_values_can_have_the_names_of_built_in_columns(themes: InterviewThemes) -> None:
    crashes = [
        replace(one, fields={"importance": words})
        for one, words in zip(themes.of("crash"), ("mentions", "Participants", "raters differ"), strict=True)
    ]
    changed = {crash.id: crash for crash in crashes}
    codes = [replace(code, id="saturation") if code.id == "indicator" else code for code in themes.codes]
    odd = replace(
        themes,
        references=tuple(replace(reference, question="quotations") for reference in themes.references),
        codes=tuple(codes),
        quotations=tuple(
            changed.get(one.id, replace(one, code="saturation") if one.code == "indicator" else one)
            for one in themes.quotations
        ),
    )
    tables = {interview_table.id: interview_table for interview_table in build_interview_tables(odd)}
    assert list(tables)[-1] == "quotations"
    assert (tables["quotations"].title, tables["saturation"].stub) == ("Quotations", "interview")
    assert {"interview-quotations", "interview-saturation"} <= tables.keys()
    assert [one.table.id for one in themes_page(odd).sections] == [name for name in tables if name != "quotations"]
    importance = tables["defects-importance"]
    keys = [column.key for column in importance.columns]
    assert len(set(keys)) == len(keys)
    assert {"importance=mentions", "importance=participants", "mentions", "participants"} <= set(keys)
    assert len(find_quotations_behind(odd, "defects-importance:crash:importance=mentions").quotations) == 1
    assert len(find_quotations_behind(odd, "defects-importance:crash:mentions").quotations) == 3


def test_interview_tables_get_ids_distinct_from_those_in_the_report(themes: InterviewThemes) -> None:
    names = [interview_table.id for interview_table in build_interview_tables(themes, ["themes", "interview-themes"])]
    assert names[0] == "interview-interview-themes"
    assert len(set(names)) == len(names)


def test_an_open_round_shows_no_themes_and_a_lead_who_rates_needs_a_recorded_view(tmp_path: Path) -> None:
    study = themed_study(tmp_path, [("{data:One}.", "two", "three")], settled=False)
    with open_interviews(study) as interviews:
        with pytest.raises(StateError, match="no round on transcripts is closed yet"):
            read_themes(interviews)
        seen = read_visible_themes(interviews, Viewer("reader", Role.VIEWER))
    assert (seen.quotations, seen.hidden, themes_page(seen).sections) == ((), {}, ())
    with pytest.raises(StateError, match="no round on transcripts is closed yet"):
        build_report(study, lambda words: None)


def test_raters_see_no_themes_on_reader_pages(study: Study) -> None:
    with open_interviews(study) as interviews:
        assert len(read_visible_themes(interviews, Viewer("reader", Role.REVIEWER)).quotations) == 23
        assert read_visible_themes(interviews, Viewer("rater-1", Role.RATER)).hidden.keys() == {ROUND}


def test_readers_see_no_unconfirmed_known_names_and_the_lead_does(study: Study, tmp_path: Path) -> None:
    with open_interviews(copy_of(study, tmp_path / "copy")) as interviews:
        before = read_visible_themes(interviews, Viewer("reader", Role.VIEWER))
        for form in ("Compiling", "illegal", "export", "again the data"):
            add_name(interviews, "other", [form], f"[no {len(form)}]")
        seen = read_visible_themes(interviews, Viewer("reader", Role.REVIEWER))
        of_lead = read_visible_themes(interviews, Viewer(interviews.coding.lead, Role.LEAD))
    said = [
        (one.words, one.before, one.after, one.earlier, one.later, one.memo, dict(one.fields))
        for one in seen.quotations
    ]
    for form in ("Compiling", "illegal", "export", "again the data"):
        assert form in str(of_lead.quotations)
        assert form not in str(said)
    assert any(quotation.words == "[no 9] takes minutes" for quotation in seen.quotations)
    assert any(quotation.words == "and [no 14]" for quotation in seen.quotations)
    assert "crashed on [no 6]" in {quotation.words for quotation in seen.quotations}
    assert "[no 6]" in {quotation.fields.get("case") for quotation in seen.quotations}
    assert of_lead.quotations == before.quotations
    assert [quotation.id for quotation in seen.quotations] == [quotation.id for quotation in before.quotations]


def test_readers_see_no_known_names_in_code_names(study: Study, tmp_path: Path) -> None:
    with open_interviews(copy_of(study, tmp_path / "copy")) as interviews:
        before = read_visible_themes(interviews, Viewer("reader", Role.VIEWER))
        for form in ("Pinning", "Defects", "slowness"):
            add_name(interviews, "other", [form], f"[no {len(form)}]")
        seen = read_visible_themes(interviews, Viewer("reader", Role.VIEWER))
        of_lead = read_visible_themes(interviews, Viewer(interviews.coding.lead, Role.LEAD))
    page = themes_page(seen)
    told = repr(
        (page, [render_figure(seen, name) for name in FIGURES], find_quotations_behind(seen, "matrix:code-2:all"))
    )
    assert not re.findall("pinning|defects|slowness|'pin'|'slow'", told, re.IGNORECASE)
    assert {"[no 7] a version", "crash", "[no 8]"} <= {code.name for code in seen.codes}
    assert ("crash", "[no 7] › crash") in {(code.id, code.path) for code in seen.codes}
    assert of_lead.codes == before.codes
    assert list(shown(table(seen, "matrix")).values()) == list(shown(table(before, "matrix")).values())
    for one in seen.codes:
        assert find_quotations(seen, one.id) == (
            one.path,
            list(find_quotations_behind(seen, f"matrix:{one.id}:all").quotations),
        )


def test_the_report_contains_interview_tables_whose_cells_open_quotations(study: Study) -> None:
    outcome = build_report(study, lambda words: None)
    assert (outcome.tables, outcome.figures, outcome.missing) == (9, 3, {})
    page = (outcome.folder / "index.html").read_text("utf-8")
    assert 'href="items.html#themes:data:participants"' in page
    text = (outcome.folder / "items-data.js").read_text("utf-8")
    data = json.loads(text.removeprefix("window.quaestorItems = ").removesuffix(";\n"))
    assert len(data["quotations"]["items"]) == 23
    assert data["tables"]["themes"]["quoted"] is True
    assert data["tables"]["themes"]["cells"]["data:participants"] == [["code", ["data"]]]
    before = {path.name: path.read_bytes() for path in outcome.folder.rglob("*") if path.is_file()}
    build_report(study, lambda words: None)
    assert before == {path.name: path.read_bytes() for path in outcome.folder.rglob("*") if path.is_file()}
    rows, words = items_behind(study, "themes:data:participants")
    assert [(row.item, row.title) for row in rows][:2] == [
        ("P1/00001", "The size of the data"), ("P2/00001", "the data we have")
    ]  # fmt: skip
    assert words == "code Factors weighed › data"


def test_a_withdrawal_changes_counts_and_makes_published_results_stale(study: Study, tmp_path: Path) -> None:
    copy = copy_of(study, tmp_path / "copy")
    build_report(copy, lambda words: None)
    with open_interviews(copy) as interviews:
        assert check_freshness(copy, interviews.coding.state)[0].is_current
        mark_question(interviews, "P5", Stamp(interviews.coding.lead), "factors", "asked")
        assert not check_freshness(copy, interviews.coding.state)[0].is_current
        withdraw(interviews, "P4")
        found = read_themes(interviews)
    assert shown(table(found, "themes"))["data"] == ["2", "40.0%", "11.8% to 76.9%", "2"]
    assert "P4" not in found.participants
    assert shown(table(found, "factors"))["added-1"] == ["1", "·", "1", "P3"]
    assert "1 participant withdrew" in " ".join(table(found, "themes").notes)


def test_themes_are_not_written_while_a_known_name_remains(study: Study, tmp_path: Path) -> None:
    copy = copy_of(study, tmp_path / "copy")
    with open_interviews(copy) as interviews:
        found = read_themes(interviews)
        written = write_themes(interviews, found, tmp_path / "out")
        assert {"table-themes.csv", "saturation.svg", "themes.json"} <= {path.name for path in written}
        line = (tmp_path / "out" / "tables" / "table-matrix.csv").read_text("utf-8").splitlines()
        assert any("another factor" in one and ",0," in one for one in line), "nothing is a zero in a file"
        add_name(interviews, "other", ["Compiling"])
        with pytest.raises(StateError, match="nothing can be published while"):
            write_themes(interviews, found, tmp_path / "more")
    assert not (tmp_path / "more").exists()


@pytest.mark.slow
def test_rebuilding_an_interview_study_creates_a_report_and_no_handbook(study: Study, tmp_path: Path) -> None:
    copy = copy_of(study, tmp_path / "copy")
    remaking = RebuildJobs(copy.root)
    remaking.begin(PUBLISHED)
    assert remaking.wait().failed == ""
    assert [freshness.built is not None for freshness in check_freshness(copy, State())] == [True, False]


def test_table_notes_mention_what_was_not_counted(themes: InterviewThemes) -> None:
    disputed = (UncountedTurns("disagreement", (("P1", 2),)),)
    odd = replace(themes, uncounted=disputed, uncoded=1, in_vivo=3, withdrawn=2, simulated=True, synthetic=True)
    said = " ".join(table(odd, "themes").notes)
    for words in (
        "2 turns with undecided disagreements",
        "1 passage without",
        "3 passages in vivo",
        "2 participants withdrew",
        "simulated",
    ):
        assert words in said


def test_a_participant_who_declines_is_in_no_table_until_they_accept_again(study: Study, tmp_path: Path) -> None:
    own = copy_of(study, tmp_path)
    with open_interviews(own) as interviews:
        before = read_themes(interviews)
        record_consent(interviews, "P1", DECLINED, SPOKEN)
        after = read_themes(interviews)
        assert "P1" in before.participants
        assert "P1" in {who for reference in before.references for tally in reference.items for who in tally.ticked}
        assert "P1" not in str(after)
        assert len(after.participants) == len(before.participants) - 1
        assert "P1" not in str(read_visible_themes(interviews, Viewer("lead", Role.LEAD)))
        record_consent(interviews, "P1", ACCEPTED, SPOKEN)
        assert read_themes(interviews).quotations == before.quotations


def test_a_pair_of_codes_counts_participants_who_gave_both_in_one_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second question is only a follow-up, so that the first answer has two turns."""
    monkeypatch.setattr(themed_interviews, "ASKED", (themed_interviews.ASKED[0], "Why?", themed_interviews.ASKED[2]))
    monkeypatch.setattr(themed_interviews, "MATCHED", {0: "factors", 4: "wrong"})
    study = themed_study(tmp_path, themed_interviews.ANSWERS[:1])
    with open_interviews(study) as interviews:
        found = read_themes(interviews)
    together = table(found, "together")
    assert shown(together)["data+shapes"] == ["·", "1 1.00", "·", "1"]
    behind = find_quotations_behind(found, "together:data+shapes:participants").quotations
    assert {quotation.item for quotation in behind} == {"P1/00001", "P1/00003"}
