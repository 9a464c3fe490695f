"""The tab about an integration: what it is, what it may do, its blocks, content sources, settings and links."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from presscheck.api.integrations import InstallIntegration, PublishIntegration, RenderIntegration, UnpublishIntegration
from presscheck.api.spaces import ListSpaces
from presscheck.engine.integrations.scopes import RISKY, TARGETS, in_order, scope_text
from presscheck.engine.integrations.settings import component_of, missing_settings, settings_of
from presscheck.text.phrases import count, now, since
from presscheck.text.sanitize import display_url, sanitize
from presscheck.text.styled_text import Line, Span, cut, pad, wrap
from presscheck.tui.screens.admin.integration.component_screen import ComponentScreen, Source
from presscheck.tui.widgets.picker import Choice, Picker

if TYPE_CHECKING:
    from presscheck.engine.integrations.settings import Setting
    from presscheck.errors import PresscheckError
    from presscheck.tui.screens.admin.integration.actions import IntegrationActions
    from presscheck.tui.screens.admin.integration.context import IntegrationContext

NAME_COLUMNS = 17
KINDS = {"string": "text", "number": "number", "boolean": "yes or no", "button": "button"}
"""The kinds of settings in words."""
MANY = 1000


class AboutRow(NamedTuple):
    """A line, and what enter opens on it."""

    line: Line
    opens: Callable[[], Awaitable[None] | None] | None = None


class AboutTab:
    """What an integration is and may do.

    Args:
        screen: the screen of the integration.
        actions: what changes the integration.
    """

    name, noun = "About", "details"
    footer = ("open", "add", "rename", "web", "delete", "close")
    total: int | None = None
    error: PresscheckError | None = None

    def __init__(self, screen: IntegrationContext, actions: IntegrationActions) -> None:
        self._screen, self._actions = screen, actions
        self._text = ""
        self._drawn: tuple[Any, list[AboutRow]] | None = None

    @property
    def shown(self) -> list[AboutRow]:
        """The lines, wrapped to the width of the screen; with a filter, those with its text."""
        model = self._screen.model
        state = (model.integration, model.installation, model.installations.error, self._screen.columns)
        if self._drawn is None or self._drawn[0] != state:
            self._drawn = (state, list(self._rows(self._screen.columns)))
        rows = self._drawn[1]
        return [row for row in rows if self._text in "".join(span.text for span in row.line).lower()]

    @property
    def count(self) -> int:
        """The number of lines."""
        return len(self.shown)

    def key(self, index: int) -> Hashable | None:
        """The number of a line identifies it."""
        return index if index < self.count else None

    def filter(self, text: str) -> None:
        """Show only the lines with a text."""
        self._text = text

    def summary(self) -> Line:
        """Whether it is installed."""
        installation, listed = self._screen.model.installation, self._screen.model.installations
        if installation:
            words = f"✓ installed {since(installation.created_at, now())}"
            missing = missing_settings(self._screen.model.integration, installation.configuration)
            needs = f"   ⚠ it needs settings: {', '.join(missing)}" if missing else ""
            return (Span(words, "added"), Span(needs, "waiting"))
        if listed.items is None and listed.error:
            return (Span("the service does not list its installations for you", "quiet"),)
        return (Span("not installed: a installs it" if listed.items is not None else "…", "quiet"),)

    def heading(self, columns: int) -> Line:
        """No columns have names here."""
        return ()

    def row(self, index: int, columns: int) -> Line:
        """A line."""
        return self.shown[index].line

    def empty(self) -> tuple[str, str]:
        """Never empty."""
        return "Nothing is known of this integration.", ""

    def _rows(self, columns: int) -> Iterator[AboutRow]:
        integration = self._screen.model.integration
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
            mark = Span("  ⚠ ", "waiting") if scope in RISKY else Span("  • ", "quiet")
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
        integration = self._screen.model.integration
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
        self._screen.open_web(url)

    def _opener(self, item: dict[str, Any], kind: str) -> Callable[[], Awaitable[None] | None] | None:
        configuration = item.get("configuration")
        component = item.get("id") if kind == "document" else None
        if kind != "document" and isinstance(configuration, dict):
            component = configuration.get("componentId")
        if not isinstance(component, str):
            return None
        return lambda: self._render(component, sanitize(str(item.get("title") or component)), kind)

    async def _render(self, component: str, title: str, kind: str) -> None:
        """Ask for the space in which a component is rendered, and show it there."""
        model = self._screen.model
        listing = ListSpaces(organization_id=model.organization.id, limit=MANY)
        spaces = (await self._screen.engine.read(listing)).items
        choices = [Choice(space.id, sanitize(space.title)) for space in spaces]
        if not choices:
            self._screen.notify("a component is rendered in a space, and this organization has none")
            return
        picker = Picker(f"Render {title} in the space", choices, is_menu=False)
        chosen = await self._screen.ask(picker)
        if not chosen:
            return
        context: dict[str, Any] = {"theme": "dark", "type": kind, "spaceId": chosen[0]}
        more = {"editable": True} if kind == "document" else {"organizationId": model.organization.id}
        source = Source(model.integration, model.organization.id, component, title, {**context, **more})
        self._screen.app_context.push_screen(ComponentScreen(source))

    def reason(self, command: str) -> str | None:
        """Why a command cannot run now."""
        model = self._screen.model
        if command == "open":
            at, shown = self._screen.rows.cursor, self.shown
            if at >= len(shown) or shown[at].opens is None:
                return "enter opens blocks, content sources and links; 2 shows the installations"
            return self._screen.engine.missing_reason(RenderIntegration)
        if command == "add":
            if model.installation:
                return f"it is installed already in {sanitize(model.organization.title)}: 2 shows it"
            return self._screen.change_reason(InstallIntegration, "installer")
        if command in ("rename", "delete"):
            operation = PublishIntegration if command == "rename" else UnpublishIntegration
            return self._screen.change_reason(operation, "owner")
        return "it has no web address" if command == "web" and not model.integration.urls.app else None

    def run(self, command: str) -> Awaitable[None] | None:
        """Run a command."""
        if command == "add":
            return self._actions.install()
        if command == "rename":
            return self._actions.publish()
        if command == "delete":
            return self._delete()
        if command == "copy":
            self._screen.app_context.copy_to_clipboard(sanitize(self._screen.model.integration.name))
            self._screen.notify("copied the name of the integration")
            return None
        if command == "web":
            self._screen.open_web(self._screen.model.integration.urls.app or "")
            return None
        opens = self.shown[self._screen.rows.cursor].opens
        return opens() if opens else None

    async def _delete(self) -> None:
        if await self._actions.delete():
            self._screen.app_context.close_screen()


def _part_line(item: dict[str, Any]) -> Line:
    """A block or a content source: its title and description."""
    title = sanitize(str(item.get("title") or item.get("id") or "(no title)"))
    description = sanitize(str(item.get("description") or ""))
    return (Span("  ▸ ", "accent"), Span(title, "strong"), Span(f"  {description}", "quiet"))


def _setting_words(setting: Setting) -> str:
    declared = str(setting.declared.get("type"))
    kind = "choice" if setting.declared.get("enum") else KINDS.get(declared, sanitize(declared))
    return f"{setting.title} ({kind}{', required' if setting.is_required else ''})"
