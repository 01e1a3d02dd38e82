"""Draws the two curves of a constant comparison over its sets; if both reach zero, the taxonomy is saturated."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt

from quaestor.render.figures.canvas import Canvas, Frame, chart, draw_empty, spread_positions
from quaestor.render.figures.records import Figure, SetCurve
from quaestor.render.figures.style import ACCENT, DASHES, LINE, MUTED, SERIES, count, percent, round_steps, shorten
from quaestor.render.tables.layout import safe_name

_CURVES = (
    ("raters differ", "discrepancy", ACCENT, DASHES[0]),
    ("not in earlier sets", "incompatibility", SERIES[6], DASHES[1]),
)
_BESIDE = 168


def draw_discrepancy(
    sets: Sequence[SetCurve],
    *,
    name: str = "discrepancy",
    title: str = "Discrepancy between raters and incompatibility with earlier sets",
    note: str = "",
) -> Figure:
    """Draws the share of phrases in each set on which raters differ, and the share that no earlier set contains."""
    if not sets:
        return draw_empty(name, title, "no set has been compared yet")
    frame = Frame(72, 44 if note else 22, _BESIDE, 50, 290)
    steps = round_steps(max(max(group.discrepancy, group.incompatibility) for group in sets))
    first, last = sets[0].set, sets[-1].set
    domain = [first, last] if last > first else [first - 1, first + 1]
    layers = [_curve(sets, key, color, dash, steps, domain) for _, key, color, dash in _CURVES]
    canvas = Canvas()
    ends = [frame.height * (1 - getattr(sets[-1], key) / steps[-1]) for _, key, _, _ in _CURVES]
    x = frame.width if last > first else frame.width / 2
    positions = spread_positions(ends, 34, 8, frame.height - 16)
    for (label, key, color, dash), end, y in zip(_CURVES, ends, positions, strict=True):
        canvas.lines([[(x + 5, end), (frame.width + 16, y), (frame.width + 20, y)]], LINE)
        canvas.lines([[(frame.width + 24, y), (frame.width + 46, y)]], color, width=2, dash=dash)
        canvas.text(frame.width + 52, y, label)
        canvas.text(frame.width + 52, y + 15, f"{percent(getattr(sets[-1], key))} in the last", size=11)
    canvas.text(0, -28, shorten(note, frame.width), color=MUTED)
    return frame.build_figure(name, title, f"{_describe(sets)} {note}".strip(), canvas, layers)


def draw_round_curves(sets: Sequence[SetCurve], round_name: str, *, simulated: bool, blindness: str = "") -> Figure:
    """Draws the curves of one round, with a note about its raters."""
    raters = ", ".join(filter(None, ("simulated raters" if simulated else "", blindness)))
    note = f"{round_name}: sets of phrases" + (f" ({raters})" if raters else "")
    return draw_discrepancy(sets, name=f"curves-{safe_name(round_name)}", title=f"Sets of {round_name}", note=note)


def _curve(
    sets: Sequence[SetCurve], key: str, color: str, dash: Sequence[int], steps: Sequence[float], domain: Sequence[int]
) -> alt.Chart:
    values = [{"set": group.set, "share": round(getattr(group, key), 6)} for group in sets]
    last = sets[-1].set
    steps_across = round_steps(last, 8, whole=True)
    ticks = sorted({sets[0].set, *(int(step) for step in steps_across if sets[0].set < step <= last)})
    point = alt.OverlayMarkDef(color=color, size=40, filled=True, strokeDash=[1, 0]) if len(sets) <= 12 else False
    across = alt.Axis(values=ticks, grid=False, format="d", title="set")
    up = alt.Axis(
        values=list(steps),
        format="~%",
        domain=False,
        ticks=False,
        labelPadding=12,
        title="share of the phrases of a set",
    )
    layer: alt.Chart = (
        chart(values)
        .mark_line(color=color, strokeWidth=2, strokeDash=list(dash), point=point)
        .encode(
            x=alt.X("set:Q", scale=alt.Scale(domain=list(domain), nice=False, zero=False), axis=across),
            y=alt.Y("share:Q", scale=alt.Scale(domain=[0, steps[-1]], nice=False), axis=up),
        )
    )
    return layer


def _describe(sets: Sequence[SetCurve]) -> str:
    first, last = sets[0], sets[-1]
    items = sum(group.items for group in sets)
    if len(sets) == 1:
        ending = f"In set {first.set} they are {percent(first.discrepancy)} and {percent(first.incompatibility)}."
    else:
        closed = next((group.set for group in sets if _is_zero_from(sets, group.set)), None)
        ending = (
            f"From set {first.set} to set {last.set} discrepancy goes from {percent(first.discrepancy)} to "
            f"{percent(last.discrepancy)} and incompatibility from {percent(first.incompatibility)} to "
            f"{percent(last.incompatibility)}."
        )
        ending += f" Both stay at zero from set {closed} on." if closed is not None else ""
    plural = "set" if len(sets) == 1 else "sets"
    return (
        f"Two curves over {len(sets)} {plural} with {count(items)} phrases: the share on which raters differ (solid) "
        f"and the share that no earlier set holds (dashed). {ending}"
    )


def _is_zero_from(sets: Sequence[SetCurve], number: int) -> bool:
    return all(group.discrepancy == group.incompatibility == 0 for group in sets if group.set >= number)
