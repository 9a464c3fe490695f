"""The settings of an installation: the schema that an integration declares for them, and the form made from it.

Schemas come from the publisher of the integration: parts that cannot be understood are edited as JSON, or left out.
Options of a select can be served at a URL: those of a component as `[{id, label}]`, or in the `items` of an object;
those of a setting as `[{value, label}]`. The URL comes from the integration, so a reader asks the user before it goes
to another host than that of the integration.
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
"""Options that are listed."""
Json = dict[str, Any]
NOT_SET = ("", "not set")


class Downloader(Protocol):
    """Downloads a file."""

    async def download(self, call: Operation[Any], url: str) -> bytes:
        """The bytes of the file at a URL."""
        ...


def absolute(address: str, endpoint: str) -> str:
    """The address of options; one without a host is below the public endpoint of the integration.

    An address with the host of the endpoint gets its scheme, too: components name hosts only.
    """
    base = urlsplit(endpoint)
    if not urlsplit(address).netloc:
        return urljoin(f"{endpoint.rstrip('/')}/", address.lstrip("/")) if endpoint else ""
    parts = urlsplit(address)
    return parts._replace(scheme=base.scheme).geturl() if base.netloc and parts.netloc == base.netloc else address


def is_of_integration(address: str, endpoint: str) -> bool:
    """Whether an address has the host of the public endpoint of the integration."""
    host = urlsplit(endpoint).netloc
    return bool(host) and urlsplit(address).netloc == host


async def read_options(engine: Downloader, call: Operation[Any], address: str) -> list[tuple[str, str]]:
    """The options at an address: their values, and their labels as display text.

    Args:
        engine: downloads them; no token is sent.
        call: the call whose answer has the address, for error messages.
        address: an absolute web address.

    Raises:
        RequestError: they cannot be downloaded, or they are no options.
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
    """A button among the settings, such as one that signs in to another product; it opens a page in the browser."""

    title: str
    label: str
    url: str


class Setting(NamedTuple):
    """A setting: its name in the configuration, its declaration, and whether it is required."""

    name: str
    declared: Mapping[str, Any]
    is_required: bool

    @property
    def title(self) -> str:
        """Its title, as display text."""
        return sanitize(str(self.declared.get("title") or self.name))


def settings_of(integration: Integration, where: str = "account") -> tuple[Setting, ...]:
    """The settings that an integration declares.

    Args:
        integration: the integration.
        where: `account` for the settings of the installation, `space` and `site` for those of each space and site.
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
    """The component that renders the settings, for an integration that declares one instead of a schema."""
    component = _mapping((integration.configurations or {}).get(where)).get("componentId")
    return component if isinstance(component, str) and component else None


def missing_settings(integration: Integration, configuration: Mapping[str, Any] | None) -> list[str]:
    """The titles of the required settings that a configuration lacks."""
    given = configuration or {}
    return [
        setting.title
        for setting in settings_of(integration)
        if setting.is_required and setting.declared.get("type") != "button" and given.get(setting.name) in (None, "")
    ]


def buttons_of(integration: Integration, installation: Installation) -> list[SettingsButton]:
    """The buttons among the settings, with the addresses that they open."""
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
    """The address of the values that the integration suggests for a setting; empty if it has none."""
    return absolute(reference.id, installation.urls.public_endpoint or integration.urls.public_endpoint or "")


@dataclass(frozen=True)
class SettingsForm(Form):
    """The form of the settings of an installation; what it does not ask for stays in the configuration.

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
        """A field for each setting; those whose names have other characters than letters are numbered."""
        return tuple(_field(number, setting) for number, setting in enumerate(self._settings))

    @property
    def initial(self) -> dict[str, str]:
        """The texts that the fields begin with: the present values, else the defaults."""
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
        """The error at its field, if the service names a setting, such as `configuration.token: is invalid`."""
        detail = error.detail if isinstance(error, ServiceError) else ""
        name, colon, reason = detail.removeprefix("configuration.").partition(":")
        for field, setting in zip(self.fields, self._settings, strict=True):
            if colon and name.strip(" `'") == setting.name:
                return InvalidArgument(field.name, reason.strip())
        return error


def _mapping(value: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def _field_name(number: int, setting: Setting) -> str:
    """A name of letters, digits and underscores, which a draft keeps: that of the setting if it is such a name."""
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
    """The value of a typed text; None for an empty one."""
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
