"""The tab that describes an integration: facts, settings, permissions, blocks, content sources and links."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from typing_extensions import override

from presscheck.api.integrations import PublishIntegration, RenderIntegration, UnpublishIntegration
from presscheck.api.spaces import ListSpaces
from presscheck.engine.forms.form import TYPES
from presscheck.engine.integrations.scopes import RISKY, TARGETS, in_order, scope_text
from presscheck.engine.integrations.settings import component_of, missing_settings, settings_of
from presscheck.text.phrases import count, now, since
from presscheck.text.sanitize import display_url, sanitize
from presscheck.text.styled_text import Line, Span, cut, pad, plain, wrap
from presscheck.tui.commands import key_for, tab_label
from presscheck.tui.screens.admin.integration.component_screen import ComponentScreen, Source
from presscheck.tui.screens.web_address import open_address
from presscheck.tui.ui.ask import choose
from presscheck.tui.ui.list import List
from presscheck.tui.ui.loaded import Loaded
from presscheck.tui.widgets.picker import Choice

if TYPE_CHECKING:
    from presscheck.engine.integrations.settings import Setting
    from presscheck.tui.screens.admin.integration.actions import IntegrationActions
    from presscheck.tui.screens.admin.integration.session import IntegrationSession

NAME_COLUMNS = 17
KINDS = {**TYPES, "button": "button"}
"""Names of setting types."""
MANY = 1000


class AboutRow(NamedTuple):
    """A line of the description; `opens` is run when the user presses enter on the line."""

    line: Line
    opens: Callable[[], Awaitable[None] | None] | None = None


class AboutIntegration(List[AboutRow]):
    """The description of an integration as lines; enter opens blocks, content sources and links.

    Args:
        session: the integration.
        actions: changes the integration.
    """

    name, nouns = "About", "details"
    footer = ("open", "add", "rename", "web", "delete", "close")

    def __init__(self, session: IntegrationSession, actions: IntegrationActions) -> None:
        self._session, self._actions = session, actions
        self._drawn: tuple[Any, list[AboutRow]] | None = None
        super().__init__(())

    @override
    @property
    def loaded(self) -> Loaded[Sequence[AboutRow]]:
        session, columns = self._session, max(20, self._session.screen.size.width - 3)
        state = (session.integration, session.installation, session.installations.error, columns)
        if self._drawn is None or self._drawn[0] != state:
            self._drawn = (state, list(self._rows(columns)))
        return Loaded(self._drawn[1])

    @override
    @property
    def total(self) -> None:
        """Always None: lines are not counted."""

    @override
    def key(self, index: int) -> int | None:
        return index if index < self.count else None

    @override
    def searched(self, item: AboutRow) -> str:
        return plain(item.line)

    @override
    def summary(self) -> Line:
        installation, listed = self._session.installation, self._session.installations
        if installation:
            words = f"✓ installed {since(installation.created_at, now())}"
            missing = missing_settings(self._session.integration, installation.configuration)
            needs = f"   ⚠ it needs settings: {', '.join(missing)}" if missing else ""
            return (Span(words, "added"), Span(needs, "waiting"))
        if listed.value is None and listed.error:
            return (Span("the service does not list its installations for you", "quiet"),)
        return (Span(f"not installed: {key_for('add')} installs it" if listed.value is not None else "…", "quiet"),)

    @override
    def row(self, index: int, width: int) -> Line:
        return self.items[index].line

    def _rows(self, columns: int) -> Iterator[AboutRow]:
        integration = self._session.integration
        for text, style in ((integration.description, "strong"), (integration.summary, "")):
            for paragraph in (text or "").splitlines():
                for line in wrap((Span(sanitize(paragraph), style),), columns) or [()]:
                    yield AboutRow(line)
        yield AboutRow(())
        owner = sanitize(integration.owner.title) if integration.owner else "–"
        verified = ", verified" if integration.verified else ""
        target = TARGETS.get(integration.target, sanitize(integration.target))
        yield from self._fact("publisher", f"{owner}{verified}", columns)
        yield from self._fact("version", f"{integration.version:,}, {sanitize(integration.visibility)}", columns)
        yield from self._fact("works on", target, columns)
        yield from self._fact("categories", sanitize(", ".join(integration.categories)), columns)
        yield from self._fact("name", sanitize(integration.name), columns)
        yield from self._settings(columns)
        scopes = in_order(integration.scopes)
        yield from self._section(f"It may ({count(len(scopes), 'permission')})" if scopes else "It has no permissions")
        for scope in scopes:
            mark = Span("  ⚠ ", "waiting") if scope in RISKY else Span("  · ", "quiet")
            yield AboutRow(cut((mark, Span(sanitize(scope_text(scope)))), columns))
        for title, what, items in (
            ("Blocks", "document", integration.blocks),
            ("Content sources", "configuration_contentsource", integration.content_sources),
        ):
            if items:
                yield from self._section(f"{title} ({len(items):,})")
            for item in items or ():
                yield AboutRow(cut(_part_line(item), columns), self._opener(item, what))
        if integration.external_links:
            yield from self._section("Links")
        for link in integration.external_links:
            label = sanitize(link.label or "")
            line = (Span("  "), *pad((Span(label, "link"),), len(label) + 2), Span(display_url(link.url), "quiet"))
            yield AboutRow(cut(line, columns), lambda url=link.url: self._open_link(url))

    def _settings(self, columns: int) -> Iterator[AboutRow]:
        integration = self._session.integration
        for where, words in (("account", "settings"), ("space", "of each space"), ("site", "of each site")):
            settings = settings_of(integration, where)
            if component_of(integration, where):
                yield from self._fact(words, "rendered by the integration itself", columns)
            elif settings:
                yield from self._fact(words, ", ".join(map(_setting_words, settings)), columns)
            if where != "account" and (settings or component_of(integration, where)):
                yield from self._fact("", "(set in the web app: the API has no call for them)", columns)

    def _fact(self, name: str, value: str, columns: int) -> Iterator[AboutRow]:
        for number, line in enumerate(wrap((Span(value),), max(20, columns - NAME_COLUMNS))):
            label = Span(name if number == 0 else "", "quiet")
            yield AboutRow((*pad((label,), NAME_COLUMNS), *line))

    def _section(self, title: str) -> Iterator[AboutRow]:
        yield AboutRow(())
        yield AboutRow((Span(title, "title"),))

    def _open_link(self, url: str) -> None:
        open_address(self._session.screen.app_context, url)

    def _opener(self, item: dict[str, Any], kind: str) -> Callable[[], Awaitable[None] | None] | None:
        configuration = item.get("configuration")
        component = item.get("id") if kind == "document" else None
        if kind != "document" and isinstance(configuration, dict):
            component = configuration.get("componentId")
        if not isinstance(component, str):
            return None
        return lambda: self._render(component, sanitize(str(item.get("title") or component)), kind)

    async def _render(self, component: str, title: str, kind: str) -> None:
        """Ask for a space, and show the component as the integration renders it there."""
        session = self._session
        listing = ListSpaces(organization_id=session.organization.id, limit=MANY)
        spaces = (await self._session.screen.engine.read(listing)).items
        choices = [Choice(space.id, sanitize(space.title)) for space in spaces]
        if not choices:
            self._session.screen.notify("a component is rendered in a space, and this organization has none")
            return
        chosen = await choose(self._session.screen, f"Render {title} in the space", choices, ranked=True)
        if not chosen:
            return
        context: dict[str, Any] = {"theme": "dark", "type": kind, "spaceId": chosen}
        more = {"editable": True} if kind == "document" else {"organizationId": session.organization.id}
        source = Source(session.integration, session.organization.id, component, title, {**context, **more})
        self._session.screen.app_context.push_screen(ComponentScreen(source))

    def reason_open(self) -> str | None:
        """Return why the line cannot be opened: it is only text, or the service does not render components."""
        if self.current is None or self.current.opens is None:
            return f"{key_for('open')} opens blocks, content sources and links; {tab_label(2)} shows the installations"
        return self._session.screen.engine.missing_reason(RenderIntegration)

    def command_open(self) -> Awaitable[None] | None:
        """Render the block or content source under the cursor, or open the link."""
        return self.current.opens() if self.current and self.current.opens else None

    def reason_add(self) -> str | None:
        """Return why the integration cannot be installed: it is installed already, or the change is not allowed now."""
        return self._session.install_reason()

    def command_add(self) -> Awaitable[None]:
        """Install the integration."""
        return self._actions.install()

    def reason_rename(self) -> str | None:
        """Return why no new version can be published: writes are not possible now, or the user is not an owner."""
        return self._session.change_reason(PublishIntegration, "owner")

    def command_rename(self) -> Awaitable[None]:
        """Publish a new version of the integration."""
        return self._actions.publish()

    def reason_delete(self) -> str | None:
        """Return why the integration cannot be deleted: writes are not possible now, or the user is not an owner."""
        return self._session.change_reason(UnpublishIntegration, "owner")

    async def command_delete(self) -> None:
        """Delete the integration for all organizations."""
        if await self._actions.delete():
            self._session.screen.app_context.close_screen()

    def command_copy(self) -> None:
        """Copy the name of the integration."""
        self._session.copy(self._session.integration.name, "name of the integration")

    def reason_web(self) -> str | None:
        """Return why the integration cannot be opened in the browser: it has no web address."""
        return None if self._session.integration.urls.app else "it has no web address"

    def command_web(self) -> None:
        """Open the integration in the browser."""
        open_address(self._session.screen.app_context, self._session.integration.urls.app or "")


def _part_line(item: dict[str, Any]) -> Line:
    """Format a block or a content source: title and description."""
    title = sanitize(str(item.get("title") or item.get("id") or "(no title)"))
    description = sanitize(str(item.get("description") or ""))
    return (Span("  ▸ ", "accent"), Span(title, "strong"), Span(f"  {description}", "quiet"))


def _setting_words(setting: Setting) -> str:
    declared = str(setting.declared.get("type"))
    kind = "choice" if setting.declared.get("enum") else KINDS.get(declared, sanitize(declared))
    return f"{setting.title} ({kind}{', required' if setting.is_required else ''})"
