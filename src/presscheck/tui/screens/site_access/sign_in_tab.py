"""The tab of visitor sign-in: who signs visitors in, where they go without, and the key, which is never shown."""

from __future__ import annotations

from collections.abc import Awaitable, Hashable
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from presscheck.api.operation import NOT_CACHED
from presscheck.api.site_settings import GetPublishingAuth, RegeneratePublishingAuth, UpdatePublishingAuth
from presscheck.text.sanitize import is_safe_url, sanitize
from presscheck.text.styled_text import Line, Span, cut, pad
from presscheck.tui.screens.site.writes import send
from presscheck.tui.widgets.confirm_dialog import ConfirmDialog
from presscheck.tui.widgets.picker import Choice, Picker
from presscheck.tui.widgets.prompt_dialog import PromptDialog

if TYPE_CHECKING:
    from presscheck.tui.screens.site_access.context import AccessContext

NAME_COLUMNS = 22
LONGEST_URL = 2048
BACKENDS = {"custom": "your own server signs visitors in", "integration": "an integration signs visitors in"}


class Setting(NamedTuple):
    """A row: a setting and its value."""

    key: str
    name: str
    value: str
    style: str = ""


class SignInTab:
    """How visitors sign in.

    Args:
        screen: the screen of access.
    """

    name, noun = "Visitor sign-in", "settings"
    footer = ("rename", "copy", "rotate_key", "down", "close")

    def __init__(self, screen: AccessContext) -> None:
        self._screen = screen
        self._text = ""

    @property
    def shown(self) -> list[Setting]:
        """The settings that are listed."""
        sign_in = self._screen.model.sign_in
        if sign_in is None:
            return []
        backend = sanitize(sign_in.backend)
        key = Setting("key", "Key", "set; it is never shown: y copies it" if sign_in.private_key else "none", "quiet")
        rows = [
            Setting("backend", "Backend", f"{backend}: {BACKENDS.get(backend, '')}".rstrip(": ")),
            Setting("fallback_url", "Sign-in page", sanitize(sign_in.fallback_url or "") or "not set"),
            Setting("logout_url", "After signing out", sanitize(sign_in.logout_url or "") or "not set"),
            key,
        ]
        return [row for row in rows if self._text in f"{row.name} {row.value}".lower()]

    @property
    def total(self) -> int | None:
        """None: settings are not counted."""
        return None

    @property
    def count(self) -> int:
        """The number of rows."""
        return len(self.shown)

    def key(self, index: int) -> Hashable | None:
        """What identifies a row."""
        return self.shown[index].key if index < self.count else None

    def filter(self, text: str) -> None:
        """Show only the rows with a text."""
        self._text = text

    def summary(self) -> Line:
        """Whether visitors sign in at all."""
        visibility = self._screen.model.site.visibility
        is_used = visibility == "visitor-auth"
        note = "visitors sign in" if is_used else f"not used: the site is {sanitize(visibility)}"
        return (Span(note, "" if is_used else "waiting"),)

    def heading(self, columns: int) -> Line:
        """The names of the columns."""
        return (*pad((Span("setting", "quiet"),), NAME_COLUMNS), Span("value", "quiet"))

    def row(self, index: int, columns: int) -> Line:
        """A setting."""
        setting = self.shown[index]
        value = cut((Span(setting.value, setting.style),), max(8, columns - NAME_COLUMNS))
        return (*pad((Span(setting.name, "strong"),), NAME_COLUMNS), *value)

    def empty(self) -> tuple[str, str]:
        """Why there is nothing."""
        return "The sign-in settings are not loaded.", ""

    def reason(self, command: str) -> str | None:
        """Why a command cannot run now."""
        if missing := self._screen.engine.missing_reason(GetPublishingAuth):
            return missing
        if command in ("add", "delete"):
            return "settings are changed with E"
        operation = RegeneratePublishingAuth if command == "rotate_key" else UpdatePublishingAuth
        if command != "copy" and (reason := self._screen.change_reason(operation, "admin")):
            return reason
        sign_in = self._screen.model.sign_in
        if sign_in is None:
            return "not loaded yet"
        return "there is no key yet: . k makes one" if command == "copy" and not sign_in.private_key else None

    def run(self, command: str) -> Awaitable[None] | None:
        """Run a command."""
        if command == "copy":
            return self._copy()
        return self._rotate() if command == "rotate_key" else self._change()

    async def _copy(self) -> None:
        sign_in = await self._screen.engine.read(GetPublishingAuth(**self._screen.model.path))
        if sign_in.private_key == NOT_CACHED:
            self._screen.notify("you are offline, and the key is not cached")
        else:
            self._screen.app_context.copy_to_clipboard(sign_in.private_key)
            self._screen.notify("copied the key: anyone who has it can sign in as any visitor")

    async def _rotate(self) -> None:
        title = sanitize(self._screen.model.site.title)
        lines: list[Line] = [
            (Span("Visitors who are signed in are signed out, and cannot sign in"),),
            (Span("until your server has the new key.", ""),),
            (Span("The former key cannot be restored.", "waiting"),),
        ]
        dialog = ConfirmDialog(f"Rotate the key of {title}?", lines, "Rotate", type_to_confirm=title)
        if await self._screen.ask(dialog):
            await send(self._screen, RegeneratePublishingAuth(**self._screen.model.path))
            self._screen.notify("the key is replaced: y copies the new one")

    async def _change(self) -> None:
        at = self._screen.rows.cursor
        setting = self.shown[at].key if at < self.count else ""
        sign_in = self._screen.model.sign_in
        if sign_in is None:
            return
        if setting == "key":
            self._screen.notify("y copies the key, . k rotates it")
        elif setting == "backend":
            choices = [Choice(name, name, words) for name, words in BACKENDS.items()]
            picker = Picker("Visitors are signed in by", choices, ranked=False, current=sign_in.backend)
            chosen = await self._screen.ask(picker)
            if chosen and chosen[0] != sign_in.backend:
                await self._send(chosen[0])
        else:
            present = getattr(sign_in, setting) or ""
            dialog = PromptDialog(
                self.shown[at].name,
                present,
                min_length=0,
                max_length=LONGEST_URL,
                validate=lambda typed: None if not typed or _is_web(typed) else "a URL such as https://example.org",
                hint="https://example.org/sign-in; empty: none",
            )
            url = await self._screen.ask(dialog)
            if url is not None and url != present:
                await self._send(sign_in.backend, **{setting: url or None})

    async def _send(self, backend: str, **given: Any) -> None:
        call = UpdatePublishingAuth(**self._screen.model.path, backend=cast("Any", backend), **given)
        await send(self._screen, call)


def _is_web(text: str) -> bool:
    return is_safe_url(text) and text.startswith(("https://", "http://"))
