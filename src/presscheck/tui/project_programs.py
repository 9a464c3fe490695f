"""Asks at the start of the app whether to trust the programs of the project."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

from presscheck.config.project import Program, Project
from presscheck.config.project_search import PROJECT_NAME
from presscheck.config.trust import TrustList
from presscheck.errors import PresscheckError
from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.app_context import AppContext
from presscheck.tui.widgets.confirm_dialog import ConfirmDialog

WORD = "trust"
"""The word to type for confirmation. A single key could be meant for another screen when the dialog opens."""


async def ask_for_programs(app: AppContext, trust: Path) -> None:
    """Ask whether to trust programs of the project, unless the user was asked about them before.

    Args:
        app: the app, whose profile has the project.
        trust: the file with the trusted programs.
    """
    project = app.profile.project
    if project is None or not project.to_ask:
        return
    number = count(len(project.untrusted), "program")
    is_trusted = await app.push_screen_wait(
        ConfirmDialog(f"Trust {number} of {PROJECT_NAME}?", _lines(project), WORD, type_to_confirm=WORD)
    )
    answers = TrustList(trust)
    store = answers.trust if is_trusted else answers.decline
    programs = project.programs if is_trusted else project.untrusted
    try:
        await asyncio.to_thread(store, project.path, [program.fingerprint for program in programs])
    except PresscheckError as error:
        app.show_error(error)
        return
    if is_trusted:
        app.profile = replace(app.profile, project=project.trusting())
        app.reload_keys()  # own commands have keys
        app.notify(f"{number} trusted; `presscheck config untrust` undoes it")
    else:
        app.notify("not trusted; `presscheck config trust` asks again")


def _lines(project: Project) -> list[Line]:
    text = f"They run with all your rights in {sanitize(str(project.path.parent))}"
    lines: list[Line] = [
        (Span(f"{text}, and can change later: scripts that a command names are not compared.", "waiting"),),
        (Span("↑ and ↓ scroll.", "quiet"),),
    ]
    for program in project.untrusted:
        lines += _program_lines(program, project.path.parent)
    if project.usable:
        names = ", ".join(program.name for program in project.usable)
        lines += [(), (Span(f"Trusted already: {sanitize(names)}.", "quiet"),)]
    return lines


def _program_lines(program: Program, root: Path) -> list[Line]:
    place = "" if program.directory == root else f"in {program.directory}"
    notes = ", ".join(filter(None, (program.notes, place)))
    heading = (
        Span(sanitize(f"{program.kind} {program.name}"), "strong"),
        Span(sanitize(notes and f" ({notes})"), "quiet"),
    )
    return [(), heading, (Span(sanitize(program.line), "accent"),)]
