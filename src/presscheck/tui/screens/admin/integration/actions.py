"""Changes of an integration and its installations: forms, confirmations and writes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, cast

from presscheck.api.integrations import (
    DisableDevelopmentMode,
    GetInstallation,
    InstallIntegration,
    PublishIntegration,
    SetDevelopmentMode,
    UninstallIntegration,
    UnpublishIntegration,
    UpdateInstallation,
)
from presscheck.engine.forms.form import OperationForm, initial_texts
from presscheck.engine.integrations.publication import PublishForm
from presscheck.engine.integrations.scopes import RISKY, in_order, scope_text
from presscheck.engine.integrations.settings import (
    SettingsForm,
    buttons_of,
    component_of,
    missing_settings,
)
from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.commands import key_for
from presscheck.tui.screens.admin.details import fact_lines
from presscheck.tui.screens.admin.facts import facts
from presscheck.tui.screens.admin.integration.component_screen import ComponentScreen, Source
from presscheck.tui.screens.admin.integration.settings_form import ask_settings
from presscheck.tui.screens.admin.operation_form import StoredForm, fill_in
from presscheck.tui.screens.sites.writes import send
from presscheck.tui.screens.text_screen import TextScreen
from presscheck.tui.screens.web_address import open_address
from presscheck.tui.ui.ask import choose, confirm, prompt
from presscheck.tui.widgets.picker import Choice

if TYPE_CHECKING:
    from presscheck.api.integrations import Installation
    from presscheck.api.operation import Operation
    from presscheck.tui.screens.admin.integration.session import IntegrationSession

Place = Literal["space", "site"]
BY_FORM = "(form)"
"""The key of the form in the menu of settings. The keys of buttons are their indexes."""


class IntegrationActions:
    """The changes that users can make to an integration and its installations.

    Args:
        session: the integration.
    """

    def __init__(self, session: IntegrationSession) -> None:
        self._session = session

    async def install(self) -> None:
        """Install the integration, or approve its new permissions, after a confirmation that lists all permissions.

        If settings are missing, or the integration renders its own settings, ask for the settings afterwards.
        """
        session = self._session
        is_unlisted = session.installations.value is None and session.installations.error is not None
        if is_unlisted and await self._is_installed_elsewhere():
            return
        where = sanitize(session.organization.title)
        scopes = in_order(session.integration.scopes)
        lines: list[Line] = [(Span("It may:" if scopes else "It may read and change nothing by itself."),)]
        for scope in scopes:
            mark = Span("⚠ ", "waiting") if scope in RISKY else Span("· ", "quiet")
            lines.append((mark, Span(sanitize(scope_text(scope)))))
        verb, done = ("Approve", "approved") if session.needs_approval else ("Install", "installed")
        if verb == "Install":
            lines += [
                (),
                (Span(f"It works in all spaces and sites at first; {key_for('rename')} changes that.", "quiet"),),
            ]
        if not await confirm(self._session.screen, f"{verb} {session.title} in {where}?", lines, verb):
            return
        installed = await send(
            self._session.screen, InstallIntegration(**session.path, organization=session.organization.id)
        )
        if installed is None:
            return
        self._session.know_installation(installed.id)
        self._session.screen.notify(f"{done} {session.title} in {where}")
        if missing_settings(session.integration, installed.configuration) or component_of(session.integration):
            await self.configure(installed)

    async def _is_installed_elsewhere(self) -> bool:
        """Ask whether the integration is already installed, for users who cannot list its installations.

        The user can enter the id of an existing installation.

        Returns:
            True if the integration must not be installed now: it is installed, or the user canceled.
        """
        choices = [
            Choice("install", "Install it", letter="i"),
            Choice("id", "It is installed: enter the id of the installation", letter="e"),
        ]
        chosen = await choose(self._session.screen, self._session.title, choices)
        if chosen == "id":
            hint = "at the end of its address in the web app"
            installation_id = await prompt(self._session.screen, "Id of the installation", hint=hint)
            if installation_id:
                call = GetInstallation(**self._session.path, installation_id=installation_id)
                self._session.know_installation((await self._session.screen.engine.read(call)).id)
        return chosen != "install"

    async def configure(self, installation: Installation) -> None:
        """Change the settings of an installation: in a form, in a component of the integration, or in the browser."""
        session = self._session
        call = GetInstallation(**session.path, installation_id=installation.id)
        installation = await self._session.screen.engine.read(call)  # somebody else may have changed the settings
        form = SettingsForm(session.integration, installation)
        component, buttons = component_of(session.integration), buttons_of(session.integration, installation)
        if component:
            organization = session.organization.id
            source = Source(session.integration, organization, component, "Settings", account_context(organization))
            self._session.screen.app_context.push_screen(ComponentScreen(source))
            return
        chosen = BY_FORM if form.fields else ""
        if buttons:
            choices = [Choice(BY_FORM, "Settings in a form", letter="s")] if form.fields else []
            choices += [
                Choice(str(number), button.label, f"{button.title}: opens the browser")
                for number, button in enumerate(buttons)
            ]
            chosen = await choose(session.screen, f"Settings of {session.title}", choices) or ""
            if chosen.isdecimal():
                open_address(self._session.screen.app_context, buttons[int(chosen)].url)
        elif not form.fields:
            self._session.screen.notify(f"{session.title} has no settings")
        if chosen == BY_FORM:
            await ask_settings(self._session.screen, form)

    async def show_details(self, installation: Installation, title: str) -> None:
        """Show all facts of an installation, read from the service again. Secrets are hidden."""
        call = GetInstallation(**self._session.path, installation_id=installation.id)
        installation = await self._session.screen.engine.read(call)
        lines = fact_lines(facts(installation), self._session.screen.size.width)
        self._session.screen.app_context.push_screen(TextScreen(title, lines))

    async def uninstall(self, installation: Installation) -> None:
        """Uninstall the integration after the user has typed its title."""
        session = self._session
        title, where = session.title, session.organization_of(installation)
        places = count(installation.spaces, "space") if installation.spaces else "its spaces and sites"
        lines: list[Line] = [
            (Span(f"It stops working in {places} of {where}."),),
            (Span("Its settings are lost, and cannot be restored.", "waiting"),),
        ]
        if await confirm(
            self._session.screen, f"Uninstall {title} from {where}?", lines, "Uninstall", type_to_confirm=title
        ):
            await send(self._session.screen, UninstallIntegration(**session.path, installation_id=installation.id))
            self._session.know_installation("")
            self._session.screen.notify(f"uninstalled {title} from {where}")

    async def select(self, installation: Installation, place: Place) -> None:
        """Choose whether an installation works in all spaces or sites, or only in selected spaces or sites."""
        present = installation.space_selection if place == "space" else installation.site_selection
        choices = [
            Choice("all", f"All {place}s", "also those that are added later", letter="a"),
            Choice("selected", f"Selected {place}s", f"the {place}s are selected in the web app", letter="s"),
        ]
        where = self._session.organization_of(installation)
        chosen = await choose(
            self._session.screen, f"{self._session.title} in {where}: which {place}s?", choices, current=present or ""
        )
        if not chosen or chosen == present:
            return
        path = {**self._session.path, "installation_id": installation.id}
        field = {f"{place}_selection": cast("Any", chosen)}
        await send(self._session.screen, UpdateInstallation(**path, **field))  # pyrefly: ignore[bad-argument-type]
        self._session.screen.notify(f"it works in {chosen} {place}s of {where}")

    async def publish(self) -> None:
        """Fill in a new version of the integration in a form, and publish it."""
        session, owner = self._session, self._session.integration.owner
        owner_id = owner.id if owner else session.organization.id
        title = f"New version of {session.title}: icon, pictures and secrets are given again"
        present = PublishForm(owner_id, session.integration).initial
        if await self._fill_in(title, PublishIntegration, {**session.path, "organization": owner_id}, present):
            self._session.screen.notify(f"published a new version of {session.title}")

    async def delete(self) -> bool:
        """Delete the integration everywhere after the user has typed its title. Returns True if it was deleted."""
        session = self._session
        installed = len(session.installations.value or ())
        lines: list[Line] = [
            (Span(f"It is uninstalled from {count(installed, 'organization')}, and leaves the catalog."),),
            (Span("Its installations, their settings and its events cannot be restored.", "waiting"),),
        ]
        if not await confirm(
            self._session.screen,
            f"Delete {session.title} for all organizations?",
            lines,
            "Delete",
            type_to_confirm=session.title,
        ):
            return False
        await send(self._session.screen, UnpublishIntegration(**session.path))
        self._session.screen.notify(f"deleted {session.title}")
        return True

    async def development_mode(self) -> None:
        """Send the events of the integration to a tunnel instead of its published script, or stop doing so."""
        session = self._session
        choices = [
            Choice("set", "Send its events to a tunnel", "instead of its published script", letter="s"),
            Choice("stop", "Stop: its published script gets them", letter="p"),
        ]
        title = f"Development mode of {session.title}"
        chosen = await choose(self._session.screen, title, choices)
        if chosen == "stop":
            await send(self._session.screen, DisableDevelopmentMode(**session.path))
            self._session.screen.notify(f"{title}: off")
        elif chosen:
            present = initial_texts(OperationForm(SetDevelopmentMode, session.path).fields, None)
            if await self._fill_in(title, SetDevelopmentMode, session.path, present):
                self._session.screen.notify(f"{title}: on")

    async def _fill_in(
        self, title: str, operation: type[Operation[Any]], given: dict[str, Any], present: dict[str, str]
    ) -> bool:
        """Fill in the form of an operation, with a draft for unsent input. Returns True if the form was sent."""
        form = StoredForm(title, operation.stored_name(), given, present, given)
        key = f"form {operation.stored_name()} {self._session.integration.name}"
        return await fill_in(self._session.screen, form, key) is not None


def account_context(organization_id: str) -> dict[str, Any]:
    """Return the context for rendering the settings of an installation."""
    return {"theme": "dark", "type": "configuration_account", "organizationId": organization_id}
