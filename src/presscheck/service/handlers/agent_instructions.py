"""Instructions for the writing agent of an organization: a document tree, stored as it was sent."""

from __future__ import annotations

from typing import Any

from presscheck.api.agent_instructions import (
    AgentInstructions,
    GetAgentInstructions,
    InstructionsUrls,
    UpdateAgentInstructions,
)
from presscheck.service.http.operations import ApiError, Context, handles
from presscheck.service.models.sites import AgentInstructionsRow
from presscheck.service.permissions import organization_for

NOTHING: dict[str, Any] = {"object": "document", "data": {"schemaVersion": 1}, "nodes": []}


@handles(GetAgentInstructions)
def get_agent_instructions(context: Context, call: GetAgentInstructions) -> AgentInstructions:
    """Return the instructions, or an empty document if the organization has none."""
    organization = organization_for(context, call.organization_id)
    row = context.session.get(AgentInstructionsRow, organization.id)
    return _as_instructions(
        context,
        row
        or AgentInstructionsRow(
            organization_id=organization.id, instructions=NOTHING, updated_at=organization.created_at, updated_by=""
        ),
    )


@handles(UpdateAgentInstructions)
def update_agent_instructions(context: Context, call: UpdateAgentInstructions) -> AgentInstructions:
    """Replace the instructions; requires an admin."""
    organization = organization_for(context, call.organization_id, "admin")
    if call.instructions.get("object") != "document" or not isinstance(call.instructions.get("nodes"), list):
        raise ApiError(400, "instructions: must be a document with `object`, `data` and `nodes`")
    row = context.session.get(AgentInstructionsRow, organization.id)
    if row is None:
        row = AgentInstructionsRow(organization_id=organization.id)
        context.session.add(row)
    row.instructions, row.updated_at, row.updated_by = call.instructions, context.now(), context.user.id
    return _as_instructions(context, row)


def _as_instructions(context: Context, row: AgentInstructionsRow) -> AgentInstructions:
    return AgentInstructions(
        instructions=row.instructions,
        updated_at=row.updated_at,
        updated_by=row.updated_by,
        urls=InstructionsUrls(location=context.location(f"/orgs/{row.organization_id}/agent-instructions")),
    )
