"""The tabs of an integration's installations, and of the spaces and sites where it is installed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

from typing_extensions import override

from presscheck.api.integrations import (
    Installation,
    SiteInstallation,
    SpaceInstallation,
    UninstallIntegration,
    UpdateInstallation,
)
from presscheck.engine.integrations.settings import missing_settings
from presscheck.text.phrases import count, now, since
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui import places
from presscheck.tui.commands import key_for
from presscheck.tui.screens.admin.integration.session import place_id, place_title
from presscheck.tui.screens.web_address import open_address
from presscheck.tui.ui.ask import choose
from presscheck.tui.ui.list import Column, List
from presscheck.tui.ui.loaded import Loaded
from presscheck.tui.widgets.empty_state import Message
from presscheck.tui.widgets.picker import Choice

if TYPE_CHECKING:
    from presscheck.tui.screens.admin.integration.actions import IntegrationActions
    from presscheck.tui.screens.admin.integration.session import IntegrationSession

STATUS = {"active": ("✓ active", "added"), "pending": ("◷ pending", "waiting"), "paused": ("○ paused", "quiet")}
STATUS_COLUMNS, SELECTION_COLUMNS, DATE_COLUMNS = 11, 16, 13
INSTALLER_COLUMNS = 24
WIDE = STATUS_COLUMNS + SELECTION_COLUMNS * 2 + DATE_COLUMNS + 36
"""Minimum width in cells of a list with all columns."""
Place = SpaceInstallation | SiteInstallation


class InstallationList(List[Installation]):
    """The installations of an integration.

    Args:
        session: the integration.
        actions: changes an installation.
        show_events: shows the events of an installation.
    """

    name, nouns, place = "Installations", "installations", " of this integration"
    footer = ("open", "add", "rename", "delete", "find_here", "close")

    def __init__(
        self,
        session: IntegrationSession,
        actions: IntegrationActions,
        show_events: Callable[[Installation], None],
    ) -> None:
        self._session, self._actions, self._show_events = session, actions, show_events
        super().__init__(
            (
                Column("organization", self._organization, share=3),
                Column("status", _status, STATUS_COLUMNS),
                Column("spaces", _spaces, SELECTION_COLUMNS),
                Column("sites", _sites, SELECTION_COLUMNS, from_width=WIDE),
                Column("installed", _installed, DATE_COLUMNS, from_width=WIDE),
                Column("settings", self._settings, share=2),
            )
        )

    @override
    @property
    def loaded(self) -> Loaded[Sequence[Installation]]:
        return self._session.installations

    @override
    def searched(self, item: Installation) -> str:
        return f"{self._session.organization_of(item)} {item.status} {item.id}"

    def _organization(self, installation: Installation) -> Line:
        return (Span(self._session.organization_of(installation), "strong"),)

    def _settings(self, installation: Installation) -> Line:
        missing = missing_settings(self._session.integration, installation.configuration)
        if not missing and self._session.is_own(installation) and self._session.needs_approval:
            return (Span(f"⚠ new permissions: {key_for('add')} approves", "waiting"),)
        return (Span(f"⚠ needs {', '.join(missing)}", "waiting") if missing else Span("complete", "quiet"),)

    @override
    def summary(self) -> Line:
        if not self._session.installations.value:
            return ()
        more = "   the first ones only" if "installations" in self._session.truncated else ""
        return (Span(count(len(self._session.installations.value), "installation")), Span(more, "waiting"))

    @override
    def empty(self) -> Message:
        return Message("It is not installed yet.", self._installs)

    @property
    def _installs(self) -> str:
        return f"{key_for('add')} installs it in {sanitize(self._session.organization.title)}."

    @override
    def explanation(self, *, online: bool) -> Message:
        if self.loaded.state(online=online) == "forbidden":
            return self._session.owners_only(self.nouns, self._installs)
        return super().explanation(online=online)

    def reason_add(self) -> str | None:
        """Return why the integration cannot be installed: it is installed already, or the change is not allowed now."""
        return self._session.install_reason()

    def command_add(self) -> Awaitable[None]:
        """Install the integration."""
        return self._actions.install()

    def reason_open(self) -> str | None:
        """Return why the installation cannot be opened: there is none."""
        return None if self.current else f"no installation here: {key_for('add')} installs it"

    reason_copy = reason_open

    def reason_rename(self) -> str | None:
        """Return why the installation cannot be changed: there is none, or the change is not allowed now."""
        return self.reason_open() or self._session.change_reason(UpdateInstallation, "either")

    def command_rename(self) -> Awaitable[None] | None:
        """Change the settings of the installation."""
        return self._actions.configure(self.current) if self.current else None

    def reason_delete(self) -> str | None:
        """Return why the integration cannot be uninstalled: it is not installed, or the change is not allowed now."""
        return self.reason_open() or self._session.change_reason(UninstallIntegration, "either")

    def command_delete(self) -> Awaitable[None] | None:
        """Uninstall the integration."""
        return self._actions.uninstall(self.current) if self.current else None

    def reason_web(self) -> str | None:
        """Return why the installation cannot be opened in the browser: there is none, or it has no web address."""
        if reason := self.reason_open():
            return reason
        return None if self.current and self.current.urls.app else "it has no web address"

    def command_web(self) -> None:
        """Open the installation in the browser."""
        if self.current:
            open_address(self._session.screen.app_context, self.current.urls.app or "")

    def command_copy(self) -> None:
        """Copy the id of the installation."""
        if self.current:
            self._session.copy(self.current.id, "id of the installation")

    async def command_open(self) -> None:
        """Choose an action on the installation, and run the action."""
        installation, session = self.current, self._session
        if installation is None:
            return
        selections = {"all": "all", "selected": "selected"}
        spaces = selections.get(installation.space_selection or "", "–")
        sites = selections.get(installation.site_selection or "", "–")
        choices = [
            Choice("settings", "Settings", key_for("rename"), letter="s"),
            Choice("space", "Which spaces", spaces, letter="p"),
            Choice("site", "Which sites", sites, letter="t"),
            Choice("events", "Events of this installation", letter="e"),
            Choice("details", "Details", "ids, addresses, settings as they are stored", letter="d"),
            Choice("uninstall", "Uninstall", key_for("delete"), letter="u"),
        ]
        title = f"{session.title} in {session.organization_of(installation)}"
        what = await choose(session.screen, title, choices)
        if not what:
            return
        if what == "events":
            self._show_events(installation)
            return
        if what == "details":
            await self._actions.show_details(installation, title)
            return
        operation: Any = UninstallIntegration if what == "uninstall" else UpdateInstallation
        if reason := session.change_reason(operation, "either"):
            session.screen.notify(reason)
        elif what == "settings":
            await self._actions.configure(installation)
        elif what == "uninstall":
            await self._actions.uninstall(installation)
        else:
            await self._actions.select(installation, "space" if what == "space" else "site")


class PlaceList(List[Place]):
    """The spaces or sites of all installations.

    Args:
        session: the integration.
        actions: changes an installation.
        kind: the kind of the listed places.
    """

    place = " of this integration"
    footer = ("open", "rename", "copy", "find_here", "close")

    def __init__(
        self, session: IntegrationSession, actions: IntegrationActions, kind: Literal["space", "site"]
    ) -> None:
        self._session, self._actions = session, actions
        self._kind: Literal["space", "site"] = kind
        self.name, self.nouns = f"{kind.title()}s", f"{kind}s"
        super().__init__(
            (
                Column(kind, lambda item: (Span(place_title(_place_of(item)), "strong"),)),
                Column("status", _status, STATUS_COLUMNS, gap=0),
                Column("organization", self._installer, INSTALLER_COLUMNS),
            )
        )

    @override
    @property
    def loaded(self) -> Loaded[Sequence[Place]]:
        places = self._session.spaces if self._kind == "space" else self._session.sites
        return Loaded(places.value, places.error)

    @override
    def key_of(self, item: Place) -> tuple[str | None, str]:
        return (item.installation, place_id(_place_of(item)))

    @override
    def searched(self, item: Place) -> str:
        return place_title(_place_of(item))

    def _installer(self, item: Place) -> Line:
        return (Span(self._session.installer(item.installation), "quiet"),)

    @override
    def summary(self) -> Line:
        if not self.loaded.value:
            return ()
        more = "   the first ones only" if self.nouns in self._session.truncated else ""
        return (Span(count(len(self.loaded.value), self._kind)), Span(more, "waiting"))

    @override
    def empty(self) -> Message:
        if self._session.installations.value:
            return Message(
                f"It works in no {self.nouns}.", f"{key_for('rename')} chooses between all and selected {self.nouns}."
            )
        return Message("It is not installed yet.", f"{key_for('add')} installs it.")

    @override
    def explanation(self, *, online: bool) -> Message:
        if self.loaded.state(online=online) == "forbidden":
            return self._session.owners_only(self.nouns)
        return super().explanation(online=online)

    @property
    def _installation(self) -> Installation | None:
        """The installation of the row under the cursor; without a row, the organization's own installation."""
        current, session = self.current, self._session
        items = session.installations.value or ()
        own = (item for item in items if current and item.id == current.installation)
        return next(own, None) or session.installation

    def _reason_single(self, verb: str) -> str:
        return (
            f"{key_for('web')} opens the web app, where single {self.nouns} are {verb}; {key_for('rename')} chooses all"
        )

    def reason_add(self) -> str:
        """Return why a space or site cannot be added: the API cannot add a single space or site."""
        return self._reason_single("added")

    def reason_delete(self) -> str:
        """Return why the space or site cannot be removed: the API cannot remove a single space or site."""
        return self._reason_single("removed")

    def reason_open(self) -> str | None:
        """Return why the space or site cannot be opened: there is none."""
        return None if self.current else f"no {self._kind} here"

    reason_copy = reason_open

    def command_open(self) -> Awaitable[object] | None:
        """Open the space or site."""
        item, app = self.current, self._session.screen.app_context
        if item is None:
            return None
        identity = place_id(_place_of(item))
        return app.go(places.Place.page(identity) if self._kind == "space" else places.Place.site(identity))

    def command_copy(self) -> None:
        """Copy the id of the space or site."""
        if item := self.current:
            self._session.copy(place_id(_place_of(item)), f"id of the {self._kind}")

    def reason_rename(self) -> str | None:
        """Return why the selection cannot be changed: there is no installation, or the change is not allowed now."""
        if self._installation is None:
            return f"it is not installed: {key_for('add')} in the tab of installations installs it"
        return self._session.change_reason(UpdateInstallation, "either")

    def command_rename(self) -> Awaitable[None] | None:
        """Choose whether the installation works in all spaces or sites, or only in selected spaces or sites."""
        installation = self._installation
        return self._actions.select(installation, self._kind) if installation else None

    def reason_web(self) -> str | None:
        """Return why the installation cannot be opened in the browser: there is none, or it has no web address."""
        installation = self._installation
        return None if installation and installation.urls.app else "it has no web address"

    def command_web(self) -> None:
        """Open the installation in the browser."""
        if installation := self._installation:
            open_address(self._session.screen.app_context, installation.urls.app or "")


def _place_of(item: Place) -> Any:
    return item.space if isinstance(item, SpaceInstallation) else item.site


def _status(item: Installation | Place) -> Line:
    return (Span(*STATUS.get(item.status, (sanitize(item.status), ""))),)


def _spaces(installation: Installation) -> Line:
    return (Span(f"all ({installation.spaces:,})" if installation.space_selection == "all" else "selected"),)


def _sites(installation: Installation) -> Line:
    return (Span("all" if installation.site_selection == "all" else "selected"),)


def _installed(installation: Installation) -> Line:
    return (Span(since(installation.created_at, now()), "quiet"),)
