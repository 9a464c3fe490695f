"""What the organization has besides people and content (conversations, translations, specifications, imports), and links."""

from pathlib import Path
from tempfile import gettempdir

from tests.tui.operation_keys.driver import HERE, Cursor, Family, Shows, Text, row
from tests.tui.operation_keys.places import administration

from presscheck.api.content import GetChangeRequestReusableContent
from presscheck.api.conversations import GetConversation, IngestConversations
from presscheck.api.links import ListChangeRequestFileBacklinks, ListChangeRequestPageLinks
from presscheck.client.client import Client

PLACE = Path(gettempdir()) / "presscheck-conversations.jsonl"


async def prepare(_: Client) -> None:
    """The file of conversations that is imported."""
    PLACE.write_text('{"id": "c1", "subject": "Lost", "parts": [{"role": "user", "body": "Where is my parcel?"}]}\n')


FAMILY = Family(
    prepare=prepare,
    rows=(
        row(IngestConversations, administration("Conversations"), ". i", Text(str(PLACE)), "enter", Shows("Lost")),
        row(GetConversation, HERE, Cursor("Lost"), "enter", Shows("Where is my parcel?"), "q"),
    ),
    without_keys={
        GetChangeRequestReusableContent: "it is shown from the whole revision of the change request, never read alone",
        ListChangeRequestFileBacklinks: "no key lists what uses a file; the tab of files counts the links of pages",
        ListChangeRequestPageLinks: "no key lists the links of one page of a change request",
    },
)
