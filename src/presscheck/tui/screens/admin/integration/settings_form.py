"""The settings form of an installation. Its draft can be opened without the screen of the integration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from presscheck.api.integrations import GetInstallation, GetIntegration
from presscheck.engine.integrations.settings import SettingsForm, completion_address, is_of_integration, read_options
from presscheck.errors import Forbidden, MalformedAnswer, NotFound, PresscheckError
from presscheck.store.drafts import DraftSlot
from presscheck.text.sanitize import display_url, sanitize
from presscheck.tui.screens.form_dialog import FormContent, FormDialog
from presscheck.tui.screens.sites.writes import send
from presscheck.tui.widgets.picker import Choice

if TYPE_CHECKING:
    from presscheck.api.integrations import UpdateInstallation
    from presscheck.engine.drafts import Draft
    from presscheck.engine.forms.references import Reference
    from presscheck.tui.ui.screen import BaseScreen

KEY = "settings "
"""The prefix of draft keys."""
INTEGRATION = "integration"
"""The name under which a draft stores the name of the integration."""


async def ask_settings(screen: BaseScreen, form: SettingsForm) -> None:
    """Fill in and save the settings of an installation. Unsaved input is a draft."""
    title = f"Settings of {sanitize(form.integration.title or form.integration.name)}"
    about = {"title": title, INTEGRATION: form.integration.name}

    async def store(call: UpdateInstallation) -> Any:
        try:
            return await send(screen, call)
        except PresscheckError as error:
            raise form.located(error) from error

    dialog = FormDialog(
        FormContent(title, form, form.initial, has_command=True),
        store,
        DraftSlot(screen.engine.outbox, f"{KEY}{form.installation.id}", about=about),
        lookup=lambda reference: _suggested(screen, form, reference),
        send_label="save",
    )
    if await screen.ask(dialog) is not None:
        screen.notify(f"{title}: saved")


async def continue_settings(screen: BaseScreen, draft: Draft) -> bool:
    """Open the form of a draft. Returns True if its installation still exists and has settings."""
    path = {"integration_name": draft.stored.about.get(INTEGRATION, "")}
    installation_id = draft.stored.key.removeprefix(KEY)
    if not path["integration_name"]:
        return False
    try:
        integration = await screen.engine.read(GetIntegration(**path))
        installation = await screen.engine.read(GetInstallation(**path, installation_id=installation_id))
    except (NotFound, Forbidden):
        return False
    form = SettingsForm(integration, installation)
    if not form.fields:
        return False
    await ask_settings(screen, form)
    return True


async def _suggested(screen: BaseScreen, form: SettingsForm, reference: Reference) -> list[Choice]:
    """Return the values that the integration suggests for a setting.

    Raises:
        PresscheckError: the suggestions cannot be read, or their host is not the integration's.
    """
    address = completion_address(form.integration, form.installation, reference)
    endpoint = form.installation.urls.public_endpoint or form.integration.urls.public_endpoint or ""
    call = GetInstallation(integration_name=form.integration.name, installation_id=form.installation.id)
    if not is_of_integration(address, endpoint):
        raise MalformedAnswer(f"they are on another host: {display_url(address)}", request=str(call))
    return [Choice(*option) for option in await read_options(screen.engine, call, address)]
