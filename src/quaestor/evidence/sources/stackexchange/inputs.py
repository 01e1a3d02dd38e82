"""Where the tables of a dump are: a folder, a file, an archive; what is not a dump is refused here."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from quaestor.base.errors import InputError
from quaestor.evidence.sources.sevenzip import Member, SevenZip, looks_like_sevenzip
from quaestor.evidence.sources.stackexchange.chunks import CHUNK_BYTES, Chunk, FileRange, split_stream, split_file
from quaestor.evidence.sources.stackexchange.schema import TABLES, DumpTable

_SNIFF = 64 << 10
_READ, _PACKED = 1 << 20, 256 << 10
_GZIP = 31  # the window bits that ask zlib for gzip
_ROOT = re.compile(rb"<([A-Za-z_][\w.-]*)")
_BY_LOWER_STEM = {table.name: table for table in TABLES}
_EXPECTED = "Posts.xml, Comments.xml and so on, plain, as .xml.gz or in a .7z archive"


@dataclass(frozen=True)
class TableInput:
    """One table of a dump and where its text is: a plain file, a gzip file, or a member of an archive."""

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
        """Bytes of text, where that is known beforehand; else 0."""
        if self.member:
            return self.member.size
        return self.path.stat().st_size if self.is_plain else 0

    def split(self, chunk_bytes: int = CHUNK_BYTES) -> Iterator[FileRange | Chunk]:
        """The text, as ranges of a file or chunks of a stream."""
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
        """The first bytes of the text."""
        if self.is_plain:
            with self.path.open("rb") as file:
                return file.read(_SNIFF)
        blocks = self._read_blocks()
        try:
            return next(blocks, b"")[:_SNIFF]
        finally:
            blocks.close()  # type: ignore[attr-defined]


def _gunzip(path: Path) -> Iterator[bytes]:
    """The text of a gzip file, of one member or several; where it breaks, all that could be read came first."""
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
    """Every table of the dump at `path`, in the order of the schema; refuses what is not a dump."""
    if not path.exists():
        raise InputError(f"{path} does not exist: give the folder, the .xml file or the .7z archive of a dump")
    if not path.is_dir() and not path.is_file():
        raise InputError(f"{path} is neither a file nor a folder: give the folder, the .xml file or the .7z of a dump")
    found = _in_folder(path) if path.is_dir() else _in_file(path)
    if not found:
        raise InputError(f"{path} holds no table of a Stack Exchange dump: expected {_EXPECTED}")
    for one in found:
        _check_beginning(one)
    tables = [one.table for one in found]
    for table in tables:
        if tables.count(table) > 1:
            places = " and ".join(one.name for one in found if one.table == table)
            raise InputError(f"{path} holds {table.stem} more than once, in {places}: keep one of them")
    return sorted(found, key=lambda one: TABLES.index(one.table))


def _in_folder(folder: Path) -> list[TableInput]:
    found: list[TableInput] = []
    for path in sorted(folder.iterdir()):
        if path.is_file() and path.name.lower().endswith((".xml", ".xml.gz", ".7z")):
            table = _by_name(path.name)
            if path.suffix.lower() == ".7z":
                found.extend(_in_archive(path))
            elif table:
                found.append(TableInput(table, path))
    return found


def _in_file(path: Path) -> list[TableInput]:
    if looks_like_sevenzip(path):
        return _in_archive(path)
    table = _by_name(path.name) or _by_root(TableInput(TABLES[0], path))
    if table is None:
        raise InputError(_not_a_table(path.name, TableInput(TABLES[0], path).read_beginning()))
    return [TableInput(table, path)]


def _in_archive(path: Path) -> list[TableInput]:
    members = [(member, _by_name(Path(member.name).name)) for member in SevenZip(path).members]
    return [TableInput(table, path, member) for member, table in members if table]


def _by_name(name: str) -> DumpTable | None:
    """The table a file's name tells: `Posts.xml`, `posts.xml.gz`."""
    stem = re.sub(r"\.xml(\.gz)?$", "", name.lower())
    return _BY_LOWER_STEM.get(stem.rpartition("-")[2]) if stem != name.lower() else None


def _by_root(one: TableInput) -> DumpTable | None:
    root = _root(one.read_beginning())
    return next((table for table in TABLES if table.root == root), None)


def _root(text: bytes) -> str | None:
    match = _ROOT.search(re.sub(rb"<!--.*?-->", b"", text, flags=re.DOTALL))
    return match[1].decode() if match else None


def _check_beginning(one: TableInput) -> None:
    """A table begins with its root element; one that was cut at the front may begin with a row."""
    text = one.read_beginning()
    if text.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputError(f"{one.name} is UTF-16, dumps are UTF-8: convert it (iconv -f UTF-16 -t UTF-8) and try again")
    if _root(text) not in (one.table.root, "row"):
        raise InputError(_not_a_table(one.name, text, one.table))


def _not_a_table(name: str, text: bytes, table: DumpTable | None = None) -> str:
    start = text[:40].decode("utf-8", "backslashreplace").strip()
    found = f"begins with {start!r}" if start else "is empty"
    expected = f"<{table.root}>" if table else "one of " + ", ".join(f"<{one.root}>" for one in TABLES)
    return f"{name} is not a table of a Stack Exchange dump: it {found}, expected the element {expected}"


def guess_site(path: Path) -> str:
    """The site a path speaks of: `stackoverflow.com-Posts.7z` and `stackoverflow.com` → `stackoverflow`."""
    path = path.resolve()
    if path.is_dir():
        archives = {
            guess_site(one) for one in path.iterdir() if re.search(r"-\w+(\.7z|\.xml(\.gz)?)$", one.name, flags=re.I)
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
