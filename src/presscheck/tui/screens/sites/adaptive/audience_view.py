"""A site as the visitors of an audience read it: the tree of what they see, and its pages.

The audience is asked for: everyone, a saved set of claims, or a new one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
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
from presscheck.tui.screens.sites.adaptive.model import AdaptiveModel, AdaptiveSubscriptions
from presscheck.tui.screens.sites.adaptive.visitor_page import VisitorPage, VisitorReferences
from presscheck.tui.screens.sites.title import site_title
from presscheck.tui.status_bar import StatusLine
from presscheck.tui.ui.screen import BaseScreen
from presscheck.tui.widgets.empty_state import EmptyState
from presscheck.tui.widgets.line_view import TextView
from presscheck.tui.widgets.picker import Choice, Picker
from presscheck.tui.widgets.tree import Node, Tree

if TYPE_CHECKING:
    from presscheck.api.sites import Site
    from presscheck.tui.ui.screen_context import ScreenContext

EVERYONE_KEY, NEW_KEY = "everyone", "new"
SAVED = "saved "
"""The prefix of the keys of saved audiences."""
_STYLES = {"section": "heading", "space": "strong", "page": ""}


class ViewAs:
    """Handles the command that shows a site as an audience reads it.

    Args:
        context: the screen.
        organization_id: tells the organization.
        site: tells the site under the cursor.
        show: shows the site as an audience.
        on_new: called after an audience was saved.
        current: tells the name of the audience that is shown; None if none is.
    """

    def __init__(
        self,
        context: ScreenContext,
        organization_id: Callable[[], str],
        site: Callable[[], Site | None],
        show: Callable[[Site, Audience], None],
        on_new: Callable[[], None] = lambda: None,
        current: Callable[[], Audience | None] = lambda: None,
    ) -> None:
        self._context, self._organization_id, self._site = context, organization_id, site
        self._show, self._on_new, self._current = show, on_new, current

    def reason_view_as(self) -> str | None:
        """Disabled without a site."""
        return None if self._site() else "there is no site: a creates one"

    async def command_view_as(self) -> None:
        """Choose an audience, or make one, and show the site as it reads it."""
        site, context = self._site(), self._context
        if site is None:
            return
        saved = {f"{SAVED}{one.name}": one for one in Audiences(context.engine.outbox, site.id).all()}
        choices = [Choice(EVERYONE_KEY, "Everyone", "visitors without claims")]
        choices += [
            Choice(key, sanitize(one.name), sanitize(one.problem or claims_text(one))) for key, one in saved.items()
        ]
        choices.append(Choice(NEW_KEY, "Make a new one …", "a name and its claims"))
        current = self._current()
        at = EVERYONE_KEY if current is EVERYONE else f"{SAVED}{current.name}" if current else ""
        title = f"View {sanitize(site.title)} as"
        chosen = await context.ask(Picker(title, choices, ranked=False, current=at))
        if not chosen:
            return
        audience = {EVERYONE_KEY: EVERYONE, **saved}.get(chosen[0]) or await self._new(site)
        if audience:
            self._show(site, audience)

    async def _new(self, site: Site) -> Audience | None:
        """A new audience, in a form that is made from the schema."""
        call = GetAdaptiveSchema(organization_id=self._organization_id(), site_id=site.id)
        try:
            schema = (await self._context.engine.read(call)).json_schema
        except NotFound:  # a site without a visitor schema
            schema = None
        audience = await ask_audience(self._context, site.id, tuple(schema_claims(schema)))
        if audience:
            self._on_new()
        return audience


class AudienceView(BaseScreen):
    """A site as the visitors of an audience read it.

    Args:
        organization_id: the organization of the site.
        site: the site.
        audience: the visitors.
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
        self.model = AdaptiveModel(organization_id, site)
        self.audience = audience
        self.seen = SeenSite((), {})
        self._below: dict[str | None, list[AdaptivePlace]] = {}
        self._by_key: dict[str, AdaptivePlace] = {}
        self._known_parents: set[str] = set()
        """The keys of the sections and spaces that were expanded when they came."""
        self._subscriptions = AdaptiveSubscriptions(self, self.model, self.redraw)
        self._view_as = ViewAs(
            self,
            lambda: organization_id,
            lambda: self.model.site,
            lambda _, audience: self.show_as(audience),
            current=lambda: self.audience,
        )

    @override
    def title_line(self) -> Line:
        return site_title(self.model.site, "View as")

    @override
    def body(self) -> ComposeResult:
        yield StatusLine(id="summary")
        with Vertical():
            yield EmptyState()
            yield Tree(self._children, on_highlight=self._show_place, id="places")
        yield TextView(id="facts")

    @override
    def command_handlers(self) -> Iterable[object]:
        return (self, self._view_as)

    @override
    def on_mount(self) -> None:
        super().on_mount()
        self.query_one("#facts").can_focus = False
        self._subscriptions.start()
        self.redraw()

    @property
    def tree_view(self) -> Tree:
        """The tree of what they see."""
        return self.query_one(Tree)

    @property
    def place_here(self) -> AdaptivePlace | None:
        """The section, space or page under the cursor."""
        return self._by_key.get(self.tree_view.key or "") if self.is_mounted else None

    @property
    def is_on(self) -> bool:
        """Whether conditions apply; they do also where the service does not tell."""
        return self.model.site.adaptive_content is None or self.model.is_on

    def show_as(self, audience: Audience) -> None:
        """Show the site as another audience."""
        self.audience = audience
        self.redraw()

    @override
    def redraw(self) -> None:
        if self.is_mounted and not self.is_leaving:
            self.when_shown("redraw", self._draw)

    def _draw(self) -> None:
        if self.is_leaving:
            return
        content = self.model.content
        is_ready = content is not None and (self.model.schema is not None or "visitor schema" in self.model.errors)
        places = content.places if content and is_ready else ()
        self.seen = seen_by(places, self.audience, self.model.known, is_on=self.is_on)
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
            self._show_empty(empty, is_ready=is_ready)
        self.query_one("#summary", StatusLine).show(self._summary())
        self._show_place()

    def _show_empty(self, empty: EmptyState, *, is_ready: bool) -> None:
        error = self.model.errors.get("pages")
        if is_ready:
            name = sanitize(self.audience.name)
            empty.show_empty(f"{name} sees nothing of this site.", self._rest() or "It has no spaces yet.")
        elif error:
            empty.show_failed("Could not load the site", error.message)
        elif not self.engine.status.online:
            empty.show_offline("The pages of this site are not in the cache.")
        else:
            empty.show_loading("Loading the pages …")

    def _summary(self) -> Line:
        """The audience, and how much it sees."""
        name, claims = sanitize(self.audience.name), sanitize(claims_text(self.audience))
        pages = sum(place.kind == "page" and place.is_text for place in self.seen.places)
        sees = f"   sees {count(pages, 'page')}" if self._by_key else ""
        return (Span(" As ", "quiet"), Span(name, "accent strong"), Span(f"  {claims}", "quiet"), Span(sees))

    def _rest(self) -> str:
        """What is not in the tree, and why."""
        seen = self.seen
        parts = [
            f"{seen.limited:,} for other audiences" if seen.limited else "",
            f"{seen.hidden:,} hidden" if seen.hidden else "",
            f"{seen.drafts:,} in drafts" if seen.drafts else "",
        ]
        said = ", ".join(part for part in parts if part)
        return f"Not shown: {said}." if said else ""

    def _show_place(self) -> None:
        notes, facts = self._notes(), self.query_one("#facts", TextView)
        facts.styles.height = len(notes) + 1  # the same on every row, so that the tree stays where it is
        facts.show([*notes, self._detail()])
        self.refresh_status_bars()

    def _notes(self) -> list[Line]:
        """What holds for the whole site."""
        lines: list[Line] = []
        if not self.is_on:
            lines.append((Span(" Adaptive content is off: everybody sees everything.", "waiting"),))
        if self.audience.problem:
            lines.append((Span(f" {sanitize(self.audience.problem)}", "removed"),))
        elif error := self.model.errors.get("visitor schema"):
            lines.append((Span(f" Could not load the visitor schema: {sanitize(error.message)}", "waiting"),))
        for title, reason in self.model.content.unread if self.model.content else ():
            lines.append((Span(f" Could not load the pages of {sanitize(title)}: {sanitize(reason)}", "waiting"),))
        if rest := self._rest():
            lines.append((Span(f" {rest}", "quiet"),))
        return lines

    def _detail(self) -> Line:
        """Why they see the place under the cursor."""
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
        shows = VisitorReferences(self.audience, self.model.known, is_on=self.is_on).shows
        title = Span(sanitize(visible_words(place.title, shows)) or "(no title)", _STYLES[place.kind])
        if place.key in self.seen.doubts:
            note: Line = (Span("? ", "waiting"),)
        else:
            note = (Span("condition ", "quiet"),) if place.condition and self.is_on else ()
        return Node(place.key, (title,), note, expandable=place.key in self._below)

    def reason_open(self) -> str | None:
        """Disabled on what has neither a text nor pages in it, such as a link."""
        place = self.place_here
        is_empty = place and not (place.kind == "page" and place.is_text) and place.key not in self._below
        return "nothing to open here" if is_empty else None

    def command_open(self) -> None:
        """Show the page as they get it; fold or unfold a section or space."""
        place = self.place_here
        if place is None:
            return
        if place.kind != "page" or not place.is_text:
            self.tree_view.toggle()
            return
        doubt = self.seen.doubts.get(place.key, "")
        page = VisitorPage(place, self.audience, self.model.known, is_on=self.is_on, doubt=doubt)
        self.app_context.push_screen(page)

    @override
    def command_refresh(self) -> None:
        super().command_refresh()
        self._subscriptions.read_again()

    def command_back(self) -> None:
        """Close."""
        self.app_context.pop_screen()


def viewing(
    context: ScreenContext,
    organization_id: Callable[[], str],
    site: Callable[[], Site | None],
    on_new: Callable[[], None] = lambda: None,
) -> ViewAs:
    """The handler of the command that opens a site as an audience reads it.

    Args:
        context: the screen.
        organization_id: tells the organization.
        site: tells the site under the cursor.
        on_new: called after an audience was saved.
    """

    def show(chosen: Site, audience: Audience) -> None:
        context.app_context.push_screen(AudienceView(organization_id(), chosen, audience))

    return ViewAs(context, organization_id, site, show, on_new)


def _by_parent(places: Iterable[AdaptivePlace]) -> dict[str | None, list[AdaptivePlace]]:
    """The places by the key of what they are in; what is left out has nothing in it."""
    below: dict[str | None, list[AdaptivePlace]] = {}
    within: list[AdaptivePlace] = []
    for place in places:
        del within[place.depth :]
        below.setdefault(within[-1].key if within else None, []).append(place)
        within.append(place)
    return below
