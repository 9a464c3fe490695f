"""Places to go to, and those where the user was: the history of alt+left and alt+right, and the list of open places.

A place is noted when the user leaves it, as it is then: the inbox with the view that is shown, browse with the page
under the cursor. So moving inside a screen makes no new place; going to another screen does, and so does a jump to
another page.
"""

from __future__ import annotations

from dataclasses import dataclass

LIMIT = 20
"""The most places that are remembered."""
OF_THEIR_OWN = ("review", "batch")
"""The kinds of places that have a screen each; those of another kind share one."""


@dataclass(frozen=True)
class Place:
    """Somewhere in the app: where a screen is, or where one wants to go.

    Args:
        kind: what it is, such as `review`.
        title: display text; only of a place where the user was.
        ids: what is shown there: the change request, the page, the site or the view.
        note: what the list of open places shows on the right; the kind by default.
        mode: the mode that its screen stands in.
        comment: the id of a comment to go to there.
        link: a link of the page to go to, as it is written.
        quote: words of the page to go to, such as those that a comment is about.
        line: a line of the Markdown of the page to go to, from 1.
        command: the name of a command to run as soon as the cursor is there.
    """

    kind: str
    title: str = ""
    ids: tuple[str, ...] = ()
    note: str = ""
    mode: str = ""
    comment: str = ""
    link: str = ""
    quote: str = ""
    line: int = 0
    command: str = ""

    @classmethod
    def item(cls, key: str) -> Place:
        """A collection or space in the tree, by its key; empty for where its cursor is."""
        return cls("browse", ids=(key, "", "", "") if key else ())

    @classmethod
    def page(
        cls,
        space_id: str,
        page_id: str | None = None,
        change_request_id: str | None = None,
        *,
        link: str = "",
        quote: str = "",
        line: int = 0,
    ) -> Place:
        """A space or a page in Browse, on main or in a change request."""
        key = f"page {space_id} {page_id}" if page_id else f"space {space_id}"
        return cls(
            "browse", ids=(key, space_id, page_id or "", change_request_id or ""), link=link, quote=quote, line=line
        )

    @classmethod
    def review(cls, space_id: str, change_request_id: str, comment_id: str = "") -> Place:
        """The review of a change request."""
        return cls("review", ids=(space_id, change_request_id), comment=comment_id)

    @classmethod
    def comments(cls, space_id: str, page_id: str = "", comment_id: str = "") -> Place:
        """The comments on a live page, or on all pages of a space."""
        return cls("comments", ids=(space_id, page_id), comment=comment_id)

    @classmethod
    def content(
        cls, space_id: str, page_id: str | None = None, change_request_id: str | None = None, comment_id: str = ""
    ) -> Place:
        """The place of a comment, a page, a change request or a space, by the ids that there are."""
        if comment_id and not change_request_id:
            return cls.comments(space_id, page_id or "", comment_id)
        if change_request_id and (comment_id or not page_id):
            return cls.review(space_id, change_request_id, comment_id)
        return cls.page(space_id, page_id, change_request_id)

    @classmethod
    def site(cls, site_id: str, command: str = "") -> Place:
        """A site in the publish screen."""
        return cls("publish", ids=(site_id,), command=command)

    @classmethod
    def family(cls, title: str) -> Place:
        """A family in administration."""
        return cls("admin", ids=(title,))

    @property
    def key(self) -> tuple[str, ...]:
        """The kind, and what is shown there."""
        return (self.kind, *self.ids)

    @property
    def screen(self) -> tuple[str, ...]:
        """The same for all places of one screen."""
        return self.key if self.kind in OF_THEIR_OWN else (self.kind,)

    @property
    def row(self) -> tuple[str, ...]:
        """The same for places that have one row in the list: the inbox is listed once, with its latest view."""
        return self.screen if self.kind == "inbox" else self.key


class Places:
    """The history of places, with a position in it, and the places in the order in which they were last left."""

    def __init__(self) -> None:
        self._history: list[Place] = []
        self._at = -1
        self._recent: list[Place] = []
        self._starts_new = False

    def note(self, here: Place) -> None:
        """Store where the user is; after another screen, or a jump, it follows in the history, and ends it."""
        current = self._history[self._at] if self._history else None
        is_same = current is not None and current.screen == here.screen
        if current and is_same and (not self._starts_new or current.key == here.key):
            self._history[self._at] = here
        else:
            self._history = [*self._history[: self._at + 1], here][-LIMIT:]
            self._at = len(self._history) - 1
        self._starts_new = False
        self._recent = [here, *(place for place in self._recent if place.row != here.row)][:LIMIT]

    def jump(self) -> None:
        """Make what is shown next another place, also on the same screen."""
        self._starts_new = True

    def can_step(self, by: int, here: Place | None) -> bool:
        """Whether there is a place before (-1) or after (1) this one, which may not be noted yet."""
        current = self._history[self._at] if self._history else None
        if here and current and (current.screen != here.screen or (self._starts_new and current.key != here.key)):
            return by < 0
        return 0 <= self._at + by < len(self._history)

    def step(self, by: int) -> Place | None:
        """Go back (-1) or forward (1) in the history; the place there."""
        if not 0 <= self._at + by < len(self._history):
            return None
        self._at += by
        return self._history[self._at]

    def leave_screen(self) -> Place | None:
        """Go back in the history to the nearest place on another screen; the place there."""
        screen = self._history[self._at].screen if self._history else ()
        before = (at for at in range(self._at - 1, -1, -1) if self._history[at].screen != screen)
        at = next(before, None)
        return None if at is None else self.step(at - self._at)

    def others(self, here: Place | None) -> list[Place]:
        """All places but this one, the newest first."""
        return [place for place in self._recent if here is None or place.row != here.row]

    def find(self, screen: tuple[str, ...]) -> Place | None:
        """The newest place of a screen."""
        return next((place for place in self._recent if place.screen == screen), None)

    def forget(self, place: Place) -> None:
        """Remove a place that cannot be opened again."""
        self._recent = [other for other in self._recent if other.key != place.key]
        before = sum(other.key == place.key for other in self._history[: self._at + 1])
        self._history = [other for other in self._history if other.key != place.key]
        self._at = max(self._at - before, min(0, len(self._history) - 1))
