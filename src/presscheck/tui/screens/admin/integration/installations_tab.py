"""The tabs of where an integration is installed: its installations with status and settings; its spaces; its sites."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable
from typing import TYPE_CHECKING, Any, Literal

from presscheck.api.integrations import (
    InstallIntegration,
    SiteInstallation,
    SpaceInstallation,
    UninstallIntegration,
    UpdateInstallation,
)
from presscheck.engine.integrations.settings import missing_settings
from presscheck.text.phrases import count, now, since
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, cut, pad
from presscheck.tui.screens.admin.integration.model import Listed, place_id, place_title
from presscheck.tui.widgets.picker import Choice, Picker

if TYPE_CHECKING:
    from presscheck.api.integrations import Installation
    from presscheck.errors import PresscheckError
    from presscheck.tui.screens.admin.integration.actions import IntegrationActions
    from presscheck.tui.screens.admin.integration.context import IntegrationContext

STATUS = {"active": ("✓ active", "added"), "pending": ("◷ pending", "waiting"), "paused": ("○ paused", "quiet")}
STATUS_COLUMNS, SELECTION_COLUMNS, DATE_COLUMNS = 11, 16, 13
INSTALLER_COLUMNS = 24


class InstallationsTab:
    """The installations.

    Args:
        screen: the screen of the integration.
        actions: what changes an installation.
    """

    name, noun = "Installations", "installations"
    footer = ("open", "add", "rename", "delete", "find_here", "close")

    def __init__(self, screen: IntegrationContext, actions: IntegrationActions) -> None:
        self._screen, self._actions = screen, actions

    @property
    def error(self) -> PresscheckError | None:
        """Why they could not be loaded."""
        return self._screen.model.installations.error

    @property
    def total(self) -> int | None:
        """How many there are."""
        items = self._screen.model.installations.items
        return None if items is None else len(items)

    @property
    def count(self) -> int:
        """The number of rows."""
        return len(self._screen.model.installations.shown)

    @property
    def current(self) -> Installation | None:
        """The installation under the cursor."""
        return self._screen.model.installations.at(self._screen.rows.cursor)

    def key(self, index: int) -> Hashable | None:
        """What identifies a row."""
        installation = self._screen.model.installations.at(index)
        return installation.id if installation else None

    def filter(self, text: str) -> None:
        """Show only the rows with a text."""
        self._screen.model.installations.text = text

    def summary(self) -> Line:
        """How many there are."""
        listed = self._screen.model.installations
        if not listed.items:
            return ()
        more = "   the first ones only" if listed.has_more else ""
        return (Span(count(len(listed.items), "installation")), Span(more, "waiting"))

    def heading(self, columns: int) -> Line:
        """The names of the columns."""
        names = ("organization", "status", "spaces", "sites", "installed", "settings")
        line = self._columns(*((Span(name),) for name in names), columns=columns)
        return tuple(span._replace(style="quiet") for span in line)

    def row(self, index: int, columns: int) -> Line:
        """An installation."""
        model = self._screen.model
        installation = model.installations.at(index)
        if installation is None:
            return ()
        status = STATUS.get(installation.status, (sanitize(installation.status), ""))
        spaces = f"all ({installation.spaces:,})" if installation.space_selection == "all" else "selected"
        missing = missing_settings(model.integration, installation.configuration)
        settings = (f"⚠ needs {', '.join(missing)}", "waiting") if missing else ("complete", "quiet")
        return self._columns(
            (Span(model.organization_of(installation), "strong"),),
            (Span(*status),),
            (Span(spaces),),
            (Span("all" if installation.site_selection == "all" else "selected"),),
            (Span(since(installation.created_at, now()), "quiet"),),
            (Span(*settings),),
            columns=columns,
        )

    def _columns(
        self, where: Line, status: Line, spaces: Line, sites: Line, date: Line, settings: Line, *, columns: int
    ) -> Line:
        fixed = STATUS_COLUMNS + SELECTION_COLUMNS * 2 + DATE_COLUMNS
        is_narrow = columns < fixed + 36
        fixed -= (SELECTION_COLUMNS + DATE_COLUMNS) if is_narrow else 0
        room = max(12, (columns - fixed) * 3 // 5)
        cells = [(where, room), (status, STATUS_COLUMNS), (spaces, SELECTION_COLUMNS)]
        cells += [] if is_narrow else [(sites, SELECTION_COLUMNS), (date, DATE_COLUMNS)]
        line = tuple(span for cell, cells_ in cells for span in pad(cut(cell, cells_ - 1), cells_))
        return (*line, *cut(settings, max(0, columns - room - fixed)))

    def empty(self) -> tuple[str, str]:
        """What to do without installations."""
        where = sanitize(self._screen.model.organization.title)
        return "It is not installed yet.", f"a installs it in {where}."

    def reason(self, command: str) -> str | None:
        """Why a command cannot run now."""
        model = self._screen.model
        if command == "add":
            if model.installation:
                return f"it is installed already in {sanitize(model.organization.title)}"
            return self._screen.change_reason(InstallIntegration, "installer")
        installation = self.current
        if installation is None:
            return "no installation here: a installs it"
        if command == "rename":
            return self._screen.change_reason(UpdateInstallation, "either")
        if command == "delete":
            return self._screen.change_reason(UninstallIntegration, "either")
        return "it has no web address" if command == "web" and not installation.urls.app else None

    def run(self, command: str) -> Awaitable[None] | None:
        """Run a command."""
        if command == "add":
            return self._actions.install()
        installation = self.current
        if installation is None:
            return None
        if command == "web":
            self._screen.open_web(installation.urls.app or "")
            return None
        if command == "copy":
            self._screen.app_context.copy_to_clipboard(sanitize(installation.id))
            self._screen.notify("copied the id of the installation")
            return None
        commands: dict[str, Callable[[Installation], Awaitable[None]]] = {
            "open": self._open,
            "rename": self._actions.configure,
            "delete": self._actions.uninstall,
        }
        return commands[command](installation)

    async def _open(self, installation: Installation) -> None:
        """Choose what to do with an installation."""
        model = self._screen.model
        selections = {"all": "all", "selected": "selected"}
        spaces = selections.get(installation.space_selection or "", "–")
        sites = selections.get(installation.site_selection or "", "–")
        choices = [
            Choice("settings", "Settings", "E", letter="s"),
            Choice("space", "Which spaces", spaces, letter="p"),
            Choice("site", "Which sites", sites, letter="t"),
            Choice("events", "Events of this installation", letter="e"),
            Choice("details", "Details", "ids, addresses, settings as they are stored", letter="d"),
            Choice("uninstall", "Uninstall", "-", letter="u"),
        ]
        title = f"{model.title} in {model.organization_of(installation)}"
        chosen = await self._screen.ask(Picker(title, choices, ranked=False))
        if not chosen:
            return
        [what] = chosen
        if what == "events":
            self._screen.show_events(installation.id)
            return
        if what == "details":
            await self._actions.show_details(installation, title)
            return
        operation: Any = UninstallIntegration if what == "uninstall" else UpdateInstallation
        if reason := self._screen.change_reason(operation, "either"):
            self._screen.notify(reason)
        elif what == "settings":
            await self._actions.configure(installation)
        elif what == "uninstall":
            await self._actions.uninstall(installation)
        else:
            await self._actions.select(installation, "space" if what == "space" else "site")


class PlacesTab:
    """The spaces or sites of all installations.

    Args:
        screen: the screen of the integration.
        actions: what changes an installation.
        place: what it lists.
    """

    footer = ("open", "rename", "copy", "find_here", "close")

    def __init__(
        self, screen: IntegrationContext, actions: IntegrationActions, place: Literal["space", "site"]
    ) -> None:
        self._screen, self._actions = screen, actions
        self._place: Literal["space", "site"] = place
        self.name, self.noun = f"{place.title()}s", f"{place}s"

    @property
    def _listed(self) -> Listed[SpaceInstallation] | Listed[SiteInstallation]:
        return self._screen.model.spaces if self._place == "space" else self._screen.model.sites

    @property
    def error(self) -> PresscheckError | None:
        """Why they could not be loaded."""
        return self._listed.error

    @property
    def total(self) -> int | None:
        """How many there are."""
        items = self._listed.items
        return None if items is None else len(items)

    @property
    def count(self) -> int:
        """The number of rows."""
        return len(self._listed.shown)

    @property
    def _current(self) -> SpaceInstallation | SiteInstallation | None:
        return self._listed.at(self._screen.rows.cursor)

    def key(self, index: int) -> Hashable | None:
        """What identifies a row."""
        item = self._listed.at(index)
        return (item.installation, _id_of(item)) if item else None

    def filter(self, text: str) -> None:
        """Show only the rows with a text."""
        self._listed.text = text

    def summary(self) -> Line:
        """How many there are, and that single ones are not changed here."""
        listed = self._listed
        if not listed.items:
            return ()
        more = "   the first ones only" if listed.has_more else ""
        return (Span(count(len(listed.items), self._place)), Span(more, "waiting"))

    def heading(self, columns: int) -> Line:
        """The names of the columns."""
        line = self._columns((Span(self._place),), (Span("status"),), (Span("organization"),), columns)
        return tuple(span._replace(style="quiet") for span in line)

    def row(self, index: int, columns: int) -> Line:
        """A space or site, its status, and the organization that installed the integration."""
        item = self._listed.at(index)
        if item is None:
            return ()
        title = place_title(item.space if isinstance(item, SpaceInstallation) else item.site)
        status = STATUS.get(item.status, (sanitize(item.status), ""))
        installer = self._screen.model.installer(item.installation)
        return self._columns((Span(title, "strong"),), (Span(*status),), (Span(installer, "quiet"),), columns)

    def _columns(self, title: Line, status: Line, installer: Line, columns: int) -> Line:
        room = max(12, columns - STATUS_COLUMNS - INSTALLER_COLUMNS)
        return (*pad(cut(title, room - 1), room), *pad(status, STATUS_COLUMNS), *cut(installer, INSTALLER_COLUMNS))

    def empty(self) -> tuple[str, str]:
        """Why there are none."""
        if self._screen.model.installations.items:
            return f"It works in no {self._place}s.", f"E chooses between all and selected {self._place}s."
        return "It is not installed yet.", "a installs it."

    @property
    def _installation(self) -> Installation | None:
        """The installation of the row under the cursor; without a row, that of the organization."""
        current, model = self._current, self._screen.model
        found = (item for item in model.installations.items or () if current and item.id == current.installation)
        return next(found, None) or model.installation

    def reason(self, command: str) -> str | None:
        """Why a command cannot run now."""
        if command in ("add", "delete"):
            verb = "added" if command == "add" else "removed"
            return f"the API cannot do this: o opens the web app, where single {self.noun} are {verb}; E chooses all"
        if command == "rename":
            if self._installation is None:
                return "it is not installed: a in the tab of installations installs it"
            return self._screen.change_reason(UpdateInstallation, "either")
        if command == "web":
            return None if self._web_address else "it has no web address"
        return None if self._current else f"no {self._place} here"

    @property
    def _web_address(self) -> str | None:
        installation = self._installation
        return installation.urls.app if installation else None

    def run(self, command: str) -> Awaitable[None] | None:
        """Run a command."""
        installation, item = self._installation, self._current
        if command == "rename":
            return self._actions.select(installation, self._place) if installation else None
        if command == "web":
            self._screen.open_web(self._web_address or "")
        elif item and command == "copy":
            self._screen.app_context.copy_to_clipboard(sanitize(_id_of(item)))
            self._screen.notify(f"copied the id of the {self._place}")
        elif item and self._place == "space":
            return self._screen.app_context.open_page(_id_of(item))
        elif item:
            return self._screen.app_context.open_site(_id_of(item))
        return None


def _id_of(item: SpaceInstallation | SiteInstallation) -> str:
    return place_id(item.space if isinstance(item, SpaceInstallation) else item.site)
