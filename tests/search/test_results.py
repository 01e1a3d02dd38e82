"""A search finds, marks and counts the matching items, and shows only decisions that the viewer may see."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.support.searched_study import (
    WROTE,
    searched_study,
    with_closed_round,
    with_open_round,
    with_settled_round,
)

from quaestor.base.errors import InputError, QuaestorError, StateError
from quaestor.coding.rating_files import record_view
from quaestor.coding.session import open_coding
from quaestor.coding.visibility import Viewer
from quaestor.evidence.text_index import Index, build_index
from quaestor.people.roles import Role
from quaestor.search.index_query import Search
from quaestor.search.query import Query
from quaestor.search.results import MarkedText, ResultPage, export_csv, find_items
from quaestor.study.folder import Study

LEAD = Viewer("head-of-study", Role.LEAD)
VIEWER, REVIEWER = Viewer("reader", Role.VIEWER), Viewer("journal", Role.REVIEWER)
READERS = (LEAD, VIEWER, REVIEWER)


def get_index(study: Study) -> Index:
    return build_index(study, lambda *progress: None)


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    return searched_study(tmp_path_factory.mktemp("search") / "study")


def list_numbers(result: ResultPage) -> list[int]:
    return [int(row.item.rpartition("/")[2]) for row in result.rows]


def search(study: Study, viewer: Viewer = LEAD, **conditions: object) -> list[int]:
    with open_coding(study) as coding:
        return list_numbers(find_items(Search(study, coding, get_index(study), viewer), Query(**conditions)))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        ({}, {1, 2, 3, 4, 5, 6, 7}),
        ({"words": "layer"}, {1, 2, 5, 7}),
        ({"words": "LAYER how"}, {1, 2, 5}),
        ({"words": '"save a layer"'}, {1}),
        ({"words": '"layer a save"'}, set()),
        ({"words": "freez*"}, {2, 4}),
        ({"words": "freez"}, set()),
        ({"words": "layer -keras"}, {7}),
        ({"words": "-keras"}, {3, 4, 7}),
        ({"words": "model.save"}, {1}),
        ({"words": "cafe naive"}, {2}),
        ({"words": "pre"}, set()),  # markup is no text
        ({"words": "script"}, set()),
        ({"words": "NEAR OR"}, {5}),
        ({"words": "layer_norm"}, {5}),
        ({"words": "c++"}, {4, 5}),  # signs are no part of words
        ({"words": "pytorch"}, {3, 4}),  # tags are words too
        ({"tag": "keras"}, {1, 2, 5, 6}),
        ({"tag": "KERAS"}, {1, 2, 5, 6}),
        ({"tag": "ker"}, set()),
        ({"year": 2016}, {2, 3}),
        ({"year": 2016, "words": "layer"}, {2}),
        ({"step": "asks how"}, {1, 2, 3, 4, 5, 6}),
        ({"step": "asks how", "side": "dropped"}, {7}),
        ({"step": "viewed", "side": "dropped"}, {6}),
        ({"step": "viewed", "tag": "keras", "year": 2018}, {5}),
        ({"words": "' OR 1=1 --"}, set()),
        ({"tag": "' OR 1=1 --"}, set()),
    ],
)  # fmt: skip
def test_a_search_finds_exactly_the_matching_items(
    study: Study, conditions: dict[str, object], expected: set[int]
) -> None:
    result = find_items(Search(study, None, get_index(study), LEAD), Query(**conditions))  # type: ignore[arg-type]
    assert set(list_numbers(result)) == expected
    assert result.total == len(expected) == sum(count for _, count in result.years)


@pytest.mark.parametrize("words", ['"', "***", "(", "'", "\0", "x" * 10_000, "a* " * 40, "😀"])
def test_hostile_search_texts_find_nothing_or_are_refused(study: Study, words: str) -> None:
    try:
        assert find_items(Search(study, None, get_index(study), LEAD), Query(words=words)).total == 0
    except InputError as refusal:
        assert len(str(refusal)) < 200


def test_the_best_match_comes_first_and_only_search_terms_are_marked(study: Study) -> None:
    result = find_items(Search(study, None, get_index(study), LEAD), Query(words="layer"))
    assert result.ranked
    assert list_numbers(result)[-1] in (5, 7)  # only in the text
    top = result.rows[0]
    assert MarkedText("layer", True) in top.title
    assert [piece.text for piece in top.title if piece.marked] == ["layer"]
    hostile = find_items(Search(study, None, get_index(study), LEAD), Query(words="freezing")).rows[0]
    assert [piece.text for piece in hostile.snippet if piece.marked] == ["freezing"]
    quoted = find_items(Search(study, None, get_index(study), LEAD), Query(words="bold")).rows[0]
    assert "".join(piece.text for piece in quoted.title) == 'How <b>bold</b> & "quoted"'


@pytest.mark.parametrize(
    ("order", "first", "last"),
    [("newest", 7, 1), ("oldest", 1, 7), ("viewed", 7, 6), ("scored", 7, 2), ("", 1, 7)],
)
def test_items_are_sorted_in_the_chosen_order(study: Study, order: str, first: int, last: int) -> None:
    ordered = search(study, order=order)
    assert (ordered[0], ordered[-1]) == (first, last)


def test_pages_are_consecutive_and_a_page_number_too_high_shows_the_last(study: Study) -> None:
    pages = [
        find_items(Search(study, None, get_index(study), LEAD), Query(page=page), size=3) for page in (1, 2, 3, 99)
    ]
    assert [list_numbers(page) for page in pages] == [[1, 2, 3], [4, 5, 6], [7], [7]]
    assert {page.pages for page in pages} == {3}
    assert pages[0].years == ((2015, 1), (2016, 2), (2017, 1), (2018, 2), (2019, 1))
    assert pages[0].tags[0] == ("keras", 4)


def test_an_unknown_step_is_refused_with_the_allowed_ones(study: Study) -> None:
    with pytest.raises(InputError, match="choose from: viewed or asks how"):
        search(study, step="view")


@pytest.fixture(scope="module")
def settled(tmp_path_factory: pytest.TempPathFactory) -> Study:
    return with_settled_round(searched_study(tmp_path_factory.mktemp("settled") / "study"))


@pytest.fixture
def closed(tmp_path: Path) -> Study:
    return with_closed_round(searched_study(tmp_path / "closed"))


@pytest.mark.parametrize("viewer", READERS, ids=lambda viewer: viewer.role)
@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        ({"code": "keep"}, [1, 2, 3, 4, 5]),
        ({"facet": "relevance", "code": "keep", "words": "layer"}, [1, 2, 5]),
        ({"facet": "phase", "code": "training"}, [1, 2, 3, 4, 5]),  # with all below it
        ({"code": "training/loss"}, [1]),
        ({"code": "loss"}, [1]),  # by its name
        ({"code": "model training"}, [1, 2, 3, 4, 5]),
        ({"code": "setting"}, []),  # a code without items
        ({"round": "main"}, [1, 2, 3, 4, 5]),
        ({"disagreement": "any"}, [3, 4]),
        ({"disagreement": "settled"}, [3, 4]),
        ({"disagreement": "open"}, []),
        ({"disagreement": "any", "facet": "phase"}, [4]),
        ({"disagreement": "any", "tag": "pytorch", "year": 2017}, [4]),
    ],
)
def test_everyone_who_reads_evidence_finds_the_decisions_of_a_settled_round(
    settled: Study, viewer: Viewer, conditions: dict[str, object], expected: list[int]
) -> None:
    assert sorted(search(settled, viewer, **conditions)) == expected


def test_an_item_shows_its_final_answers(settled: Study) -> None:
    with open_coding(settled) as coding:
        rows = find_items(Search(settled, coding, get_index(settled), REVIEWER), Query(code="loss")).rows
    answers = {answer.facet: (answer.label, answer.decision) for answer in rows[0].decided}
    assert answers["relevance"] == ("keep", "relevance:keep")
    assert answers["phase"] == ("model training › loss", "phase:training/loss")


def test_only_the_lead_finds_disagreements_that_are_still_open(closed: Study) -> None:
    assert search(closed, LEAD, disagreement="open") == [], "the round could still be reopened with its raters blind"
    with open_coding(closed) as coding:
        record_view(coding, "main", LEAD.name)
    assert search(closed, LEAD, disagreement="open") == [3, 4]
    for viewer in (VIEWER, REVIEWER):
        with pytest.raises(StateError, match="every disagreement is settled"):
            search(closed, viewer, disagreement="open", round="main")
        assert search(closed, viewer, disagreement="any") == []
        with open_coding(closed) as coding:
            result = find_items(Search(closed, coding, get_index(closed), viewer), Query(disagreement="any"))
            offered = Search(closed, coding, get_index(closed), viewer).list_filters()
        assert "every disagreement is settled" in result.hidden_rounds[0]
        assert not offered.has_disagreements


def test_a_search_in_an_open_round_finds_only_its_items(tmp_path: Path) -> None:
    study = with_open_round(searched_study(tmp_path / "study"))
    for viewer in READERS:
        assert search(study, viewer, round="main") == [1, 2, 3, 4, 5]
        for conditions in ({"code": "keep"}, {"disagreement": "any"}, {"facet": "phase", "code": "training"}):
            with pytest.raises(QuaestorError, match=r"is open|there are no decisions|no item was coded"):
                search(study, viewer, round="main", **conditions)
        with open_coding(study) as coding:
            assert Search(study, coding, get_index(study), viewer).list_filters().decisions == {}


def test_a_lead_who_rated_finds_nothing_before_a_recorded_view(tmp_path: Path) -> None:
    study = searched_study(tmp_path / "study", second="head-of-study")
    with_closed_round(study, "head-of-study")
    with open_coding(study) as coding:
        before = coding.state.head
        result = find_items(Search(study, coding, get_index(study), LEAD), Query(disagreement="any"))
        assert result.total == 0
        assert "open the disagreements of main" in result.hidden_rounds[0]
        assert all(row.decided == () for row in find_items(Search(study, coding, get_index(study), LEAD), Query()).rows)
        assert coding.state.head == before  # searching records nothing
        record_view(coding, "main", "head-of-study")
    assert search(study, LEAD, disagreement="any") == [3, 4]


def test_an_unknown_code_is_refused_with_the_most_similar(settled: Study) -> None:
    with pytest.raises(InputError, match="most similar: training"):
        search(settled, code="trainin")
    with pytest.raises(InputError, match="no decisions on the facet 'phases'; choose from: phase"):
        search(settled, facet="phases", code="keep")


@contextmanager
def lines(study: Study, viewer: Viewer, **conditions: object) -> Iterator[list[dict[str, str]]]:
    with open_coding(study) as coding:
        text = "".join(export_csv(Search(study, coding, get_index(study), viewer), Query(**conditions)))  # type: ignore[arg-type]
    yield list(csv.DictReader(text.splitlines()))


def test_the_csv_has_all_results_with_their_decisions(settled: Study) -> None:
    with lines(settled, LEAD, page=3) as rows:
        assert [row["item"] for row in rows] == [f"forum/question/{number}" for number in range(1, 8)]
        assert (rows[0]["tags"], rows[0]["created"], rows[1]["score"]) == ("keras python", "2015-03-01", "-3")
        assert rows[0]["decided: phase"] == "model training › loss"
        assert (rows[5]["not kept at"], rows[6]["not kept at"], rows[0]["not kept at"]) == ("viewed", "asks how", "")
    with lines(settled, LEAD, words="layer", tag="keras") as rows:
        assert [row["item"][-1] for row in rows] == ["1", "2", "5"]


def test_no_cell_of_the_csv_is_a_formula(settled: Study) -> None:
    with lines(settled, LEAD) as rows:
        assert rows[3]["title"].startswith("'=cmd|")
        for row in rows:
            assert not [cell for name, cell in row.items() if cell[:1] in ("=", "+", "@", "\t") and name != "score"]


def test_only_viewers_who_see_names_get_authors(settled: Study) -> None:
    for viewer, author in ((LEAD, WROTE), (VIEWER, WROTE), (REVIEWER, "asker")):
        with lines(settled, viewer) as rows:
            assert {row["author"] for row in rows} == {author}


def test_an_invalid_query_is_refused_before_the_csv_starts(settled: Study) -> None:
    with open_coding(settled) as coding, pytest.raises(InputError):
        export_csv(Search(settled, coding, get_index(settled), LEAD), Query(words="***"))
