"""Builds the commands once in the process that others are forked from: it takes most of a short command."""

from __future__ import annotations

from functools import cache

import typer.main

from quaestor.cli.main import app

typer.main.get_command = cache(typer.main.get_command)
typer.main.get_command(app)
