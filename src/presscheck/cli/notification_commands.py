"""`mute`, `unmute`, `follow` and `unfollow` of `presscheck cr` and `presscheck space`; the settings are local."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import click

from presscheck.cli import lookup
from presscheck.cli.output import print_message
from presscheck.cli.session import Session, with_session
from presscheck.engine.inbox.notification_settings import NotificationTarget, request_target
from presscheck.engine.shared_calls import comments_on
from presscheck.errors import InvalidArgument

if TYPE_CHECKING:
    from presscheck.engine.inbox.notification_settings import State


class Verb(NamedTuple):
    """A command that sets (`is_on`) or ends a state. `done` is its final message."""

    name: str
    state: State
    is_on: bool
    help: str
    more: str
    done: str

    def text(self, noun: str) -> str:
        """Return the help text of the command; `noun` is its object."""
        return f"{self.help.format(noun)}\n\n{self.more}".strip()


VERBS = (
    Verb(
        "mute", "muted", True, "Mute {}.", "You get no news about it. It is hidden from Needs me and Involved.", "muted"
    ),
    Verb("unmute", "muted", False, "Unmute {}.", "", "no longer muted"),
    Verb(
        "follow",
        "followed",
        True,
        "Follow {}.",
        "You get news as if you took part. It is listed in Involved.",
        "followed",
    ),
    Verb("unfollow", "followed", False, "Unfollow {}.", "", "no longer followed"),
)


def add_to_requests(group: click.Group) -> None:
    """Add the four commands to `presscheck cr`."""
    for verb in VERBS:
        group.command(verb.name, help=verb.text("change requests or a thread"))(_of_requests(verb))


def add_to_spaces(group: click.Group) -> None:
    """Add the four commands to `presscheck space`."""
    for verb in VERBS:
        group.command(verb.name, help=verb.text("spaces"))(_of_spaces(verb))


def _of_requests(verb: Verb) -> Callable[..., None]:
    @click.argument("which", metavar="SPACE#NUMBER...", nargs=-1, required=True)
    @click.option("--thread", metavar="COMMENT", help="Only this thread: the id of its first comment.")
    @with_session
    async def run(session: Session, which: tuple[str, ...], thread: str | None) -> None:
        if thread and len(which) > 1:
            raise InvalidArgument("--thread", "cannot be used with several change requests")
        found: list[tuple[str, NotificationTarget]] = []
        for named in which:
            request = await lookup.change_request(session, named)
            target, label = request_target(request), f"#{request.number} {request.subject}"
            if thread:
                comments = await session.all(comments_on(request))
                comment = next((comment for comment in comments if comment.id == thread), None)
                if comment is None:
                    raise InvalidArgument("--thread", f"{thread} is not a comment on {label}: see `presscheck cr show`")
                target = NotificationTarget(target.space, target.request, thread, target.seen)
                label = f"{label}: thread of {comment.posted_by.display_name}"
            found.append((label, target))
        _apply(session, verb, found)

    return run


def _of_spaces(verb: Verb) -> Callable[..., None]:
    @click.argument("space", nargs=-1, required=True)
    @with_session
    async def run(session: Session, space: tuple[str, ...]) -> None:
        spaces = [await lookup.space(session, named) for named in space]
        _apply(session, verb, [(found.title or found.id, NotificationTarget(found.id)) for found in spaces])

    return run


def _apply(session: Session, verb: Verb, found: Sequence[tuple[str, NotificationTarget]]) -> None:
    settings = session.engine.notification_settings
    settings.change([target for _, target in found], verb.state, is_on=verb.is_on)
    if session.json:
        session.show([_as_json(target, settings.state(target)) for _, target in found])
    for label, target in found:
        state = settings.state(target)
        print_message(f"{label}: {verb.done if not state or verb.is_on else state}.")


def _as_json(target: NotificationTarget, state: State) -> dict[str, str | None]:
    return {
        "space": target.space,
        "changeRequest": target.request or None,
        "thread": target.thread or None,
        "notifications": state or None,
    }
