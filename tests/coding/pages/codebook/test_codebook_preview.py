"""A preview equals the effect of a codebook change and shows each person only what they may see."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from quaestor.base.errors import StateError
from quaestor.coding.codebook import CodebookChanged, change_codebook
from quaestor.coding.model.closing import build_close_acts
from quaestor.coding.model.codebook.history import UNDO
from quaestor.coding.model.decisions import build_agreed_act, build_published_act
from quaestor.coding.model.ratings import build_rating_act, list_labels
from quaestor.coding.model.records import CANNOT_JUDGE, Codebook, Facet, RoundPlan
from quaestor.coding.model.rounds import build_open_act
from quaestor.coding.model.state import OUTSIDE, State
from quaestor.coding.pages.codebook.browser import (
    build_trees,
    explain_no_counts,
    find_last_version,
    find_visible_book,
    list_counted_rounds,
)
from quaestor.coding.pages.codebook.change_form import read_change
from quaestor.coding.pages.codebook.change_log import ChangeLog, list_code_differences, mark_differences
from quaestor.coding.pages.codebook.change_preview import DECIDED, RATED, preview_change
from quaestor.coding.pages.codebook.code_detail import collect_uses, count_items
from quaestor.coding.session import CodingSession, open_coding
from quaestor.coding.visibility import Viewer, Visibility
from quaestor.people.roles import Role
from quaestor.store.records import NewAct
from quaestor.study.folder import open_study

BOOK = {
    "name": "small",
    "facets": [{"id": "issue", "levels": ["phase", "object"]}, {"id": "group", "levels": ["group"]}],
    "codes": [
        {"id": "setting", "facet": "issue", "name": "model setting"},
        {"id": "training", "facet": "issue", "name": "model training", "definition": "Fitting what was laid out."},
        {"id": "setting/loss", "facet": "issue", "parent": "setting", "name": "loss"},
        {"id": "setting/layer", "facet": "issue", "parent": "setting", "name": "layer", "examples": ["freeze a layer"]},
        {"id": "training/loss", "facet": "issue", "parent": "training", "name": "loss"},
        {"id": "training/session", "facet": "issue", "parent": "training", "name": "session"},
        {"id": "create", "facet": "group", "name": "create"},
        {"id": "read", "facet": "group", "name": "read"},
    ],
}
ITEMS = tuple(f"forum/question/{number}" for number in range(1, 25))
OBJECT = Facet("object", "single", codes="issue")
GROUP = Facet("group", "multiple", codes="group")
LEAD = Viewer("lead", Role.LEAD)
RATER = Viewer("rater-1", Role.RATER)


def begin_round(
    coding: CodingSession, name: str, facets: tuple[Facet, ...], raters: tuple[str, ...], **more: Any
) -> None:
    def act(state: State) -> NewAct:
        version = state.history.latest.version
        plan = RoundPlan(name, "main", ITEMS, facets, raters, codebook=version, measured=facets[0].id, **more)
        return build_open_act(state, plan, "lead")

    coding.act(act)


def rate_all(coding: CodingSession, name: str, raters: tuple[str, ...], dice: random.Random, facets: int = 2) -> None:
    book = coding.state.history.at(coding.state.round(name).plan.codebook)
    codes = [code.id for code in book.active("issue")]
    groups = [code.id for code in book.active("group")]
    said: list[tuple[str, str, dict[str, Any]]] = []
    for item in ITEMS:
        same = dice.choice([*codes, CANNOT_JUDGE])
        for rater in raters:
            answers: dict[str, Any] = {"object": same if dice.random() < 0.7 else dice.choice(codes)}
            if facets == 2:
                answers["group"] = dice.sample(groups, dice.randint(1, len(groups)))
            said.append((rater, item, answers))
    rate_at_once(coding, name, said)


def rate_at_once(coding: CodingSession, name: str, said: list[tuple[str, str, dict[str, Any]]]) -> None:
    """All ratings in one transaction: the disk is asked once."""
    coding.act(lambda state: [build_rating_act(state, name, *one, now=coding.now()) for one in said])


@pytest.fixture
def coding(tmp_path: Path) -> Iterator[CodingSession]:
    (tmp_path / "study.toml").write_text('[study]\nname = "small"\nlead = "lead"\n', "utf-8")
    with open_coding(open_study(tmp_path)) as opened:
        change_codebook(opened, "codebook.import", BOOK)
        yield opened


def with_rounds(coding: CodingSession, dice: random.Random) -> None:
    """A closed round with decisions, published decisions, and a round that is open and blind."""
    raters = ("rater-1", "rater-2")
    begin_round(coding, "first", (OBJECT, GROUP), raters)
    rate_all(coding, "first", raters, dice)
    coding.act(lambda state: build_close_acts(state, "first", "lead"))
    coding.act(lambda state: build_agreed_act(state, "first", "lead"))
    entries = [{"item": item, "facet": "object", "answer": dice.choice(["training/loss", "setting"])} for item in ITEMS]
    coding.act(lambda state: build_published_act("printed", "lead", "table 2", entries, 1))
    begin_round(coding, "second", (OBJECT,), ("rater-1", "rater-3"))
    rate_all(coding, "second", ("rater-3",), dice, facets=1)


def random_change(book: Codebook, number: int, dice: random.Random) -> tuple[str, dict[str, Any]]:
    active = sorted(code.id for code in book.codes.values() if code.active)
    one, other = dice.choice(active), dice.choice(active)
    roots = [code.id for code in book.active("issue", "phase")]
    leaves = [code.id for code in book.active("issue", "object")] or roots
    parts = [{"id": f"p{number}{letter}", "name": f"{letter} {number}"} for letter in "ab"]
    split = {
        "code": one,
        "parts": parts,
        "items": dict.fromkeys(dice.sample(ITEMS, 6), f"p{number}a"),
        "rules": [{"facet": "group", "answer": "create", "part": f"p{number}a"}],
        "otherwise": f"p{number}b",
    }
    return dice.choice(
        [
            ("codebook.rename", {"code": one, "name": f"renamed {number}"}),
            ("codebook.redefine", {"code": one, "definition": f"definition {number}"}),
            ("codebook.merge", {"codes": [one], "into": other}),
            ("codebook.merge", {"codes": [one], "into": other}),
            ("codebook.split", split),
            ("codebook.move", {"code": one, "parent": other}),
            ("codebook.move", {"code": dice.choice(leaves), "parent": dice.choice(roots)}),
            ("codebook.retire", {"code": one}),
            (UNDO, {"version": number}),
            (UNDO, {"version": dice.randint(2, max(2, number))}),
        ]
    )


def named(book: Codebook, code: str) -> tuple[str, str, bool]:
    return code, book.path_name(code), book.codes[code].active


def observed(state: State, version: int) -> tuple[Counter[Any], Counter[Any]]:
    """What the labels of the closed round, and all decisions, are before a version and under it."""
    before, after = state.history.at(version - 1), state.history.at(version)
    rated: Counter[Any] = Counter()
    pairs = zip(
        list_labels(state, "first", "object", version - 1), list_labels(state, "first", "object", version), strict=True
    )
    for (_, _, old), (_, _, new) in pairs:
        if isinstance(old, str) and isinstance(new, str) and CANNOT_JUDGE not in (old, new):
            sides = named(before, old), named(after, new)
            rated[sides] += sides[0] != sides[1]
    decided: Counter[Any] = Counter()
    made = [*state.rounds["first"].last_decisions("object").values(), *state.published["printed"].values()]
    for one in made:
        every = state.rounds["first"].decisions if one.how != OUTSIDE else {}
        answers = {facet: given[-1].answer for (item, facet), given in every.items() if item == one.item}
        sides = tuple(
            named(book, state.history.find_code(one.answer, book.version, one.item, answers).code or "")
            for book in (before, after)
        )
        decided[sides] += sides[0] != sides[1]
    return +rated, +decided


@pytest.mark.parametrize("seed", range(3))
def test_a_preview_lists_exactly_what_the_change_moves(coding: CodingSession, seed: int) -> None:
    dice = random.Random(seed)
    with_rounds(coding, dice)
    done = Counter[str]()
    for _ in range(45):
        latest = coding.state.history.latest
        kind, payload = random_change(latest, latest.version, dice)
        try:
            preview = preview_change(coding, kind, payload)
        except StateError as refused:
            with pytest.raises(StateError) as again:
                change_codebook(coding, kind, payload)
            assert str(again.value) == str(refused)
            continue
        assert coding.state.history.latest is latest, "looking ahead changes nothing"
        change_codebook(coding, kind, payload, at=preview.at)
        rated, decided = observed(coding.state, preview.at + 1)
        said: dict[str, Counter[Any]] = {RATED: Counter(), DECIDED: Counter()}
        for move in preview.moves:
            if move.facet == "object":
                assert move.before is not None
                assert move.after is not None
                sides = tuple((place.code, place.name, place.offered) for place in (move.before, move.after))
                said[move.what][sides] += move.count
        assert said == {RATED: rated, DECIDED: decided}, (kind, payload)
        assert not [move for move in preview.moves if move.round == "second"], "an open round keeps to its version"
        assert ("second", 1) in preview.frozen
        done[kind] += bool(preview.moves)
    assert {"codebook.merge", "codebook.split", "codebook.move", "codebook.rename"} <= (+done).keys()


def test_each_code_of_a_set_is_moved_separately(coding: CodingSession) -> None:
    with_rounds(coding, random.Random(1))
    given = [rating.answers["group"] for rating in coding.state.rounds["first"].all_ratings()]
    preview = preview_change(coding, "codebook.merge", {"codes": ["create"], "into": "read"})
    (move,) = [move for move in preview.moves if move.what == RATED]
    assert (move.facet, move.count) == ("group", sum("create" in codes for codes in given))


def test_a_preview_lists_items_with_a_retired_code_and_nothing_for_an_empty_change(coding: CodingSession) -> None:
    with_rounds(coding, random.Random(2))
    preview = preview_change(coding, "codebook.retire", {"code": "training/loss"})
    assert preview.left
    assert all(move.after and not move.after.offered for move in preview.left)
    assert preview.words == "Retire “model training › loss”"
    nothing = preview_change(coding, "codebook.redefine", {"code": "training", "definition": "Other words."})
    assert nothing.moves == ()
    assert [one.code for one in nothing.changed] == ["training"]


def test_a_change_based_on_an_earlier_version_is_refused(coding: CodingSession) -> None:
    change_codebook(coding, "codebook.rename", {"code": "training", "name": "fitting"}, at=1)
    with pytest.raises(CodebookChanged, match="version 1 then, 2 now"):
        change_codebook(coding, "codebook.rename", {"code": "setting", "name": "layout"}, at=1)
    assert coding.state.history.latest.version == 2


def sight(coding: CodingSession, viewer: Viewer) -> Visibility:
    return Visibility(coding.state, "lead", viewer)


def test_raters_of_an_open_round_see_no_counts_and_no_newer_codes(coding: CodingSession) -> None:
    with_rounds(coding, random.Random(3))
    change_codebook(coding, "codebook.add", {"id": "new", "facet": "issue", "name": "a new code"})
    assert "you rate in second" in explain_no_counts(sight(coding, RATER))
    assert list_counted_rounds(sight(coding, RATER)) == []
    assert find_last_version(sight(coding, RATER)) == 1
    assert "new" not in find_visible_book(sight(coding, RATER)).codes
    with pytest.raises(StateError, match="you rate under version 1"):
        find_visible_book(sight(coding, RATER), 2)
    idle = Viewer("rater-2", Role.RATER)
    assert explain_no_counts(sight(coding, idle)) == ""
    assert list_counted_rounds(sight(coding, idle)) == ["printed"], (
        "the first round has disagreements that nobody settled"
    )
    assert "new" in find_visible_book(sight(coding, idle)).codes
    assert list_counted_rounds(sight(coding, LEAD)) == ["first", "printed"]


def test_a_tie_breaker_sees_no_counts_before_the_ties_are_settled(coding: CodingSession) -> None:
    breaker = Viewer("tie-breaker", Role.TIE_BREAKER)
    begin_round(coding, "first", (OBJECT,), ("rater-1", "rater-2"), tie_breaker="tie-breaker", settle="tie-breaker")
    assert "you are the tie-breaker of first" in explain_no_counts(sight(coding, breaker))
    rate_at_once(coding, "first", [("rater-1", item, {"object": "training"}) for item in ITEMS])
    rate_at_once(coding, "first", [("rater-2", item, {"object": "setting"}) for item in ITEMS])
    coding.act(lambda state: build_close_acts(state, "first", "lead"))
    assert "once its disagreements are settled" in explain_no_counts(sight(coding, breaker))


def test_a_lead_who_rated_sees_nothing_of_that_round_before_a_recorded_view(coding: CodingSession) -> None:
    begin_round(coding, "first", (OBJECT,), ("lead", "rater-1"))
    rate_all(coding, "first", ("lead", "rater-1"), random.Random(5), facets=1)
    during = preview_change(coding, "codebook.retire", {"code": "training/loss"}, LEAD)
    assert (during.moves, during.frozen) == ((), (("first", 1),))
    coding.act(lambda state: build_close_acts(state, "first", "lead"))
    coding.act(lambda state: build_agreed_act(state, "first", "rater-1"))
    after = preview_change(coding, "codebook.retire", {"code": "training/loss"}, LEAD)
    assert after.moves == ()
    assert [name for name, _ in after.unseen] == ["first"]
    assert list_counted_rounds(sight(coding, LEAD)) == []


def test_items_are_counted_under_the_shown_version_including_subcodes(coding: CodingSession) -> None:
    entries = [{"item": ITEMS[number], "facet": "object", "answer": code} for number, code in
               enumerate(["training/loss", "training/loss", "training", "setting/loss"])]  # fmt: skip
    coding.act(lambda state: build_published_act("printed", "lead", "table 2", entries, 1))
    change_codebook(coding, "codebook.merge", {"codes": ["setting/loss"], "into": "training/loss"})
    material = collect_uses(coding.state, decided=["printed"])
    then, now = (count_items(material, coding.state.history.at(version)) for version in (1, 2))
    assert (len(then.items("training")), len(then.items("setting")), then.decided) == (3, 1, 4)
    assert (len(now.items("training")), len(now.items("setting")), now.decided) == (4, 0, 4)
    assert now.own["training/loss"] == {ITEMS[0], ITEMS[1], ITEMS[3]}


def test_the_newest_decision_on_an_item_counts(coding: CodingSession) -> None:
    for name, code in (("early", "training"), ("late", "setting")):
        entry = {"item": ITEMS[0], "facet": "object", "answer": code}
        coding.act(lambda state, name=name, entry=entry: build_published_act(name, "lead", "t", [entry], 1))  # type: ignore[misc]
    found = count_items(collect_uses(coding.state, decided=["late", "early"]), coding.state.history.latest)
    assert {code: len(items) for code, items in found.own.items()} == {"setting": 1}


def test_a_change_is_described_with_the_names_of_its_time(coding: CodingSession) -> None:
    change_codebook(coding, "codebook.rename", {"code": "training", "name": "fitting"})
    change_codebook(coding, "codebook.merge", {"codes": ["setting/loss"], "into": "training/loss"})
    change_codebook(coding, UNDO, {"version": 3})
    log = ChangeLog()
    found = log.changes(coding, coding.state.history)
    assert [one.words for one in found] == [
        "Import 8 codes in 2 facets",
        "Rename “model training” to “fitting”",
        "Merge “model setting › loss” into “fitting › loss”",
        "Undo change 3: Merge “model setting › loss” into “fitting › loss”",
    ]
    assert [(one.undone, one.can_be_undone) for one in found] == [
        (False, False), (False, True), (True, False), (False, True),
    ]  # fmt: skip
    change_codebook(coding, UNDO, {"version": 4})
    assert log.changes(coding, coding.state.history)[2].undone is False


def test_a_search_finds_names_definitions_and_examples_with_their_parents(coding: CodingSession) -> None:
    book = coding.state.history.latest
    issue, group = build_trees(book, "FREEZE")
    assert (issue.matches, group.matches) == (1, 0)
    (branch,) = issue.branches
    (layer,) = branch.branches
    assert (branch.code.id, branch.matches, layer.code.id, layer.label) == (
        "setting",
        False,
        "setting/layer",
        "example",
    )
    assert layer.says == (("freeze", True), (" a layer", False))
    assert [tree.matches for tree in build_trees(book, "loss layer")] == [0, 0], "all words must be there"
    assert [tree.facet.id for tree in build_trees(book, facet="group")] == ["group"]


def test_differences_between_versions_are_shown_word_by_word(coding: CodingSession) -> None:
    change_codebook(coding, "codebook.redefine", {"code": "training", "definition": "Fitting all that was laid out."})
    change_codebook(coding, "codebook.move", {"code": "training/session", "parent": "setting"})
    (training, session) = list_code_differences(coding.state.history.at(1), coding.state.history.latest)
    (text,) = training.texts
    assert "".join(piece for piece, _ in text.before) == "Fitting what was laid out."
    assert [piece for piece, changed in text.after if changed] == ["all that"]
    assert (session.what, session.texts[0].label) == (("moved",), "parent")
    assert mark_differences("a b", "a b") == ((("a b", False),), (("a b", False),))


def test_a_form_sends_only_changed_parts_so_that_concurrent_edits_do_not_clash(coding: CodingSession) -> None:
    first = coding.state.history.latest
    fields = {
        "act": ["redefine"],
        "code": ["setting/layer"],
        "use": ["It has weights."],
        "examples": ["freeze a layer"],
    }
    change_codebook(coding, "codebook.redefine", {"code": "setting/layer", "examples": ["another"]})
    kind, payload = read_change(fields, first)
    assert (kind, payload) == ("codebook.redefine", {"code": "setting/layer", "use": "It has weights."})
    change_codebook(coding, kind, payload)
    layer = coding.state.history.latest.codes["setting/layer"]
    assert (layer.examples, layer.use) == (("another",), "It has weights.")
