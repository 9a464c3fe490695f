"""Finding: every command, every key, the spaces, pages and change requests that the store knows, and what they say."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from presscheck.api.content import ListPages, RevisionPage
from presscheck.api.organizations import ListOrganizations
from presscheck.api.spaces import ListSpaces
from presscheck.api.users import GetCurrentUser
from presscheck.desk.inbox import VIEWS
from presscheck.documents.display_text import display_text
from presscheck.documents.spans import Line, Span, pad
from presscheck.tui.commands import Command, keys_of, shown
from presscheck.tui.widgets.picker import Choice, Picker, matching

if TYPE_CHECKING:
    from presscheck.api.change_requests import ChangeRequest
    from presscheck.api.spaces import Space
    from presscheck.desk.searching import Hit
    from presscheck.tui.app_context import AppContext
    from presscheck.tui.screens.base_screen import BaseScreen

MANY = 2000
"""How many of a kind are looked through."""
SHOWN = 30
BEFORE = 24
"""Characters of an excerpt that are shown before what was looked for."""
_typed = re.compile(r"(cr|space|page)\s+(.+)", re.IGNORECASE)

Act = Callable[[], Any]


def all_keys(home: AppContext, place: BaseScreen) -> None:
    """Show every key of a place, in the order of the table; a chosen one is done."""
    commands = place.command_table.commands
    choices = [_with_keys(home, command) for command in commands]
    _ask(home, place, Picker("Keys", choices, home.style_for, ranked=False), commands, {})


def all_commands(home: AppContext, place: BaseScreen) -> None:
    """Find a command, or a thing by `cr 42`, `space api`, `page auth`; what is chosen is done."""
    commands = [command for command in place.command_table.commands if command.scope != "move"]
    choices = [Choice(command.name, command.title, _keys(home, command)) for command in commands]
    acts: dict[str, Act] = {}

    def more(text: str) -> list[Choice]:
        found = _typed.fullmatch(text.strip())
        if not found:
            return []
        things = list(_things(home, found[1].lower()))
        acts.update({choice.key: act for choice, act in things})
        return matching(found[2], [choice for choice, _ in things])[:SHOWN]

    title = "Commands · cr 42, space api, page auth"
    _ask(home, place, Picker(title, choices, home.style_for, more=more), commands, acts)


def anything(home: AppContext, place: BaseScreen, kind: str = "") -> None:
    """Find what the store knows by its name, and what stands in it; what is chosen is opened."""
    things = list(_things(home, kind))
    acts = {choice.key: act for choice, act in things}

    async def texts(text: str) -> AsyncIterator[list[Choice]]:
        async for seen in home.desk.search(text, most=SHOWN):
            hits = [_hit(home, hit, text) for hit in seen.value]
            acts.update((choice.key, act) for choice, act in hits)
            yield [choice for choice, _ in hits]

    title = "Go to a space" if kind == "space" else "Find anything"
    choices = [choice for choice, _ in things]
    _ask(home, place, Picker(title, choices, home.style_for, later=None if kind else texts), (), acts)


def _ask(
    home: AppContext, place: BaseScreen, picker: Picker, commands: Sequence[Command], acts: dict[str, Act]
) -> None:
    def chosen(keys: tuple[str, ...] | None) -> None:
        if not keys:
            return
        if keys[0] in acts:
            place.invoke(acts[keys[0]])
        else:
            place.run_command(next(command for command in commands if command.name == keys[0]))
            place.refresh_status_bars()

    home.push_screen(picker, chosen)


def _keys(home: AppContext, command: Command) -> str:
    return "  ".join(shown(keys) for keys in keys_of(command, home.keymap)[:3])


def _with_keys(home: AppContext, command: Command) -> Choice:
    keys = _keys(home, command)
    more = f"  {command.help}" if command.help else ""
    line: Line = (*pad((Span(keys, "accent"),), 16), Span(command.title), Span(more, "quiet"))
    return Choice(command.name, f"{keys} {command.title} {command.help}", command.scope, line)


def _things(home: AppContext, kind: str) -> Iterator[tuple[Choice, Act]]:
    known = home.desk.known(ListOrganizations())
    for organization in known.value.items if known else ():
        spaces = home.desk.window(ListSpaces(organization_id=organization.id), 0, MANY).items
        titles = {space.id: display_text(space.title) for space in spaces}
        if kind in ("", "space"):
            yield from (_space(home, space, titles) for space in spaces)
        if kind in ("", "cr"):
            yield from (_request(home, one, titles) for one in _requests(home, organization.id))
        for space in spaces if kind in ("", "page") else ():
            pages = home.desk.known(ListPages(space_id=space.id))
            for page in _all_pages(pages.value.pages if pages else ()):
                yield _page(home, space, page, titles)


def _requests(home: AppContext, organization_id: str) -> list[ChangeRequest]:
    """Every change request that some view of the inbox has brought in."""
    me = home.desk.known(GetCurrentUser())
    listings = [view.listing(organization_id, me.value.id) for view in VIEWS] if me else []
    found = (one for listing in listings for one in home.desk.window(listing, 0, MANY).items)
    return list({one.id: one for one in found}.values())


def _space(home: AppContext, space: Space, titles: dict[str, str]) -> tuple[Choice, Act]:
    return Choice(f"space {space.id}", titles[space.id], "space"), lambda: home.open_page(space.id)


def _request(home: AppContext, request: ChangeRequest, titles: dict[str, str]) -> tuple[Choice, Act]:
    label = f"{request.number} {display_text(request.subject) or '(no subject)'}"
    note = titles.get(request.space, "change request")
    return Choice(f"cr {request.id}", label, note), lambda: home.open_review(request.space, request.id)


def _page(home: AppContext, space: Space, page: RevisionPage, titles: dict[str, str]) -> tuple[Choice, Act]:
    choice = Choice(f"page {space.id} {page.id}", display_text(page.title), titles[space.id])
    return choice, lambda: home.open_page(space.id, page.id)


def _hit(home: AppContext, hit: Hit, text: str) -> tuple[Choice, Act]:
    """Something that a text was found in."""
    title = display_text(hit.title) + (" said" if hit.kind == "comment" else "")
    line: Line = (Span(title), Span("  "), *_found_in(display_text(hit.excerpt), text))
    choice = Choice(_key(hit), title, display_text(hit.space_title), line)
    if hit.kind == "change-request":
        return choice, lambda: home.open_review(hit.space, hit.id)
    if hit.kind == "comment" and hit.change_request:
        return choice, lambda: home.open_thread(hit.space, hit.change_request, hit.path)
    return choice, lambda: home.open_page(hit.space, hit.page or None, hit.change_request or None)


def _key(hit: Hit) -> str:
    """What it is called among those that are found by their names."""
    if hit.kind == "page":
        return f"page {hit.space} {hit.id} {hit.change_request}".rstrip()
    return f"cr {hit.id}" if hit.kind == "change-request" else f"comment {hit.id}"


def _found_in(excerpt: str, text: str) -> Line:
    """An excerpt from shortly before the first word that was looked for, with these words marked."""
    words = sorted((one for one in re.findall(r"\w+", text)), key=len, reverse=True)
    if not words:
        return (Span(excerpt, "quiet"),)
    parts = re.split(f"({'|'.join(map(re.escape, words))})", excerpt, flags=re.IGNORECASE)
    if len(parts) > 1 and len(parts[0]) > BEFORE:
        parts[0] = "…" + parts[0][-BEFORE:].partition(" ")[2]
    return tuple(Span(part, "strong" if at % 2 else "quiet") for at, part in enumerate(parts) if part)


def _all_pages(pages: Sequence[RevisionPage]) -> Iterator[RevisionPage]:
    for page in pages:
        if page.type == "document":
            yield page
        yield from _all_pages(page.pages or ())
