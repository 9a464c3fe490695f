"""`mute`, `unmute`, `follow` and `unfollow` of change requests, threads and spaces, against the real service."""

from typing import Any

import pytest
from tests.cli.shell import Shell
from tests.running_service import RunningService


def inbox(shell: Shell, view: str = "needs-me") -> Any:
    return shell.json("inbox", "--view", view)[0]


def test_mute_works_offline(shell: Shell, service: RunningService) -> None:
    assert inbox(shell)["counts"]["needs-me"] == 7
    shell.ok("cr", "show", "api#5")
    service.stop()
    try:
        shell.ok("--offline", "cr", "mute", "api#5")
        assert shell.json("--offline", "inbox")[0]["counts"]["needs-me"] == 6
    finally:
        service.start()


@pytest.mark.slow
def test_change_requests_threads_and_spaces_are_muted(shell: Shell) -> None:
    ran = shell.run("cr", "mute", "api#5", "guides#3")
    assert (ran.exit_code, ran.stdout) == (0, "")
    assert ran.stderr == "#5 Rewrite the auth guide: muted.\n#3 Fix typos in quickstart: muted.\n"
    found = inbox(shell, "all-open")
    assert found["counts"]["needs-me"] == 5
    states = {request["subject"]: request["notifications"] for request in found["changeRequests"]}
    assert (states["Rewrite the auth guide"], states["Limits per workspace"]) == ("muted", None)
    [unmuted] = shell.json("cr", "unmute", "api#5")
    assert (unmuted["space"], unmuted["thread"], unmuted["notifications"]) == ("api", None, None)
    comment = shell.json("cr", "show", "api#5")["comments"][0]
    ran = shell.run("cr", "mute", "api#5", "--thread", comment["id"])
    name = comment["postedBy"]["displayName"]
    assert (ran.exit_code, ran.stderr) == (0, f"#5 Rewrite the auth guide: thread of {name}: muted.\n")
    unknown = shell.run("cr", "mute", "api#5", "--thread", "nowhere")
    assert (unknown.exit_code, "nowhere is not a comment on #5" in unknown.stderr) == (2, True)
    assert inbox(shell)["counts"]["needs-me"] == 6, "the change request is not muted"
    assert shell.run("space", "mute", "API docs").stderr == "API docs: muted.\n"
    assert shell.run("cr", "unmute", "api#5").stderr == "#5 Rewrite the auth guide: no longer muted.\n"
    assert inbox(shell)["counts"]["needs-me"] == 4
    involved = {one["id"] for one in inbox(shell, "involved")["changeRequests"]}
    other = next(one["id"] for one in found["changeRequests"] if one["id"] not in involved)
    before = inbox(shell)["counts"]["involved"]
    shell.ok("cr", "follow", other)
    assert inbox(shell)["counts"]["involved"] == before + 1
