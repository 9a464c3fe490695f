"""The command palette, and the search for spaces, pages, change requests and their text.

The search also opens web addresses of the platform, and the palette pages by their path in a space.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from presscheck.api.content import GetChangeRequestPageByPath, GetPageByPath
from presscheck.api.organizations import ListOrganizations
from presscheck.api.url_lookup import GetContentByUrl
from presscheck.errors import NotFound
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.commands import Command
from presscheck.tui.places import Place
from presscheck.tui.screens.admin.titles import TITLES
from presscheck.tui.screens.command_targets import Item, numbered_requests, run_anywhere, stored_items
from presscheck.tui.screens.key_list import shown_keys, why_disabled
from presscheck.tui.widgets.picker import Choice, Picker, matching

if TYPE_CHECKING:
    from presscheck.engine.search.search import Hit
    from presscheck.tui.app_context import AppContext
    from presscheck.tui.ui.screen import BaseScreen

MAX_RESULTS = 30
CHARACTERS_BEFORE = 24
"""Maximum number of characters of an excerpt before the first match."""
MAX_NUMBER_DIGITS = 9
_item_query = re.compile(r"(cr|space|page)\s+(.+)", re.IGNORECASE)
Action = Callable[[], Any]


def is_address(text: str) -> bool:
    """Return whether a text is a web address."""
    return text.strip().startswith(("https://", "http://"))


async def open_content_at(app: AppContext, address: str) -> None:
    """Look up the content at a web address, and open it.

    Raises:
        PresscheckError: the service finds no content, or the request failed.
    """
    content = await app.engine.read(GetContentByUrl(url=address.strip()))
    space = content.space
    if space is None:
        app.notify("this address leads to no space or page that you can open")
    else:
        page, request = content.page, content.change_request
        await app.go(Place.content(space.id, page.id if page else None, request.id if request else None))


async def open_page_at(app: AppContext, space_id: str, path: str, change_request_id: str | None = None) -> None:
    """Look up a page by its path in a space, and open it.

    Args:
        app: the app.
        space_id: the id of the space.
        path: the path, such as `/guides/start`.
        change_request_id: the change request whose pages are searched; None for the main content.

    Raises:
        PresscheckError: the request failed.
    """
    page_path = path.strip().strip("/")
    call = (
        GetChangeRequestPageByPath(
            space_id=space_id, change_request_id=change_request_id, page_path=page_path, format="markdown"
        )
        if change_request_id
        else GetPageByPath(space_id=space_id, page_path=page_path, format="markdown")
    )
    try:
        page = await app.engine.read(call)
    except NotFound:
        app.notify(f"no page at {sanitize(path)} here")
        return
    await app.go(Place.page(space_id, page.id, change_request_id))


def show_commands(app: AppContext, screen: BaseScreen) -> None:
    """Open a picker of commands by name, and of items by `cr 42`, `api#42`, `space api`, `page /guides/start`.

    Matches in titles come before matches in help texts, and the commands of the screen before those of other screens.
    """
    commands = {command.name: command for command in app.keymap.commands if command.scope != "move"}
    own = [command for command in screen.command_table.commands if command.name in commands]
    others = [command for command in commands.values() if command not in own]
    actions: dict[str, Action] = {name: partial(run_anywhere, screen, command) for name, command in commands.items()}
    actions |= {f"admin {title}": partial(app.go, Place.family(title)) for title in TITLES}
    here = [_by_title(app, command, why_disabled(screen, command)) for command in own]
    here += [Choice(f"admin {title}", f"{title} (administration)", app.keymap.label("go_admin")) for title in TITLES]
    elsewhere = [_by_title(app, command, why_disabled(screen, command)) for command in others]

    def is_in_help(choice: Choice, text: str) -> bool:
        command = commands.get(choice.key)
        return command is not None and not all(word in command.title for word in text.lower().split())

    def find(text: str) -> list[Choice]:
        if numbered := _space_and_number(text):
            place = screen.content_place()
            requests = numbered_requests(app, *numbered, here=place.space_id if place else "")
            actions.update(_going(app, requests))
            return [choice for choice, _ in requests][:MAX_RESULTS]
        match = _item_query.fullmatch(text.strip())
        if not match:
            # not fuzzy: enter must not run a command that is only similar to the typed text
            found = [*matching(text, here, fuzzy=False), *matching(text, elsewhere, fuzzy=False)]
            return sorted(found, key=lambda choice: is_in_help(choice, text))
        if by_path := list(_choices_by_path(app, screen, match[1].lower(), match[2])):
            actions.update({choice.key: action for choice, action in by_path})
            return [choice for choice, _ in by_path]
        items = list(stored_items(app, match[1].lower()))
        actions.update(_going(app, items))
        return matching(match[2], [choice for choice, _ in items], fuzzy=False)[:MAX_RESULTS]

    picker = Picker(
        "Commands · cr 42, api#42, space api, page auth, page /guides/start",
        [*here, *elsewhere],
        extra_choices=find,
        empty_text=_nothing_found,
    )
    _open_picker(app, screen, picker, actions)


def find_anything(app: AppContext, screen: BaseScreen, kind: str = "") -> None:
    """Open a picker that finds spaces, pages and change requests by name or text.

    `kind` limits the picker to the names of items of a kind, such as `space`; empty for all.
    """
    items = _shortcuts_first(app, list(stored_items(app, kind)))
    actions = _going(app, items)

    async def search_texts(text: str) -> AsyncIterator[list[Choice]]:
        if is_address(text):
            actions["address"] = partial(open_content_at, app, text)
            yield [Choice("address", f"Open {sanitize(text.strip())}", "the page or space at this address")]
            return
        async for result in app.engine.search(text, limit=MAX_RESULTS):
            hits = [_hit_choice(app, hit, text) for hit in result.value]
            actions.update((choice.key, action) for choice, action in hits)
            yield [choice for choice, _ in hits]

    title = "Go to a space" if kind == "space" else "Find anything"
    choices, search = [choice for choice, _ in items], None if kind else search_texts
    _open_picker(app, screen, Picker(title, choices, search=search), actions)


def _going(app: AppContext, items: Iterable[Item]) -> dict[str, Action]:
    return {choice.key: partial(app.go, place) for choice, place in items}


def _open_picker(app: AppContext, screen: BaseScreen, picker: Picker, actions: dict[str, Action]) -> None:
    def chosen(keys: tuple[str, ...] | None) -> None:
        if keys:
            screen.invoke(actions[keys[0]])

    app.push_screen(picker, chosen)


def _space_and_number(text: str) -> tuple[str, int] | None:
    """Parse `cr 42`, `#42`, `api#42` or `cr api#42` into the name of a space, empty if missing, and the number."""
    before, sign, number = text.rpartition("#")
    words = before.split()
    if not sign:
        *words, number = text.split() or [""]
        if [word.lower() for word in words] != ["cr"]:
            return None
    if words and words[0].lower() == "cr":
        words = words[1:]
    number = number.strip()
    return (" ".join(words), int(number)) if number.isdecimal() and len(number) <= MAX_NUMBER_DIGITS else None


def _nothing_found(text: str) -> str:
    if numbered := _space_and_number(text):
        space, number = numbered
        return f"No change request #{number} {f'in “{sanitize(space)}”' if space else 'here'}"
    match = _item_query.fullmatch(text.strip())
    if not match:
        return "No match"
    kind, name = match[1].lower(), match[2].strip()
    return f"No {'change request' if kind == 'cr' else kind} “{sanitize(name)}” here"


def _by_title(app: AppContext, command: Command, reason: str) -> Choice:
    line: Line = (Span(command.title, "quiet"), Span(f"  {reason}", "quiet")) if reason else (Span(command.title),)
    return Choice(command.name, f"{command.title} {command.help}".strip(), shown_keys(app, command), line)


def _choices_by_path(app: AppContext, screen: BaseScreen, kind: str, text: str) -> Iterator[tuple[Choice, Action]]:
    """Yield choices that open a page by path.

    `page /guides/start` is in the current space, `space api /guides/start` in each space that matches `api`.
    """
    name, slash, path = text.partition("/")
    path = f"/{path.strip().strip('/')}"
    if not slash or path == "/":
        return
    label = f"Open {sanitize(path)}"
    if kind == "page" and not name.strip():
        place = screen.content_place()
        if place:
            call = partial(open_page_at, app, place.space_id, path, place.change_request_id)
            yield Choice("path", label, "the page with this path, in this space"), call
    elif kind == "space" and name.strip():
        spaces = dict(stored_items(app, "space"))
        titles = {choice.key: choice for choice in spaces}
        for found in matching(name.strip(), list(titles.values()), fuzzy=False)[:MAX_RESULTS]:
            space = found.key.partition(" ")[2]
            yield Choice(f"path {space}", f"{label} in {found.label}", "page"), partial(open_page_at, app, space, path)


def _shortcuts_first(app: AppContext, items: list[Item]) -> list[Item]:
    """Sort recent items and bookmarks first, so that they are visible before anything is typed."""
    known, shortcuts = app.engine.known(ListOrganizations()), app.engine.shortcuts
    organizations = [organization.id for organization in known.value.items] if known else []
    lists = [each for one in organizations for each in (shortcuts.recent(one), shortcuts.bookmarks(one))]
    order: dict[str, int] = {}
    for shortcut in (shortcut for each in lists for shortcut in each):
        order.setdefault(shortcut.target, len(order))
    return sorted(items, key=lambda item: order.get(item[0].key, len(order)))


def _hit_choice(app: AppContext, hit: Hit, text: str) -> tuple[Choice, Action]:
    title = sanitize(hit.title) + (" commented" if hit.kind == "comment" else "")
    line: Line = (Span(title), Span("  "), *_excerpt_line(sanitize(hit.excerpt), text))
    choice = Choice(_key(hit), title, sanitize(hit.space_title), line)
    if hit.kind == "change-request":
        return choice, partial(app.go, Place.review(hit.space, hit.id))
    comment = hit.path if hit.kind == "comment" else ""
    return choice, partial(app.go, Place.content(hit.space, hit.page, hit.change_request, comment))


def _key(hit: Hit) -> str:
    """Return the key of a search result. The same item has the same key when it is found by name."""
    if hit.kind == "page":
        return f"page {hit.space} {hit.id} {hit.change_request}".rstrip()
    return f"cr {hit.id}" if hit.kind == "change-request" else f"comment {hit.id}"


def _excerpt_line(excerpt: str, text: str) -> Line:
    """Return an excerpt, shortened before the first match, with the words of `text` emphasized."""
    words: list[str] = sorted(re.findall(r"\w+", text), key=len, reverse=True)
    if not words:
        return (Span(excerpt, "quiet"),)
    parts = re.split(f"({'|'.join(map(re.escape, words))})", excerpt, flags=re.IGNORECASE)
    if len(parts) > 1 and len(parts[0]) > CHARACTERS_BEFORE:
        parts[0] = "…" + parts[0][-CHARACTERS_BEFORE:].partition(" ")[2]
    return tuple(Span(part, "strong" if at % 2 else "quiet") for at, part in enumerate(parts) if part)
