"""Bad input in every field of every form of administration, as the declarations of the API describe the fields."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, get_args

import pytest
from pydantic.fields import FieldInfo
from tests.running_service import RunningService, running_service
from tests.service_users import say
from tests.tui.app_driver import app_on, plain, running, until
from tests.tui.lamp_integration import lamp
from tests.tui.operation_keys.driver import logged_requests
from tests.tui.test_admin import family

from presscheck.api.integrations import InstallIntegration, PublishIntegration
from presscheck.api.openapi import CreateOpenAPISpec, SpecSource
from presscheck.api.operation import Argument
from presscheck.api.saml import CreateSAMLProvider
from presscheck.api.shell_command import members_of
from presscheck.api.teams import CreateTeam
from presscheck.api.translations import CreateTranslation, SourceToTranslate
from presscheck.engine.forms.form import FormField
from presscheck.tui.screens.admin.families import FAMILIES
from presscheck.tui.screens.form_dialog import FormDialog

ORG = {"organization_id": "tallowick"}
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
"""A text of the wrong form, by kind of field."""


class Bad(NamedTuple):
    """A text that a field does not take, and a part of the reason."""

    text: str
    reason: str


def infos(form: Any, field: FormField) -> list[FieldInfo]:
    """The declarations of a field, or of a part of one."""
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
    """What a field does not take: nothing, too much, too little, a wrong form, an unknown name."""
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
    if field.reference:
        yield Bad("nowhere", "nowhere not found")
    if field.kind == "list" and field.choices:
        yield Bad("nowhere", "nowhere is not one of them")
    for info in infos(form, field):
        most, least = rule(info, "max_length"), rule(info, "min_length")
        inner = get_args(members_of(info.annotation)[0])
        if most and field.kind == "json":
            one: Any = "x" if inner[0] is str else {"url": "https://example.org/", "label": "x"}
            yield Bad(json.dumps([one] * (most + 1)), f"at most {most}")
        elif most and field.kind == "list":
            yield Bad(", ".join(["https://example.org/"] * (most + 1)), f"at most {most}")
        elif most and field.kind == "text":
            start = "https://example.org/" if field.check else ""
            yield Bad(start + "x" * (most + 1 - len(start)), f"at most {most}")
        if least and least > 1 and field.kind == "text":
            yield Bad("x" * (least - 1), f"at least {least}")
        if rule(info, "pattern"):
            yield Bad("A b!", info.description or "")


class Walk:
    """Types bad texts into forms, and counts them."""

    def __init__(self, pilot: Any, requests: list[Any]) -> None:
        self.pilot, self.requests, self.typed = pilot, requests, 0
        self.problems: list[str] = []

    def writes(self) -> int:
        return sum(not request.line.startswith("GET") for request in self.requests)

    async def form(self, *keys: str) -> None:
        """Open a form by keys, type every bad text, send it, and close the form."""
        pilot = self.pilot
        below = pilot.app.screen
        await pilot.press(*keys)
        await until(pilot, holds=lambda: isinstance(pilot.app.screen, FormDialog) and pilot.app.focused is not None)
        dialog: FormDialog = pilot.app.screen
        start = dialog.texts
        for field in dialog.fields:
            if not start[field.name] and field.name in GOOD:
                dialog._input(field.name).value = GOOD[field.name]
        await pilot.pause()
        good, before = dialog.texts, self.writes()
        for field in dialog.fields:
            for bad in bad_texts(dialog.form, field):
                if await self.bad(dialog, field, bad) is False: return
                for name, text in good.items():
                    if dialog.texts[name] != text:
                        dialog._input(name).value = text
        assert self.writes() == before, dialog.heading
        for name, text in start.items():
            dialog._input(name).value = text
        await pilot.pause()
        await pilot.press("escape")
        await until(pilot, holds=lambda: pilot.app.screen is below)

    async def bad(self, dialog: FormDialog, field: FormField, bad: Bad) -> None:
        where = f"{dialog.heading}: {field.name} = {bad.text[:60]!r}"
        self.typed += 1
        if field.name == "source__files":
            dialog._input("source__url").value = ""  # one of them is given
        dialog._input(field.name).value = bad.text
        await self.pilot.press("ctrl+s")
        for _ in range(100):
            if not dialog._is_sending:
                break
            await self.pilot.pause(0.01)
        name, reason = dialog._error
        if self.pilot.app.screen is not dialog:
            print(f"SENT {where}", type(self.pilot.app.screen), flush=True)
            return False
        told = "".join(plain(line) for line in dialog._help(field, reason))  if False else reason
        if name != field.name or bad.reason not in told or dialog.texts[field.name] != bad.text:
            print(f"BAD {where}: {dialog._error}",flush=True)
        else: print(f"OK {where}: {dialog._error}",flush=True)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    with running_service(tmp_path_factory.mktemp("service"), sample=True) as one:
        yield one


async def test_bad_input_in_every_field_stays_in_the_form(service: RunningService, tmp_path: Path) -> None:
    await say(
        service,
        service.token,
        lamp(),
        InstallIntegration(integration_name="lamp", organization="tallowick"),
        CreateTeam(**ORG, title="Writers", members=("mia",)),
        CreateSAMLProvider(**ORG, label="Keys"),
        CreateOpenAPISpec(**ORG, slug="parcels", source=SpecSource(text="openapi: 3.1.0")),
        CreateTranslation(**ORG, source=SourceToTranslate(space="runbook", language="en"), language="de"),
    )
    with logged_requests() as requests:
        async with running(app_on(service, tmp_path / "home")) as pilot:
            walk = Walk(pilot, requests)
            await family(pilot, FAMILIES[0].title)
            table = pilot.app.screen.table
            for one in FAMILIES:
                pilot.app.screen.show_family(one.title)
                await until(pilot, holds=lambda one=one: table.family is one and table._is_loaded)
                if one.add and not one.adds:
                    await walk.form("a")
                if one.edit and table.rows.count:
                    await walk.form("E")
                if table.reason_edit_view() is None:
                    await walk.form("F")
            print("\n".join(walk.problems), walk.typed)
            assert 0
