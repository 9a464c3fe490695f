"""Edits of a customization: values from a list or a form, links and their order, and undo."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from typing import TYPE_CHECKING, Any

from presscheck.api.spaces import ListSpaces
from presscheck.engine.reads.listing_guard import whole_listing
from presscheck.engine.site_customization.rows import items_at, moved, new_item
from presscheck.engine.site_customization.setting_forms import SettingsForm, text_of, value_of
from presscheck.engine.site_customization.settings import (
    CHOICE_WORDS,
    children_name,
    item_leaves,
    path_name,
    value_at,
    with_value,
)
from presscheck.engine.site_customization.three_way import merge
from presscheck.store.drafts import DraftSlot
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.commands import key_for
from presscheck.tui.screens.form_dialog import FormContent, FormDialog
from presscheck.tui.screens.sites.customization.row_text import NOUNS
from presscheck.tui.ui.ask import choose, confirm
from presscheck.tui.widgets.picker import Choice

if TYPE_CHECKING:
    from presscheck.engine.forms.references import Reference
    from presscheck.engine.site_config.document import Place
    from presscheck.engine.site_customization.rows import Row
    from presscheck.engine.site_customization.settings import Leaf
    from presscheck.tui.screens.sites.customization.session import Customization


class Edits:
    """The commands that edit the customization.

    Args:
        session: the customization of the site.
    """

    def __init__(self, session: Customization) -> None:
        self._session = session

    def reason_open(self) -> str | None:
        """Return why the setting cannot be changed: there is none, or the customization cannot be edited."""
        return self._session.reason() or (None if self._session.row else "there is no setting here")

    def command_open(self) -> Awaitable[None] | None:
        """Toggle a flag, choose a value from a list, or change values in a form. On a list of links, add an item."""
        row, session = self._session.row, self._session
        if row is None:
            return None
        if row.is_item:
            leaves = item_leaves(row.setting, row.path, session.document)
            return self._fill_in(self._title(row), leaves, {})
        if row.setting.is_list:
            return self.command_add()
        leaf = row.setting.leaves[0]
        if len(row.setting.leaves) == 1 and leaf.kind == "flag":
            self._set(leaf.path, value_at(session.document, leaf.path) is not True)
            return None
        if len(row.setting.leaves) == 1 and leaf.choices and leaf.kind != "values":
            return self._choose(row, leaf)
        return self._fill_in(row.setting.label, row.setting.leaves, {})

    reason_rename = reason_open

    def command_rename(self) -> Awaitable[None] | None:
        """Change all settings of the group in a form."""
        rows = [row for row in self._session.screen.lists.tab.items if not row.is_item and not row.setting.is_list]
        if not rows:
            return None
        leaves = tuple(leaf for row in rows for leaf in row.setting.leaves)
        titles = {row.name: row.setting.label for row in rows if row.setting.model}
        titles |= {f"{name}.color": title for name, title in titles.items()}
        return self._fill_in(rows[0].setting.group, leaves, titles)

    def reason_add(self) -> str | None:
        """Return why nothing can be added: the cursor is outside of a list, or the customization cannot be edited."""
        row = self._session.row
        if reason := self._session.reason():
            return reason
        return None if row and row.setting.is_list else "links are added in the lists of header and footer"

    def command_add(self) -> Awaitable[None] | None:
        """Add a link, a group or an account. On a link that can have a menu, choose where to add."""
        row = self._session.row
        return self._add(row) if row else None

    def reason_delete(self) -> str | None:
        """Return why the link or value under the cursor cannot be removed.

        Lists, required settings and settings without a value cannot be removed.
        """
        row = self._session.row
        if reason := self.reason_open():
            return reason
        if row is None or row.is_item:
            return None
        if row.setting.is_list:
            return f"{key_for('delete')} removes the link under the cursor"
        if value_at(self._session.document, row.path) is None:
            return "it is not set"
        return f"{row.setting.label.lower()} has to be set" if row.setting.is_required else None

    def command_delete(self) -> None:
        """Remove the link, or the value of the setting."""
        row = self._session.row
        if row:
            what = self._title(row) if row.is_item else row.setting.label
            self._set(row.path, None)
            self._session.screen.notify(f"{what} removed: {key_for('unsend')} undoes it")

    def reason_move_down(self) -> str | None:
        """Return why the link cannot be moved: the cursor is not on a link, or the customization cannot be edited."""
        row = self._session.row
        return self._session.reason() or (None if row and row.is_item else "only links of a list are moved")

    reason_move_up = reason_move_down

    def command_move_down(self) -> None:
        """Move the link below its next sibling."""
        self._move(1)

    def command_move_up(self) -> None:
        """Move the link above its previous sibling."""
        self._move(-1)

    def reason_unsend(self) -> str | None:
        """Return why nothing can be undone: there is no unsaved edit."""
        return (
            None
            if self._session.can_undo
            else f"no unsaved edit to undo: {key_for('restore_snapshot')} restores what the site had before"
        )

    def command_unsend(self) -> None:
        """Undo the last unsaved edit."""
        self._session.undo()

    def reason_discard_draft(self) -> str | None:
        """Return why nothing can be discarded: there are no unsaved edits."""
        return None if self._session.is_changed else "there are no unsaved edits"

    async def command_discard_draft(self) -> None:
        """Discard all edits, after a confirmation."""
        lines: list[Line] = [(Span("Your unsaved edits are lost: they are in no other place.", "waiting"),)]
        if await confirm(self._session.screen, "Discard your edits?", lines, "Discard"):
            self._session.discard()

    def _title(self, row: Row) -> str:
        value = value_at(self._session.document, row.path)
        name = value_at(value, ("title",)) or value_at(value, ("handle",))
        return sanitize(str(name or "")) or "(no title)"

    def _set(self, path: Place, value: Any) -> None:
        self._session.change(with_value(self._session.document, path, value))

    def _move(self, by: int) -> None:
        row = self._session.row
        if row and (result := moved(self._session.document, row, by)):
            document, path = result
            self._session.change(document)
            self._session.go_to(path_name(path))

    async def _choose(self, row: Row, leaf: Leaf) -> None:
        document = self._session.document
        present = text_of(leaf, value_at(document, leaf.path))
        choices = [Choice(word, CHOICE_WORDS.get(word, word)) for word in leaf.choices]
        if not row.setting.is_required:
            choices.append(Choice(" ", "not set"))
        chosen = await choose(self._session.screen, row.setting.label, choices, current=present)
        if chosen:
            self._set(leaf.path, value_of(leaf, chosen))

    async def _add(self, row: Row) -> None:
        setting, document = row.setting, self._session.document
        inner = children_name(setting)
        path, at = (row.path[:-1], row.at + 1) if row.is_item else (row.path, len(items_at(document, row.path)))
        noun = NOUNS.get(setting.name, "item")
        if inner and row.depth == 1:
            choices = [
                Choice("after", f"A {noun} after {self._title(row)}", letter="a"),
                Choice("inside", f"A link in {self._title(row)}", letter="i"),
            ]
            chosen = await choose(self._session.screen, "Add", choices)
            if not chosen:
                return
            if chosen == "inside":
                path = (*row.path, inner)
                at = len(items_at(document, path))
        last = (*path, len(items_at(document, path)))
        depth = len(last) - len(setting.path)
        item = new_item(setting, depth)
        leaves = item_leaves(setting, last, document)
        title = f"New {'link' if depth > 1 else noun}"
        form = SettingsForm(document, leaves, {}, new=(last, item))
        made = await self._ask(title, form)
        if made is None:
            return
        items = list(items_at(made, path))
        items.insert(at, items.pop())
        self._session.change(with_value(made, path, items))
        self._session.go_to(path_name((*path, at)))

    async def _fill_in(self, title: str, leaves: Sequence[Leaf], titles: dict[str, str]) -> None:
        made = await self._ask(title, SettingsForm(self._session.document, tuple(leaves), titles))
        if made is not None:
            self._session.change(made)

    async def _ask(self, title: str, form: SettingsForm) -> dict[str, Any] | None:
        """Show a form, and return the document with the entered values; None if the form was closed.

        Unsaved input is a draft. Changes that others made in the meantime are merged into the document.
        """
        session, start = self._session, self._session.document
        draft = DraftSlot(session.screen.engine.outbox, f"customization {title} of site {session.site.id}")

        async def keep(document: Any) -> Any:
            return document

        content = FormContent(title, form, form.present)
        dialog = FormDialog(content, keep, draft, lookup=self._lookup, send_label="OK")
        made = await session.screen.ask(dialog)
        if made is not None and session.document is not start:  # somebody else changed the site
            return merge(start, made, session.document).document
        return made

    async def _lookup(self, reference: Reference) -> Sequence[Choice]:
        """Return the spaces that a link can lead to."""
        call = ListSpaces(organization_id=self._session.organization_id)
        spaces = await whole_listing(self._session.screen.engine, call)
        return [Choice(space.id, sanitize(space.title) or space.id) for space in spaces]
