"""The reference documents every key, command and option, and its links are valid."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import get_args

import pytest
from pydantic import BaseModel
from typer.main import get_command

from quaestor.cli.main import app
from quaestor.coding.model.codebook.file import CodebookFile, CodeEntry, FacetEntry
from quaestor.evidence.sources.stackexchange.source import StackExchangeSettings
from quaestor.evidence.sources.tables.settings import TableColumnSettings, TableSettings
from quaestor.publication.audit.printed_settings import (
    PrintedCheck,
    PrintedNote,
    PrintedSettings,
    PrintedSurvey,
    PrintedTable,
    SurveyFigures,
    UnavailableTables,
)
from quaestor.study.settings.coding import FacetSettings, PracticeSettings, RoundItems, RoundSettings
from quaestor.study.settings.evidence import FunnelSettings, KindSettings, SampleSettings, StepSettings
from quaestor.study.settings.publication import (
    AttributeSettings,
    FindingSettings,
    MeasureSettings,
    PublishedTableSettings,
    ReportSettings,
    ResultSettings,
    ValueSettings,
)
from quaestor.study.settings.schema import AboutStudy, StoreSettings, StudySettings
from tests.support.paths import DOCS, ROOT

PAGES = sorted([*ROOT.glob("*.md"), *(DOCS).rglob("*.md")])


@pytest.mark.parametrize(
    "model",
    [
        StudySettings, AboutStudy, StackExchangeSettings, TableSettings, TableColumnSettings, KindSettings,
        FunnelSettings, StepSettings, SampleSettings, FacetSettings, RoundSettings, StoreSettings,
        ResultSettings, AttributeSettings, MeasureSettings, PublishedTableSettings, FindingSettings, ValueSettings,
        ReportSettings,
    ],
)  # fmt: skip
def test_every_key_of_the_study_file_is_documented(model: type[BaseModel]) -> None:
    page = (DOCS / "reference" / "study-file.md").read_text()
    for name in keys_of(model):
        assert re.search(rf"[`.\[]{name}[`.\]]", page), name


@pytest.mark.parametrize(
    ("heading", "prefix", "model"),
    [
        ("[study]", "", AboutStudy),
        ("[facets.NAME]", "", FacetSettings),
        ("[[rounds]]", "", RoundSettings),
        ("[[rounds]]", "items.", RoundItems),
        ("[[rounds]]", "practice.", PracticeSettings),
        ("[results]", "", ResultSettings),
        ("[attributes.NAME]", "", AttributeSettings),
        ("[measures]", "", MeasureSettings),
        ("[[tables]]", "", PublishedTableSettings),
        ("[[findings]]", "", FindingSettings),
        ("[[findings]]", "", ValueSettings),
        ("[report]", "", ReportSettings),
        ("[store]", "", StoreSettings),
    ],
)
def test_every_key_is_documented_in_its_section(heading: str, prefix: str, model: type[BaseModel]) -> None:
    page = (DOCS / "reference" / "study-file.md").read_text()
    section = page.split(f"\n## `{heading}`\n")[1].split("\n## ")[0]
    for name in keys_of(model):
        assert f"`{prefix}{name}`" in section, name


@pytest.mark.parametrize("model", [CodebookFile, FacetEntry, CodeEntry])
def test_every_key_of_a_codebook_file_is_documented(model: type[BaseModel]) -> None:
    page = (DOCS / "reference" / "codebook.md").read_text()
    for name in keys_of(model):
        assert f"`{name}`" in page, name


@pytest.mark.parametrize(
    ("heading", "model"),
    [
        ("The file", PrintedSettings),
        ("`[[tables]]`", PrintedTable),
        ("`[[checks]]`", PrintedCheck),
        ("`[[notes]]`", PrintedNote),
        ("`[answers]`", PrintedSurvey),
        ("`[answers]`", SurveyFigures),
        ("`[[elsewhere]]`", UnavailableTables),
    ],
)
def test_every_key_of_printed_figures_is_documented(heading: str, model: type[BaseModel]) -> None:
    page = (DOCS / "reference" / "printed-figures.md").read_text()
    section = page.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    for name in keys_of(model):
        assert f"`{name}`" in section, name


@pytest.mark.parametrize(
    ("page", "heading", "model", "key"),
    [
        ("study-file.md", "`[[tables]]`", PublishedTableSettings, "kind"),
        ("study-file.md", "`[[findings]]`", ValueSettings, "kind"),
        ("printed-figures.md", "`[[checks]]`", PrintedCheck, "kind"),
    ],
)
def test_every_kind_is_documented(page: str, heading: str, model: type[BaseModel], key: str) -> None:
    text = (DOCS / "reference" / page).read_text()
    section = text.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    for name in get_args(model.model_fields[key].annotation):
        assert f"`{name}`" in section, name


def test_the_example_study_of_the_how_to_is_valid() -> None:
    page = (DOCS / "how-to" / "replicate-a-published-study.md").read_text()
    study, printed = (tomllib.loads(block) for block in re.findall(r"```toml\n(.*?)```", page, flags=re.DOTALL))
    settings = StudySettings.model_validate(study)
    layout = PrintedSettings.model_validate(printed)
    assert [table.table for table in layout.tables] == [table.table for table in settings.tables]


def keys_of(model: type[BaseModel]) -> list[str]:
    return [field.alias or name for name, field in model.model_fields.items()]


def test_every_command_and_option_is_documented() -> None:
    page = (DOCS / "reference" / "command-line.md").read_text()

    def walk(command: object, name: str) -> None:
        for part, inner in getattr(command, "commands", {}).items():
            walk(inner, f"{name} {part}")
        if not hasattr(command, "commands"):
            section = page.split(f"## `{name}`\n")[1].split("\n## ")[0]
            for parameter in command.params:  # type: ignore[attr-defined]
                for option in parameter.opts:
                    if option.startswith("--") and option != "--help":
                        assert f"{option}" in section, (name, option)

    walk(get_command(app), "quaestor")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_between_pages_are_valid(page: Path) -> None:
    for target, heading in re.findall(r"\]\(([^)#:]*)#?([^):]*)\)", page.read_text()):
        found = page.parent / target if target else page
        assert found.exists(), target
        assert not heading or heading in headings_of(found), f"{target}#{heading}"


def headings_of(page: Path) -> list[str]:
    """The headings of a page as links name them."""
    titles = re.findall(r"^#+ (.+)$", page.read_text(), flags=re.MULTILINE)
    return [re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_in_the_docs_exist(page: Path) -> None:
    known = set(get_command(app).commands) | {"COMMAND"}  # type: ignore[attr-defined]
    for name in re.findall(r"^(?:\$ )?quaestor ([a-zA-Z][a-zA-Z-]*)", page.read_text(), flags=re.MULTILINE):
        assert name in known


def test_every_module_named_in_the_architecture_exists() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    packages = {path.name for path in (ROOT / "src" / "quaestor").iterdir() if path.is_dir()}
    named = {name for name in re.findall(r"`([a-z_]+(?:\.[A-Za-z_]+)+)", text) if name.split(".")[0] in packages}
    assert len(named) > 40
    assert [name for name in sorted(named) if not _exists(name)] == []


def _exists(name: str) -> bool:
    """Whether a dotted name is a module, or an attribute of one."""
    path = ROOT / "src" / "quaestor" / Path(*name.split("."))
    if path.is_dir() or path.with_suffix(".py").is_file():
        return True
    module, _, attribute = name.rpartition(".")
    file = (ROOT / "src" / "quaestor" / Path(*module.split("."))).with_suffix(".py")
    return (
        file.is_file()
        and re.search(rf"^(?:def|class) {attribute}\b|^{attribute} = ", file.read_text("utf-8"), re.M) is not None
    )
