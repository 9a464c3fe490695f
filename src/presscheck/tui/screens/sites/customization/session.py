"""The customization of a site while it is edited: the site's document, and the edited document as a draft."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from presscheck.api.operation import ALL
from presscheck.api.site_settings import GetCustomization, ListShareLinks, ShareLink, UpdateCustomization
from presscheck.api.sites import GetSite
from presscheck.engine.site_config.document import GENERATED, without_nulls
from presscheck.engine.site_config.site_state import SiteSecrets
from presscheck.engine.site_customization.settings import value_at
from presscheck.tui.screens.sites.writes import lacks_role, write_reason

if TYPE_CHECKING:
    from presscheck.api.operation import Page
    from presscheck.api.sites import Site
    from presscheck.engine.results import Result
    from presscheck.engine.site_config.document import Place
    from presscheck.engine.site_customization.rows import Row
    from presscheck.engine.site_customization.settings import Document
    from presscheck.errors import PresscheckError
    from presscheck.tui.ui.tabs import TabScreen

MOST_STEPS = 200
"""Maximum number of edits that can be undone."""


class Customization:
    """The customization of a site, loaded from the service, with the user's edits.

    Args:
        screen: the customization screen.
        organization_id: the organization of the site.
        site: the site.

    Attributes:
        base: the document that the edits are based on; None until it is loaded.
        document: the edited document.
        present: the latest loaded document of the site.
        error: why loading failed.
        errors: the errors of the last attempt to save, by setting name.
    """

    def __init__(self, screen: TabScreen, organization_id: str, site: Site) -> None:
        self.screen, self.organization_id, self.site = screen, organization_id, site
        self.base: dict[str, Any] | None = None
        self.document: dict[str, Any] = {}
        self.present: dict[str, Any] = {}
        self.error: PresscheckError | None = None
        self.errors: dict[str, str] = {}
        self._steps: list[dict[str, Any]] = []
        self._received: dict[str, Any] | None = None
        self._share_links: tuple[ShareLink, ...] = ()

    @property
    def path(self) -> dict[str, Any]:
        """The path parameters of the site."""
        return {"organization_id": self.organization_id, "site_id": self.site.id}

    @property
    def row(self) -> Row | None:
        """The row under the cursor."""
        return self.screen.lists.tab.current

    @property
    def is_changed(self) -> bool:
        """Whether there are unsaved edits."""
        return self.base is not None and self.document != self.base

    @property
    def is_outdated(self) -> bool:
        """Whether the loaded document shows that somebody else has changed the site since the edits began."""
        return self.is_changed and self.present != self.base

    @property
    def can_undo(self) -> bool:
        """Whether there is an edit to undo."""
        return bool(self._steps)

    def reason(self) -> str | None:
        """Return why the customization cannot be edited; None if it can. Offline edits are stored as a draft."""
        status = self.screen.engine.status
        if self.base is None:
            return "the customization is not loaded"
        if not status.online and not status.read_only:
            return lacks_role(self.site, "create")
        return write_reason(self.screen, UpdateCustomization, self.site, "create")

    def differs(self, path: Place) -> bool:
        """Return whether the user has changed the value at a path."""
        return value_at(self.document, path) != value_at(self.base, path)

    def load(self) -> None:
        """Subscribe to the customization, and to the site and share links that it depends on."""
        watch, subscribe = self.screen.engine.watch, self.screen.subscribe
        subscribe(watch(GetSite(**self.path)), self._take_site, group="site", shows_errors=False)
        links = watch(ListShareLinks(**self.path, limit=ALL))
        subscribe(links, self._take_links, group="share links", shows_errors=False)
        subscribe(watch(GetCustomization(**self.path)), self._take, group="customization", shows_errors=False)

    def go_to(self, name: str) -> None:
        """Show the tab of a setting, and select the setting."""
        lists = self.screen.lists
        for tab in lists.tabs:
            tab.filter("")
            names = [row.name for row in tab.items]
            if name in names:
                lists.show_tab(tab)
                tab.rows.move_to(names.index(name))
                break
        self.screen.redraw()

    def change(self, document: Document) -> None:
        """Replace the edited document, and remember the previous document for undo."""
        if document != self.document:
            self._steps = [*self._steps[1 - MOST_STEPS :], self.document]
            self._edit(document)

    def undo(self) -> None:
        """Undo the last edit."""
        if self._steps:
            self._edit(self._steps.pop())

    def restart(self, base: Document, document: Document) -> None:
        """Replace the site's document and the edited document, for example after saving. Undo returns to `base`."""
        self.base, self.present = dict(base), dict(base)
        self._steps = [] if document == base else [dict(base)]
        self._edit(document)

    def discard(self) -> None:
        """Discard all edits."""
        self.restart(self.present, self.present)

    def _edit(self, document: Document) -> None:
        self.document, self.errors = dict(document), {}
        self._store()
        self.screen.redraw()

    def _take_site(self, result: Result[Site | None]) -> None:
        if result.value:
            self.site = result.value
            self._update()

    def _take_links(self, result: Result[Page[ShareLink] | None]) -> None:
        if result.value:
            self._share_links = result.value.items
            self._update()

    def _take(self, result: Result[dict[str, Any] | None]) -> None:
        self.error = result.error
        if result.value is not None:
            self._received = result.value
        self._update()

    def _update(self) -> None:
        """Update `present` from the last response, with share links by name instead of by key. Edits stay."""
        if self._received is not None:
            plain = {name: value for name, value in self._received.items() if name not in GENERATED}
            self.present = SiteSecrets(self.site, self._share_links).hide(without_nulls(plain))
            if self.base is None:
                self._take_draft()
            if not self.is_changed:
                self.base, self.document = self.present, self.present
                self._store()
        self.screen.redraw()

    def _take_draft(self) -> None:
        self.base = self.document = self.present
        try:
            draft: Any = json.loads(self.screen.engine.outbox.draft(self._draft_key) or "null")
            base, mine = draft["base"], draft["mine"]
        except (ValueError, TypeError, KeyError):
            return
        if isinstance(base, dict) and isinstance(mine, dict):
            self.base, self.document = base, mine
            self._steps = [base]

    @property
    def _draft_key(self) -> str:
        return f"customization of site {self.site.id}"

    def _store(self) -> None:
        draft = {"base": self.base, "mine": self.document}
        text = json.dumps(draft, ensure_ascii=False) if self.is_changed else ""
        self.screen.engine.outbox.save_draft(self._draft_key, text, {"site": self.site.title})
