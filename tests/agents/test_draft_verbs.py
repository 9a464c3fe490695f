"""Drafts of agents: held in the local outbox under the name of the agent until they are accepted or sent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.agents.agent_client import ShellBeside, agent, call, outbox_of, refusal
from tests.cli.shell import Shell

from presscheck.engine.review import agent_drafts


@pytest.fixture
def person(tmp_path: Path, shell: Shell) -> Shell:
    """A second shell with its own outbox, which shows the state of the service without drafts."""
    return ShellBeside(tmp_path / "person", shell.env)


@pytest.fixture
def which(person: Shell) -> str:
    """A new change request in the API docs."""
    return f"api#{person.json('cr', 'create', 'api', '--subject', 'With agents')['number']}"


def state_of(person: Shell, which: str) -> tuple[Any, ...]:
    """Return the comments and a page of a change request, and the numbers of all change requests in draft status."""
    return (
        [comment["body"]["markdown"] for comment in person.json("cr", "show", which)["comments"]],
        person.ok("page", "view", "api", "Tokens", "--cr", which),
        sorted(request["number"] for request in person.json("cr", "list", "--space", "api", "--status", "draft")),
    )


async def draft_everything(client: Any, which: str) -> list[int]:
    """Create a draft of each kind. Returns their numbers."""
    comment = await call(
        client, "draft_comment", change_request=which, page="Tokens", quote="A token belongs to", text="To which one?"
    )
    suggestion = await call(
        client, "suggest", change_request=which, page="Tokens", old="one workspace", new="one project", text="As above."
    )
    edit = await call(
        client,
        "edit_page",
        change_request=which,
        page="Tokens",
        replacements=[{"old": "within a second", "new": "at once"}],
    )
    created = await call(client, "create_change_request", space="api", subject="By an agent")
    return [answer["draft"] for answer in (comment, suggestion, edit, created)]


async def test_drafts_are_held_and_nothing_is_sent(shell: Shell, person: Shell, which: str) -> None:
    before = state_of(person, which)
    async with agent(shell, "draft", name="Draft Bot") as client:
        numbers = await draft_everything(client, which)
        drafts = await call(client, "list_drafts")
        assert drafts["agent"] == "Draft Bot"
        assert [draft["draft"] for draft in drafts["drafts"]] == numbers
    shell.ok("outbox", "send")
    assert {(row.state, row.agent) for row in outbox_of(shell).rows()} == {("collected", "Draft Bot")}
    assert [row["agent"] for row in shell.json("outbox", "list")] == ["Draft Bot"] * 4
    assert [line.split("\t")[5] for line in shell.ok("outbox", "list").splitlines()] == ["Draft Bot"] * 4
    assert state_of(person, which) == before
    assert "at once" not in shell.ok("page", "view", "api", "Tokens", "--cr", which), "a held edit changes no page"


@pytest.mark.slow
async def test_person_accepts_and_drops_drafts_by_number_and_by_agent(shell: Shell, person: Shell, which: str) -> None:
    async with agent(shell, "draft") as client:
        comment, suggestion, edit, created = await draft_everything(client, which)
    async with agent(shell, "draft", name="Other") as client:
        await call(client, "draft_comment", change_request=which, text="By another")
    shell.ok("outbox", "drop", str(suggestion))
    shell.ok("outbox", "accept", str(comment), str(edit), str(created))
    comments, page, numbers = state_of(person, which)
    assert [text.strip() for text in comments] == ["> A token belongs to\n\nTo which one?"]
    assert "It stops at once." in page
    assert max(numbers) > int(which.partition("#")[2])
    assert [row.agent for row in outbox_of(shell).rows()] == ["Other"]
    assert "no drafts" in shell.run("outbox", "accept", "--agent", "Tester", "--yes").stderr
    shell.ok("outbox", "drop", "--agent", "Other", "--yes")
    assert outbox_of(shell).rows() == ()
    assert [row["agent"] for row in shell.json("outbox", "history")] == ["Other", *["Tester"] * 4]


async def test_send_skips_drafts_and_names_the_commands_for_them(shell: Shell, which: str) -> None:
    async with agent(shell, "draft", name="Draft Bot") as client:
        comment, suggestion, edit, created = await draft_everything(client, which)
    for number in (comment, edit, created):
        refused = shell.run("outbox", "send", str(number))
        choices = f"`presscheck outbox accept {number}` or `presscheck outbox drop {number}`"
        assert (refused.exit_code, refused.stderr) == (
            2,
            f"presscheck: NUMBER: change {number} is a draft of Draft Bot. Run {choices}\n",
        )
    drafts = "2 drafts of agents: run `presscheck outbox accept` or `presscheck outbox drop`."
    comments = "2 comments held until you submit your review."
    assert shell.run("outbox", "send").stderr.splitlines() == ["Everything else was sent.", comments, drafts]
    shell.ok("outbox", "drop", str(comment))
    shell.ok("outbox", "drop", str(suggestion))
    assert shell.run("outbox", "send").stderr.splitlines() == ["Everything else was sent.", drafts]


async def test_editing_a_draft_shows_the_command_that_sends_it(shell: Shell, which: str) -> None:
    async with agent(shell, "draft") as client:
        comment, _, edit, _ = await draft_everything(client, which)
    shell.ok("cr", "comment", which, "--pending", "--body", "Mine")
    own = outbox_of(shell).rows()[-1].id
    for number, words in (
        (comment, f"Run `presscheck outbox accept {comment}` to send it"),
        (edit, f"Run `presscheck outbox accept {edit}` to send it"),
        (own, "Submit your review to send it"),
    ):
        assert shell.run("outbox", "edit", str(number), "--body", "Better").stderr == f"Saved. {words}.\n"
        assert f"change {number} has not failed. {words}" in shell.run("outbox", "retry", str(number)).stderr
    assert {row.state for row in outbox_of(shell).rows()} == {"collected"}


async def test_person_can_edit_a_page_that_has_a_draft_edit(shell: Shell, person: Shell, which: str) -> None:
    async with agent(shell, "draft") as client:
        await call(client, "edit_page", change_request=which, page="Tokens", markdown="# Replaced\n")
    text = shell.ok("page", "view", "api", "Tokens", "--cr", which)
    shell.ok("page", "edit", which, "Tokens", "--body", text.replace("30 days", "60 days", 1))
    assert "60 days" in state_of(person, which)[1]
    assert [row.agent for row in outbox_of(shell).rows()] == ["Tester"]


def test_number_of_agent_drafts_is_limited(shell: Shell, which: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agent_drafts, "MOST_DRAFTS", 2)
    shell.ok("cr", "comment", which, "--pending", "--body", "Mine")

    def draft(name: str, verb: str, *words: str) -> str:
        return shell.run("agent", verb, f"change_request={which}", *words, "--allow", "draft", "--name", name).stderr

    assert draft("First", "draft_comment", "text=Draft") == ""
    assert draft("Second", "edit_page", "page=Tokens", "markdown=# New") == ""
    assert "agents have 2 drafts" in draft("Third", "draft_comment", "text=Draft")
    assert draft("Second", "edit_page", "page=Tokens", "markdown=# Newer") == "", "it replaces a draft"
    assert [row.agent for row in outbox_of(shell).rows()] == [None, "First", "Second"]


def test_text_argument_is_never_parsed_as_json(shell: Shell, which: str) -> None:
    texts = ["404", "true", "[1]", "{", "1e5"]
    for text in texts:
        shell.ok("agent", "draft_comment", f"change_request={which}", f"text={text}", "--allow", "draft")
    drafts = shell.json("agent", "list_drafts", "--allow", "draft")["drafts"]
    assert [draft["text"] for draft in drafts] == [{"untrusted": text} for text in texts]


async def test_invalid_drafts_and_drafts_without_changes_are_rejected_immediately(shell: Shell, which: str) -> None:
    page = {"change_request": which, "page": "Tokens"}
    text = shell.json("agent", "read_page", "space=api", "page=Tokens", f"change_request={which}")["text"]["untrusted"]
    same, words = "Create the new one first.", text.splitlines()[0]
    async with agent(shell, "draft") as client:
        assert "text: Value error, must not be blank" in await refusal(
            client, "draft_comment", change_request=which, text=" \n"
        )
        assert "must not contain NUL" in await refusal(client, "draft_comment", change_request=which, text="a\0")
        assert "must not be blank" in await refusal(client, "create_change_request", space="api", subject=" ")
        assert "new: is the same as old" in await refusal(client, "suggest", **page, old=same, new=same)
        assert "must not contain NUL" in await refusal(client, "edit_page", **page, markdown="a\0")
        for edit in ({"markdown": text}, {"replacements": [{"old": words, "new": words}]}):
            assert "the page has this text already" in await refusal(client, "edit_page", **page, **edit)
    assert outbox_of(shell).rows() == ()


async def test_drafts_and_reviews_are_paginated(shell: Shell, which: str) -> None:
    async with agent(shell, "draft") as client:
        for number in range(3):
            await call(client, "draft_comment", change_request=which, text=f"Draft {number}")
        first = await call(client, "list_drafts", limit=2)
        second = await call(client, "list_drafts", limit=2, offset=first["next_offset"])
        assert [draft["draft"] for part in (first, second) for draft in part["drafts"]] == [1, 2, 3]
        assert (first["total"], second["next_offset"]) == (3, None)
        whole, *parts = [
            (await call(client, "list_reviews", view="all-open", **part))["organizations"][0]
            for part in ({}, {"limit": 2}, {"limit": 2, "offset": 2})
        ]
        assert [*parts[0]["items"], *parts[1]["items"]] == whole["items"][:4]
        assert (whole["next_offset"], parts[0]["next_offset"]) == (None, 2)
    assert [row["text"] for row in shell.json("outbox", "list")] == ["Draft 0", "Draft 1", "Draft 2"]


async def test_errors_name_the_argument_of_the_verb(shell: Shell) -> None:
    async with agent(shell) as client:
        for verb, field, arguments in (
            ("list_pages", "space", {"space": "nope"}),
            ("read_change_request", "change_request", {"change_request": "nope#1"}),
            ("read_change_request", "change_request", {"change_request": "api#999"}),
            ("read_change_request", "change_request", {"change_request": "5"}),
            ("read_change_request", "change_request", {"change_request": "nope"}),
            ("check_site", "site", {"site": "nope"}),
            ("check_site", "organization", {"site": "Tallowick Docs", "organization": "nope"}),
        ):
            assert (await refusal(client, verb, **arguments)).startswith(f"{field}: "), (verb, arguments)


async def test_an_agent_drops_its_own_drafts_only(shell: Shell, which: str) -> None:
    shell.ok("cr", "comment", which, "--pending", "--body", "Mine")
    async with agent(shell, "draft", name="First") as client:
        await call(client, "draft_comment", change_request=which, text="Draft")
    async with agent(shell, "draft", name="Second") as client:
        assert (await call(client, "list_drafts"))["drafts"] == []
        for number in (1, 2, 99):
            assert "is not a draft of yours" in await refusal(client, "drop_drafts", drafts=[number])
    async with agent(shell, "draft", name="First") as client:
        assert await call(client, "drop_drafts", drafts=[2]) == {"dropped": [2]}
    assert [row.agent for row in outbox_of(shell).rows()] == [None]


@pytest.mark.slow
async def test_only_an_agent_that_may_send_sends_its_drafts(shell: Shell, person: Shell, which: str) -> None:
    async with agent(shell, "draft") as client:
        await call(client, "draft_comment", change_request=which, text="Held")
        assert "needs --allow send" in await refusal(client, "send_drafts", drafts=[1])
    shell.ok("cr", "comment", which, "--pending", "--body", "Mine")
    async with agent(shell, "send") as client:
        assert "is not a draft of yours" in await refusal(client, "send_drafts", drafts=[1, 2])
        assert await call(client, "send_drafts", drafts=[1]) == {"sent": [1]}
    assert [text.strip() for text in state_of(person, which)[0]] == ["Held"]


async def test_suggestion_quotes_the_old_text_and_contains_the_new_text(shell: Shell, which: str) -> None:
    async with agent(shell, "draft") as client:
        answer = await call(
            client, "suggest", change_request=which, page="Tokens", old="one workspace", new="one project"
        )
    text = answer["text"]["untrusted"]
    assert text.startswith("> A token belongs to one workspace.")
    assert "```suggestion\nA token belongs to one project. It carries" in text


WRONG_DRAFTS: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("draft_comment", {"text": ""}, "at least 1 character"),
    ("draft_comment", {"text": "x" * 20_001}, "at most 20000 characters"),
    ("draft_comment", {"text": "A", "quote": "b"}, "needs the page"),
    ("draft_comment", {"text": "A", "page": "Tokens", "quote": "not there at all"}, "does not contain"),
    ("draft_comment", {"text": "A", "reply_to": "no-such-comment"}, "not found"),
    ("draft_comment", {"text": "A", "page": "Tokens", "reply_to": "x"}, "cannot be combined"),
    ("suggest", {"page": "Tokens", "old": "nowhere", "new": "b"}, "does not contain"),
    ("suggest", {"page": "Tokens", "old": "token", "new": "b"}, "several times"),
    ("edit_page", {"page": "Tokens"}, "either replacements or markdown"),
    ("edit_page", {"page": "Tokens", "replacements": [{"old": "nowhere", "new": "b"}]}, "does not contain"),
    ("edit_page", {"page": "Tokens", "markdown": "x" * 200_001}, "at most 200000 characters"),
    ("mark_viewed", {"page": "Tokens"}, "is not changed"),
)
"""Verbs with arguments that are rejected, and a part of the error."""


async def test_draft_with_an_invalid_place_or_text_is_rejected(shell: Shell, which: str) -> None:
    async with agent(shell, "draft") as client:
        for verb, arguments, message in WRONG_DRAFTS:
            assert message in await refusal(client, verb, change_request=which, **arguments), (verb, message)
    assert outbox_of(shell).rows() == ()


async def test_mark_viewed_sets_and_clears_the_mark(shell: Shell) -> None:
    async with agent(shell, "draft") as client:
        changes = (await call(client, "read_change_request", change_request="api#5"))["changes"]
        page = next(item for item in changes if item["has_difference"])
        assert not page["is_viewed"]
        await call(client, "mark_viewed", change_request="api#5", page=page["id"])
        changes = (await call(client, "read_change_request", change_request="api#5"))["changes"]
        assert [item["id"] for item in changes if item["is_viewed"]] == [page["id"]]
        await call(client, "mark_viewed", change_request="api#5", page=page["id"], viewed=False)
        changes = (await call(client, "read_change_request", change_request="api#5"))["changes"]
        assert not any(item["is_viewed"] for item in changes)


async def test_read_only_profile_rejects_drafts(shell: Shell, which: str) -> None:
    shell.config.write_text("[profiles.default]\nread_only = true\n")
    async with agent(shell, "draft") as client:
        assert "read-only" in await refusal(client, "draft_comment", change_request=which, text="A")


async def test_archived_change_request_rejects_drafts(shell: Shell, which: str) -> None:
    shell.ok("cr", "archive", which)
    async with agent(shell, "draft") as client:
        assert "it is archived" in await refusal(client, "draft_comment", change_request=which, text="A")
