"""Navigation: opens screens, and handles the commands that work on every screen.

This module and the app import all screens; no screen imports them. Screens and dialogs are imported when they are first
opened, so that the first paint does not wait for them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol, cast

from textual.screen import Screen

from presscheck.text.styled_text import Line, Span
from presscheck.tui.app_context import AppContext
from presscheck.tui.theme import Theme

if TYPE_CHECKING:
    from presscheck.tui.screens.base_screen import BaseScreen
    from presscheck.tui.screens.browse.screen import BrowseScreen
    from presscheck.tui.screens.publish.screen import PublishScreen


def _inbox() -> Screen[None]:
    from presscheck.tui.screens.inbox.screen import InboxScreen  # 34 ms, only after the first paint

    return InboxScreen()


def _browse() -> Screen[None]:
    from presscheck.tui.screens.browse.screen import BrowseScreen  # 44 ms, only when it is first opened

    return BrowseScreen()


def _publish() -> Screen[None]:
    from presscheck.tui.screens.publish.screen import PublishScreen  # 7 ms, only when it is first opened

    return PublishScreen()


MODES: dict[str, str | Callable[[], Screen[Any]]] = {"inbox": _inbox, "browse": _browse, "publish": _publish}
"""The modes of the app, each with a stack of screens of its own, and the screen at the bottom of that stack."""


class NavigationHost(AppContext, Protocol):
    """The app as navigation sees it: what screens see, its modes and its themes."""

    @property
    def themes(self) -> Mapping[str, Theme]:
        """All themes by name."""
        ...

    @property
    def current_mode(self) -> str:
        """The mode that is shown."""
        ...

    def switch_mode(self, mode: str) -> Awaitable[Any]:
        """Show the screens of a mode."""
        ...

    def exit(self, result: int | None = None) -> None:
        """End the app with this exit code."""
        ...


class Navigation:
    """Opens screens, and handles the commands that work on every screen.

    Args:
        app: the app whose screens these are.
    """

    def __init__(self, app: NavigationHost) -> None:
        self._app = app
        self.last_review: tuple[str, str] | None = None

    def command_go_inbox(self) -> None:
        """Show the inbox."""
        self._app.switch_mode("inbox")

    def command_go_browse(self) -> None:
        """Show spaces and pages."""
        self._app.switch_mode("browse")

    def command_go_publish(self) -> None:
        """Show the sites."""
        self._app.switch_mode("publish")

    def command_go_outbox(self) -> None:
        """Show pending writes."""
        from presscheck.tui.screens.outbox import OutboxScreen  # 4 ms, only when it is first opened

        if not isinstance(self._app.screen, OutboxScreen):
            self._app.push_screen(OutboxScreen())

    def command_go_review(self) -> None:
        """Open the last change request again."""
        if self.last_review:
            self.open_review(*self.last_review)

    def reason_go_review(self) -> str | None:
        """Disabled until a change request was opened."""
        return None if self.last_review else "no change request was opened yet: enter opens one"

    def open_review(self, space_id: str, change_request_id: str) -> None:
        """Open the review of a change request on top of the current screen."""
        from presscheck.tui.screens.review.screen import ReviewScreen  # 66 ms, only when first opened

        self.last_review = (space_id, change_request_id)
        self._app.engine.events.unread.discard(change_request_id)
        self._app.push_screen(ReviewScreen(space_id, change_request_id))

    async def open_thread(self, space_id: str, change_request_id: str, comment_id: str) -> None:
        """Open the review of a change request at a comment."""
        from presscheck.tui.screens.review.screen import ReviewScreen  # 66 ms, only when first opened

        self.last_review = (space_id, change_request_id)
        review = ReviewScreen(space_id, change_request_id)
        await self._app.push_screen(review)
        review.show_thread(comment_id)

    async def open_page(self, space_id: str, page_id: str | None = None, change_request_id: str | None = None) -> None:
        """Browse a space at a page, on main or in a change request."""
        browse = cast("BrowseScreen", await self._root_of("browse"))
        browse.open_page(space_id, page_id, change_request_id)

    async def open_site(self, site_id: str) -> None:
        """Open a site in the publish screen."""
        publish = cast("PublishScreen", await self._root_of("publish"))
        publish.open_site(site_id)

    async def _root_of(self, mode: str) -> Screen[Any]:
        await self._app.switch_mode(mode)
        while len(self._app.screen_stack) > 1:
            await self._app.pop_screen()
        return self._app.screen

    def command_close(self) -> None:
        """Close the screen; at the bottom of a mode go to the inbox; there quit, asking first about unsent changes."""
        status = self._app.engine.status
        if len(self._app.screen_stack) > 1:
            self._app.pop_screen()
        elif self._app.current_mode != "inbox":
            self._app.switch_mode("inbox")
        elif status.waiting or status.refused:
            self._ask_before_quitting(status.waiting, status.refused)
        else:
            self.command_quit()

    def command_back(self) -> None:
        """Close the screen on top, if another one is below it."""
        if len(self._app.screen_stack) > 1:
            self._app.pop_screen()

    def command_quit(self) -> None:
        """Quit; pending writes stay in the outbox."""
        self._app.exit(0)

    def command_help(self) -> None:
        """Show all keys of this screen."""
        from presscheck.tui.screens.command_palette import show_keys  # 222 ms, not for the first paint

        show_keys(self._app, self._screen)

    def command_palette(self) -> None:
        """Find a command by name."""
        from presscheck.tui.screens.command_palette import show_commands  # 222 ms, not for the first paint

        show_commands(self._app, self._screen)

    def command_find_anything(self) -> None:
        """Find spaces, pages and change requests."""
        from presscheck.tui.screens.command_palette import find_anything  # 222 ms, not for the first paint

        find_anything(self._app, self._screen)

    def command_go_space(self) -> None:
        """Go to a space by name."""
        from presscheck.tui.screens.command_palette import find_anything  # 222 ms, not for the first paint

        find_anything(self._app, self._screen, "space")

    def command_theme(self) -> None:
        """Choose a theme."""
        from presscheck.tui.widgets.picker import Choice, Picker  # 7 ms, not for the first paint

        themes = self._app.themes.items()
        choices = [Choice(name, name, "dark" if theme.dark else "light") for name, theme in themes]

        def choose(names: tuple[str, ...] | None) -> None:
            if names:
                self._app.theme = names[0]

        self._app.push_screen(Picker("Theme", choices, self._app.style_for), choose)

    def command_activity(self) -> None:
        """Show every API request since the start."""
        from presscheck.tui.screens.activity_log import ActivityScreen  # 5 ms, only when it is first opened

        if not isinstance(self._app.screen, ActivityScreen):
            self._app.push_screen(ActivityScreen())

    def command_errors(self) -> None:
        """Show every error since the start."""
        from presscheck.tui.screens.text_screen import errors  # 95 ms, not for the first paint

        self._app.push_screen(errors(self._app))

    @property
    def _screen(self) -> BaseScreen:
        return cast("BaseScreen", self._app.screen)

    def _ask_before_quitting(self, waiting: int, refused: int) -> None:
        from presscheck.tui.widgets.confirm_dialog import ConfirmDialog  # 10 ms, not for the first paint

        lines: list[Line] = []
        if waiting:
            lines.append(
                (Span(f"◷ {waiting} pending", "waiting"), Span(": stored, and sent when presscheck runs again."))
            )
        if refused:
            lines.append((Span(f"✗ {refused} failed", "removed"), Span(": stored in the outbox; g x shows why.")))

        def quit_if(confirmed: bool | None) -> None:
            if confirmed:
                self.command_quit()

        self._app.push_screen(ConfirmDialog("You have unsent changes", lines, "Quit", self._app.style_for), quit_if)
