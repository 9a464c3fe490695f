"""Navigation between screens and places, and the commands that work on every screen.

Inbox, browse, publish and administration are the bottom screens of their modes, and `g i`, `g o`, `g p` and `g a` show
them. Screens above them leave the stack: up to `KEPT_SCREENS` screens with a place, such as reviews and the outbox, and
every running batch are kept alive for the user's return; lists and texts that belong to another screen are closed.

This module and the app import all screens; no screen imports them. Screens and dialogs are imported when they are first
opened, so that the first paint does not wait for them.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from functools import partialmethod
from typing import TYPE_CHECKING, Any, cast

from textual.screen import Screen

from presscheck.engine.inbox.held_texts import held_words
from presscheck.errors import PresscheckError
from presscheck.text.styled_text import Line, Span
from presscheck.tui.app_context import AppContext
from presscheck.tui.commands import key_for
from presscheck.tui.places import Place, Places
from presscheck.tui.screens.startup_snapshot import KEY as SNAPSHOT

if TYPE_CHECKING:
    from presscheck.api.organizations import Organization, OrganizationMember
    from presscheck.engine.access import Container
    from presscheck.tui.screens.inbox.screen import InboxScreen
    from presscheck.tui.tour import Tour
    from presscheck.tui.ui.content_place import ContentPlace
    from presscheck.tui.ui.screen import BaseScreen

KEPT_SCREENS = 5
"""Maximum number of screens that are kept alive outside the stack; older places load again."""

LAST_PLACE = "last place"
"""The storage key of the place where the app ended."""
REOPENED = {
    "inbox": (0, 1),
    "browse": (0, 4),
    "publish": (0, 1),
    "admin": (0, 1),
    "review": (2,),
    "comments": (2,),
    "outbox": (0,),
}
"""The kinds of places that can be the first place of the app, with their possible numbers of ids."""


def _inbox() -> Screen[None]:
    from presscheck.tui.screens.inbox.screen import InboxScreen  # 34 ms, only after the first paint

    return InboxScreen()


def _browse() -> Screen[None]:
    from presscheck.tui.screens.browse.screen import BrowseScreen  # 44 ms, only when it is first opened

    return BrowseScreen()


def _publish() -> Screen[None]:
    from presscheck.tui.screens.publish.screen import PublishScreen  # 7 ms, only when it is first opened

    return PublishScreen()


def _admin() -> Screen[None]:
    from presscheck.tui.screens.admin.screen import AdminScreen  # 40 ms, only when it is first opened

    return AdminScreen()


MODES: dict[str, str | Callable[[], Screen[Any]]] = {
    "inbox": _inbox,
    "browse": _browse,
    "publish": _publish,
    "admin": _admin,
}
"""The modes of the app. Each has its own stack of screens, whose bottom screen the function creates."""


def _read_place(text: str | None) -> Place:
    """Parse a stored place. Return the inbox if it is missing or invalid."""
    try:
        kind, *ids = json.loads(text or "[]")
        place = Place(str(kind), ids=tuple(map(str, ids)))
    except (ValueError, TypeError):
        return Place("inbox")
    return place if len(ids) in REOPENED.get(place.kind, ()) else Place("inbox")


class Navigation:
    """The navigation of an app, and the commands that work on every screen.

    Args:
        app: the app.
    """

    def __init__(self, app: AppContext) -> None:
        self._app = app
        self.last_review: tuple[str, str] | None = None
        self._places = Places()
        self._tour: Tour | None = None
        self._told = ""
        """The drafts and pending reviews that were listed at the last attempt to quit."""
        self._kept: dict[tuple[str, ...], tuple[BaseScreen, str]] = {}
        """The screens kept alive outside the stack, oldest first, each with the theme it was drawn with."""

    async def open_first_screen(self) -> None:
        """Show the screen of the setting `first_screen`, by default the inbox."""
        first = self._app.profile.first_screen
        if first != "last":
            await self._app.switch_mode(first)
            return
        place = _read_place(self._app.engine.outbox.recall(LAST_PLACE))
        if place.kind not in MODES:
            await self._app.switch_mode("inbox")
        if place.kind == "review" and not self._is_stored(place):  # the connection is not known yet
            self._app.notify("the change request where you left is not stored here any more")
            return
        await self.go(place)

    def store_last_place(self) -> None:
        """Store the current place if the next start opens it."""
        here = self._here()
        if self._app.profile.first_screen != "last" or here is None:
            return
        if here.kind not in REOPENED:
            here = Place("inbox")
        engine = self._app.engine
        engine.outbox.remember_if_possible(LAST_PLACE, json.dumps(here.key))
        if here.kind != "inbox":
            engine.remember(SNAPSHOT, "")  # the next start would show the inbox for a moment

    def _go_to_mode(self, mode: str) -> None:
        self._note()
        self._root_of(mode)

    command_go_inbox = partialmethod(_go_to_mode, "inbox")
    command_go_browse = partialmethod(_go_to_mode, "browse")
    command_go_publish = partialmethod(_go_to_mode, "publish")
    command_go_admin = partialmethod(_go_to_mode, "admin")

    def command_go_outbox(self) -> None:
        """Show the outbox."""
        self._note()
        self._show(Place("outbox", "Outbox", mode=self._app.current_mode))

    def command_go_all_profiles(self) -> None:
        """Show the inboxes of several profiles in one list."""
        self._note()
        self._show(Place("profiles", "All profiles", mode="inbox"))

    async def command_go_profile(self) -> None:
        """Choose another profile and switch to it. Unsent changes require a confirmation, as for quitting."""
        from presscheck.tui.profile_switch import choose_profile  # 5 ms, only to switch

        profile = await choose_profile(self._app, self._screen)
        if profile and await self._may_leave():
            self._app.switch_profile(profile)

    async def go_to_profile(self, place: Place) -> None:
        """Go to a place of another profile: the app restarts there with the other profile.

        Going back from there returns to the current place. Unsent changes require a confirmation, as for quitting. For
        the profile of the app, this is the same as `go`.

        Raises:
            PresscheckError: the settings file has an error, the profile is not in it, or it has no token.
        """
        if place.profile in ("", self._app.profile.name):
            await self.go(replace(place, profile=""))
            return
        here, name = self._here(), self._app.profile.name
        await self._continue_with(place, here and replace(here, profile=name, note=f"profile {name}"))

    async def _continue_with(self, place: Place, before: Place | None) -> None:
        """Restart with the profile of a place, at this place. The user can go back to `before`."""
        from presscheck.tui.profile_switch import load_profile  # 5 ms, only to switch

        profile = await asyncio.to_thread(load_profile, self._app, place.profile)
        if await self._may_leave():
            self._app.switch_profile(profile, replace(place, profile=""), before)

    async def begin_at(self, place: Place, before: Place | None) -> None:
        """Go to the first place after a switch of the profile.

        Args:
            place: the place; if it cannot be opened, the reason is shown on the first screen.
            before: the place of another profile to which the user can go back.
        """
        try:
            await self.go(place)
        except PresscheckError as error:
            self._app.show_error(error)
        if before:
            self._places.begin_after(before)

    async def _may_leave(self) -> bool:
        """Return whether to leave the profile. If it has unsent changes, ask the user."""
        status = self._app.engine.status
        if status.waiting or status.refused:
            from presscheck.tui.ui.ask import confirm  # 10 ms, not for the first paint

            self._told = held_words(self._app.engine.held_texts())
            lines = self._unsent_lines(status.waiting, status.refused)
            return await confirm(self._screen, "You have unsent changes", lines, "Switch")
        return True

    def command_go_review(self) -> None:
        """Go to the last change request, at its former position if its screen is still alive."""
        if self.last_review:
            self._note()
            self._show(self._places.find(("review", *self.last_review)) or Place.review(*self.last_review))

    def reason_go_review(self) -> str | None:
        """Return why the last change request cannot be opened: there is none, or it is not cached while offline."""
        if self.last_review is None:
            return f"no change request was opened yet: {key_for('open')} opens one"
        return self.place_reason(Place.review(*self.last_review))

    def command_go_links(self) -> None:
        """Show links, files and reusable content of the space that the screen shows."""
        # 5 ms, only when it is first opened
        from presscheck.tui.screens.space_content.screen import SpaceContentScreen

        place = self._content_place()
        if place:
            self._app.push_screen(SpaceContentScreen(place))

    def reason_go_links(self) -> str | None:
        """Return why the links of a space cannot be shown: no screen shows a space."""
        return None if self._content_place() else "go to a space, or open a review first"

    def _content_place(self) -> ContentPlace | None:
        """Return the space of the topmost full screen, which a dialog may cover."""
        screens = cast("Iterable[BaseScreen]", reversed(self._app.screen_stack))
        return next((screen.content_place() for screen in screens if hasattr(screen, "content_place")), None)

    def command_place_back(self) -> None:
        """Go back to the previous place."""
        self._step(-1)

    def reason_place_back(self) -> str | None:
        """Return why the user cannot go back: there is no previous place."""
        return None if self._places.can_step(-1, self._here()) else "no earlier place"

    def command_place_forward(self) -> None:
        """Go forward to the next place."""
        self._step(1)

    def reason_place_forward(self) -> str | None:
        """Return why the user cannot go forward: there is no next place."""
        return None if self._places.can_step(1, self._here()) else "no later place: alt+left goes back"

    def command_places(self) -> None:
        """Pick a place from the history and go there."""
        from presscheck.tui.widgets.picker import Choice, Picker  # 7 ms, not for the first paint

        self._note()
        places = self._places.others(self._here())
        choices = [Choice(str(at), place.title, place.note or place.kind) for at, place in enumerate(places)]

        def choose(keys: tuple[str, ...] | None) -> None:
            if keys:
                self._places.jump()
                self._show(places[int(keys[0])])

        self._app.push_screen(Picker("Open places", choices, ranked=False), choose)

    def reason_places(self) -> str | None:
        """Return why no place can be picked: no other place was opened."""
        return None if self._places.others(self._here()) else "no other place was opened yet"

    def place_reason(self, place: Place) -> str | None:
        """Return why the user cannot go to a place, or None.

        A closed batch cannot be reopened. Offline, a review can only be opened if it is cached.
        """
        if place.screen in self._kept:
            return None
        if place.kind == "batch":
            return "it is finished and closed"
        engine = self._app.engine
        if place.kind != "review" or engine.status.online:
            return None
        return None if self._is_stored(place) else "you are offline, and this change request was never loaded"

    def _is_stored(self, place: Place) -> bool:
        """Return whether the change request of a review is cached."""
        from presscheck.api.change_requests import GetChangeRequest  # 15 ms, not for the first paint

        call = GetChangeRequest(space_id=place.ids[0], change_request_id=place.ids[1])
        return self._app.engine.known(call) is not None

    def go(self, place: Place) -> Awaitable[BaseScreen]:
        """Go to a place. A place outside the modes, such as a review, always gets a new screen on top of the stack.

        Returns:
            An awaitable of the screen. The screen is on top at once. Once awaited, the screen goes to the place as soon
            as the content of the place is loaded.

        Raises:
            PresscheckError: the user cannot go to the place.
        """
        if reason := self.place_reason(place):
            raise PresscheckError(reason)
        self._note()
        if place.kind in MODES:
            self._places.jump()
            mounted = self._app.switch_mode(place.kind)
            screen = self._root_of(place.kind)
        else:
            screen = self._new_screen(place)
            mounted = self._app.push_screen(screen)

        async def arrive() -> BaseScreen:
            await mounted
            screen.go_to(place)
            if place.command:
                screen.run(lambda: screen.run_command_at(place), group="command at place", exclusive=True)
            return screen

        return arrive()

    def _new_screen(self, place: Place) -> BaseScreen:
        if place.kind == "review":
            from presscheck.tui.screens.review.screen import ReviewScreen  # 66 ms, only when first opened

            self.last_review = (place.ids[0], place.ids[1])
            self._app.engine.events.unread.discard(place.ids[1])
            self._end_kept(place.screen)
            return ReviewScreen(place.ids[0], place.ids[1])
        if place.kind == "comments":
            # 20 ms, only when it is first opened
            from presscheck.tui.screens.page_comments import PageCommentsScreen

            return PageCommentsScreen(place.ids[0], place.ids[1], place.comment)
        if place.kind == "profiles":
            from presscheck.tui.screens.all_profiles import AllProfilesScreen  # 20 ms, only when it is first opened

            return AllProfilesScreen()
        from presscheck.tui.screens.outbox.screen import OutboxScreen  # 4 ms, only when it is first opened

        return OutboxScreen()

    def open_permissions(self, organization: Organization, thing: Container | OrganizationMember) -> None:
        """Show the access levels in a container or of a member, each with its source."""
        # 8 ms, only when it is first opened
        from presscheck.tui.screens.access.screen import AccessScreen

        self._app.push_screen(AccessScreen(organization, thing))

    def _root_of(self, mode: str) -> BaseScreen:
        """Show the bottom screen of a mode, and return it."""
        self._app.switch_mode(mode)
        root = cast("BaseScreen", self._app.screen_stack[0])
        self._take_off_above(root)
        return root

    def _take_off_above(self, screen: Screen[Any]) -> None:
        """Remove all screens above a screen from the stack; screens with a place are kept alive.

        Nothing is awaited, because closing a screen could cancel the waiting task.
        """
        while (top := self._app.screen) is not screen:
            place = self._place_of(top)
            if place:
                self._keep(cast("BaseScreen", top), place)
            self._app.pop_screen()

    def _keep(self, screen: BaseScreen, place: Place) -> None:
        self._end_kept(place.screen)
        self._app.install_screen(screen, " ".join(place.screen))
        self._kept[place.screen] = (screen, self._app.theme)
        ended = [key for key in self._kept if key[0] != "batch"]  # ending a running batch would stop it
        for key in ended[:-KEPT_SCREENS]:
            self._end_kept(key)

    def _end_kept(self, key: tuple[str, ...]) -> None:
        screen, _ = self._kept.pop(key, (None, ""))
        if screen:
            self._app.uninstall_screen(screen)
            screen.remove()

    def _here(self) -> Place | None:
        """Return the place of the topmost screen that has one, or None."""
        places = (self._place_of(screen) for screen in reversed(self._app.screen_stack))
        return next((place for place in places if place), None)

    def _place_of(self, screen: Screen[Any]) -> Place | None:
        make: Callable[[], Place | None] | None = getattr(screen, "place", None)  # dialogs have none
        place = make() if make else None
        return replace(place, mode=self._app.current_mode) if place else None

    def _note(self) -> None:
        here = self._here()
        if here:
            self._places.note(here)

    def _step(self, by: int) -> None:
        self._note()
        place = self._places.step(by)
        if place:
            self._show(place)

    def _show(self, place: Place) -> None:
        """Return to a place. If its screen is still alive, show it unchanged; otherwise open a new screen.

        If the place cannot be opened, show the reason and forget the place.
        """
        if place.profile:
            self._screen.run(lambda: self._continue_with(place, None), group="profile", exclusive=True)
            return
        if place.kind in MODES:
            root = self._root_of(place.kind)
            here = root.place()
            if here is None or here.ids != place.ids:
                root.go_to(place)
            return
        if place.mode:
            self._app.switch_mode(place.mode)
        for screen in self._app.screen_stack:
            other = self._place_of(screen)
            if other and other.screen == place.screen:
                self._take_off_above(screen)
                return
        if place.kind == "review":
            self.last_review = (place.ids[0], place.ids[1])
        if place.screen in self._kept:
            kept, theme = self._kept.pop(place.screen)
            self._app.uninstall_screen(kept)
            self._app.push_screen(kept)
            if theme != self._app.theme:
                self._app.refresh_css(animate=False)
        elif reason := self.place_reason(place):
            self._app.notify(reason)
            self._places.forget(place)
        else:
            self._note()
            self._app.push_screen(self._new_screen(place))

    def command_close(self) -> None:
        """Close the screen and go back to the previous place; in the inbox, quit.

        Quitting with unsent changes requires a confirmation. With drafts or pending reviews only, list them; the next
        call quits.
        """
        status = self._app.engine.status
        if len(self._app.screen_stack) > 1:
            self.command_back()
        elif self._app.current_mode != "inbox":
            self._note()
            self._show(self._places.leave_screen() or Place("inbox", "Inbox"))
        else:
            told, self._told = self._told, held_words(self._app.engine.held_texts())
            if status.waiting or status.refused:
                self._ask_before_quitting(status.waiting, status.refused)
            elif self._told not in ("", told):
                key = self._app.keymap.label("close")
                self._screen.notify(f"✎ {self._told} kept here: {key} again quits")
            else:
                self.command_quit()

    def command_back(self) -> None:
        """Close the top screen, unless it is the last one, and go back to the previous place."""
        if len(self._app.screen_stack) == 1:
            return
        closed, before = self._place_of(self._app.screen), None
        if closed:
            self._note()
            before = self._places.leave_screen()
        if closed and closed.kind == "batch":
            self._places.forget(closed)
        self._app.pop_screen()
        here = self._here()
        if before and here and before.screen != here.screen:
            self._show(before)

    def command_quit(self) -> None:
        """Quit; pending writes stay in the outbox."""
        self._app.exit(0)

    def command_help(self) -> None:
        """Show all keys of this screen."""
        from presscheck.tui.screens.key_list import show_keys  # 10 ms, not for the first paint

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

        choices = [
            Choice(name, name, ("in use · " if name == self._app.theme else "") + ("dark" if theme.dark else "light"))
            for name, theme in self._app.themes.items()
        ]

        def choose(names: tuple[str, ...] | None) -> None:
            if names:
                self._app.theme = names[0]

        self._app.push_screen(Picker("Theme", choices, current=self._app.theme), choose)

    def command_activity(self) -> None:
        """Show every API request since the start."""
        from presscheck.tui.screens.activity_log import ActivityScreen  # 5 ms, only when it is first opened

        if not isinstance(self._app.screen, ActivityScreen):
            self._app.push_screen(ActivityScreen())

    def command_errors(self) -> None:
        """Show every notice since the start."""
        from presscheck.tui.screens.notice_log import NoticeLogScreen  # 5 ms, only when it is first opened

        if not isinstance(self._app.screen, NoticeLogScreen):
            self._app.push_screen(NoticeLogScreen())

    def command_tour(self) -> None:
        """Start the tour, from its first step."""
        self._new_tour().start()

    def offer_tour(self) -> None:
        """Offer the tour unless it was offered before. In the inbox, first wait for a response of the service."""
        if self._app.current_mode != "inbox":
            self._new_tour().offer()
            return
        inbox = cast("InboxScreen", self._app.screen_stack[0])

        async def offer() -> None:
            await inbox.session.answered.wait()
            if not (self._tour and self._tour.is_running):
                self._new_tour().offer()

        inbox.run(offer, group="tour")

    def _new_tour(self) -> Tour:
        from presscheck.tui.tour import Tour  # 3 ms, only when the tour begins

        if self._tour:
            self._tour.end()

        def place() -> str:
            here = self._place_of(self._app.screen)
            return here.kind if here else ""

        self._tour = Tour(self._app, place, lambda: self.last_review is not None)
        return self._tour

    def command_tour_next(self) -> None:
        """Go to the next step of the tour."""
        if self._tour:
            self._tour.go_on()

    def reason_tour_next(self) -> str | None:
        """Return why there is no next step: no tour is running."""
        return None if self._tour and self._tour.is_running else "no tour is running: look for “tour” in the commands"

    @property
    def _screen(self) -> BaseScreen:
        return cast("BaseScreen", self._app.screen)

    def _ask_before_quitting(self, waiting: int, refused: int) -> None:
        from presscheck.tui.widgets.confirm_dialog import ConfirmDialog  # 10 ms, not for the first paint

        def quit_if(confirmed: bool | None) -> None:
            if confirmed:
                self.command_quit()

        lines = self._unsent_lines(waiting, refused)
        self._app.push_screen(ConfirmDialog("You have unsent changes", lines, "Quit"), quit_if)

    def _unsent_lines(self, waiting: int, refused: int) -> list[Line]:
        lines: list[Line] = []
        if waiting:
            lines.append(
                (Span(f"◷ {waiting} pending", "waiting"), Span(": stored, and sent when presscheck runs again."))
            )
        if refused:
            why = Span(f": stored in the outbox; {key_for('go_outbox')} shows why.")
            lines.append((Span(f"✗ {refused} failed", "removed"), why))

        if self._told:
            lines.append((Span(f"✎ {self._told}", "accent"), Span(": stay on this machine.")))
        return lines
