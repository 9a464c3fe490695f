"""The form of the filters of a listing, made from the fields of its operation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from presscheck.api.shell_command import typed
from presscheck.engine.forms.form import call_of, form_fields

if TYPE_CHECKING:
    from presscheck.api.operation import Operation
    from presscheck.engine.forms.form import FormField


@dataclass(frozen=True)
class FilterForm:
    """The filters of a listing; those that are empty are left out.

    Attributes:
        listing: the operation.
        given: the values that are known already, by field, such as those of the path.
    """

    listing: type[Operation[Any]]
    given: Mapping[str, Any]

    @property
    def fields(self) -> tuple[FormField, ...]:
        """The fields that filter."""
        return form_fields(self.listing, self.given)

    def result(self, texts: Mapping[str, str], present: Mapping[str, str]) -> Operation[Any]:
        """The call of the listing.

        Raises:
            InvalidArgument: a value is invalid; names the field.
        """
        return call_of(self.listing, self.given, {name: text for name, text in texts.items() if text.strip()})

    def filters(self, call: Operation[Any]) -> dict[str, Any]:
        """The filters of a call, by field."""
        return {name: value for name, value in call.given().items() if name not in self.given}

    def changes_nothing(self, result: Any) -> bool:
        """Never: the same filters list again."""
        return False

    def command(self, result: Any) -> str:
        """The command line of the listing."""
        return typed(result)
