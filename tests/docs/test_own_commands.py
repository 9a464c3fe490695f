"""The example commands in the manual are valid with every key preset and run the programs that they name."""

import asyncio
from pathlib import Path

import pytest
from tests.docs.manual_pages import DOCS

from presscheck.config.own_commands import OwnCommand
from presscheck.config.validation import read_commands
from presscheck.engine.child_programs import run_program
from presscheck.engine.own_commands import address_of, argument_list, clean_values, directory_of
from presscheck.tui.key_settings import PRESETS, load_keymap

VALUES = {
    "title": "Rename keys; $(rm -rf ~)",
    "number": "7",
    "url": "https://docs.example/7",
    "path": "guides/start",
    "line": "3",
    "selection": "$(x)",
}
ARGUMENTS = {
    "Count words": "wc [-w] [guides/start.md]",
    "Edit in folder": "vim [+3] [--] [guides/start.md]",
    "Tell the team": "team-chat [--text] [#7 Rename keys; $(rm -rf ~): https://docs.example/7]",
    "Look up": "dict [$(x)]",
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    page = (DOCS / "guide" / "own-commands.md").read_text("utf-8")
    block = page.partition("```toml\n")[2].partition("```")[0]
    file = tmp_path / "config.toml"
    file.write_text(block)
    return file


@pytest.mark.parametrize("preset", PRESETS)
def test_the_examples_are_valid_in_every_preset(file: Path, preset: str) -> None:
    file.write_text(f'{file.read_text()}\n[keys]\npreset = "{preset}"\n')
    keymap, errors = load_keymap(file)
    assert errors == ()
    assert {command.title for command in keymap.own_commands} == {"Open ticket", *ARGUMENTS}


def test_examples_run_the_programs_that_they_name(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "a folder"
    folder.mkdir()
    for name in ("wc", "vim", "team-chat", "dict"):
        program = tmp_path / name
        program.write_text('#!/bin/sh\nprintf "%s" "${0##*/}"; printf " [%s]" "$@"\n')
        program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    printed: dict[str, str] = {}

    async def run(command: OwnCommand, values: dict[str, str]) -> str:
        words = argument_list(command, values)
        return (await run_program(command.name, words, directory_of(command, values), 30)).output

    for command in read_commands(file)[0]:
        values = clean_values(command, {**VALUES, "folder": str(folder)})
        if command.is_address:
            assert address_of(command, values).endswith("?q=Rename%20keys%3B%20%24%28rm%20-rf%20~%29")
        else:
            printed[command.name] = asyncio.run(run(command, values))
    assert printed == ARGUMENTS
