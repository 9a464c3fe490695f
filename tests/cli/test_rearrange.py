"""`presscheck cr drop`, `cr copy` and `cr move` against the real service: output, effects and exit codes."""

import json

import pytest
from tests.cli.shell import Shell


def begun(shell: Shell, subject: str, *pages: tuple[str, str]) -> str:
    """A change request that replaces the texts of these pages of the command line guide."""
    which = shell.ok("cr", "create", "cli", "--subject", subject).strip()
    for page, text in pages:
        shell.ok("cr", "edit", which, "--page", page, "--body", text)
    return which


def titles(shell: Shell, which: str) -> list[str]:
    """The titles of the changed pages, sorted."""
    return sorted({change["page"]["title"] for change in shell.json("cr", "diff", which)})


@pytest.mark.slow
def test_pages_are_copied_moved_and_dropped(shell: Shell) -> None:
    which = begun(shell, "Both", ("install", "# Install\n\nWith one hand."), ("routes", "# routes\n\nWith a token."))
    assert titles(shell, which) == ["Install", "routes"]
    planned = shell.ok("cr", "copy", which, "install", "--new", "Install only", "--dry-run")
    assert planned == "Install: its edit is added\n"
    copied = shell.json("cr", "copy", which, "install", "--new", "Install only")
    assert (copied["kind"], copied["target"]["subject"]) == ("copy", "Install only")
    assert [step["what"] for step in copied["copied"]] == ["its edit is added"]
    target = f"cli#{copied['target']['number']}"
    assert titles(shell, target) == ["Install"]
    moved = shell.run("cr", "move", which, "routes", "--to", str(copied["target"]["number"]))
    assert (moved.exit_code, moved.stdout.strip()) == (0, copied["target"]["id"])
    assert moved.stderr == f"Moved the changes to 1 page to #{copied['target']['number']}.\n"
    assert (titles(shell, target), titles(shell, which)) == (["Install", "routes"], ["Install"])
    refused = shell.run("cr", "drop", which, "install")
    assert refused.exit_code == 2, "without a terminal, --yes must be given"
    assert "Install: goes back to main's text" in refused.stderr
    planned = json.loads(shell.ok("cr", "drop", which, "install", "--dry-run", "--json"))
    assert [step["title"] for step in planned["dropped"]] == ["Install"]
    assert titles(shell, which) == ["Install"], "a dry run sends nothing"
    shell.ok("cr", "drop", which, "install", "--yes")
    assert titles(shell, which) == []


@pytest.mark.slow
def test_what_is_not_possible_has_a_reason_and_an_exit_code(shell: Shell) -> None:
    which = begun(shell, "One", ("install", "# Install\n\nWith one hand."))
    other = begun(shell, "Other", ("install", "# Install\n\nWith both hands."))
    refused = shell.run("cr", "copy", which, "install", "--to", other)
    assert refused.exit_code == 6
    number = other.partition("#")[2]
    assert f"Install: #{number} has other changes at the same place, line" in refused.stderr
    assert "With both hands." in shell.ok("cr", "diff", other, "--format", "source")
    assert shell.run("cr", "drop", which, "routes", "--yes").exit_code == 2, "it is not changed"
    assert shell.run("cr", "copy", which, "install").exit_code == 2, "neither --to nor --new"
    assert shell.run("cr", "copy", which, "install", "--to", other, "--new", "Third").exit_code == 2
    assert shell.run("cr", "move", which, "install", "--to", which).exit_code == 1
    shell.ok("cr", "archive", other)
    archived = shell.run("cr", "move", which, "install", "--to", other)
    assert (archived.exit_code, f"#{number} is archived" in archived.stderr) == (1, True)
    assert titles(shell, which) == ["Install"]


def test_offline_nothing_is_queued(shell: Shell) -> None:
    which = begun(shell, "Alone", ("install", "# Install\n\nWith one hand."))
    refused = shell.run("--offline", "cr", "drop", which, "install", "--yes")
    assert refused.exit_code == 3
    assert shell.json("outbox", "list") == []
