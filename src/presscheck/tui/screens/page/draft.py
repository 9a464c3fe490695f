"""The draft of a page in a change request. Saving merges it with edits by other users, then sends it."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any

from presscheck.api.change_requests import GetChangeRequest
from presscheck.api.comments import Document
from presscheck.api.content import GetChangeRequestPage
from presscheck.api.content_changes import EditChangeRequestContent, UpdatePage
from presscheck.api.operation import revive
from presscheck.documents.merge.conflict_blocks import revision_name, unresolved_conflicts
from presscheck.documents.merge.hunks import line_numbers
from presscheck.documents.merge.text import merge_text
from presscheck.engine.drafts import BASE, PAGE, draft_about
from presscheck.engine.review.pending_review import draft_key
from presscheck.engine.writes.page_merge import SOMEBODY, LastEdit, last_edit, letters_of, page_base
from presscheck.engine.writes.queued_edits import edits_of_page, queue_edit
from presscheck.errors import NotNow, PresscheckError
from presscheck.store.drafts import DraftSlot
from presscheck.store.outbox import FAILED, NEW
from presscheck.text.phrases import count, long_ago
from presscheck.text.phrases import now as clock
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Span
from presscheck.tui.commands import key_for, with_keys
from presscheck.tui.screens.page.markdown import EditorPage, PageEdit, from_editor, to_editor
from presscheck.tui.screens.text_draft import (
    Difference,
    Saved,
    difference,
    line_of_conflict,
    line_written,
    lost_lines,
    merged_texts,
    name_of_draft,
    name_of_saved,
    problem_of_markers,
)
from presscheck.tui.ui.ask import confirm

if TYPE_CHECKING:
    from presscheck.documents.merge.text import MergedText
    from presscheck.text.styled_text import Line
    from presscheck.tui.ui.screen import BaseScreen

LONGEST_CHECKED = 100_000
"""Maximum length, in characters, of a page whose nodes are checked before it is saved."""
QUEUED = "pending ({go_outbox} shows it): sent and merged when the service is back"
"""The message for an edit that waits in the outbox."""
MOST_NEW_TAGS = 3
"""Maximum number of new tags that the save dialog shows."""


class PageDraft:
    """The draft of a page, and the version of the page on which it is based.

    Args:
        screen: the screen from which the page is edited.
        path: `space_id` and `change_request_id`.
        page_id: the id of the page.
    """

    noun, saved_message, waits_offline = "page", "saved to the change request", True

    def __init__(self, screen: BaseScreen, path: dict[str, Any], page_id: str) -> None:
        self._engine, self._outbox = screen.engine, screen.engine.outbox
        self.path, self._page_id = path, page_id
        self._base: EditorPage | None = None
        self._kept, self._kept_base = "", ""
        """The last draft stored or read here, and its base. Another instance may have the same draft open."""
        self._about: dict[str, str] = {}
        self.is_kept = False
        """Whether a draft is stored."""
        self._revision = ""
        """The revision that was last checked for edits by other users."""
        self._changed_by = ""
        self._edited_text, self._last_edit = "", LastEdit()
        """The text whose last edit was looked for, and the edit."""
        self.line: int | None = None
        self.age = ""
        """The age of the draft when it was opened, such as `, saved 2 h ago`; empty if unknown."""

    @property
    def page_id(self) -> str:
        """The id of the page. A page that was added offline gets the id of the service once it is sent."""
        return self._outbox.added_page(self._page_id)

    @property
    def _keys(self) -> list[str]:
        return [draft_key(self.path["change_request_id"], f"{name} {self.page_id}") for name in (PAGE, BASE)]

    @property
    def title(self) -> str:
        """The title of the page."""
        return self._base.title if self._base else ""

    async def open(self) -> str:
        """Read the page, and return the text to edit: the stored draft merged with the page, or else the page.

        A pending edit is part of the page; a failed edit becomes a draft.
        """
        self.take_failed()
        self._base = now = await self._read_page()
        text, base = (self._outbox.draft(key) for key in self._keys)
        self._kept, self.is_kept = text, bool(text)
        if not text:
            return now.text
        changed_at = self._outbox.draft_changed_at(self._keys[0])
        self.age = f", saved {long_ago(clock().timestamp() - changed_at)}" if changed_at else ""
        merged = (await self.merged(base or now.text, text, now.text)).text
        self.line = line_written(now.text, merged)
        return merged

    async def changed_by(self) -> str:
        """Return who else edited the page since it was read; empty if no one did."""
        request = await self._engine.poll(GetChangeRequest(**self.path))
        if request.revision != self._revision and self._base:
            self._revision, me = request.revision, self._engine.me.id
            base, now = self._base.text, (await self._read_page()).text
            self._changed_by = ""
            if base != now:
                editor = (await self._last_edit_of(now)).editor
                # the service may have reformatted the user's own edit
                if editor is None or editor.id != me or letters_of(base) != letters_of(now):
                    self._changed_by = sanitize(editor.display_name) if editor else SOMEBODY
        return self._changed_by

    async def _last_edit_of(self, text: str) -> LastEdit:
        """Return the last edit of the page, whose text this is.

        A known edit of the same text is not looked for again: after later edits of other pages, the service may not
        tell any more who made it.
        """
        if text != self._edited_text or self._last_edit.editor is None:
            last = await last_edit(self._engine.read, GetChangeRequest(**self.path), self.page_id)
            self._edited_text, self._last_edit = text, last
        return self._last_edit

    async def merge_saved(self, text: str) -> MergedText:
        """Merge a text with the current page. The current page becomes the base of the draft."""
        base, now = self._base, await self._read_page()
        merged = await self.merged(base.text if base else now.text, text, now.text)
        self._base, self._changed_by = now, ""
        self.keep(merged.text)
        return merged

    def take_failed(self) -> bool:
        """Move a failed edit of the page from the outbox to the draft. Return whether the page has a draft now."""
        edits = edits_of_page(self._outbox, self.path["change_request_id"], self.page_id)
        if edits and edits[0][0].state in FAILED:
            (first, _), (_, last) = edits[0], edits[-1]
            base = first.base or {}
            old = to_editor(base["title"], base["markdown"])
            text = to_editor(last.title or base["title"], last.document.markdown or "" if last.document else "").text
            draft, draft_base = (self._outbox.draft(key) for key in self._keys)
            if draft:
                text = merge_text(draft_base or text, draft, text).text
            about = draft_about(self._engine, self.path, page=old.title)
            texts = dict(zip(self._keys, (text, old.text), strict=True))
            self._engine.move_to_drafts([row.id for row, _ in edits], texts, about)
        return bool(self._outbox.draft(self._keys[0]))

    async def merged(self, base: str, ours: str, theirs: str) -> MergedText:
        """Merge a draft (`ours`) with the page (`theirs`). Conflict markers name people, revisions and times."""
        our_name = name_of_draft(self._engine, self._keys[0])
        return await merged_texts(base, ours, theirs, our_name, partial(self._name_of_revision, theirs))

    async def _name_of_revision(self, text: str) -> str:
        """Return the name of the page in conflict markers: change request, last editor of the page, and time."""
        try:
            request = await self._engine.read(GetChangeRequest(**self.path))
        except PresscheckError:
            return await name_of_saved()
        last = await self._last_edit_of(text)
        name = last.editor.display_name if last.editor else ""
        return revision_name(f"#{request.number}", name, last.at or request.updated_at)

    @property
    def slot(self) -> DraftSlot:
        """The slot that stores the draft together with its base."""
        about = draft_about(self._engine, self.path, page=self.title)
        return DraftSlot(
            self._outbox, self._keys[0], about=about, beside={self._keys[1]: self._base.text} if self._base else {}
        )

    @property
    def text(self) -> str:
        """The stored draft; empty if there is none."""
        return self._outbox.draft(self._keys[0]) or ""

    def keep(self, text: str) -> None:
        """Store the draft and its base. A text that equals the base removes the draft."""
        if self._base is None or text == self._base.text:
            self._forget()
            return
        if self._kept_base != self._base.text:
            self._kept_base = self._base.text
            self._about = draft_about(self._engine, self.path, page=self._base.title)
        # the base each time: another instance may have removed it, or stored its own
        key, base_key = self._keys
        self._outbox.save_draft(key, text, self._about, {base_key: self._base.text})
        self._kept, self.is_kept = text, True

    def _forget(self) -> None:
        """Remove the draft, unless another instance has changed it."""
        self._outbox.forget_draft(self._keys[0], self._kept, self._keys[1])
        self._kept, self._kept_base, self.is_kept = "", "", False

    def difference(self) -> Difference:
        """Return the difference between the base and the draft."""
        before = self._base.text if self._base else self.text
        return difference(before, self.text)

    def summary(self) -> list[Line]:
        """Render how much is lost if the draft is discarded."""
        return lost_lines(self.difference(), "are not in the page")

    def discard(self) -> str:
        """Remove the draft even if another instance has changed it, and return the text of the page."""
        for key in self._keys:
            self._outbox.save_draft(key, "")
        self._kept, self._kept_base, self.is_kept = "", "", False
        return self._base.text if self._base else ""

    async def save(self, screen: BaseScreen, text: str) -> Saved:
        """Save the edit after a confirmation. Edits by other users are merged first; on a conflict, nothing is sent.

        Args:
            screen: the screen that shows the confirmation.
            text: the text from the editor.

        Raises:
            PresscheckError: the page cannot be read or written; the text is kept as a draft.
        """
        before = self._base or await self._read_page()
        self._base = before
        if from_editor(before, text) is None:
            self._forget()
            return Saved("no changes", text)
        self._keep_sent(text)
        after = await self._read_page()
        merged = await self.merged(before.text, text, after.text)
        self._base, self._changed_by = after, ""
        self._keep_sent(merged.text)
        edit = from_editor(after, merged.text)
        if merged.conflicts:
            message = f"conflict: somebody edited the same lines; {key_for('edit')} opens both versions"
            return Saved(message, merged.text, line=line_of_conflict(merged.text), has_conflicts=True)
        if edit is None:
            return Saved("somebody else made the same edit: nothing is left to send", merged.text)
        if problem := problem_of_markers(merged.text, after.text):
            return problem
        diff = difference(after.text, merged.text)
        lines = _summary(edit, after, diff, merged.text, is_merged=after.text != before.text)
        if lost := await self._lost_types(after):
            names = ", ".join(sanitize(kind) for kind in lost)
            lines.append((Span("Not in the Markdown of the service, so saving removes it: ", "removed"), Span(names)))
        if not await confirm(screen, "Save to the change request?", lines, "Save", details=diff.lines):
            return Saved(f"not saved; {key_for('edit')} opens your draft", merged.text)
        if (await self._read_page()).text != after.text:
            message = (
                f"somebody edited the page just now: not saved; {key_for('edit')} opens your draft, merged with it"
            )
            return Saved(message, merged.text)
        new_title: dict[str, Any] = {"title": edit.title} if edit.title else {}
        change = UpdatePage(page=self.page_id, document=Document(markdown=edit.markdown), **new_title)
        is_queued = self._queue_in_new_page(change) or self._queue(change, after)
        if not is_queued:
            await screen.engine.write(EditChangeRequestContent(**self.path, changes=(change,))).landed()
        self._forget()
        self._base = to_editor(edit.title or after.title, edit.markdown)
        return Saved(with_keys(QUEUED) if is_queued else "", merged.text, is_sent=True)

    def _queue_in_new_page(self, change: UpdatePage) -> bool:
        """Merge an edit into the unsent write that adds its page. Returns False if the page exists already.

        Raises:
            NotNow: the page is being added.
        """
        if not change.page.startswith(NEW):
            return False
        row = self._outbox.row(int(change.page.removeprefix(NEW)))
        inserted = revive(row.name, row.given) if row else None
        if row and row.state in ("waiting", *FAILED) and isinstance(inserted, EditChangeRequestContent):
            given = {"document": change.document, **({"title": change.title} if change.title else {})}
            call = inserted.model_copy(update={"changes": (inserted.changes[0].model_copy(update=given),)})
            if self._engine.replace_edit(row, call):
                return True
        raise NotNow("The page is being added just now: save again")

    def _queue(self, change: UpdatePage, before: EditorPage) -> bool:
        """Queue an edit if the user is offline or an earlier edit of the page is pending. Otherwise return False."""
        pending = edits_of_page(self._outbox, self.path["change_request_id"], self.page_id)
        if not pending and self._engine.status.online:
            return False
        queue_edit(self._engine, self.path, change, page_base(before.title, before.markdown))
        return True

    def _keep_sent(self, text: str) -> None:
        """Store a text before sending it, unless it is stored: another instance may have stored a later text."""
        is_stored = self._base is not None and (text, self._base.text) == (self._kept, self._kept_base)
        if not is_stored or not self._outbox.draft(self._keys[0]):
            self.keep(text)

    async def _lost_types(self, page: EditorPage) -> tuple[str, ...]:
        """Return the kinds of content that the page has but its Markdown cannot express.

        Returns an empty tuple if the page is longer than `LONGEST_CHECKED`, or its nodes cannot be read.
        """
        if len(page.body_text) > LONGEST_CHECKED:
            return ()
        # 7 ms, only to save a page
        from presscheck.documents.nodes.lost_types import lost_types

        call = GetChangeRequestPage(**self.path, page_id=self.page_id, format="document")
        try:
            document = (await self._engine.read(call)).document
        except PresscheckError:
            return ()
        return await asyncio.to_thread(lost_types, document, page.body_text) if document else ()

    async def _read_page(self) -> EditorPage:
        """Return the current page as editor text."""
        call = GetChangeRequestPage(**self.path, page_id=self.page_id, format="markdown")
        page = await self._engine.read(call)
        return to_editor(page.title, page.markdown or "")


def _summary(edit: PageEdit, page: EditorPage, diff: Difference, text: str, *, is_merged: bool) -> list[Line]:
    """Render the edit for the confirmation: numbers of lines, new title, new tags, and remaining conflicts."""
    lines: list[Line] = [(Span(f"{sanitize(page.title)}: "), *diff.numbers)]
    if edit.title:
        lines.append((Span(f"new title: {sanitize(edit.title)}"),))
    lines += [
        (Span("It was text, and becomes a tag: ", "waiting"), Span(sanitize(tag.strip())))
        for tag in edit.new_tags[:MOST_NEW_TAGS]
    ]
    if len(edit.new_tags) > MOST_NEW_TAGS:
        lines.append((Span(f"… {count(len(edit.new_tags) - MOST_NEW_TAGS, 'more line')} like it", "waiting"),))
    if is_merged:
        lines.append((Span("Merged with an edit of somebody else.", "waiting"),))
    if conflicts := unresolved_conflicts(text, page.text):
        where = line_numbers(range(conflicts[0].first, conflicts[0].last + 1))
        first = "in" if len(conflicts) == 1 else "the first in"
        lines.append((Span(f"It still has {count(len(conflicts), 'conflict')}, {first} {where}.", "removed"),))
    return lines
