"""Integrations: what is published, installed and happened."""

from tests.tui.operation_keys.driver import Family

from presscheck.api.integrations import (
    DisableDevelopmentMode,
    GetIntegration,
    GetIntegrationEvent,
    InstallIntegration,
    ListIntegrationEvents,
    ListIntegrationInstallations,
    ListIntegrationSites,
    ListIntegrationSpaces,
    PublishIntegration,
    RenderIntegration,
    RenderIntegrationWithGet,
    SetDevelopmentMode,
    UnpublishIntegration,
)

FAMILY = Family(
    without_keys={
        GetIntegration: "the list of integrations has no details that are read",
        PublishIntegration: "no key adds an integration; only `presscheck integration publish` does",
        UnpublishIntegration: "no key removes an integration from the list",
        InstallIntegration: "no key installs an integration of the list",
        ListIntegrationInstallations: "enter on an integration does not list where it is installed",
        ListIntegrationSites: "enter on an integration does not list the sites that it is installed on",
        ListIntegrationSpaces: "enter on an integration does not list the spaces that it is installed in",
        ListIntegrationEvents: "enter on an integration does not list its events",
        GetIntegrationEvent: "there is no list of events with one to open",
        SetDevelopmentMode: "no key sends the requests of an integration to a developer's machine",
        DisableDevelopmentMode: "no key turns the development mode of an integration off",
        RenderIntegration: "the app does not show the user interface of an integration",
        RenderIntegrationWithGet: "the app does not show the user interface of an integration",
    }
)
