"""Finds the tables of a dump in a folder, a file or an archive, and refuses what is not a dump."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from quaestor.base.errors import InputError
from quaestor.evidence.sources.sevenzip import Member, SevenZip, looks_like_sevenzip
from quaestor.evidence.sources.stackexchange.chunks import CHUNK_BYTES, Chunk, FileRange, split_file, split_stream
from quaestor.evidence.sources.stackexchange.schema import TABLES, DumpTable

_SNIFF = 64 << 10
_READ, _PACKED = 1 << 20, 256 << 10
_GZIP = 31  # the window bits that ask zlib for gzip
_ROOT = re.compile(rb"<([A-Za-z_][\w.-]*)")
_BY_LOWER_STEM = {table.name: table for table in TABLES}
_EXPECTED = "Posts.xml, Comments.xml and so on, plain, as .xml.gz or in a .7z archive"


@dataclass(frozen=True)
class TableInput:
    """One table of a dump: a plain file, a gzip file, or a member of an archive."""

    table: DumpTable
    path: Path
    member: Member | None = None

    @property
    def is_plain(self) -> bool:
        return self.member is None and self.path.suffix.lower() != ".gz"

    @property
    def name(self) -> str:
        return f"{self.path.name}:{self.member.name}" if self.member else self.path.name

    @property
    def size(self) -> int:
        """Bytes of text; 0 if unknown before reading."""
        if self.member:
            return self.member.size
        return self.path.stat().st_size if self.is_plain else 0

    def split(self, chunk_bytes: int = CHUNK_BYTES) -> Iterator[FileRange | Chunk]:
        """Splits the text into ranges of a file or chunks of a stream."""
        if self.is_plain:
            return split_file(str(self.path), self.size, chunk_bytes)
        return split_stream(self._read_blocks(), self.path.stat().st_size, chunk_bytes)

    def _read_blocks(self) -> Iterator[bytes]:
        if self.member:
            for _, blocks in SevenZip(self.path).stream(lambda member: member == self.member):
                yield from blocks
        else:
            yield from _gunzip(self.path)

    def read_beginning(self) -> bytes:
        """Returns the first bytes of the text."""
        if self.is_plain:
            with self.path.open("rb") as file:
                return file.read(_SNIFF)
        blocks = self._read_blocks()
        try:
            return next(blocks, b"")[:_SNIFF]
        finally:
            blocks.close()  # type: ignore[attr-defined]


def _gunzip(path: Path) -> Iterator[bytes]:
    """Yields the text of a gzip file with one or several members; damage raises InputError after the readable part."""
    with path.open("rb") as file:
        inflater = zlib.decompressobj(_GZIP)
        data = file.read(_PACKED)
        while data:
            try:
                text = inflater.decompress(data, _READ)
            except zlib.error as error:
                raise InputError(f"{path.name} cannot be read further as gzip: {error}") from None
            if text:
                yield text
            data = inflater.unconsumed_tail
            if inflater.eof:
                data = inflater.unused_data or file.read(_PACKED)
                inflater = zlib.decompressobj(_GZIP)
            elif not data:
                data = file.read(_PACKED)
                if not data:
                    raise InputError(f"{path.name} cannot be read further as gzip: it ends too early")


def find_tables(path: Path) -> list[TableInput]:
    """Returns every table of the dump at `path`, in the order of the schema; raises InputError if it is not a dump."""
    if not path.exists():
        raise InputError(f"{path} does not exist: give the folder, the .xml file or the .7z archive of a dump")
    if not path.is_dir() and not path.is_file():
        raise InputError(f"{path} is neither a file nor a folder: give the folder, the .xml file or the .7z of a dump")
    inputs = _find_in_folder(path) if path.is_dir() else _find_in_file(path)
    if not inputs:
        raise InputError(f"{path} holds no table of a Stack Exchange dump: expected {_EXPECTED}")
    for table_input in inputs:
        _check_beginning(table_input)
    tables = [table_input.table for table_input in inputs]
    for table in tables:
        if tables.count(table) > 1:
            names = " and ".join(table_input.name for table_input in inputs if table_input.table == table)
            raise InputError(f"{path} holds {table.stem} more than once, in {names}: keep one of them")
    return sorted(inputs, key=lambda table_input: TABLES.index(table_input.table))


def _find_in_folder(folder: Path) -> list[TableInput]:
    inputs: list[TableInput] = []
    for path in sorted(folder.iterdir()):
        if path.is_file() and path.name.lower().endswith((".xml", ".xml.gz", ".7z")):
            table = _find_table_by_name(path.name)
            if path.suffix.lower() == ".7z":
                inputs.extend(_find_in_archive(path))
            elif table:
                inputs.append(TableInput(table, path))
    return inputs


def _find_in_file(path: Path) -> list[TableInput]:
    if looks_like_sevenzip(path):
        return _find_in_archive(path)
    table = _find_table_by_name(path.name) or _find_table_by_root(TableInput(TABLES[0], path))
    if table is None:
        raise InputError(_describe_no_table(path.name, TableInput(TABLES[0], path).read_beginning()))
    return [TableInput(table, path)]


def _find_in_archive(path: Path) -> list[TableInput]:
    members = [(member, _find_table_by_name(Path(member.name).name)) for member in SevenZip(path).members]
    return [TableInput(table, path, member) for member, table in members if table]


def _find_table_by_name(name: str) -> DumpTable | None:
    """Returns the table of a file name such as `Posts.xml` or `posts.xml.gz`."""
    stem = re.sub(r"\.xml(\.gz)?$", "", name.lower())
    return _BY_LOWER_STEM.get(stem.rpartition("-")[2]) if stem != name.lower() else None


def _find_table_by_root(table_input: TableInput) -> DumpTable | None:
    root = _find_root(table_input.read_beginning())
    return next((table for table in TABLES if table.root == root), None)


def _find_root(text: bytes) -> str | None:
    match = _ROOT.search(re.sub(rb"<!--.*?-->", b"", text, flags=re.DOTALL))
    return match[1].decode() if match else None


def _check_beginning(table_input: TableInput) -> None:
    """Requires a table to begin with its root element, or with a row if its beginning was cut off."""
    text = table_input.read_beginning()
    if text.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputError(
            f"{table_input.name} is UTF-16, dumps are UTF-8: convert it (iconv -f UTF-16 -t UTF-8) and try again"
        )
    if _find_root(text) not in (table_input.table.root, "row"):
        raise InputError(_describe_no_table(table_input.name, text, table_input.table))


def _describe_no_table(name: str, text: bytes, table: DumpTable | None = None) -> str:
    start = text[:40].decode("utf-8", "backslashreplace").strip()
    problem = f"begins with {start!r}" if start else "is empty"
    expected = f"<{table.root}>" if table else "one of " + ", ".join(f"<{table.root}>" for table in TABLES)
    return f"{name} is not a table of a Stack Exchange dump: it {problem}, expected the element {expected}"


def guess_site(path: Path) -> str:
    """Returns the site in a path: `stackoverflow` for `stackoverflow.com-Posts.7z` and for `stackoverflow.com`."""
    path = path.resolve()
    if path.is_dir():
        archives = {
            guess_site(file) for file in path.iterdir() if re.search(r"-\w+(\.7z|\.xml(\.gz)?)$", file.name, flags=re.I)
        }
        if len(archives) == 1:
            return archives.pop()
    name = path.name if path.is_dir() else re.sub(r"(\.xml)?(\.gz|\.7z|\.xml)?$", "", path.name, flags=re.I)
    stem, _, table = name.rpartition("-")
    if table.lower() in _BY_LOWER_STEM and stem:
        name = stem
    if name.lower() in _BY_LOWER_STEM:
        name = path.parent.name
    name = re.sub(r"(\.stackexchange)?\.com$", "", name.lower())
    return re.sub(r"[^a-z0-9.]+", "-", name).strip("-.") or "site"
