"""Pending reviews on the command line."""

import json
from pathlib import Path

from tests.cli.shell import signed_in
from tests.running_service import RunningService


def test_a_pending_review_is_written_and_submitted_on_the_command_line(service: RunningService, tmp_path: Path) -> None:
    shell = signed_in(tmp_path, service)
    nothing = shell.run("cr", "review", "api#5", "--submit", "--yes")
    assert "your pending review of #5 has no comments" in nothing.stderr
    assert "choose --approve" in shell.run("cr", "review", "api#5").stderr
    assert "--page" in shell.run("cr", "review", "api#5", "--approve", "--page", "x").stderr
    assert "use --comment TEXT" in shell.run("cr", "review", "api#5", "--start", "--body", "x").stderr
    shell.ok("cr", "review", "api#5", "--start")
    ran = shell.run("cr", "review", "api#5", "--comment", "One", "--comment", "Two")
    assert ran.stdout.split() == ["1", "2"]
    assert "2 comments in your pending review of #5" in ran.stderr
    thread = shell.json("cr", "show", "guides#3")["comments"][0]["id"]
    held = json.loads(shell.ok("cr", "reply", "guides#3", thread, "--pending", "--body", "Elsewhere", "--json"))
    assert held == {"outbox": 3}
    assert "waiting:1 Robin Achterberg (held)" in shell.ok("cr", "show", "api#5")
    assert [row["state"] for row in shell.json("outbox", "list")] == ["collected"] * 3
    assert "3 comments held until you submit" in shell.run("outbox", "send").stderr
    only = shell.run("cr", "review", "api#5", "--approve")
    assert "Your pending review still holds 2 comments" in only.stderr
    sent = shell.run("cr", "review", "api#5", "--submit", "--yes")
    assert "Review submitted: 2 comments." in sent.stderr
    [row] = shell.json("outbox", "list")
    assert row["id"] == 3, "the review of another change request is still pending"
    texts = [one["body"]["markdown"].strip() for one in shell.json("cr", "show", "api#5")["comments"]]
    assert {"One", "Two"} <= set(texts)
