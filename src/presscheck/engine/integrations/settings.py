"""The settings of an installation: the schema that an integration declares, and the form made from it.

Schemas come from the publisher of the integration, so parts that cannot be understood are edited as JSON or left out.
The options of a select can be served at a URL: for a component as `[{id, label}]`, directly or in the `items` of an
object; for a setting as `[{value, label}]`. The integration chooses the URL, so callers of this module ask the user
before they request a host other than the integration's.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast
from urllib.parse import urljoin, urlsplit

from typing_extensions import override

from presscheck.api.integrations import UpdateInstallation
from presscheck.engine.forms.form import FLAGS, Form, FormField, Kind, first_of
from presscheck.engine.forms.references import Reference
from presscheck.errors import InvalidArgument, MalformedAnswer, PresscheckError, ServiceError
from presscheck.text.sanitize import sanitize

if TYPE_CHECKING:
    from presscheck.api.integrations import Installation, Integration
    from presscheck.api.operation import Operation

MOST = 2_000
"""Maximum number of listed options."""
Json = dict[str, Any]
NOT_SET = ("", "not set")


class Downloader(Protocol):
    """A downloader of files."""

    async def download(self, call: Operation[Any], url: str) -> bytes:
        """Return the bytes of the file at a URL."""
        ...


def absolute(address: str, endpoint: str) -> str:
    """Return the absolute address of options.

    An address without a host is relative to the integration's public endpoint; without an endpoint, the result is
    empty. An address with the host of the endpoint gets the scheme of the endpoint, because components name only hosts.
    """
    base = urlsplit(endpoint)
    if not urlsplit(address).netloc:
        return urljoin(f"{endpoint.rstrip('/')}/", address.lstrip("/")) if endpoint else ""
    parts = urlsplit(address)
    return parts._replace(scheme=base.scheme).geturl() if base.netloc and parts.netloc == base.netloc else address


def is_of_integration(address: str, endpoint: str) -> bool:
    """Return whether an address has the host of the integration's public endpoint."""
    host = urlsplit(endpoint).netloc
    return bool(host) and urlsplit(address).netloc == host


async def read_options(engine: Downloader, call: Operation[Any], address: str) -> list[tuple[str, str]]:
    """Read the options at an address. Return their values, and their labels for display.

    Args:
        engine: downloads the options without sending a token.
        call: the call whose response has the address, for error messages.
        address: an absolute web address.

    Raises:
        RequestError: the options cannot be downloaded or have the wrong form.
    """
    content = await engine.download(call, address)
    try:
        found: Any = json.loads(content)
    except ValueError:
        raise MalformedAnswer("The integration answered with no JSON for the options", request=str(call)) from None
    if isinstance(found, dict):
        found = cast("dict[str, Any]", found).get("items")
    if not isinstance(found, list):
        raise MalformedAnswer("The integration answered with no list of options", request=str(call))
    given = [cast("dict[str, Any]", each) for each in cast("list[Any]", found)[:MOST] if isinstance(each, dict)]
    options: list[tuple[str, str]] = []
    for option in given:
        value = option.get("id", option.get("value"))
        if isinstance(value, str | int):
            options.append((str(value), sanitize(str(option.get("label") or value))))
    return options


class SettingsButton(NamedTuple):
    """A button among the settings that opens a page in the browser, for example to sign in to another product."""

    title: str
    label: str
    url: str


class Setting(NamedTuple):
    """A setting: its name in the configuration, its schema, and whether it is required."""

    name: str
    declared: Mapping[str, Any]
    is_required: bool

    @property
    def title(self) -> str:
        """The title for display."""
        return sanitize(str(self.declared.get("title") or self.name))


def settings_of(integration: Integration, where: str = "account") -> tuple[Setting, ...]:
    """Return the settings that an integration declares.

    Args:
        integration: the integration.
        where: `account` for the settings of the installation, `space` or `site` for the settings of each space or site.
    """
    schema = _mapping((integration.configurations or {}).get(where))
    required = schema.get("required")
    names: list[Any] = cast("list[Any]", required) if isinstance(required, list) else []
    return tuple(
        Setting(str(name), _mapping(declared), name in names)
        for name, declared in _mapping(schema.get("properties")).items()
        if _mapping(declared)
    )


def component_of(integration: Integration, where: str = "account") -> str | None:
    """Return the id of the component that renders the settings, or None if the integration declares no component."""
    component = _mapping((integration.configurations or {}).get(where)).get("componentId")
    return component if isinstance(component, str) and component else None


def missing_settings(integration: Integration, configuration: Mapping[str, Any] | None) -> list[str]:
    """Return the titles of required settings that a configuration lacks."""
    given = configuration or {}
    return [
        setting.title
        for setting in settings_of(integration)
        if setting.is_required and setting.declared.get("type") != "button" and given.get(setting.name) in (None, "")
    ]


def buttons_of(integration: Integration, installation: Installation) -> list[SettingsButton]:
    """Return the buttons among the settings, with the addresses that they open."""
    base = f"{(installation.urls.public_endpoint or integration.urls.public_endpoint or '').rstrip('/')}/"
    found: list[SettingsButton] = []
    for setting in settings_of(integration):
        url = setting.declared.get("callback_url")
        if setting.declared.get("type") == "button" and isinstance(url, str):
            label = sanitize(str(setting.declared.get("button_text") or setting.title))
            address = url if "://" in url else urljoin(base, url.lstrip("/"))
            found.append(SettingsButton(setting.title, label, address))
    return found


def completion_address(integration: Integration, installation: Installation, reference: Reference) -> str:
    """Return the address of the values that the integration suggests for a setting; empty if there is none."""
    return absolute(reference.id, installation.urls.public_endpoint or integration.urls.public_endpoint or "")


@dataclass(frozen=True)
class SettingsForm(Form):
    """The form for the settings of an installation; values without a field stay in the configuration.

    Attributes:
        integration: the integration, which declares the settings.
        installation: the installation.
    """

    integration: Integration
    installation: Installation

    @property
    def _settings(self) -> list[Setting]:
        return [setting for setting in settings_of(self.integration) if setting.declared.get("type") != "button"]

    @property
    @override
    def fields(self) -> tuple[FormField, ...]:
        return tuple(_field(number, setting) for number, setting in enumerate(self._settings))

    @property
    def initial(self) -> dict[str, str]:
        """The initial texts: the current values, or the defaults."""
        given = self.installation.configuration or {}
        return {
            field.name: field.text_of(given.get(setting.name, setting.declared.get("default")))
            for field, setting in zip(self.fields, self._settings, strict=True)
        }

    @override
    def result(self, texts: Mapping[str, str], present: Mapping[str, str]) -> UpdateInstallation:
        configuration = dict(self.installation.configuration or {})
        problems: dict[str, InvalidArgument] = {}
        for field, setting in zip(self.fields, self._settings, strict=True):
            try:
                value = _value(field, setting, texts.get(field.name, ""))
            except InvalidArgument as error:
                problems[field.name] = error
                continue
            if value is not None:
                configuration[setting.name] = value
            elif setting.is_required:
                problems[field.name] = InvalidArgument(field.name, "is required")
            else:
                configuration.pop(setting.name, None)
        if problems:
            raise first_of(problems, problems)
        return UpdateInstallation(
            integration_name=self.integration.name, installation_id=self.installation.id, configuration=configuration
        )

    @override
    def changes_nothing(self, result: Any) -> bool:
        return result.configuration == (self.installation.configuration or {})

    def located(self, error: PresscheckError) -> PresscheckError:
        """Convert an error of the service that names a setting, such as `configuration.token: is invalid`.

        Returns:
            An `InvalidArgument` for the setting's field, or the same error if it names no setting.
        """
        detail = error.detail if isinstance(error, ServiceError) else ""
        name, colon, reason = detail.removeprefix("configuration.").partition(":")
        for field, setting in zip(self.fields, self._settings, strict=True):
            if colon and name.strip(" `'") == setting.name:
                return InvalidArgument(field.name, reason.strip())
        return error


def _mapping(value: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def _field_name(number: int, setting: Setting) -> str:
    """Return a stable field name of letters, digits and underscores: the setting's name if possible, else a number."""
    is_plain = setting.name.isascii() and setting.name.isidentifier() and "__" not in setting.name
    return f"setting_{setting.name if is_plain else number}"


def _field(number: int, setting: Setting) -> FormField:
    declared = setting.declared
    kind: Kind = "text"
    choices: tuple[tuple[str, str], ...] = ()
    notes = [sanitize(str(declared["description"]))] if declared.get("description") else []
    given = declared.get("enum")
    values: list[Any] = cast("list[Any]", given) if isinstance(given, list) else []
    if declared.get("type") == "boolean":
        kind, choices = "choice", tuple(FLAGS.items())
    elif values and all(isinstance(value, str) for value in values):
        kind, choices = "choice", tuple((value, sanitize(value)) for value in values)
    elif declared.get("type") == "number":
        notes.append("a number")
    elif declared.get("type") != "string":
        kind = "json"
        notes.append("JSON")
    if choices and not setting.is_required:
        choices = (*choices, NOT_SET)
    if "completion_url" in declared:
        notes.append("the integration suggests values, or type one")
    reference = Reference("value", (), id=str(declared["completion_url"])) if "completion_url" in declared else None
    name, required = _field_name(number, setting), setting.is_required
    return FormField(name, setting.title, "; ".join(notes), kind, choices, required, reference=reference)


def _value(field: FormField, setting: Setting, text: str) -> Any:
    """Convert a typed text to a value, or to None if it is empty.

    Raises:
        InvalidArgument: the text is not a valid value of the setting.
    """
    text = text.strip()
    if not text:
        return None
    if setting.declared.get("type") == "number":
        return _number(field.name, text)
    if field.kind == "choice" and text not in dict(field.choices):
        raise InvalidArgument(
            field.name, f"must be one of {', '.join(words for value, words in field.choices if value)}"
        )
    return (text == "true") if setting.declared.get("type") == "boolean" else field.value_of(text)


def _number(name: str, text: str) -> int | float:
    try:
        value = json.loads(text.removeprefix("+"))
    except ValueError:
        value = None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise InvalidArgument(name, "is not a number")
    return value
