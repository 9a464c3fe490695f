"""Every command of the skill runs, in its order, against the sample workspace."""

import json
from pathlib import Path

import pytest
from tests.cli.shell import Shell
from tests.docs.command_lines import commands_in
from tests.docs.manual_pages import blocks_of
from tests.manual import DOCS

from presscheck.cli.agent.verb_table import VERBS

SKILL = DOCS / "agents" / "SKILL.md"
COMMANDS = [words for block in blocks_of(SKILL) if block.type == "fence" for words in commands_in(block.content)]


def test_the_skill_is_printed(shell: Shell) -> None:
    header, _, page = shell.ok("skill").partition("\n---\n\n")
    assert header.startswith("---\nname: presscheck\ndescription: ")
    assert page == SKILL.read_text("utf-8")


def test_the_skill_and_the_manual_name_every_verb() -> None:
    for page in (SKILL, DOCS / "agents" / "README.md"):
        text = page.read_text("utf-8")
        assert not [verb.name for verb in VERBS if verb.name not in text and verb.name != "send_drafts"]


@pytest.mark.slow
@pytest.mark.service(shared=False)
def test_every_command_of_the_skill_runs(shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert len(COMMANDS) > 15
    for words in COMMANDS:
        ran = shell.run(*words)
        assert ran.exit_code == 0, (words, ran.stderr)
        if words[0] == "agent":
            json.loads(ran.stdout)
    states = {(row["state"], row["agent"]) for row in shell.json("outbox", "list")}
    assert states == {("collected", "Reviewer")}
