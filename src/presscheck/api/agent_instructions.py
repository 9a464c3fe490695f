"""Instructions of an organization for its writing agent."""

from typing import Any

from pydantic import Field

from presscheck.api.operation import InOrganization, Model, Operation


class InstructionsUrls(Model):
    """The URLs of the instructions."""

    location: str | None = None


class AgentInstructions(Model):
    """The instructions as a node tree, with the latest change and its author."""

    object: str = "agent-instructions"
    instructions: dict[str, Any] | None = None
    updated_at: str | None = None
    updated_by: str | None = None
    urls: InstructionsUrls = Field(default_factory=InstructionsUrls)


class GetAgentInstructions(InOrganization, Operation[AgentInstructions]):
    """Get the AI instructions of an organization."""

    operation_id = "getOrganizationAgentInstructions"
    route = "GET /orgs/{organization_id}/agent-instructions"


class UpdateAgentInstructions(InOrganization, Operation[AgentInstructions]):
    """Replace the AI instructions of an organization.

    The instructions are a tree of nodes; Markdown is not accepted.
    """

    operation_id = "updateOrganizationAgentInstructions"
    route = "PUT /orgs/{organization_id}/agent-instructions"

    instructions: dict[str, Any]
