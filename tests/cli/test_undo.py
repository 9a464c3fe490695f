"""`presscheck outbox history` and `outbox undo`: output and exit codes."""

from typing import Any

import pytest
from tests.cli.shell import Shell

pytestmark = pytest.mark.service(shared=False)


def texts(shell: Shell) -> list[str]:
    return [one["body"]["markdown"].strip() for one in shell.json("cr", "show", "api#5")["comments"]]


def newest(shell: Shell) -> dict[str, Any]:
    return shell.json("outbox", "history")[0]


def test_comment_is_listed_and_undone(shell: Shell) -> None:
    shell.ok("cr", "comment", "api#5", "--body", "Too harsh")
    entry = newest(shell)
    assert (entry["state"], entry["change"], entry["undoable"]) == ("sent", "add comment", True)
    assert (entry["undo"], entry["place"]) == ("Deletes “Too harsh”", "#5 Rewrite the auth guide")
    assert entry["request"].startswith("POST /spaces/")
    number = str(entry["id"])
    assert f"{number}\t" in shell.ok("outbox", "history")
    unasked = shell.run("outbox", "undo", number)
    assert (unasked.exit_code, "pass --yes" in unasked.stderr) == (2, True)
    assert "Too harsh" in texts(shell)
    ran = shell.run("outbox", "undo", number, "--yes")
    assert (ran.exit_code, ran.stdout) == (0, "")
    assert "Undone: add comment." in ran.stderr
    assert "Too harsh" not in texts(shell)
    again = shell.run("outbox", "undo", number, "--yes")
    assert (again.exit_code, "it is undone" in again.stderr) == (2, True)
    assert shell.run("outbox", "undo", "999", "--yes").exit_code == 2
