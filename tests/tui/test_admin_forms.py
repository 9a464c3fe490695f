"""Invalid input in every field of every administration form, derived from the declarations of the API."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, get_args

import pytest
from pydantic.fields import FieldInfo
from tests.running_service import RunningService
from tests.tui.admin import family
from tests.tui.app_driver import app_on, plain, running, until
from tests.tui.operation_keys.driver import Request, logged_requests

from presscheck.api.integrations import PublishIntegration, SetDevelopmentMode, UpdateInstallation
from presscheck.api.openapi import PutOpenAPISpec
from presscheck.api.operation import Argument
from presscheck.api.shell_command import members_of
from presscheck.engine.forms.form import FilterForm, FormField
from presscheck.errors import InvalidArgument
from presscheck.tui.places import Place
from presscheck.tui.screens import form_dialog
from presscheck.tui.screens.admin.families import FAMILIES
from presscheck.tui.screens.admin.operation_form import form_of
from presscheck.tui.screens.form_dialog import FieldHelp, FormDialog

GOOD = {
    "title": "Writers",
    "label": "Keys",
    "description": "Lights up pages",
    "integration_name": "torch",
    "script": "export default {}",
    "slug": "parcels",
    "source__url": "https://example.org/",
    "source__space": "guides",
    "source__language": "en",
    "target__space": "guides",
    "tunnel_url": "https://example.org/",
    "language": "de",
    "instructions": "Say du.",
    "setting_1": "abc",
}
"""Valid texts of required fields."""
WRONG = {"json": "{", "certificate": "hello there"}
"""A malformed text for each kind of field that has a syntax."""


class Bad(NamedTuple):
    """An invalid text for a field, and a part of the expected reason."""

    text: str
    reason: str


def infos(form: Any, field: FormField) -> list[FieldInfo]:
    """Return the declarations of a form field, which may be a part of an argument, such as `source__url`."""
    operation = getattr(form, "operation", None) or getattr(form, "listing", None) or PublishIntegration
    name, _, part = field.name.partition("__")
    if name not in operation.model_fields:
        return []
    info = operation.model_fields[name]
    if not part:
        return [info]
    models = [one for one in members_of(info.annotation) if isinstance(one, type) and issubclass(one, Argument)]
    return [model.model_fields[part] for model in models if part in model.model_fields]


def rule(info: FieldInfo, name: str) -> Any:
    return next((limit for one in info.metadata if (limit := getattr(one, name, None)) is not None), None)


def bad_texts(form: Any, field: FormField) -> Iterator[Bad]:
    """Yield invalid texts for a field: empty, malformed, an unknown name, too long, too short."""
    if field.kind == "choice":
        return
    if field.is_required:
        yield Bad("", "is required")
    if field.kind in WRONG:
        yield Bad(WRONG[field.kind], "")
    if field.is_number or "a number" in field.help:
        yield Bad("many", "is not a number")
    if field.check:
        yield Bad("no address of anything", "is not a")
    if field.reference and field.reference.lists_all:
        yield Bad("nowhere", "nowhere not found")
    if field.kind == "list" and field.choices:
        yield Bad("nowhere", "nowhere is not one of them")
    for info in infos(form, field):
        yield from beyond_limits(field, info)


def beyond_limits(field: FormField, info: FieldInfo) -> Iterator[Bad]:
    """Yield texts with one item or character too many, one too few, and characters outside the pattern."""
    most, least = rule(info, "max_length"), rule(info, "min_length")
    inner = get_args(members_of(info.annotation)[0])
    if most and field.kind == "json":
        one: Any = "x" if inner[0] is str else {"url": "https://example.org/", "label": "x"}
        yield Bad(json.dumps([one] * (most + 1)), f"at most {most:,}")
    elif most and field.kind == "list":
        yield Bad(", ".join(["https://example.org/"] * (most + 1)), f"at most {most:,}")
    elif most and field.kind == "text":
        start = "https://example.org/" if field.check else ""
        yield Bad(start + "x" * (most + 1 - len(start)), f"at most {most:,}")
    if least and least > 1 and field.kind == "text":
        yield Bad("x" * (least - 1), f"at least {least:,}")
    if rule(info, "pattern"):
        yield Bad("A b!", info.description or "")


class Walk:
    """Types invalid texts into forms, sends the forms, and collects missing and wrong error messages.

    Attributes:
        typed: number of forms that were sent.
        problems: the texts that were not kept in their field with the expected reason.
    """

    def __init__(self, pilot: Any, requests: list[Request]) -> None:
        self._pilot, self._requests = pilot, requests
        self.typed = 0
        self.problems: list[str] = []

    def _writes(self) -> list[str]:
        return [request.line for request in self._requests if not request.line.startswith("GET")]

    async def form(self, *keys: str) -> None:
        """Open a form by keys, send it with every invalid text, and close it."""
        pilot = self._pilot
        below = pilot.app.screen
        await pilot.press(*keys)
        await until(pilot, holds=lambda: isinstance(pilot.app.screen, FormDialog) and pilot.app.focused is not None)
        dialog: FormDialog = pilot.app.screen
        start, writes = dialog.texts, self._writes()
        good = {name: text or GOOD.get(name, "") for name, text in start.items()}
        firsts: dict[str, Bad] = {}
        for field in dialog.fields:
            for bad in bad_texts(dialog.form, field):
                given = {**good, field.name: bad.text}
                if field.name == "source__files":
                    given["source__url"] = ""  # one of them is given
                elif "not found" not in bad.reason:  # only the service reports “not found”
                    firsts.setdefault(field.name, bad)
                await self._send(dialog, field.name, given, bad)
        if len(firsts) > 1:  # the first of several errors is shown
            name, bad = next(iter(firsts.items()))
            await self._send(dialog, name, {**good, **{name: bad.text for name, bad in firsts.items()}}, bad)
        assert self._writes() == writes, dialog.heading
        fill(dialog, start)
        await pilot.press("escape")
        await until(pilot, holds=lambda: pilot.app.screen is below)

    async def _send(self, dialog: FormDialog, name: str, given: dict[str, str], bad: Bad) -> None:
        """Send a form with an invalid text. The form must stay open, focus the field, and show the reason."""
        self.typed += 1
        fill(dialog, given)
        await self._pilot.press("ctrl+s")
        await until(self._pilot, holds=lambda: not dialog._is_sending)
        told = "".join(plain(line) for line in dialog.query_one(f"#help-{name}", FieldHelp)._lines)
        is_there = self._pilot.app.screen is dialog and dialog.focused and dialog.focused.id == f"field-{name}"
        if not is_there or bad.reason.replace(" ", "") not in told.replace(" ", "") or dialog.texts != given:
            self.problems.append(f"{dialog.heading}: {name} = {bad.text[:60]!r}: {dialog._error}, not {bad.reason!r}")


def fill(dialog: FormDialog, texts: dict[str, str]) -> None:
    for name, text in texts.items():
        if dialog.texts[name] != text:
            dialog._input(name).value = text


def forms() -> Iterator[tuple[Any, dict[str, str]]]:
    """Yield the forms of all families, each with valid texts for its fields."""
    operations = {made for one in FAMILIES for made in (None if one.adds else one.add, one.edit) if made}
    operations |= {PublishIntegration, SetDevelopmentMode, UpdateInstallation, PutOpenAPISpec}
    for operation in sorted(operations, key=lambda operation: operation.__name__):
        form = form_of(operation, dict.fromkeys(operation.path_fields(), "x"))
        yield form, {field.name: GOOD.get(field.name, "") for field in form.fields}
    for one in FAMILIES:
        form = FilterForm(one.listing, dict.fromkeys(one.listing.path_fields(), "x"))
        yield form, dict.fromkeys((field.name for field in form.fields), "")


def test_bad_input_in_every_field_is_refused_with_its_reason() -> None:
    problems, tried = list[str](), 0
    for form, good in forms():
        for field in form.fields:
            for bad in bad_texts(form, field):
                texts = {**good, field.name: bad.text}
                if field.name == "source__files":
                    texts["source__url"] = ""  # one of them is given
                tried += 1
                try:
                    form.result(texts, good)
                    if "not found" in bad.reason:
                        form_dialog._id_of(bad.text, [], field)  # looked up before the form is sent
                    told = "nothing"
                except InvalidArgument as error:
                    told = f"{error.field}: {error.reason}"
                if not told.startswith(f"{field.name}: ") or bad.reason not in told:
                    problems.append(f"{form}: {field.name} = {bad.text[:60]!r}: {told}, not {bad.reason!r}")
    assert not problems, "\n".join(problems)
    assert tried > 70


@pytest.mark.slow
async def test_bad_input_stays_in_the_form_with_the_cursor_at_its_field(
    service: RunningService, tmp_path: Path
) -> None:
    with logged_requests() as requests:
        async with running(app_on(service, tmp_path / "home")) as pilot:
            walk = Walk(pilot, requests)
            screen = await family(pilot, "Teams")
            await walk.form("a")
            screen.go_to(Place.family("OpenAPI"))
            await until(pilot, holds=lambda: screen.table.family.title == "OpenAPI")
            await walk.form("a")
            assert not walk.problems, "\n".join(walk.problems)
            assert walk.typed > 7
