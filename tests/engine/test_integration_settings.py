"""Forms of integrations: settings from the schema of the publisher, and new versions."""

import pytest
from tests.table import each_case

from presscheck.api.integrations import Installation, Integration
from presscheck.engine.integrations.publication import PublishForm
from presscheck.engine.integrations.scopes import RISKY, in_order, scope_text
from presscheck.engine.integrations.settings import (
    SettingsForm,
    buttons_of,
    component_of,
    missing_settings,
    settings_of,
)
from presscheck.errors import InvalidArgument, Refused

PROPERTIES = {
    "a b.c": {"type": "string", "title": "Name \x1b[31m", "default": "x"},
    "count": {"type": "number"},
    "is_on": {"type": "boolean"},
    "kind": {"type": "string", "enum": ["one", "two"]},
    "odd": {"type": "object"},
    "go": {"type": "button", "button_text": "Go", "callback_url": "/go?a=1"},
    "broken": 5,
}


def form(configuration: dict[str, object] | None = None, **more: object) -> SettingsForm:
    schema = {"properties": PROPERTIES, "required": ["count"], **more}
    integration = Integration(name="lamp", configurations={"account": schema})
    urls = {"publicEndpoint": "https://lamp.example/i"}
    installation = Installation.model_validate({"id": "i1", "configuration": configuration, "urls": urls})
    return SettingsForm(integration, installation)


def texts(given: SettingsForm, **by_title: str) -> dict[str, str]:
    names = {field.label: field.name for field in given.fields}
    return {**given.initial, **{names[title]: text for title, text in by_title.items()}}


def test_each_kind_of_setting_has_a_field_and_is_sent() -> None:
    asked = form({"kept": 1, "kind": "one"})
    labels = [(field.label, field.kind) for field in asked.fields]
    assert labels == [
        ("Name ␛[31m", "text"),
        ("count", "text"),
        ("is_on", "choice"),
        ("kind", "choice"),
        ("odd", "json"),
    ]
    assert list(asked.initial.values()) == ["x", "", "", "one", ""]
    made = asked.result(texts(asked, count=" 1e2 ", is_on="false", kind="two", odd='{"a": [1]}'), asked.initial)
    assert made.configuration == {
        "kept": 1,
        "kind": "two",
        "a b.c": "x",
        "count": 100.0,
        "is_on": False,
        "odd": {"a": [1]},
    }
    assert "--configuration" in asked.command(made) or "configuration" in asked.command(made)
    assert asked.changes_nothing(made) is False
    again = form(made.configuration)
    assert again.changes_nothing(again.result(again.initial, again.initial))
    emptied = again.result(texts(again, is_on="", kind=""), again.initial)
    assert set(emptied.configuration or {}) == {"kept", "a b.c", "count", "odd"}
    assert [(button.label, button.url) for button in buttons_of(again.integration, again.installation)] == [
        ("Go", "https://lamp.example/i/go?a=1")
    ]


@each_case(
    ("title", "text", "reason"),
    [
        ("count", "", "is required"),
        ("count", "many", "is not a number"),
        ("count", "NaN", "is not a number"),
        ("count", "true", "is not a number"),
        ("kind", "three", "must be one of one, two"),
        ("odd", "{", "is not valid JSON"),
    ],
)
def test_invalid_setting_is_an_error_of_its_field(title: str, text: str, reason: str) -> None:
    asked = form()
    with pytest.raises(InvalidArgument, match=reason.replace("(", ".")) as caught:
        asked.result(texts(asked, **{"count": "1", title: text}), asked.initial)
    assert caught.value.field == next(field.name for field in asked.fields if field.label == title)


def test_error_of_the_service_is_assigned_to_its_field() -> None:
    asked = form()
    refused = Refused("no", request="PATCH /x", status=400, detail="configuration.a b.c: is taken")
    found = asked.located(refused)
    assert isinstance(found, InvalidArgument) and (found.field, found.reason) == ("setting_0", "is taken")
    other = Refused("no", request="PATCH /x", status=400, detail="the lamp is broken")
    assert asked.located(other) is other


def test_malformed_parts_of_a_schema_are_ignored() -> None:
    for schema in (None, 5, {"properties": [1]}, {"properties": {"a": None}, "required": "a"}):
        integration = Integration(name="lamp", configurations={"account": schema})
        assert settings_of(integration) == () and missing_settings(integration, None) == []
    integration = Integration(name="lamp", configurations={"account": {"componentId": "setup"}})
    assert (component_of(integration), settings_of(integration)) == ("setup", ())
    assert missing_settings(form().integration, {"count": 0}) == []
    assert missing_settings(form().integration, {}) == ["count"]


def test_scopes_are_described_and_risky_ones_come_first() -> None:
    assert in_order(["site:views:read", "zoo:keep", "space:content:write"]) == [
        "space:content:write",
        "site:views:read",
        "zoo:keep",
    ]
    assert "space:content:write" in RISKY
    assert scope_text("zoo:keep").startswith("zoo:keep (")


def test_new_version_keeps_the_values_of_the_former_one() -> None:
    integration = Integration.model_validate(
        {
            "name": "lamp",
            "title": "Lamp",
            "description": "Lights",
            "visibility": "public",
            "target": "site",
            "categories": ["content"],
            "blocks": [{"id": "b", "title": "Block"}],
            "configurations": {"account": {"properties": {}}},
            "externalLinks": [{"url": "https://lamp.example", "label": "Home"}],
            "previewImages": ["https://lamp.example/a.png"],
        }
    )
    asked = PublishForm("o1", integration)
    call = asked.result({**asked.initial, "script": "export default {}"}, asked.initial)
    given = call.given()
    assert {name: given[name] for name in ("integration_name", "organization", "visibility", "target", "scopes")} == {
        "integration_name": "lamp",
        "organization": "o1",
        "visibility": "public",
        "target": "site",
        "scopes": [] if isinstance(given["scopes"], list) else (),
    }
    assert call.blocks == ({"id": "b", "title": "Block"},) and call.categories == ("content",)
    assert call.configurations == {"account": {"properties": {}}} and call.external_links
    assert call.preview_images is None, "the service returns addresses of pictures, not the pictures"
    with pytest.raises(InvalidArgument, match="script: is required"):
        asked.result(asked.initial, asked.initial)
    new = PublishForm("o1")
    assert new.fields[0].name == "integration_name"
    with pytest.raises(InvalidArgument, match="integration_name: is required"):
        new.result({**new.initial, "script": "1", "title": "Lamp", "description": "x"}, new.initial)
