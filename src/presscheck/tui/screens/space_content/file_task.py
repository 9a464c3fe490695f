"""Replacement of a file of a space with a local file. Uses of the file are chosen like the hits of a text."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from presscheck.engine.replacement.file_search import FileQuery, free_name
from presscheck.errors import PresscheckError
from presscheck.store.drafts import DraftSlot
from presscheck.text.phrases import count, size_of
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.commands import key_for
from presscheck.tui.screens.new_request import SUBJECT
from presscheck.tui.screens.space_content.file_actions import LARGEST_UPLOAD, LONGEST_PATH, read_upload
from presscheck.tui.ui.ask import prompt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from presscheck.api.content import RevisionFile
    from presscheck.errors import InvalidArgument
    from presscheck.tui.ui.screen import BaseScreen


class FileTask:
    """The replacement of a file.

    Args:
        space_id: the id of the space.
        query: the file, and the local file that replaces it.
        files: all files of the space.
    """

    title = "Replace a file"

    def __init__(self, space_id: str, query: FileQuery, files: Sequence[RevisionFile]) -> None:
        self._space_id, self.query, self._files = space_id, query, files

    @property
    def draft(self) -> str:
        """The key of the stored draft of the path."""
        return _draft_key(self.query.file)

    def line(self) -> Line:
        """Render the names of both files."""
        old, new = sanitize(self.query.file.name), sanitize(self.query.new.name)
        return (Span(" "), Span(old, "removed strike"), Span(" → ", "quiet"), Span(new, "added underline"))

    def subject(self) -> str:
        """Return a proposed subject for a new change request."""
        return f"Replace the file {sanitize(self.query.file.name)}"[:SUBJECT]

    def empty(self, searched: int) -> tuple[str, str]:
        """Return a sentence and a hint if no page shows the file."""
        name = sanitize(self.query.file.name)
        return (
            f"None of {count(searched, 'page')} shows {name}.",
            f"Nothing was uploaded: {key_for('add')} in the list of files does that.",
        )

    def notes(self) -> list[Line]:
        """Return a note that the old file stays in the space."""
        new = sanitize(self.query.new.name)
        return [(Span(f"Uploads {new}. The former file stays in the space: the API cannot delete files."),)]

    async def change(self, screen: BaseScreen, error: InvalidArgument | None) -> bool:
        """Ask for another local file. Returns False if canceled."""
        query = await ask_file(screen, self._space_id, self.query.file, self._files)
        self.query = query or self.query
        return query is not None


async def ask_file(
    screen: BaseScreen, space_id: str, file: RevisionFile, files: Sequence[RevisionFile]
) -> FileQuery | None:
    """Ask for the path of a local file that replaces a file. Returns None if canceled.

    Args:
        screen: the screen that shows the dialog.
        space_id: the id of the space.
        file: the file to replace.
        files: all files of the space; the new file gets a name that differs from theirs.

    Raises:
        PresscheckError: the local file cannot be read, is too large, or is not an image although the old file is.
    """
    about = {"space": space_id, "title": file.name}
    answer = await prompt(
        screen,
        f"Replace {sanitize(file.name)} by a local file, at most {size_of(LARGEST_UPLOAD)}: its path",
        DraftSlot(screen.engine.outbox, _draft_key(file), about=about),
        max_length=LONGEST_PATH,
        confirm_label="show where",
        hint="~/Pictures/diagram.png",
    )
    if answer is None:
        return None
    new = await asyncio.to_thread(read_upload, answer)
    if _is_image(file.content_type) and not _is_image(new.content_type or ""):
        raise PresscheckError(
            f"not replaced, {sanitize(new.name)} is not an image: pages show {sanitize(file.name)} as one"
        )
    return FileQuery(file, new.model_copy(update={"name": free_name(new.name, files)}))


def _is_image(content_type: str) -> bool:
    return content_type.startswith("image/")


def _draft_key(file: RevisionFile) -> str:
    return f"replace file {file.id}"
