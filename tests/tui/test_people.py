"""Members, invite links and AI instructions by keys: bulk changes, confirmations, drafts and undo."""

from pathlib import Path
from typing import Any

from tests.running_service import RunningService
from tests.tui.app_driver import app_on, pick, running, shown, until
from tests.tui.draft_places import drafted
from tests.tui.operation_keys.driver import Cursor, Shows, Text, take
from tests.tui.permissions import open_family
from tests.tui.site_access import comes

from presscheck.api.agent_instructions import GetAgentInstructions, UpdateAgentInstructions
from presscheck.api.invites import GetInvite
from presscheck.api.organizations import GetMember, UpdateMember, UpdateOrganization
from presscheck.client.client import Client
from presscheck.documents.nodes.from_markdown import markdown_to_nodes
from presscheck.documents.nodes.to_markdown import nodes_to_markdown
from presscheck.errors import NotFound
from presscheck.tui.screens.form_dialog import FormDialog

ORG = {"organization_id": "tallowick"}


async def instructions(client: Client) -> str:
    known = await client.send(GetAgentInstructions(**ORG))
    return nodes_to_markdown(known.instructions).strip() if known.instructions else ""


async def instruct(client: Client, text: str) -> None:
    await client.send(UpdateAgentInstructions(**ORG, instructions=markdown_to_nodes(text)))


async def form(pilot: Any) -> FormDialog:
    await until(pilot, holds=lambda: isinstance(pilot.app.screen, FormDialog) and pilot.app.screen.focused is not None)
    return pilot.app.screen


async def test_people_invites_and_instructions(service: RunningService, tmp_path: Path, client: Client) -> None:
    await instruct(client, "First.\n\nSecond.\n\nThird.")
    await client.send(UpdateMember(**ORG, user_id="mia", role="admin"))
    await client.send(UpdateOrganization(**ORG, email_domains=("tallowick.example",)))

    async def role(person: str) -> str | None:
        return (await client.send(GetMember(**ORG, user_id=person))).role

    async def are(value: str, *people: str) -> bool:
        return all([await role(person) == value for person in people])

    async with running(app_on(service, tmp_path / "home")) as pilot:
        await until(pilot, shows="live")
        # two marked people get a role with one form
        await open_family(pilot, "Members")
        await take(pilot, (Cursor("Luz Quispe"), "space", Cursor("Ada Moreau"), "space", "E"))
        await until(pilot, shows="Change 2 members")
        await form(pilot)
        await pilot.press("enter")
        await pick(pilot, "edit")
        await form(pilot)
        # a closed form is kept as a draft, and can be sent for both members from the list of drafts
        await pilot.press("escape")
        await drafted(pilot, "form: Change 2 members")
        await form(pilot)
        await pilot.press("ctrl+y")
        await until(pilot, shows="copied as a command")
        assert pilot.app.clipboard.count("update-member") == 2
        assert not await are("edit", "luz")
        await pilot.press("ctrl+s")
        await until(pilot, shows="Change 2 members: done")
        assert await are("edit", "luz", "ada")
        await pilot.press("q", "escape")
        # giving up the own admin role needs a confirmation; removing oneself also needs the typed name
        await take(pilot, (Cursor("Robin Achterberg"), "E"))
        dialog = await form(pilot)
        await pilot.press("enter")
        await pick(pilot, "read")
        await form(pilot)
        await pilot.press("ctrl+s")
        await until(pilot, shows="Give up your admin role?")
        await pilot.press("enter")
        await until(pilot, holds=lambda: "you stay admin" in dialog._error[1])
        await pilot.press("escape")
        await pilot.press("-")
        await until(pilot, shows="This is you: you lose your own access.")
        await pilot.press("enter")  # the name was not typed
        assert await role("robin") == "admin"
        # a member cannot join the organization again
        await open_family(pilot, "Organizations")
        await take(pilot, ("a", Shows("E-mail domain"), "enter", Shows("you are a member")))
        await pilot.press("enter")
        await until(pilot, shows="you are a member of Tallowick already")

        # an invite link to a space is created, copied, and revoked by undo
        await open_family(pilot, "Invite links")
        await take(pilot, ("a", Shows("Invite to"), Text("Guides"), "enter"))
        await pick(pilot, "comment")
        await until(pilot, shows="invite link made and copied")
        link = pilot.app.clipboard
        assert link.startswith(f"{service.base_url.removesuffix('/v1')}/app/invite/tallowick/")
        invite = {**ORG, "invite_id": link.rpartition("/")[2]}
        made = await client.send(GetInvite(**invite))
        assert (made.level, made.space.id if made.space else "") == ("comment", "guides")
        await pilot.press("z")
        await until(pilot, shows="Revokes the invite link")
        await pilot.press("y")

        async def is_revoked() -> bool:
            try:
                await client.send(GetInvite(**invite))
            except NotFound:
                return True
            return False

        await comes(pilot, is_revoked)

        # a draft of the instructions is kept, and merged with an edit of another user
        await open_family(pilot, "AI instructions")
        await take(pilot, ("enter", Shows("Second."), "e", Shows("Edit AI")))
        await take(pilot, ("ctrl+end", Text("Fourth."), "escape", Shows("kept as a draft")))
        assert await instructions(client) == "First.\n\nSecond.\n\nThird."
        await instruct(client, "Zero.\n\nSecond.\n\nThird.")
        await pilot.press("e")
        await until(pilot, shows="your draft")
        await until(pilot, holds=lambda: "Zero." in shown(pilot.app) and "Fourth." in shown(pilot.app))
        await pilot.press("ctrl+s")
        await until(pilot, shows="Save the AI instructions?")
        await pilot.press("y")
        await until(pilot, shows="saved the AI instructions")
        text = await instructions(client)
        assert text.startswith("Zero.") and "Fourth." in text
        assert not [one for one in pilot.app.engine.outbox.drafts() if one.key.startswith("AI instructions")]
        await pilot.press("z")
        await until(pilot, shows="Restores the instructions")
        await pilot.press("y")
        await until(pilot, holds=lambda: "Fourth." not in shown(pilot.app))
        assert await instructions(client) == "Zero.\n\nSecond.\n\nThird."
