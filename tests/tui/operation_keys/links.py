"""Conversations, translations, specifications and imports of an organization; comments, links and files of a space."""

import json
from pathlib import Path
from tempfile import gettempdir
from typing import Any

from tests.tui.app_driver import shown
from tests.tui.operation_keys.driver import HERE, Cursor, Family, Holds, Pick, Shows, Text, row
from tests.tui.operation_keys.places import administration, change_request, closed, form

from presscheck.api.comments import (
    DeleteSpaceComment,
    Document,
    ListSpaceComments,
    ListSpaceReplies,
    PostSpaceComment,
    PostSpaceReply,
    UpdateSpaceComment,
)
from presscheck.api.content import GetChangeRequestReusableContent
from presscheck.api.content_changes import EditChangeRequestContent, InsertFiles, InsertPage, NewFile
from presscheck.api.conversations import (
    GetConversation,
    GetConversationIssue,
    IngestConversations,
    ListConversationIssues,
)
from presscheck.api.imports import GetImport, StartImport
from presscheck.api.links import ListChangeRequestFileBacklinks, ListChangeRequestPageLinks
from presscheck.api.openapi import (
    CreateOpenAPISpec,
    GetLatestOpenAPISpecContent,
    GetLatestOpenAPISpecVersion,
    GetOpenAPISpec,
    PutOpenAPISpec,
)
from presscheck.api.spaces import GetSpacePDF, SearchSpace
from presscheck.api.translations import CreateTranslation, GetTranslation, RunTranslation
from presscheck.client.client import Client
from presscheck.tui.screens.admin.screen import AdminScreen

PLACE = Path(gettempdir()) / "presscheck-keys"
LINES, PETS, OWLS = PLACE / "lines.jsonl", PLACE / "pets.json", PLACE / "owls.json"
ASKED = "I cannot find how to cancel a parcel. Where is that written?"
PATH = {"space_id": "api", "change_request_id": "5"}


async def prepare(client: Client) -> None:
    """Write the files to import, and add a page with links and a file to a change request."""
    PLACE.mkdir(exist_ok=True)
    asked = {"role": "user", "body": ASKED}
    lines = [{"id": f"c{number}", "subject": f"Lost {number}", "parts": [asked]} for number in range(3)]
    LINES.write_text("\n".join(map(json.dumps, lines)))
    operation = {"summary": "List all pets", "responses": {"200": {"description": "All"}}}
    info = {"title": "Pets", "version": "1.2"}
    PETS.write_text(json.dumps({"openapi": "3.1.0", "info": info, "paths": {"/pets": {"get": operation}}}))
    OWLS.write_text(PETS.read_text().replace("/pets", "/owls"))
    page = InsertPage(title="Map", document=Document(markdown="# Map\n\n[gone](gone.md) and [plan](/plan.txt)"))
    file = InsertFiles(files=(NewFile(name="plan.txt", base64="cGxhbg==", content_type="text/plain"),))
    await client.send(EditChangeRequestContent(**PATH, changes=(page, file)))


def has_issues(pilot: Any) -> bool:
    """Return True if the table has rows; refresh its listing if it has none."""
    table = pilot.app.screen.table
    if not table._count:
        table._screen.engine.refresh(table.listing)
    return bool(table._count)


FAMILY = Family(
    prepare=prepare,
    rows=(
        row(IngestConversations, administration("Conversations"), ". i", Text(str(LINES)), "enter", Shows("Lost 2")),
        row(GetConversation, HERE, Cursor("Lost 1"), "enter", Shows("cancel a parcel"), "q"),
        row(ListConversationIssues, administration("Issues"), Holds(has_issues), "enter", Shows("› Issues")),
        row(GetConversationIssue, HERE, Holds(has_issues), "enter", Shows("Found in")),
        row(
            (CreateOpenAPISpec, GetLatestOpenAPISpecVersion, GetLatestOpenAPISpecContent, GetOpenAPISpec),
            administration("OpenAPI"),
            *("a", Shows("New specification"), Text("pets"), "tab tab", Text(f"@{PETS}"), "ctrl+s"),
            Shows("List all pets"),
            Holds(lambda pilot: shown(pilot.app).count("✓ complete") == 1),
        ),
        row(
            PutOpenAPISpec,
            HERE,
            "e",
            Shows("New source"),
            "tab",
            Text(f"@{OWLS}"),
            "ctrl+s",
            Shows("new version of it"),
            Shows("1 breaking change, 1 compatible"),
        ),
        row((), HERE, "g h", Shows("GET /pets"), Shows("removed"), "enter", Shows("breaking   removed"), "q q"),
        row(
            (CreateTranslation, GetTranslation),
            administration("Translations"),
            *("a", Shows("New translation"), Text("guides"), "tab right tab right right ctrl+s"),
            Holds(lambda pilot: isinstance(pilot.app.screen, AdminScreen) and pilot.app.screen.table.rows.has_focus),
            *(Cursor("fr"), "enter", Shows("translates")),
        ),
        row(RunTranslation, HERE, Holds(lambda pilot: not pilot.app.screen.record.is_busy), "s", Shows("runs")),
        row(
            (StartImport, GetImport),
            administration("Imports"),
            *("a", Shows("New import"), Text("https://docs.example/"), "tab tab tab tab enter"),
            *(Shows("first choose: Space to import into"), "shift+tab shift+tab enter", Pick("Runbook"), form()),
            # the change requests of the chosen space
            *("tab enter", Shows("What to write"), Holds(lambda pilot: "Limits per" not in shown(pilot.app))),
            *(Pick("What to write"), form(), Shows("What to write afterwards")),
            # the pages of the chosen change request, by title
            *(
                "tab enter",
                Shows("Page to import below"),
                Pick("Events come late"),
                form(),
                Shows("Events come late"),
            ),
            *("ctrl+s", closed(), Shows("docs.example")),
        ),
        row(
            ListChangeRequestPageLinks,
            (*change_request(5), "g l", Shows("Links and files")),
            *(Shows("gone.md"), "F", Pick("one page"), Shows("Links of which page"), Text("Map"), "enter"),
            Shows("only on Map"),
        ),
        row(
            ListChangeRequestFileBacklinks,
            HERE,
            "2",
            Cursor("plan.txt"),
            "enter",
            Pick("Where used"),
            Shows("Pages with"),
        ),
        row(
            (PostSpaceComment, ListSpaceComments),
            (":", Shows("Commands"), Text("page limits"), "enter", Shows("› Limits")),
            *("C", Shows("Comment on Limits"), Text("Which?"), "ctrl+s g t", Shows("Which?")),
        ),
        row(
            (PostSpaceReply, ListSpaceReplies), HERE, Cursor("Which?"), "r", Shows("Reply to"), Text("These."), "ctrl+s"
        ),
        row(UpdateSpaceComment, HERE, "x", Shows("resolved 1")),
        row(DeleteSpaceComment, HERE, "delete", Shows("Delete your comment?"), "y"),
        row(GetSpacePDF, HERE, "q g f", Shows("Address, copied"), "q"),
        row(SearchSpace, HERE, "ctrl+underscore", Shows("Search in"), Text("limits"), "enter", Shows("Limits")),
    ),
    without_keys={
        GetChangeRequestReusableContent: "enter, Details sends it; the local service has no reusable content",
    },
)
