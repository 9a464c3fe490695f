"""Forms for operations: the fields, and the conversion between typed texts and the call."""

from __future__ import annotations

import json
import re
import types
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, cast, get_args, get_origin

from pydantic import BaseModel
from typing_extensions import override

from presscheck.api.operation import Operation, Paged
from presscheck.api.roles import MemberRole
from presscheck.api.shell_command import is_text, members_of, typed
from presscheck.engine.forms.field_help import FROM_FILES, description, limits, named_description
from presscheck.engine.forms.references import SITE, reference_of
from presscheck.errors import InvalidArgument
from presscheck.text.phrases import now
from presscheck.text.sanitize import is_safe_url

if TYPE_CHECKING:
    from collections.abc import Iterable

    from presscheck.api.operation import Model
    from presscheck.engine.forms.references import Reference

_DOMAIN = re.compile(r"[^\W_](?:[\w-]*[^\W_])?(?:\.[^\W_](?:[\w-]*[^\W_])?)+")

TextValidator = Callable[[str], "str | None"]
"""Returns why a text is invalid, or None if it is valid."""
Kind = Literal["text", "long text", "choice", "list", "json", "certificate"]
NULL = "null"
"""The value of a choice that is sent as null."""
NO_ROLE = "guest"
"""The label of null as a role in the organization."""
FLAGS = {"true": "yes", "false": "no"}
TYPES = {"string": "text", "boolean": "yes or no", "number": "number"}
"""The words for the types of a JSON schema."""
POINTERS = {"default_content": ("site", SITE)}
"""Fields whose value is a pointer: the type of the target and the reference for its id."""


def address_reason(text: str) -> str | None:
    """Return why a text is not a web address, or None if it is valid."""
    if text.startswith(("https://", "http://")) and is_safe_url(text):
        return None
    return "is not an address: it starts with https:// or http://"


def domain_reason(text: str) -> str | None:
    """Return why a text is not an email domain, or None if it is valid."""
    return None if _DOMAIN.fullmatch(text) else f"{text[:40]} is not a domain: give one such as example.com, without @"


FIELD_VALIDATORS: dict[str, TextValidator] = {
    "email_domains": domain_reason,
    "fallback_url": address_reason,
    "files": address_reason,
    "logo": address_reason,
    "logout_url": address_reason,
    "sso_url": address_reason,
    "tunnel_url": address_reason,
    "url": address_reason,
}
"""Validators by the name of the field or part. The values of a list are validated one by one."""


@dataclass(frozen=True)
class FormField:
    """A field of a form.

    Attributes:
        name: the field of the operation.
        label: a short label.
        help: limits and format of the text; may be empty.
        kind: the form of the input; the values of a list are separated by commas.
        choices: the values and labels of a choice; `NULL` is sent as null, and an empty value is not sent. For a list,
            the valid values; empty if any value is valid.
        is_required: whether a value is required.
        is_nullable: whether the value can be removed.
        reference: how to look up the id by a name; None for other values.
        is_number: whether the text is a number.
        note: returns a note about a typed text, such as the contrast of a color; None if the field has no notes.
        pointer: the type of the target, if the value is a pointer; the text is the id of the target.
        check: returns why a text, or a value of a list, is invalid.
        takes_others: whether values that the reference does not list are also valid, such as addresses.
    """

    name: str
    label: str
    help: str
    kind: Kind
    choices: tuple[tuple[str, str], ...] = ()
    is_required: bool = False
    is_nullable: bool = False
    reference: Reference | None = None
    is_number: bool = False
    note: Callable[[str], str] | None = None
    pointer: str = ""
    check: TextValidator | None = None
    takes_others: bool = False

    def text_of(self, value: Any) -> str:
        """Format a value as the user types it."""
        if self.pointer:
            return str(getattr(value, self.pointer, None) or "")
        if value is None:
            return NULL if NULL in dict(self.choices) else ""
        if isinstance(value, bool):
            return "true" if value else "false"
        if self.kind == "list" and isinstance(value, (list, tuple)):
            return ", ".join(map(str, cast("Iterable[Any]", value)))
        if self.kind == "certificate":
            return " ".join(str(value).split())  # the form has a single line for the certificate
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)

    def value_of(self, text: str) -> Any:
        """Convert a typed text to a value, or to None if the text is empty or stands for null.

        Raises:
            InvalidArgument: the text has the wrong form for the field, such as invalid JSON or an invalid number.
        """
        text = text if self.kind == "long text" else text.strip()
        if not text:
            return None
        for part in self.parts_of(text):
            self._check_part(part)
        if self.kind == "certificate":
            from presscheck.engine.saml import normalized  # 40 ms, only for a certificate

            return normalized(text)
        if self.pointer:
            return {"type": self.pointer, self.pointer: text}
        if self.kind == "list":
            return self.parts_of(text)
        if self.kind == "choice":
            return {"true": True, "false": False, NULL: None}.get(text, text)
        if self.is_number:
            return _number(self.name, text)
        return _json(self.name, text) if self.kind == "json" else text

    def _check_part(self, part: str) -> None:
        """Validate a single value.

        Raises:
            InvalidArgument: the value has the wrong form, or is not among the valid values of a list.
        """
        reason = self.check(part) if self.check else None
        if self.kind == "list" and self.choices and part not in dict(self.choices):
            reason = f"{part} is not one of them: enter lists them"
        if reason:
            raise InvalidArgument(self.name, reason)

    def parts_of(self, text: str) -> tuple[str, ...]:
        """Split the text of a list field into its values. The text of any other field is a single value.

        Empty values are left out.
        """
        parts = text.split(",") if self.kind == "list" else (text,)
        return tuple(part for one in parts if (part := one.strip()))

    def note_of(self, text: str) -> str:
        """Return a note about a valid text, such as the owner and the validity of a certificate.

        Empty if there is no note.
        """
        if self.note:
            return self.note(text)
        if self.kind != "certificate" or not text.strip():
            return ""
        from presscheck.engine.saml import validity  # 40 ms, only for a certificate

        period = validity(text, now())
        return f"{period.certificate.subject}: {period.text}" if period.certificate else ""


class Form(ABC):
    """A form: its fields, and the conversion of the typed texts to a result, such as a call."""

    @property
    @abstractmethod
    def fields(self) -> tuple[FormField, ...]:
        """The fields in order; their names consist of letters, digits and underscores."""

    @abstractmethod
    def result(self, texts: Mapping[str, str], present: Mapping[str, str]) -> Any:
        """Convert the typed texts to the result of the form, such as a call.

        Args:
            texts: the text of each field.
            present: the initial texts of the fields.

        Raises:
            InvalidArgument: a value is missing or invalid; the error names the field.
        """

    def changes_nothing(self, result: Any) -> bool:
        """Return whether the result makes no change, so that nothing is sent."""
        return False

    def command(self, result: Any) -> str:
        """Return the equivalent command line; empty if there is none."""
        call: Operation[Any] | None = result if isinstance(result, Operation) else None
        return typed(call) if call else ""


@dataclass(frozen=True)
class OperationForm(Form):
    """The form of an operation; only required fields and fields with changed texts are sent.

    Attributes:
        operation: the operation.
        given: the values of known fields, such as path parameters.
    """

    operation: type[Operation[Any]]
    given: Mapping[str, Any]

    @property
    @override
    def fields(self) -> tuple[FormField, ...]:
        return form_fields(self.operation, self.given)

    @override
    def result(self, texts: Mapping[str, str], present: Mapping[str, str]) -> Operation[Any]:
        changed = {name: text for name, text in texts.items() if text != present.get(name, "")}
        required = {field.name for field in self.fields if field.is_required}
        return call_of(self.operation, self.given, {**{name: texts[name] for name in required}, **changed})

    @override
    def changes_nothing(self, result: Any) -> bool:
        return (
            result.given().keys() <= self.given.keys()
            and bool(self.fields)
            and not any(field.is_required for field in self.fields)
        )


def form_fields(operation: type[Operation[Any]], given: Iterable[str] = ()) -> tuple[FormField, ...]:
    """Return the fields of an operation's form, in the order of its declaration.

    Args:
        operation: the operation.
        given: the known fields, such as path parameters, which are omitted.
    """
    known = {*given, *operation.path_fields(), *(Paged.model_fields if issubclass(operation, Paged) else ())}
    return tuple(_field(operation, name) for name in operation.model_fields if name not in known)


def call_of(
    operation: type[Operation[Any]],
    given: Mapping[str, Any],
    texts: Mapping[str, str],
    problems: Mapping[str, InvalidArgument] | None = None,
) -> Operation[Any]:
    """Create the call of a form.

    Args:
        operation: the operation.
        given: the values of known fields.
        texts: the texts of the fields to send; an empty text is sent as null if the field is nullable.
        problems: errors that were found already, by field.

    Raises:
        InvalidArgument: values are missing or invalid; the error names the first field and has the other errors.
    """
    values, found = dict(given), dict(problems or {})
    for field in form_fields(operation, given):
        if field.name in found:
            continue
        text = texts.get(field.name)
        try:
            value = None if text is None else field.value_of(text)
        except InvalidArgument as error:
            found[field.name] = error
            continue
        if value is None and field.is_required and (text is None or not _is_null(field, text)):
            found[field.name] = InvalidArgument(field.name, "is required")
        elif text is not None and (value is not None or _is_null(field, text)):
            values[field.name] = () if value is None and field.kind == "list" else value
    if not found:
        return operation(**values)
    try:
        operation(**values)
    except InvalidArgument as error:
        for one in (error, *error.others):
            name = one.field.partition(".")[0]
            if name in values:  # all other fields are missing and have an error already
                found.setdefault(name, one)
    raise first_of(found, dict.fromkeys((*operation.model_fields, *found)))


def first_of(problems: Mapping[str, InvalidArgument], names: Iterable[str]) -> InvalidArgument:
    """Combine errors: return the error of the first field with all other errors attached.

    Args:
        problems: the errors by field, at least one.
        names: the fields in order.
    """
    first, *others = [problems[name] for name in names if name in problems]
    return InvalidArgument(first.field, first.reason, call=first.call, wire=first.wire, others=others)


def _is_null(field: FormField, text: str) -> bool:
    """Return whether a text without a value is sent as null."""
    return field.is_nullable and (field.kind != "choice" or text == NULL)


def initial_texts(fields: Iterable[FormField], item: Model | None) -> dict[str, str]:
    """Return the initial texts of the fields: the current values of the item, or empty texts if `item` is None."""
    texts: dict[str, str] = {}
    for field in fields:
        if item is None or not hasattr(item, field.name):
            texts[field.name] = ""
            continue
        value = getattr(item, field.name)
        identity = getattr(value, "id", None) if field.reference else None
        is_text = identity is not None or bool(field.pointer) or not isinstance(value, BaseModel)
        texts[field.name] = field.text_of(identity or value) if is_text else ""
    return texts


def _field(operation: type[Operation[Any]], name: str) -> FormField:
    info = operation.model_fields[name]
    members = members_of(info.annotation)
    is_nullable = types.NoneType in get_args(info.annotation)
    reference = reference_of(operation, name)
    inner: Any = get_args(members[0])[0] if get_origin(members[0]) is tuple else None
    kind: Kind = "text"
    pointer = ""
    choices: list[tuple[str, str]] = []
    if members == [bool] or all(get_origin(member) is Literal for member in members):
        kind = "choice"
        words = ["true", "false"] if members == [bool] else [str(one) for each in members for one in get_args(each)]
        choices = [(word, FLAGS.get(word, word)) for word in words]
        if get_args(MemberRole) == tuple(words):
            choices += [(NULL, NO_ROLE)] if is_nullable else []
        if not info.is_required():
            choices.append(("", "not set"))
    elif inner is str:
        kind = "list"
    elif get_origin(inner) is Literal:
        kind, choices = "list", [(str(one), str(one)) for one in get_args(inner)]
    elif name in FROM_FILES:
        kind = "certificate" if name == "certificate" else "long text"
    elif name in POINTERS:
        pointer, reference = POINTERS[name]
    elif int not in members and not is_text(info.annotation):
        kind = "json"
    notes = limits(info, is_repeatable=kind == "list")
    notes += ["separated by commas"] if kind == "list" else ["JSON"] if kind == "json" else []
    label = named_description(operation, name) if reference else description(operation, name)
    return FormField(
        name,
        label,
        "; ".join(notes),
        kind,
        tuple(choices),
        info.is_required(),
        is_nullable,
        reference,
        is_number=int in members,
        pointer=pointer,
        check=FIELD_VALIDATORS.get(name),
    )


def _number(name: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise InvalidArgument(name, "is not a number") from None


def _json(name: str, text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        what = f"{error.msg[:1].lower()}{error.msg[1:]}"
        reason = f"is not valid JSON at character {error.pos + 1}: {what}"
    except (ValueError, RecursionError):  # such as a number with thousands of digits, or thousands of brackets
        reason = "is not valid JSON: too large"
    raise InvalidArgument(name, reason)


@dataclass(frozen=True)
class FilterForm(OperationForm):
    """The form for the filters of a listing; empty filters are not sent."""

    @override
    def result(self, texts: Mapping[str, str], present: Mapping[str, str]) -> Operation[Any]:
        return call_of(self.operation, self.given, {name: text for name, text in texts.items() if text.strip()})

    def filters(self, call: Operation[Any]) -> dict[str, Any]:
        """Return the filters of a call, by field."""
        return {name: value for name, value in call.given().items() if name not in self.given}

    @override
    def changes_nothing(self, result: Any) -> bool:
        return False  # applying unchanged filters reloads the listing
