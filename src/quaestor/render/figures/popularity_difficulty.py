"""Objects on a map of popularity and difficulty: two medians part it into four fields with names of their own."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt

from quaestor.publish.figures.axes import LogAxis
from quaestor.publish.figures.canvas import Canvas, Frame, Values, chart, nothing
from quaestor.publish.figures.labels import Label, place_labels
from quaestor.publish.figures.look import (
    LINE,
    MUTED,
    SERIES,
    SHAPES,
    SMALL,
    count,
    fitted,
    listed,
    quantity,
    text_width,
)
from quaestor.publish.figures.records import Figure, Place
from quaestor.publish.figures.treemap import Rectangle

_NOTABLE, _LARGEST, _LEAST = 8, 1200.0, 80.0


def draw_popularity_difficulty(
    places: Sequence[Place],
    *,
    median_views: float | None,
    median_days: float | None,
    name: str = "popularity-difficulty",
    title: str = "Popularity and difficulty of the objects of the taxonomy",
) -> Figure:
    """Phases differ by colour and shape; the most viewed, the slowest and the largest objects carry their names."""
    known = [
        _Known(place, place.views, place.days) for place in places if place.views is not None and place.days is not None
    ]
    if not known:
        return nothing(name, title, "no object has both views and days yet")
    phases = list(dict.fromkeys(place.phase for place in places))
    legend_rows = -(-len(phases) // 4)
    frame = Frame(76, 64 + 20 * legend_rows, 40, 52, 480)
    across = LogAxis.over([one.views for one in known], median_views)
    up = LogAxis.over([one.days for one in known], median_days)
    most = max(1, *(one.place.posts for one in known))
    points = [_point(one, across, up, frame, most, phases) for one in known]
    canvas = Canvas()
    _legend(canvas, frame, phases, most, legend_rows)
    _quarters(canvas, frame, across, up, median_views, median_days)
    _labels(canvas, frame, points, known)
    words = _words(places, known, median_views, median_days)
    return frame.figure(name, title, words, canvas, [_axes(across, up), _marks(points)])


@dataclass(frozen=True)
class _Known:
    place: Place
    views: float
    days: float


def _point(
    one: _Known, across: LogAxis, up: LogAxis, frame: Frame, most: int, phases: Sequence[str]
) -> dict[str, object]:
    kind = phases.index(one.place.phase)
    return {
        "object": one.place.name,
        "phase": one.place.phase,
        "posts": one.place.posts,
        "views": one.views,
        "days": one.days,
        "across": round(across.at(one.views), 6),
        "up": round(up.at(one.days), 6),
        "x": round(frame.width * across.part(one.views), 2),
        "y": round(frame.height * (1 - up.part(one.days)), 2),
        "size": round(_size(one.place.posts, most), 2),
        "color": SERIES[kind % len(SERIES)],
        "shape": SHAPES[kind % len(SHAPES)],
    }


def _size(posts: int, most: int) -> float:
    return max(_LARGEST * posts / most, _LEAST)


def _axes(across: LogAxis, up: LogAxis) -> alt.Chart:
    wide, tall = (alt.Scale(domain=[one.low, one.high], nice=False, zero=False) for one in (across, up))
    x = alt.X("across:Q", scale=wide, axis=across.axis("median views (log scale)"))
    y = alt.Y("up:Q", scale=tall, axis=up.axis("median days to an answer (log scale)"))
    drawn: alt.Chart = chart([{"across": across.low, "up": up.low}]).mark_point(opacity=0).encode(x=x, y=y)
    return drawn


def _marks(points: Values) -> alt.Chart:
    """The larger below the smaller, each with a light rim, so that none hides another."""
    ordered = sorted(points, key=lambda point: -point["size"])
    drawn: alt.Chart = (
        chart(ordered)
        .mark_point(filled=True, opacity=0.88, stroke="white", strokeWidth=1)
        .encode(
            x="across:Q",
            y="up:Q",
            size=alt.Size("size:Q", scale=None),
            shape=alt.Shape("shape:N", scale=None),
            fill=alt.Fill("color:N", scale=None),
        )
    )
    return drawn


def _legend(canvas: Canvas, frame: Frame, phases: Sequence[str], most: int, rows: int) -> None:
    top = -frame.top + 16
    width = (frame.width + 40) / 4
    for at, phase in enumerate(phases):
        x, y = -40 + (at % 4) * width, top + 20 * (at // 4)
        color, shape = SERIES[at % len(SERIES)], SHAPES[at % len(SHAPES)]
        canvas.symbols([{"x": x, "y": y, "shape": shape, "fill": color}], size=80)
        canvas.text(x + 11, y, fitted(phase, width - 22))
    x, y = -40.0, top + 20 * rows + 8
    canvas.text(x - 6, y, "size: posts", color=MUTED, size=SMALL)
    x += 74
    for posts in sorted({max(most // 16, 1), max(most // 4, 1), most}):
        radius = math.sqrt(_size(posts, most) / math.pi)
        canvas.symbols([{"x": x, "y": y, "shape": "circle", "fill": LINE}], size=_size(posts, most))
        canvas.text(x + radius + 5, y, count(posts), color=MUTED, size=SMALL)
        x += 2 * radius + 52


def _quarters(
    canvas: Canvas, frame: Frame, across: LogAxis, up: LogAxis, median_views: float | None, median_days: float | None
) -> None:
    """The medians as dashed rules, and in the corners what it means to stand there."""
    if median_views is not None:
        x = frame.width * across.part(median_views)
        canvas.lines([[(x, 0), (x, frame.height)]], MUTED, dash=(4, 3))
        canvas.text(x + 5, 10, f"median {quantity(median_views)}", color=MUTED, size=SMALL, halo=True)
    if median_days is not None:
        y = frame.height * (1 - up.part(median_days))
        canvas.lines([[(0, y), (frame.width, y)]], MUTED, dash=(4, 3))
        canvas.text(4, y - 9, f"median {quantity(median_days)}", color=MUTED, size=SMALL, halo=True)
    if median_views is not None and median_days is not None:
        for x, align, y, words in _corners(frame):
            canvas.text(x, y, words, color=MUTED, bold=True, align=align, halo=True)


def _corners(frame: Frame) -> tuple[tuple[float, str, float, str], ...]:
    right, bottom = frame.width - 4.0, frame.height - 10.0
    return (
        (right, "right", 10, "popular and hard"),
        (4, "left", 10, "seldom seen and hard"),
        (right, "right", bottom, "popular and soon answered"),
        (4, "left", bottom, "seldom seen, soon answered"),
    )


def _labels(canvas: Canvas, frame: Frame, points: Values, known: Sequence[_Known]) -> None:
    """Names for the ends of both axes and for the largest, as far as there is room between the points."""
    ranked: list[int] = []
    orders = [
        sorted(range(len(known)), key=lambda at: -known[at].days),
        sorted(range(len(known)), key=lambda at: -known[at].views),
        sorted(range(len(known)), key=lambda at: -known[at].place.posts),
    ]
    for at in range(min(_NOTABLE, len(known))):
        ranked += [order[at] for order in orders]
    taken = []
    for point in points:
        radius = math.sqrt(point["size"] / math.pi)
        taken.append(Rectangle(point["x"] - radius, point["y"] - radius, 2 * radius, 2 * radius))
    for x, align, y, words in _corners(frame):
        width = text_width(words, bold=True)
        taken.append(Rectangle(x - width if align == "right" else x, y - 8, width, 16))
    wanted = []
    for at in dict.fromkeys(ranked):
        words = fitted(known[at].place.name, 180, SMALL)
        radius = math.sqrt(points[at]["size"] / math.pi)
        wanted.append(Label(words, points[at]["x"], points[at]["y"], radius, text_width(words, SMALL)))
    room = Rectangle(-4, -8, frame.width + frame.right, frame.height + 8)
    for spot in place_labels(wanted, taken, room):
        if spot.leader:
            canvas.lines([spot.leader], MUTED)
        canvas.text(spot.x, spot.y, spot.text, size=SMALL, align=spot.align, halo=True)


def _words(
    places: Sequence[Place], known: Sequence[_Known], median_views: float | None, median_days: float | None
) -> str:
    hardest, seen = max(known, key=lambda one: one.days), max(known, key=lambda one: one.views)
    words = (
        f"A scatter of {len(known)} objects by median views and median days to an answer, both on log scales. "
        f"Longest: {hardest.place.name} ({quantity(hardest.days)} days); most viewed: {seen.place.name} "
        f"({quantity(seen.views)} views)."
    )
    if median_views is not None and median_days is not None:
        both = [one for one in known if one.views > median_views and one.days > median_days]
        both.sort(key=lambda one: -one.place.posts)
        largest = f", the largest {listed([one.place.name for one in both[:3]])}" if both else ""
        words += (
            f" The medians are {quantity(median_views)} views and {quantity(median_days)} days; "
            f"{len(both)} objects are popular and hard{largest}."
        )
    left_out = len(places) - len(known)
    return words + (f" {left_out} objects without views or days are left out." if left_out else "")
