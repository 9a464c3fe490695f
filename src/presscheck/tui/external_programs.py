"""Starts the editor and the browser of the user, without handing them secrets."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from contextlib import AbstractContextManager
from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING, Protocol

from textual.app import SuspendNotSupported

from presscheck.errors import PresscheckError
from presscheck.text.sanitize import display_url, is_safe_url

if TYPE_CHECKING:
    from presscheck.tui.app_context import AppContext

FALLBACK = ("nano", "vim", "vi")


class TerminalOwner(Protocol):
    """An app that can hand its terminal to another program for a while."""

    def suspend(self) -> AbstractContextManager[None]:
        """Leave the terminal to another program inside this context."""
        ...


def edit_text(app: TerminalOwner, text: str, *, suffix: str = ".md") -> str:
    """The text as it comes back from the user's editor; the app is away meanwhile.

    Raises:
        PresscheckError: there is no editor, or it failed; the text it was given is lost nowhere.
    """
    handle, name = tempfile.mkstemp(prefix="presscheck-", suffix=suffix)
    file = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as opened:
            opened.write(text)
        with app.suspend():
            # the user's own command, in the user's own environment
            ended = subprocess.run([*editor(), name], env=environment(), check=False)  # noqa: S603
        if ended.returncode:
            raise PresscheckError(f"the editor failed with exit code {ended.returncode}: no changes")
        return file.read_text("utf-8", errors="replace")
    except SuspendNotSupported:
        raise PresscheckError("this terminal cannot be handed to an editor") from None
    except OSError as error:
        raise PresscheckError(f"the editor {' '.join(editor())} cannot be started: {error.strerror}") from None
    finally:
        file.unlink(missing_ok=True)


def editor() -> list[str]:
    """The command of the user's editor."""
    chosen = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    return shlex.split(chosen) if chosen else [next((name for name in FALLBACK if which(name)), "vi")]


def environment() -> dict[str, str]:
    """The environment of child processes, without the token."""
    return {name: value for name, value in os.environ.items() if name != "PRESSCHECK_TOKEN"}


def open_address(app: AppContext, url: str) -> None:
    """Open a web or mail address in the browser; without a browser, copy and show it."""
    if not is_safe_url(url):
        app.notify(f"not opened, this is not a web address: {display_url(url)}")
        return
    if is_remote() or not _opened(url):
        app.copy_to_clipboard(url)  # through the terminal, so over SSH too; the line below may be too short for it
        app.notify(f"copied: {display_url(url)}")


def is_remote() -> bool:
    """Whether a browser would open on another machine than the user's."""
    has_display = bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")) or os.name == "nt"
    return (
        "SSH_CONNECTION" in os.environ or "SSH_TTY" in os.environ or not (has_display or os.uname().sysname == "Darwin")
    )


def _opened(url: str) -> bool:
    opener = {"Darwin": "open"}.get(os.uname().sysname, "xdg-open")
    try:
        subprocess.Popen(  # noqa: S603
            [opener, url],
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError:
        return False
    return True
