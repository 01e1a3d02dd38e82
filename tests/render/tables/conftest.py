"""Tables as a study prints them: groups, spanners, parts, footnotes, and hostile texts."""

from __future__ import annotations

import pytest

from quaestor.render.table_model import Cell, Column, Group, Row, Selection, Table
from quaestor.render.tables.layout import Link

HOSTILE = [
    r"\input{/etc/hostname} \end{tabular} \\[2em] {} } $x^2$ & # % _ ~ ^",
    "[x] * y -- z --- ''quoted'' \"said\" `code` ``more`` <b>bold</b> | pipe",
    "</td><script>alert(1)</script> &amp; &copy; <!-- no -->",
    "**bold** _emphasis_ [link](javascript:alert(1)) ![image](x) ~~gone~~ $$y$$",
    "=1+1", "+1", "-1", "@SUM(A1)", "=HYPERLINK(\"http://example.org\")",
    "κ ≥ 0.8 × α – β — ‘a’ “b” … é ü ß ő š ç Ł ą İ ı 中文 😀 ✓ € − ½ m² x₁ ﬁ",
    "a\nb\r\nc\td\u2028e", "\x00\x01\x1b\ud800\ufffe", "#1", "1. one", "- item", "***", "\\", "'", "''", " ", "",
]  # fmt: skip


def counted(count: int, base: int, *, selected: bool = True, notes: tuple[str, ...] = ()) -> Cell:
    selection = Selection((("framework", ("tensorflow",)),)) if selected else None
    return Cell((f"{count:,}", f"{count / base:.1%}"), (count, count / base), selection, notes)


def measured(*values: float, notes: tuple[str, ...] = ()) -> list[Cell]:
    return [Cell((f"{value:,.2f}",), (value,), notes=notes if place == 1 else ()) for place, value in enumerate(values)]


def _row(key: str, title: str, counts: tuple[int, int], medians: tuple[float, ...], **more: object) -> Row:
    note: tuple[str, ...] = ("*",) if key == "D3" else ()
    cells = [counted(count, base) for count, base in zip(counts, (1897, 457), strict=True)]
    return Row(key, title, (*cells, *measured(*medians, notes=note)), **more)  # type: ignore[arg-type]


@pytest.fixture
def journal_table() -> Table:
    columns = (
        Column("tensorflow", "TensorFlow", ("", "share"), "Posts"),
        Column("pytorch", "PyTorch", ("", "share"), "Posts"),
        Column("viewcount", "Views", spanner="Popularity"),
        Column("score", "Score", spanner="Popularity"),
        Column("days", "Days to the accepted answer"),
    )
    processing = (
        _row("D1", "Data", (328, 91), (529.0, 1.0, 0.09)),
        _row("D2", "Tensor", (279, 102), (402.0, 1.0, 0.06)),
        _row("D3", "Image", (77, 28), (765.0, 1.0, 0.1)),
        Row("D4", "Variable", (counted(0, 1897, selected=False), counted(3, 457), *[Cell(("–",))] * 3)),
        _row("D", "Subtotal", (684, 224), (1529.5, 1.0, 0.08), total=True),
    )
    setting = (
        _row("S1", "Layer of a model that was trained elsewhere", (120, 44), (390.0, 0.0, 0.31), notes=("†",)),
        _row("S2", "Loss", (64, 9), (88.0, 2.0, 12.5)),
    )
    everything = (_row("all", "Total", (1897, 457), (529.0, 1.0, 0.09), total=True),)
    return Table(
        "3",
        "Categories of issues by framework, with the popularity and the difficulty of each",
        "Phase and object",
        columns,
        (Group("Data processing", processing), Group("Model setting", setting), Group("", everything)),
        {"*": "Fewer than 30 posts of PyTorch & others.", "†": "Not in the pilot."},
        ("Base: 2,354 posts with an accepted answer.", "Medians; shares are of all posts of a framework."),
    )


@pytest.fixture
def hostile_table() -> Table:
    columns = tuple(Column(f"c{place}", text, ("", text), text) for place, text in enumerate(HOSTILE[:3]))
    words = Column("words", HOSTILE[3], numeric=False)
    rows = tuple(
        Row(
            text or "empty",
            text,
            (*(Cell((str(number), text), (number, None), Selection(), (text,)) for number in range(3)), Cell((text,))),
            total=place % 5 == 0,
            notes=(text,),
        )
        for place, text in enumerate(HOSTILE)
    )
    groups = (Group(HOSTILE[0], rows[:9]), Group("", ()), Group(HOSTILE[5], rows[9:]), Group("=x", ()))
    footnotes = {text: text for text in HOSTILE}
    return Table("../3 é", HOSTILE[0] + HOSTILE[5], HOSTILE[1], (*columns, words), groups, footnotes, tuple(HOSTILE))


@pytest.fixture
def long_table() -> Table:
    columns = (Column("n", "Posts"), Column("title", "A text about it", numeric=False))
    text = "words about the object that fill more than a line of the column"
    rows = tuple(Row(f"O{n}", f"object {n}", (Cell((str(9000 + n),), (9000 + n,)), Cell((text,)))) for n in range(130))
    return Table("14", "Every object", "Object", columns, (Group("All", rows),), notes=("Base: all posts.",))


@pytest.fixture
def empty_table() -> Table:
    return Table("2", "Nothing yet", "Object", (Column("n", "Posts"), Column("m", "More")), ())


@pytest.fixture
def link() -> Link:
    return lambda table, row, column: f"items/{table}/{row}.html?column={column}&all=1#top"
