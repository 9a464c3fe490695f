"""Going between places, and the commands that work everywhere: inbox, browse and publish are modes with a stack each.

Places are imported when they are first gone to, so that a first picture pays for none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, cast

from textual.app import App
from textual.screen import Screen

from presscheck.text.styled_text import Line, Span

if TYPE_CHECKING:
    from collections.abc import Callable

    from presscheck.tui.app import PresscheckApp
    from presscheck.tui.screens.place import Place


def _inbox() -> Screen[None]:
    from presscheck.tui.screens.inbox import Inbox

    return Inbox()


def _browse() -> Screen[None]:
    from presscheck.tui.screens.browse import Browse

    return Browse()


def _publish() -> Screen[None]:
    from presscheck.tui.screens.publish import Publish

    return Publish()


class Going(App[int], inherit_bindings=False):
    """The app as far as it is a map."""

    MODES: ClassVar[dict[str, str | Callable[[], Screen[Any]]]] = {
        "inbox": _inbox,
        "browse": _browse,
        "publish": _publish,
    }
    last_review: tuple[str, str] | None = None

    def command_go_inbox(self) -> None:
        """To the inbox."""
        self.switch_mode("inbox")

    def command_go_browse(self) -> None:
        """To the spaces and pages."""
        self.switch_mode("browse")

    def command_go_publish(self) -> None:
        """To the sites."""
        self.switch_mode("publish")

    def command_go_outbox(self) -> None:
        """To what is not sent."""
        from presscheck.tui.screens.outbox import Outbox

        if not isinstance(self.screen, Outbox):
            self.push_screen(Outbox())

    def command_go_review(self) -> None:
        """To the change request that was open last."""
        if self.last_review:
            self.open_review(*self.last_review)

    def reason_go_review(self) -> str | None:
        """Nothing was open yet."""
        return None if self.last_review else "no change request was open yet: enter on one opens it"

    def open_review(self, space_id: str, change_request_id: str) -> None:
        """Open a change request, over where one is."""
        from presscheck.tui.screens.review import Review

        self.last_review = (space_id, change_request_id)
        cast("PresscheckApp", self).desk.events.unread.discard(change_request_id)
        self.push_screen(Review(space_id, change_request_id))

    async def open_thread(self, space_id: str, change_request_id: str, comment_id: str) -> None:
        """Open a change request at what was said there."""
        from presscheck.tui.screens.review import Review

        self.last_review = (space_id, change_request_id)
        review = Review(space_id, change_request_id)
        await self.push_screen(review)
        await review.show_thread(comment_id)

    async def open_page(self, space_id: str, page_id: str | None = None, change_request_id: str | None = None) -> None:
        """Browse a space, at a page, in main or in a change request."""
        await self.switch_mode("browse")
        while len(self.screen_stack) > 1:
            await self.pop_screen()
        cast("Any", self.screen).open_page(space_id, page_id, change_request_id)

    async def open_site(self, site_id: str) -> None:
        """Look at a site."""
        await self.switch_mode("publish")
        while len(self.screen_stack) > 1:
            await self.pop_screen()
        cast("Any", self.screen).open_site(site_id)

    def command_close(self) -> None:
        """Close this place; at the root of a mode, go to the inbox; there, quit, and ask first if something waits."""
        status = cast("PresscheckApp", self).desk.status
        if len(self.screen_stack) > 1:
            self.pop_screen()
        elif self.current_mode != "inbox":
            self.switch_mode("inbox")
        elif status.waiting or status.refused:
            self._ask_before_quitting(status.waiting, status.refused)
        else:
            self.command_quit()

    def command_back(self) -> None:
        """Back to the place before."""
        if len(self.screen_stack) > 1:
            self.pop_screen()

    def command_quit(self) -> None:
        """Quit; what waits to be sent stays in the outbox."""
        self.exit(0)

    def command_help(self) -> None:
        """All keys of this place."""
        from presscheck.tui.screens.finding import all_keys

        all_keys(cast("PresscheckApp", self), cast("Place", self.screen))

    def command_palette(self) -> None:
        """Every command by name."""
        from presscheck.tui.screens.finding import all_commands

        all_commands(cast("PresscheckApp", self), cast("Place", self.screen))

    def command_find_anything(self) -> None:
        """Spaces, pages and change requests by name."""
        from presscheck.tui.screens.finding import anything

        anything(cast("PresscheckApp", self), cast("Place", self.screen))

    def command_go_space(self) -> None:
        """A space by name."""
        from presscheck.tui.screens.finding import anything

        anything(cast("PresscheckApp", self), cast("Place", self.screen), "space")

    def command_theme(self) -> None:
        """Choose a theme."""
        from presscheck.tui.widgets.picker import Choice, Picker

        home = cast("PresscheckApp", self)
        choices = [Choice(name, name, "dark" if one.dark else "light") for name, one in home.themes.items()]

        def chosen(names: tuple[str, ...] | None) -> None:
            if names:
                self.theme = names[0]

        self.push_screen(Picker("Theme", choices, home.look), chosen)

    def command_activity(self) -> None:
        """Every request since the start."""
        from presscheck.tui.screens.activity import Activity

        if not isinstance(self.screen, Activity):
            self.push_screen(Activity())

    def command_errors(self) -> None:
        """Every error since the start."""
        from presscheck.tui.screens.reading import errors

        self.push_screen(errors(cast("PresscheckApp", self)))

    def _ask_before_quitting(self, waiting: int, refused: int) -> None:
        from presscheck.tui.widgets.sheet import Sheet

        lines: list[Line] = []
        if waiting:
            lines.append((Span(f"◷ {waiting} waiting", "waiting"), Span(": kept, and sent when presscheck next runs.")))
        if refused:
            lines.append((Span(f"✗ {refused} refused", "removed"), Span(": kept; g x shows why.")))

        def answered(yes: bool | None) -> None:
            if yes:
                self.command_quit()

        self.push_screen(Sheet("Not all is sent", lines, "Quit", cast("PresscheckApp", self).look), answered)
