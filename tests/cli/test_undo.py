"""`presscheck outbox history` and `outbox undo`: exit codes, offline, with others."""

import asyncio
from typing import Any

import pytest
from tests.cli.shell import Shell
from tests.running_service import RunningService
from tests.service_users import somebody

from presscheck.api.change_requests import GetChangeRequest, UpdateChangeRequest

pytestmark = pytest.mark.service(shared=False)

AUTH = {"space_id": "api", "change_request_id": "5"}


def texts(shell: Shell) -> list[str]:
    return [one["body"]["markdown"].strip() for one in shell.json("cr", "show", "api#5")["comments"]]


def newest(shell: Shell) -> dict[str, Any]:
    return shell.json("outbox", "history")[0]


def test_a_comment_is_listed_and_undone(shell: Shell) -> None:
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


@pytest.mark.slow
def test_what_cannot_be_undone_has_a_reason(shell: Shell) -> None:
    shell.ok("cr", "review", "api#5", "--approve")
    entry = newest(shell)
    assert entry["undo"].startswith("no: a review cannot be withdrawn")
    ran = shell.run("outbox", "undo", str(entry["id"]), "--yes")
    assert (ran.exit_code, "a review cannot be withdrawn" in ran.stderr) == (2, True)


async def changed_by_mia(service: RunningService) -> str:
    async with somebody(service, "mia") as (mia,):
        await mia.send(UpdateChangeRequest(**AUTH, subject="By Mia"))
        return (await mia.send(GetChangeRequest(**AUTH))).subject


@pytest.mark.slow
def test_what_others_changed_since_is_kept(shell: Shell, service: RunningService) -> None:
    shell.ok("cr", "edit", "api#5", "--subject", "By me")
    assert asyncio.run(changed_by_mia(service)) == "By Mia"
    number = shell.ok("outbox", "history").split("\t")[0]
    ran = shell.run("outbox", "undo", number, "--yes")
    assert ran.exit_code == 5
    assert "changed by others since" in ran.stderr
    assert ("By me" in ran.stderr, "By Mia" in ran.stderr) == (True, True)
    assert shell.json("cr", "show", "api#5")["changeRequest"]["subject"] == "By Mia"


@pytest.mark.slow
def test_an_undo_is_queued_offline_and_sent_later(shell: Shell, service: RunningService) -> None:
    shell.ok("cr", "comment", "api#5", "--body", "From the train")
    number = str(newest(shell)["id"])
    service.stop()
    ran = shell.run("outbox", "undo", number, "--yes")
    assert (ran.exit_code, "queued in the outbox" in ran.stderr) == (0, True)
    entry = newest(shell)
    assert (entry["state"], entry["undo"]) == ("sent", "no: its undo is in the outbox")
    service.start()
    shell.ok("outbox", "send")
    assert "From the train" not in texts(shell)
    states = [(one["change"], one["state"]) for one in shell.json("outbox", "history")]
    assert states == [("delete comment", "sent"), ("add comment", "undone")]


@pytest.mark.slow
def test_a_read_only_profile_undoes_nothing(shell: Shell) -> None:
    shell.ok("cr", "comment", "api#5", "--body", "Stays")
    number = str(newest(shell)["id"])
    shell.config.write_text("[profiles.default]\nread_only = true\n")
    ran = shell.run("outbox", "undo", number, "--yes")
    assert (ran.exit_code, "read-only" in ran.stderr) == (2, True)
    assert "Stays" in texts(shell)
