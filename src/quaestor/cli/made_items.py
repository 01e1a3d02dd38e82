"""What `survey items` and `interview items` say of the items that they made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quaestor.cli.output import console, number, print_json, say

if TYPE_CHECKING:
    from quaestor.study.worded_items import ItemsMade


def tell_of_items(made: ItemsMade, units: str, step: str, *, json: bool) -> None:
    """How many there are, and what comes next; `units` is what they are called."""
    if json:
        told = {"source": made.source, "file": str(made.path), "items": made.items, "participants": made.participants}
        print_json({**told, "added": made.added, "block": made.block})
        return
    say(f"{number(made.items)} {units} of {number(made.participants)} participants are in {made.path}")
    if made.by_hand:
        say("The study has sources or a funnel already. Add this to study.toml, and let funnel.source name it:")
        console().print(made.block, markup=False, soft_wrap=True)
        return
    if made.added:
        say(f"study.toml has the source {made.source!r} now, and a funnel that lets all of it through")
    say(f"Next: `quaestor ingest {made.source}`, `quaestor funnel`, then a round after the step {step!r}")
