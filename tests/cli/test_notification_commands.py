"""`mute`, `unmute`, `follow` and `unfollow` of change requests, threads and spaces, against the real service."""

from typing import Any

import pytest
from tests.cli.shell import Shell
from tests.running_service import RunningService


def inbox(shell: Shell, view: str = "needs-me") -> Any:
    return shell.json("inbox", "--view", view)[0]


@pytest.mark.slow
def test_a_muted_request_leaves_the_inbox(shell: Shell) -> None:
    assert inbox(shell)["counts"]["needs-me"] == 7
    ran = shell.run("cr", "mute", "api#5", "guides#3")
    assert (ran.exit_code, ran.stdout) == (0, "")
    assert ran.stderr == "#5 Rewrite the auth guide: muted.\n#3 Fix typos in quickstart: muted.\n"
    found = inbox(shell, "all-open")
    assert (found["counts"]["needs-me"], found["counts"]["all-open"]) == (5, 10)
    states = {request["subject"]: request["notifications"] for request in found["changeRequests"]}
    assert states["Rewrite the auth guide"] == "muted"
    assert states["Limits per workspace"] is None
    lines = shell.ok("inbox", "--view", "all-open").splitlines()
    assert [line.lstrip().startswith("⊘") for line in lines if "Rewrite the auth guide" in line] == [True]
    [unmuted] = shell.json("cr", "unmute", "api#5")
    assert (unmuted["space"], unmuted["thread"], unmuted["notifications"]) == ("api", None, None)
    assert inbox(shell)["counts"]["needs-me"] == 6


@pytest.mark.slow
def test_a_followed_request_is_involved_and_a_saved_view_finds_it(shell: Shell) -> None:
    before = inbox(shell)["counts"]["involved"]
    shell.config.write_text('[[views]]\nname = "Followed"\nquery = "is:followed"\n')
    requests = inbox(shell, "all-open")["changeRequests"]
    involved = {request["id"] for request in inbox(shell, "involved")["changeRequests"]}
    other = next(request["id"] for request in requests if request["id"] not in involved)
    shell.ok("cr", "follow", other)
    assert inbox(shell)["counts"]["involved"] == before + 1
    assert [request["id"] for request in inbox(shell, "Followed")["changeRequests"]] == [other]
    shell.ok("cr", "unfollow", other)
    assert inbox(shell)["counts"]["involved"] == before


@pytest.mark.slow
def test_a_muted_space(shell: Shell) -> None:
    assert shell.run("space", "mute", "API docs").stderr == "API docs: muted.\n"
    assert inbox(shell)["counts"]["needs-me"] == 4
    assert shell.run("cr", "unmute", "api#5").stderr == "#5 Rewrite the auth guide: no longer muted.\n"
    assert inbox(shell)["counts"]["needs-me"] == 5
    assert shell.json("space", "unmute", "api")[0]["notifications"] is None
    assert inbox(shell)["counts"]["needs-me"] == 7


@pytest.mark.slow
def test_a_thread(shell: Shell) -> None:
    comment = shell.json("cr", "show", "api#5")["comments"][0]
    ran = shell.run("cr", "mute", "api#5", "--thread", comment["id"])
    assert (ran.exit_code, ran.stderr) == (
        0, f"#5 Rewrite the auth guide: thread of {comment['postedBy']['displayName']}: muted.\n"
    )  # fmt: skip
    assert inbox(shell)["counts"]["needs-me"] == 7, "the change request is not muted"
    [state] = shell.json("cr", "unmute", "api#5", "--thread", comment["id"])
    assert (state["thread"], state["notifications"]) == (comment["id"], None)
    unknown = shell.run("cr", "mute", "api#5", "--thread", "nowhere")
    assert (unknown.exit_code, unknown.stdout) == (2, "")
    assert "nowhere is not a comment on #5 Rewrite the auth guide" in unknown.stderr
    assert shell.run("cr", "mute", "api#5", "api#4", "--thread", comment["id"]).exit_code == 2
    assert shell.run("cr", "mute").exit_code == 2


def test_offline(shell: Shell, service: RunningService) -> None:
    assert inbox(shell)["counts"]["needs-me"] == 7
    shell.ok("cr", "show", "api#5")
    service.stop()
    try:
        shell.ok("--offline", "cr", "mute", "api#5")
        assert shell.json("--offline", "inbox")[0]["counts"]["needs-me"] == 6
    finally:
        service.start()
