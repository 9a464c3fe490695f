"""Suggestions: comments with a new text for the block they are about. Commands apply one suggestion or all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from typing_extensions import override

from presscheck.api.comments import UpdateComment
from presscheck.documents.diff.suggestion_lines import suggestion_lines
from presscheck.documents.diff.suggestion_targets import cell_text, find_target
from presscheck.engine.review.suggestions import (
    ALREADY_APPLIED,
    AppliedSuggestions,
    apply_suggestions,
    is_applied,
    newest_suggestion,
    problem,
)
from presscheck.engine.shared_calls import page_in
from presscheck.errors import PresscheckError
from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.commands import key_for
from presscheck.tui.comments.rows import first_words, who_resolves
from presscheck.tui.screens.batch_actions import BatchItem, BatchScreen
from presscheck.tui.screens.page.editor import stays_locked
from presscheck.tui.ui.ask import confirm
from presscheck.tui.widgets.confirm_dialog import ConfirmDialog

if TYPE_CHECKING:
    from presscheck.api.content import RevisionPage
    from presscheck.engine.review.threads import Thread
    from presscheck.tui.screens.review.session import ReviewSession

MOST = 16
"""Maximum number of lines of a suggestion in the dialog."""


class PageItem(BatchItem):
    """A page in a batch that applies suggestions. It fails if the page has changed since the confirmation.

    Args:
        session: the review.
        page: the page when the user confirmed.
        threads: the threads with the suggestions.
    """

    def __init__(self, session: ReviewSession, page: RevisionPage, threads: Sequence[Thread]) -> None:
        super().__init__()
        self._session, self.page, self._threads = session, page, threads
        self.result = apply_suggestions(page.markdown or "", threads)

    @override
    @property
    def key(self) -> str:
        return self.page.id

    @override
    @property
    def label(self) -> Line:
        number = count(len(self.result.applied), "suggestion")
        return (Span(sanitize(self.page.title)), Span(f": {number}", "quiet"))

    @override
    async def run(self, redraw: Callable[[], None]) -> None:
        try:
            page = await self._session.read_page(self.page.id)
            if page.markdown != self.page.markdown:
                self.page, self.result = page, apply_suggestions(page.markdown or "", self._threads)
                self.state, self.message = (
                    "failed",
                    f"somebody just changed this page: {key_for('retry')} applies them to its new text",
                )
                return
            if not self.result.applied:
                self.state, self.message = "failed", self.result.skipped[0][1]
                return
            await _apply(self._session, page.id, self.result)
        except PresscheckError as error:
            self.state, self.message = "failed", sanitize(error.message)
            return
        applied = self.result.applied
        resolved = sum(thread.may_resolve for thread in applied)
        done = f"{count(resolved, 'thread')} resolved" if resolved else f"{count(len(applied), 'suggestion')} applied"
        left_out = [f"not {first_words(thread.first)}: {reason}" for thread, reason in self.result.skipped]
        self.state, self.message = "done", "; ".join([f"{done}{_left_open(applied)}", *left_out])


class SuggestionActions:
    """The commands that apply suggestions.

    Args:
        session: the review.
    """

    def __init__(self, session: ReviewSession) -> None:
        self._session, self._model, self._screen = session, session.model, session.screen
        self._view = session.view

    def reason_use_suggestion(self) -> str | None:
        """Return why no suggestion can be applied: there is none, it is resolved, or the page cannot be edited."""
        thread = self._view.thread
        if thread is None or newest_suggestion(thread) is None:
            return f"no suggestion here: {key_for('suggest')} in a comment adds one"
        if thread.resolved:
            return f"it is resolved: {key_for('resolve')} reopens it"
        return self._session.edit_page_reason()

    async def command_use_suggestion(self) -> None:
        """Apply the suggestion under the cursor after a confirmation, and resolve its thread if the user may."""
        thread = self._view.thread
        suggestion = newest_suggestion(thread) if thread else None
        if thread is None or suggestion is None or thread.page is None:
            return
        if await stays_locked(self._screen, self._model.space_id):
            return
        page = await self._session.read_page(thread.page)
        target = find_target(thread.about, page.markdown or "")
        reason = problem(target, suggestion.words)
        if target is None or reason:
            self._screen.notify(f"not applied: {reason}")
            return
        if is_applied(target, suggestion.words):
            self._screen.notify(f"nothing to apply: {ALREADY_APPLIED}")
            return
        words = cell_text(suggestion.words) if target.cell else suggestion.words
        lines = _shown(suggestion_lines(target.text, words, ConfirmDialog.WIDEST - 4))
        if target.cell:
            lines.append((Span("Only this cell of the table changes.", "quiet"),))
        if await self._has_changed(thread, target.text):
            lines.append((Span("The text has changed since the suggestion was made.", "waiting"),))
        if not thread.may_resolve:
            lines.append((Span(f"The thread stays open: only {who_resolves([thread])} can resolve it.", "waiting"),))
        title = f"Apply the suggestion to {sanitize(page.title)}?"
        if not await confirm(self._screen, title, lines, "Apply"):
            return
        page = await self._session.read_page(thread.page)  # another user may have edited it while the dialog was open
        current = find_target(thread.about, page.markdown or "")
        if current is None or current.text != target.text:
            self._screen.notify("not applied: somebody just changed the text that it is about")
            return
        await _apply(self._session, page.id, apply_suggestions(page.markdown or "", [thread]))
        self._screen.notify(f"suggestion applied{_left_open([thread])}")

    def open_suggestions(self) -> list[Thread]:
        """Return the open threads with a suggestion, in reading order."""
        threads = [thread for _, thread in self._session.threads.all_threads()]
        return [thread for thread in threads if is_applicable(thread)]

    def reason_act_on_marked(self) -> str | None:
        """Return why the open suggestions cannot be applied: there are none, or no page can be edited."""
        return self.apply_reason(self.open_suggestions())

    def apply_reason(self, threads: Sequence[Thread]) -> str | None:
        """Return why the suggestions of these threads cannot be applied: none is open, or no page can be edited."""
        if not any(map(is_applicable, threads)):
            return "no open suggestions"
        return self._session.edit_any_reason()

    async def command_act_on_marked(self) -> None:
        """Apply all open suggestions of the change request."""
        await self.apply_all(self.open_suggestions())

    async def apply_all(self, threads: Sequence[Thread]) -> None:
        """Apply the suggestions of threads after a confirmation, with a single edit per page."""
        if await stays_locked(self._screen, self._model.space_id):
            return
        by_page: dict[str, list[Thread]] = {}
        for thread in threads:
            if thread.page and is_applicable(thread):
                by_page.setdefault(thread.page, []).append(thread)
        items: list[PageItem] = []
        for page_id, of_page in by_page.items():
            items.append(PageItem(self._session, await self._session.read_page(page_id), of_page))
        number = sum(len(item.result.applied) for item in items)
        skipped = sum(len(item.result.skipped) for item in items)
        pages = [item for item in items if item.result.applied]
        if not number:
            reason = items[0].result.skipped[0][1] if items else ""
            which = f"the {skipped} suggestions cannot be applied" if skipped > 1 else "nothing to apply"
            self._screen.notify(f"{which}: {reason}" if items else "no open suggestions")
            return
        which = f"{number} of {number + skipped} suggestions" if skipped else count(number, "suggestion")
        lines = [line for item in items for line in _plan(item)]
        lines.append((Span(f"Each page is edited once. {key_for('diff_view')} shows the new text.", "quiet"),))
        diff = [line for item in pages for line in _diff(item)]
        title = f"Apply {which} to {count(len(pages), 'page')}?"
        if await confirm(self._screen, title, lines, "Apply", details=diff):
            self._screen.app_context.push_screen(BatchScreen("Apply suggestions", pages, noun="page"))

    async def _has_changed(self, thread: Thread, text: str) -> bool:
        """Return whether the text that a thread is about has changed since the thread was started; False if unknown.

        `text` is the current text.
        """
        if not thread.revision or not thread.page:
            return False
        call = page_in(self._model.space_id, thread.revision, thread.page)
        try:
            page = await self._screen.engine.read(call)
        except PresscheckError:  # such as a service without the content of revisions
            return False
        before = find_target(thread.about, page.markdown or "")
        return before is not None and before.text != text


def is_applicable(thread: Thread) -> bool:
    """Return whether a thread is open and has a suggestion."""
    return not thread.resolved and newest_suggestion(thread) is not None


async def _apply(session: ReviewSession, page_id: str, result: AppliedSuggestions) -> None:
    """Write the new text of a page as a single edit, and resolve the threads that the user may resolve."""
    await session.write_page(page_id, result.markdown)
    session.drafts.send_together(
        UpdateComment(**session.model.path, comment_id=thread.id, resolved=True)
        for thread in result.applied
        if thread.may_resolve
    )


def _left_open(threads: Sequence[Thread]) -> str:
    """Return the end of a message about threads that the user may not resolve; empty if there are none."""
    left = [thread for thread in threads if not thread.may_resolve]
    if not left:
        return ""
    which = "the thread" if len(threads) == 1 else count(len(left), "thread")
    stay, them = ("stays", "it") if len(left) == 1 else ("stay", "them")
    return f"; {which} {stay} open: only {who_resolves(left)} can resolve {them}"


def _plan(item: PageItem) -> list[Line]:
    """Render the effect on a page: the number of suggestions to apply, and each skipped suggestion with the reason."""
    lines: list[Line] = [(Span("✓ ", "added"), *item.label)] if item.result.applied else []
    for thread, reason in item.result.skipped:
        where = f"{sanitize(item.page.title)}, {thread.first.author} {first_words(thread.first)}: "
        lines.append((Span("✗ ", "removed"), Span(where), Span(reason, "waiting")))
    return lines


def _diff(item: PageItem) -> list[Line]:
    """Render the suggestions that are applied to a page, as diffs."""
    lines: list[Line] = [(Span(sanitize(item.page.title), "title"),)]
    for thread in item.result.applied:
        suggestion, target = newest_suggestion(thread), find_target(thread.about, item.page.markdown or "")
        if suggestion and target:
            words = cell_text(suggestion.words) if target.cell else suggestion.words
            lines += [(), (Span(thread.first.author, "strong"),)]
            lines += _shown(suggestion_lines(target.text, words, ConfirmDialog.WIDEST - 4))
    return [*lines, ()]


def _shown(lines: list[Line]) -> list[Line]:
    """Return the first `MOST` lines, and the number of omitted lines. If only one would be omitted, show all lines."""
    more = len(lines) - MOST
    return [*lines[:MOST], (Span(f"  {count(more, 'more line')}", "quiet"),)] if more > 1 else lines
