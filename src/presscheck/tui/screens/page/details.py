"""The details of a page: a menu of details, each of which is typed in a line or switched."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from presscheck.api.content import ListChangeRequestPages, RevisionPage
from presscheck.api.content_changes import UpdatePage
from presscheck.documents.pages.tree import flatten
from presscheck.documents.visitors.conditions import LONGEST, problem_of
from presscheck.engine.drafts import draft_about
from presscheck.engine.review.pending_review import draft_key
from presscheck.errors import ChecksFailed
from presscheck.store.drafts import DraftSlot
from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Span
from presscheck.tui.commands import key_for
from presscheck.tui.screens.emoji import emoji_code, emoji_problem, emoji_text
from presscheck.tui.screens.page.editor import TITLE, change_pages
from presscheck.tui.ui.ask import change_text, choose
from presscheck.tui.widgets.picker import Choice

if TYPE_CHECKING:
    from presscheck.tui.ui.screen import BaseScreen

_SLUG = re.compile(r"[^\s/?#%]+")
_ICON = re.compile(r"[a-z0-9-]*")


def _slug_problem(text: str) -> str | None:
    return None if _SLUG.fullmatch(text) else "no spaces, /, ?, # or %"


def _icon_problem(text: str) -> str | None:
    return None if _ICON.fullmatch(text) else "small letters, digits and - only"


def _stored_emoji(text: str) -> str:
    return emoji_code(text) or ""


def _same(text: str) -> str:
    return text


def _condition_problem(text: str) -> str | None:
    return sanitize(problem_of(text)) or None


class _Detail(NamedTuple):
    """A detail that is typed in a line.

    Attributes:
        name: the field of the page.
        label: the name on the screen.
        letter: the letter in the menu.
        kinds: the kinds of pages that have the detail.
        min_length: the minimum number of characters; if 0, an empty text removes the detail.
        max_length: the maximum number of characters.
        problem: returns why a text is invalid, or None.
        stored: converts typed text to the value of the field.
        typed: converts the value of the field to text for display and editing.
    """

    name: str
    label: str
    letter: str
    kinds: tuple[str, ...]
    min_length: int = 0
    max_length: int | None = None
    problem: Callable[[str], str | None] = lambda _: None
    stored: Callable[[str], str] = _same
    typed: Callable[[str], str] = _same


_EVERY = ("document", "computed", "group", "link")
_WITH_PATH = ("document", "computed", "group")
_TEXTS = ("document", "computed")
DETAILS = (
    _Detail("title", "Title", "t", _EVERY, 1, TITLE),
    _Detail("description", "Description", "d", _TEXTS),
    _Detail("icon", "Icon", "i", _EVERY, 0, 50, _icon_problem),
    _Detail("emoji", "Emoji", "e", _EVERY, 0, 50, emoji_problem, _stored_emoji, emoji_text),
    _Detail("slug", "Slug", "s", _WITH_PATH, 1, 100, _slug_problem),
    _Detail("condition", "Condition", "c", _EVERY, 0, LONGEST, _condition_problem),
)


class _Switch(NamedTuple):
    """A detail that is on or off.

    Attributes:
        name: the field of the page.
        letter: the letter in the menu.
        turn_on: the label of the choice that turns it on.
        turn_off: the label of the choice that turns it off.
        state: the note while it is on.
    """

    name: str
    letter: str
    turn_on: str
    turn_off: str
    state: str


NOT_IN_API = "cover"
"""The key of the menu row for cover and tags, which the API cannot change."""
SWITCHES = (
    _Switch("hidden", "h", "Hide from the table of contents", "Show in the table of contents", "hidden"),
    _Switch("no_index", "n", "Keep out of search engines", "Allow in search engines", "not indexed"),
)


async def edit_details(screen: BaseScreen, path: dict[str, Any], page_ids: Sequence[str]) -> None:
    """Choose a detail and change it. For several pages, only switches are offered; one write changes all pages.

    Args:
        screen: the screen that shows the dialogs.
        path: `space_id` and `change_request_id`.
        page_ids: the ids of the pages.

    Raises:
        ChecksFailed: the change request has none of the pages.
    """
    tree = (await screen.engine.read(ListChangeRequestPages(**path))).pages
    pages = [page for page in flatten(tree) if page.id in page_ids]
    if not pages:
        raise ChecksFailed("This change request does not have the page")
    details = [detail for detail in DETAILS if len(pages) == 1 and pages[0].type in detail.kinds]
    switches = SWITCHES if all(page.type in _WITH_PATH for page in pages) else ()
    if not details and not switches:
        screen.notify("links cannot be hidden: mark pages and groups only")
        return
    choices = [Choice(detail.name, detail.label, _shown(pages[0], detail), letter=detail.letter) for detail in details]
    for switch in switches:
        is_on = all(getattr(page, switch.name) for page in pages)
        label = switch.turn_off if is_on else switch.turn_on
        choices.append(Choice(switch.name, label, switch.state if is_on else "", letter=switch.letter))
    if len(pages) == 1 and pages[0].type in _TEXTS:
        label = "Cover and tags"
        line = (Span(label, "quiet"),)
        choices.append(Choice(NOT_IN_API, label, "only in the app: the API lacks them", line))
    what = sanitize(pages[0].title) if len(pages) == 1 else count(len(pages), "page")
    chosen = await choose(screen, f"Edit {what}", choices)
    if chosen == NOT_IN_API:
        screen.notify(f"the API cannot change cover or tags: {key_for('web')} opens the page in the app")
    for detail in details:
        if chosen == detail.name:
            await _edit_text(screen, path, pages[0], detail)
    for switch in switches:
        if chosen == switch.name:
            value = not all(getattr(page, switch.name) for page in pages)
            changes = tuple(UpdatePage.model_validate({"page": page.id, switch.name: value}) for page in pages)
            await change_pages(screen, path, changes)


async def _edit_text(screen: BaseScreen, path: dict[str, Any], page: RevisionPage, detail: _Detail) -> None:
    key = draft_key(path["change_request_id"], f"{detail.name} {page.id}")
    before = getattr(page, detail.name) or ""
    about = draft_about(screen.engine, path, page=page.title)
    draft = DraftSlot(screen.engine.outbox, key, detail.typed(before), about)

    async def write(text: str) -> None:
        stored = detail.stored(text)
        if stored != before:  # an emoji can be typed in several ways
            change = UpdatePage.model_validate({"page": page.id, detail.name: stored})
            await change_pages(screen, path, (change,))

    await change_text(
        screen,
        f"{detail.label} of {sanitize(page.title)}" if detail.name != "title" else "Title of the page",
        draft,
        write,
        min_length=detail.min_length,
        max_length=detail.max_length,
        validate=detail.problem,
        hint="empty: none" if not detail.min_length else "",
    )


def _shown(page: RevisionPage, detail: _Detail) -> str:
    return " ".join(sanitize(detail.typed(getattr(page, detail.name) or "")).split())
