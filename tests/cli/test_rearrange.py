"""`presscheck cr drop`, `cr copy` and `cr move` against the real service: output, effects and exit codes."""

import json

from tests.cli.shell import Shell


def begun(shell: Shell) -> str:
    """Create a change request that replaces the text of a page of the command line guide."""
    which = shell.ok("cr", "create", "cli", "--subject", "One").strip()
    shell.ok("cr", "edit", which, "--page", "install", "--body", "# Install\n\nWith one hand.")
    return which


def titles(shell: Shell, which: str) -> list[str]:
    """Return the sorted titles of the changed pages."""
    return sorted({change["page"]["title"] for change in shell.json("cr", "diff", which)})


def test_plan_is_shown_and_not_sent_without_confirmation(shell: Shell) -> None:
    which = begun(shell)
    planned = shell.ok("cr", "copy", which, "install", "--new", "Install only", "--dry-run")
    assert planned == "Install: its edit is added\n"
    assert shell.run("cr", "copy", which, "install").exit_code == 2, "neither --to nor --new"
    refused = shell.run("cr", "drop", which, "install")
    assert refused.exit_code == 2, "without a terminal, --yes must be given"
    assert "Install: goes back to main's text" in refused.stderr
    planned = json.loads(shell.ok("cr", "drop", which, "install", "--dry-run", "--json"))
    assert [step["title"] for step in planned["dropped"]] == ["Install"]
    assert titles(shell, which) == ["Install"], "nothing was sent"


def test_drop_is_not_queued_offline(shell: Shell) -> None:
    which = begun(shell)
    refused = shell.run("--offline", "cr", "drop", which, "install", "--yes")
    assert refused.exit_code == 3
    assert shell.json("outbox", "list") == []
