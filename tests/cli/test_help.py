"""The help of every command, compared with `help.txt`; `PRESSCHECK_UPDATE_GOLDEN=1` rewrites that file."""

import os

import click
import pytest
from tests.cli.help import GOLDEN, commands, help_pages, summary

LONGEST_SUMMARY = 60


@pytest.mark.slow
def test_the_help_pages_match_the_golden_file() -> None:
    text = "\n".join(help_pages())
    if os.environ.get("PRESSCHECK_UPDATE_GOLDEN"):
        GOLDEN.write_text(text, "utf-8")
    assert text == GOLDEN.read_text("utf-8"), "run this test with PRESSCHECK_UPDATE_GOLDEN=1 and look at the diff"


def test_summaries_fit_into_a_list() -> None:
    summaries = {context.command_path: summary(context) for context in commands()}
    assert len(summaries) > 300
    wrong = {path: text for path, text in summaries.items() if not 0 < len(text) <= LONGEST_SUMMARY or text[-1:] != "."}
    assert wrong == {}


def test_every_option_has_help() -> None:
    options = [
        (context.command_path, option)
        for context in commands()
        for option in context.command.params
        if isinstance(option, click.Option) and not option.hidden
    ]
    assert len(options) > 500
    assert [(path, option.name) for path, option in options if not option.help] == []
