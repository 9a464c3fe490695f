"""Organizations and people: instructions for agents, joining, many members of a team at once."""

from tests.tui.operation_keys.driver import Family

from presscheck.api.agent_instructions import GetAgentInstructions, UpdateAgentInstructions
from presscheck.api.organizations import GetOrganizationsForEmailDomain, JoinOrganization
from presscheck.api.teams import UpdateTeamMembers

FAMILY = Family(
    without_keys={
        GetAgentInstructions: "administration does not show the instructions for agents",
        UpdateAgentInstructions: "administration has no form for the instructions for agents",
        GetOrganizationsForEmailDomain: "no screen lists the organizations that an e-mail address may join",
        JoinOrganization: "no key joins an organization: the app does not know any but those of the user",
        UpdateTeamMembers: "members of a team are added and removed one by one, marked rows too",
    }
)
