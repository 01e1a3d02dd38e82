"""Published numbers never count silently what is undecided, excluded, not drawn, renamed or merged."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.support.command_line import in_this_process
from tests.support.desk import QUICK, closing_app, post, signed_in
from tests.support.made_once import study_of
from tests.support.settling import settle_with_assents

from quaestor.base.errors import SettingsError, StateError
from quaestor.coding.codebook import change_codebook, import_codebook
from quaestor.coding.disagreements import settle_agreed
from quaestor.coding.model.decisions import find_undecided, list_disagreements
from quaestor.coding.model.ratings import build_rating_act
from quaestor.coding.pages.codebook.code_detail import collect_uses, count_items
from quaestor.coding.rating_files import rate
from quaestor.coding.round_acts import close_by_name, open_by_name, reopen_by_name
from quaestor.coding.session import open_coding
from quaestor.evidence.funnel import last_result, run_funnel
from quaestor.evidence.step_items import list_step_items, trace_item
from quaestor.people.credentials import Passwords
from quaestor.people.roles import Role
from quaestor.publication.publication import Publication, compute_publication, open_computed
from quaestor.publication.results.threats import list_threats
from quaestor.study.folder import Study, open_study
from quaestor.web.app import make_app

STUDY = """
[study]
name = "own"
lead = "lead"

[sources.sheet]
kind = "table"
path = "posts.csv"
item = "forum/question/{id}"
columns.id = { type = "whole" }
columns.title = {}

[[funnel.steps]]
step = "all"
where = "title.contains('how')"

[facets.relevance]
kind = "keep"

[facets.topic]
kind = "single"
codes = "issue"
required = false

[samples.twenty]
after = "all"
size = 20

[[rounds]]
round = "main"
items = ITEMS
facets = ["relevance", "topic"]
raters = ["rater-1", "rater-2"]

[results]
code = "main.topic"

[[tables]]
table = "1"
title = "Topics"
rows = ["topic"]

[[findings]]
finding = "1"
sentence = "Setting is {share} of all."
values = [{ name = "share", kind = "share", where = { topic = ["SETTING"] }, at_least = 0.1 }]
"""
SCREEN = """
[[rounds]]
round = "screen"
items = { after = "all" }
facets = ["relevance"]
raters = ["rater-1", "rater-2"]
"""
CODEBOOK = """
[[facet]]
id = "issue"
levels = ["topic", "part"]

[[code]]
id = "setting"
facet = "issue"
name = "Setting"
key = "S"

[[code]]
id = "training"
facet = "issue"
name = "Training"
key = "t"

[[code]]
id = "training/loss"
facet = "issue"
parent = "training"
name = "loss"
"""
ITEMS = [f"forum/question/{number}" for number in range(101, 161)]
CONTESTED = ITEMS[:15]
EXCLUDED = ITEMS[15:20]


def make_study(folder: Path, items: str = '{ after = "all" }', cited: str = "setting", more: str = "") -> Study:
    posts = "\n".join(["id,title", *(f"{number},how to do {number}" for number in range(101, 161))])
    rounds = f"{SCREEN}\n[[rounds]]" if "screen" in items else "[[rounds]]"
    text = STUDY.replace("[[rounds]]", rounds).replace("ITEMS", items).replace("SETTING", cited)
    study = study_of(folder, {"posts.csv": posts, "study.toml": text + more, "codebook.toml": CODEBOOK})
    import_codebook(study)
    return study


def rate_all(study: Study, *, missing: int = 0) -> None:
    """Both raters rate every item; they differ on the topic of the contested ones and exclude five."""
    open_by_name(study, "main", None)
    with open_coding(study) as coding:
        items = coding.state.round("main").plan.items
        for number, rater in enumerate(("rater-1", "rater-2")):
            rated = items[: len(items) - missing] if number else items

            def build(state: Any, rater: str = rater, number: int = number, rated: Any = rated) -> list[Any]:
                return [
                    build_rating_act(state, "main", rater, item, answer_for(item, number), now=coding.now())
                    for item in rated
                ]

            coding.act(build)


def answer_for(item: str, number: int) -> dict[str, Any]:
    if item in EXCLUDED:
        return {"relevance": "exclude", "topic": "training"}
    return {"relevance": "keep", "topic": ("setting", "training")[number] if item in CONTESTED else "setting"}


def publish(study: Study) -> Publication:
    with open_computed(open_study(study.root)) as computed:
        return compute_publication(computed, lambda message: None)


def counts(publication: Publication, table: str = "1") -> dict[str, float | None]:
    return {row.key: row.cells[-1].values[0] for row in publication.tables[table].rows()}  # type: ignore[misc]


def test_a_report_covers_the_agreed_items_without_another_command(tmp_path: Path) -> None:
    study = make_study(tmp_path / "study")
    rate_all(study)
    close_by_name(study, "main", None)
    for item in CONTESTED:
        settle_with_assents(study, "main", "rater-1", item, "topic", "training")
    assert counts(publish(study)) == {"S": 40, "T": 15, "total": 55}


def test_a_report_over_undecided_items_exits_1_unless_they_are_left_out(tmp_path: Path) -> None:
    study = make_study(tmp_path / "study")
    rate_all(study, missing=4)
    close_by_name(study, "main", None, "rater-2 left", final=True)
    sentence = (
        "In the round main 19 items are undecided and left out: 15 with an open disagreement, "
        "4 answered by fewer raters than planned."
    )
    stopped = in_this_process("report", "--study", study.root)
    assert (stopped.exit_code, (study.published / "report").exists()) == (1, False)
    assert sentence in stopped.stderr
    status = in_this_process("status", "--study", study.root).stdout
    assert "19 undecided (15 with an open disagreement, 4 answered by fewer raters than planned)" in " ".join(
        status.split()
    )
    done = in_this_process("report", "--undecided", "leave-out", "--json", "--study", study.root)
    assert (done.exit_code, json.loads(done.stdout)["undecided"]) == (0, [sentence])
    page = (study.published / "report" / "index.html").read_text("utf-8")
    assert page.index(sentence) < page.index("<main"), "the first page says it at its top"
    assert f"Judgement: {sentence[0].lower()}{sentence[1:]}" in page
    assert counts(publish(study)) == {"S": 36, "T": 0, "total": 36}
    settle_agreed(study, "main", None, "rater-2 left")
    with open_coding(study) as coding:
        assert find_undecided(coding.state, "main").describe() == "15 with an open disagreement"
        assert [decision.how for decision in coding.state.round("main").last_decisions("topic").values()].count(
            "single"
        ) == 4


def test_the_lead_leaves_undecided_items_out_at_the_desk(tmp_path: Path) -> None:
    study = make_study(tmp_path / "study")
    rate_all(study, missing=4)
    close_by_name(study, "main", None, "rater-2 left", final=True)
    with closing_app(make_app(study.root, passwords=Passwords(QUICK))) as app:
        lead = signed_in(app, study.root, Role.LEAD)
        assert "Leave out what is not decided yet" not in lead.get("/results").text
        assert post(lead, "/results/make", {}, "/results").status_code == 303
        assert "19 items are undecided" in app.state.remaking.wait().failed
        assert "Leave out what is not decided yet" in lead.get("/results").text
        assert post(lead, "/results/make", {"undecided": "leave-out"}, "/results").status_code == 303
        assert app.state.remaking.wait().failed == ""
    assert "19 items are undecided and left out" in (study.published / "report" / "index.html").read_text("utf-8")


def test_excluded_items_are_counted_only_in_a_table_that_asks_for_them(tmp_path: Path) -> None:
    more = '\n[[tables]]\ntable = "2"\ntitle = "With excluded ones"\nrows = ["topic"]\nexcluded = true\n'
    study = make_study(tmp_path / "study", more=more)
    rate_all(study)
    close_by_name(study, "main", None)
    for item in CONTESTED:
        settle_with_assents(study, "main", "rater-1", item, "topic", "setting")
    publication = publish(study)
    assert counts(publication) == {"S": 55, "T": 0, "total": 55}
    assert counts(publication, "2") == {"S": 55, "T": 5, "total": 60}
    listed = json.loads(in_this_process("items", "--cell", "2:T:posts", "--json", "--study", study.root).stdout)
    assert sorted(row["item"] for row in listed) == sorted(EXCLUDED)
    with open_coding(study) as coding:
        uses = collect_uses(coding.state, decided=["main"])
        assert len(count_items(uses, coding.state.history.latest).items("training")) == 0, "in the codebook too"


def test_a_round_over_a_sample_is_not_a_filter_of_the_whole(tmp_path: Path) -> None:
    step = '\n[[funnel.steps]]\nstep = "kept"\nround = "main"\n'
    study = make_study(tmp_path / "study", items='{ sample = "twenty" }')
    text = study.file.read_text("utf-8").replace("\n[facets.relevance]", f"{step}\n[facets.relevance]", 1)
    study.file.write_text(text, "utf-8")
    study = open_study(study.root)
    run_funnel(study)
    rate_all(study)
    close_by_name(study, "main", None)
    with open_coding(study) as coding:
        drawn = coding.state.round("main").plan.items
    excluded = set(drawn) & set(EXCLUDED)
    assert 0 < len(excluded) < 20, "the seed draws some of them"
    run_funnel(study)
    last = last_result(study)
    assert last is not None
    result = last[0].steps[1]
    assert (result.entered, result.kept, result.dropped) == (60, 20 - len(excluded), len(excluded))
    sampled = result.sampled
    assert sampled is not None
    assert (sampled.drawn, sampled.rated, sampled.excluded, sampled.not_drawn) == (20, 20, len(excluded), 40)
    assert sampled.estimate == pytest.approx(60 * result.kept / 20)
    assert sampled.low is not None
    assert sampled.high is not None
    assert result.kept <= sampled.low < sampled.estimate < sampled.high <= 60 - len(excluded)
    assert {row.item for row in list_step_items(study, "kept", dropped=True, limit=None)} == excluded
    outside = next(item for item in ITEMS if item not in drawn)
    path = trace_item(study, outside)
    assert (path["fell_at"], path["not_drawn_at"]) == (None, "kept")
    assert trace_item(study, sorted(excluded)[0])["fell_at"] == "kept"
    printed = in_this_process("funnel", "--study", study.root).stdout
    assert f"20 drawn, 20 rated, {result.kept} kept, {len(excluded)} excluded; 40 not drawn" in printed
    assert f"{result.kept / 60:.1%}" not in printed, "that is no share of all candidates"
    with open_computed(study) as computed:
        threats = list_threats(computed)
    assert (
        f"Selection: the funnel kept {result.kept} of 60 items; 40 were not drawn for a round, so nobody " in threats[0]
    )


def with_round_step(study: Study, name: str = "main") -> Study:
    """Adds a funnel step for a round."""
    step = f'\n[[funnel.steps]]\nstep = "kept"\nround = "{name}"\n'
    text = study.file.read_text("utf-8").replace("\n[facets.relevance]", f"{step}\n[facets.relevance]", 1)
    study.file.write_text(text, "utf-8")
    run_funnel(open_study(study.root))
    return open_study(study.root)


def screen(study: Study, excluded: int, rated: int = 60) -> None:
    """Both raters exclude the last items of the first `rated` ones in a round before the main one."""
    open_by_name(study, "screen", None)
    with open_coding(study) as coding:
        for rater in ("rater-1", "rater-2"):
            for number, item in enumerate(ITEMS[:rated]):
                rate(coding, "screen", rater, item, {"relevance": "keep" if number < rated - excluded else "exclude"})
        close_by_name(coding, "screen", None, "" if rated == 60 else "time is up", final=True)


def test_a_round_over_chosen_items_gives_no_estimate_for_all(tmp_path: Path) -> None:
    study = with_round_step(make_study(tmp_path / "study", items='{ kept_by = "screen" }'))
    screen(study, excluded=30)
    rate_all(study)
    close_by_name(study, "main", None)
    sampled = run_funnel(study).steps[1].sampled
    assert sampled is not None
    assert (sampled.drawn, sampled.excluded, sampled.not_drawn, sampled.estimate) == (30, 5, 30, None)


def test_a_report_says_that_its_funnel_is_out_of_date(tmp_path: Path) -> None:
    study = with_round_step(make_study(tmp_path / "study"))
    rate_all(study)
    close_by_name(study, "main", None)
    sentence = "The funnel is older than the evidence, the settings or the rounds: run `quaestor funnel` again."
    done = in_this_process("report", "--undecided", "leave-out", "--study", study.root)
    assert sentence in " ".join(done.stdout.split())
    assert "The funnel is older than" in (study.published / "report" / "index.html").read_text("utf-8")
    for item in CONTESTED:
        settle_with_assents(study, "main", "rater-1", item, "topic", "setting")
    run_funnel(study)
    done = in_this_process("report", "--study", study.root)
    assert (done.exit_code, sentence in " ".join(done.stdout.split())) == (0, False)


def test_the_funnel_is_out_of_date_once_more_items_are_excluded(tmp_path: Path) -> None:
    study = with_round_step(make_study(tmp_path / "study"))
    open_by_name(study, "main", None)
    with open_coding(study) as coding:
        for item in ITEMS[:30]:
            for rater in ("rater-1", "rater-2"):
                rate(coding, "main", rater, item, {"relevance": "keep", "topic": "setting"})
        close_by_name(coding, "main", None, "a pause")
    result = run_funnel(study).steps[1]
    assert result.sampled is not None
    assert (result.kept, result.sampled.excluded) == (30, 0)
    with open_coding(study) as coding:
        reopen_by_name(coding, "main", None, "go on", not_blind=True)
        for item in ITEMS[30:]:
            for rater in ("rater-1", "rater-2"):
                rate(coding, "main", rater, item, {"relevance": "exclude"})
        close_by_name(coding, "main", None)
    last = last_result(study)
    assert last is not None
    assert not last[1], "the same items are kept, but 30 more are excluded"


def test_an_item_without_an_answer_on_keeping_it_is_not_excluded(tmp_path: Path) -> None:
    study = make_study(tmp_path / "study")
    study.file.write_text(
        study.file.read_text("utf-8").replace('kind = "keep"', 'kind = "keep"\nrequired = false'), "utf-8"
    )
    study = with_round_step(open_study(study.root))
    open_by_name(study, "main", None)
    with open_coding(study) as coding:
        for number, item in enumerate(ITEMS):
            for rater in ("rater-1", "rater-2"):
                rate(coding, "main", rater, item, {"topic": "setting"} | ({"relevance": "keep"} if number else {}))
        close_by_name(coding, "main", None)
    step = run_funnel(study).steps[1]
    assert (step.kept, step.dropped) == (59, 0)
    assert trace_item(study, ITEMS[0])["fell_at"] is None


@pytest.fixture
def decided(tmp_path: Path) -> Study:
    study = make_study(tmp_path / "study")
    rate_all(study)
    close_by_name(study, "main", None)
    for item in CONTESTED:
        settle_with_assents(study, "main", "rater-1", item, "topic", "training")
    return study


def test_a_citation_of_a_renamed_code_stops_the_report_and_names_the_act(decided: Study) -> None:
    change_codebook(decided, "codebook.rename", {"code": "setting", "name": "Setting up"})
    with pytest.raises(SettingsError, match=r"finding 1 cites 'setting': it was renamed to 'Setting up' by the act "
                                            r"codebook\.rename \(version 2 of the codebook\)"):  # fmt: skip
        publish(decided)
    text = decided.file.read_text("utf-8").replace('code = "main.topic"', 'code = "main.topic"\ncodebook = 2')
    decided.file.write_text(text, "utf-8")
    assert publish(decided).findings[0].values[0].number == pytest.approx(40 / 55)


def test_undoing_a_change_makes_a_citation_valid_again(decided: Study) -> None:
    change_codebook(decided, "codebook.rename", {"code": "setting", "name": "Setting up"})
    change_codebook(decided, "codebook.undo", {"version": 2})
    assert publish(decided).findings[0].holds


@pytest.mark.parametrize(
    ("kind", "payload", "words"),
    [
        ("codebook.merge", {"codes": ["setting"], "into": "training"}, "merged into 'training'"),
        ("codebook.split", {"code": "setting", "parts": [{"id": "setting/a", "name": "a"}, {"id": "setting/b",
         "name": "b"}], "items": {}, "otherwise": "setting/a"}, "split into"),
    ],
)  # fmt: skip
def test_a_citation_of_a_merged_or_split_code_stops_the_report(
    decided: Study, kind: str, payload: dict[str, Any], words: str
) -> None:
    change_codebook(decided, kind, payload)
    with pytest.raises(SettingsError, match=words):
        publish(decided)


def test_an_unknown_code_is_refused_with_the_nearest_ones(decided: Study) -> None:
    decided.file.write_text(decided.file.read_text("utf-8").replace('["setting"]', '["seting"]'), "utf-8")
    with pytest.raises(SettingsError, match="cites 'seting': the codebook has no such code, nearest: setting"):
        publish(decided)


def test_a_position_keeps_its_code_and_is_warned_about(tmp_path: Path) -> None:
    study = make_study(tmp_path / "study", cited="S")
    rate_all(study)
    close_by_name(study, "main", None)
    for item in CONTESTED:
        settle_with_assents(study, "main", "rater-1", item, "topic", "training")
    change_codebook(study, "codebook.add", {"id": "early", "facet": "issue", "name": "Early", "key": "e"})
    warnings: list[str] = []
    with open_computed(study) as computed:
        publication = compute_publication(computed, warnings.append)
    assert publication.findings[0].values[0].number == pytest.approx(40 / 55)
    assert "warning: study.toml cites codes by position: cite them by id (S is setting)" in warnings


def test_a_printed_label_addresses_cells_and_is_no_reference(decided: Study) -> None:
    labels = '\n[results.labels]\nX1 = "setting"\n'
    text = decided.file.read_text("utf-8").replace('code = "main.topic"\n', f'code = "main.topic"\n{labels}')
    decided.file.write_text(text, "utf-8")
    assert counts(publish(decided)) == {"X1": 40, "T": 15, "total": 55}
    listed = json.loads(in_this_process("items", "--cell", "1:X1:posts", "--json", "--study", decided.root).stdout)
    assert len(listed) == 40
    decided.file.write_text(text.replace('["setting"]', '["X1"]'), "utf-8")
    with pytest.raises(SettingsError, match="finding 1 cites the label 'X1': cite the code by id, 'setting'"):
        publish(decided)


def test_a_wrong_import_that_was_replaced_leaves_no_trace_in_results(tmp_path: Path) -> None:
    study = make_study(tmp_path / "study")
    right = CODEBOOK.replace('"Setting"', '"Configuration"').replace('key = "S"', 'key = "c"')
    (study.root / "codebook.toml").write_text(right, "utf-8")
    import_codebook(study)
    rate_all(study)
    close_by_name(study, "main", None)
    for item in CONTESTED:
        settle_with_assents(study, "main", "rater-1", item, "topic", "training")
    assert counts(publish(study)) == {"C": 40, "T": 15, "total": 55}


def test_a_code_added_after_the_first_version_is_also_watched(decided: Study) -> None:
    change_codebook(decided, "codebook.add", {"id": "early", "facet": "issue", "name": "Early", "key": "e"})
    decided.file.write_text(decided.file.read_text("utf-8").replace('["setting"]', '["setting", "early"]'), "utf-8")
    assert publish(decided).findings[0].holds
    change_codebook(decided, "codebook.rename", {"code": "early", "name": "Late"})
    with pytest.raises(SettingsError, match=r"cites 'early': it was renamed to 'Late' by the act codebook\.rename"):
        publish(decided)


@pytest.mark.parametrize(
    ("kind", "payload", "words"),
    [
        ("codebook.merge", {"codes": ["setting"], "into": "training"}, "merged into 'training'"),
        ("codebook.rename", {"code": "setting", "name": "Setting up"}, "renamed to 'Setting up'"),
    ],
)
def test_a_label_of_a_changed_code_stops_the_report(
    decided: Study, kind: str, payload: dict[str, Any], words: str
) -> None:
    text = decided.file.read_text("utf-8").partition("[[findings]]")[0]
    decided.file.write_text(
        text.replace('code = "main.topic"\n', 'code = "main.topic"\nlabels = { X1 = "setting" }\n'), "utf-8"
    )
    assert counts(publish(decided))["X1"] == 40
    change_codebook(decided, kind, payload)
    with pytest.raises(SettingsError, match=rf"results\.labels cites 'setting': it was {words} by the act"):
        publish(decided)


def test_the_base_of_a_table_and_the_handbook_count_what_is_undecided(tmp_path: Path) -> None:
    study = make_study(tmp_path / "study")
    rate_all(study)
    close_by_name(study, "main", None)
    publication = publish(study)
    assert publication.tables["1"].notes[0] == "Base: all 40 decided items; 15 undecided ones are left out."
    assert in_this_process("handbook", "--study", study.root).exit_code == 0
    about = (study.published / "handbook" / "about.html").read_text("utf-8")
    assert "In the round main 15 items are undecided and left out: 15 with an open disagreement." in about


def test_status_counts_undecided_items_of_a_round_with_missing_ratings(tmp_path: Path) -> None:
    study = make_study(tmp_path / "study")
    rate_all(study, missing=4)
    close_by_name(study, "main", None, "a pause")
    status = " ".join(in_this_process("status", "--study", study.root).stdout.split())
    undecided = "19 undecided (15 with an open disagreement, 4 answered by fewer raters"
    assert f"60 items, 41 decided, 4 ratings missing, {undecided}" in status


def test_items_that_the_screening_round_did_not_rate_are_named(tmp_path: Path) -> None:
    study = make_study(tmp_path / "study", items='{ kept_by = "screen" }')
    screen(study, excluded=0, rated=50)
    rate_all(study)
    close_by_name(study, "main", None)
    for item in CONTESTED:
        settle_with_assents(study, "main", "rater-1", item, "topic", "setting")
    stopped = in_this_process("report", "--study", study.root)
    assert stopped.exit_code == 1
    assert "In the round screen 10 items are undecided and left out: 10 not rated." in stopped.stderr


def test_results_wait_for_an_open_round_of_the_funnel(tmp_path: Path) -> None:
    study = with_round_step(make_study(tmp_path / "study", items='{ sample = "twenty" }', more=SCREEN), "screen")
    rate_all(study)
    close_by_name(study, "main", None)
    assert counts(publish(study))["total"]
    open_by_name(study, "screen", None)
    with pytest.raises(StateError, match="the round 'screen' is still open"):
        publish(study)


def test_rating_items_again_to_measure_drift_changes_no_result(tmp_path: Path) -> None:
    drift = """
[[rounds]]
round = "drift"
kind = "drift"
items = { again = "main" }
facets = ["relevance", "topic"]
raters = ["rater-1", "rater-2"]
"""
    study = make_study(tmp_path / "study", more=drift)
    rate_all(study)
    close_by_name(study, "main", None)
    for item in CONTESTED:
        settle_with_assents(study, "main", "rater-1", item, "topic", "setting")
    open_by_name(study, "drift", None)
    with open_coding(study) as coding:
        for rater in ("rater-1", "rater-2"):
            for item in ITEMS:
                rate(
                    coding,
                    "drift",
                    rater,
                    item,
                    {"relevance": "exclude" if item < ITEMS[30] else "keep", "topic": "training"},
                )
        close_by_name(coding, "drift", None)
        assert counts(publish(study)) == {"S": 55, "T": 0, "total": 55}
        uses = collect_uses(coding.state, decided=["main", "drift"])
        assert len(count_items(uses, coding.state.history.latest).items("setting")) == 55


def test_items_without_an_optional_code_are_named(tmp_path: Path) -> None:
    study = make_study(tmp_path / "study")
    open_by_name(study, "main", None)
    with open_coding(study) as coding:
        for rater in ("rater-1", "rater-2"):
            for number, item in enumerate(ITEMS):
                rate(coding, "main", rater, item, {"relevance": "keep"} | ({"topic": "setting"} if number > 9 else {}))
        close_by_name(coding, "main", None)
    with open_computed(study) as computed:
        threats = list_threats(computed)
    assert (
        "Measurement: 10 kept items have no final code: the question is optional, and no rater answered it." in threats
    )
    assert in_this_process("report", "--study", study.root).exit_code == 0


def test_agreement_on_an_optional_question_states_its_base(tmp_path: Path) -> None:
    study = make_study(tmp_path / "study")
    open_by_name(study, "main", None)
    with open_coding(study) as coding:
        for place, rater in enumerate(("rater-1", "rater-2")):
            for number, item in enumerate(ITEMS):
                topic = {"topic": ("setting", "training")[number % 2]} if number >= (10, 14)[place] else {}
                rate(coding, "main", rater, item, {"relevance": "keep"} | topic)
        close_by_name(coding, "main", None)
    sentence = (
        "The question topic is optional: agreement is computed from the 46 of 60 items that two or more raters "
        "answered."
    )
    shown = in_this_process("agreement", "--round", "main", "--facet", "topic", "--yes", "--study", study.root)
    assert sentence in " ".join(shown.stdout.split())
    assert (
        "optional"
        not in in_this_process(
            "agreement", "--round", "main", "--facet", "relevance", "--yes", "--study", study.root
        ).stdout
    )
    with open_computed(study) as computed:
        judged = next(threat for threat in list_threats(computed) if threat.startswith("Judgement: in main 2 raters"))
    assert "on topic (almost perfect, 95% CI 1.00 to 1.00, over 46 of 60 items)" in judged


def test_the_threats_say_how_many_of_the_candidates_were_coded(tmp_path: Path) -> None:
    study = make_study(tmp_path / "study", '{ sample = "twenty" }')
    run_funnel(study)
    rate_all(study)
    close_by_name(study, "main", None)
    for item in disputed(study):
        settle_with_assents(study, "main", "rater-1", item, "topic", "training")
    with open_computed(study) as computed:
        (sentence,) = [threat for threat in list_threats(computed) if "were coded" in threat]
    # 1.96 × √(0.25 / 20 × 40 / 59) is 18.0 percentage points.
    assert sentence == (
        "Selection: 20 of the 60 items that the funnel kept were coded, drawn at random: the margin of error of a "
        "share is at most 18.0 percentage points (95 %)."
    )


def disputed(study: Study) -> list[str]:
    with open_coding(study) as coding:
        return [dispute.item for dispute in list_disagreements(coding.state, "main")]
