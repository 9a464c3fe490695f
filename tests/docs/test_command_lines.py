"""The program accepts every command line in the manual and in the Markdown files at the root."""

from __future__ import annotations

import shlex
from pathlib import Path

from tests.docs.command_lines import PROGRAM, commands_in, problem
from tests.docs.manual_pages import FILES, blocks_of, inlines_of
from tests.table import each_case

SHELL = ("console", "bash")
"""Languages of code blocks with command lines."""
LANGUAGES = (*SHELL, "python", "toml", "text")
"""Languages of code blocks. A `text` block contains no command line, except for the usage in generated pages."""


def scripts_in(file: Path) -> list[str]:
    """Return the contents of the shell blocks of a file."""
    return [block.content for block in blocks_of(file) if block.type == "fence" and block.info.strip() in SHELL]


@each_case("file", FILES)
def test_every_block_names_its_language(file: Path) -> None:
    assert not [block for block in blocks_of(file) if block.type == "code_block"]
    languages = {block.info.strip() for block in blocks_of(file) if block.type == "fence"}
    assert languages <= set(LANGUAGES)
    texts = [block.content for block in blocks_of(file) if block.type == "fence" and block.info.strip() == "text"]
    is_made = file.parent.name == "cli" and file.name != "README.md"
    assert is_made or not [text for text in texts if PROGRAM + " " in text]


@each_case("file", FILES)
def test_every_command_line_of_a_block_is_accepted(file: Path) -> None:
    found = [words for script in scripts_in(file) for words in commands_in(script)]
    problems = [text for words in found if (text := problem(words))]
    assert not problems, "\n".join(problems)


@each_case("file", FILES)
def test_every_command_in_a_line_of_text_exists(file: Path) -> None:
    spans = [" ".join(token.content.split()) for token in inlines_of(file) if token.type == "code_inline"]
    problems = [
        text
        for span in spans
        if span.startswith(PROGRAM + " ") and (text := problem(shlex.split(span)[1:], is_whole=False))
    ]
    assert not problems, "\n".join(problems)


def test_code_blocks_contain_command_lines() -> None:
    assert sum(1 for file in FILES for script in scripts_in(file) for _ in commands_in(script)) > 80


@each_case(
    ("script", "commands"),
    [
        ("presscheck", [[]]),
        ("presscheck inbox  # the inbox", [["inbox"]]),
        ("presscheck cr show guides#3", [["cr", "show", "guides#3"]]),
        ("A=1 B_C='x y' presscheck inbox", [["inbox"]]),
        ("presscheck inbox --json | jq -r '.[] | .x' && presscheck sync", [["inbox", "--json"], ["sync"]]),
        ("presscheck cr comment a#1 -F - < file.md", [["cr", "comment", "a#1", "-F", "-"]]),
        ('eval "$(presscheck completion bash)"', [["completion", "bash"]]),
        ("presscheck cr merge a#1 \\\n  --yes", [["cr", "merge", "a#1", "--yes"]]),
        ("make presscheck", []),
    ],
)
def test_command_lines_are_found_in_a_script(script: str, commands: list[list[str]]) -> None:
    assert list(commands_in(script)) == commands


@each_case(
    ("line", "reason"),
    [
        ("cr merge guides#3 --nope", "--nope"),
        ("cr merge", "Missing argument"),
        ("cr merge guides#3 more", "unexpected: more"),
        ("cr nope guides#3", "no command nope"),
        ("cr", "it needs a command"),
        ("cr create guides", "Missing option"),
        ("cr diff guides#3 --format nice", "nice"),
        ("cr diff guides#3 -U many", "many"),
        ("serve --workers 0", "0"),
        ("--nope inbox", "--nope"),
        ("inbox --interval", "--interval"),
        ("api get-nothing", "no command get-nothing"),
    ],
)
def test_invalid_command_line_is_reported(line: str, reason: str) -> None:
    assert reason in (problem(shlex.split(line)) or "")


@each_case(
    "line",
    [
        "",
        "--offline search a b",
        "cr diff guides#3 -U 0 --format split",
        "api",
        "serve",
        "serve --database x token create ana",
        "inbox --view 'Stale API'",
        "cr review guides#3 --approve -F notes.md",
        "demo --docs here --docs there",
    ],
)
def test_valid_command_line_is_accepted(line: str) -> None:
    assert problem(shlex.split(line)) is None


def test_sentence_may_name_a_command_without_its_arguments() -> None:
    assert problem(["cr", "merge", "--if-clean"], is_whole=False) is None
    assert problem(["cr"], is_whole=False) is None
    assert "--nope" in (problem(["cr", "merge", "--nope"], is_whole=False) or "")
