"""Records of imports, with their progress and result, and of translations, with their runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

from presscheck.api.imports import CancelImport, GetImport
from presscheck.api.spaces import GetSpace, ListSpaces
from presscheck.api.translations import GetTranslation, RunTranslation
from presscheck.documents.nodes.to_markdown import nodes_to_markdown
from presscheck.documents.nodes.unknown_types import with_known_types
from presscheck.documents.terminal.page_lines import comment_lines
from presscheck.text.phrases import count, now, parse_time, since
from presscheck.text.sanitize import display_url, sanitize
from presscheck.text.styled_text import Line, Span, cut
from presscheck.tui.commands import key_for
from presscheck.tui.places import Place
from presscheck.tui.screens.admin.details import fact_lines
from presscheck.tui.screens.admin.facts import Fact
from presscheck.tui.screens.admin.records.screen import RecordScreen
from presscheck.tui.screens.web_address import open_address
from presscheck.tui.ui.ask import confirm

if TYPE_CHECKING:
    from presscheck.api.imports import ImportRun
    from presscheck.api.operation import Operation
    from presscheck.api.organizations import Organization
    from presscheck.api.spaces import Space
    from presscheck.api.translations import Translation
    from presscheck.tui.ui.screen import BaseScreen

BUSY = ("pending", "in-progress", "running", "progress")
STYLES = {
    "completed": ("✓", "added"),
    "complete": ("✓", "added"),
    "failed": ("✗", "removed"),
    "cancelled": ("–", "quiet"),
    **dict.fromkeys(BUSY, ("◷", "waiting")),
}
"""Signs and styles of states."""
MANY = 10_000


def status_line(status: str) -> Line:
    """Format a status with its sign."""
    sign, style = STYLES.get(status, ("·", "quiet"))
    return (Span(f"{sign} {sanitize(status).replace('-', ' ')}", style),)


def space_title(screen: BaseScreen | None, organization: str, space_id: str) -> str:
    """Return the title of a space as display text; the id if the space is not in the cache."""
    spaces = screen.engine.window(ListSpaces(organization_id=organization), 0, MANY).items if screen else ()
    return sanitize(next((space.title for space in spaces if space.id == space_id), space_id))


class ImportRecord:
    """An import: source, target, progress and imported pages.

    Args:
        organization: the organization of the import.
        run: the import as listed, or as returned when it started.
    """

    path = "Administration › Imports"
    footer_titles = MappingProxyType({"delete": "cancel"})

    def __init__(self, organization: Organization, run: ImportRun) -> None:
        self._organization, self.run = organization, run
        self._screen: BaseScreen | None = None

    def attach(self, screen: BaseScreen) -> None:
        """Set the screen that shows the record."""
        self._screen = screen

    @property
    def footer(self) -> tuple[str, ...]:
        """The commands of the footer: cancel while the import runs, afterwards commands on its result."""
        return ("delete", "half_down", "close") if self.is_busy else ("open", "web", "half_down", "copy_text", "close")

    @property
    def title(self) -> str:
        """The source of the import."""
        return source_name(self.run)

    @property
    def is_busy(self) -> bool:
        """True until the import has ended."""
        return self.run.status in BUSY

    @property
    def state(self) -> Line:
        """The status, the number of imported pages, and the reason of a failure."""
        pages = self.run.pages or ()
        number = f"   {count(len(pages), 'page')}{' so far' if self.is_busy else ''}" if pages else ""
        reason = f"   {sanitize(self.run.reason)}" if self.run.reason else ""
        return (*status_line(self.run.status), Span(number, "quiet"), Span(reason, "removed"))

    def calls(self) -> Mapping[str, Operation[Any]]:
        """Return the call for the import with its pages."""
        return {"run": GetImport(organization_id=self._organization.id, import_run_id=self.run.id)}

    def take(self, part: str, value: Any) -> None:
        """Store the updated import."""
        self.run = value

    def lines(self, columns: int) -> Sequence[Line]:
        """Return the facts, then the pages."""
        run, target = self.run, self.run.target or {}
        into = space_title(self._screen, self._organization.id, str(target.get("space", "")))
        facts = [
            Fact("from", source_name(run)),
            Fact("into", f"{into}{', in a change request' if target.get('changeRequest') else ''}"),
            Fact("started", since(run.started_at, now()) if run.started_at else "not yet"),
        ]
        facts += [Fact("ended", since(run.completed_at, now()))] if run.completed_at else []
        states = Counter(page.status or "" for page in run.pages or ())
        facts += [Fact("pages", ", ".join(f"{number:,} {sanitize(name)}" for name, number in states.items()))]
        lines = fact_lines([fact for fact in facts if fact.value.strip()], columns)
        for page in run.pages or ():
            sign, style = STYLES.get(page.status or "", ("·", "quiet"))
            name = display_url(page.source_url) if page.source_url else sanitize(page.id)
            lines.append(cut((Span(f"  {sign} ", style), Span(name)), columns))
        return lines

    def reason_open(self) -> str | None:
        """Return why the imported pages cannot be opened: the import has not ended, or its space is unknown."""
        return "it is not ended yet" if self.is_busy else None if self._space else "its space is not known"

    def command_open(self) -> Awaitable[object] | None:
        """Open the imported pages."""
        target = self.run.target or {}
        if self._screen is None:
            return None
        page = next((page.id for page in self.run.pages or () if page.status in (None, "complete", "completed")), None)
        request = target.get("changeRequest")
        return self._screen.app_context.go(Place.page(self._space, page, str(request) if request else None))

    @property
    def _space(self) -> str:
        return str((self.run.target or {}).get("space", ""))

    def reason_web(self) -> str | None:
        """Return why the imported website cannot be opened: the import was made from files."""
        return None if _address(self.run) else "it was made from files"

    def command_web(self) -> None:
        """Open the imported website."""
        if self._screen:
            open_address(self._screen.app_context, _address(self.run))

    def reason_delete(self) -> str | None:
        """Return why the import cannot be canceled: writes are disabled, or the import has ended."""
        return writing_reason(self._screen) or (None if self.is_busy else f"it is {self.run.status} already")

    async def command_delete(self) -> None:
        """Cancel the import, after a confirmation."""
        if self._screen is None:
            return
        lines: list[Line] = [(Span("No further page is imported. Pages that were imported already stay."),)]
        title = f"Cancel the import from {self.title}?"
        if await confirm(self._screen, title, lines, "Cancel it"):
            path = {"organization_id": self._organization.id, "import_run_id": self.run.id}
            answer = await self._screen.engine.write(CancelImport(**path)).landed()
            self.run = answer or self.run
            self._screen.notify("canceled")
            cast("RecordScreen", self._screen).redraw()


class TranslationRecord:
    """A translation: spaces, instructions and runs.

    Args:
        organization: the organization of the translation.
        translation: the translation as listed.
    """

    path = "Administration › Translations"
    footer = ("retry", "open", "half_down", "copy_text", "close")
    footer_titles = MappingProxyType({"retry": "run"})

    def __init__(self, organization: Organization, translation: Translation) -> None:
        self._organization, self.translation = organization, translation
        self._source: Space | None = None
        self._screen: BaseScreen | None = None

    def attach(self, screen: BaseScreen) -> None:
        """Set the screen that shows the record."""
        self._screen = screen

    @property
    def title(self) -> str:
        """The title of the source space, and the language."""
        return f"{self._title_of(self.translation.source.space)} in {sanitize(self.translation.language)}"

    def _title_of(self, space: str) -> str:
        return space_title(self._screen, self._organization.id, space)

    @property
    def is_busy(self) -> bool:
        """True while a run is in progress."""
        return self.translation.status in BUSY

    @property
    def state(self) -> Line:
        """The status, and the result of the last run."""
        stats = self.translation.stats
        last = f"   last run: {count(stats.latest_pages, 'page')}, {count(stats.latest_words, 'word')}"
        return (*status_line(self.translation.status), Span(last if stats.runs else "", "quiet"))

    def calls(self) -> Mapping[str, Operation[Any]]:
        """Return the calls for the translation and its source space."""
        path = {"organization_id": self._organization.id}
        return {
            "translation": GetTranslation(**path, translation_id=self.translation.id),
            "source": GetSpace(space_id=self.translation.source.space),
        }

    def take(self, part: str, value: Any) -> None:
        """Store the updated translation or source space."""
        if part == "source":
            self._source = value
        else:
            self.translation = value

    @property
    def _changed_since(self) -> str:
        """How long ago the source changed, if that was after the last run; empty if it was not, or if unknown."""
        changed = parse_time(self._source.updated_at or "") if self._source else None
        ran = parse_time(self.translation.updated_at or "")
        is_later = changed and ran and changed > ran and self.translation.result and not self.is_busy
        return since(self._source.updated_at or "", now()) if is_later and self._source else ""

    def lines(self, columns: int) -> Sequence[Line]:
        """Return the facts, then the instructions."""
        translation = self.translation
        stats, result = translation.stats, translation.result
        source, title = translation.source, self._title_of(result.space) if result else ""
        into = title if result and title != result.space else "a new space"  # a title that is only an id is not shown
        facts = [
            Fact("translates", f"{self._title_of(source.space)} ({sanitize(source.language or '?')})"),
            Fact("into", f"{into} ({sanitize(translation.language)})"),
            Fact("runs", f"{stats.runs:,}"),
            Fact("translated", f"{count(stats.total_pages, 'page')}, {count(stats.total_words, 'word')}"),
            Fact("last run", f"{stats.latest_run_duration:.1f} s" if stats.runs else ""),
            Fact("updated", since(translation.updated_at, now()) if translation.updated_at else ""),
        ]
        if changed := self._changed_since:
            facts.append(
                Fact(
                    "out of date",
                    f"the source changed {changed}: {key_for('retry')} translates what changed",
                    "waiting",
                )
            )
        lines = fact_lines([fact for fact in facts if fact.value], columns)
        instructions = translation.instructions
        text = nodes_to_markdown(with_known_types(instructions)).strip() if instructions else ""
        if text:
            lines += [(), (Span("  Instructions", "title"),), ()]
            lines += [(Span("  "), *line) for line in comment_lines(text, max(20, columns - 3))]
        return lines

    def reason_open(self) -> str | None:
        """Return why the translated space cannot be opened: it does not exist before the first run."""
        return None if self.translation.result else "there is no translated space yet"

    def command_open(self) -> Awaitable[object] | None:
        """Browse the translated space."""
        result = self.translation.result
        return self._screen.app_context.go(Place.page(result.space)) if self._screen and result else None

    def reason_retry(self) -> str | None:
        """Return why no run can be started: writes are disabled, or a run is in progress."""
        return writing_reason(self._screen) or ("it is running" if self.is_busy else None)

    async def command_retry(self) -> None:
        """Start a run, which translates all changes since the last run."""
        if self._screen is None:
            return
        path = {"organization_id": self._organization.id, "translation_id": self.translation.id}
        await self._screen.engine.write(RunTranslation(**path)).landed()
        self._screen.notify("the translation runs")
        self._screen.engine.refresh(GetTranslation(**path))


def writing_reason(screen: BaseScreen | None) -> str | None:
    """Return why writes are disabled; None if they are allowed."""
    return screen.engine.write_reason() if screen else "it is not shown yet"


def source_name(run: ImportRun) -> str:
    """Return the source of an import, as display text."""
    source = run.source or {}
    if address := _address(run):
        return display_url(address)
    files = cast("list[Any]", source.get("files") or [])
    more = f" and {len(files) - 1} more" if len(files) > 1 else ""
    return f"{display_url(str(files[0]))}{more}" if files else "files"


def _address(run: ImportRun) -> str:
    return str((run.source or {}).get("url") or "")


def import_screen(organization: Organization, run: ImportRun) -> RecordScreen:
    """Return the screen of an import."""
    return RecordScreen(ImportRecord(organization, run))


def translation_screen(organization: Organization, translation: Translation) -> RecordScreen:
    """Return the screen of a translation."""
    return RecordScreen(TranslationRecord(organization, translation))
