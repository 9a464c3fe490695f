"""The screen with the content of a space in three tabs: links, files, reusable content."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from typing import TYPE_CHECKING

from typing_extensions import override

from presscheck.text.phrases import count, long_ago
from presscheck.text.styled_text import Line, Span
from presscheck.tui.screens.space_content.files import FileList
from presscheck.tui.screens.space_content.links import LinkList
from presscheck.tui.screens.space_content.reusable import ReusableList
from presscheck.tui.screens.space_content.session import SpaceContent
from presscheck.tui.screens.undo import undo_last_sent
from presscheck.tui.ui.tabs import Tabs, TabScreen

if TYPE_CHECKING:
    from presscheck.engine.writes.descriptions import Place
    from presscheck.tui.ui.content_place import ContentPlace


class SpaceContentScreen(TabScreen):
    """Links, files and reusable content of a space, on main or in a change request.

    Args:
        place: the space and the change request.
    """

    def __init__(self, place: ContentPlace) -> None:
        super().__init__()
        self.session = SpaceContent(self, place)
        self._files = FileList(self.session)
        self.lists = Tabs(self, (LinkList(self.session), self._files, ReusableList(self.session)))

    @override
    def title_line(self) -> Line:
        request, age = self.session.request_name, self.session.age
        head = (Span(f" {request} ", "accent strong"), Span("›", "quiet")) if request else ()
        title = (Span(f" {self.session.space_title}", "title"), Span(" › Links and files", "quiet"))
        return (*head, *title, Span(f"   as it was {long_ago(age)}" if age is not None else "", "quiet"))

    @override
    def on_mount(self) -> None:
        super().on_mount()
        self.session.load()
        self.lists.draw()

    @override
    @property
    def footer_titles(self) -> Mapping[str, str]:
        return {"find_replace": "replace the file"} if self.lists.tab is self._files else {}

    @override
    def notes(self) -> Line:
        """Return a note on the progress of reading the links, or on missing links; empty if all links are read."""
        linked = self.session.linked
        if self.session.progress:
            return (Span(self.session.progress, "quiet"),)
        if linked and linked.problem:
            return (Span("incomplete: the service repeats its pages", "waiting"),)
        unread = f"without {count(linked.unread, 'page')} not in the cache" if linked and linked.unread else ""
        return (Span(unread, "waiting"),) if unread else ()

    def reason_new_request(self) -> str | None:
        """Return why no other change request can be chosen, as `choose_reason` does."""
        return self.session.choose_reason()

    def command_new_request(self) -> Awaitable[None]:
        """Choose the change request in which the space is shown."""
        return self.session.choose_request()

    def command_unsend(self) -> Awaitable[None]:
        """Offer to undo the last sent change of the space, or of its change request."""
        space, request = self.session.space_id, self.session.change_request_id

        def is_here(place: Place) -> bool:
            return place.space == space and (request is None or place.request == request)

        return undo_last_sent(self, is_here)
