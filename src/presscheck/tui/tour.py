"""The tour: a table of steps. Each is shown at the bottom of the app, in one or two lines, with the key to press.

A step ends when its command has run, started by its key, the mouse or the palette. The command `tour_next` skips a
step, or runs its command if that only goes to another place. The tour never writes: outside the sample workspace, a
command that writes does not run while its step is shown.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from string import Formatter
from typing import TYPE_CHECKING, Any, cast

from textual.css.query import NoMatches
from textual.screen import Screen
from textual.worker import Worker

from presscheck.text.styled_text import Line, Span
from presscheck.tui.commands import BY_NAME
from presscheck.tui.widgets.status_bar import pressing
from presscheck.tui.widgets.tour_bar import OVER_DIALOGS, TourBar

if TYPE_CHECKING:
    from presscheck.tui.app_context import AppContext
    from presscheck.tui.ui.screen import BaseScreen

SETTLED = 0.4
"""Seconds after a dialog is closed until its step ends, unless another dialog opens."""
OFFERED = "tour offered"
"""The key in a profile's local state that records that the tour was offered."""
GO_TO = {"inbox": "go_inbox", "review": "go_review", "browse": "go_browse", "publish": "go_publish"}
"""The command that goes to each place."""


@dataclass(frozen=True)
class Step:
    """A step of the tour. In its texts, the name of a command in braces is replaced by its key.

    Attributes:
        text: the instruction.
        commands: the commands that end the step, the most common first.
        detail: the second line.
        place: the kind of the place where the step is shown, such as `review`; empty for every place.
        inside: the text while the command has a screen or dialog open; the step ends when the screen is closed.
        goes: whether the command only goes to another place; `tour_next` then runs it.
        writes: whether the command writes.
    """

    text: str
    commands: tuple[str, ...]
    detail: str = ""
    place: str = ""
    inside: str = ""
    goes: bool = False
    writes: bool = False


STEPS = (
    Step(
        "The inbox lists the change requests that need you: {down} and {up} move.",
        ("down", "up", "half_down", "half_up", "top", "bottom"),
        "The last line shows the keys for where you are.",
        place="inbox",
    ),
    Step(
        "{open} opens the change request under the cursor.",
        ("open",),
        "{close} brings you back from everywhere.",
        place="inbox",
        goes=True,
    ),
    Step(
        "A review shows each changed page: {next_change} goes to the next change.",
        ("next_change", "previous_change", "next_page"),
        "{next_page} goes to the next page, {next_thread} to the next thread.",
        place="review",
    ),
    Step(
        "{comment} comments on the line under the cursor.",
        ("comment",),
        place="review",
        inside="Write a comment. Closing it keeps the text as a draft.",
        writes=True,
    ),
    Step(
        "{approve} approves the change request, {request_changes} requests changes.",
        ("approve", "request_changes"),
        place="review",
        inside="Approve, with a line of text or without, or close it.",
        writes=True,
    ),
    Step(
        "{why} shows what a merge still requires; {merge} merges, and asks first.",
        ("why",),
        place="review",
        inside="{open} goes to what is missing, {back} goes back.",
    ),
    Step(
        "{go_browse} shows the organization: its spaces and their pages.",
        ("go_browse",),
        "There, {open} unfolds a space, and goes into a page.",
        goes=True,
    ),
    Step(
        "On a page, {edit} edits it, always in a change request: never the live page.",
        ("edit",),
        "First go to a page: {open} unfolds a space, {down} moves.",
        place="browse",
        inside="Edit the page. Leaving the editor keeps the text as a draft.",
        writes=True,
    ),
    Step(
        "{go_publish} opens the sites: their checks, and who can see them.",
        ("go_publish",),
        "There, {publish} publishes a site, and asks first.",
        goes=True,
    ),
    Step(
        "{palette} finds any command by name, and {help} lists all keys.",
        ("palette", "help"),
        "These two are all you have to remember.",
        inside="{back} closes it, and ends the tour.",
    ),
)
"""The steps, in order."""


class Tour:
    """A single run of the tour, which shows the steps one after another.

    Args:
        app: the app.
        place: returns the kind of the current place; empty for dialogs and screens without a place.
        has_review: returns whether a review was opened, which `go_review` can open again.
    """

    def __init__(self, app: AppContext, place: Callable[[], str], has_review: Callable[[], bool]) -> None:
        self._app, self._place, self._has_review = app, place, has_review
        self._at = -1
        """The number of the step; -1 while the tour is only offered."""
        self._was_here = False
        """Whether the last command was started at the place of its step."""
        self._is_inside = False
        """Whether the command of the step has opened a screen or dialog that is still open."""
        self._work: Worker[None] | None = None
        """The worker of the command of the step; None for a synchronous command."""
        self._bars: dict[Screen[Any], TourBar] = {}
        self.is_running = False

    def offer(self) -> None:
        """Offer the tour, once per profile."""
        outbox = self._app.engine.outbox
        if outbox.recall(OFFERED) is None:
            outbox.remember_if_possible(OFFERED, "yes")
            self._run()

    def start(self) -> None:
        """Start with the first step."""
        self._at = 0
        self._run()

    def end(self) -> None:
        """End the tour, at any step."""
        if not self.is_running:
            return
        self.is_running = False
        self._app.observer = None
        for bar in self._bars.values():
            if bar.is_attached:
                bar.remove()
        self._bars.clear()

    def go_on(self) -> None:
        """Go to the next step, or first to the place of the current step if the user is elsewhere."""
        if self._at < 0:
            self._next()
            return
        step = STEPS[self._at]
        if not self._is_here():
            self._run_command(GO_TO[step.place] if step.place else "back")
        elif step.goes:
            self._run_command(step.commands[0])
        else:
            self._next()

    def takes(self, command: str) -> bool:
        """Handle a command that is about to run. Return True to prevent it.

        `back` ends the tour. Outside the sample workspace, the next step replaces a command that writes.
        """
        step = STEPS[self._at] if self._at >= 0 else None
        self._was_here = step is not None and self._is_here()
        if command == "back" and not self._is_inside and self._place():
            self._say_how_to_start("tour ended")
            self.end()
            return True
        if step and step.writes and self._was_here and command in step.commands and not self._app.profile.is_sample:
            self._next()
            self._app.notify(f"the tour only shows this: nothing was sent, {_title(command)} works after it")
            return True
        return False

    def ran(self, command: str, work: Worker[None] | None) -> None:
        """Go to the next step after the command of the step, or wait until the screen that it opened is closed."""
        if not self.is_running or self._at < 0:
            return
        step = STEPS[self._at]
        if not self._was_here or command not in step.commands:
            return
        if step.inside:
            self._is_inside, self._work = True, work
            self._when_settled()
        else:
            self._next()

    def screen_changed(self) -> None:
        """Show the step on the new top screen, and go to the next step if the opened screen was closed."""
        self._app.screen.call_later(self._show)
        if self._is_inside:
            self._when_settled()

    def _run(self) -> None:
        self.is_running, self._app.observer = True, self
        self._show()

    def _run_command(self, name: str) -> None:
        cast("BaseScreen", self._app.screen).run_command(BY_NAME[name])

    def _is_here(self) -> bool:
        place = self._place()
        return bool(place) and STEPS[self._at].place in ("", place)

    def _when_settled(self) -> None:
        """Go to the next step once the command is done and all its dialogs are closed."""
        step = self._at

        def settled() -> None:
            if not (self.is_running and self._is_inside and self._at == step and self._is_here()):
                return
            if self._work and not self._work.is_finished:
                self._when_settled()  # the command may open a further dialog
            else:
                self._next()

        self._app.screen.set_timer(SETTLED, settled)

    def _next(self) -> None:
        self._is_inside = False
        self._at += 1
        while self._at < len(STEPS) and STEPS[self._at].place == "review" and not self._has_review():
            self._at += 1  # skip steps in a review if there was no change request to open
        if self._at < len(STEPS):
            self._show()
            return
        self.end()
        self._say_how_to_start("that was the tour")

    def _say_how_to_start(self, what: str) -> None:
        self._app.notify(f"{what}: {self._key('tour')} starts it again")

    def _show(self) -> None:
        """Show the step on the top screen, unless the widgets of the screen are not mounted yet."""
        screen = self._app.screen
        if not self.is_running:
            return
        bar = self._bars.get(screen)
        if self._at < 0 and not self._place():  # the keys of the offer do not work in the editor and in dialogs
            return
        if bar is None or not bar.is_attached:
            bar = self._mounted(screen)
        if bar:
            lines, keys = self._lines()
            bar.show(lines, keys)

    def _mounted(self, screen: Screen[Any]) -> TourBar | None:
        bar = TourBar(is_over_dialog=screen.is_modal)
        try:
            if screen.is_modal:
                screen.styles.layers = f"default above {OVER_DIALOGS}"
                screen.mount(bar)
            else:
                screen.mount(bar, before="#below")
        except NoMatches:  # the screen is being closed, or has no widgets yet
            return None
        self._bars[screen] = bar
        return bar

    def _lines(self) -> tuple[list[Line], Line]:
        """Return the lines of the current step, and the keys on their right."""
        if self._at < 0:
            return [
                self._line(" A tour of two minutes shows the keys that matter most."),
                self._line(" You can take it at any time: {tour}."),
            ], self._keys("start", "not now")
        step, number = STEPS[self._at], Span(f" {self._at + 1}/{len(STEPS)}  ", "accent strong")
        gap = Span(" " * len(number.text))
        if self._is_here():
            detail = step.detail
            if step.writes and self._app.profile.is_sample:
                detail = step.detail or "Try it: this is the sample workspace."
            elif step.writes:
                detail = "The tour only shows it: the key does nothing now."
            return [(number, *self._line(step.text)), (gap, *self._line(detail))], self._keys("next", "end")
        if self._is_inside:
            return [(number, *self._line(step.inside))], ()
        if self._place():
            go = f"{{{GO_TO[step.place]}}}"
            text = self._line(f"The tour goes on in the {_PLACES[step.place]}: {go} goes there.")
            return [(number, *text)], self._keys("go there", "end")
        return [(number, *self._line("The tour goes on when this is closed."))], ()

    def _keys(self, on: str, end: str) -> Line:
        go_on = self._pressing("tour_next", Span(self._key("tour_next"), "accent"), Span(f" {on}", "quiet"))
        leave = self._pressing("back", Span(self._key("back"), "accent"), Span(f" {end}", "quiet"))
        return (*go_on, Span("   "), *leave)

    def _line(self, text: str) -> Line:
        """Return a text with commands in braces replaced by clickable keys."""
        spans: list[Span] = []
        for words, command, _, _ in Formatter().parse(text):
            spans.append(Span(words))
            if command:
                spans += self._pressing(command, Span(self._key(command), "accent strong"))
        return tuple(spans)

    def _pressing(self, command: str, *spans: Span) -> Line:
        return pressing(self._app.keymap.first(command), *spans)

    def _key(self, command: str) -> str:
        return self._app.keymap.label(command)


_PLACES = {"inbox": "inbox", "review": "review", "browse": "organization", "publish": "publish screen"}


def _title(command: str) -> str:
    return BY_NAME[command].title
