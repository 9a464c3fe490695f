"""What changes an integration and its installations: forms and questions, and the writes behind them."""

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
from presscheck.tui.external_programs import open_address
from presscheck.tui.screens.admin.details import fact_lines
from presscheck.tui.screens.admin.facts import facts
from presscheck.tui.screens.admin.integration.component_screen import ComponentScreen, Source
from presscheck.tui.screens.admin.integration.settings_form import ask_settings
from presscheck.tui.screens.admin.operation_form import StoredForm, fill_in
from presscheck.tui.screens.sites.writes import send
from presscheck.tui.screens.text_screen import TextScreen
from presscheck.tui.widgets.confirm_dialog import ConfirmDialog
from presscheck.tui.widgets.picker import Choice, Picker
from presscheck.tui.widgets.prompt_dialog import PromptDialog

if TYPE_CHECKING:
    from presscheck.api.integrations import Installation
    from presscheck.api.operation import Operation
    from presscheck.tui.screens.admin.integration.context import IntegrationContext

Place = Literal["space", "site"]
BY_FORM = "(form)"
"""The key of the form in a menu of settings; the others are numbers of buttons."""


class IntegrationActions:
    """The changes of an integration and its installations.

    Args:
        screen: the screen of the integration.
    """

    def __init__(self, screen: IntegrationContext) -> None:
        self._screen = screen

    async def install(self) -> None:
        """Install the integration, after a question that lists what it may do; ask for its settings next."""
        model = self._screen.model
        is_unlisted = model.installations.items is None and model.installations.error is not None
        if is_unlisted and await self._is_installed_elsewhere():
            return
        where = sanitize(model.organization.title)
        scopes = in_order(model.integration.scopes)
        lines: list[Line] = [(Span("It may:" if scopes else "It may read and change nothing by itself."),)]
        for scope in scopes:
            mark = Span("⚠ ", "waiting") if scope in RISKY else Span("• ", "quiet")
            lines.append((mark, Span(sanitize(scope_text(scope)))))
        lines += [(), (Span("It works in all spaces and sites at first; E changes that.", "quiet"),)]
        dialog = ConfirmDialog(f"Install {model.title} in {where}?", lines, "Install")
        if not await self._screen.ask(dialog):
            return
        installed = await send(self._screen, InstallIntegration(**model.path, organization=model.organization.id))
        if installed is None:
            return
        self._screen.know_installation(installed.id)
        self._screen.notify(f"installed {model.title} in {where}")
        if missing_settings(model.integration, installed.configuration) or component_of(model.integration):
            await self.configure(installed)

    async def _is_installed_elsewhere(self) -> bool:
        """Ask whether it is installed already, where the service does not list installations for the user."""
        choices = [
            Choice("install", "Install it", letter="i"),
            Choice("id", "It is installed: enter the id of the installation", letter="e"),
        ]
        chosen = await self._screen.ask(Picker(self._screen.model.title, choices, ranked=False))
        if chosen == ("id",):
            hint = "at the end of its address in the web app"
            asked = PromptDialog("Id of the installation", "", hint=hint)
            identity = await self._screen.ask(asked)
            if identity:
                call = GetInstallation(**self._screen.model.path, installation_id=identity)
                self._screen.know_installation((await self._screen.engine.read(call)).id)
        return chosen != ("install",)

    async def configure(self, installation: Installation) -> None:
        """Change the settings of an installation, in the form that the integration declares or renders."""
        model = self._screen.model
        call = GetInstallation(**model.path, installation_id=installation.id)
        installation = await self._screen.engine.read(call)  # not those of before somebody else changed them
        form = SettingsForm(model.integration, installation)
        component, buttons = component_of(model.integration), buttons_of(model.integration, installation)
        if component:
            organization = model.organization.id
            source = Source(model.integration, organization, component, "Settings", account_context(organization))
            self._screen.app_context.push_screen(ComponentScreen(source))
            return
        chosen = BY_FORM if form.fields else ""
        if buttons:
            choices = [Choice(BY_FORM, "Settings in a form", letter="s")] if form.fields else []
            choices += [
                Choice(str(number), button.label, f"{button.title}: opens the browser")
                for number, button in enumerate(buttons)
            ]
            picker = Picker(f"Settings of {model.title}", choices, ranked=False)
            [chosen] = await self._screen.ask(picker) or ("",)
            if chosen.isdecimal():
                open_address(self._screen.app_context, buttons[int(chosen)].url)
        elif not form.fields:
            self._screen.notify(f"{model.title} has no settings")
        if chosen == BY_FORM:
            await ask_settings(self._screen, form)

    async def show_details(self, installation: Installation, title: str) -> None:
        """Show all facts of an installation, as the service has them now; secrets are hidden."""
        call = GetInstallation(**self._screen.model.path, installation_id=installation.id)
        installation = await self._screen.engine.read(call)
        lines = fact_lines(facts(installation), self._screen.columns)
        self._screen.app_context.push_screen(TextScreen(title, lines))

    async def uninstall(self, installation: Installation) -> None:
        """Uninstall the integration, after its title was typed."""
        model = self._screen.model
        title, where = model.title, model.organization_of(installation)
        places = count(installation.spaces, "space") if installation.spaces else "its spaces and sites"
        lines: list[Line] = [
            (Span(f"It stops working in {places} of {where}."),),
            (Span("Its settings are lost, and cannot be restored.", "waiting"),),
        ]
        dialog = ConfirmDialog(f"Uninstall {title} from {where}?", lines, "Uninstall", type_to_confirm=title)
        if await self._screen.ask(dialog):
            await send(self._screen, UninstallIntegration(**model.path, installation_id=installation.id))
            self._screen.know_installation("")
            self._screen.notify(f"uninstalled {title} from {where}")

    async def select(self, installation: Installation, place: Place) -> None:
        """Choose whether an installation works in all spaces or sites, or in selected ones."""
        present = installation.space_selection if place == "space" else installation.site_selection
        choices = [
            Choice("all", f"All {place}s", "also those that are added later", letter="a"),
            Choice("selected", f"Selected {place}s", f"the {place}s are selected in the web app", letter="s"),
        ]
        where = self._screen.model.organization_of(installation)
        picker = Picker(
            f"{self._screen.model.title} in {where}: which {place}s?",
            choices,
            ranked=False,
            current=present or "",
        )
        chosen = await self._screen.ask(picker)
        if not chosen or chosen[0] == present:
            return
        path = {**self._screen.model.path, "installation_id": installation.id}
        field = {f"{place}_selection": cast("Any", chosen[0])}
        await send(self._screen, UpdateInstallation(**path, **field))  # pyrefly: ignore[bad-argument-type]
        self._screen.notify(f"it works in {chosen[0]} {place}s of {where}")

    async def publish(self) -> None:
        """Publish a new version of the integration, in a form."""
        model, owner = self._screen.model, self._screen.model.integration.owner
        owner_id = owner.id if owner else model.organization.id
        title = f"New version of {model.title}: icon, pictures and secrets are given again"
        present = PublishForm(owner_id, model.integration).initial
        if await self._fill_in(title, PublishIntegration, {**model.path, "organization": owner_id}, present):
            self._screen.notify(f"published a new version of {model.title}")

    async def delete(self) -> bool:
        """Delete the integration for all organizations, after its title was typed; whether it was deleted."""
        model = self._screen.model
        installed = len(model.installations.items or ())
        lines: list[Line] = [
            (Span(f"It is uninstalled from {count(installed, 'organization')}, and leaves the catalog."),),
            (Span("Its installations, their settings and its events cannot be restored.", "waiting"),),
        ]
        dialog = ConfirmDialog(
            f"Delete {model.title} for all organizations?",
            lines,
            "Delete",
            type_to_confirm=model.title,
        )
        if not await self._screen.ask(dialog):
            return False
        await send(self._screen, UnpublishIntegration(**model.path))
        self._screen.notify(f"deleted {model.title}")
        return True

    async def development_mode(self) -> None:
        """Send the events of the integration to a tunnel, or stop that."""
        model = self._screen.model
        choices = [
            Choice("set", "Send its events to a tunnel", "instead of its published script", letter="s"),
            Choice("stop", "Stop: its published script gets them", letter="p"),
        ]
        title = f"Development mode of {model.title}"
        chosen = await self._screen.ask(Picker(title, choices, ranked=False))
        if chosen == ("stop",):
            await send(self._screen, DisableDevelopmentMode(**model.path))
            self._screen.notify(f"{title}: off")
        elif chosen:
            present = initial_texts(OperationForm(SetDevelopmentMode, model.path).fields, None)
            if await self._fill_in(title, SetDevelopmentMode, model.path, present):
                self._screen.notify(f"{title}: on")

    async def _fill_in(
        self, title: str, operation: type[Operation[Any]], given: dict[str, Any], present: dict[str, str]
    ) -> bool:
        """Ask with the form of an operation, whose draft opens as that form; whether it was sent."""
        form = StoredForm(title, operation.stored_name(), given, present, given)
        key = f"form {operation.stored_name()} {self._screen.model.integration.name}"
        return await fill_in(self._screen, form, key) is not None


def account_context(organization_id: str) -> dict[str, Any]:
    """The context in which the settings of an installation are rendered."""
    return {"theme": "dark", "type": "configuration_account", "organizationId": organization_id}
