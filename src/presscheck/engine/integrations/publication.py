"""The form for publishing a version of an integration. A version inherits no values, so all fields are sent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from typing_extensions import override

from presscheck.api.integrations import PublishIntegration
from presscheck.engine.forms.form import Form, FormField, call_of, form_fields
from presscheck.errors import InvalidArgument

if TYPE_CHECKING:
    from presscheck.api.integrations import Integration

NAME = "integration_name"
NAME_FIELD = FormField(NAME, "Name in addresses", "letters, digits, dots and dashes", "text", is_required=True)
NOT_RETURNED = frozenset(("icon", "preview_images", "secrets", "script"))
"""Fields that the service does not return as they were sent; each version must provide them again."""


@dataclass(frozen=True)
class PublishForm(Form):
    """The form for publishing a version of an integration.

    Attributes:
        organization_id: the id of the publishing organization.
        integration: the published integration; None for a new integration or if it is unknown.
        name: the name of a published integration whose values are unknown; empty for a new integration.
    """

    organization_id: str
    integration: Integration | None = None
    name: str = ""

    @property
    def _given(self) -> dict[str, Any]:
        name = self.integration.name if self.integration else self.name
        return {"organization": self.organization_id, **({NAME: name} if name else {})}

    @property
    @override
    def fields(self) -> tuple[FormField, ...]:
        given = self._given
        fields = form_fields(PublishIntegration, given)
        scopes = "what it may do, such as site:script:inject; separated by commas; empty for nothing"
        optional = {"help": scopes, "is_required": False}
        fields = tuple(replace(field, **optional) if field.name == "scopes" else field for field in fields)
        first = ("title", "description", "scopes", "script")
        ordered = sorted(fields, key=lambda field: first.index(field.name) if field.name in first else len(first))
        return (*(() if NAME in given else (NAME_FIELD,)), *ordered)

    @property
    def initial(self) -> dict[str, str]:
        """The initial texts: the values of the published version that the service returns."""
        known = self.integration.model_dump(mode="json", by_alias=False) if self.integration else {}
        kept = {name: value for name, value in known.items() if name not in NOT_RETURNED and value not in ([], {})}
        return {field.name: field.text_of(kept.get(field.name)) for field in self.fields}

    @override
    def result(self, texts: Mapping[str, str], present: Mapping[str, str]) -> PublishIntegration:
        given = self._given
        problems: dict[str, InvalidArgument] = {}
        if NAME not in given:
            given[NAME] = texts.get(NAME, "").strip()
            if not given[NAME]:
                problems[NAME] = InvalidArgument(NAME, "is required")
        if not texts.get("scopes", "").strip():
            given["scopes"] = ()
        # also unchanged fields: a version does not inherit values from the version before it
        typed_texts = {name: text for name, text in texts.items() if text.strip()}
        call: Any = call_of(PublishIntegration, given, typed_texts, problems)
        return call
