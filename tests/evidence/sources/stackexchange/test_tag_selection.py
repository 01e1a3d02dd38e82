"""A selection by tag equals one made by parsing every row."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quaestor.evidence.sources.stackexchange.chunks import Chunk
from quaestor.evidence.sources.stackexchange.schema import COMMENTS
from quaestor.evidence.sources.stackexchange.tag_selection import build_tag_filter, scan_keyed, scan_posts

TAG = st.sampled_from(
    ["tensorflow", "tensorflow2.0", "tensorflow-lite", "keras", "c#", "c++", "node.js", "python", "gpytorch"]
)
WANTED = st.lists(st.sampled_from(["tensorflow", "tensorflow*", "*torch", "c#", "c*", "*.js", "*flow*"]), min_size=1)


def matches(tag: str, wanted: str) -> bool:
    """An independent reading of `*`."""
    return re.fullmatch(".*".join(re.escape(part) for part in wanted.split("*")), tag) is not None


@st.composite
def posts(draw: st.DrawFn) -> tuple[str, dict[str, object]]:
    number = draw(st.integers(1, 10**9))
    if draw(st.booleans()):
        tags = draw(st.lists(TAG, min_size=1, max_size=5, unique=True))
        written = draw(st.sampled_from(["".join(f"&lt;{tag}&gt;" for tag in tags), f"|{'|'.join(tags)}|"]))
        accepted = draw(st.sampled_from(["", ' AcceptedAnswerId="5"']))
        body = draw(st.sampled_from(["short", "&lt;p&gt;tensorflow&lt;/p&gt;" * 30]))
        tail = draw(st.sampled_from(["", ' ContentLicense="CC BY-SA 4.0"', f' OwnerDisplayName="{"n" * 600}"']))
        row = f'<row Id="{number}" PostTypeId="1"{accepted} Body="{body}" Title="a" Tags="{written}"{tail} />'
        if draw(st.integers(0, 9)) == 0:
            row = f'<row Tags="{written}" PostTypeId="1" Id="{number}" />'
        return row, {"id": number, "tags": tags}
    parent = draw(st.integers(1, 10**9))
    row = f'<row Id="{number}" PostTypeId="2" ParentId="{parent}" Body="Tags=&quot;|tensorflow|&quot;" />'
    if draw(st.integers(0, 9)) == 0:
        row = f'<row Id="{number}" PostTypeId="2" Score="1" ParentId="{parent}" />'
    return row, {"id": number, "parent": parent}


@settings(max_examples=300, deadline=None)
@given(st.lists(posts(), max_size=20), WANTED)
def test_a_scan_finds_the_selected_questions_and_all_their_answers(
    rows: list[tuple[str, dict[str, object]]], wanted: list[str]
) -> None:
    text = ("<posts>\n  " + "\n  ".join(row for row, _ in rows) + "\n</posts>").encode()
    scan = scan_posts(Chunk.from_text(0, text), build_tag_filter(tuple(wanted)))
    expected = [
        truth["id"]
        for _, truth in rows
        if "tags" in truth and any(matches(str(tag), one) for tag in truth["tags"] for one in wanted)  # type: ignore[attr-defined]
    ]
    assert sorted(scan.ids) == sorted(expected)  # type: ignore[type-var]
    assert sorted(scan.parents.tolist()) == sorted(truth["parent"] for _, truth in rows if "parent" in truth)  # type: ignore[type-var]
    assert scan.broken == []
    assert scan.rows == len(rows)
    assert [text[start : start + 4] for start, _ in scan.questions] == [b"<row"] * len(scan.questions)


def test_a_question_is_found_wherever_its_tags_attribute_is_in_the_row() -> None:
    for padding in range(400):
        rows = [
            f'<row Id="{number}" PostTypeId="1" Body="{"b" * 300}" Tags="|x|{tag}|" Note="{"n" * padding}" />'
            for number, tag in ((1, "java"), (2, "python"), (3, "java"), (4, "python"))
        ]
        text = ("<posts>\n  " + "\n  ".join(rows) + "\n</posts>" + " " * 200).encode()
        assert scan_posts(Chunk.from_text(0, text), build_tag_filter(("python",))).ids == [2, 4], padding


@pytest.mark.parametrize(
    "row", ['<row Id="1" PostTypeId="1" Tags="|tensorflow|"', '<row Id="x" PostTypeId="1" />', "<row />"]
)
def test_malformed_rows_are_set_aside_to_be_rejected(row: str) -> None:
    scan = scan_posts(
        Chunk.from_text(0, f'{row}\n<row Id="2" PostTypeId="1" Tags="|tensorflow|" />'.encode()),
        build_tag_filter(("tensorflow",)),
    )
    assert scan.ids == [2]
    assert scan.broken == [(0, len(row) + 1)]


def test_rows_are_chosen_by_the_ids_they_belong_to() -> None:
    text = b"""<comments>
      <row Id="1" PostId="10" Text="keep" />
      <row Id="10" PostId="11" Text="PostId=&quot;10&quot;" />
      <row Text="order" PostId='12' Id="3" />
    </comments>"""
    scan = scan_keyed(Chunk.from_text(0, text), COMMENTS, "PostId", np.array([10, 12]))
    assert scan.rows == 3
    assert [re.findall(rb'\bId="(\d+)"', text[start:end])[0] for start, end in scan.chosen] == [b"1", b"3"]
    assert scan_keyed(Chunk.from_text(0, text), COMMENTS, "PostId", np.array([], dtype=np.int64)).chosen == []
