"""The AI instructions of an organization: reading, editing as Markdown, and saving after a confirmation."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any

from textual.app import ComposeResult
from textual.containers import Vertical
from typing_extensions import override

from presscheck.api.agent_instructions import AgentInstructions, GetAgentInstructions, UpdateAgentInstructions
from presscheck.documents.nodes.from_markdown import markdown_to_nodes
from presscheck.documents.nodes.to_markdown import nodes_to_markdown
from presscheck.documents.nodes.unknown_types import with_known_types
from presscheck.documents.nodes.validation import InvalidNode
from presscheck.documents.terminal.controls import Controls
from presscheck.documents.terminal.page_lines import PageLines
from presscheck.engine.drafts import BASE, INSTRUCTIONS
from presscheck.errors import ChecksFailed
from presscheck.store.drafts import DraftSlot
from presscheck.text.phrases import long_ago, now, since
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.commands import key_for, with_keys
from presscheck.tui.external_programs import edit_text, is_built_in
from presscheck.tui.screens.text_draft import (
    Difference,
    Saved,
    confirm_discard,
    difference,
    line_of_conflict,
    line_written,
    lost_lines,
    merged_texts,
    name_of_draft,
    name_of_saved,
    problem_of_markers,
)
from presscheck.tui.screens.undo import undo_last_sent
from presscheck.tui.ui.ask import choose, confirm
from presscheck.tui.ui.loaded import Loaded, message_for
from presscheck.tui.ui.screen import BaseScreen
from presscheck.tui.widgets.empty_state import EmptyState, Message
from presscheck.tui.widgets.page_view import PageView
from presscheck.tui.widgets.picker import Choice
from presscheck.tui.widgets.status_bar import StatusLine

if TYPE_CHECKING:
    from presscheck.api.organizations import Organization
    from presscheck.documents.merge.text import MergedText
    from presscheck.engine.results import Result

WIDEST = 96
"""Maximum width in cells of readable text."""


class InstructionsDraft:
    """The draft of the AI instructions, with the text that the draft was edited from.

    Args:
        screen: the screen that opens the draft.
        organization: the organization.
    """

    noun, saved_message, page_id = "instructions", "saved the AI instructions ({unsend} undoes it)", ""
    waits_offline = False

    def __init__(self, screen: BaseScreen, organization: Organization) -> None:
        self._engine, self._outbox = screen.engine, screen.engine.outbox
        self._organization = organization
        self.path: dict[str, Any] = {}
        self._keys = (f"{INSTRUCTIONS}{organization.id}", f"{INSTRUCTIONS}{BASE} {organization.id}")
        self._base: str = ""
        self.is_kept = False
        self.line: int | None = None
        self.age = ""

    @property
    def title(self) -> str:
        """The title of the text in the editor, with the title of the organization."""
        return f"AI instructions of {self._organization.title}"

    async def open(self) -> str:
        """Read the instructions. Return the draft merged with them, or the instructions if there is no draft."""
        self._base = current = await self._read()
        text, base = (self._outbox.draft(key) for key in self._keys)
        self.is_kept = bool(text)
        if not text:
            return current
        changed_at = self._outbox.draft_changed_at(self._keys[0])
        self.age = f", saved {long_ago(now().timestamp() - changed_at)}" if changed_at else ""
        merged = (await self.merged(base or current, text, current)).text
        self.line = line_written(current, merged)
        return merged

    async def changed_by(self) -> str:
        """Return an empty string: without revisions of instructions, the service cannot report edits by others."""
        return ""

    async def merge_saved(self, text: str) -> MergedText:
        """Read the current instructions, and merge a text with them."""
        base, self._base = self._base, await self._read()
        return await self.merged(base, text, self._base)

    async def merged(self, base: str, ours: str, theirs: str) -> MergedText:
        """Merge the draft with the instructions; the conflict markers name the user and the times."""
        return await merged_texts(base, ours, theirs, name_of_draft(self._engine, self._keys[0]), name_of_saved)

    @property
    def slot(self) -> DraftSlot:
        """The stored draft, together with the instructions that it is based on."""
        about = {"title": self._organization.title}
        return DraftSlot(self._outbox, self._keys[0], about=about, beside={self._keys[1]: self._base})

    @property
    def text(self) -> str:
        """The stored draft; empty without a draft."""
        return self._outbox.draft(self._keys[0]) or ""

    def keep(self, text: str) -> None:
        """Store a text as the draft, or remove the draft if the text is unchanged."""
        self.is_kept = text != self._base
        about = {"title": self._organization.title}
        (key, base_key), texts = self._keys, (text, self._base) if self.is_kept else ("", "")
        self._outbox.save_draft(key, texts[0], about, {base_key: texts[1]})

    def discard(self) -> str:
        """Remove the draft, and return the unedited instructions."""
        self.keep(self._base)
        return self._base

    def difference(self) -> Difference:
        """Return the difference between the instructions and the draft."""
        return difference(self._base, self._outbox.draft(self._keys[0]) or "")

    def summary(self) -> list[Line]:
        """Return lines about the changes that discarding the draft would lose."""
        return lost_lines(self.difference(), "are not in the instructions")

    async def save(self, screen: BaseScreen, text: str) -> Saved:
        """Merge the text with newer edits, ask for confirmation, and send the result unless it has conflicts.

        Raises:
            PresscheckError: the instructions cannot be read or written; the text stays a draft.
        """
        if text == self._base:
            self.discard()
            return Saved("no changes", text)
        self.keep(text)
        current = await self._read()
        merged = await self.merged(self._base, text, current)
        was_edited, self._base = current != self._base, current
        self.keep(merged.text)
        if merged.conflicts:
            message = f"conflict: somebody edited the same lines; {key_for('edit')} opens both versions"
            return Saved(message, merged.text, line=line_of_conflict(merged.text), has_conflicts=True)
        if problem := problem_of_markers(merged.text, current):
            return problem
        lines: list[Line] = [(Span("They hold at once for what AI writes in this organization."),)]
        if was_edited:
            lines.append((Span("Merged with an edit of somebody else.", "waiting"),))
        if not await confirm(screen, "Save the AI instructions?", lines, "Save", details=self.difference().lines):
            return Saved(f"not saved; {key_for('edit')} opens your draft", merged.text)
        call = UpdateAgentInstructions(
            organization_id=self._organization.id, instructions=markdown_to_nodes(merged.text)
        )
        await screen.engine.write(call).landed()
        self._base = merged.text
        self.discard()
        return Saved("", merged.text, is_sent=True)

    async def _read(self) -> str:
        call = GetAgentInstructions(organization_id=self._organization.id)
        return as_markdown(await self._engine.read(call))


def as_markdown(instructions: AgentInstructions) -> str:
    """Return instructions as Markdown; empty without instructions.

    Raises:
        ChecksFailed: a block cannot be written as Markdown.
    """
    try:
        text = nodes_to_markdown(instructions.instructions) if instructions.instructions else ""
    except InvalidNode as error:
        raise ChecksFailed(f"Not opened: these instructions cannot be written as Markdown ({error})") from None
    return f"{text.strip()}\n" if text.strip() else ""


class InstructionsScreen(BaseScreen):
    """A screen that shows the AI instructions of an organization.

    Args:
        organization: the organization.
    """

    SCOPE = "admin"
    FOOTER = ("edit", "down", "half_down", "find_here", "unsend", "close")
    DEFAULT_CSS = """
    InstructionsScreen PageView { margin: 1 0 0 1; }
    InstructionsScreen #about { margin-top: 1; }
    """

    def __init__(self, organization: Organization) -> None:
        super().__init__()
        self._organization = organization
        self._loaded = Loaded[AgentInstructions]()
        self._text: str | None = None

    @override
    def title_line(self) -> Line:
        return (Span(f" {sanitize(self._organization.title)} › ", "quiet"), Span("AI instructions", "title"))

    @override
    def body(self) -> ComposeResult:
        yield StatusLine(id="about")
        with Vertical():
            yield EmptyState()
            yield PageView()

    @override
    def on_mount(self) -> None:
        super().on_mount()
        self.query_one(PageView).display = False
        self.draw()
        call = GetAgentInstructions(organization_id=self._organization.id)
        self.subscribe(self.engine.watch(call), self._take, group="instructions", shows_errors=False)

    def _take(self, result: Result[AgentInstructions | None]) -> None:
        self._loaded = self._loaded.after(result)
        self.draw()

    @override
    def draw(self) -> None:
        view, empty = self.query_one(PageView), self.query_one(EmptyState)
        instructions = self._loaded.value
        if instructions is None:
            empty.show_message(message_for(self._loaded, "AI instructions", online=self.engine.status.online))
            return
        is_edited = instructions.updated_by and instructions.updated_at
        about = f" changed {since(instructions.updated_at or '', now())}" if is_edited else ""
        self.query_one("#about", StatusLine).show((Span(about, "quiet"),))
        try:
            nodes = with_known_types(instructions.instructions)
            text = as_markdown(instructions.model_copy(update={"instructions": nodes}))
        except ChecksFailed as error:
            empty.show_message(Message("Could not show the AI instructions", error.message, "failed"))
            return
        view.display = bool(text)
        if not text:
            empty.show_empty(
                "No AI instructions yet.",
                f"{key_for('edit')} writes them: tone, terms and rules for what AI writes here.",
            )
        elif text != self._text:
            empty.hide()
            controls = Controls()
            view.show(lambda columns: PageLines(text, min(columns, WIDEST), controls=controls), line=0)
            view.focus()
        self._text = text

    def reason_edit(self) -> str | None:
        """Return why the instructions cannot be edited: writes are not possible now, or the user is not an admin."""
        if reason := self.engine.write_reason(UpdateAgentInstructions, at_once=True):
            return reason
        return None if self._organization.permissions.admin else "you need the role admin in the organization"

    reason_edit_other = reason_edit

    def command_edit(self) -> Awaitable[None]:
        """Edit the instructions; the text is a draft until saved."""
        return self._edit(uses_other_editor=False)

    def command_edit_other(self) -> Awaitable[None]:
        """Edit the instructions in the editor that is not the default: external instead of built-in, or the reverse."""
        return self._edit(uses_other_editor=True)

    async def _edit(self, *, uses_other_editor: bool) -> None:
        draft = InstructionsDraft(self, self._organization)
        text = await draft.open()
        if is_built_in(self.app_context.profile.editor) != uses_other_editor:
            # 23 ms, only for the built-in editor
            from presscheck.tui.screens.markdown_editor.screen import MarkdownEditor

            self.app_context.push_screen(MarkdownEditor(draft, text))
            return
        if draft.is_kept:
            choices = [
                Choice("continue", "Continue with the draft", "merged with the instructions", letter="c"),
                Choice("discard", "Discard the draft (asks first)", "edits the instructions as they are", letter="d"),
            ]
            title = f"You have a draft of the AI instructions{draft.age}"
            chosen = await choose(self, title, choices)
            if chosen is None or (chosen == "discard" and not await confirm_discard(self, draft)):
                return
            text = draft.discard() if chosen == "discard" else text
        saved = await draft.save(self, edit_text(self.app_context, text, draft.keep, draft.slot))
        self.notify(saved.message or with_keys(draft.saved_message))

    def command_copy_text(self) -> None:
        """Copy the text as Markdown."""
        if self._text:
            self.app_context.copy_to_clipboard(sanitize(self._text, lines=True))
        self.notify("copied" if self._text else "there are no instructions to copy")

    async def command_unsend(self) -> None:
        """Undo the last sent change of the organization, after a confirmation."""
        organization = self._organization.id
        await undo_last_sent(self, lambda place: place.organization == organization and place.site is None)
