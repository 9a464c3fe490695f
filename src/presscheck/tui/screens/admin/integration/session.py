"""The data of an integration while its screen is open: installations, their spaces and sites, and events."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from presscheck.api.integrations import (
    GetInstallation,
    GetIntegration,
    Installation,
    InstallIntegration,
    Integration,
    IntegrationEvent,
    ListIntegrationEvents,
    ListIntegrationInstallations,
    ListIntegrationSites,
    ListIntegrationSpaces,
    SiteInstallation,
    SpaceInstallation,
)
from presscheck.api.operation import ALL, Operation, Page
from presscheck.api.sites import Site
from presscheck.api.spaces import Space
from presscheck.engine.integrations.settings import missing_settings
from presscheck.errors import PresscheckError
from presscheck.text.sanitize import sanitize
from presscheck.tui.ui.loaded import Loaded
from presscheck.tui.widgets.empty_state import Message

if TYPE_CHECKING:
    from presscheck.api.organizations import Organization
    from presscheck.engine.results import Result
    from presscheck.tui.ui.tabs import TabScreen

NEWEST = 200
"""Maximum number of listed events; the service stores more."""
M = TypeVar("M")
Needs = Literal["installer", "owner", "either"]
"""Who may make a change: users who can install integrations, owners of the integration, or either."""


class IntegrationSession:
    """The data of an integration and its lists, loaded from the service.

    Args:
        screen: the screen of the integration.
        organization: the organization where the screen installs the integration.
        integration: the integration from the catalog.

    Attributes:
        truncated: the names of incomplete lists: the service has more items.
    """

    def __init__(self, screen: TabScreen, organization: Organization, integration: Integration) -> None:
        self.screen, self.organization, self.integration = screen, organization, integration
        self.installations = Loaded[Sequence[Installation]]()
        self.spaces = Loaded[Sequence[SpaceInstallation]]()
        self.sites = Loaded[Sequence[SiteInstallation]]()
        self.events = Loaded[Sequence[IntegrationEvent]]()
        self.truncated: set[str] = set()
        self._is_polling = False

    def load(self) -> None:
        """Subscribe to the integration and its lists, which are loaded again after changes."""
        engine = self.screen.engine
        self.screen.subscribe(engine.watch(GetIntegration(**self.path)), self._take_integration, group="integration")
        self._watch(ListIntegrationInstallations(**self.path, limit=ALL), self._take_installations, "installations")
        self._watch(ListIntegrationSpaces(**self.path, extended=True, limit=ALL), self._take_spaces, "spaces")
        self._watch(ListIntegrationSites(**self.path, extended=True, limit=ALL), self._take_sites, "sites")
        self._watch(self.newest_events, self._take_events, "events")

    @property
    def newest_events(self) -> ListIntegrationEvents:
        """The call that lists the newest events."""
        return ListIntegrationEvents(**self.path, limit=NEWEST)

    def _watch(self, call: Operation[Page[M]], take: Callable[[Result[Page[M] | None]], None], group: str) -> None:
        self.screen.subscribe(self.screen.engine.watch(call), take, group=group, shows_errors=False)

    def _after(self, name: str, before: Loaded[Sequence[M]], result: Result[Page[M] | None]) -> Loaded[Sequence[M]]:
        """Return a list updated with an answer of the service, and record in `truncated` whether it is incomplete."""
        page = result.value
        if page is None:
            return Loaded(before.value, result.error)
        self.truncated = (self.truncated | {name}) if page.next else (self.truncated - {name})
        return Loaded(page.items, result.error)

    def _take_installations(self, result: Result[Page[Installation] | None]) -> None:
        self.installations = self._after("installations", self.installations, result)
        if self.hides_installations:
            self._watch_known()
        self.screen.redraw()

    def _take_spaces(self, result: Result[Page[SpaceInstallation] | None]) -> None:
        self.spaces = self._after("spaces", self.spaces, result)
        self.screen.redraw()

    def _take_sites(self, result: Result[Page[SiteInstallation] | None]) -> None:
        self.sites = self._after("sites", self.sites, result)
        self.screen.redraw()

    def _take_events(self, result: Result[Page[IntegrationEvent] | None]) -> None:
        self.events = self._after("events", self.events, result)
        self.screen.redraw()

    def _take_integration(self, result: Result[Integration | None]) -> None:
        if result.value:
            self.integration = result.value
        self.screen.redraw()

    @property
    def hides_installations(self) -> bool:
        """True if the service lists installations only for the owners of the integration."""
        return Loaded(None, self.installations.error).state(online=True) == "forbidden"

    @property
    def _known_key(self) -> str:
        return f"installation {self.organization.id} {self.integration.name}"

    def know_installation(self, installation_id: str) -> None:
        """Remember the id of an installation, and show the installation if the service does not list it for the user.

        An empty id forgets the installation.
        """
        self.screen.engine.outbox.remember(self._known_key, installation_id or None)
        if self.hides_installations:
            if not installation_id:
                self.screen.unsubscribe("known installation")
                self.installations = Loaded(None, self.installations.error)
                self.screen.redraw()
            else:
                self._watch_known()

    def _watch_known(self) -> None:
        """Subscribe to the installation whose id is remembered: made on this machine, or entered by the user."""
        identity = self.screen.engine.outbox.recall(self._known_key)
        if not identity:
            return

        def take(result: Result[Installation | None]) -> None:
            if result.value is not None:
                self.installations = Loaded((result.value,), self.installations.error)
            self.screen.redraw()

        call = GetInstallation(**self.path, installation_id=identity)
        self.screen.subscribe(self.screen.engine.watch(call), take, group="known installation", shows_errors=False)

    def poll(self, call: Operation[Any]) -> None:
        """Request data again, unless an earlier poll is still running or the app is offline."""
        if not self._is_polling and self.screen.engine.status.online:
            self._is_polling = True
            self.screen.run(partial(self._poll, call), group="poll")

    async def _poll(self, call: Operation[Any]) -> None:
        try:
            await self.screen.engine.poll(call)
        except PresscheckError:
            return  # the list shows its own error, and the next poll retries
        finally:
            self._is_polling = False

    def change_reason(self, operation: type[Operation[Any]], needs: Needs) -> str | None:
        """Return why a change is not allowed now; None if it is. `needs` names the users who may make the change."""
        if reason := self.screen.engine.write_reason(operation, at_once=True):
            return reason
        permissions, owner = self.organization.permissions, self.integration.owner
        is_installer = permissions.admin or permissions.install_integration
        is_owner = self.integration.permissions.admin
        if (needs != "owner" and is_installer) or (needs != "installer" and is_owner):
            return None
        where = owner if needs == "owner" and owner else self.organization
        return f"you need the role admin in {sanitize(where.title)}"

    def install_reason(self) -> str | None:
        """Return why the integration cannot be installed, or its new permissions approved; None if it can."""
        if self.installation and not self.needs_approval:
            return f"it is installed already in {sanitize(self.organization.title)}"
        return self.change_reason(InstallIntegration, "installer")

    @property
    def needs_approval(self) -> bool:
        """Whether the installation waits for approval of new permissions: it is pending without missing settings."""
        installation = self.installation
        if installation is None or installation.status != "pending":
            return False
        return not missing_settings(self.integration, installation.configuration)

    def owners_only(self, nouns: str, hint: str = "") -> Message:
        """Return the message of a list that only the owners of the integration can read."""
        owner = sanitize(self.integration.owner.title) if self.integration.owner else "its publisher"
        return Message(f"The service lists the {nouns} for admins of {owner} only.", hint, "forbidden")

    def copy(self, text: str, name: str) -> None:
        """Copy a text to the clipboard, and notify the user. `name` describes the text."""
        self.screen.app_context.copy_to_clipboard(sanitize(text))
        self.screen.notify(f"copied the {name}")

    @property
    def title(self) -> str:
        """The title of the integration, as display text."""
        return sanitize(self.integration.title or self.integration.name)

    @property
    def path(self) -> dict[str, str]:
        """The path parameters of the integration."""
        return {"integration_name": self.integration.name}

    @property
    def installation(self) -> Installation | None:
        """The installation in the organization; None if there is none, or if it is unknown."""
        own = (item for item in self.installations.value or () if self.is_own(item))
        return next(own, None)

    def is_own(self, installation: Installation) -> bool:
        """Return whether an installation belongs to the organization."""
        return installation.target is None or installation.target.organization == self.organization.id

    def organization_of(self, installation: Installation) -> str:
        """Return the owner of an installation as display text: the title of the organization, or another owner's id."""
        if self.is_own(installation):
            return sanitize(self.organization.title)
        return sanitize(installation.target.organization) if installation.target else "–"

    def installer(self, installation_id: str | None) -> str:
        """Return the owner of an installation as display text; for an unknown installation, its id."""
        installations = self.installations.value or ()
        installation = next((item for item in installations if item.id == installation_id), None)
        return self.organization_of(installation) if installation else sanitize(installation_id or "–")


def place_title(place: str | Space | Site) -> str:
    """Return the title of a space or site, as display text; for a bare id, the id."""
    return sanitize(place if isinstance(place, str) else place.title or "(no title)")


def place_id(place: str | Space | Site) -> str:
    """Return the id of a space or site."""
    return place if isinstance(place, str) else place.id


def event_type(event: IntegrationEvent) -> str:
    """Return the type of an event as display text, such as `installation setup`."""
    payload: dict[str, Any] = event.payload or {}
    return sanitize(str(payload.get("type") or "event")).replace("_", " ")
