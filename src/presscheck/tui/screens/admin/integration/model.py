"""What is known of an integration: its installations, where they are, its events; each listing with its error."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from presscheck.api.operation import Page
from presscheck.api.sites import Site
from presscheck.api.spaces import Space
from presscheck.text.sanitize import sanitize

if TYPE_CHECKING:
    from presscheck.api.integrations import (
        Installation,
        Integration,
        IntegrationEvent,
        SiteInstallation,
        SpaceInstallation,
    )
    from presscheck.api.organizations import Organization
    from presscheck.engine.results import Result
    from presscheck.errors import PresscheckError

M = TypeVar("M")


class Listed(Generic[M]):
    """The items of a listing as far as they are known, and a filter of them.

    Args:
        searched: the text of an item in which the filter searches.
    """

    def __init__(self, searched: Callable[[M], str]) -> None:
        self.items: tuple[M, ...] | None = None
        self.error: PresscheckError | None = None
        self.has_more = False
        """Whether the service has more items than were requested."""
        self.text = ""
        self._searched = searched

    def take(self, result: Result[Page[M] | None]) -> None:
        """Take an answer; items that are known stay if a newer answer failed."""
        self.error = result.error
        if result.value is not None:
            self.items = result.value.items
            self.has_more = bool(result.value.next)

    @property
    def shown(self) -> list[M]:
        """The items with the text of the filter."""
        items = self.items or ()
        return [item for item in items if self.text in self._searched(item).lower()]

    def at(self, index: int) -> M | None:
        """A shown item; None if there is none."""
        shown = self.shown
        return shown[index] if 0 <= index < len(shown) else None


class IntegrationModel:
    """An integration, and everything about it that the service lists.

    Args:
        organization: the organization in which it is installed from here.
        integration: the integration as the catalog lists it.
    """

    def __init__(self, organization: Organization, integration: Integration) -> None:
        self.organization, self.integration = organization, integration
        self.installations: Listed[Installation] = Listed(self._installation_text)
        self.spaces: Listed[SpaceInstallation] = Listed(lambda item: place_title(item.space))
        self.sites: Listed[SiteInstallation] = Listed(lambda item: place_title(item.site))
        self.events: Listed[IntegrationEvent] = Listed(self._event_text)

    @property
    def title(self) -> str:
        """Its title, as display text."""
        return sanitize(self.integration.title or self.integration.name)

    @property
    def path(self) -> dict[str, str]:
        """The arguments that name it."""
        return {"integration_name": self.integration.name}

    @property
    def installation(self) -> Installation | None:
        """Its installation in the organization; None if there is none, or none is known."""
        own = (item for item in self.installations.items or () if self.is_own(item))
        return next(own, None)

    def is_own(self, installation: Installation) -> bool:
        """Whether an installation is that of the organization."""
        return installation.target is None or installation.target.organization == self.organization.id

    def organization_of(self, installation: Installation) -> str:
        """The organization of an installation, as display text: its title, or its id if it is another one."""
        if self.is_own(installation):
            return sanitize(self.organization.title)
        return sanitize(installation.target.organization) if installation.target else "–"

    def installer(self, identity: str | None) -> str:
        """The organization of the installation with this id, as display text."""
        found = next((item for item in self.installations.items or () if item.id == identity), None)
        return self.organization_of(found) if found else sanitize(identity or "–")

    def _installation_text(self, installation: Installation) -> str:
        return f"{self.organization_of(installation)} {installation.status} {installation.id}"

    def _event_text(self, event: IntegrationEvent) -> str:
        return f"{event_type(event)} {event.status} {self.installer(event.installation_id)} {event.installation_id}"


def place_title(place: str | Space | Site) -> str:
    """The title of a space or site, as display text; its id if only that is known."""
    return sanitize(place if isinstance(place, str) else place.title or "(no title)")


def place_id(place: str | Space | Site) -> str:
    """The id of a space or site."""
    return place if isinstance(place, str) else place.id


def event_type(event: IntegrationEvent) -> str:
    """What happened, as display text: `installation setup`."""
    payload: dict[str, Any] = event.payload or {}
    return sanitize(str(payload.get("type") or "event")).replace("_", " ")
