"""The tab of visitor sign-in: backend, addresses, and the key, which is never shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from typing_extensions import override

from presscheck.api.operation import NOT_CACHED
from presscheck.api.site_settings import GetPublishingAuth, RegeneratePublishingAuth, UpdatePublishingAuth
from presscheck.store.drafts import DraftSlot
from presscheck.text.sanitize import is_safe_url, sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.commands import key_for
from presscheck.tui.screens.sites.writes import send
from presscheck.tui.ui.ask import change_text, choose, confirm
from presscheck.tui.ui.list import Column, List
from presscheck.tui.ui.loaded import Loaded
from presscheck.tui.widgets.picker import Choice

if TYPE_CHECKING:
    from presscheck.api.operation import Operation
    from presscheck.api.site_settings import PublishingAuth
    from presscheck.tui.screens.sites.access.session import SiteAccess

NAME_COLUMNS = 22
LONGEST_URL = 2048
BACKENDS = {"custom": "your own server signs visitors in", "integration": "an integration signs visitors in"}


class Setting(NamedTuple):
    """A row of the tab: a setting with its value as display text."""

    key: str
    name: str
    value: str
    style: str = ""


class SignInSettings(List[Setting]):
    """The sign-in settings of a site.

    Args:
        session: the access settings of the site.
    """

    name, nouns, place = "Visitor sign-in", "settings", " of this site"
    footer = ("rename", "copy", "rotate_key", "down", "close")

    def __init__(self, session: SiteAccess) -> None:
        self._session = session
        setting = Column[Setting]("setting", lambda row: (Span(row.name, "strong"),), NAME_COLUMNS, gap=0)
        super().__init__((setting, Column("value", lambda row: (Span(row.value, row.style),))))

    @override
    @property
    def loaded(self) -> Loaded[Sequence[Setting]]:
        return self._session.sign_in.map(settings)

    @override
    @property
    def total(self) -> None:
        """Always None: settings are not counted."""

    @override
    def key_of(self, item: Setting) -> str:
        return item.key

    @override
    def summary(self) -> Line:
        visibility = self._session.site.visibility
        is_used = visibility == "visitor-auth"
        note = "visitors sign in" if is_used else f"not used: the site is {sanitize(visibility)}"
        return (Span(note, "" if is_used else "waiting"),)

    def reason_rename(self) -> str | None:
        """Return why the setting cannot be changed: the change is not allowed now, or the settings are not loaded."""
        return self._reason(UpdatePublishingAuth)

    def reason_copy(self) -> str | None:
        """Return why the key cannot be copied: the site has no key, or the settings are not loaded."""
        sign_in = self._session.sign_in.value
        return self._reason() or (
            f"there is no key yet: {key_for('rotate_key')} makes one" if sign_in and not sign_in.private_key else None
        )

    def rotate_reason(self) -> str | None:
        """Return why the key cannot be replaced: the change is not allowed now, or the settings are not loaded."""
        return self._reason(RegeneratePublishingAuth)

    def _reason(self, write: type[Operation[Any]] | None = None) -> str | None:
        if reason := self._session.reason(GetPublishingAuth, write, "admin"):
            return reason
        return "not loaded yet" if self._session.sign_in.value is None else None

    async def command_copy(self) -> None:
        """Copy the key."""
        sign_in = await self._session.screen.engine.read(GetPublishingAuth(**self._session.path))
        if sign_in.private_key == NOT_CACHED:
            self._session.screen.notify("you are offline, and the key is not cached")
        else:
            self._session.screen.app_context.copy_to_clipboard(sign_in.private_key)
            self._session.screen.notify("copied the key: anyone who has it can sign in as any visitor")

    async def rotate(self) -> None:
        """Replace the key, after the user has typed the title of the site."""
        title = sanitize(self._session.site.title)
        lines: list[Line] = [
            (Span("Visitors who are signed in are signed out, and cannot sign in"),),
            (Span("until your server has the new key.", ""),),
            (Span("The former key cannot be restored.", "waiting"),),
        ]
        if await confirm(self._session.screen, f"Rotate the key of {title}?", lines, "Rotate", type_to_confirm=title):
            await send(self._session.screen, RegeneratePublishingAuth(**self._session.path))
            self._session.screen.notify(f"the key is replaced: {key_for('copy')} copies the new one")

    async def command_rename(self) -> None:
        """Change the setting under the cursor."""
        row, sign_in = self.current, self._session.sign_in.value
        if row is None or sign_in is None:
            return
        setting = row.key
        if setting == "key":
            self._session.screen.notify(f"{key_for('copy')} copies the key, {key_for('rotate_key')} rotates it")
        elif setting == "backend":
            choices = [Choice(name, name, words) for name, words in BACKENDS.items()]
            chosen = await choose(self._session.screen, "Visitors are signed in by", choices, current=sign_in.backend)
            if chosen and chosen != sign_in.backend:
                await self._send(chosen)
        else:
            present = getattr(sign_in, setting) or ""
            site = self._session.site
            about = {"site": site.id, "title": f"{row.name} · {site.title}"}
            draft = DraftSlot(
                self._session.screen.engine.outbox, f"sign-in {setting} of site {site.id}", present, about
            )

            async def write(url: str) -> None:
                await self._send(sign_in.backend, **{setting: url or None})

            await change_text(
                self._session.screen,
                row.name,
                draft,
                write,
                min_length=0,
                max_length=LONGEST_URL,
                validate=lambda typed: None if not typed or _is_web(typed) else "a URL such as https://example.org",
                hint="https://example.org/sign-in; empty: none",
            )

    async def _send(self, backend: str, **given: Any) -> None:
        call = UpdatePublishingAuth(**self._session.path, backend=cast("Any", backend), **given)
        await send(self._session.screen, call)


def settings(sign_in: PublishingAuth) -> list[Setting]:
    """Return the settings as rows. The key is never shown."""
    backend = sanitize(sign_in.backend)
    return [
        Setting("backend", "Backend", f"{backend}: {BACKENDS.get(backend, '')}".rstrip(": ")),
        Setting("fallback_url", "Sign-in page", sanitize(sign_in.fallback_url or "") or "not set"),
        Setting("logout_url", "After signing out", sanitize(sign_in.logout_url or "") or "not set"),
        Setting(
            "key",
            "Key",
            f"set; it is never shown: {key_for('copy')} copies it" if sign_in.private_key else "none",
            "quiet",
        ),
    ]


def _is_web(text: str) -> bool:
    return is_safe_url(text) and text.startswith(("https://", "http://"))
