"""The reference documents every key, command and option, and its links are valid."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any, get_args

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
from quaestor.study.settings.coding import FacetSettings, ItemConditions, PracticeSettings, RoundItems, RoundSettings
from quaestor.study.settings.evidence import FunnelSettings, KindSettings, SampleSettings, StepSettings
from quaestor.study.settings.publication import (
    AttributeSettings,
    FindingSettings,
    InterviewSettings,
    JointDisplaySettings,
    JointStrandSettings,
    MeasureSettings,
    PublishedTableSettings,
    ReportSettings,
    ResultSettings,
    ValueSettings,
)
from quaestor.study.settings.schema import AboutStudy, MailSettings, StoreSettings, StudySettings
from quaestor.study.settings.sources import OpenAnswerSettings, SourceSettings, load_source_kind
from quaestor.study.settings.weights import MarginSettings, WeightSettings
from tests.support.paths import DOCS, ROOT

PAGES = sorted([*ROOT.glob("*.md"), *(DOCS).rglob("*.md")])


STUDY_FILE_KEYS: list[tuple[str, str, str, type[BaseModel]]] = [
    ("[study]", "", "study", AboutStudy),
    ("[sources.NAME]", "", "sources.dump", StackExchangeSettings),
    ("[sources.NAME]", "", "sources.table", TableSettings),
    ("[sources.NAME]", "columns.NAME.", "sources.table", TableColumnSettings),
    ("[sources.NAME]", "", "sources.answers", OpenAnswerSettings),
    ("[kinds.NAME]", "", "kinds.comparison", KindSettings),
    ("[funnel]", "", "funnel", FunnelSettings),
    ("[funnel]", "", "funnel.steps.1", StepSettings),
    ("[samples.NAME]", "", "samples.first", SampleSettings),
    ("[facets.NAME]", "", "facets.other", FacetSettings),
    ("[[rounds]]", "", "rounds.1", RoundSettings),
    ("[[rounds]]", "items.", "rounds.1", RoundItems),
    ("[[rounds]]", "where.", "rounds.1", ItemConditions),
    ("[[rounds]]", "practice.", "rounds.1", PracticeSettings),
    ("[results]", "", "results", ResultSettings),
    ("[attributes.NAME]", "", "attributes.new", AttributeSettings),
    ("[measures]", "", "measures", MeasureSettings),
    ("[[tables]]", "", "tables.0", PublishedTableSettings),
    ("[[findings]]", "", "findings.0", FindingSettings),
    ("[[findings]]", "", "quantities.0", ValueSettings),
    ("[weights.SURVEY]", "", "weights.tools", WeightSettings),
    ("[weights.SURVEY]", "", "weights.tools.margins.0", MarginSettings),
    ("[report]", "", "report", ReportSettings),
    ("[joint_display]", "", "joint_display", JointDisplaySettings),
    ("[joint_display]", "strands.", "joint_display", JointStrandSettings),
    ("[interviews]", "", "interviews", InterviewSettings),
    ("[store]", "", "store", StoreSettings),
    ("[mail]", "", "mail", MailSettings),
]
"""Each table of keys in the reference: its section, the prefix of its keys, where the examples belong, the settings."""
AROUND_EXAMPLES = """
funnel = { source = "dump", steps = [{ step = "candidates", closed = false }] }
rounds = [
    { round = "pilot", items = { after = "candidates" }, facets = ["topic"], raters = ["ada"] },
    { round = "second", items = { after = "candidates" }, facets = ["topic"], raters = ["ada"] },
]
tables = [{ table = "T1", title = "Topics", rows = ["topic"] }]
findings = [{ finding = "1", sentence = "{value}", values = [{ kind = "count" }] }]
quantities = [{ kind = "count" }]

[study]
name = "examples"
[families]
frameworks = ["pytorch", "tensorflow"]
[sources.dump]
kind = "stackexchange"
path = "dump"
[sources.posts]
kind = "table"
path = "posts.csv"
item = "{id}"
[sources.table]
kind = "table"
path = "other.csv"
item = "{id}"
[sources.answers]
kind = "open-answers"
survey = "tools"
[kinds.comparison]
title = ["versus"]
[strands.answers]
source = "posts"
[samples.first]
[facets.topic]
kind = "single"
codes = "topic"
[facets.relevance]
kind = "keep"
[facets.other]
kind = "text"
[results]
[attributes.framework]
column = "framework"
[measures]
[weights.tools]
method = "raking"
[[weights.tools.margins]]
by = "role"
targets = { research = 0.3, other = 0.7 }
[interviews]
[mail]
host = "mail.example.org"
sender = "study@example.org"
[report]
[joint_display]
[store]
"""
"""A study that has what the examples refer to."""
ROW = r"^\| `([^`]+)` \| .+? \| `(.+?` \| .+?) \|$"
"""A key, and its example together with what happens without it."""
AROUND_KEYS: dict[tuple[str, str], dict[str, Any]] = {
    ("funnel.steps.1", ""): {"step": "second"},
    ("funnel.steps.1", "step"): {"closed": False},
    ("facets.other", "codes"): {"kind": "single"},
    ("facets.other", "level"): {"kind": "single"},
    ("facets.other", "options"): {"kind": "single"},
    ("facets.other", "scale"): {"kind": "single"},
    ("facets.other", "kind"): {"codes": "topic"},
}
"""What an example needs around it and does not repeat."""


@pytest.mark.parametrize(
    ("heading", "prefix", "place", "model"), STUDY_FILE_KEYS, ids=lambda value: getattr(value, "__name__", "")
)
def test_every_key_of_the_study_file_has_a_valid_example_and_says_what_happens_without_it(
    heading: str, prefix: str, place: str, model: type[BaseModel]
) -> None:
    page = (DOCS / "reference" / "study-file.md").read_text("utf-8")
    section = page.split(f"\n## `{heading}`\n")[1].split("\n## ")[0]
    keys = [prefix + name for name in keys_of(model)]
    tables = [dict(re.findall(ROW, table, flags=re.MULTILINE)) for table in re.findall(r"(?:^\|.*\n)+", section, re.M)]
    rows = max(tables, key=lambda table: len(table.keys() & keys))
    for name, field in zip(keys_of(model), model.model_fields.values(), strict=True):
        key = prefix + name
        assert key in rows, f"{key} has no row with an example and what happens without it"
        lines, without = rows[key].split("` | ")
        example = tomllib.loads(lines.replace("` `", "\n"))
        assert name in str(example), key
        assert (without == "an error: it is required") == is_required(model, name), (key, field)
        study = tomllib.loads(AROUND_EXAMPLES)
        *path, last = (int(part) if part.isdigit() else part for part in place.split("."))
        table: Any = study
        for part in path:
            table = table[part]
        around = AROUND_KEYS.get((place, name), AROUND_KEYS.get((place, ""), {}))
        if isinstance(last, int):
            table[last : last + 1] = [{**(table[last] if last < len(table) else {}), **around, **example}]
        else:
            table[last] = {**table.get(last, {}), **around, **example}
        StudySettings.model_validate(study)


def is_required(model: type[BaseModel], name: str) -> bool:
    """Whether a key must be given; the kind of a source is needed even if its settings have a default."""
    return (issubclass(model, SourceSettings) and name == "kind") or next(
        field.is_required() for key, field in model.model_fields.items() if name in (key, field.alias)
    )


def test_the_reference_lists_every_section_of_the_study_file_and_what_happens_without_it() -> None:
    page = (DOCS / "reference" / "study-file.md").read_text("utf-8")
    sections = re.findall(r"^\| \[`\[+(\w+)[.\w]*\]+`\]\(#[\w-]+\) \| .+ \| .+ \|$", page, flags=re.MULTILINE)
    assert sections == keys_of(StudySettings)


def test_the_tables_of_the_reference_cover_all_settings_of_a_study_file() -> None:
    def walk(model: type[BaseModel]) -> set[type[BaseModel]]:
        inner = {part for field in model.model_fields.values() for part in list_models(field.annotation)}
        return {model}.union(*(walk(part) for part in inner))

    covered = {model for *_, model in STUDY_FILE_KEYS}
    assert walk(StudySettings) - {StudySettings, SourceSettings} <= covered
    assert {load_source_kind(name).settings for name in ("stackexchange", "table")} <= covered


def list_models(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for part in get_args(annotation) for model in list_models(part)]


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
