"""Views of the inbox: switching tabs, filtering a view, and saving, editing and removing saved views."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from presscheck.config.project_search import PROJECT_NAME
from presscheck.config.saved_views import SavedView, first_error, migrate_sort, same_name, without_sort
from presscheck.config.settings_file import add_view, change_view, remove_view
from presscheck.config.settings_schema import MAX_VIEWS
from presscheck.config.validation import read_views
from presscheck.engine.inbox.query_language import completions, parse
from presscheck.engine.inbox.views import VIEWS, all_views, validate_view
from presscheck.errors import ConfigurationError, InvalidArgument
from presscheck.text.phrases import now
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Span
from presscheck.tui.commands import with_keys
from presscheck.tui.screens.inbox.saved_view_editor import SavedViewEditor
from presscheck.tui.ui.ask import confirm, prompt

if TYPE_CHECKING:
    from presscheck.tui.screens.inbox.session import Inbox

BUILT_IN = "this view is built in: {save_view} saves it as one of your own"
OF_PROJECT = f"this view is of the project: edit {PROJECT_NAME}"
FILTER_KEY, FORMER_FILTER_KEY = "filter ", "view "
"""The prefixes of the storage keys of filters, now and in version 0.1.0."""
MOST_AUTHORS = 500
"""Maximum number of change requests whose authors complete a filter."""
LONGEST = 400
"""Maximum number of characters in a filter."""
EXAMPLE = "space:api outdated:yes updated:<2w sort:-comments, or words of the subject"


class ViewActions:
    """The commands that switch, filter, save, edit and remove views.

    Args:
        session: the inbox.
    """

    def __init__(self, session: Inbox) -> None:
        self._session, self._model = session, session.model
        self._screen, self._outbox = session.screen, session.screen.engine.outbox

    def read_views(self) -> None:
        """Load the saved views from the settings. Show an error for each invalid view, and leave it out."""
        app = self._screen.app_context
        if app.profile.project is None:
            saved, mistakes = read_views(app.settings_file, validate_view)
        else:
            from presscheck.config.project import views_of  # 3 ms, only with a project file

            saved, mistakes = views_of(app.settings_file, app.profile.project, validate_view)
        for mistake in reversed(mistakes):
            # the footer has no room for the whole path; `presscheck config check` shows it
            error = ConfigurationError(str(replace(mistake, file=Path(mistake.file.name))))
            app.show_error(error)
        self._model.views = all_views(saved)

    def recall_filters(self) -> None:
        """Restore the filters of all views."""
        model = self._model
        for view in model.views:
            former = self._outbox.recall(FORMER_FILTER_KEY + view.id)
            if former:
                self._outbox.remember(FORMER_FILTER_KEY + view.id, None)
                self.store_filter(view.id, migrate_sort(former))
            text = self._outbox.recall(FILTER_KEY + view.id)
            if text:
                model.queries[view.id] = text

    def command_right(self) -> None:
        """Show the next view."""
        self._step(1)

    def command_left(self) -> None:
        """Show the previous view."""
        self._step(-1)

    def command_tab(self) -> None:
        """Show the view with the number that was pressed, or the last view if the number is too large."""
        views = self._model.views
        self._session.choose(views[min(self._screen.pressed_number, len(views)) - 1])

    async def command_edit_view(self) -> None:
        """Ask for a filter of the current view."""
        model, view = self._model, self._model.view
        query = model.queries.get(view.id, "")
        text = await prompt(
            self._screen,
            f"{sanitize(view.title)}: filter{' (leave it empty to show all)' if query else ''}",
            query,
            min_length=0,
            max_length=LONGEST,
            validate=self._filter_error,
            complete=self._completions(),
            hint=EXAMPLE,
        )
        if text is None:
            return
        before = model.listing()
        self.store_filter(view.id, text)
        if model.listing() == before:
            self._session.reload_rows()
        else:
            self._session.choose(view)  # the filter changes the listing of the service

    def store_filter(self, view_id: str, text: str) -> None:
        """Set and store the filter of a view; an empty filter is removed."""
        queries = self._model.queries
        queries.pop(view_id, None)
        if text:
            queries[view_id] = text
        self._outbox.remember(FILTER_KEY + view_id, text or None)

    def reason_save_view(self) -> str | None:
        """Return why no view can be saved: the maximum number is reached."""
        has_room = len(self._model.views) - len(VIEWS) < MAX_VIEWS
        return None if has_room else f"you have {MAX_VIEWS} views: remove one first"

    async def command_save_view(self) -> None:
        """Ask for a name, and save the current view with its filter under that name."""
        view, file = self._model.view, self._screen.app_context.settings_file
        words = (view.words, self._model.queries.get(view.id, ""))
        query, sort = without_sort(" ".join(filter(None, words)))
        group = view.saved.group if view.saved else ""
        edited = await self._ask_view("Save this view", SavedView("", query, sort, group))
        if edited:
            add_view(file, edited)
            self._reload(edited.name, f"view {edited.name} saved")

    def reason_change_view(self) -> str | None:
        """Return why the current view cannot be edited: it is built in, or of the project."""
        saved, project = self._model.view.saved, self._screen.app_context.profile.project
        if saved is None:
            return with_keys(BUILT_IN)
        views = project.views(validate_view)[0] if project else ()
        return OF_PROJECT if any(same_name(saved.name, view.name) for view in views) else None

    async def command_change_view(self) -> None:
        """Edit the current saved view."""
        saved, file = self._model.view.saved, self._screen.app_context.settings_file
        if saved is None:
            return
        edited = await self._ask_view("Edit this view", saved)
        if edited and edited != saved:
            change_view(file, saved.name, edited)
            if edited.name != saved.name:
                text = self._model.queries.get(saved.name, "")
                self.store_filter(saved.name, "")
                self.store_filter(edited.name, text)
            self._reload(edited.name, f"view {edited.name} changed")

    def reason_remove_view(self) -> str | None:
        """Return why the current view cannot be removed: it is built in, or of the project."""
        return self.reason_change_view()

    async def command_remove_view(self) -> None:
        """Remove the current saved view, after a confirmation."""
        saved, file = self._model.view.saved, self._screen.app_context.settings_file
        if saved is None:
            return
        name = sanitize(saved.name)
        lines = [(Span("Removes it from your settings. Change requests are not affected."),)]
        if await confirm(self._screen, f"Remove the view {name}?", lines, "Remove"):
            remove_view(file, saved.name)
            self.store_filter(saved.name, "")
            self._reload("", f"view {name} removed")

    async def _ask_view(self, title: str, view: SavedView) -> SavedView | None:
        """Open the editor, and return the valid view, or None if canceled."""
        others = [other.saved for other in self._model.views if other.saved and other.saved is not view]

        def error_of(edited: SavedView) -> tuple[str, str] | None:
            return first_error(edited, others, validate_view)

        edited = await self._screen.ask(SavedViewEditor(title, view, error_of, self._completions()))
        if edited is None:
            return None
        query, order = without_sort(edited.query)  # an order in the query is the order of the view
        return replace(edited, query=query, sort_by=edited.sort_by or order)

    def _reload(self, name: str, message: str) -> None:
        """Load the views again, and show the view with this name or else the first view."""
        self.read_views()
        views = self._model.views
        self._session.choose(next((view for view in views if view.saved and view.id == name), views[0]))
        self._screen.notify(message)

    def _filter_error(self, text: str) -> str | None:
        try:
            parse(text, self._model.spaces, now())
        except InvalidArgument as error:
            return error.message
        return None

    def _completions(self) -> Callable[[str], list[str]]:
        """Return a function that completes a filter, with the spaces and the authors of the current listing."""
        model, listing = self._model, self._model.listing()
        rows = self._screen.engine.window(listing, 0, MOST_AUTHORS).items if listing else ()
        people = {sanitize(request.created_by.display_name) for request in rows if request.created_by}
        return lambda text: completions(text, model.spaces.values(), people)

    def _step(self, by: int) -> None:
        model = self._model
        self._session.choose(model.views[(model.views.index(model.view) + by) % len(model.views)])
