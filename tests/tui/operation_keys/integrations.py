"""Integrations: publication, installation, rendering and events."""

from __future__ import annotations

from tests.tui.lamp_integration import lamp
from tests.tui.operation_keys.driver import HERE, Cursor, Family, Pick, Shows, Text, row
from tests.tui.operation_keys.places import administration

from presscheck.api.integrations import (
    DisableDevelopmentMode,
    GetInstallation,
    GetIntegration,
    GetIntegrationEvent,
    InstallIntegration,
    ListIntegrationEvents,
    ListIntegrationInstallations,
    ListIntegrations,
    ListIntegrationSites,
    ListIntegrationSpaces,
    PublishIntegration,
    RenderIntegration,
    RenderIntegrationWithGet,
    SetDevelopmentMode,
    UninstallIntegration,
    UnpublishIntegration,
    UpdateInstallation,
)
from presscheck.client.client import Client


async def prepare(client: Client) -> None:
    """Publish an integration."""
    await client.send(lamp())


FAMILY = Family(
    prepare=prepare,
    rows=(
        row(
            ListIntegrations, administration("Integrations"), "F", Shows("Filter integrations"), "ctrl+s", Shows("Lamp")
        ),
        row(
            PublishIntegration,
            HERE,
            "a",
            Shows("New integration"),
            Text("torch"),
            "tab",
            Text("Torch"),
            "tab",
            Text("Shines"),
            "tab tab",
            Text("export default {}"),
            "ctrl+s",
            Shows("New integration: done"),
        ),
        row(
            (
                GetIntegration,
                ListIntegrationInstallations,
                ListIntegrationSpaces,
                ListIntegrationSites,
                ListIntegrationEvents,
            ),
            HERE,
            Cursor("Torch"),
            "enter",
            Shows("not installed: a installs it"),
        ),
        row(
            SetDevelopmentMode,
            HERE,
            ". u",
            Pick("Send its events"),
            Text("http://127.0.0.1:9/"),
            "ctrl+s",
            Shows(": on"),
        ),
        row(DisableDevelopmentMode, HERE, ". u", Pick("Stop"), Shows(": off")),
        row(
            UnpublishIntegration,
            HERE,
            "1 -",
            Shows("for all organizations?"),
            Text("Torch"),
            "enter",
            Shows("Lights up pages"),
        ),
        row(InstallIntegration, HERE, Cursor("Lamp"), "enter", Shows("a installs it"), "a", Shows("Install Lamp"), "y"),
        row(
            UpdateInstallation,
            HERE,
            Pick("Settings in a form"),
            Shows("Shown on the lamp"),
            Text("Desk"),
            "tab",
            Text("abc"),
            "ctrl+s",
            Shows("Settings of Lamp: saved"),
        ),
        row(GetInstallation, HERE, "2 enter", Pick("Details"), Shows("site selection"), "q"),
        row(GetIntegrationEvent, HERE, "5", Shows("installation setup"), "enter", Shows("handling"), "q"),
        row(
            RenderIntegrationWithGet,
            HERE,
            "1",
            Shows("Content sources"),
            Cursor("A lamp"),
            "enter",
            Shows("Render A lamp in the space"),
            "enter",
            Shows("Pressed 0 times"),
        ),
        row(RenderIntegration, HERE, Cursor("[ Add ]"), "enter", Shows("Pressed 1 times"), "q"),
        row(
            UninstallIntegration, HERE, "2 -", Shows("Uninstall Lamp"), Text("Lamp"), "enter", Shows("uninstalled Lamp")
        ),
    ),
)
