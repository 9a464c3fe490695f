"""The built-in editor: the Markdown of a page, and a preview. Each change is stored as a draft until it is saved."""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from functools import partialmethod
from typing import TYPE_CHECKING, TypeVar

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.geometry import Size
from textual.screen import ModalScreen
from textual.widgets import TextArea
from textual.widgets.text_area import Selection
from typing_extensions import override

from presscheck.api.content import ListChangeRequestFiles, ListChangeRequestPages
from presscheck.api.operation import ALL
from presscheck.api.organizations import ListMembers
from presscheck.api.spaces import GetSpace
from presscheck.documents.markdown.block_splitter import SplitText
from presscheck.documents.merge.conflict_blocks import Side, cut_conflicts, resolve, unresolved_conflicts
from presscheck.documents.terminal.page_lines import PageLines
from presscheck.errors import ChecksFailed, PresscheckError
from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, width
from presscheck.tui.commands import BY_NAME, Command, key_for, shown, with_keys
from presscheck.tui.external_programs import edit_text
from presscheck.tui.keyboard import KeySequences, key_name
from presscheck.tui.screens.markdown_editor.area import MarkdownArea
from presscheck.tui.screens.markdown_editor.blocks import BLOCKS
from presscheck.tui.screens.markdown_editor.completion import (
    block_proposals,
    file_proposals,
    opening,
    page_proposals,
    people_proposals,
)
from presscheck.tui.screens.spell_check import SpellingActions
from presscheck.tui.screens.text_draft import confirm_discard
from presscheck.tui.spell_checker import DoubtfulWord
from presscheck.tui.ui.ask import choose
from presscheck.tui.ui.screen import NARROW, BaseScreen
from presscheck.tui.widgets.completion import CompletionList, Opening, Proposal
from presscheck.tui.widgets.page_view import PageView
from presscheck.tui.widgets.picker import Choice
from presscheck.tui.widgets.status_bar import pressing

if TYPE_CHECKING:
    from presscheck.api.content import Pages, RevisionFile, RevisionPage
    from presscheck.api.operation import Page
    from presscheck.api.organizations import OrganizationMember
    from presscheck.api.users import User
    from presscheck.documents.markdown.block_splitter import Block
    from presscheck.documents.merge.conflict_blocks import ConflictBlock
    from presscheck.engine.results import Result
    from presscheck.tui.screens.text_draft import TextDraft

T = TypeVar("T")
INTERVAL = 5.0
"""Seconds between two checks for edits by other users."""
MAX_INTERVAL = 60.0
"""Maximum number of seconds between two checks while they fail."""
PREVIEW_DELAY = 0.2
"""Seconds without typing before the preview is updated."""
LONG = 20_000
"""Length, in characters, above which the preview contains only a part of the text around the cursor."""
TITLES = {
    "discard_draft": "discard draft",
    "send": "save",
    "back": "leave",
    "edit_outside": "$EDITOR",
    "take_mine": "mine",
    "take_other": "theirs",
    "take_each": "both",
}
"""Titles of commands that differ in this editor."""
ON_CONFLICT = ("take_mine", "take_other", "take_each")
"""The commands that resolve conflicts."""
TEXT_COMMANDS = frozenset(
    (
        "send",
        "insert_block",
        "find_in_text",
        "preview_text",
        "spelling",
        "edit_outside",
        "discard_draft",
        *ON_CONFLICT,
        "merge_edits",
        "undo_typing",
        "redo_typing",
        "back",
        "help",
        "theme",
        "quit",
    )
)
"""The commands whose keys work while typing."""
TAKEN: dict[Side, str] = {"ours": "took mine", "theirs": "took theirs", "both": "took both"}
MENU = {
    "link": "Link to a page",
    "file": "Link to a file of the space",
    "image": "Image of the space",
    "person": "Mention of a person",
}
MISSING = {
    "link": "no pages are loaded yet",
    "file": "this space has no files",
    "image": "this space has no images",
    "person": "no people are loaded yet",
}


class MarkdownEditor(BaseScreen):
    """An editor for a page of a change request, or for another document.

    Args:
        draft: stores and saves the text.
        text: the initial text.
        line: the initial line of the cursor; by default, the last changed line of the draft.
    Raises:
        ChecksFailed: the text has line ends that the editor cannot keep.
    """

    SCOPE = "editor"
    FOOTER = ("send", "insert_block", "find_in_text", "back", "preview_text", "edit_outside")
    DEFAULT_CSS = """
    MarkdownEditor > Horizontal { height: 1fr; }
    MarkdownEditor MarkdownArea, MarkdownEditor MarkdownArea:focus {
        width: 1fr; height: 1fr; border: none; padding: 0 1; background: $ink-ground; color: $ink-text;
        background-tint: $ink-ground 0%; scrollbar-gutter: stable; scrollbar-size-vertical: 1;
        scrollbar-background: $ink-ground; scrollbar-color: $ink-quiet;
    }
    MarkdownEditor MarkdownArea .text-area--cursor-line { background: $ink-ground; }
    MarkdownEditor MarkdownArea .text-area--cursor { background: $ink-accent; color: $ink-ground; }
    MarkdownEditor MarkdownArea .text-area--selection {
        background: $ink-ground; color: $ink-text; text-style: reverse;
    }
    MarkdownEditor PageView { width: 1fr; border-left: vkey $ink-raised; padding: 0 1; }
    """

    def __init__(self, draft: TextDraft, text: str, *, line: int | None = None) -> None:
        if not MarkdownArea.can_hold(text):
            raise ChecksFailed(
                f"Not opened: set VISUAL and press {key_for('edit_other')}. "
                f"The {draft.noun} has unusual line ends that only another editor keeps"
            )
        super().__init__()
        self.draft, self._initial, self._first_line = draft, text, draft.line if line is None else line
        self.area: MarkdownArea
        self._preview: PageView
        self._completion: CompletionList
        self._saved_text: str = text
        self._is_flush_due = False
        self._wants_preview = True
        self._shows_only_preview = False
        self._pages: list[RevisionPage] = []
        self._people: list[User] = []
        self._files: list[RevisionFile] | None = None
        """The files of the space; None until they are needed."""
        self._error = ""
        self._conflicts = unresolved_conflicts(text)
        self._split: SplitText | None = None
        """The blocks of a long text at the last preview."""
        self._is_saving = False
        self._changed_by = ""
        """The name of another user who edited the page since it was opened or merged; empty without one."""
        self._shows_old_draft = draft.is_kept
        """Whether the text is a stored draft that has not been edited since it was opened."""
        self._text_keys = KeySequences(())
        self._spelling = SpellingActions(self, lambda: (self.draft.title, self.area.text), self._select_word)

    @override
    def command_handlers(self) -> Iterable[object]:
        return (self, self._spelling)

    @override
    def title_line(self) -> Line:
        state = "draft saved" if self.draft.is_kept else "no changes"
        if self._shows_old_draft:
            state = f"your draft{self.draft.age}"
        if self._error:
            state = sanitize(self._error)
        style = "error" if self._error else "quiet"
        conflicts = count(len(self._conflicts), "conflict") if self._conflicts else ""
        return (
            Span(" Edit ", "quiet"),
            Span(sanitize(self.draft.title), "title"),
            Span(f"   {conflicts}" if conflicts else "", "removed"),
            Span(f"   {self._changed_by} edited it" if self._changed_by else "", "waiting"),
            Span(f"   {state}", style),
        )

    @override
    def body(self) -> ComposeResult:
        self.area = MarkdownArea(self._initial, self._press)
        self._preview = PageView()
        self._completion = CompletionList(self.area, self._find_opening, self._proposals_for, self._insert_proposal)
        with Horizontal():
            yield self.area
            yield self._preview
        yield self._completion

    @override
    def on_mount(self) -> None:
        super().on_mount()
        self._text_keys = self._text_key_sequences()
        self._wants_preview = self.engine.outbox.recall("editor preview") != "hidden"
        self._arrange()
        self.area.focus()
        if self._first_line is not None:
            self.area.move_cursor((self._first_line, 0))
            # the text area has a size only after the refresh
            self.call_after_refresh(self.area.scroll_cursor_visible, center=True)
        if self.draft.is_kept:
            key = self.app_context.keymap.label("discard_draft")
            self.notify(f"your draft, not the {self.draft.noun} as it is: {key} discards it")
        path = self.draft.path
        if not path:
            return
        self.run(self._look_for_edits, group="edits of others")
        self.subscribe(
            self.engine.watch(ListChangeRequestPages(**path)), self._take_pages, group="pages", shows_errors=False
        )
        space = self.engine.known(GetSpace(space_id=path["space_id"]))
        if space and space.value and space.value.organization:
            call = ListMembers(organization_id=space.value.organization, limit=ALL)
            self.subscribe(self.engine.watch(call), self._take_people, group="people", shows_errors=False)

    @override
    def on_resize(self) -> None:
        super().on_resize()
        if self.area.is_mounted:
            self._arrange()
            self._completion.close()

    @override
    def has_key_for(self, command: Command) -> bool:
        return self._shows_only_preview or command.name in TEXT_COMMANDS

    def _text_key_sequences(self) -> KeySequences:
        commands = [command for command in self.command_table.commands if command.name in TEXT_COMMANDS]
        return KeySequences(commands, self.app_context.keymap)

    def _arrange(self) -> None:
        preview, area = self._preview, self.area
        is_wide = self.size.width >= NARROW
        if is_wide:
            self._shows_only_preview = False
        preview.display = self._shows_only_preview or (is_wide and self._wants_preview)
        preview.can_focus = self._shows_only_preview
        area.display = not self._shows_only_preview
        (preview if self._shows_only_preview else area).focus()
        self.call_after_refresh(self._schedule_preview, 0)  # its width is known when it is laid out

    @override
    def footer_hints(self, columns: int | None = None) -> Line:
        columns, keymap = self.size.width if columns is None else columns, self.app_context.keymap
        hints: list[Line] = []
        first = (*(ON_CONFLICT if self._conflicts else ()), *(("merge_edits",) if self._changed_by else ()))
        second = ("discard_draft",) if self._shows_old_draft else ()
        for name in (*first, *second, *self.FOOTER, "help"):
            # the usual key of the help, `?`, is typed into the text
            keys = next((key for key in keymap.keys(name) if len(key) > 1), keymap.first(name))
            style = "quiet" if self.disabled_reason(name) else "accent"
            title = TITLES.get(name, BY_NAME[name].title)
            hints.append((*pressing(keys, Span(f" {shown(keys)}", style), Span(f" {title}", "quiet")), Span("  ")))
        while len(hints) > 1 and sum(map(width, hints)) > columns - 3:
            hints.pop(-2)
        return tuple(span for hint in hints for span in hint)

    # keys

    def _press(self, event: events.Key) -> bool:
        """Handle a key that inserts no text. Returns False if the text area has to handle the key."""
        if self._completion.press(event):
            return True
        has_alt = event.key.startswith("alt+")  # the event counts as printable, but its letter is not inserted
        if (event.is_printable and not has_alt) or event.key in ("ctrl+c", "enter", "tab"):
            return False
        self.last_key = event.key
        if self._text_keys.keymap is not self.app_context.keymap:  # the user has changed keys since
            self._text_keys = self._text_key_sequences()
        command = self._text_keys.press(key_name(event))
        if command is None:
            return False
        self.app_context.clear_notice()
        self.run_command(command)
        self.refresh_status_bars()
        return True

    # the draft

    @on(TextArea.Changed)
    def text_changed(self) -> None:
        """Schedule storing the draft and updating the preview, and update the proposals."""
        if not self._is_flush_due:
            self._is_flush_due = True
            self.call_later(self._flush)
        self._schedule_preview(PREVIEW_DELAY)
        self._completion.update()

    @on(TextArea.SelectionChanged)
    def cursor_moved(self) -> None:
        """Update the proposals, and show the block of the cursor in the preview."""
        if self._completion.is_open:
            self._completion.update()
        self._schedule_preview(PREVIEW_DELAY)

    def _flush(self) -> None:
        """Store the text as the draft, and find its conflicts. If storing fails, show the error."""
        self._is_flush_due = False
        text = self.area.text
        self._conflicts = unresolved_conflicts(text)
        if text == self._saved_text and not self._error:
            return
        try:
            self.draft.keep(text)
            self._saved_text, self._error = text, ""
            self._shows_old_draft = False
        except PresscheckError as error:
            self._error = error.message
        self.refresh_status_bars()

    def reason_send(self) -> str | None:
        """Return why the text cannot be saved: it is being saved, or the app cannot write or queue it now."""
        status = self.engine.status
        if self._is_saving:
            return "it is being saved"
        if status.read_only:
            return "this profile is read-only; your text is kept as a draft"
        if not status.online and not self.draft.waits_offline:
            return f"you are offline, and {self.draft.noun} cannot be queued; your text is kept as a draft"
        return None

    async def command_send(self) -> None:
        """Save the text after a confirmation. The editor closes unless the text has conflicts or has changed since."""
        self._flush()
        self._is_saving = True
        text = self.area.text
        try:
            saved = await self.draft.save(self, text)
        except PresscheckError:
            await self._go_on(text, self.draft.text or text)
            raise
        finally:
            self._is_saving = False
        self._changed_by = ""  # saving merged the edits of others
        if saved.is_sent and self.area.text == text:
            self.app_context.close_screen()
            self.app_context.notify(saved.message or with_keys(self.draft.saved_message))
            return
        await self._go_on(text, saved.text)
        if saved.line is not None:
            self._go_to_line(saved.line)
        if saved.has_conflicts:
            self._tell_conflicts()
            return
        message = saved.message.replace(f"{key_for('edit')} opens your draft", "your draft is kept")
        self.notify(message or f"{with_keys(self.draft.saved_message)}; what you typed since then is a draft")

    def _go_to_line(self, line: int) -> None:
        self.area.move_cursor((min(line, self.area.document.line_count - 1), 0), center=True)

    # conflicts

    def _tell_conflicts(self) -> None:
        """Show the keys that resolve a conflict, in a message that fits into 60 columns."""
        keys = map(self.app_context.keymap.label, ON_CONFLICT)
        choices = ", ".join(f"{key} {TITLES[name]}" for key, name in zip(keys, ON_CONFLICT, strict=True))
        self.notify(f"{'conflict' if len(self._conflicts) == 1 else 'conflicts'}: {choices}")

    def reason_take_mine(self) -> str | None:
        """Return why no conflict can be resolved: the text is being saved, or has no conflict."""
        if self._is_saving:
            return "it is being saved"
        return None if self._conflicts else "there is no conflict in this text"

    reason_take_other = reason_take_mine
    reason_take_each = reason_take_mine

    def _take(self, side: Side) -> None:
        """Resolve the conflict at the cursor, and go to the next. Outside of conflicts, only go to the next."""
        row, text = self.area.cursor_location[0], self.area.text
        conflicts = unresolved_conflicts(text)
        block = next((block for block in conflicts if block.first <= row <= block.last), None)
        if block:
            self.area.replace_all(resolve(text, block, side))
            self._flush()
            row = block.first
        below = next((block for block in self._conflicts if block.last >= row), None)
        target = below or next(iter(self._conflicts), None)
        self._go_to_line(target.first + 1 if target else row)
        if block is None:
            self._tell_conflicts()
        elif target:
            self.notify(f"{TAKEN[side]}: {count(len(self._conflicts), 'more conflict')}")
        else:
            self.notify(f"{TAKEN[side]}: no conflict is left")

    command_take_mine = partialmethod(_take, "ours")
    command_take_other = partialmethod(_take, "theirs")
    command_take_each = partialmethod(_take, "both")

    @override
    async def ask(self, question: ModalScreen[T]) -> T | None:
        """Return the result of a dialog. Keys typed after the confirmation of saving go to the text."""
        answer = await super().ask(question)
        if self._is_saving:
            self.app_context.type_ahead.let_go()  # otherwise they would go to the screen below once the text is saved
        return answer

    async def _go_on(self, before: str, stored: str) -> None:
        """Show and store the text after saving, merged with edits by other users and with text typed in the meantime.

        Args:
            before: the text that was being saved.
            stored: the text that resulted from saving.
        """
        if self.area.text == before == stored:
            return
        now = stored
        while True:
            typed = self.area.text
            if typed != before:
                now = typed if now == before else (await self.draft.merged(before, typed, now)).text
            if self.area.text == typed:
                break
            before = typed
        if now != typed:
            self.area.replace_all(now)
            self.area.history.clear()  # undoing a merge and saving would delete the edits of others
        self._saved_text = self.draft.text or stored
        self._flush()

    # edits of others

    async def _look_for_edits(self) -> None:
        """Look for edits by other users at intervals, and notify of them. Runs until cancelled.

        A hidden editor requests nothing. After failures, the intervals are longer.
        """
        wait = INTERVAL
        while True:
            await asyncio.sleep(wait)
            if not self.is_shown or not self.engine.status.online or self._is_saving:
                continue
            try:
                changed_by = await self.draft.changed_by()
                wait = INTERVAL
            except PresscheckError:
                wait = min(wait * 2, max(MAX_INTERVAL, INTERVAL))
                continue
            if changed_by != self._changed_by and not self._is_saving:
                self._changed_by = changed_by
                if changed_by:
                    key = self.app_context.keymap.label("merge_edits")
                    self.notify(f"{changed_by} edited this {self.draft.noun} just now: {key} merges it into your text")
                self.refresh_status_bars()

    def reason_merge_edits(self) -> str | None:
        """Return why no edits of others can be merged: the text is being saved, or there are none."""
        if self._is_saving:
            return "it is being saved"
        return None if self._changed_by else f"nobody else edited this {self.draft.noun} since you opened it"

    async def command_merge_edits(self) -> None:
        """Merge the edits of others into the text."""
        self._flush()
        text, name = self.area.text, self._changed_by
        self._is_saving = True  # the base of the draft changes
        try:
            merged = await self.draft.merge_saved(text)
            await self._go_on(text, merged.text)
        finally:
            self._is_saving = False
        self._changed_by = ""
        if merged.conflicts and self._conflicts:
            self._go_to_line(self._conflicts[0].first + 1)
            self._tell_conflicts()
        else:
            self.notify(f"merged with the edit of {name}")
        self.refresh_status_bars()

    def reason_discard_draft(self) -> str | None:
        """Return why no draft can be discarded: the text is being saved, or there is no draft."""
        if self._is_saving:
            return "it is being saved"
        return None if self.draft.is_kept else f"there is no draft: this is the {self.draft.noun} as it is"

    async def command_discard_draft(self) -> None:
        """Discard the draft after a confirmation, and show the current page."""
        self._flush()
        if await confirm_discard(self, self.draft):
            text = self.draft.discard()
            self._saved_text, self._error, self._shows_old_draft = text, "", False
            self.area.replace_all(text)
            self.notify(
                f"discarded: this is the {self.draft.noun} as it is; {key_for('undo_typing')} brings your text back"
            )

    def command_back(self) -> None:
        """Close the editor, keeping the text as a draft. A search or a narrow preview is closed first."""
        if self._shows_only_preview:
            self.command_preview_text()
        elif self.area.is_searching:
            self.find.end()
            self.refresh_status_bars()
        else:
            self.command_close()

    def command_close(self) -> None:
        """Close the editor, keeping the text as a draft."""
        self._flush()
        has_draft = self.draft.is_kept
        self.app_context.close_screen()
        if has_draft:
            self.app_context.notify(f"not saved: your text is kept as a draft, {key_for('edit')} opens it again")

    def command_edit_outside(self) -> None:
        """Continue in the user's external editor."""
        self._flush()

        def keep(text: str) -> None:
            self.draft.keep(text)
            self.area.replace_all(text)

        edit_text(self.app_context, self.area.text, keep, self.draft.slot)

    def command_undo_typing(self) -> None:
        """Undo the last edit."""
        self.area.undo()

    def command_redo_typing(self) -> None:
        """Redo the last undone edit."""
        self.area.redo()

    async def command_find_in_text(self) -> None:
        """Ask for a text, and select its next match."""
        self._completion.close()
        await self.find.open(self.area, self.area)

    def _select_word(self, word: DoubtfulWord) -> None:
        """Select a word, so that typing replaces it."""
        line, column = word.places[0]
        self.area.focus()
        self.area.selection = Selection((line, column), (line, column + len(word.word)))
        self.area.scroll_cursor_visible(center=True)

    # the preview

    def command_preview_text(self) -> None:
        """Show or hide the preview; in a narrow terminal, switch between text and preview."""
        if self.size.width >= NARROW:
            self._wants_preview = not self._wants_preview
            self.engine.outbox.remember("editor preview", None if self._wants_preview else "hidden")
        else:
            self._shows_only_preview = not self._shows_only_preview
        self._completion.close()
        self._arrange()

    def _schedule_preview(self, delay: float) -> None:
        if self.is_mounted and self._preview.display:
            self.run(lambda: self._show_preview(delay), group="preview", exclusive=True)

    async def _show_preview(self, delay: float) -> None:
        """Lay out the page in a thread down to the block of the cursor, then show that block."""
        await asyncio.sleep(delay)
        view, row = self._preview, self.area.cursor_location[0]
        text, columns = self.area.text, view.columns
        if columns < 1:
            return

        size = Size(columns, view.size.height)
        page, line, self._split = await asyncio.to_thread(_lay_out, text, size, row, self._split)
        view.show(lambda width: page if width == page.width else PageLines(text, width), line=None)
        view.jump_to(line)

    # completion

    def _take_pages(self, result: Result[Pages | None]) -> None:
        if result.value:
            self._pages = list(result.value.pages)

    def _take_people(self, result: Result[Page[OrganizationMember] | None]) -> None:
        if result.value:
            self._people = [member.user for member in result.value.items]

    def _take_files(self, result: Result[Page[RevisionFile] | None]) -> None:
        if result.value:
            self._files = list(result.value.items)
            self._completion.update()

    def _known_files(self) -> list[RevisionFile]:
        """Return the files of the space loaded so far. The first call starts loading them."""
        if self._files is None:
            self._files = []
            if path := self.draft.path:
                answers = self.engine.watch(ListChangeRequestFiles(**path, limit=ALL))
                self.subscribe(answers, self._take_files, group="files", shows_errors=False)
        return self._files

    def _find_opening(self, before: str) -> Opening | None:
        found = opening(before)
        return None if found and self.area.fence_at(self.area.cursor_location[0]) else found

    def _proposals_for(self, found: Opening) -> Iterable[Proposal]:
        if found.kind == "block":
            return block_proposals()
        if found.kind == "person":
            return people_proposals(self._people)
        files = file_proposals(self._known_files(), found.kind, is_image=found.is_image)
        if found.is_image or found.kind == "source":
            return files
        return [*page_proposals(self._pages, self.draft.page_id, with_words=found.kind == "link"), *files]

    def _insert_proposal(self, found: Opening, proposal: Proposal) -> None:
        if found.kind == "block":
            self.area.complete(found.start, "")
            self.area.insert_block(proposal.text)
        else:
            self.area.complete(found.start, proposal.text)

    async def command_insert_block(self) -> None:
        """Choose a block, link or mention, and insert it."""
        self._completion.close()
        choices = [Choice(block.name, block.label, f"/{block.name}") for block in BLOCKS]
        choices[:0] = [Choice(key, label) for key, label in MENU.items()]
        chosen = await choose(self, "Insert", choices, ranked=True)
        if chosen in MENU:
            await self._insert_reference(chosen)
        elif chosen:
            self.area.insert_block(next(block.text for block in BLOCKS if block.name == chosen))

    async def _insert_reference(self, kind: str) -> None:
        """Choose a page, file, image or person, and insert a link to the choice."""
        if kind == "link":
            proposals = page_proposals(self._pages, self.draft.page_id, with_words=True)
        elif kind == "person":
            proposals = people_proposals(self._people)
        else:
            path = self.draft.path
            files = (await self.engine.read(ListChangeRequestFiles(**path, limit=ALL))).items if path else ()
            proposals = file_proposals(files, "link", is_image=kind == "image")
        if not proposals:
            self.notify(MISSING[kind])
            return
        choices = [Choice(str(at), proposal.label, proposal.note) for at, proposal in enumerate(proposals)]
        chosen = await choose(self, MENU[kind], choices, ranked=True)
        if chosen:
            self.area.insert(proposals[int(chosen)].text)


def _lay_out(text: str, size: Size, row: int, before: SplitText | None) -> tuple[PageLines, int, SplitText | None]:
    """Lay out the preview of a text, or of the part around a row if the text is long.

    Args:
        text: the text.
        size: the size of the preview.
        row: the row of the cursor.
        before: the blocks of the text before the last edit, if it was long.

    Returns:
        The layout, the line of the row in it, and the blocks of a long text.
    """
    split = None
    if len(text) > LONG:
        text_without, conflicts = cut_conflicts(text)
        split = SplitText(text_without, before)
        text, row = _part_around(text, range(row - size.height, row + 2 * size.height), row, split.blocks, conflicts)
    page = PageLines(text, size.width)
    at = max(0, bisect_right([block.start_line for block in page.blocks], row) - 1)
    line = page.line_of((at, 0))
    page.at_least(line + size.height)
    return page, line, split


def _part_around(
    text: str, rows: range, row: int, blocks: Sequence[Block], conflicts: Sequence[ConflictBlock]
) -> tuple[str, int]:
    """Return the part of a text that contains `rows`, and the number of `row` in that part.

    The part starts and ends at the borders of blocks, and cuts no conflict.
    """
    starts = [block.start_line for block in blocks]
    lines = text.split("\n")
    first, after = bisect_right(starts, max(0, rows.start)) - 1, bisect_right(starts, rows.stop)
    start = starts[first] if first >= 0 else 0
    end = starts[after] if after < len(starts) else len(lines)
    for conflict in conflicts:  # the text without conflicts has a block in the line below the first marker
        if conflict.first <= start <= conflict.last:
            start = conflict.first
        if conflict.first < end <= conflict.last:
            end = conflict.last + 1
    return "\n".join(lines[start:end]), row - start
