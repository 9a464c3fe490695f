"""The tabs of the inbox: going from one to another, and the person's own, which are saved, changed and removed here."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from presscheck.config.checking import read_views
from presscheck.config.settings import MOST_VIEWS
from presscheck.config.views import SavedView, wrong_with
from presscheck.desk.inbox import VIEWS, View
from presscheck.desk.own_views import all_views, judge
from presscheck.desk.queries import without_order
from presscheck.documents.display_text import display_text
from presscheck.documents.spans import Span
from presscheck.errors import ConfigurationError
from presscheck.tui.screens.inbox_query import Narrowing
from presscheck.tui.widgets.sheet import Sheet

NOT_OWN = "this view is built in: M s saves it as one of your own"


class Viewing(Narrowing):
    """Views as tabs, the person's own behind those that are built in."""

    def read_views(self) -> None:
        """Take the person's own views from the file; what is wrong with one is said, and hinders no other."""
        if self.app_context.settings_file is None:
            return
        saved, mistakes = read_views(self.app_context.settings_file, judge)
        for mistake in reversed(mistakes):
            # one line has no room for where the file is; `presscheck config check` says that
            self.app_context.show_error(ConfigurationError(str(replace(mistake, file=Path(mistake.file.name)))))
        self.known_rows.views = all_views(saved)

    def command_right(self) -> None:
        """The view to the right."""
        self._step(1)

    def command_left(self) -> None:
        """The view to the left."""
        self._step(-1)

    def command_tab(self) -> None:
        """The view of that number."""
        views = self.known_rows.views
        self.choose(views[min(int(self.last_key), len(views)) - 1])

    def is_heading(self, index: int) -> bool:
        """Whether a row is a heading."""
        return self.known_rows.heading(index) is not None

    def reason_save_view(self) -> str | None:
        """There is no file to keep it in, or no room for one more."""
        if self.app_context.settings_file is None:
            return "there is no file of settings to keep it in"
        has_room = len(self.known_rows.views) - len(VIEWS) < MOST_VIEWS
        return None if has_room else f"there are {MOST_VIEWS} views of your own: remove one first"

    async def command_save_view(self) -> None:
        """Ask for a name, and keep what this view shows under it."""
        from presscheck.config.view_file import add_view

        view = self.known_rows.view
        words = (view.words, view.query, self.known_rows.queries.get(view.id, ""))
        query, sort = without_order(" ".join(filter(None, words)))
        wanted = await self._ask_view("Save as a view of your own", SavedView("", query, sort, _group(view)))
        if wanted and self.app_context.settings_file:
            add_view(self.app_context.settings_file, wanted)
            self._taken_in(wanted.name, f"saved: {wanted.name}")

    def reason_change_view(self) -> str | None:
        """It is built in."""
        return None if self.known_rows.view.saved else NOT_OWN

    async def command_change_view(self) -> None:
        """Edit this view, where it stands in the file."""
        from presscheck.config.view_file import change_view

        saved = self.known_rows.view.saved
        if saved is None or self.app_context.settings_file is None:
            return
        wanted = await self._ask_view("Edit this view", saved)
        if wanted and wanted != saved:
            change_view(self.app_context.settings_file, saved.name, wanted)
            if wanted.name != saved.name:
                narrowed = self.known_rows.queries.get(saved.name, "")
                self.remember_query(saved.name, "")
                self.remember_query(wanted.name, narrowed)
            self._taken_in(wanted.name, f"changed: {wanted.name}")

    def reason_remove_view(self) -> str | None:
        """It is built in."""
        return self.reason_change_view()

    async def command_remove_view(self) -> None:
        """Remove this view, when asked once."""
        from presscheck.config.view_file import remove_view

        saved = self.known_rows.view.saved
        if saved is None or self.app_context.settings_file is None:
            return
        name = display_text(saved.name)
        said = [(Span("It leaves your settings. No change request is touched."),)]
        if await self.ask(Sheet(f"Remove the view {name}?", said, "Remove", self.style_for)):
            remove_view(self.app_context.settings_file, saved.name)
            self.remember_query(saved.name, "")
            self._taken_in("", f"removed: {name}")

    async def _ask_view(self, title: str, view: SavedView) -> SavedView | None:
        """What a person wants a view to be; nothing that could not be kept."""
        from presscheck.tui.screens.view_sheet import ViewSheet

        others = [one.saved for one in self.known_rows.views if one.saved and one.saved is not view]
        return await self.ask(ViewSheet(title, view, self.style_for, lambda one: wrong_with(one, others, judge)))

    def _taken_in(self, name: str, said: str) -> None:
        """The file says something else now: show the view of that name, else the first."""
        self.read_views()
        views = self.known_rows.views
        self.choose(next((view for view in views if view.saved and view.id == name), views[0]))
        self.notify(said)

    def _step(self, by: int) -> None:
        views = self.known_rows.views
        self.choose(views[(views.index(self.known_rows.view) + by) % len(views)])


def _group(view: View) -> str:
    return view.saved.group if view.saved else ""
