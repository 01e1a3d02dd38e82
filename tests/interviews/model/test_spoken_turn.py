"""Positions in shown and in recorded text are converted both ways; a pseudonym is never split."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from quaestor.interviews.model.records import Replacement, SpokenTurn, Voice

WORDS = st.text(alphabet=st.sampled_from("ab \n😀é́אב"), min_size=1, max_size=40)


@st.composite
def turns(draw: st.DrawFn) -> SpokenTurn:
    raw = draw(WORDS)
    cuts = sorted(draw(st.sets(st.integers(0, len(raw)), max_size=8)))
    spans = list(zip(cuts[::2], cuts[1::2], strict=False))
    shown = draw(
        st.lists(st.sampled_from(["[P1]", "P2", "[organisation A]"]), min_size=len(spans), max_size=len(spans))
    )
    replaced = tuple(Replacement(0, start, end, word) for (start, end), word in zip(spans, shown, strict=True))
    return SpokenTurn(0, Voice.PARTICIPANT, raw, replaced)


def test_a_name_is_shown_as_its_pseudonym() -> None:
    turn = SpokenTurn(0, Voice.PARTICIPANT, "Quell said so", (Replacement(0, 0, 5, "[person 1]"),))
    assert turn.text == "[person 1] said so"
    assert turn.to_shown(6, 10) == (11, 15)
    assert turn.to_raw(11, 15) == (6, 10)


def test_selecting_part_of_a_pseudonym_selects_all_of_it() -> None:
    turn = SpokenTurn(0, Voice.PARTICIPANT, "so Quell said", (Replacement(0, 3, 8, "[person 1]"),))
    assert turn.to_raw(5, 7) == (3, 8)
    assert turn.to_raw(0, 5) == (0, 8)
    assert turn.to_shown(4, 6) == (3, 13)


@given(turns(), st.data())
def test_shown_positions_map_back_to_the_recorded_words(turn: SpokenTurn, data: st.DataObject) -> None:
    if not turn.text:
        return
    start = data.draw(st.integers(0, len(turn.text) - 1))
    end = data.draw(st.integers(start + 1, len(turn.text)))
    low, high = turn.to_raw(start, end)
    assert 0 <= low < high <= len(turn.raw)
    wide = turn.to_shown(low, high)
    assert wide[0] <= start
    assert wide[1] >= end
    assert turn.to_raw(*wide) == (low, high)


@given(turns())
def test_shown_pieces_cover_every_recorded_character_once(turn: SpokenTurn) -> None:
    places = [place for _, low, high in turn.shown_pieces() for place in range(low, high)]
    assert places == list(range(len(turn.raw)))
    assert "".join(piece for piece, _, _ in turn.shown_pieces()) == turn.text


def test_a_masked_name_is_one_word() -> None:
    turn = SpokenTurn(0, Voice.PARTICIPANT, "We met in Aachen, I think.", (Replacement(0, 10, 16, "[place A]"),))
    assert [turn.text[start:end] for start, end in turn.words] == ["We", "met", "in", "[place A],", "I", "think."]
