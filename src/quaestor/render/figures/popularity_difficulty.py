"""Draws objects by popularity and difficulty; the medians divide the plot into four named quadrants."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt

from quaestor.base.names import join_with_and
from quaestor.render.figures.canvas import Canvas, Frame, Values, chart, draw_empty
from quaestor.render.figures.records import Figure, TaxonomyPoint
from quaestor.render.figures.style import (
    LINE,
    MUTED,
    SERIES,
    SHAPES,
    SMALL,
    count,
    quantity,
    shorten,
    text_width,
)
from quaestor.render.figures.treemap import Rectangle


@dataclass(frozen=True)
class LogAxis:
    """A logarithmic axis with room for zero at its lower end."""

    low: float
    high: float
    zero: bool

    @classmethod
    def over(cls, values: Sequence[float], median: float | None) -> LogAxis:
        all_values = [*values, *([median] if median is not None else [])]
        logs = [math.log10(value) for value in all_values if value > 0] or [0.0]
        low, high = min(logs), max(logs)
        room = max((high - low) * 0.06, 0.15)
        zero = any(value <= 0 for value in all_values)
        return cls(low - room - (max((high - low) * 0.1, 0.3) if zero else 0.0), high + room, zero)

    @property
    def bottom(self) -> float:
        return self.low + (self.high - self.low) * 0.03

    def at(self, value: float) -> float:
        return max(math.log10(value), self.bottom) if value > 0 else self.bottom

    def part(self, value: float) -> float:
        return (self.at(value) - self.low) / (self.high - self.low)

    def ticks(self) -> list[float]:
        wide = self.high - self.low > 3
        lowest = self.bottom + (self.high - self.low) * 0.05 if self.zero else self.low
        factors = (1,) if wide else (1, 2, 5)
        powers = range(math.floor(self.low), math.ceil(self.high) + 1)
        marks = [factor * 10.0**power for power in powers for factor in factors]
        shown = [mark for mark in marks if lowest <= math.log10(mark) <= self.high]
        return [0.0, *shown] if self.zero else shown

    def axis(self, title: str) -> alt.Axis:
        ticks = self.ticks()
        labels = [f"{tick:,.10g}" for tick in ticks]
        positions = [round(self.at(tick), 6) for tick in ticks]
        names = " : ".join(
            f"abs(datum.value - {position}) < 1e-4 ? '{label}'"
            for position, label in zip(positions, labels, strict=True)
        )
        return alt.Axis(
            values=positions, labelExpr=f"{names} : ''" if ticks else "''", title=title, domain=False, ticks=False
        )


@dataclass(frozen=True)
class Label:
    """A text of known width that labels a point with a radius."""

    text: str
    x: float
    y: float
    radius: float
    width: float


@dataclass(frozen=True)
class Spot:
    """The position of a label: the vertical middle of its line, and which side of it `x` is."""

    text: str
    x: float
    y: float
    align: str
    leader: tuple[tuple[float, float], ...] = ()
    """A line from the point to a label at a distance."""


def place_labels(
    labels: Sequence[Label], rectangles: Sequence[Rectangle], room: Rectangle, *, height: float = 13.0
) -> list[Spot]:
    """Places labels in order of importance; a label without free space is omitted."""
    occupied = list(rectangles)
    spots = []
    for label in labels:
        for spot, box in _candidates(label, height):
            if _fits_inside(box, room) and not any(_overlap(box, other) for other in occupied):
                occupied.append(box)
                spots.append(spot)
                break
    return spots


def _candidates(label: Label, height: float) -> list[tuple[Spot, Rectangle]]:
    """Returns positions next to the point, above and below it, at its corners, then further away with a line."""
    labels = []
    away, slant = label.radius + 3, label.radius * 0.7 + 2
    for align, x, y in (
        ("left", label.x + away, label.y),
        ("right", label.x - away, label.y),
        ("center", label.x, label.y - label.radius - height / 2 - 1),
        ("center", label.x, label.y + label.radius + height / 2 + 1),
        ("left", label.x + slant, label.y - slant - height / 3),
        ("left", label.x + slant, label.y + slant + height / 3),
        ("right", label.x - slant, label.y - slant - height / 3),
        ("right", label.x - slant, label.y + slant + height / 3),
    ):
        left = {"left": x, "right": x - label.width, "center": x - label.width / 2}[align]
        labels.append((Spot(label.text, x, y, align), Rectangle(left, y - height / 2, label.width, height)))
    for distance, across, down in itertools.product((24, 44), (1, -1), (-1, 1)):
        x, y = label.x + across * (slant + distance), label.y + down * (slant + distance * 0.8)
        start = (label.x + across * label.radius * 0.7, label.y + down * label.radius * 0.7)
        box = Rectangle(x + 3 if across > 0 else x - 3 - label.width, y - height / 2, label.width, height)
        spot = Spot(label.text, x + 3 * across, y, "left" if across > 0 else "right", (start, (x, y)))
        labels.append((spot, box))
    return labels


def _fits_inside(box: Rectangle, room: Rectangle) -> bool:
    across = room.x <= box.x and box.x + box.width <= room.x + room.width
    return across and room.y <= box.y and box.y + box.height <= room.y + room.height


def _overlap(rectangle: Rectangle, second: Rectangle) -> bool:
    across = min(rectangle.x + rectangle.width, second.x + second.width) - max(rectangle.x, second.x)
    return across > 0 and min(rectangle.y + rectangle.height, second.y + second.height) - max(rectangle.y, second.y) > 0


_NOTABLE, _LARGEST, _LEAST = 8, 1200.0, 80.0


def draw_popularity_difficulty(
    places: Sequence[TaxonomyPoint],
    *,
    median_views: float | None,
    median_days: float | None,
    name: str = "popularity-difficulty",
    title: str = "Popularity and difficulty of the objects of the taxonomy",
) -> Figure:
    """Draws phases in different colours and shapes; labels the most viewed, the slowest and the largest objects."""
    measured_points = [
        _MeasuredPoint(place, place.views, place.days)
        for place in places
        if place.views is not None and place.days is not None
    ]
    if not measured_points:
        return draw_empty(name, title, "no object has both views and days yet")
    phases = list(dict.fromkeys(place.phase for place in places))
    legend_rows = -(-len(phases) // 4)
    frame = Frame(76, 64 + 20 * legend_rows, 40, 52, 480)
    across = LogAxis.over([point.views for point in measured_points], median_views)
    up = LogAxis.over([point.days for point in measured_points], median_days)
    most = max(1, *(point.place.posts for point in measured_points))
    points = [_point(point, across, up, frame, most, phases) for point in measured_points]
    canvas = Canvas()
    _legend(canvas, frame, phases, most, legend_rows)
    _quarters(canvas, frame, across, up, median_views, median_days)
    _label_points(canvas, frame, points, measured_points)
    description = _describe(places, measured_points, median_views, median_days)
    return frame.build_figure(name, title, description, canvas, [_axes(across, up), _marks(points)])


@dataclass(frozen=True)
class _MeasuredPoint:
    place: TaxonomyPoint
    views: float
    days: float


def _point(
    known: _MeasuredPoint, across: LogAxis, up: LogAxis, frame: Frame, most: int, phases: Sequence[str]
) -> dict[str, object]:
    kind = phases.index(known.place.phase)
    return {
        "object": known.place.name,
        "phase": known.place.phase,
        "posts": known.place.posts,
        "views": known.views,
        "days": known.days,
        "across": round(across.at(known.views), 6),
        "up": round(up.at(known.days), 6),
        "x": round(frame.width * across.part(known.views), 2),
        "y": round(frame.height * (1 - up.part(known.days)), 2),
        "size": round(_size(known.place.posts, most), 2),
        "color": SERIES[kind % len(SERIES)],
        "shape": SHAPES[kind % len(SHAPES)],
    }


def _size(posts: int, most: int) -> float:
    return max(_LARGEST * posts / most, _LEAST)


def _axes(across: LogAxis, up: LogAxis) -> alt.Chart:
    wide, tall = (alt.Scale(domain=[axis.low, axis.high], nice=False, zero=False) for axis in (across, up))
    x = alt.X("across:Q", scale=wide, axis=across.axis("median views (log scale)"))
    y = alt.Y("up:Q", scale=tall, axis=up.axis("median days to an answer (log scale)"))
    layer: alt.Chart = chart([{"across": across.low, "up": up.low}]).mark_point(opacity=0).encode(x=x, y=y)
    return layer


def _marks(points: Values) -> alt.Chart:
    """Draws larger points below smaller ones, with a light outline, so that none hides another."""
    ordered = sorted(points, key=lambda point: -point["size"])
    layer: alt.Chart = (
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
    return layer


def _legend(canvas: Canvas, frame: Frame, phases: Sequence[str], most: int, rows: int) -> None:
    top = -frame.top + 16
    width = (frame.width + 40) / 4
    for at, phase in enumerate(phases):
        x, y = -40 + (at % 4) * width, top + 20 * (at // 4)
        color, shape = SERIES[at % len(SERIES)], SHAPES[at % len(SHAPES)]
        canvas.symbols([{"x": x, "y": y, "shape": shape, "fill": color}], size=80)
        canvas.text(x + 11, y, shorten(phase, width - 22))
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
    """Draws the medians as dashed lines and names the quadrants in the corners."""
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


def _label_points(canvas: Canvas, frame: Frame, points: Values, known: Sequence[_MeasuredPoint]) -> None:
    """Labels the extremes of both axes and the largest objects, as far as there is space."""
    ranked: list[int] = []
    orders = [
        sorted(range(len(known)), key=lambda at: -known[at].days),
        sorted(range(len(known)), key=lambda at: -known[at].views),
        sorted(range(len(known)), key=lambda at: -known[at].place.posts),
    ]
    for at in range(min(_NOTABLE, len(known))):
        ranked += [order[at] for order in orders]
    occupied = []
    for point in points:
        radius = math.sqrt(point["size"] / math.pi)
        occupied.append(Rectangle(point["x"] - radius, point["y"] - radius, 2 * radius, 2 * radius))
    for x, align, y, text in _corners(frame):
        width = text_width(text, bold=True)
        occupied.append(Rectangle(x - width if align == "right" else x, y - 8, width, 16))
    candidates = []
    for at in dict.fromkeys(ranked):
        text = shorten(known[at].place.name, 180, SMALL)
        radius = math.sqrt(points[at]["size"] / math.pi)
        candidates.append(Label(text, points[at]["x"], points[at]["y"], radius, text_width(text, SMALL)))
    room = Rectangle(-4, -8, frame.width + frame.right, frame.height + 8)
    for spot in place_labels(candidates, occupied, room):
        if spot.leader:
            canvas.lines([spot.leader], MUTED)
        canvas.text(spot.x, spot.y, spot.text, size=SMALL, align=spot.align, halo=True)


def _describe(
    places: Sequence[TaxonomyPoint],
    known: Sequence[_MeasuredPoint],
    median_views: float | None,
    median_days: float | None,
) -> str:
    hardest, seen = max(known, key=lambda point: point.days), max(known, key=lambda point: point.views)
    description = (
        f"A scatter of {len(known)} objects by median views and median days to an answer, both on log scales. "
        f"Longest: {hardest.place.name} ({quantity(hardest.days)} days); most viewed: {seen.place.name} "
        f"({quantity(seen.views)} views)."
    )
    if median_views is not None and median_days is not None:
        both = [point for point in known if point.views > median_views and point.days > median_days]
        both.sort(key=lambda point: -point.place.posts)
        largest = f", the largest {join_with_and([point.place.name for point in both[:3]])}" if both else ""
        description += (
            f" The medians are {quantity(median_views)} views and {quantity(median_days)} days; "
            f"{len(both)} objects are popular and hard{largest}."
        )
    left_out = len(places) - len(known)
    return description + (f" {left_out} objects without views or days are left out." if left_out else "")
