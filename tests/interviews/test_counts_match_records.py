"""For random sequences of imports, corrections, codings and withdrawals, every count equals a naive recount."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support.coded_interviews import ROUND, copy_of
from tests.support.interview_recount import ENDS_ANSWER, Recount, recount
from tests.support.sequences import PARTS, iterate_sequences
from tests.support.small_interviews import with_interview
from tests.support.themed_interviews import themed_study

from quaestor.coding.agreement import compute_round_agreement
from quaestor.coding.disagreements import settle_agreed, settle_item
from quaestor.coding.model.decisions import list_disagreements
from quaestor.coding.model.state import CLOSED, OPEN
from quaestor.coding.rating_files import export_decisions, export_ratings, rate
from quaestor.coding.round_acts import close_by_name, open_by_name, summarise_round
from quaestor.coding.round_setup import add_round
from quaestor.evidence.funnel import run_funnel
from quaestor.evidence.ingest import ingest_source
from quaestor.interviews.coding.code_agreement import compute_agreement_by_code
from quaestor.interviews.items import SOURCE, STEP, make_items
from quaestor.interviews.participants.consent import ACCEPTED, DECLINED, SPOKEN, record_consent
from quaestor.interviews.repository import Interviews, open_interviews
from quaestor.interviews.themes.cells import build_interview_tables
from quaestor.interviews.themes.co_occurrence import find_pairs
from quaestor.interviews.themes.quotations import read_themes
from quaestor.interviews.themes.records import InterviewThemes
from quaestor.interviews.transcripts.corrections import set_question, set_speaker, set_voice
from quaestor.interviews.transcripts.import_file import explain_import_refusal, import_bytes, record_occasion
from quaestor.interviews.withdrawal import withdraw
from quaestor.study.folder import Study, open_study

CODES = ("data", "time", "shapes", "crash", "pin")
RATERS = ("rater-1", "rater-2")
ASKED = ("Which factors do you weigh?", "When do you call a model illegal?", "What goes wrong with frameworks?")
FOLLOW_UPS = ("Why?", "Can you give me an example?", "I see.")
SAID = ("The data and the time that it takes.", "Shapes that do not match, mostly.", "It crashed, so we pinned it.")


def write_talk(dice: random.Random) -> bytes:
    """Returns a random conversation; every answer is long enough for every passage."""
    lines = [f"Interviewer: {dice.choice(ASKED)}", f"Guest: {dice.choice(SAID)}"]
    for _ in range(dice.randrange(4)):
        lines.append(f"Interviewer: {dice.choice((*ASKED, *FOLLOW_UPS, *ENDS_ANSWER))}")
        lines.append(f"Guest: {dice.choice(SAID)} {dice.randrange(100)}")
    return ("\n".join(lines) + "\n").encode()


def draw_passages(dice: random.Random) -> list[dict[str, object]]:
    """Returns passages in which a code always covers the same words, so that raters who agree need no merging."""
    chosen = dice.sample(range(len(CODES)), dice.choice((0, 1, 2, 2)))
    return [{"start": 3 * place, "end": 3 * place + 8, "code": CODES[place]} for place in sorted(chosen)]


class Sequence:
    """A study on which random steps are taken."""

    def __init__(self, study: Study, dice: random.Random) -> None:
        self.study, self.dice = study, dice

    def run(self) -> None:
        steps: list[Callable[[Interviews], None]] = [
            self.import_talk, self.replace_talk, self.correct_turn, self.correct_speaker, self.correct_speaker,
            self.correct_question, self.correct_question, self.change_consent, self.change_consent,
            self.rate_items, self.rate_items, self.close_round, self.decide, self.decide, self.withdraw, self.date,
        ]  # fmt: skip
        chosen = self.dice.choices(steps, k=self.dice.randrange(3, 9))
        if self.dice.random() < 0.1:
            chosen.insert(self.dice.randrange(len(chosen)), self.open_round)
            chosen += [self.rate_items, self.close_round]
        with open_interviews(self.study) as interviews:
            for step in (*chosen, self.rate_items, self.close_round, self.decide):
                step(interviews)

    def import_talk(self, interviews: Interviews) -> None:
        name = with_interview(interviews).id
        held = f"2026-03-{self.dice.randrange(1, 10):02d}" if self.dice.random() < 0.8 else ""
        import_bytes(interviews, name, write_talk(self.dice), "talk.txt", day=held)

    def replace_talk(self, interviews: Interviews) -> None:
        for name in self._draw_talk(interviews):
            if not explain_import_refusal(interviews, name):
                import_bytes(interviews, name, write_talk(self.dice), "talk.txt", replace=True)

    def _draw_talk(self, interviews: Interviews) -> list[str]:
        names = [interview.id for interview in interviews.interviews() if interview.transcript]
        return [self.dice.choice(names)] if names else []

    def correct_turn(self, interviews: Interviews) -> None:
        for name in self._draw_talk(interviews):
            turn = self.dice.randrange(len(interviews.transcript(name).turns))
            set_voice(interviews, name, turn, self.dice.choice(("participant", "participant", "interviewer", "other")))

    def correct_speaker(self, interviews: Interviews) -> None:
        for name in self._draw_talk(interviews):
            set_speaker(interviews, name, "2", self.dice.choice(("participant", "interviewer")))

    def correct_question(self, interviews: Interviews) -> None:
        for name in self._draw_talk(interviews):
            turn = self.dice.randrange(len(interviews.transcript(name).turns))
            set_question(interviews, name, turn, self.dice.choice(("factors", "wrong", "", "")))

    def change_consent(self, interviews: Interviews) -> None:
        people = [participant.pseudonym for participant in interviews.participants()]
        if people:
            record_consent(interviews, self.dice.choice(people), self.dice.choice((ACCEPTED, DECLINED)), SPOKEN)

    def date(self, interviews: Interviews) -> None:
        for name in self._draw_talk(interviews):
            group = "group" if self.dice.random() < 0.3 else ""
            record_occasion(interviews, name, f"2026-02-{self.dice.randrange(1, 28):02d}", group)

    def _draw_round(self, interviews: Interviews, status: str) -> list[str]:
        rounds = interviews.coding.state.rounds
        names = [name for name, round_state in rounds.items() if round_state.status == status]
        return [self.dice.choice(names)] if names else []

    def rate_items(self, interviews: Interviews) -> None:
        for name in self._draw_round(interviews, OPEN):
            for item in interviews.coding.state.round(name).plan.items:
                if self.dice.random() < 0.1:
                    continue
                passages = draw_passages(self.dice)
                for rater in RATERS:
                    slot = interviews.coding.state.round(name).slot_of(rater)
                    if slot is not None and slot.has(rater, item) and self.dice.random() < 0.9:
                        given = passages if self.dice.random() < 0.8 else draw_passages(self.dice)
                        rate(interviews.coding, name, rater, item, {"themes": given})

    def close_round(self, interviews: Interviews) -> None:
        for name in self._draw_round(interviews, OPEN):
            if interviews.coding.state.round(name).rating_count:
                close_by_name(interviews.coding, name, None, incomplete="time is up")

    def decide(self, interviews: Interviews) -> None:
        for name in self._draw_round(interviews, CLOSED):
            if self.dice.random() < 0.7:
                settle_agreed(interviews.coding, name, None)
            for case in list_disagreements(interviews.coding.state, name):
                if case.decision is None and self.dice.random() < 0.6:
                    answer = draw_passages(self.dice)
                    settle_item(interviews.coding, name, None, case.item, "themes", answer, "discussion", "so be it")

    def withdraw(self, interviews: Interviews) -> None:
        people = [participant.pseudonym for participant in interviews.participants()]
        if people and self.dice.random() < 0.5:
            withdraw(interviews, self.dice.choice(people))

    def open_round(self, interviews: Interviews) -> None:
        rounds = interviews.coding.state.rounds
        name = f"round-{len(rounds)}"
        are_fresh = self.dice.random() < 0.8 or not rounds[ROUND].items_left()
        if are_fresh:  # otherwise the items are older than the latest corrections
            self.import_talk(interviews)
            make_items(interviews)
        study = open_study(self.study.root)
        ingest_source(study, SOURCE)
        run_funnel(study)
        items = {"after": STEP, **({"without": [ROUND]} if are_fresh and self.dice.random() < 0.5 else {})}
        add_round(study, {"round": name, "items": items, "facets": ["themes"], "raters": list(RATERS)})
        open_by_name(open_study(self.study.root), name, None)


def compare(interviews: Interviews, expected: Recount) -> None:
    """Compares every published number with the recount; agreement first, since reading themes may correct it."""
    rounds = interviews.coding.state.rounds
    for name, round_state in rounds.items():
        assert summarise_round(round_state)["items"] == expected.items[name], name
        assert len(export_decisions(interviews.coding.state, name)) == expected.decided[name], name
        if round_state.status == CLOSED:
            rows = export_ratings(interviews.coding, name, interviews.coding.lead)
            assert len(rows) == expected.ratings[name], name
        if expected.compared[name]:
            agreement = compute_round_agreement(interviews.coding.state, name, "themes")
            assert agreement.n == expected.compared[name], name
        if round_state.status == CLOSED:
            cases = list_disagreements(interviews.coding.state, name)
            assert len(cases) == expected.disagreements[name], name
            assert sum(case.decision is None for case in cases) == expected.undecided[name], name
            if expected.compared[name]:
                compare_codes(interviews, name, expected)
    if any(round_state.status == CLOSED for round_state in rounds.values()):
        compare_themes(interviews, expected)


def compare_themes(interviews: Interviews, expected: Recount) -> None:
    """Compares quotations, co-occurrence, saturation and what is not counted with the recount."""
    themes = read_themes(interviews)
    passages = sorted(
        (part.item, part.start, part.end, quotation.code) for quotation in themes.quotations for part in quotation.parts
    )
    assert passages == expected.quotations
    assert set(themes.participants) == expected.participants
    assert {turns.reason: dict(turns.turns) for turns in themes.uncounted} == expected.uncounted
    assert list(themes.events) == expected.events
    pairs = {tuple(sorted((pair.first.id, pair.second.id))): pair for pair in find_pairs(themes)}
    assert {codes: len(pair.turns) for codes, pair in pairs.items() if pair.turns} == expected.turns_together
    assert {codes: len(pair.answers) for codes, pair in pairs.items() if pair.answers} == expected.answers_together
    characters = {codes: pair.characters for codes, pair in pairs.items() if pair.characters}
    assert characters == expected.characters_together
    compare_tables(themes, expected)


def compare_tables(themes: InterviewThemes, expected: Recount) -> None:
    """Compares the printed cells of themes, matrix, saturation and pairs of codes with the recount."""
    tables = {table.id: table for table in build_interview_tables(themes)}
    people = {tuple(sorted(row.key.split("+"))): row.cells[3].values[0] for row in tables["together"].rows()}
    assert people == expected.participants_together
    printed = {}
    for row in tables["matrix"].rows():
        for column, cell in zip(tables["matrix"].columns, row.cells, strict=True):
            if row.key != "all" and column.key != "all" and cell.values[0]:
                printed[row.key, column.key] = cell.values[0]
    assert printed == expected.mentions
    for code in {code for code, _ in expected.mentions}:
        people = [who for given, who in expected.mentions if given == code]
        cells = next(row.cells for row in tables["themes"].rows() if row.key == code)
        assert cells[0].values == (len(people),)
        assert cells[1].values == (pytest.approx(len(people) / len(expected.participants)),)
        assert cells[3].values == (sum(expected.mentions[code, who] for who in people),)
    rows = [(row.title, row.cells[0].values[0]) for row in tables["saturation"].rows()]
    assert rows == [(" + ".join(event), new) for event, new in zip(expected.events, expected.new_codes, strict=True)]


def compare_codes(interviews: Interviews, name: str, expected: Recount) -> None:
    """Compares the agreement on each code with the recount."""
    by_code = compute_agreement_by_code(interviews, name)
    printed = {(name, code): (agreement.percent.value, agreement.n) for code, _, agreement in by_code.codes}
    assert printed == {
        (round_name, code): (pytest.approx(alike / of), of)
        for (round_name, code), (alike, of) in expected.alike.items()
        if round_name == name
    }


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """A study with an open round on three interviews that nobody has coded yet."""
    answers = [
        (words, *SAID[1:])
        for words in ("The first of us says data.", "The second of us, data.", "The third of us says time.")
    ]
    study = themed_study(tmp_path_factory.mktemp("base"), answers, settled=False, held_here=False, rated=False)
    with open_interviews(study) as interviews:
        for name, day in (("P1", "2026-03-05"), ("P2", "2026-03-03"), ("P3", "2026-03-04")):
            record_occasion(interviews, name, day)
    for built in (study.root / "evidence").iterdir():
        if built.is_dir() and built.name != "interviews":
            shutil.rmtree(built)  # otherwise every withdrawal builds it again; opening a round does so anyway
    return study


@pytest.mark.parametrize("part", range(PARTS))
def test_every_published_count_equals_a_naive_recount(base: Study, tmp_path: Path, part: int) -> None:
    for seed in iterate_sequences("interviews", part):
        study = copy_of(base, tmp_path / str(seed))
        Sequence(study, random.Random(seed)).run()
        with open_interviews(open_study(study.root)) as interviews:
            try:
                compare(interviews, recount(study.root, interviews))
            except AssertionError as error:
                raise AssertionError(f"sequence {seed}: {error}") from error
        shutil.rmtree(study.root)
