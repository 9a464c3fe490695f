"""Actions on files: open, save and upload. Disk and network access never block the screen."""

from __future__ import annotations

import asyncio
import base64
import secrets
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from presscheck.api.content import GetChangeRequestFile, GetFile, RevisionFile
from presscheck.api.content_changes import EditChangeRequestContent, InsertFiles, NewFile
from presscheck.api.operation import Operation
from presscheck.config.browser_tab import is_in_browser
from presscheck.documents.git_format.files import media_type
from presscheck.errors import PresscheckError
from presscheck.store.drafts import DraftSlot
from presscheck.text.phrases import size_of
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Span
from presscheck.tui.commands import key_for
from presscheck.tui.external_programs import is_openable, is_remote, open_file
from presscheck.tui.screens.page.editor import stays_locked
from presscheck.tui.screens.space_content.link_rows import markdown_of
from presscheck.tui.screens.web_address import open_address
from presscheck.tui.ui.ask import change_text, confirm, prompt

if TYPE_CHECKING:
    from presscheck.tui.screens.space_content.session import SpaceContent

LARGEST_UPLOAD = 1_000_000
"""Maximum size, in bytes, of a file that the API accepts."""
LONGEST_NAME = 256
"""Maximum number of characters in the name of a file."""
LONGEST_PATH = 4096


class FileActions:
    """The actions that open, save and upload files.

    Args:
        session: the content of the space.
    """

    def __init__(self, session: SpaceContent) -> None:
        self._session = session

    async def open(self, file: RevisionFile) -> None:
        """Open a file in the program for its type, or in the browser over SSH and for types that could run code."""
        name = local_name(file)
        if is_in_browser() or is_remote() or not is_openable(name):
            fresh = await self._fresh(file)
            open_address(self._session.screen.app_context, fresh.download_url)
            return
        content = await self._content(file)
        if not await asyncio.to_thread(open_file, name, content):
            open_address(self._session.screen.app_context, file.download_url)

    async def save(self, file: RevisionFile) -> None:
        """Ask for a path, and save a file to it. Replacing an existing file needs a confirmation."""
        about = {"space": self._session.space_id, "title": file.name}
        start = str(Path.cwd() / local_name(file))
        draft = DraftSlot(self._session.screen.engine.outbox, f"save {file.id}", start, about)
        title = f"Save {sanitize(file.name)} as"
        answer = await prompt(self._session.screen, title, draft, max_length=LONGEST_PATH, confirm_label="Save")
        if answer is None:
            return
        path = await asyncio.to_thread(_place, answer, local_name(file))
        if await asyncio.to_thread(path.exists):
            lines = [(Span("It is replaced, and cannot be restored."),)]
            question = f"Replace {sanitize(path.name)}?"
            if not await confirm(self._session.screen, question, lines, "Replace"):
                return
        content = await self._content(file)
        await asyncio.to_thread(_write, path, content)
        draft.discard()
        self._session.screen.notify(f"saved {size_of(len(content))} to {sanitize(str(path))}")

    async def upload(self) -> None:
        """Ask for a path, and upload the file at the path. On main, ask for a change request first."""
        if await stays_locked(self._session.screen, self._session.space_id):
            return
        draft = DraftSlot(self._session.screen.engine.outbox, f"upload {self._session.space_id}")
        await change_text(
            self._session.screen,
            f"Upload a file, at most {size_of(LARGEST_UPLOAD)}: its path",
            draft,
            self._upload,
            max_length=LONGEST_PATH,
            confirm_label="Upload",
            hint="~/Pictures/diagram.png",
        )

    async def _upload(self, path: str) -> bool:
        """Upload the file at a path, and return whether the user chose a change request and confirmed its name."""
        new = await asyncio.to_thread(read_upload, path)
        request = await self._session.request_path()
        if request is None or not await self._may_add(new.name):
            return False
        await self._send(request, new)
        return True

    async def _may_add(self, name: str) -> bool:
        if all(file.name != name for file in self._session.files):
            return True
        replace = key_for("find_replace")
        lines = [(Span(f"Both files stay: the API cannot delete files. {replace} replaces one on all pages."),)]
        question = f"Add another {sanitize(name)}?"
        return await confirm(self._session.screen, question, lines, "Add")

    async def _send(self, path: dict[str, Any], new: NewFile) -> None:
        connection, name = self._session.screen.engine.connection, sanitize(new.name)
        connection.set_running(f"uploading {name[:40]}")
        try:
            call = EditChangeRequestContent(**path, changes=(InsertFiles(files=(new,)),), compat=False)
            answer = await self._session.screen.engine.write(call).landed()
        finally:
            connection.set_running(None)
        file = answer.inserted_files[0] if answer and answer.inserted_files else None
        if file:
            self._session.screen.app_context.copy_to_clipboard(markdown_of(file))
        copied = "its Markdown is copied" if file else f"{key_for('open')} copies its Markdown"
        self._session.screen.notify(f"uploaded {name}: {copied}")

    async def _content(self, file: RevisionFile) -> bytes:
        """Download a file from a new address: addresses in listings may have expired."""
        connection = self._session.screen.engine.connection
        connection.set_running(f"downloading {sanitize(file.name)[:40]}")
        try:
            fresh = await self._fresh(file)
            return await self._session.screen.engine.download(self._read(file), fresh.download_url)
        finally:
            connection.set_running(None)

    async def _fresh(self, file: RevisionFile) -> RevisionFile:
        return await self._session.screen.engine.read(self._read(file))

    def _read(self, file: RevisionFile) -> Operation[RevisionFile]:
        space, request = self._session.space_id, self._session.change_request_id
        if request:
            return GetChangeRequestFile(space_id=space, change_request_id=request, file_id=file.id)
        return GetFile(space_id=space, file_id=file.id)


def local_name(file: RevisionFile) -> str:
    """Return a safe local name of a file: without folders, leading dots and control characters."""
    name = sanitize(file.name).replace("\\", "/").rpartition("/")[2].strip().lstrip(".")
    stem, dot, ending = name.rpartition(".")
    if len(name.encode()) > 200:
        name = f"{(stem or name)[:60]}{dot}{ending[:10]}"
    return name or "file"


def read_upload(typed: str) -> NewFile:
    """Read a file to upload.

    Raises:
        PresscheckError: the file is missing, unreadable, empty or too large, or not a regular file.
    """
    shown = sanitize(typed)
    try:
        path = Path(typed).expanduser()
        if not path.exists():
            raise PresscheckError(f"not uploaded, there is no file {shown}")
        if not path.is_file():
            raise PresscheckError(f"not uploaded, {shown} is {'a directory' if path.is_dir() else 'not a file'}")
        size = path.stat().st_size
        if size > LARGEST_UPLOAD:
            raise PresscheckError(f"not uploaded, {shown} has {size_of(size)}: at most {size_of(LARGEST_UPLOAD)}")
        content = path.read_bytes()
    except (OSError, RuntimeError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "invalid path"
        raise PresscheckError(f"not uploaded, {shown} cannot be read: {reason}") from None
    if not content:
        raise PresscheckError(f"not uploaded, {shown} is empty")
    if len(path.name) > LONGEST_NAME:
        raise PresscheckError(f"not uploaded, the name has more than {LONGEST_NAME} characters")
    return NewFile(name=path.name, base64=base64.b64encode(content).decode("ascii"), content_type=media_type(path.name))


def _place(typed: str, name: str) -> Path:
    """Return the path to save to. For a directory, the name of the file is appended.

    Raises:
        PresscheckError: the path is invalid, or its directory does not exist.
    """
    try:
        path = Path(typed).expanduser().absolute()
        path = path / name if path.is_dir() else path
        is_in_directory = path.parent.is_dir()
    except (OSError, RuntimeError, ValueError):
        raise PresscheckError(f"not saved, {sanitize(typed)} is not a path") from None
    if not is_in_directory:
        raise PresscheckError(f"not saved, there is no directory {sanitize(str(path.parent))}")
    return path


def _write(path: Path, content: bytes) -> None:
    """Write a file completely or not at all."""
    temporary = path.with_name(f".presscheck-{secrets.token_hex(8)}")
    try:
        with temporary.open("xb") as stream:
            stream.write(content)
        temporary.replace(path)
    except OSError as error:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise PresscheckError(f"not saved to {sanitize(str(path))}: {error.strerror}") from None
