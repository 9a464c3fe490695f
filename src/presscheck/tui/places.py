"""Places in the app, and the user's history of places.

A place is stored when the user leaves it, in its latest state: the inbox with the current view, Browse with the page
under the cursor. So moving inside a screen adds no entry to the history, but going to another screen, or jumping to
another page, does.
"""

from __future__ import annotations

from dataclasses import dataclass

LIMIT = 20
"""Maximum number of places in the history."""
OF_THEIR_OWN = ("review", "batch")
"""Kinds with a separate screen for each place. All places of any other kind share a screen."""


@dataclass(frozen=True)
class Place:
    """A place in the app, in the history or as a destination.

    Args:
        kind: the kind, such as `review`.
        title: the title as display text; only for visited places.
        ids: the ids of the content: the change request, the page, the site or the view.
        note: the text on the right in the list of places; by default the kind.
        mode: the mode of the screen.
        comment: the id of the comment to go to.
        link: the link to go to, as written in the page.
        quote: the words of the page to go to, such as the commented text.
        line: the line of the Markdown to go to, counted from 1.
        command: the name of a command to run at the place.
        profile: the name of the profile of the place; empty for the profile of the app.
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
    profile: str = ""

    @classmethod
    def item(cls, key: str) -> Place:
        """Return the place of a collection or space in the tree of Browse, by its key.

        An empty key keeps the cursor.
        """
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
        """Return the place of a space or page in Browse, on main or in a change request."""
        key = f"page {space_id} {page_id}" if page_id else f"space {space_id}"
        return cls(
            "browse", ids=(key, space_id, page_id or "", change_request_id or ""), link=link, quote=quote, line=line
        )

    @classmethod
    def review(cls, space_id: str, change_request_id: str, comment_id: str = "") -> Place:
        """Return the place of a review, or of a comment in the review."""
        return cls("review", ids=(space_id, change_request_id), comment=comment_id)

    @classmethod
    def comments(cls, space_id: str, page_id: str = "", comment_id: str = "") -> Place:
        """Return the place of the comments on a live page, or on all pages of a space."""
        return cls("comments", ids=(space_id, page_id), comment=comment_id)

    @classmethod
    def content(
        cls, space_id: str, page_id: str | None = None, change_request_id: str | None = None, comment_id: str = ""
    ) -> Place:
        """Return the most specific place for the given ids: a comment, page, change request or space."""
        if comment_id and not change_request_id:
            return cls.comments(space_id, page_id or "", comment_id)
        if change_request_id and (comment_id or not page_id):
            return cls.review(space_id, change_request_id, comment_id)
        return cls.page(space_id, page_id, change_request_id)

    @classmethod
    def site(cls, site_id: str, command: str = "") -> Place:
        """Return the place of a site in the publish screen."""
        return cls("publish", ids=(site_id,), command=command)

    @classmethod
    def family(cls, title: str) -> Place:
        """Return the place of a family in administration."""
        return cls("admin", ids=(title,))

    @property
    def key(self) -> tuple[str, ...]:
        """The name of the profile (if it is another one), the kind and the ids."""
        return (*self._other_profile, self.kind, *self.ids)

    @property
    def screen(self) -> tuple[str, ...]:
        """The key of the screen that shows the place."""
        return self.key if self.kind in OF_THEIR_OWN else (*self._other_profile, self.kind)

    @property
    def _other_profile(self) -> tuple[str, ...]:
        return (self.profile,) if self.profile else ()

    @property
    def row(self) -> tuple[str, ...]:
        """The key of the row in the list of places. All views of the inbox share a row."""
        return self.screen if self.kind == "inbox" else self.key


class Places:
    """The history of places with a current position, and the recent places, last left first."""

    def __init__(self) -> None:
        self._history: list[Place] = []
        self._at = -1
        self._recent: list[Place] = []
        self._starts_new = False

    def note(self, here: Place) -> None:
        """Store the current place in the history and among the recent places.

        On the same screen, the place replaces the current entry of the history. On another screen, and after a jump,
        the place is appended, and the entries after the current entry are dropped.
        """
        current = self._history[self._at] if self._history else None
        is_same = current is not None and current.screen == here.screen
        if current and is_same and (not self._starts_new or current.key == here.key):
            self._history[self._at] = here
        else:
            self._history = [*self._history[: self._at + 1], here][-LIMIT:]
            self._at = len(self._history) - 1
        self._starts_new = False
        self._recent = [here, *(place for place in self._recent if place.row != here.row)][:LIMIT]

    def begin_after(self, before: Place) -> None:
        """Start the history with a place of the previous profile."""
        self._history, self._at, self._recent = [before], 0, [before]

    def jump(self) -> None:
        """Make the next `note` append an entry, even on the same screen."""
        self._starts_new = True

    def can_step(self, by: int, here: Place | None) -> bool:
        """Return whether there is an earlier (-1) or later (1) place than `here`, which may not be stored yet."""
        current = self._history[self._at] if self._history else None
        if here and current and (current.screen != here.screen or (self._starts_new and current.key != here.key)):
            return by < 0
        return 0 <= self._at + by < len(self._history)

    def step(self, by: int) -> Place | None:
        """Go back (-1) or forward (1) in the history. Return the place, or None at the end."""
        if not 0 <= self._at + by < len(self._history):
            return None
        self._at += by
        return self._history[self._at]

    def leave_screen(self) -> Place | None:
        """Go back in the history to the last place on another screen. Return the place, or None."""
        screen = self._history[self._at].screen if self._history else ()
        before = (at for at in range(self._at - 1, -1, -1) if self._history[at].screen != screen)
        at = next(before, None)
        return None if at is None else self.step(at - self._at)

    def others(self, here: Place | None) -> list[Place]:
        """Return the recent places except `here`, the newest first."""
        return [place for place in self._recent if here is None or place.row != here.row]

    def find(self, screen: tuple[str, ...]) -> Place | None:
        """Return the newest place of a screen, or None."""
        return next((place for place in self._recent if place.screen == screen), None)

    def forget(self, place: Place) -> None:
        """Remove a place that cannot be opened again."""
        self._recent = [other for other in self._recent if other.key != place.key]
        before = sum(other.key == place.key for other in self._history[: self._at + 1])
        self._history = [other for other in self._history if other.key != place.key]
        self._at = max(self._at - before, min(0, len(self._history) - 1))
