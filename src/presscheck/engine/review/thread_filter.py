"""The filter language of lists of threads: ``author:ada mentions:me is:new page:tokens limits``.

It has the grammar of the inbox filter: a plain word is searched in the messages, a word before a colon names a filter,
and all parts must match.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from presscheck.engine.filter_words import filter_words
from presscheck.engine.members import mentions
from presscheck.errors import InvalidArgument

if TYPE_CHECKING:
    from presscheck.api.users import User
    from presscheck.engine.review.threads import Thread

ThreadMatcher = Callable[["Thread", str], bool]
"""Returns whether a thread matches, given the title of its page."""
ME = "me"
_STATES: dict[str, Callable[[Thread], bool]] = {
    "new": lambda thread: thread.has_new,
    "open": lambda thread: thread.is_open and not thread.is_outdated,
    "unresolved": lambda thread: thread.is_open,
    "resolved": lambda thread: thread.resolved,
    "outdated": lambda thread: thread.state == "outdated",
    "pending": lambda thread: any(message.pending for message in thread.messages),
    "muted": lambda thread: thread.notifications == "muted",
    "followed": lambda thread: thread.notifications == "followed",
}


def parse_thread_filter(text: str, user: User) -> ThreadMatcher:
    """Parse a filter of threads.

    Args:
        text: the filter as typed.
        user: the signed-in user, for `me`.

    Raises:
        InvalidArgument: an unknown filter or value; the message lists the allowed filters or values.
    """
    parts: list[ThreadMatcher] = []
    for name, colon, value in filter_words(text, "threads"):
        if not colon:
            parts.append(_words(name))
        elif name in _FILTERS:
            parts.append(_FILTERS[name](value, user))
        else:
            raise InvalidArgument(name, f"unknown filter; available: {', '.join(_FILTERS)}")
    return lambda thread, page: all(matches(thread, page) for matches in parts)


def searches_replies(text: str) -> bool:
    """Return whether a filter searches the texts of replies, which must be loaded for it."""
    return any(not colon or name == "mentions" for name, colon, _ in filter_words(text, "threads"))


def _words(word: str) -> ThreadMatcher:
    folded = word.casefold()
    return lambda thread, _: any(folded in message.text.casefold() for message in thread.messages)


def _author(value: str, _: User) -> ThreadMatcher:
    """Match threads with a message of the user, if `value` is `me`, or of somebody whose name contains `value`.

    An agent is the author of its drafts.
    """
    if not value:
        raise InvalidArgument("author", "me, or part of a first name")
    folded = value.casefold()
    if folded == ME:
        return lambda thread, _: "you" in thread.authors
    return lambda thread, _: any(folded in author.casefold() for author in (*thread.authors, *_agents(thread)))


def _agents(thread: Thread) -> Iterator[str]:
    return (message.pending.agent for message in thread.messages if message.pending)


def _mentions(value: str, user: User) -> ThreadMatcher:
    if value != ME:
        raise InvalidArgument("mentions", "only me is supported")
    return lambda thread, _: any(mentions(message.text, user) for message in thread.messages)


def _is(value: str, _: User) -> ThreadMatcher:
    if value not in _STATES:
        raise InvalidArgument("is", f"one of {', '.join(_STATES)}")
    matches = _STATES[value]
    return lambda thread, _: matches(thread)


def _page(value: str, _: User) -> ThreadMatcher:
    folded = value.casefold()
    return lambda _, page: folded in page.casefold()


_FILTERS: dict[str, Callable[[str, User], ThreadMatcher]] = {
    "author": _author,
    "mentions": _mentions,
    "is": _is,
    "page": _page,
}
"""The filters by name."""
