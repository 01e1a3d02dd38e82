"""An option has one name and one meaning on all commands; its old names still work."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from tests.support.command_line import quaestor
from typer.main import get_command

from quaestor.cli.main import OLD_OPTIONS, app, replace_old_options


@cache
def list_options() -> list[tuple[str, Any]]:
    """Returns each option with the name of its command."""
    return list(walk_options(get_command(app), ""))


def walk_options(command: Any, name: str) -> Iterator[tuple[str, Any]]:
    for part, inner in getattr(command, "commands", {}).items():
        yield from walk_options(inner, f"{name} {part}".strip())
    if not hasattr(command, "commands"):
        yield from ((name, parameter) for parameter in command.params if parameter.param_type_name == "option")


def find_clashes(pairs: Iterator[tuple[str, str, str]]) -> dict[str, dict[str, list[str]]]:
    """Returns what has several values in (key, value, command) rows, with the commands of each value."""
    groups: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for key, value, command in pairs:
        groups[key][value].append(command)
    return {key: dict(values) for key, values in groups.items() if len(values) > 1}


def test_what_an_option_sets_has_one_name_on_all_commands() -> None:
    assert not find_clashes((option.name, "/".join(option.opts), command) for command, option in list_options())


def test_a_name_sets_the_same_on_all_commands() -> None:
    assert not find_clashes((flag, option.name, command) for command, option in list_options() for flag in option.opts)


def test_a_name_takes_a_value_on_all_commands_or_on_none() -> None:
    assert not find_clashes(
        (flag, str(option.is_flag), command) for command, option in list_options() for flag in option.opts
    )


def test_the_same_sentence_explains_only_one_option() -> None:
    assert not find_clashes((option.help, option.opts[0], command) for command, option in list_options())


def test_a_reason_is_given_with_the_same_option() -> None:
    names = {option.opts[0] for _, option in list_options() if (option.help or "").startswith("The reason")}
    assert names == {"--reason"}


@pytest.mark.parametrize("command", sorted(OLD_OPTIONS))
def test_an_old_name_stands_for_an_option_of_its_command(command: str) -> None:
    names = {flag for name, option in list_options() if name == command for flag in option.opts}
    assert set(OLD_OPTIONS[command].values()) <= names
    assert not names & set(OLD_OPTIONS[command])


@pytest.mark.parametrize(
    ("arguments", "replaced"),
    [
        ("ratings import pilot a.csv --rater ada", "ratings import pilot a.csv --as ada"),
        ("survey decide tools 1f --drop --why=fast", "survey decide tools 1f --drop --reason=fast"),
        ("survey claims release tools --most 3", "survey claims release tools --count 3"),
        ("round add more --rater ada", "round add more --rater ada"),
        ("phrases unify main a -- --to", "phrases unify main a -- --to"),
        ("--version", "--version"),
    ],
)
def test_an_old_name_is_replaced_only_on_its_command(arguments: str, replaced: str) -> None:
    assert replace_old_options(arguments.split()) == replaced.split()


def test_an_old_name_works_and_the_help_has_the_new_one() -> None:
    refused = quaestor("sample", "--after", "nowhere", "--by", "colour")
    assert "No such option" not in refused.stderr
    shown = quaestor("ratings", "import", "--help").stdout
    assert "--as" in shown
    assert "--rater" not in shown
