"""Values that are loaded from the service, and the message of a pane whose value is missing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar, final

from presscheck.engine.results import Result
from presscheck.errors import Forbidden, NotSignedIn, NotSupported, PresscheckError
from presscheck.tui.widgets.empty_state import Message, State

T = TypeVar("T")
U = TypeVar("U")


@final
@dataclass(frozen=True)
class Loaded(Generic[T]):
    """A value that is requested from the service, and the error of the latest request.

    Attributes:
        value: the latest value, which a failed request keeps; None before the first answer.
        error: the error of the latest request; None if it succeeded.
    """

    value: T | None = None
    error: PresscheckError | None = None

    def after(self, result: Result[T | None]) -> Loaded[T]:
        """Return the state after an answer, which may lack a value."""
        return Loaded(self.value if result.value is None else result.value, result.error)

    def map(self, function: Callable[[T], U]) -> Loaded[U]:
        """Return the state with a function applied to its value, if it has one."""
        return Loaded(None if self.value is None else function(self.value), self.error)

    def state(self, *, online: bool) -> State:
        """Return `ready` if there is a value, else the reason why it is missing."""
        if self.value is not None:
            return "ready"
        if isinstance(self.error, Forbidden | NotSignedIn):
            return "forbidden"
        if isinstance(self.error, NotSupported):
            return "unsupported"
        if not online:
            return "offline"
        return "failed" if self.error else "loading"


def message_for(
    loaded: Loaded[T],
    nouns: str,
    place: str = "",
    *,
    online: bool,
    verb: str = "are",
    progress: str = "",
    hint: str = "",
) -> Message:
    """Return the message that explains why a value is missing.

    Args:
        loaded: the state, without a value.
        nouns: the noun for the value, such as `share links`.
        place: the owner of the value, with a leading space, such as ` of this site`.
        online: whether the service can be reached.
        verb: `is` if the noun is in the singular.
        progress: replaces the message of the state `loading`, such as `12 of 300 pages`.
        hint: advice if the service lacks the operation.
    """
    state, error = loaded.state(online=online), loaded.error
    reason = error.message if error else ""
    match state:
        case "forbidden":
            detail = isinstance(error, Forbidden) and error.detail
            return Message(f"You are not permitted to see the {nouns}{place}.", detail or reason, state)
        case "unsupported":
            return Message(f"{reason}.", hint, state)
        case "offline":
            return Message(f"The {nouns}{place} {verb} not in the cache.", "", state)
        case "failed":
            return Message(f"Could not load the {nouns}", reason, state)
        case _:
            return Message(progress or f"Loading the {nouns} …", "", "loading")


def note_for(loaded: Loaded[T], *, online: bool) -> str:
    """Return why a value is missing, in the few words that follow its heading."""
    state, error = loaded.state(online=online), loaded.error
    if state == "offline":
        return "not in the cache"
    return f"not loaded: {error.message}" if error else "loading …"
