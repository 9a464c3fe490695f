"""Generates the manual page `presscheck(1)` from the commands and the manual."""

from __future__ import annotations

import re

import click
from tests.root import ROOT

from presscheck import __version__
from presscheck.cli.exit_codes import EXIT_CODES

CONFIGURATION = ROOT / "docs" / "configuration.md"
_ROW = re.compile(r"^\| (.+?) \| (.+?) \|", re.MULTILINE)


def man_page(root: click.Context, commands: list[tuple[click.Context, list[click.Context]]]) -> str:
    """Return the page with the macros of man(7).

    Args:
        root: the context of the root command.
        commands: the contexts of the commands below it, each with the contexts of its own commands.
    """
    lines = [
        f'.TH PRESSCHECK 1 "" "presscheck {__version__}" "User Commands"',
        *(".SH NAME", rf"presscheck \- {_escaped(_first_sentence(root))}"),
        *(".SH SYNOPSIS", ".B presscheck", _escaped("[OPTIONS] [COMMAND] [ARGUMENTS]")),
        *(".SH DESCRIPTION", *_paragraphs(root.command.help or "")),
        "Each command has a help text: presscheck COMMAND \\-\\-help.",
        *(".SH OPTIONS", *_options(root)),
        ".SH COMMANDS",
    ]
    for context, subcommands in commands:
        lines += _entry(context)
        if context.info_name != "api":  # its operations are listed separately
            lines += (
                [".RS", *(line for subcommand in subcommands for line in _entry(subcommand)), ".RE"]
                if subcommands
                else []
            )
    text = CONFIGURATION.read_text("utf-8")
    lines += [".SH ENVIRONMENT", *_table(text, "Environment variables")]
    lines += [".SH FILES", *_table(text, "Files and places")]
    lines += [".SH EXIT STATUS"]
    for code, meaning in EXIT_CODES.items():
        lines += [".TP", f".B {code}", _escaped(meaning)]
    return "\n".join(lines) + "\n"


def _first_sentence(context: click.Context) -> str:
    return context.command.get_short_help_str(limit=1000).rstrip(".").lower()


def _entry(context: click.Context) -> list[str]:
    words = context.command_path.removeprefix("presscheck ")
    return [".TP", f".B {_escaped(words)}", _escaped(context.command.get_short_help_str(limit=1000))]


def _options(context: click.Context) -> list[str]:
    lines: list[str] = []
    for option in context.command.get_params(context):
        record = option.get_help_record(context)
        if record:
            lines += [".TP", f".B {_escaped(record[0])}", _escaped(record[1])]
    return lines


def _paragraphs(text: str) -> list[str]:
    return [line for part in text.split("\n\n") for line in (_escaped(" ".join(part.split())), ".PP")]


def _table(text: str, heading: str) -> list[str]:
    """Return entries for the first two columns of the first table below a heading of the manual."""
    section = text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    lines: list[str] = []
    for first, second in _ROW.findall(section)[1:]:
        lines += [".TP", f".B {_escaped(first.replace('`', ''))}", _escaped(second.replace("`", ""))]
    return lines


def _escaped(text: str) -> str:
    r"""Escape a line of text for roff: `\` and `-`, and a dot or an apostrophe at the beginning."""
    line = text.replace("\\", r"\e").replace("-", r"\-")
    return rf"\&{line}" if line.startswith((".", "'")) else line
