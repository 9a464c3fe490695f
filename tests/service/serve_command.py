"""Runs the command line in a process of its own."""

from __future__ import annotations

from click.testing import CliRunner, Result

from presscheck.cli.main import command


def run(*words: str) -> Result:
    return CliRunner().invoke(command, ["serve", *words])
