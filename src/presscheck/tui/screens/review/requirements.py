"""The merge requirements of a change request: the command that lists them, and the list."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from typing_extensions import override

from presscheck.engine.review.merge_readiness import checks
from presscheck.text.phrases import ago, now
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, pad
from presscheck.tui.comments.rows import one_line
from presscheck.tui.screens.problem_list import ProblemListScreen, ProblemRow
from presscheck.tui.screens.review.event_lines import VERDICT_SIGNS
from presscheck.tui.screens.review.page_owners import REVIEW_WORDS, missing_text
from presscheck.tui.screens.review.renderer import check_line, fix_line

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
    """Return a row for each requirement, followed by the threads, pages or reviewers that prevent it from being met.

    Prose findings and owners are at the end; neither prevents a merge.
    """
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
    if note := session.prose.note(model.items):
        has_findings = any(map(session.prose.on, model.items))
        target = Target("command", "next_thread" if has_findings else "check_prose")
        sign = Span(" ⚠ ", "waiting") if has_findings else Span(" · ", "quiet")
        rows.append(ProblemRow((sign, *pad((Span("prose", "quiet"),), 13), Span(note)), target))
    return rows + list(_owner_rows(session.owners))


def _missing(
    check: MergeCheck, model: ReviewModel, threads: Sequence[tuple[ChangedItem | None, Thread]]
) -> Iterator[ProblemRow[Target]]:
    """Yield a row for each thread, page or reviewer that prevents a requirement from being met."""
    if check.subject == "comments":
        yield from (_thread_row(item, thread) for item, thread in threads if thread.is_open)
    elif check.subject == "conflicts":
        yield from _page_rows(model.unresolved)
    elif check.subject == "main" and model.forecast and model.forecast.conflicts:
        yield from _page_rows({conflict.page_id: conflict.title for conflict in model.forecast.conflicts})
    elif check.subject == "reviews":
        yield from (_reviewer_row(person) for person in model.reviewers() or () if person.id in check.people)


def _owner_rows(owners: PageOwners) -> Iterator[ProblemRow[Target]]:
    """Yield a row about the owners of changed pages, and a row for each owner who has not reviewed.

    Enter opens the choice of reviewers. Yield nothing if the changed pages have no owners.
    """
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
        *one_line(thread.first),
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


class Requirements:
    """The command that lists the merge requirements.

    Args:
        session: the review.
    """

    def __init__(self, session: ReviewSession) -> None:
        self._session, self._model, self._screen = session, session.model, session.screen

    def command_why(self) -> None:
        """Open the list of merge requirements."""
        self._session.open_part(RequirementsScreen(self._session))
        self._screen.run(self._load_owners, group="owners", exclusive=True)

    async def _load_owners(self) -> None:
        if self._model.space:
            await self._session.owners.load(self._model.space)
            if self._session.part:
                self._session.part.redraw()
