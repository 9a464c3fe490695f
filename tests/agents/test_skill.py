"""The skill for agents: `presscheck skill` prints it, and it names every verb."""

from tests.cli.shell import Shell
from tests.manual import DOCS

from presscheck.cli.agent.verb_table import VERBS

SKILL = DOCS / "agents" / "SKILL.md"


def test_the_skill_is_printed(shell: Shell) -> None:
    header, _, page = shell.ok("skill").partition("\n---\n\n")
    assert header.startswith("---\nname: presscheck\ndescription: ")
    assert page == SKILL.read_text("utf-8")


def test_the_skill_and_the_manual_name_every_verb() -> None:
    for page in (SKILL, DOCS / "agents" / "README.md"):
        text = page.read_text("utf-8")
        assert not [verb.name for verb in VERBS if verb.name not in text and verb.name != "send_drafts"]
