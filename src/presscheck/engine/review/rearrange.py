"""Dropping changes of a change request, and copying or moving them to another change request of the same space.

The base of a change request is the revision of main that it started from or was last updated from. A drop restores the
base's content. A copy is a three-way merge of the changes into the target, with the same base; if both sides changed
the same lines, nothing is sent. A move is a copy followed by a drop, so that no change is lost if the drop fails.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from typing_extensions import override

from presscheck.api.change_requests import ChangeRequest, CreateChangeRequest, GetChangeRequest
from presscheck.api.comments import Document
from presscheck.api.content import GetChangeRequestRevision, GetCurrentRevision, GetRevision, Revision, RevisionPage
from presscheck.api.content_changes import ContentChange, DeletePage, PageDetails, RevertPage, UpdatePage
from presscheck.documents.merge.conflict_blocks import unresolved_conflicts
from presscheck.documents.merge.hunks import Hunk, apply_hunks, hunk_size, line_numbers, same_hunk, split_hunks
from presscheck.documents.merge.text import conflicting_lines, merge_text
from presscheck.engine.protocols import Reader
from presscheck.engine.reads.scheduler import REQUESTED
from presscheck.engine.review.changes import changed_items
from presscheck.engine.review.merge_forecast import changes_between
from presscheck.engine.review.page_edits import Place, Writer, content_of, detail_to_send, places_of, send_edits
from presscheck.engine.shared_calls import page_in
from presscheck.errors import ChecksFailed, PresscheckError

Kind = Literal["drop", "copy", "move"]
_DETAIL_NAMES = {"no_index": "search indexing", "no_robots_index": "robots indexing"}


@dataclass(frozen=True)
class Selection:
    """The selected changes: whole pages by id, or one hunk of one page."""

    pages: tuple[str, ...]
    hunk: Hunk | None = None


@dataclass(frozen=True)
class PageStep:
    """The effect of a plan on one page.

    Attributes:
        page: the id of the page.
        title: the title of the page.
        what: the effect, as the end of a sentence: `the page is deleted`.
        seen: the content of the page on all sides when the effect was computed; if it differs later, the user must
            confirm again.
    """

    page: str
    title: str
    what: str
    seen: tuple[object, ...]


@dataclass(frozen=True)
class PageEdits:
    """The edits of one change request.

    Attributes:
        steps: the effect on each page.
        changes: the edits, in the order in which they are sent.
        notes: one sentence for each effect that a user may expect but that the edits do not have.
    """

    steps: tuple[PageStep, ...]
    changes: tuple[ContentChange, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Rearrangement:
    """A planned drop, copy or move, to be confirmed by the user.

    Attributes:
        kind: drop, copy or move.
        source: the change request with the changes.
        selection: the selected changes.
        target: the change request that receives the changes; None for a drop and for a new change request.
        copied: the edits to the target; None for a drop.
        dropped: the edits to the source; None for a copy.
    """

    kind: Kind
    source: ChangeRequest
    selection: Selection
    target: ChangeRequest | None = None
    copied: PageEdits | None = None
    dropped: PageEdits | None = None


async def plan_rearrangement(
    reader: Reader,
    kind: Kind,
    source: ChangeRequest,
    selection: Selection,
    target: ChangeRequest | None = None,
) -> Rearrangement:
    """Plan a drop, copy or move, without sending anything.

    Args:
        reader: reads the change requests in their current state.
        kind: drop, copy or move.
        source: the change request with the changes.
        selection: the selected changes.
        target: the change request that receives the changes; None for a drop and for a new change request.

    Raises:
        ChecksFailed: the plan is impossible; the message names each page and the reason. Overlapping lines are numbered
            as in the target.
        PresscheckError: a change request is merged or archived, or cannot be read.
    """
    if target and (target.space, target.id) == (source.space, source.id):
        raise PresscheckError(f"#{source.number} already has these changes: choose another change request")
    if target and target.space != source.space:
        raise PresscheckError(f"#{target.number} is in another space: changes can only go to the same space")
    sides = await _read_sides(reader, source)
    copied = dropped = None
    if kind != "drop":
        copied = await _copied(reader, sides, selection, target)
        if kind == "copy" and not copied.changes:
            raise ChecksFailed(f"Nothing to copy: {_name(target)} already has these changes")
    if kind != "copy":
        dropped = await _dropped(reader, sides, selection)
    return Rearrangement(kind, source, selection, target, copied, dropped)


async def carry_out(engine: Writer, plan: Rearrangement, subject: str = "") -> ChangeRequest | None:
    """Send the planned edits if the pages have not changed since the user confirmed them.

    Args:
        engine: reads and writes.
        plan: the confirmed plan.
        subject: the subject of the new change request, if the plan creates one.

    Returns:
        The change request that received the changes; None for a drop.

    Raises:
        ChecksFailed: a page was edited since the confirmation; nothing more was sent.
        PresscheckError: the service refused a request; the message names the completed steps.
    """
    target = plan.target
    if plan.copied:
        target = await _send_copy(engine, plan, plan.copied, subject)
    if plan.dropped:
        try:
            sides = await _read_sides(engine, plan.source)
            dropped = await _dropped(engine, sides, plan.selection)
            _require_same(plan.dropped, dropped)
            await send_edits(engine, plan.source, dropped.changes)
        except PresscheckError as error:
            if target is None:
                raise
            done = f"Copied to #{target.number}, but not removed from #{plan.source.number}: {error.message}"
            raise ChecksFailed(done) from error
    return target


def describe(plan: Rearrangement) -> tuple[str, ...]:
    """Describe the effect of a plan on each page, one sentence per page, followed by the notes."""
    parts = [edits for edits in (plan.copied, plan.dropped) if edits]
    lines = [f"{step.title}: {step.what}" for edits in parts for step in edits.steps]
    return (*lines, *(note for edits in parts for note in edits.notes))


async def _send_copy(engine: Writer, plan: Rearrangement, confirmed: PageEdits, subject: str) -> ChangeRequest:
    """Send the edits to the target, or to a new change request if the plan has no target.

    Raises:
        ChecksFailed: a page was edited since the confirmation, or the new change request is not complete.
        PresscheckError: the service refused a request.
    """
    target = plan.target
    if target is None:
        _require_same(confirmed, await _copied(engine, await _read_sides(engine, plan.source), plan.selection, None))
        target = await engine.write(CreateChangeRequest(space_id=plan.source.space, subject=subject)).landed()
        if target is None:
            raise PresscheckError("The service does not tell which change request it created")
    try:
        copied = await _copied(engine, await _read_sides(engine, plan.source), plan.selection, target)
        _require_same(confirmed, copied)
        await send_edits(engine, target, copied.changes)
    except PresscheckError as error:
        if plan.target is None:
            raise ChecksFailed(f"#{target.number} was created, but is not complete: {error.message}") from error
        raise
    return target


def _require_same(confirmed: PageEdits, now: PageEdits) -> None:
    """Check that no page was edited since the confirmation.

    Raises:
        ChecksFailed: a page was edited; the message names the pages.
    """
    before = {step.page: step.seen for step in confirmed.steps}
    titles = [step.title for step in now.steps if before.get(step.page) != step.seen]
    if titles:
        raise ChecksFailed(f"Nothing was changed: somebody just edited {', '.join(titles)}. Try again")


@dataclass(frozen=True)
class _Sides:
    """A change request and its base on main."""

    request: ChangeRequest
    base: Revision
    source: Revision
    kinds: Mapping[str, tuple[str, ...]]
    """The kinds of change of each changed page."""


async def _read_sides(reader: Reader, request: ChangeRequest) -> _Sides:
    """Read the current state of a change request and its base.

    Raises:
        PresscheckError: the change request is merged or archived, or cannot be read.
    """
    path: dict[str, Any] = {"space_id": request.space}
    now = await _unfinished(reader, request)
    base_id = now.revision_merged_ancestor or now.revision_initial
    if not base_id:
        raise PresscheckError(f"#{now.number} cannot be rearranged: the service does not tell what it started from")
    base = await reader.read(GetRevision(**path, revision_id=base_id), priority=REQUESTED)
    source = await reader.read(GetChangeRequestRevision(**path, change_request_id=request.id), priority=REQUESTED)
    changes = await changes_between(reader, request.space, base.id, source.id)
    kinds = {item.id: item.kinds for item in changed_items(changes.changes) if item.noun == "page"}
    return _Sides(now, base, source, kinds)


async def _unfinished(reader: Reader, request: ChangeRequest) -> ChangeRequest:
    """Read the current state of a change request, which must not be finished.

    Raises:
        PresscheckError: the change request is merged or archived.
    """
    call = GetChangeRequest(space_id=request.space, change_request_id=request.id)
    now = await reader.read(call, priority=REQUESTED)
    if now.status in ("merged", "archived"):
        raise PresscheckError(f"#{now.number} is {now.status}: its pages cannot be edited")
    return now


async def _dropped(reader: Reader, sides: _Sides, selection: Selection) -> PageEdits:
    plan = _Drop(reader, sides, selection)
    await plan.work_out()
    return plan.edits()


async def _copied(reader: Reader, sides: _Sides, selection: Selection, target: ChangeRequest | None) -> PageEdits:
    if target is None:
        revision = await reader.read(GetCurrentRevision(space_id=sides.request.space), priority=REQUESTED)
    else:
        now = await _unfinished(reader, target)
        call = GetChangeRequestRevision(space_id=now.space, change_request_id=now.id)
        revision = await reader.read(call, priority=REQUESTED)
    plan = _Copy(reader, sides, selection, revision, _name(target))
    await plan.work_out()
    return plan.edits()


def _name(target: ChangeRequest | None) -> str:
    return f"#{target.number}" if target else "main"


class _Order:
    """The order of the pages below each parent, updated with each planned edit.

    The service applies edits one after another, so the index of each edit depends on all edits before it.

    Args:
        places: the pages before the edits.
        wanted: the pages in the desired order.
    """

    def __init__(self, places: Mapping[str, Place], wanted: Mapping[str, Place]) -> None:
        self._below: dict[str | None, list[str]] = {}
        self._wanted: dict[str | None, list[str]] = {}
        for page, place in places.items():
            self._below.setdefault(place.parent, []).append(page)
        for page, place in wanted.items():
            self._wanted.setdefault(place.parent, []).append(page)

    def place_of(self, page: str) -> tuple[str | None, int] | None:
        """Return the parent of a page and the page's index below it, or None if the page does not exist."""
        places = ((parent, below.index(page)) for parent, below in self._below.items() if page in below)
        return next(places, None)

    def move(self, page: str, parent: str | None) -> int:
        """Move a page below a parent and return its new index.

        The page goes after its nearest predecessor in the desired order that is already there; without a predecessor,
        before its nearest successor; without both, to the end.
        """
        if place := self.place_of(page):
            self._below[place[0]].remove(page)
        siblings, wanted = self._below.setdefault(parent, []), self._wanted.get(parent, [])
        number = wanted.index(page) if page in wanted else len(wanted)
        before = next((other for other in reversed(wanted[:number]) if other in siblings), None)
        after = next((other for other in wanted[number + 1 :] if other in siblings), None)
        at = len(siblings)
        if before is not None:
            at = siblings.index(before) + 1
        elif after is not None:
            at = siblings.index(after)
        siblings.insert(at, page)
        return at

    def restore(self, page: str, parent: str | None, index: int) -> int | None:
        """Insert a restored page at its old index, where the service puts it.

        Returns:
            The index to which the page must then be moved, or None if it is at its place.
        """
        siblings = self._below.setdefault(parent, [])
        siblings.insert(index, page)
        was = siblings.index(page)
        wanted = self.move(page, parent)
        return wanted if wanted != was else None


@dataclass
class _Plan:
    """The edits of the selected pages, and the reasons why some are impossible."""

    reader: Reader
    sides: _Sides
    selection: Selection
    first: list[ContentChange] = field(default_factory=list[ContentChange], init=False)
    """Edits that create pages, sent first. `later` has the edits of content and places, `last` the deletions."""
    later: list[ContentChange] = field(default_factory=list[ContentChange], init=False)
    last: list[ContentChange] = field(default_factory=list[ContentChange], init=False)
    effects: dict[str, list[str]] = field(default_factory=dict[str, list[str]], init=False)
    problems: list[str] = field(default_factory=list[str], init=False)
    notes: list[str] = field(default_factory=list[str], init=False)

    def __post_init__(self) -> None:
        self.base = dict(places_of(self.sides.base.pages))
        self.source = dict(places_of(self.sides.source.pages))
        number = self.sides.request.number
        if not self.selection.pages:
            raise PresscheckError(f"No page of #{number} is selected")
        for page in self.selection.pages:
            if page not in self.sides.kinds:
                title = self.title(page) if page in self.source or page in self.base else "This page"
                raise PresscheckError(f"{title} is not changed in #{number}")
        self.selected = {page: None for page in (*self.source, *self.base) if page in self.selection.pages}

    @property
    def hunk(self) -> Hunk | None:
        """The selected hunk; None if whole pages are selected, or if the page was created or deleted as a whole."""
        [page, *more] = self.selected
        is_edited = page in self.base and page in self.source
        return self.selection.hunk if is_edited and not more else None

    def title(self, page: str) -> str:
        places = self.source if page in self.source else self.base
        return places[page].page.title or "Untitled"

    def add(self, page: str, what: str) -> None:
        """Add an effect on a page."""
        self.effects.setdefault(page, []).append(what)

    def refuse(self, page: str, why: str) -> None:
        """Add a reason why the edit of a page is impossible."""
        self.problems.append(f"{self.title(page)}: {why}")

    def seen(self, page: str) -> tuple[object, ...]:
        """Return the content of a page on all sides, for comparing it before the edits are sent."""
        return tuple(_shown(places.get(page)) for places in self.all_places())

    def all_places(self) -> Iterable[Mapping[str, Place]]:
        """Return the pages of each revision that the plan is computed from."""
        return self.base, self.source

    def edits(self) -> PageEdits:
        """Return the collected edits.

        Raises:
            ChecksFailed: an edit is impossible.
        """
        if self.problems:
            raise ChecksFailed("; ".join(self.problems))
        steps = tuple(
            PageStep(page, self.title(page), ", ".join(self.effects.get(page, ["nothing to do"])), self.seen(page))
            for page in self.selected
        )
        return PageEdits(steps, (*self.first, *self.later, *self.last), tuple(self.notes))

    async def text(self, revision: Revision, page: str) -> str:
        answer = await self.reader.read(page_in(self.sides.request.space, revision.id, page), priority=REQUESTED)
        return answer.markdown or ""

    async def texts(self, page: str) -> tuple[str, str]:
        """Read the text of a page in the base and in the change request; empty where the page does not exist."""
        before = await self.text(self.sides.base, page) if page in self.base else ""
        return before, await self.text(self.sides.source, page) if page in self.source else ""

    def refuse_conflicts(self, page: str, text: str, main: str, where: str) -> bool:
        """Refuse a text with unresolved conflicts. Return True if it has any."""
        blocks = unresolved_conflicts(text, main)
        if blocks:
            lines = line_numbers(range(blocks[0].first, blocks[0].last + 1))
            self.refuse(page, f"unresolved conflict in {where}, {lines}; resolve it first")
        return bool(blocks)

    def find_hunk(self, page: str, before: str, after: str, hunk: Hunk) -> tuple[Hunk, list[Hunk]] | None:
        """Find a hunk in the current text. Return the hunk and all others; if it is gone, refuse and return None."""
        hunks = split_hunks(before, after)
        found = same_hunk(hunks, hunk)
        if found is None:
            self.refuse(page, "somebody just changed this text")
            return None
        return found, [other for other in hunks if other is not found]


class _Drop(_Plan):
    """The edits that remove changes from a change request."""

    async def work_out(self) -> None:
        """Collect the edits of all selected pages."""
        if hunk := self.hunk:
            await self._drop_hunk(next(iter(self.selected)), hunk)
            return
        order = _Order(self.source, self.base)
        deleted = [page for page in self.base if page in self.selected and page not in self.source]
        both = [page for page in self.base if page in self.selected and page in self.source]
        created = [page for page in self.source if page in self.selected and page not in self.base]
        for page in deleted:
            self._restore(page, order)
        for page in (*both, *created):
            await self._undo_edit(page)
        moved = [page for page in both if "moved" in self.sides.kinds[page]]
        for page in moved:
            self._move_back(page, order)
        self._delete(created, set(moved))

    async def _drop_hunk(self, page: str, hunk: Hunk) -> None:
        before, after = await self.texts(page)
        found = self.find_hunk(page, before, after, hunk)
        if found is None or self.refuse_conflicts(page, after, before, f"#{self.sides.request.number}"):
            return
        dropped, others = found
        text = apply_hunks(before, after, others)
        base, source = (dict(content_of(side[page].page)) for side in (self.base, self.source))
        names = {name for name in base if base[name] != source[name]} - {"document_id", "title"}
        if text == before and not names:
            self.later.append(RevertPage(page=page, revision=self.sides.base.id))
        else:
            self.later.append(UpdatePage(page=page, document=Document(markdown=text)))
        where = line_numbers(dropped.parts[0].lines_after or range(dropped.first_after, dropped.first_after + 1))
        self.add(page, f"goes back to main's text at {where} ({hunk_size(dropped)})")

    def _restore(self, page: str, order: _Order) -> None:
        place = self.base[page]
        above = place.parent
        self.add(page, "the deleted page is restored")
        if above is not None and above not in self.source:
            if above not in self.selected:
                self.refuse(page, f"it is below {self.title(above)}, which is deleted too: choose both")
            return  # it is restored with the page above it
        revision = self.sides.base.id
        self.first.append(RevertPage(page=page, revision=revision))
        at = order.restore(page, above, place.index)
        if at is not None:
            self.first.append(UpdatePage(page=page, into=above, at=at))
        below = dict(places_of(place.page.pages, page))
        left = [other for other in below if other not in self.source and other not in self.selected]
        self.first += [DeletePage(page=other) for other in left if below[other].parent not in left]

    async def _undo_edit(self, page: str) -> None:
        before, after = self.base.get(page), self.source[page]
        if before and content_of(before.page) == content_of(after.page):
            return
        if after.page.type == "document":
            main, text = await self.texts(page)
            if self.refuse_conflicts(page, text, main, f"#{self.sides.request.number}"):
                return
        if before:
            self.later.append(RevertPage(page=page, revision=self.sides.base.id))
            is_text = before.page.document_id != after.page.document_id
            self.add(page, f"goes back to main's {'text' if is_text else 'details'}")

    def _move_back(self, page: str, order: _Order) -> None:
        above = self.base[page].parent
        if above is not None and above not in self.source and above not in self.selected:
            self.refuse(page, f"it was below {self.title(above)}, which is deleted: choose both")
            return
        self.later.append(UpdatePage(page=page, into=above, at=order.move(page, above)))
        self.add(page, f"moves back {_below(self.base, above)}")

    def _delete(self, created: Sequence[str], moved: set[str]) -> None:
        gone: set[str] = set()
        for page in created:
            self.add(page, "the page is deleted")
            place = self.source[page]
            inside = [other for other, _ in places_of(place.page.pages, page)]
            kept = next((other for other in inside if other not in created and other not in moved), None)
            if kept is not None:
                self.refuse(page, f"{self.title(kept)} is below it: choose both")
            elif place.parent not in gone:
                self.last.append(DeletePage(page=page))
            gone.add(page)


class _Copy(_Plan):
    """The edits that copy changes of a change request to a target.

    Args:
        reader: reads texts.
        sides: the change request with the changes.
        selection: the selected changes.
        target: the content of the target: a change request, or main for a new one.
        name: the name of the target in messages.
    """

    def __init__(self, reader: Reader, sides: _Sides, selection: Selection, target: Revision, name: str) -> None:
        self.target_revision, self.name = target, name
        self.target = dict(places_of(target.pages))
        super().__init__(reader, sides, selection)

    @override
    def all_places(self) -> Iterable[Mapping[str, Place]]:
        return self.base, self.source, self.target

    async def work_out(self) -> None:
        """Collect the edits of all selected pages."""
        if hunk := self.hunk:
            await self._copy_hunk(next(iter(self.selected)), hunk)
            return
        order = _Order(self.target, self.source)
        created = [page for page in self.source if page in self.selected and page not in self.base]
        both = [page for page in self.source if page in self.selected and page in self.base]
        deleted = [page for page in self.base if page in self.selected and page not in self.source]
        for page in created:
            if page in self.target:
                await self._merge(page)
            else:
                await self._insert(page, order)
        for page in both:
            if page not in self.target:
                self.refuse(page, f"it is deleted in {self.name}")
                continue
            await self._merge(page)
            if "moved" in self.sides.kinds[page]:
                self._move(page, order)
        self._delete(deleted)
        await self._note_files()

    async def _copy_hunk(self, page: str, hunk: Hunk) -> None:
        if page not in self.target:
            self.refuse(page, f"it is deleted in {self.name}")
            return
        before, after = await self.texts(page)
        found = self.find_hunk(page, before, after, hunk)
        if found is None or self.refuse_conflicts(page, after, before, f"#{self.sides.request.number}"):
            return
        copied, _ = found
        text = await self._merged_text(page, before, apply_hunks(before, after, [copied]))
        if text is not None:
            self.later.append(UpdatePage(page=page, document=Document(markdown=text)))
            self.add(page, f"one change is added ({hunk_size(copied)})")

    async def _merged_text(self, page: str, base: str, theirs: str) -> str | None:
        """Merge a text into a page of the target.

        Returns:
            The merged text, or None if it equals the target's text or if the merge was refused.
        """
        ours = await self.text(self.target_revision, page)
        if self.refuse_conflicts(page, ours, base, self.name):
            return None
        places = conflicting_lines(base, ours, theirs)
        if places:
            lines = ", ".join(map(line_numbers, places))
            self.refuse(page, f"{self.name} has other changes at the same place, {lines}")
            return None
        merged = merge_text(base, ours, theirs).text
        return merged if merged != ours else None

    async def _insert(self, page: str, order: _Order) -> None:
        place = self.source[page]
        above = place.parent
        if place.page.type == "document":
            _, text = await self.texts(page)
            if self.refuse_conflicts(page, text, "", f"#{self.sides.request.number}"):
                return
        self.add(page, f"the page is added {_below(self.source, above)}")
        if above is not None and above not in self.target:
            if above not in self.selected:
                self.refuse(page, f"it is below {self.title(above)}, which is not in {self.name}: choose both")
            return  # it is added with the page above it
        self.first.append(RevertPage(page=page, revision=self.sides.source.id))
        at = order.restore(page, above, place.index)
        if at is not None:
            self.first.append(UpdatePage(page=page, into=above, at=at))
        below = dict(places_of(place.page.pages, page))
        left = [other for other in below if other not in self.target and other not in self.selected]
        self.first += [DeletePage(page=other) for other in left if below[other].parent not in left]

    async def _merge(self, page: str) -> None:
        """Copy the edit of a page that exists in the target: set each changed detail and merge the text."""
        after, ours = self.source[page].page, self.target[page].page
        before = self.base[page].page if page in self.base else None
        if content_of(after) in (content_of(ours), before and content_of(before)):
            return
        texts = await self.texts(page)
        if after.type == "document" and self.refuse_conflicts(
            page, texts[1], texts[0], f"#{self.sides.request.number}"
        ):
            return
        given = self._details(page, before or RevisionPage(id=page), after, ours)
        if after.document_id != (before.document_id if before else None):
            text = await self._merged_text(page, *texts)
            if text is not None:
                given["document"] = Document(markdown=text)
        if given:
            self.later.append(UpdatePage(page=page, **given))
            self.add(page, "its edit is added" if "document" in given else "its details are set")

    def _details(self, page: str, before: RevisionPage, after: RevisionPage, ours: RevisionPage) -> dict[str, Any]:
        """Return the details to set; refuse details that both sides changed or that no edit can set."""
        given: dict[str, Any] = {}
        for name in sorted(content_of(after).keys() - {"id", "document_id"}):
            was, new, now = (getattr(side, name) for side in (before, after, ours))
            if new in (was, now):
                continue
            shown = _DETAIL_NAMES.get(name, name.replace("_", " "))
            if name not in PageDetails.model_fields:
                self.refuse(page, f"its {shown} cannot be copied")
            elif now != was:
                self.refuse(page, f"{self.name} changed its {shown} too")
            else:
                given[name] = detail_to_send(after, name)
        return given

    def _move(self, page: str, order: _Order) -> None:
        before, after, ours = (places[page].parent for places in (self.base, self.source, self.target))
        if ours == after != before:
            return
        if ours != before:
            self.refuse(page, f"it is moved in {self.name} too")
        elif after is not None and after not in self.target and after not in self.selected:
            self.refuse(page, f"it is below {self.title(after)}, which is not in {self.name}: choose both")
        else:
            place, at = order.place_of(page), order.move(page, after)
            if place != (after, at):
                self.later.append(UpdatePage(page=page, into=after, at=at))
                self.add(page, f"moves {_below(self.source, after)}")

    def _delete(self, deleted: Sequence[str]) -> None:
        gone: set[str] = set()
        for page in deleted:
            place = self.target.get(page)
            if place is None:
                continue
            self.add(page, "the page is deleted")
            kept = next((other for other, _ in places_of(place.page.pages, page) if other not in deleted), None)
            if content_of(place.page) != content_of(self.base[page].page):
                self.refuse(page, f"it is edited in {self.name}")
            elif kept is not None:
                self.refuse(page, f"{self.target[kept].page.title} is below it in {self.name}: choose both")
            elif place.parent not in gone:
                self.last.append(DeletePage(page=page))
            gone.add(page)

    async def _note_files(self) -> None:
        """Add a note for each new file that a copied text uses, because files stay in their change request."""
        known = {file.id for file in self.target_revision.files}
        files = [file for file in self.sides.source.files if file.id not in known and file.name]
        for page in self.selected if files else ():
            if page in self.source and self.source[page].page.type == "document":
                text = await self.text(self.sides.source, page)
                self.notes += [
                    f"{self.title(page)} uses the file {file.name}, which stays in #{self.sides.request.number}"
                    for file in files
                    if file.id in text or file.name in text
                ]


def _shown(place: Place | None) -> object:
    return (place.parent, sorted(content_of(place.page).items(), key=_first)) if place else None


def _first(pair: tuple[str, object]) -> str:
    return pair[0]


def _below(places: Mapping[str, Place], parent: str | None) -> str:
    if parent is None:
        return "at the top level"
    place = places.get(parent)
    return f"below {place.page.title if place else 'its page'}"
