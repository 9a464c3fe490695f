"""Merge commands of a review: merge, update from main, list the merge requirements; and the merge forecast.

The forecast tells whether a change request conflicts with main or has unresolved conflicts. It is updated after either
side changes. Before a merge, every changed page is searched for conflict markers. At other times pages are searched
only after an update from main, which may have written markers.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from typing_extensions import override

from presscheck.api.change_requests import ChangeRequest, GetChangeRequest, MergeChangeRequest, PullChangeRequest
from presscheck.api.content_changes import EditChangeRequestContent
from presscheck.api.spaces import GetSpace
from presscheck.engine.review.merge_forecast import forecast
from presscheck.engine.review.merge_readiness import checks
from presscheck.errors import PresscheckError
from presscheck.text.phrases import ago, now
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, pad
from presscheck.tui.comments.rows import one_line
from presscheck.tui.screens.page.editor import stays_locked
from presscheck.tui.screens.problem_list import ProblemListScreen, ProblemRow
from presscheck.tui.screens.review.page_owners import REVIEW_WORDS, missing_text
from presscheck.tui.screens.review.renderer import (
    VERDICT_SIGNS,
    check_line,
    fix_line,
    summary_lines,
    undo_line,
)
from presscheck.tui.widgets.confirm_dialog import ConfirmDialog

if TYPE_CHECKING:
    from presscheck.engine.review.changes import ChangedItem
    from presscheck.engine.review.merge_readiness import MergeCheck, Reviewer
    from presscheck.engine.review.model import ReviewModel
    from presscheck.engine.review.owners import OwnerReview, PageOwner
    from presscheck.engine.review.threads import Thread
    from presscheck.tui.screens.review.page_owners import PageOwners
    from presscheck.tui.screens.review.session import ReviewSession

TargetKind = Literal["thread", "page", "reviewer", "command"]
INDENT = 16
"""Columns of the indentation of rows below a requirement."""
COMMANDS = {"main": "pull", "subject": "rename", "description": "rename"}
"""The commands that can meet a requirement, by its subject."""
_STALE = {"approved": " an older revision", "changes-requested": " in an older revision", "asked": ""}
_REVIEW_WORDS = {"approved": "approved", "changes-requested": "requested changes", "asked": "review requested"}
Revisions = tuple[str, str]
"""The revision of the change request, and the revision of main."""


@dataclass(frozen=True)
class Target:
    """The target of enter: the id of a thread, page or reviewer, or the name of a command."""

    kind: TargetKind
    id: str


class RequirementsScreen(ProblemListScreen[Target]):
    """The merge requirements. Enter goes to the thread, page or reviewer, or runs a command that meets the requirement.

    Args:
        session: the review.
    """

    def __init__(self, session: ReviewSession) -> None:
        super().__init__("Merge requirements", requirement_rows(session), self._show_target)
        self._session = session

    @override
    def redraw(self) -> None:
        self.show(requirement_rows(self._session))

    def _show_target(self, target: Target) -> None:
        if target.kind == "thread":
            self._session.show_thread(target.id)
        elif target.kind == "page":
            self._session.go_to_conflict(target.id)
        elif target.kind == "reviewer":
            self._session.go_to_reviewer(target.id)
        else:
            self._session.run_command(target.id)


def requirement_rows(session: ReviewSession) -> list[ProblemRow[Target]]:
    """Return a row for each requirement, followed by its missing parts. The owners are at the end, for information."""
    model, threads = session.model, session.threads.all_threads()
    inputs = model.merge_inputs()
    rows: list[ProblemRow[Target]] = []
    for check in checks(inputs) if inputs else ():
        is_met = check.certainty == "yes"
        missing = [] if is_met else list(_missing(check, model, threads))
        is_open = not is_met or (check.subject == "main" and model.request is not None and model.request.outdated)
        command = COMMANDS.get(check.subject) if is_open else None
        target = missing[0].target if missing else Target("command", command) if command else None
        rows.append(ProblemRow(check_line(check), target))
        if check.fixed_by and check.certainty != "yes":
            rows.append(ProblemRow(fix_line(check), is_note=True))
        rows += missing
    return rows + list(_owner_rows(session.owners))


def _missing(
    check: MergeCheck, model: ReviewModel, threads: Sequence[tuple[ChangedItem | None, Thread]]
) -> Iterator[ProblemRow[Target]]:
    """Yield a row for each thing that prevents a requirement from being met."""
    if check.subject == "comments":
        yield from (_thread_row(item, thread) for item, thread in threads if thread.is_open)
    elif check.subject == "conflicts":
        yield from _page_rows(model.unresolved)
    elif check.subject == "main" and model.forecast and model.forecast.conflicts:
        yield from _page_rows({conflict.page_id: conflict.title for conflict in model.forecast.conflicts})
    elif check.subject == "reviews":
        yield from (_reviewer_row(person) for person in model.reviewers() or () if person.id in check.people)


def _owner_rows(owners: PageOwners) -> Iterator[ProblemRow[Target]]:
    """Yield the owners of changed pages who have not reviewed; enter opens the choice of reviewers."""
    missing = [*owners.missing()]
    if not owners.owners:
        return
    message = missing_text([owner for owner, _ in missing])
    target = Target("command", "reviewers") if missing else None
    sign = Span(" · ", "quiet") if missing else Span(" ✓ ", "added")
    yield ProblemRow((sign, *pad((Span("owners", "quiet"),), 13), Span(message)), target)
    for owner, review in missing:
        title, words = sanitize(owner.title), f"  {owner.share} · {_owner_words(owner, review)}"
        yield ProblemRow(_indented((Span("· ", "quiet"), Span(title, "strong"), Span(words, "quiet"))), target)


def _owner_words(owner: PageOwner, review: OwnerReview) -> str:
    return REVIEW_WORDS[review] if owner.users else "not found among members and teams"


def _thread_row(item: ChangedItem | None, thread: Thread) -> ProblemRow[Target]:
    where = item.title if item else "Conversation"
    line = (
        Span("● ", "waiting"),
        Span(thread.first.author, "strong"),
        Span(f" {ago(thread.first.posted_at, now())}  ", "quiet"),
        Span(f"{where}  ", "link"),
        Span(one_line(thread.first)),
    )
    return ProblemRow(_indented(line), Target("thread", thread.id))


def _page_rows(titles: Mapping[str, str]) -> Iterator[ProblemRow[Target]]:
    for page_id, title in titles.items():
        line = (Span("✗ ", "removed"), Span(sanitize(title), "strong"), Span("  conflict", "removed"))
        yield ProblemRow(_indented(line), Target("page", page_id))


def _reviewer_row(reviewer: Reviewer) -> ProblemRow[Target]:
    sign, style = VERDICT_SIGNS[reviewer.status]
    words = f"{_REVIEW_WORDS[reviewer.status]}{_STALE[reviewer.status] if reviewer.stale else ''}"
    line = (Span(f"{sign} ", style), Span(reviewer.name, "strong"), Span(f"  {words}", "quiet"))
    return ProblemRow(_indented(line), Target("reviewer", reviewer.id))


def _indented(line: Line) -> Line:
    return (Span(" " * INDENT), *line)


class MergeActions:
    """Handles the commands that merge, update from main or list the requirements.

    Args:
        session: the review.
    """

    def __init__(self, session: ReviewSession) -> None:
        self._session, self._model, self._screen = session, session.model, session.screen
        self._drafts, self.forecast = session.drafts, MergeForecast(session)

    def reason_merge(self) -> str | None:
        """Return why the change request cannot be merged."""
        if not self._screen.engine.status.online:
            return "you are offline and a merge cannot be queued"
        readiness = self._model.readiness()
        return readiness.reasons[0] if readiness.certainty == "no" else self._drafts.disabled_reason()

    async def command_merge(self) -> None:
        """Merge after a confirmation, unless the change request or main has changed since the user saw the forecast."""
        if await stays_locked(self._screen, self._model.space_id):
            return

        def lines() -> list[Line]:
            can_revert = self._screen.engine.missing_reason(EditChangeRequestContent) is None
            return [*summary_lines(self._model), *self.forecast.lines(), undo_line(can_revert=can_revert)]

        is_confirmed, revisions = await self._confirm("Merge into the live content?", "Merge", lines, has_gate=True)
        if not is_confirmed:
            return
        if await self.forecast.changed_since(revisions):
            self._screen.notify("not merged: the change request has changed; m shows the merge again")
        else:
            self._drafts.send(MergeChangeRequest(**self._model.path))

    def reason_pull(self) -> str | None:
        """Return why the change request cannot be updated from main."""
        request = self._model.request
        if closed := self._model.closed_reason():
            return closed
        if request and not request.outdated:
            return "it is up to date with main"
        if not self._screen.engine.status.online:
            return "you are offline and an update cannot be queued"
        return self._drafts.disabled_reason()

    async def command_pull(self) -> None:
        """Update from main, after a confirmation."""

        def lines() -> list[Line]:
            return [
                (Span("Brings the changes in main into this change request."),),
                (Span("Where both sides changed the same text, the page gets both versions.", "quiet"),),
                *self.forecast.lines(),
            ]

        is_confirmed, _ = await self._confirm("Update from main?", "Update", lines, has_gate=False)
        if is_confirmed:
            self._drafts.send(PullChangeRequest(**self._model.path))

    def command_why(self) -> None:
        """Open the list of merge requirements."""
        self._session.open_part(RequirementsScreen(self._session))
        self._screen.run(self._load_owners, group="owners", exclusive=True)

    async def _load_owners(self) -> None:
        if self._model.space:
            await self._session.owners.load(self._model.space)
            if self._session.part:
                self._session.part.redraw()

    async def _confirm(
        self, title: str, confirm_label: str, lines: Callable[[], list[Line]], *, has_gate: bool
    ) -> tuple[bool, Revisions | None]:
        """Ask for a confirmation, which is possible once the forecast is loaded.

        With `has_gate`, every changed page is searched for unresolved conflicts, and the user has to type the number of
        a change request that has any.

        Returns:
            Whether the user confirmed, and the revisions of the forecast that the user saw.
        """
        forecast, request = self.forecast, self._model.request
        number = str(request.number) if request and has_gate else None
        dialog = ConfirmDialog(title, lines(), confirm_label, is_ready=False)
        revisions: Revisions | None = None

        def update() -> None:
            nonlocal revisions
            if not dialog.is_ready and forecast.is_ready(reads_all=has_gate):
                revisions = forecast.revisions
                dialog.make_ready(lines(), type_to_confirm=number if forecast.has_conflicts else None)

        update()
        with forecast.listening(update):
            if not dialog.is_ready:
                forecast.require(reads_all=has_gate)
            is_confirmed = await self._screen.ask(dialog)
        return bool(is_confirmed), revisions


class MergeForecast:
    """Keeps the forecast in the model current.

    Args:
        session: the review.
    """

    def __init__(self, session: ReviewSession) -> None:
        self._model, self._screen = session.model, session.screen
        self.checked: Revisions | None = None
        """The revisions of the last check; None before the first check and after a failed check."""
        self._is_checked = self._reads_all = False
        self._error = ""
        self._listeners: list[Callable[[], None]] = []

    @property
    def revisions(self) -> Revisions | None:
        """The current revisions; None until both are loaded."""
        request, space = self._model.request, self._model.space
        return (request.revision, space.revision) if request and space else None

    def is_ready(self, *, reads_all: bool) -> bool:
        """Return whether the required check is finished.

        With `reads_all`, that is the check of all pages. Otherwise it is the check against main, which is not needed if
        the change request is up to date.
        """
        request = self._model.request
        if reads_all:
            return self._is_checked and self._reads_all
        return request is not None and (not request.outdated or self._is_checked)

    @property
    def has_conflicts(self) -> bool:
        """Whether a merge would have conflicts, or publish unresolved conflicts, in the pages checked so far."""
        return bool(self._model.unresolved or (self._model.forecast and self._model.forecast.conflicts))

    @contextmanager
    def listening(self, listener: Callable[[], None]) -> Generator[None]:
        """Call a function after each check inside this context."""
        self._listeners.append(listener)
        try:
            yield
        finally:
            self._listeners.remove(listener)

    async def changed_since(self, revisions: Revisions | None) -> bool:
        """Return whether the revisions on the service differ; if they do, refresh everything on the screen."""
        request = await self._screen.engine.read(GetChangeRequest(**self._model.path))
        space = await self._screen.engine.read(GetSpace(space_id=self._model.space_id))
        if revisions in (None, (request.revision, space.revision)):
            return False
        self._screen.engine.refresh()
        return True

    def update(self, *, reads_all: bool = False) -> None:
        """Check for conflicts, unless the current revisions were checked before."""
        request, revisions = self._model.request, self.revisions
        if request is None or revisions is None or self._model.closed_reason():
            return
        if revisions != self.checked:
            self._model.forecast, self._reads_all = None, False
        elif self._reads_all or not reads_all:
            return
        self.checked, self._is_checked, self._reads_all = revisions, False, reads_all
        self._screen.run(lambda: self._check(request), group="forecast", exclusive=True)

    def require(self, *, reads_all: bool) -> None:
        """Check for conflicts for a waiting dialog. Loads the revision of main first if it is missing."""
        if self.revisions is None:
            self._screen.run(lambda: self._read_space(reads_all), group="space", exclusive=True)
        else:
            self.update(reads_all=reads_all)

    def lines(self) -> list[Line]:
        """Render the forecast for a dialog."""
        request, result = self._model.request, self._model.forecast
        if request is None:
            return []
        if not self._is_checked:
            return [(Span("Checking for conflicts …", "waiting"),)]
        if result is None:
            why = f": {self._error}" if self._error else "."
            return [(Span(f"Could not check for conflicts{why}", "waiting"),)]
        lines: list[Line] = []
        if self._model.unresolved:
            pages = ((Span(f"{sanitize(title)}", "strong"),) for title in self._model.unresolved.values())
            lines += [(Span("Unresolved conflicts, which readers would see:", "removed"),), *pages]
        if result.conflicts:
            lines.append((Span("Conflicts with main:", "removed"),))
        elif request.outdated:
            lines.append((Span("No conflicts with main.", "added"),))
        for conflict in result.conflicts:
            lines.append((Span(f"{sanitize(conflict.title)}  ", "strong"), Span(sanitize(conflict.reason), "quiet")))
        return lines

    async def _read_space(self, reads_all: bool) -> None:
        try:
            self._model.space = await self._screen.engine.read(GetSpace(space_id=self._model.space_id))
        except PresscheckError as error:
            self._finish(error)
        else:
            self.update(reads_all=reads_all)

    async def _check(self, request: ChangeRequest) -> None:
        try:
            self._model.forecast = await forecast(self._screen.engine, request, reads_all=self._reads_all)
        except PresscheckError as error:
            self.checked = None  # checked again after the next result
            self._finish(error)
        else:
            self._finish(None)
            self._screen.redraw()

    def _finish(self, error: PresscheckError | None) -> None:
        self._is_checked, self._error = True, error.message if error else ""
        for listener in tuple(self._listeners):
            listener()
