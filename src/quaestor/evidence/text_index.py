"""The full-text index of all items in the funnel: one SQLite file, replaced only when the new one is complete.

The index of a live source is in the memory of the process, so that private words are never copied to disk.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from quaestor.base.errors import InputError, StateError
from quaestor.base.files import fsync, lock_folder, match_privacy
from quaestor.evidence.engine import Backend, engine, ibis, ir
from quaestor.evidence.funnel import DROPPED_AT_FILE, RESULT
from quaestor.evidence.items import SOURCE, item_key, read_items_by_source, select_drops
from quaestor.evidence.live_items import has_live_source, live_stamp
from quaestor.study.folder import Study

ReportProgress = Callable[[str, int, int], None]
FILE, INDEX_NAME = "search.db", "search index"
QUERY_SECONDS = 10.0
"""How long one query may take."""
_FORMAT = 1
_BATCH = 10_000
_LONGEST = 100_000
"""Characters of a text that are indexed; pages show the whole text."""
TOKENS = "tokenize = 'unicode61 remove_diacritics 2'"
"""The tokenizer: letters and digits form words, without regard to case and accents."""
_TABLES = """
CREATE TABLE about (key TEXT NOT NULL);
CREATE TABLE items (
    number INTEGER PRIMARY KEY, item TEXT NOT NULL, title TEXT NOT NULL, created TEXT NOT NULL, year INTEGER,
    score INTEGER, views INTEGER, tags TEXT NOT NULL, author TEXT NOT NULL, fell_at INTEGER NOT NULL
);
CREATE TABLE tagged (tag TEXT NOT NULL COLLATE NOCASE, number INTEGER NOT NULL);
CREATE VIRTUAL TABLE texts USING fts5(title, body, tags, TOKENS);
INSERT INTO texts (texts, rank) VALUES ('hashsize', 33554432);
"""
_INDEXES = """
CREATE UNIQUE INDEX items_by_item ON items (item);
CREATE INDEX items_by_year ON items (year);
CREATE INDEX items_by_fell_at ON items (fell_at, year);
CREATE INDEX items_by_created ON items (created);
CREATE INDEX items_by_score ON items (score);
CREATE INDEX items_by_views ON items (views);
CREATE INDEX tagged_by_tag ON tagged (tag, number);
CREATE INDEX tagged_by_number ON tagged (number, tag);
CREATE TABLE tag_counts AS SELECT tag, count(*) AS items FROM tagged GROUP BY tag;
"""
# HTML tags, but not `a < b`; then the entities, with the ampersand last, so that `&amp;lt;` is decoded only once.
_MARKUP = r"<!--[^>]*-->|</?[A-Za-z][^<>]*>"
_ENTITIES = (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&#39;", "'"), ("&nbsp;", " "), ("&amp;", "&"))


@dataclass(frozen=True)
class Index:
    """An index that matches the last result of the funnel."""

    address: str
    """The database as a SQLite URI."""
    key: str
    keeper: sqlite3.Connection | None = None
    """An open connection, for as long as which a database in memory exists."""

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Opens a read-only connection; a query that takes too long raises InputError."""
        deadline = time.monotonic() + QUERY_SECONDS
        with closing(sqlite3.connect(self.address, uri=True, check_same_thread=False)) as connection:
            connection.set_progress_handler(lambda: time.monotonic() > deadline, 100_000)
            try:
                yield connection
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode != sqlite3.SQLITE_INTERRUPT:
                    raise
                raise InputError(
                    "this search takes too long: add a word, or replace a prefix by the whole word"
                ) from None


def index_folder(study: Study) -> Path:
    return study.funnel_folder / "search"


def find_index(study: Study) -> Index | None:
    """Returns the index if it matches the last result of the funnel."""
    key = compute_index_key(study)
    in_memory = _IN_MEMORY.get(study.funnel_folder)
    if in_memory is not None and in_memory.key == key:
        return in_memory
    if is_in_memory(study):
        return None
    path = index_folder(study) / FILE
    if not path.is_file():
        return None
    index = Index(f"{path.absolute().as_uri()}?mode=ro&immutable=1", key)
    try:
        with index.reading() as connection:
            stored = connection.execute("SELECT key FROM about").fetchone()
    except sqlite3.Error:  # a damaged file counts as missing
        return None
    return index if stored == (key,) else None


_IN_MEMORY: dict[Path, Index] = {}
"""By folder of a funnel: the index of a live source."""


def is_in_memory(study: Study) -> bool:
    """Returns whether the index of a strand is only in the memory of this process."""
    return has_live_source(study)


def _build_in_memory(study: Study, report: ReportProgress) -> Index:
    key, address = compute_index_key(study), f"file:quaestor-{secrets.token_hex(8)}?mode=memory&cache=shared"
    report(INDEX_NAME, 0, 0)
    connection = sqlite3.connect(address, uri=True, isolation_level=None, check_same_thread=False)
    with engine(study.funnel_folder) as backend:
        texts = _select_texts(study, backend, study.funnel_folder / DROPPED_AT_FILE).to_pyarrow()
    _fill(connection, texts.to_batches(_BATCH), texts.num_rows, key, report)
    index = _IN_MEMORY[study.funnel_folder] = Index(address, key, connection)
    return index


def compute_index_key(study: Study) -> str:
    """Returns a hash of the funnel's last result, and of the words of a live source."""
    live = "/".join(str(live_stamp(study, source) or "") for source in study.funnel_sources())
    try:
        result = (study.funnel_folder / RESULT).read_bytes()
    except FileNotFoundError:
        raise StateError("the funnel has not run yet: run `quaestor funnel` first") from None
    return hashlib.sha256(f"{_FORMAT}/{live}".encode() + result).hexdigest()


def count_items_to_index(study: Study) -> int:
    drops = study.funnel_folder / DROPPED_AT_FILE
    return int(pq.read_metadata(drops).num_rows) if drops.exists() else 0


def build_index(study: Study, report: ReportProgress) -> Index:
    """Builds the index unless it is current; `report` receives the progress and can stop the build by raising.

    An interrupted build leaves nothing; the old index is used until the new one is complete.
    """
    ready = find_index(study)
    if ready is not None:
        return ready
    if is_in_memory(study):
        return _build_in_memory(study, report)
    folder = index_folder(study)
    folder.mkdir(parents=True, exist_ok=True)
    match_privacy(study.funnel_folder, folder)
    with lock_folder(folder, f"the {INDEX_NAME}"):
        ready = find_index(study)  # again, under the lock: another process may have built it meanwhile
        if ready is not None:
            return ready
        key, unfinished, texts = compute_index_key(study), folder / f".{FILE}", folder / ".texts.parquet"
        try:
            report(INDEX_NAME, 0, 0)
            _write_texts(study, texts)
            unfinished.unlink(missing_ok=True)  # left by a build that was killed
            with (
                closing(sqlite3.connect(unfinished, isolation_level=None)) as connection,
                pq.ParquetFile(texts) as rows,
            ):
                _fill(connection, rows.iter_batches(_BATCH), rows.metadata.num_rows, key, report)
            match_privacy(folder, folder)
            fsync(unfinished)
            os.replace(unfinished, folder / FILE)
            fsync(folder)
        finally:
            unfinished.unlink(missing_ok=True)
            texts.unlink(missing_ok=True)
    return Index(f"{(folder / FILE).absolute().as_uri()}?mode=ro&immutable=1", key)


def _write_texts(study: Study, path: Path) -> None:
    drops = study.funnel_folder / DROPPED_AT_FILE
    if not drops.exists():
        raise StateError("the funnel has not run yet: run `quaestor funnel` first")
    with engine(study.funnel_folder) as connection:
        _select_texts(study, connection, drops).to_parquet(str(path))


def _fill(
    connection: sqlite3.Connection, texts: Iterable[pa.RecordBatch], total: int, key: str, report: ReportProgress
) -> None:
    done = 0
    for setting in ("journal_mode = OFF", "synchronous = OFF", "locking_mode = EXCLUSIVE", "cache_size = -65536"):
        connection.execute(f"PRAGMA {setting}").fetchall()
    connection.executescript(_TABLES.replace("TOKENS", TOKENS))
    connection.execute("BEGIN")
    for batch in texts:
        report(INDEX_NAME, done, total)
        _insert(connection, batch)
        done += batch.num_rows
    connection.execute("INSERT INTO about VALUES (?)", (key,))
    connection.execute("COMMIT")
    report(INDEX_NAME, done, total)
    connection.executescript(f"BEGIN;{_INDEXES}COMMIT;ANALYZE;")


def _select_texts(study: Study, connection: Backend, drops_file: Path) -> ir.Table:
    """Returns the indexed columns of each item, with a number in `id` that no other item has."""
    drops = connection.read_parquet(str(drops_file))
    if SOURCE in drops.columns:  # posts of two sites can have the same number
        drops = drops.mutate(_number=ibis.row_number().over(order_by=[drops[SOURCE], drops.id]))
    else:
        drops = drops.mutate(_number=drops.id)
    tables = [
        _select_source_texts(items, select_drops(drops, study, source))
        for source, items in read_items_by_source(connection, study).items()
    ]
    return ibis.union(*tables) if len(tables) > 1 else tables[0]


def _select_source_texts(items: ir.Table, drops: ir.Table) -> ir.Table:
    """Returns the indexed columns of the items of a source; a column that it lacks is empty."""

    def column(name: str, kind: str) -> ir.Value:
        known = name in items.columns and items[name].type().is_array() == kind.startswith("array")
        return items[name].try_cast(kind) if known else ibis.null(kind)

    body = column("body", "string").fill_null("")[:_LONGEST].re_replace(_MARKUP, " ")
    for entity, character in _ENTITIES:
        body = body.replace(entity, character)
    author = ibis.coalesce(
        column("owner_display_name", "string").nullif(""), "user " + column("owner_user_id", "string"), ""
    )
    created = column("creation_date", "timestamp")
    texts = items.select(
        _key=items[item_key(items)],
        title=_one_line(column("title", "string").fill_null("")),
        body=_one_line(body),
        tags=column("tags", "array<string>"),
        created=created.strftime("%Y-%m-%d").fill_null(""),
        year=created.year(),
        score=column("score", "int64"),
        views=column("view_count", "int64"),
        author=_one_line(author),
    )
    rows = texts.join(drops, texts._key == drops[item_key(items)])
    columns = ("item", "title", "body", "tags", "created", "year", "score", "views", "author", "fell_at")
    return rows.select(*columns, id=rows._number)


def _one_line(text: ir.StringValue) -> ir.StringValue:
    """Removes control characters, since the search uses two of them to mark matches."""
    return text.re_replace(r"[\x00-\x20\x7f]+", " ").strip()


def _insert(connection: sqlite3.Connection, batch: pa.RecordBatch) -> None:
    # FTS5 inserts rows much faster in the order of their ids.
    columns: dict[str, list[Any]] = batch.sort_by("id").to_pydict()
    numbers, titles = columns["id"], columns["title"]
    tags = [list(dict.fromkeys(item_tags or ())) for item_tags in columns["tags"]]
    labels = [title or item for title, item in zip(titles, columns["item"], strict=True)]
    connection.executemany(
        "INSERT INTO items VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        zip(
            numbers, columns["item"], labels, columns["created"], columns["year"], columns["score"], columns["views"],
            ["\n".join(item_tags) for item_tags in tags], columns["author"], columns["fell_at"], strict=True,
        ),
    )  # fmt: skip
    connection.executemany(
        "INSERT INTO texts (rowid, title, body, tags) VALUES (?, ?, ?, ?)",
        zip(numbers, labels, columns["body"], [" ".join(item_tags) for item_tags in tags], strict=True),
    )
    connection.executemany(
        "INSERT INTO tagged VALUES (?, ?)",
        ((tag, number) for number, item_tags in zip(numbers, tags, strict=True) for tag in item_tags),
    )
