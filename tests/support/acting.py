"""Acts folded into a state as the journal would hold them, for tests of coding alone."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from typing import Any

from quaestor.base.errors import QuaestorError
from quaestor.coding.model.closing import build_close_acts
from quaestor.coding.model.decisions import build_agreed_act
from quaestor.coding.model.phrases import SAME_MEANING, build_reread_act, build_unify_act
from quaestor.coding.model.ratings import build_rating_act
from quaestor.coding.model.records import Facet, RoundPlan
from quaestor.coding.model.rounds import build_open_act, build_replace_act
from quaestor.coding.model.settlement import (
    build_assent_acts,
    build_comment_act,
    build_settling_acts,
    build_tie_act,
    list_needed_assents,
)
from quaestor.coding.model.state import State
from quaestor.coding.session import new_state
from quaestor.store.journal import Journal
from quaestor.store.records import Act, NewAct

NOW = "2026-03-01T12:00:00.000000+00:00"
KEEP = Facet("relevance", "keep", reasons=("crash", "installation"))
PHASE = Facet("phase", "single", codes="issue", level="phase")
TOPICS = Facet("topics", "multiple", options=("a", "b", "c"))
PHRASE = Facet("phrase", "phrase")
TEXT = Facet("why", "text", required=False)

CODEBOOK = {
    "name": "small",
    "facets": [{"id": "issue", "levels": ["phase", "object"]}],
    "codes": [
        {"id": "setting", "facet": "issue", "name": "model setting"},
        {"id": "training", "facet": "issue", "name": "model training"},
        {"id": "training/loss", "facet": "issue", "parent": "training", "name": "loss"},
        {"id": "setting/loss", "facet": "issue", "parent": "setting", "name": "loss"},
    ],
}


class Table:
    """A study at a table: acts are recorded in order and folded at once."""

    def __init__(self) -> None:
        self.state = new_state()
        self.acts: list[Act] = []

    def record(self, wanted: NewAct | Sequence[NewAct] | None) -> None:
        for new in [wanted] if isinstance(wanted, NewAct) else wanted or ():
            act = Act(len(self.acts) + 1, NOW, new.kind, new.actor, dict(new.payload), new.codebook, new.key)
            self.acts.append(act)
            self.state.fold([act])

    def codebook(self) -> None:
        self.record(NewAct("codebook.import", "lead", CODEBOOK))

    def open(self, name: str = "main", items: Iterable[str] = ("i1", "i2", "i3", "i4"), **more: Any) -> None:
        facets = more.pop("facets", (KEEP,))
        raters = more.pop("raters", ("first", "second"))
        passed = more.pop("passed", None)
        version = self.state.history.latest.version
        plan = RoundPlan(name, more.pop("kind", "main"), tuple(items), facets, raters, codebook=version,
                    measured=facets[0].id, **more)  # fmt: skip
        self.record(build_open_act(self.state, plan, "lead", passed))

    def rate(self, rater: str, item: str, name: str = "main", **answers: Any) -> None:
        self.record(build_rating_act(self.state, name, rater, item, answers, now=NOW))

    def close(self, name: str = "main", incomplete: str = "") -> None:
        self.record(build_close_acts(self.state, name, "lead", incomplete))

    def settle(
        self, actor: str, item: str, facet: str, answer: Any, how: str = "discussion", reason: str = "", lead: str = ""
    ) -> None:
        """Settles a case of the round main; everybody whose assent is needed assents."""
        self.record(build_settling_acts(self.state, "main", actor, item, facet, answer, how, reason, lead=lead))
        for person in list_needed_assents(self.state.round("main"), item, how):
            proposal = self.state.round("main").proposals.get((item, facet))
            if proposal is not None and person not in proposal.assents:
                self.record(build_assent_acts(self.state, "main", person, item, facet))


def rated(*labels: tuple[str, str], **more: Any) -> Table:
    """A closed round in which two raters said these words about items i1, i2, …"""
    table = Table()
    table.open(items=[f"i{number}" for number in range(1, len(labels) + 1)], **more)
    for number, pair in enumerate(labels, start=1):
        for rater, word in zip(("first", "second"), pair, strict=True):
            table.rate(rater, f"i{number}", relevance=word)
    table.close()
    return table


FACETS = (KEEP, PHASE, TOPICS, PHRASE)
ITEMS = [f"i{number}" for number in range(1, 7)]


def anything(dice: random.Random) -> dict[str, object]:
    return {
        "relevance": dice.choice(["keep", "exclude: crash", "cannot judge"]),
        "phase": dice.choice(["training", "setting", "cannot judge"]),
        "topics": dice.choice([["a"], ["a", "b"], ["c"]]),
        "phrase": dice.choice(["load, model", "read, file", "restore, model"]),
    }


def try_something(table: Table, dice: random.Random, actors: list[str]) -> None:
    """Whatever others may try during a round, allowed or not."""
    actor, item = dice.choice(actors), dice.choice(ITEMS)
    state = table.state
    tries = [
        lambda: build_rating_act(state, "main", actor, item, anything(dice), now=NOW, memo="hint", seconds=9),
        lambda: build_rating_act(state, "main", actor, item, anything(dice), now=NOW, unsure=("phase",)),
        lambda: build_comment_act(state, "main", actor, item, "relevance", "it is a crash"),
        lambda: build_tie_act(state, "main", actor, item, "relevance", "keep"),
        lambda: build_settling_acts(state, "main", actor, item, "relevance", "keep", "discussion"),
        lambda: build_agreed_act(state, "main", actor),
        lambda: build_unify_act(state, "main", actor, "verb", ["read"], "load", SAME_MEANING, "same"),
        lambda: build_reread_act(state, "main", actor, item),
        lambda: build_replace_act(state, "main", "lead", "second", "third"),
    ]
    try:
        table.record(dice.choice(tries)())
    except QuaestorError:
        return


def rebuilt(journal: Journal) -> State:
    """The state from the journal alone, without the free text that it only refers to."""
    state = new_state()
    state.fold(journal.acts())
    return state
