"""What a change request says of itself: its subject, its description, whether it is a draft; and all of it as a PDF."""

from __future__ import annotations

from presscheck.api.change_requests import GetChangeRequestPDF, UpdateChangeRequest
from presscheck.documents.display_text import display_text
from presscheck.tui.external_programs import open_address
from presscheck.tui.screens.review_history import History
from presscheck.tui.widgets.picker import Choice, Picker
from presscheck.tui.widgets.prompt_dialog import PromptDialog

SUBJECT = 100
"""Characters that a subject may have."""


class Details(History):
    """Changes the details, and makes the PDF."""

    def reason_rename(self) -> str | None:
        """Why nothing about it can be changed."""
        request = self.known.request
        is_over = request is not None and request.status in ("merged", "archived")
        return f"it is {request.status}" if request and is_over else self.reason_comment()

    async def command_rename(self) -> None:
        """Change the subject or the description, make it a draft, or open it for review."""
        request = self.known.request
        if request is None:
            return
        is_draft = request.status == "draft"
        choices = [
            Choice("subject", "Subject", display_text(request.subject)),
            Choice("description", "Description", " ".join(display_text(self._description()).split())),
            Choice("status", "Open it for review" if is_draft else "Make it a draft", f"it is {request.status}"),
        ]
        chosen = await self.ask(Picker("Change what?", choices, self.style_for, ranked=False))
        if chosen == ("subject",):
            await self._edit_subject(request.subject)
        elif chosen == ("description",):
            self._edit_description()
        elif chosen == ("status",):
            self.send(UpdateChangeRequest(**self.known.path, status="open" if is_draft else "draft"))

    async def command_pdf(self) -> None:
        """Have all of it made into a PDF, and open that, or show where it is; it waits there for an hour."""
        self.notify("the service makes the PDF …")
        found = await self.desk.read(GetChangeRequestPDF(**self.known.path))
        open_address(self.app_context, found.url)

    async def _edit_subject(self, subject: str) -> None:
        key, outbox = self.draft_key("subject"), self.desk.outbox
        entry = PromptDialog(
            "What is it about?",
            outbox.draft(key) or subject,
            self.style_for,
            most=SUBJECT,
            save=lambda text: outbox.save_draft(key, "" if text == subject else text),
        )
        text = await self.ask(entry)
        if text and (text == subject or self.send(UpdateChangeRequest(**self.known.path, subject=text))):
            outbox.save_draft(key, "")

    def _edit_description(self) -> None:
        from presscheck.documents.nodes.reading import nodes_of  # late: only who writes one pays for it

        begin = self._description()

        def call(text: str) -> UpdateChangeRequest | None:
            if text == begin:
                return None  # somebody else may have written another meanwhile
            return UpdateChangeRequest(**self.known.path, description=nodes_of(text))

        self.write("Description", "description", call, begin=begin, may_be_empty=True)

    def _description(self) -> str:
        """The description as Markdown; empty where there is none that can be read."""
        from presscheck.documents.nodes.checking import BadNode
        from presscheck.documents.nodes.writing import markdown_of

        request = self.known.request
        if request is None or not request.description:
            return ""
        try:
            return markdown_of(request.description)
        except BadNode:
            return ""
