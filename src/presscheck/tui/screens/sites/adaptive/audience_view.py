"""A site as the visitors of an audience see it: a tree of visible sections, spaces and pages.

The audience is everyone, a saved set of claims, or a new set.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Vertical
from typing_extensions import override

from presscheck.api.site_settings import GetAdaptiveSchema
from presscheck.documents.visitors.claim_schema import schema_claims
from presscheck.documents.visitors.condition_tags import visible_words
from presscheck.engine.publish.audiences import EVERYONE, AdaptivePlace, Audience, Audiences, SeenSite, seen_by
from presscheck.errors import NotFound
from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.screens.sites.adaptive.audience_dialog import ask_audience, claims_text
from presscheck.tui.screens.sites.adaptive.session import AdaptiveContent
from presscheck.tui.screens.sites.adaptive.visitor_page import VisitorPage, VisitorReferences
from presscheck.tui.screens.sites.title import site_title
from presscheck.tui.ui.ask import choose
from presscheck.tui.ui.loaded import message_for
from presscheck.tui.ui.screen import BaseScreen
from presscheck.tui.widgets.empty_state import EmptyState, Message
from presscheck.tui.widgets.line_view import TextView
from presscheck.tui.widgets.picker import Choice
from presscheck.tui.widgets.status_bar import StatusLine
from presscheck.tui.widgets.tree import Node, Tree

if TYPE_CHECKING:
    from presscheck.api.sites import Site

EVERYONE_KEY, NEW_KEY = "everyone", "new"
SAVED = "saved "
"""Prefix of the keys of saved audiences."""
_STYLES = {"section": "heading", "space": "strong", "page": ""}


async def view_as(screen: BaseScreen, organization_id: str, site: Site | None) -> None:
    """Ask for an audience, and show the site as its visitors see it."""
    audience = await ask_visitors(screen, organization_id, site) if site else None
    if site and audience:
        screen.app_context.push_screen(AudienceView(organization_id, site, audience))


async def ask_visitors(
    screen: BaseScreen, organization_id: str, site: Site, current: Audience | None = None
) -> Audience | None:
    """Choose or create an audience of a site. Returns None if nothing was chosen.

    Args:
        screen: the screen below the list.
        organization_id: the organization of the site.
        site: the site.
        current: the audience of the open view, if any.
    """
    saved = {f"{SAVED}{audience.name}": audience for audience in Audiences(screen.engine.outbox, site.id).all()}
    choices = [Choice(EVERYONE_KEY, "Everyone", "visitors without claims")]
    choices += [
        Choice(key, sanitize(audience.name), sanitize(audience.problem or claims_text(audience)))
        for key, audience in saved.items()
    ]
    choices.append(Choice(NEW_KEY, "Make a new one …", "a name and its claims"))
    at = EVERYONE_KEY if current is EVERYONE else f"{SAVED}{current.name}" if current else ""
    title = f"View {sanitize(site.title)} as"
    chosen = await choose(screen, title, choices, current=at)
    if not chosen:
        return None
    if audience := {EVERYONE_KEY: EVERYONE, **saved}.get(chosen):
        return audience
    call = GetAdaptiveSchema(organization_id=organization_id, site_id=site.id)
    try:
        schema = (await screen.engine.read(call)).json_schema
    except NotFound:  # the site has no visitor schema
        schema = None
    return await ask_audience(screen, site.id, tuple(schema_claims(schema)))


class AudienceView(BaseScreen):
    """A site as the visitors of an audience see it.

    Args:
        organization_id: the organization of the site.
        site: the site.
        audience: the audience.
    """

    SCOPE = "site"
    FOOTER = ("open", "view_as", "find_here", "close")
    LEGEND = (("?", "cannot be told whether they see it"),)
    DEFAULT_CSS = """
    AudienceView #summary { margin-top: 1; }
    AudienceView #places { margin-top: 1; }
    AudienceView #facts { margin-top: 1; }
    """

    def __init__(self, organization_id: str, site: Site, audience: Audience) -> None:
        super().__init__()
        self.session = AdaptiveContent(self, organization_id, site)
        self.audience = audience
        self.seen = SeenSite((), {})
        self._below: dict[str | None, list[AdaptivePlace]] = {}
        self._by_key: dict[str, AdaptivePlace] = {}
        self._known_parents: set[str] = set()
        """Keys of the sections and spaces that were expanded when they first appeared."""

    @override
    def title_line(self) -> Line:
        return site_title(self.session.site, "View as")

    @override
    def body(self) -> ComposeResult:
        yield StatusLine(id="summary")
        with Vertical():
            yield EmptyState()
            yield Tree(self._children, on_highlight=self._show_place, id="places")
        yield TextView(id="facts")

    @override
    def on_mount(self) -> None:
        super().on_mount()
        self.query_one("#facts").can_focus = False
        self.session.load()
        self.redraw()

    @property
    def tree_view(self) -> Tree:
        """The tree of visible sections, spaces and pages."""
        return self.query_one(Tree)

    @property
    def place_here(self) -> AdaptivePlace | None:
        """The section, space or page under the cursor."""
        return self._by_key.get(self.tree_view.key or "") if self.is_mounted else None

    @property
    def is_on(self) -> bool:
        """Whether conditions apply. True if the service does not report whether adaptive content is on."""
        return self.session.site.adaptive_content is None or self.session.is_on

    async def command_view_as(self) -> None:
        """Ask for another audience, and show the site as its visitors see it."""
        session = self.session
        audience = await ask_visitors(self, session.organization_id, session.site, self.audience)
        if audience:
            self.audience = audience
            self.redraw()

    @override
    def draw(self) -> None:
        if self.is_leaving:
            return
        content, schema = self.session.content.value, self.session.schema
        is_ready = content is not None and (schema.value is not None or schema.error is not None)
        places = content.places if content and is_ready else ()
        self.seen = seen_by(places, self.audience, self.session.known, is_on=self.is_on)
        self._by_key = {place.key: place for place in self.seen.places}
        self._below = _by_parent(self.seen.places)
        tree, empty = self.tree_view, self.query_one(EmptyState)
        parents = {key for key in self._below if key is not None and not key.startswith("page ")}
        tree.expanded |= parents - self._known_parents
        self._known_parents |= parents
        tree.show()
        tree.display = bool(tree.count)
        if tree.count:
            empty.hide()
            if not tree.has_focus and not self.find.is_open:
                tree.focus()
        else:
            empty.show_message(self._explanation(is_ready=is_ready))
        self.query_one("#summary", StatusLine).show(self._summary())
        self._show_place()

    def _explanation(self, *, is_ready: bool) -> Message:
        if is_ready:
            title = f"{sanitize(self.audience.name)} sees nothing of this site."
            return Message(title, self._hidden_pages() or "It has no spaces yet.")
        return message_for(self.session.content, "pages", " of this site", online=self.engine.status.online)

    def _summary(self) -> Line:
        """Return the audience, and the number of pages that it sees."""
        name, claims = sanitize(self.audience.name), sanitize(claims_text(self.audience))
        pages = sum(place.kind == "page" and place.is_text for place in self.seen.places)
        sees = f"   sees {count(pages, 'page')}" if self._by_key else ""
        return (Span(" As ", "quiet"), Span(name, "accent strong"), Span(f"  {claims}", "quiet"), Span(sees))

    def _hidden_pages(self) -> str:
        """Return a sentence with the numbers of pages that are not shown, by reason; empty if all pages are shown."""
        seen = self.seen
        parts = [
            f"{seen.limited:,} for other audiences" if seen.limited else "",
            f"{seen.hidden:,} hidden" if seen.hidden else "",
            f"{seen.drafts:,} in drafts" if seen.drafts else "",
        ]
        numbers = ", ".join(part for part in parts if part)
        return f"Not shown: {numbers}." if numbers else ""

    def _show_place(self) -> None:
        notes, facts = self._notes(), self.query_one("#facts", TextView)
        facts.styles.height = len(notes) + 1  # the same height for every row keeps the tree in place
        facts.show([*notes, self._detail()])
        self.refresh_status_bars()

    def _notes(self) -> list[Line]:
        """Return the notes about the site: adaptive content is off, loading failed, or pages are hidden."""
        schema, content = self.session.schema, self.session.content.value
        lines: list[Line] = []
        if not self.is_on:
            lines.append((Span(" Adaptive content is off: everybody sees everything.", "waiting"),))
        if self.audience.problem:
            lines.append((Span(f" {sanitize(self.audience.problem)}", "removed"),))
        elif (error := schema.error) and schema.value is None:
            lines.append((Span(f" Could not load the visitor schema: {sanitize(error.message)}", "waiting"),))
        for title, reason in content.unread if content else ():
            lines.append((Span(f" Could not load the pages of {sanitize(title)}: {sanitize(reason)}", "waiting"),))
        if hidden_pages := self._hidden_pages():
            lines.append((Span(f" {hidden_pages}", "quiet"),))
        return lines

    def _detail(self) -> Line:
        """Return the conditions of the row under the cursor, or why it is uncertain whether the audience sees it."""
        place = self.place_here
        if place is None or not self.is_on:
            return ()
        if doubt := self.seen.doubts.get(place.key):
            return (Span(f" ? It cannot be told whether they see it: {sanitize(doubt)}", "waiting"),)
        if not place.rules:
            return ()
        conditions = " and ".join(sanitize(rule.condition) for rule in place.rules)
        return (Span(" Only visitors with ", "quiet"), Span(conditions, "waiting"))

    def _children(self, key: str | None) -> Sequence[Node]:
        return [self._node(place) for place in self._below.get(key, ())]

    def _node(self, place: AdaptivePlace) -> Node:
        shows = VisitorReferences(self.audience, self.session.known, is_on=self.is_on).shows
        title = Span(sanitize(visible_words(place.title, shows)) or "(no title)", _STYLES[place.kind])
        if place.key in self.seen.doubts:
            note: Line = (Span("? ", "waiting"),)
        else:
            note = (Span("condition ", "quiet"),) if place.condition and self.is_on else ()
        return Node(place.key, (title,), note, expandable=place.key in self._below)

    def reason_open(self) -> str | None:
        """Return why the row cannot be opened: it has no text, and contains no pages."""
        place = self.place_here
        is_empty = place and not (place.kind == "page" and place.is_text) and place.key not in self._below
        return "nothing to open here" if is_empty else None

    def command_open(self) -> None:
        """Show the page as the audience sees it; on a section or space, expand or collapse it."""
        place = self.place_here
        if place is None:
            return
        if place.kind != "page" or not place.is_text:
            self.tree_view.toggle()
            return
        doubt = self.seen.doubts.get(place.key, "")
        page = VisitorPage(place, self.audience, self.session.known, is_on=self.is_on, doubt=doubt)
        self.app_context.push_screen(page)

    @override
    def command_refresh(self) -> None:
        super().command_refresh()
        self.session.read_content()

    def command_back(self) -> None:
        """Close the screen."""
        self.app_context.pop_screen()


def _by_parent(places: Iterable[AdaptivePlace]) -> dict[str | None, list[AdaptivePlace]]:
    """Group places by the key of their parent, which is None for top-level places. `places` has parents first."""
    below: dict[str | None, list[AdaptivePlace]] = {}
    ancestors: list[AdaptivePlace] = []
    for place in places:
        del ancestors[place.depth :]
        below.setdefault(ancestors[-1].key if ancestors else None, []).append(place)
        ancestors.append(place)
    return below
