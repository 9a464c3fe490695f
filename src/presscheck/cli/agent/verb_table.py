"""All verbs of agents, and the resources of the MCP server."""

from __future__ import annotations

from presscheck.agents.verbs import Resource, Verb
from presscheck.cli.agent.caller import Caller
from presscheck.cli.agent.draft_verbs import DRAFT_VERBS
from presscheck.cli.agent.read_verbs import READ_VERBS

VERBS: tuple[Verb[Caller], ...] = (*READ_VERBS, *DRAFT_VERBS)
"""All verbs, in the order in which agents see them."""
_REQUEST = "presscheck://change-requests/{change_request}"
RESOURCES = (
    Resource("presscheck://spaces", "Spaces", "list_spaces"),
    Resource("presscheck://spaces/{space}/pages", "Pages of a space", "list_pages"),
    Resource("presscheck://spaces/{space}/pages/{page}", "Text of a page", "read_page"),
    Resource("presscheck://reviews", "Change requests that need a review", "list_reviews"),
    Resource("presscheck://reviews/{view}", "Change requests of a view of the inbox", "list_reviews"),
    Resource(_REQUEST, "Change request", "read_change_request"),
    Resource(f"{_REQUEST}/differences/{{page}}", "Difference of a page", "read_difference"),
    Resource(f"{_REQUEST}/threads", "Threads of a change request", "list_threads"),
    Resource(f"{_REQUEST}/requirements", "What blocks the merge", "explain_blocks"),
    Resource("presscheck://sites/{site}/findings", "Findings about a site", "check_site"),
)
"""The resources, each read by a verb."""
