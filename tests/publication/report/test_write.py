"""A report on disk: complete or missing, the same bytes each time, no broken links."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from lxml import html

from quaestor.base.errors import InputError
from quaestor.publication.audit.records import Audit, Check
from quaestor.publication.report.make import build_report
from quaestor.publication.report.parts import LastBuild, ReportParts
from quaestor.publication.report.write import Report, items_script, sentence_parts, write_audit_page, write_report
from quaestor.render.report_parts import ItemColumns, ListedItem, Section
from quaestor.render.table_model import Cell, Column, Finding, Group, Row, Selection, Table, Value
from quaestor.study.folder import Study, open_study

SCRIPT = """
import os, sys
from pathlib import Path
from quaestor.study.folder import open_study
from quaestor.publication.report.make import build_report

def kill(event, arguments):
    if event == "open" and sys.argv[2] and sys.argv[2] in str(arguments[0]):
        os.kill(os.getpid(), 9)

sys.addaudithook(kill)
build_report(open_study(Path(sys.argv[1])), lambda words: None)
"""


def quiet(words: str) -> None:
    pass


def built_apart(study: Study, *, killed_at: str = "", seed: str = "0") -> int:
    """Build in a process of its own, which dies when it opens a file whose path has `killed_at` in it."""
    command = [sys.executable, "-c", SCRIPT, str(study.root), killed_at]
    return subprocess.run(command, env={**os.environ, "PYTHONHASHSEED": seed}, check=False).returncode


def hashes(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def small_report(*, finding: Finding | None = None, table: str = "1") -> Report:
    """A report with one item, one table and one finding."""
    selection = Selection((("phase", ("D",)),))
    cell = Cell(("1",), (1,), selection)
    row = Row("2:a", "a: b", (cell,))
    item = ListedItem("forum/1", "a title", "https://example.org/1", "", "", "", None, None, None)
    return Report(
        title="Small",
        description="",
        notices=(),
        facts=(),
        findings=(finding,) if finding else (),
        sections=(Section("All", tables=(Table(table, "One", "", (Column("x:y", "x"),), (Group("", (row,)),)),)),),
        threats=(),
        missing={},
        columns=ItemColumns((item,), {"phase": (("D",), ("data",), (0,))}),
        generated_by="a test",
    )


def test_the_report_does_not_depend_on_the_hash_seed(report: Path, copied: Study) -> None:
    before = hashes(report)
    assert built_apart(copied, seed="271828") == 0
    after = hashes(copied.published / "report")
    assert after.keys() == before.keys()
    assert [name for name in before if before[name] != after[name]] == []
    assert {"index.html", "items.html", "items-data.js", "audit.html", "tables/table-3.html"} <= before.keys()


@pytest.mark.parametrize("file", ["table-5.md", "audit.html"])
def test_a_build_killed_at_any_file_leaves_the_old_report_unchanged(study: Study, copied: Study, file: str) -> None:
    before = hashes(study.published / "report")
    assert built_apart(copied, killed_at=file) == -9
    assert hashes(copied.published / "report") == before


def test_a_removed_table_disappears_from_the_report(copied: Study) -> None:
    settings = copied.root / "study.toml"
    text = settings.read_text("utf-8")
    fewer = text.replace('table = "A4"', 'table = "B4"')
    assert fewer != text
    settings.write_text(fewer, "utf-8")
    left = copied.root / "published" / ".report.aside" / "new"
    left.mkdir(parents=True)
    (left / "half.html").write_text("of a killed build")
    outcome = build_report(open_study(copied.root), quiet, with_audit=False)
    files = hashes(outcome.folder)
    assert "tables/table-B4.html" in files
    assert not [name for name in files if "A4" in name or "half" in name or "audit" in name]
    assert "audit.html" not in (outcome.folder / "index.html").read_text("utf-8")
    assert [path.name for path in outcome.folder.parent.iterdir()] == ["report"]


def test_a_folder_that_is_not_a_report_is_not_replaced(copied: Study) -> None:
    folder = copied.published / "report"
    (folder / "findings.json").unlink()
    with pytest.raises(InputError, match="not a report"):
        build_report(copied, quiet)
    assert (folder / "index.html").is_file()


def test_every_link_in_the_report_leads_to_an_existing_file(report: Path) -> None:
    pages = {path: html.parse(str(path)) for path in sorted(report.rglob("*.html"))}
    followed = 0
    for page, tree in pages.items():
        for link in tree.xpath("//@href | //@src"):
            parts = urlsplit(link)
            assert not parts.scheme, f"{page.name} links to {link}"
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            assert target.is_file(), f"{page.name} links to {link}"
            if parts.fragment and target.name != "items.html":
                assert pages[target].xpath("//*[@id=$id]", id=unquote(parts.fragment)), f"{page.name} links to {link}"
            followed += 1
    assert followed > 1000


def test_pages_have_no_inline_styles_or_scripts(report: Path) -> None:
    for path in report.rglob("*.html"):
        tree = html.parse(str(path))
        assert tree.xpath("//style | //@style | //script[not(@src)]") == [], path.name
        assert tree.xpath("//@*[starts-with(name(), 'on')]") == [], path.name


def test_the_items_page_knows_every_linked_cell_with_its_items(report: Path) -> None:
    """The page of items knows every address that any page links to."""
    text = (report / "items-data.js").read_text("utf-8")
    data = json.loads(text.removeprefix("window.quaestorItems = ").removesuffix(";\n"))
    known = {f"{table}:{cell}" for table, one in data["tables"].items() for cell in one["cells"]}
    linked = set()
    for path in report.rglob("*.html"):
        for link in html.parse(str(path)).xpath("//@href[contains(., 'items.html#')]"):
            linked.add(unquote(link.partition("#")[2]))
    assert len(linked) > 300
    assert linked <= known


def test_a_standalone_table_page_links_to_the_report(report: Path) -> None:
    page = html.parse(str(report / "tables" / "table-3.html"))
    assert page.xpath("string(//p[@class='kicker']/a/@href)") == "../index.html#table-3"
    assert page.xpath("string(//title)").startswith("Table 3. The taxonomy")
    assert "../items.html#3:D:total" in page.xpath("//@href")


def test_an_unsupported_finding_is_marked_as_failing(report: Path) -> None:
    page = html.parse(str(report / "index.html"))
    failing = page.xpath("//li[@class='fails'][@id='finding-1']")
    assert len(failing) == 1
    assert "expected at least 60" in failing[0].text_content()


def test_the_report_states_the_origin_of_codes_and_the_missing_funnel(report: Path) -> None:
    page = html.parse(str(report / "index.html")).getroot().text_content()
    assert "The codes are published labels" in page
    assert "Table A6: it needs the dump" in page


def test_every_section_begins_with_a_paragraph(report: Path) -> None:
    sections = html.parse(str(report / "index.html")).xpath("//section")
    assert len(sections) == 6
    for section in sections:
        assert len(section.xpath("string(./p[@class='words'])").split()) > 8, section.get("id")


def value(name: str, shown: str) -> Value:
    return Value(name, "", shown, selection=Selection())


@pytest.mark.parametrize(
    ("sentence", "shown", "cut"),
    [
        ("7 of 27 and 7.", ["7", "7"], ["", "7", " of 27 and ", "7", "."]),
        ("27 are 7.5%, or 7", ["7"], ["27 are 7.5%, or ", "7", ""]),
        ("b then a", ["a", "b"], ["", "b", " then ", "a", ""]),
        ("none here", ["5", ""], ["none here"]),
        ("r = -0.17 or 0.17", ["0.17", "-0.17"], ["r = ", "-0.17", " or ", "0.17", ""]),
        ("1,200 and 200", ["200"], ["1,200 and ", "200", ""]),
    ],
)
def test_a_sentence_is_split_at_whole_values(sentence: str, shown: list[str], cut: list[str]) -> None:
    finding = Finding("1", sentence, tuple(value(str(place), one) for place, one in enumerate(shown)))
    assert [words for words, _ in sentence_parts(finding)] == cut


def test_values_with_one_name_in_two_findings_keep_separate_titles() -> None:
    first = Finding("1", "7", (Value("share", "of data", "7", selection=Selection()),))
    second = Finding("2", "8", (Value("share", "of models", "8", selection=Selection()),))
    text = items_script(Report(**{**vars(small_report()), "findings": (first, second)}), [])
    titles = json.loads(text.partition("= ")[2][:-2])["tables"]["finding"]["titles"]
    assert titles == {"1:share": "Finding 1: of data", "2:share": "Finding 2: of models"}


def test_a_table_with_an_unusual_id_has_linked_files(tmp_path: Path) -> None:
    with ReportParts(LastBuild(tmp_path)) as parts:
        write_report(small_report(table="../ä b"), tmp_path, parts, quiet)
    links = html.parse(str(tmp_path / "index.html")).xpath("//ul[@class='files']//@href")
    assert len(links) == 5
    assert all((tmp_path / link).is_file() for link in links)


def test_without_items_no_number_is_linked_and_the_items_page_explains_why(tmp_path: Path) -> None:
    with ReportParts(LastBuild(tmp_path)) as parts:
        write_report(Report(**{**vars(small_report()), "columns": None}), tmp_path, parts, quiet)
    assert "items.html#" not in (tmp_path / "index.html").read_text("utf-8")
    assert "quaestor items --cell" in (tmp_path / "items.html").read_text("utf-8")
    assert not (tmp_path / "items-data.js").exists()


def test_checks_explained_by_one_note_are_grouped(tmp_path: Path) -> None:
    notes = ["both", "both", "", "", "one"]
    checks = tuple(Check(f"c{at}", f"statement {at}", False, "found", note) for at, note in enumerate(notes))
    path = write_audit_page(Audit(cells=(), checks=checks), tmp_path, title="Small", generated_by="a test", linked=True)
    listed = html.parse(str(path)).xpath("//ul[@class='checks']/li")
    assert [one.text_content().count("statement") for one in listed] == [2, 1, 1, 1]
