"""Pages, files and links of a change request, and the search."""

import base64

from tests.tui.operation_keys.driver import HERE, Cursor, Family, Pick, Shows, Text, row
from tests.tui.operation_keys.places import space

from presscheck.api.change_requests import CreateChangeRequest
from presscheck.api.comments import Document
from presscheck.api.content import (
    GetChangeRequestFile,
    GetChangeRequestPageByPath,
    GetChangeRequestRevision,
    ListChangeRequestFiles,
)
from presscheck.api.content_changes import EditChangeRequestContent, InsertFiles, InsertPage, NewFile
from presscheck.api.links import ListChangeRequestPageBacklinks
from presscheck.api.organizations import SearchOrganization
from presscheck.client.client import Client

PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x10\0\0\0\x08"


async def prepare(client: Client) -> None:
    """Create a change request with a new page that shows a new file."""
    made = await client.send(CreateChangeRequest(space_id="notes", subject="Maps"))
    plan = NewFile(name="plan.png", base64=base64.b64encode(PNG).decode(), content_type="image/png")
    page = InsertPage(title="Map", document=Document(markdown="![Plan](/plan.png)"))
    changes = (InsertFiles(files=(plan,)), page)
    await client.send(EditChangeRequestContent(space_id="notes", change_request_id=made.id, changes=changes))


FAMILY = Family(
    prepare=prepare,
    rows=(
        row(SearchOrganization, space("Release notes"), "ctrl+k", Shows("Find anything"), Text("parcel")),
        row((), space("Release notes"), "O", Pick("Maps"), Shows("in #3")),
        row(GetChangeRequestPageByPath, HERE, ":", Shows("Commands"), Text("page /map"), "enter", Shows("› Map")),
        row(ListChangeRequestPageBacklinks, HERE, Cursor("Map "), Shows("▣ Plan"), "g b"),
        row(ListChangeRequestFiles, HERE, "f", Shows("[a]"), "a", Shows("Address, copied"), "q"),
        row(GetChangeRequestRevision, HERE, "g l", Shows("Links and files"), "ctrl+r"),
        row(GetChangeRequestFile, HERE, "2", Shows("plan.png"), "enter", Pick("Open")),
    ),
)
