"""Writes docs/reference/command-line.md from the commands themselves: `make docs`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from typer.main import get_command

from quaestor.cli.main import app

HEAD = """# The command line

`quaestor COMMAND --help` prints the same text. Results go to standard output, messages to standard error.

| exit code | meaning |
| --- | --- |
| 0 | done |
| 1 | the answer is no, for example a check that found an error |
| 2 | the call or its input is wrong; one sentence says what to do |
| 130 | interrupted |

Run commands anywhere inside a study folder, or name the folder with `--study DIR`.
"""


def section(command: Any, name: str) -> list[str]:
    """One command: what it does, examples, arguments."""
    first, *rest = (command.help or "").strip().split("\n\n")
    lines = [f"## `{name}`", "", first.replace("\n", " "), ""]
    examples = [line.strip().removeprefix("Example: ") for part in rest for line in part.splitlines()]
    if examples := [line for line in examples if line and line not in ("Example:", "Examples:")]:
        lines += ["```", *examples, "```", ""]
    lines += ["| argument | meaning |", "| --- | --- |"]
    for parameter in command.params:
        if parameter.name != "help":
            is_option = parameter.param_type_name == "option"
            label = "/".join(parameter.opts + parameter.secondary_opts) if is_option else parameter.metavar
            lines.append(f"| `{label or parameter.name.upper()}` | {getattr(parameter, 'help', None) or '–'} |")
    return [*lines, ""]


def sections(command: Any, name: str) -> list[str]:
    inner = getattr(command, "commands", None)
    if inner is None:
        return section(command, name)
    return [line for part, one in inner.items() for line in sections(one, f"{name} {part}")]


if __name__ == "__main__":
    target = Path(__file__).parent / "reference" / "command-line.md"
    target.write_text("\n".join([HEAD, *sections(get_command(app), "quaestor")]), encoding="utf-8")
