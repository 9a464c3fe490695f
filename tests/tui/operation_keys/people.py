"""Organizations, people and permissions: AI instructions, joining, members of a team, and levels in collections."""

from tests.tui.operation_keys.driver import HERE, Cursor, Family, Pick, Shows, Text, row
from tests.tui.operation_keys.places import administration

from presscheck.api.agent_instructions import GetAgentInstructions, UpdateAgentInstructions
from presscheck.api.invites import CreateInvite, GetInvite
from presscheck.api.organizations import (
    GetOrganizationsForEmailDomain,
    JoinOrganization,
    UpdateMember,
    UpdateOrganization,
)
from presscheck.api.permissions import (
    ListCollectionTeamPermissions,
    ListSpaceTeamPermissions,
    ListSpaceUserPermissions,
    RemoveCollectionTeamPermission,
    UpdateCollectionTeamPermission,
)
from presscheck.api.teams import CreateTeam, UpdateTeamMembers
from presscheck.client.client import Client

ORG = {"organization_id": "tallowick"}


async def prepare(client: Client) -> None:
    """Create a team without members and an invite link, and let the user leave and rejoin the organization."""
    await client.send(CreateTeam(**ORG, title="Writers"))
    await client.send(CreateInvite(**ORG, role="read"))
    await client.send(UpdateMember(**ORG, user_id="mia", role="admin"))
    await client.send(UpdateOrganization(**ORG, email_domains=("tallowick.example",), default_role="read"))


FAMILY = Family(
    prepare=prepare,
    rows=(
        row(
            UpdateTeamMembers,
            administration("Teams"),
            Cursor("Writers"),
            *("enter", Shows("No members yet"), "a", Shows("Add people"), Text("Luz"), "enter"),
            *(Pick("member"), Shows("added 1 member")),
        ),
        row(
            ListCollectionTeamPermissions,
            administration("Collections"),
            *(Cursor("Product"), "enter", Shows("8 of 8 members have access")),
        ),
        row(
            UpdateCollectionTeamPermission,
            HERE,
            *("2", Shows("No team has a level"), "a", Shows("Teams that get"), Text("Writers"), "enter"),
            *(Pick("edit"), Shows("1 team: edit"), Shows("this collection")),
        ),
        row(RemoveCollectionTeamPermission, HERE, "-", Shows("Remove Writers from"), "y", Shows("removed Writers")),
        row(
            (ListSpaceUserPermissions, ListSpaceTeamPermissions),
            administration("Spaces"),
            *(Cursor("API docs"), "enter", Shows("8 of 8 members have access")),
        ),
        row(GetInvite, administration("Invite links"), "enter", Shows("/app/invite/tallowick/")),
        row(GetAgentInstructions, administration("AI instructions"), "enter", Shows("No AI instructions yet")),
        row(
            UpdateAgentInstructions,
            HERE,
            *("e", Shows("Edit AI instructions"), Text("Be brief."), "ctrl+s", Shows("Save the AI"), "y"),
            Shows("saved the AI instructions"),
        ),
        row(
            GetOrganizationsForEmailDomain,
            administration("Organizations"),
            *("-", Shows("Leave Tallowick?"), Text("Tallowick"), "enter", Shows("No organizations yet")),
            *("a", Shows("E-mail domain"), "enter", Shows("Organizations of tallowick.example")),
        ),
        row(JoinOrganization, HERE, "enter", Shows("Join Tallowick?"), "y", Shows("joined Tallowick")),
    ),
)
