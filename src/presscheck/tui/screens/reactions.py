"""The emoji that can be added to a comment, and the list to choose one from."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from presscheck.tui.widgets.picker import Choice

REACTIONS = (
    ("1f44d", "👍", "thumbs up"),
    ("1f44e", "👎", "thumbs down"),
    ("1f389", "🎉", "hooray"),
    ("1f604", "😄", "laugh"),
    ("2764", "❤", "heart"),
    ("1f680", "🚀", "rocket"),
    ("1f440", "👀", "eyes"),
    ("1f615", "😕", "confused"),
)
"""The code points by which the service names an emoji, the emoji, and its name."""


def reaction_choices(own: Collection[str]) -> Sequence[Choice]:
    """The choices of a list of emoji; `own` are those that the user added already."""
    return [Choice(code, f"{emoji}  {name}", "yours: remove" if code in own else "") for code, emoji, name in REACTIONS]


def reaction_change(chosen: str, own: Collection[str]) -> dict[str, tuple[str, ...]]:
    """The argument of an update that adds an emoji, or removes it if the user added it before."""
    return {"removed_reactions" if chosen in own else "added_reactions": (chosen,)}
