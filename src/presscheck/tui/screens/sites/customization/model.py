"""The customization of a site while it is edited: as it was read, and as the user wants it, kept as a draft."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from presscheck.engine.site_config.document import GENERATED, without_nulls
from presscheck.engine.site_customization.settings import value_at

if TYPE_CHECKING:
    from collections.abc import Callable

    from presscheck.api.sites import Site
    from presscheck.engine.site_config.document import Place
    from presscheck.engine.site_config.site_state import SiteSecrets
    from presscheck.engine.site_customization.settings import Document
    from presscheck.errors import PresscheckError

MOST_STEPS = 200
"""The most edits that can be undone."""


class CustomizationModel:
    """The customization of a site, as far as it is loaded.

    Args:
        organization_id: the organization of the site.
        site: the site.
        keep: stores a draft; an empty text removes it.
        draft: the draft that was kept.
    """

    def __init__(self, organization_id: str, site: Site, keep: Callable[[str], None], draft: str) -> None:
        self.organization_id, self.site = organization_id, site
        self._keep = keep
        self.base: dict[str, Any] | None = None
        """What the edits began with."""
        self.document: dict[str, Any] = {}
        """As the user wants it."""
        self.present: dict[str, Any] = {}
        """What the site has, as far as this machine knows."""
        self.error: PresscheckError | None = None
        self.errors: dict[str, str] = {}
        """What the service refused, by the path of the setting."""
        self._draft = draft
        self._steps: list[dict[str, Any]] = []

    @property
    def path(self) -> dict[str, Any]:
        """The arguments that name the site in a call."""
        return {"organization_id": self.organization_id, "site_id": self.site.id}

    @property
    def is_loaded(self) -> bool:
        """Whether there is something to show."""
        return self.base is not None

    @property
    def is_changed(self) -> bool:
        """Whether there are edits that are not saved."""
        return self.base is not None and self.document != self.base

    @property
    def is_outdated(self) -> bool:
        """Whether somebody else changed the site since the edits began, as far as this machine knows."""
        return self.is_changed and self.present != self.base

    @property
    def can_undo(self) -> bool:
        """Whether there is an edit to undo."""
        return bool(self._steps)

    def differs(self, path: Place) -> bool:
        """Whether the user changed what is at a place."""
        return value_at(self.document, path) != value_at(self.base, path)

    def take(self, received: Document, secrets: SiteSecrets) -> None:
        """Take what the service has; edits stay."""
        plain = {name: value for name, value in received.items() if name not in GENERATED}
        self.present = secrets.hide(without_nulls(plain))
        if self.base is None:
            self._take_draft()
        if not self.is_changed:
            self.base, self.document = self.present, self.present
            self._store()

    def change(self, document: Document) -> None:
        """Make an edit."""
        if document == self.document:
            return
        self._steps = [*self._steps[1 - MOST_STEPS :], self.document]
        self.document = dict(document)
        self.errors = {}
        self._store()

    def undo(self) -> None:
        """Undo the last edit."""
        if self._steps:
            self.document = self._steps.pop()
            self.errors = {}
            self._store()

    def restart(self, base: Document, document: Document) -> None:
        """Begin again with what the site has; `document` is what the user wants of it."""
        self.base, self.present, self.document = dict(base), dict(base), dict(document)
        self._steps = [] if document == base else [dict(base)]
        self.errors = {}
        self._store()

    def discard(self) -> None:
        """Forget all edits."""
        self.restart(self.present, self.present)

    def _take_draft(self) -> None:
        self.base = self.document = self.present
        try:
            kept: Any = json.loads(self._draft or "null")
            base, mine = kept["base"], kept["mine"]
        except (ValueError, TypeError, KeyError):
            return
        if isinstance(base, dict) and isinstance(mine, dict):
            self.base, self.document = base, mine
            self._steps = [base]

    def _store(self) -> None:
        kept = {"base": self.base, "mine": self.document}
        self._keep(json.dumps(kept, ensure_ascii=False) if self.is_changed else "")
