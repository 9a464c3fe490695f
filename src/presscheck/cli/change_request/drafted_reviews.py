"""Draft options of `presscheck cr review`: reviews by programs, export, import and summary."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import click

from presscheck.api.change_requests import ChangeRequest
from presscheck.api.comments import PostComment
from presscheck.api.content import ListChangeRequestPages
from presscheck.cli import lookup
from presscheck.cli.output import print_json, print_message, print_text
from presscheck.cli.progress_line import ProgressLine
from presscheck.cli.project import report_untrusted
from presscheck.cli.session import Session
from presscheck.config.project import ReviewProgram, review_programs_of
from presscheck.config.prose_checks import command_words
from presscheck.config.settings_schema import REVIEW_TIMEOUT
from presscheck.documents.pages.tree import flatten
from presscheck.engine.review.agent_drafts import agent_name
from presscheck.engine.review.changes import changed_items, is_viewed
from presscheck.engine.review.owners import read_changes
from presscheck.engine.review.pending_review import PendingReview
from presscheck.errors import InvalidArgument, ReadOnly
from presscheck.paths import places
from presscheck.text.phrases import count
from presscheck.text.sanitize import readable, sanitize

LISTED = 20
"""Maximum number of rejected comments that are printed without --json."""
LARGEST_FILE = 16 * 1024 * 1024
"""Maximum number of bytes of an imported review."""


@dataclass(frozen=True)
class DraftOptions:
    """The options of `presscheck cr review` about drafts.

    Attributes:
        program: the review program, as a command or a name in the settings.
        name: the author name of the program's drafts; with `export`, exports only drafts with this name.
        seconds: the time limit of the program; None for the default.
        summary: whether to print the summary.
        export: the format of the export.
        output: the file of the export; None for standard output.
        import_file: the file of the import.
    """

    program: str | None
    name: str | None
    seconds: int | None
    summary: bool
    export: str | None
    output: IO[str] | None
    import_file: IO[bytes] | None

    @property
    def is_action(self) -> bool:
        """Whether one of the options --with, --export and --import is given."""
        return bool(self.program or self.export or self.import_file)

    def check(self, *, has_others: bool) -> None:
        """Check the combination of options. `has_others`: an option for another kind of review is given.

        Raises:
            InvalidArgument: the options cannot be combined.
        """
        actions = [self.program, self.export, self.import_file]
        if sum(action is not None for action in actions) > 1 or (self.is_action and has_others):
            raise InvalidArgument("--with", "give only one of --with, --export and --import, without other reviews")
        if self.program is not None and not self.program.strip():
            raise InvalidArgument("--with", "is empty: give a command, or a name of [review_programs]")
        if self.name is not None and not (self.program or self.export):
            raise InvalidArgument("--name", "is for --with or --export")
        if self.seconds is not None and not self.program:
            raise InvalidArgument("--timeout", "is for --with")
        if self.output is not None and not self.export:
            raise InvalidArgument("--output", "is for --export")


def draft_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of `DraftOptions`."""
    for option in reversed(
        (
            click.option(
                "--with",
                "program",
                metavar="COMMAND",
                help="Run a program on the change, and hold its comments: a command, or a name of your settings file.",
            ),
            click.option(
                "--name",
                metavar="NAME",
                help="With --with, the author of the drafts. With --export, only this author's drafts.",
            ),
            click.option(
                "--timeout",
                "seconds",
                metavar="SECONDS",
                type=click.IntRange(1, 86_400),
                help=f"Time limit of --with; {REVIEW_TIMEOUT} by default.",
            ),
            click.option("--summary", is_flag=True, help="Print the numbers of viewed pages and held comments."),
            click.option("--export", type=click.Choice(["md", "json"]), help="Print your pending review."),
            click.option(
                "-o",
                "--output",
                metavar="FILE",
                type=click.File("w", encoding="utf-8", errors="replace", lazy=True),
                help="Write --export to this file.",
            ),
            click.option(
                "--import",
                "import_file",
                metavar="FILE",
                type=click.File("rb"),
                help="Hold the comments of an exported review (JSON); - is standard input.",
            ),
        )
    ):
        function = option(function)
    return function


async def run_draft_options(session: Session, request: ChangeRequest, options: DraftOptions) -> None:
    """Run a program, or export or import drafts.

    Raises:
        ReadOnly: the profile is read-only, and drafts would be written.
        PresscheckError: the program or the import failed.
    """
    if options.export:
        await _export(session, request, options)
        return
    if session.profile.read_only:
        raise ReadOnly
    if options.program:
        await _review(session, request, options, options.program)
    elif options.import_file:
        await _import(session, request, options.import_file)


async def print_summary(session: Session, request: ChangeRequest) -> None:
    """Print the numbers of viewed pages and of held comments."""
    viewed, changed = await _viewed(session, request)
    held = count(len(PendingReview(session.engine, request.id).entries()), "comment")
    print_message(f"Pages viewed: {viewed} of {changed}. Your pending review holds {held}.")


async def _viewed(session: Session, request: ChangeRequest) -> tuple[int, int]:
    pages = [item for item in changed_items((await read_changes(session, request)).changes) if item.noun == "page"]
    viewed = session.engine.viewed(request.id)
    return sum(is_viewed(page, viewed, request.revision) for page in pages), len(pages)


async def _review(session: Session, request: ChangeRequest, options: DraftOptions, program: str) -> None:
    from presscheck.engine.review.program_review import review_with_program  # 13 ms, only for programs

    named = review_programs_of(places().config_file, session.profile.project)
    command, directory = named.get(program) or ReviewProgram(command_words(program))
    if program not in named:
        report_untrusted(session.profile.project)
    if not command:
        raise InvalidArgument("--with", "must be a command, such as 'my-reviewer --json'")
    name = agent_name(options.name or (program if program in named else Path(command[0]).name))
    progress = ProgressLine()
    try:
        seconds = options.seconds or REVIEW_TIMEOUT
        drafted = await review_with_program(
            session.engine, request, command, name, directory=directory, seconds=seconds, progress=progress.update
        )
    finally:
        progress.clear()
    _print_drafted(session, request, drafted.numbers, drafted.known, drafted.rejected, f" of {name}")


async def _import(session: Session, request: ChangeRequest, file: IO[bytes]) -> None:
    from presscheck.engine.review.program_review import import_review  # 13 ms, only for imports

    content = file.read(LARGEST_FILE + 1)
    if len(content) > LARGEST_FILE:
        raise InvalidArgument("--import", f"the file is larger than {LARGEST_FILE >> 20} MB")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidArgument("--import", "the file is not UTF-8 text") from None
    drafted = await import_review(session.engine, request, text, session.engine.me.display_name)
    _print_drafted(session, request, drafted.numbers, drafted.known, drafted.rejected, "")


def _print_drafted(
    session: Session, request: ChangeRequest, numbers: Sequence[int], known: int, rejected: Sequence[Any], of: str
) -> None:
    """Print the outbox numbers of new drafts, and the rejected comments with reasons."""
    again = f" {count(known, 'comment')} held already." if known else ""
    failed = f" {count(len(rejected), 'comment')} rejected." if rejected else ""
    print_message(
        f"Held: {count(len(numbers), 'comment')}{of} in your pending review of #{request.number}.{again}{failed}"
    )
    for comment in rejected[:LISTED]:
        print_message(f"Rejected: {comment.place}: {comment.reason}")
    if len(rejected) > LISTED:
        print_message(f"{len(rejected) - LISTED} more rejected: --json lists all.")
    if session.json:
        print_json(
            {
                "drafts": list(numbers),
                "known": known,
                "rejected": [{"comment": comment.place, "reason": comment.reason} for comment in rejected],
            }
        )
    else:
        for number in numbers:
            click.echo(number)


async def _export(session: Session, request: ChangeRequest, options: DraftOptions) -> None:
    from presscheck.engine.review.program_review import exportable, exported_review  # 13 ms, only for exports

    entries = PendingReview(session.engine, request.id).entries()
    drafts = exportable(entries, options.name)
    others = len([entry for entry in entries if options.name in (None, entry.agent)]) - len(drafts)
    if others:
        print_message(f"{count(others, 'comment')} left out, because the format has no place for it.")
    titles, paths = dict[str, str](), dict[str, str]()
    if any(isinstance(entry.call, PostComment) and entry.call.page for entry in drafts):
        changes = (await read_changes(session, request)).changes
        tree = (await session.read(ListChangeRequestPages(**lookup.path_of(request)))).pages
        for page in (*changed_items(changes), *flatten(tree)):
            titles[page.id], paths[page.id] = page.title, page.path or ""
    document = exported_review(request, drafts, paths, session.engine.me.display_name)
    if options.export == "json" and options.output is None:
        print_json(document)
        return
    text = (
        json.dumps(document, indent=2, ensure_ascii=False)
        if options.export == "json"
        else _as_markdown(request, document["comments"], titles)
    )
    if options.output is None:
        print_text(text)
    else:
        options.output.write(f"{text.rstrip()}\n")
        print_message(f"Exported {count(len(drafts), 'comment')} of #{request.number}.")


def _as_markdown(request: ChangeRequest, comments: Sequence[dict[str, Any]], titles: dict[str, str]) -> str:
    """Return comments as Markdown, by page."""
    lines = [f"# Review of #{request.number} {_line(request.subject)}"]
    by_place: dict[str, list[dict[str, Any]]] = {}
    for comment in comments:
        place = "Replies" if comment.get("reply_to") else "Change request"
        if comment.get("page"):
            path = comment.get("path") or ""
            place = f"{titles.get(comment['page'], comment['page'])}{path and f' ({path})'}"
        by_place.setdefault(place, []).append(comment)
    for place, own in by_place.items():
        lines.append(f"## {_line(place)}")
        for comment in own:
            by = "agent " if comment["is_agent"] else ""
            to = f", reply to {comment['reply_to']}" if comment.get("reply_to") else ""
            lines.append(f"### {by}{_line(comment['author'])}{to}")
            if comment.get("quote"):
                lines.append(f"> {_line(comment['quote'])}")
            lines.append(readable(comment["text"]).strip())
    return "\n\n".join(lines)


def _line(text: str) -> str:
    return " ".join(sanitize(text).split())
