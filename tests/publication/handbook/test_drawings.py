"""The map: a tile for each code with posts, in proportion to their number."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quaestor.publication.handbook.drawings import build_legend, draw_maps, shade
from quaestor.publication.handbook.entry_index import EntryIndex
from quaestor.publication.handbook.records import Entry, Handbook, Measures

HOUR = 1 / 24
STEPS = (HOUR, 2 * HOUR, 4 * HOUR, 12 * HOUR)


def book_of(counts: dict[str, list[int | None]], book: Handbook) -> Handbook:
    entries = []
    for phase, posts in counts.items():
        entries.append(Entry(phase, "phase", phase, (phase,), measures=Measures(posts=sum(n or 0 for n in posts))))
        entries += [
            Entry(f"{phase}/{index}", "object", f"object {index}", (phase, f"{phase}/{index}"), measures=Measures(n))
            for index, n in enumerate(posts)
        ]
    return replace(book, entries=tuple(entries))


@given(
    counts=st.dictionaries(
        st.sampled_from(["data", "model", "training", "run"]),
        st.lists(st.none() | st.integers(0, 500), max_size=12),
        min_size=1,
    )
)
def test_every_counted_code_has_one_tile_inside_its_phase(counts: dict[str, list[int | None]]) -> None:
    empty = Handbook("t", "", "s", "computed", "", ("phase", "object"), (), "", "")
    drawn = draw_maps(EntryIndex(book_of(counts, empty)))
    expected = {f"{phase}/{index}" for phase, posts in counts.items() for index, n in enumerate(posts) if n}
    assert len(drawn) == (2 if expected else 0)
    for one in drawn:
        tiles = [(district, tile) for district in one.districts for tile in district.tiles]
        assert sorted(tile.entry.id for _, tile in tiles) == sorted(expected)
        for district, tile in tiles:
            assert district.place.x - 0.2 <= tile.place.x
            assert tile.place.x + tile.place.width <= district.place.x + district.place.width + 0.2 <= one.width + 0.4
            assert district.place.y - 0.2 <= tile.place.y
            assert (
                tile.place.y + tile.place.height <= district.place.y + district.place.height + 0.2 <= one.height + 0.4
            )


def test_tile_areas_are_proportional_to_post_counts(book: Handbook) -> None:
    wide = draw_maps(EntryIndex(book_of({"data": [400, 200, 100]}, book)))[0]
    areas = [tile.place.width * tile.place.height for tile in wide.districts[0].tiles]
    assert areas[0] / areas[1] == pytest.approx(2, rel=0.02)
    assert areas[1] / areas[2] == pytest.approx(2, rel=0.02)


def test_a_phase_without_counted_objects_is_a_single_tile(book: Handbook) -> None:
    entries = (Entry("data", "phase", "data", ("data",), measures=Measures(posts=5)),)
    drawn = draw_maps(EntryIndex(replace(book, entries=entries)))
    assert [tile.entry.id for tile in drawn[0].districts[0].tiles] == ["data"]


def test_a_label_is_written_only_where_it_fits(book: Handbook) -> None:
    wide = draw_maps(EntryIndex(book_of({"data": [100_000, *[1] * 30]}, book)))[0]
    large, *small = wide.districts[0].tiles
    assert large.lines == ("Object 0",)
    assert large.number == "100,000"
    assert all(not tile.lines and not tile.number for tile in small)
    assert small[0].words == "Object 1, 1 post"


def test_shades_go_from_fast_to_slow_and_the_legend_names_their_limits() -> None:
    found = [shade(days, STEPS) for days in (None, 0.0, HOUR, 3 * HOUR, 11.9 * HOUR, 12 * HOUR, 200.0)]
    assert found == ["shade-none", "shade-1", "shade-2", "shade-3", "shade-4", "shade-5", "shade-5"]
    assert [words for _, words in build_legend(STEPS)] == [
        "under 1 hour", "1 to 2 hours", "2 to 4 hours", "4 to 12 hours", "over 12 hours",
    ]  # fmt: skip
