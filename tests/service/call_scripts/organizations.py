"""Calls on users and organizations."""

from __future__ import annotations

from .talk import Talk


async def people(say: Talk) -> str:
    """Read users, and read and update the organization. Returns the id of the organization."""
    assert (await say("users.GetCurrentUser")).id == say.owner
    await say("users.GetUser", user_id=say.member)
    assert (await say("system.GetApiInformation")).build.startswith("presscheck ")
    listed = await say("organizations.ListOrganizations")
    org = next(item.id for item in listed.items if item.id != say.elsewhere)
    at = {"organization_id": org}
    for name in ("GetOrganization", "ListMembers"):
        await say(f"organizations.{name}", **at)
    await say("organizations.SearchOrganization", **at, query="step")
    assert (await say("ask.AskOrganization", **at, query="How do I start?", format="document")).answer.sources
    await say("organizations.GetMember", **at, user_id=say.member)
    await say("organizations.UpdateMember", **at, user_id=say.member, role="review")
    await say("organizations.UpdateLastSeen", **at)
    assert (await say("permissions.ListSpacesOfMember", **at, user_id=say.member)).items
    await say("organizations.UpdateOrganization", **at, title="Lamps")
    told = await say("agent_instructions.GetAgentInstructions", **at)
    for name in ("ListStyleGuides", "ListStyleGuideTemplates"):
        await say(f"style_guides.{name}", **at)
    await say("agent_instructions.UpdateAgentInstructions", **at, instructions=told.instructions)
    assert {item.id for item in (await say("audit_events.ListAuditEventActions", **at)).items} > {
        "updateMemberInOrganizationById"
    }
    [event] = (await say("audit_events.ListAuditEvents", **at, action="updateMemberInOrganizationById")).items
    await say("audit_events.GetAuditEvent", **at, audit_event_id=event.id)
    return org


async def teams(say: Talk, org: str, collection: str, space: str) -> None:
    """Manage a team, its members and its permissions."""
    at = {"organization_id": org}
    team = await say("teams.CreateTeam", **at, title="Writers", members=[say.member])
    here = {**at, "team_id": team.id}
    await say("teams.ListTeams", **at)
    await say("teams.GetTeam", **here)
    await say("teams.UpdateTeam", **here, title="Editors")
    await say("teams.AddTeamMember", **here, user_id=say.owner, role="owner")
    await say("teams.UpdateTeamMembers", **here, add=["member@example.org"])
    await say("teams.ListTeamMembers", **here)
    assert (await say("teams.ListTeamsOfMember", **at, user_id=say.member)).items
    await say("teams.RemoveTeamMember", **here, user_id=say.owner)
    there = {"collection_id": collection, "team_id": team.id}
    await say("permissions.UpdateCollectionTeamPermission", **there, role="edit")
    await say("permissions.ListCollectionTeamPermissions", collection_id=collection)
    await say("permissions.ListSpaceUserPermissions", space_id=space)
    await say("permissions.ListSpaceTeamPermissions", space_id=space)
    await say("permissions.RemoveCollectionTeamPermission", **there)
    for place, where in (("Collection", {"collection_id": collection}), ("Space", {"space_id": space})):
        await roles(say, place, where, team.id)
    await say("teams.DeleteTeam", **here)


async def roles(say: Talk, place: str, where: dict[str, str], team: str) -> None:
    """Manage the roles of users and teams in a place: a collection, a space or a site."""
    await say(f"permissions.InviteTo{place}", **where, users=["member@example.org"], teams=[team], role="comment")
    await say(f"permissions.Update{place}UserPermission", **where, user_id=say.member, role="edit")
    await say(f"permissions.Update{place}TeamPermission", **where, team_id=team, role="edit")
    assert (await say(f"permissions.List{place}TeamPermissions", **where)).items
    assert (await say(f"permissions.List{place}UserPermissions", **where)).items
    assert (await say(f"permissions.List{place}Permissions", **where, role="edit")).items
    await say(f"permissions.Remove{place}UserPermission", **where, user_id=say.member)
    await say(f"permissions.Remove{place}TeamPermission", **where, team_id=team)


async def ways_in(say: Talk, org: str) -> None:
    """Manage invites, join the organization, and manage single sign-on."""
    at = {"organization_id": org}
    invite = await say("invites.CreateInvite", **at, role="read")
    here = {**at, "invite_id": invite.id}
    await say("invites.ListInvites", **at)
    await say("invites.GetInvite", **here)
    await say("invites.UpdateInvite", **here, role=None)
    await say("organizations.UpdateOrganization", **at, invite_links=True)
    await say("invites.JoinWithInvite", **here)
    await say("invites.InviteUsers", **at, emails=["new@example.org", {"email": "guest@example.org", "role": None}])
    await say("invites.DeleteInvite", **here)
    await say("organizations.JoinOrganization", **at)
    await say("organizations.GetOrganizationsForEmailDomain", email_domain="example.org")
    provider = await say("saml.CreateSAMLProvider", **at, label="Keys")
    there = {**at, "saml_provider_id": provider.id}
    await say("saml.ListSAMLProviders", **at)
    await say("saml.GetSAMLProvider", **there)
    await say("saml.UpdateSAMLProvider", **there, label="All keys")
    await say("saml.ListSSOLogins", **at)
    await say("saml.DeleteSAMLProvider", **there)
