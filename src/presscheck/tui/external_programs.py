"""The user's editor and browser, started without the API token in their environment."""

from __future__ import annotations

import atexit
import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from textual.app import SuspendNotSupported

from presscheck.config.browser_tab import is_in_browser
from presscheck.config.tokens import child_environment
from presscheck.errors import PresscheckError, StoreError

if TYPE_CHECKING:
    from presscheck.engine.engine import Engine
    from presscheck.store.drafts import DraftSlot
    from presscheck.tui.app_context import AppContext

HARMLESS = frozenset(("png", "jpg", "jpeg", "gif", "webp", "bmp", "mp3", "ogg", "wav", "mp4", "webm", "pdf", "txt"))
"""File extensions that may be opened; other files, such as HTML, scripts and documents with macros, could run code."""
LINE_EDITORS = frozenset(
    ("vi", "vim", "nvim", "view", "nano", "pico", "emacs", "emacsclient", "micro", "kak", "joe", "jed", "ne", "mg")
)
"""Editors that accept `+LINE` before the file name."""
FALLBACK_EDITORS = ("nano", "vim", "vi")


def edit_text(
    app: AppContext,
    text: str,
    keep: Callable[[str], None],
    slot: DraftSlot,
    *,
    suffix: str = ".md",
    line: int | None = None,
) -> str:
    """Open a text in the user's editor, with the app suspended, and return the edited text.

    Args:
        app: the app, which hands its terminal to the editor.
        text: the text to edit.
        keep: stores the edited text as a draft.
        slot: the draft. If this process is killed while the editor is open, the next start saves the edited text there.
        suffix: the suffix of the file name.
        line: the line to begin at, counted from 0; ignored for unknown editors.

    Raises:
        PresscheckError: the text could not be stored for the editor, or the editor could not be started or failed.
    """
    from presscheck.store.open_texts import OpenText  # 4 ms, only to edit a text

    try:
        opened = OpenText(slot, text, suffix)
    except (OSError, StoreError) as error:
        reason = error.message if isinstance(error, StoreError) else error.strerror
        raise PresscheckError(f"the text cannot be stored for the editor: {reason}") from None
    # a command of the user, without a shell and without untrusted text
    command = [*editor(), *_at_line(line), str(opened.file)]
    try:
        with app.suspend():
            completed = subprocess.run(command, env=child_environment(), check=False)  # noqa: S603
        edited = opened.written(failed=bool(completed.returncode))
    except SuspendNotSupported:
        opened.remove()
        raise PresscheckError("this terminal cannot be handed to an editor") from None
    except OSError as error:
        opened.remove()
        raise PresscheckError(f"the editor {' '.join(editor())} cannot be started: {error.strerror}") from None
    if edited != text:
        keep(edited)
    opened.remove()
    if not completed.returncode:
        return edited
    failure = f"the editor failed with exit code {completed.returncode}"
    if edited == text:
        raise PresscheckError(f"{failure}: no changes")
    raise PresscheckError(f"{failure}: not saved, and what it wrote is kept as a draft")


def folder_reason(engine: Engine) -> str | None:
    """Return why no folder can be opened: the app is offline."""
    return None if engine.status.online else "you are offline: a checkout needs the service"


def run_in_folder(app: AppContext, command: list[str], folder: Path) -> int:
    """Run the user's program in a folder, with the app suspended. Return its exit code.

    Raises:
        PresscheckError: the program could not be started.
    """
    try:
        with app.suspend():
            return subprocess.run(command, cwd=folder, env=child_environment(), check=False).returncode  # noqa: S603
    except SuspendNotSupported:
        raise PresscheckError("this terminal cannot be handed to another program") from None
    except OSError as error:
        raise PresscheckError(f"{' '.join(command)} cannot be started: {error.strerror}") from None


def shell() -> list[str]:
    """Return the user's shell."""
    return [os.environ.get("SHELL") or "/bin/sh"]


def editor() -> list[str]:
    """Return the editor command from VISUAL or EDITOR, else the first installed fallback."""
    command = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    return shlex.split(command) if command else [next((name for name in FALLBACK_EDITORS if shutil.which(name)), "vi")]


def _at_line(line: int | None) -> list[str]:
    command = editor()
    return [f"+{line + 1}"] if line is not None and command and Path(command[0]).name in LINE_EDITORS else []


def is_built_in(setting: str | None) -> bool:
    """Return whether pages are edited in the built-in editor.

    By default, it is used if VISUAL and EDITOR are unset, and always in a web browser, which has no terminal.
    """
    if is_in_browser():
        return True
    return setting == "built-in" if setting else not (os.environ.get("VISUAL") or os.environ.get("EDITOR"))


def is_openable(name: str) -> bool:
    """Return whether a file with this name is safe to open: an image, sound, video, plain text or PDF."""
    _, dot, ending = name.rpartition(".")
    return bool(dot) and ending.lower() in HARMLESS


def open_file(name: str, content: bytes) -> bool:
    """Store a file in a temporary directory of this process and open it.

    Returns:
        Whether a program could be started.

    Raises:
        PresscheckError: the file cannot be stored.
    """
    try:
        path = Path(tempfile.mkdtemp(dir=_opened_files())) / name
        path.write_bytes(content)
    except OSError as error:
        raise PresscheckError(f"the file cannot be stored to open it: {error.strerror}") from None
    return open_in_browser(str(path))


@cache
def _opened_files() -> str:
    """Return the temporary directory for opened files, which is deleted when the process exits.

    Programs may read the files long after they were started.
    """
    directory = tempfile.mkdtemp(prefix="presscheck-")
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    return directory


def is_remote() -> bool:
    """Return whether a browser cannot be opened for the user, for example over SSH or without a display."""
    has_display = bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")) or os.name == "nt"
    return (
        "SSH_CONNECTION" in os.environ or "SSH_TTY" in os.environ or not (has_display or os.uname().sysname == "Darwin")
    )


def open_in_browser(url: str) -> bool:
    """Open a web address or a file with the desktop's program. Return whether the program could be started."""
    opener = {"Darwin": "open"}.get(os.uname().sysname, "xdg-open")
    try:
        subprocess.Popen(  # noqa: S603
            [opener, url],
            env=child_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError:
        return False
    return True
