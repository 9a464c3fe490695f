"""The form of an operation: its fields as questions, and the way from typed text to the call and back."""

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
"""Returns why a text is invalid; None if it is valid."""
Kind = Literal["text", "long text", "choice", "list", "json", "certificate"]
NULL = "null"
"""The value of a choice that is sent as null."""
NO_ROLE = "guest"
"""What null means where a role in the organization can be chosen."""
FLAGS = {"true": "yes", "false": "no"}
POINTERS = {"default_content": ("site", SITE)}
"""Fields whose value points to something: the type of that, and where it is listed."""


def address_reason(text: str) -> str | None:
    """Why a text is no web address; None if it is one."""
    if text.startswith(("https://", "http://")) and is_safe_url(text):
        return None
    return "is not an address: it starts with https:// or http://"


def domain_reason(text: str) -> str | None:
    """Why a text is no domain of e-mail addresses; None if it is one."""
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
"""How the text of a field is checked, by the name of the field or of its part; a list value by value."""


@dataclass(frozen=True)
class FormField:
    """A field of a form.

    Attributes:
        name: the field of the operation.
        label: what it means, in a few words.
        help: its limits, and how to write it; empty if nothing needs to be written.
        kind: how it is given; several values are separated by commas.
        choices: for a choice: its values and their words; `NULL` is sent as null, an empty one not at all. For a
            list: the values that it takes; empty if it takes any.
        is_required: whether it must be given.
        is_nullable: whether it can be removed.
        reference: what its value is the id of; None if it is no id.
        is_number: whether its text is a number.
        note: returns what a text means, such as how readable a color is; None if there is nothing to tell.
        pointer: the type of the thing that it points to, if its value is a pointer; its text is then the id.
        check: returns why a text is invalid, such as one that is no address; of a list, for each value.
        takes_others: whether values that its reference does not list are valid too, such as addresses.
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
        """A value as it is typed."""
        if self.pointer:
            return str(getattr(value, self.pointer, None) or "")
        if value is None:
            return NULL if NULL in dict(self.choices) else ""
        if isinstance(value, bool):
            return "true" if value else "false"
        if self.kind == "list" and isinstance(value, (list, tuple)):
            return ", ".join(map(str, cast("Iterable[Any]", value)))
        if self.kind == "certificate":
            return " ".join(str(value).split())  # a form has one line for it
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)

    def value_of(self, text: str) -> Any:
        """The value of a typed text; None for an empty one.

        Raises:
            InvalidArgument: it is not JSON where JSON is needed, no number, no certificate, or no address.
        """
        text = text if self.kind == "long text" else text.strip()
        if not text:
            return None
        for part in self.parts_of(text):
            self._check_part(part)
        if self.kind == "certificate":
            from presscheck.engine.saml import normalized  # 36 ms, only for a certificate

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
        """Refuse a value that has the wrong form, or is none of those of a list."""
        reason = self.check(part) if self.check else None
        if self.kind == "list" and self.choices and part not in dict(self.choices):
            reason = f"{part} is not one of them: enter lists them"
        if reason:
            raise InvalidArgument(self.name, reason)

    def parts_of(self, text: str) -> tuple[str, ...]:
        """The values in a text: several for a list, else one; none for an empty text."""
        parts = text.split(",") if self.kind == "list" else (text,)
        return tuple(part for one in parts if (part := one.strip()))

    def note_of(self, text: str) -> str:
        """What a valid text stands for, such as whose certificate it is and how long it is valid; mostly empty."""
        if self.note:
            return self.note(text)
        if self.kind != "certificate" or not text.strip():
            return ""
        from presscheck.engine.saml import validity  # 36 ms, only for a certificate

        told = validity(text, now())
        return f"{told.certificate.subject}: {told.text}" if told.certificate else ""


class Form(ABC):
    """The questions of a form, and what their answers make."""

    @property
    @abstractmethod
    def fields(self) -> tuple[FormField, ...]:
        """The fields in order; their names are letters, digits and underscores."""

    @abstractmethod
    def result(self, texts: Mapping[str, str], present: Mapping[str, str]) -> Any:
        """Return what the typed texts make, such as the call.

        Args:
            texts: the text of each field.
            present: the texts that the fields began with.

        Raises:
            InvalidArgument: a value is missing or invalid; names the field.
        """

    def changes_nothing(self, result: Any) -> bool:
        """Whether there is nothing to send."""
        return False

    def command(self, result: Any) -> str:
        """Return the command line that does the same; empty if there is none."""
        call: Operation[Any] | None = result if isinstance(result, Operation) else None
        return typed(call) if call else ""


@dataclass(frozen=True)
class OperationForm(Form):
    """The form of an operation; only fields that differ from the texts that they began with are sent.

    Attributes:
        operation: the operation.
        given: the values that are known already, by field, such as those of the path.
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
    """The fields of the form of an operation, in the order of its declaration.

    Args:
        operation: the operation.
        given: the fields that are known already, such as those of the path.
    """
    known = {*given, *operation.path_fields(), *(Paged.model_fields if issubclass(operation, Paged) else ())}
    return tuple(_field(operation, name) for name in operation.model_fields if name not in known)


def call_of(
    operation: type[Operation[Any]],
    given: Mapping[str, Any],
    texts: Mapping[str, str],
    problems: Mapping[str, InvalidArgument] | None = None,
) -> Operation[Any]:
    """The call that a form makes.

    Args:
        operation: the operation.
        given: the values that are known, by field.
        texts: the texts of the fields to send; an empty one is sent as null.
        problems: what is wrong with fields whose values are not known, by field.

    Raises:
        InvalidArgument: a value is missing or invalid; names the first such field, and has the errors of the others.
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
            if name in values:  # else it is among the missing ones
                found.setdefault(name, one)
    raise first_of(found, dict.fromkeys((*operation.model_fields, *found)))


def first_of(problems: Mapping[str, InvalidArgument], names: Iterable[str]) -> InvalidArgument:
    """The error of the first field, with the errors of the others.

    Args:
        problems: at least one error, by field.
        names: the fields in order.
    """
    first, *others = [problems[name] for name in names if name in problems]
    return InvalidArgument(first.field, first.reason, call=first.call, wire=first.wire, others=others)


def _is_null(field: FormField, text: str) -> bool:
    """Whether a text without a value is sent as null."""
    return field.is_nullable and (field.kind != "choice" or text == NULL)


def initial_texts(fields: Iterable[FormField], item: Model | None) -> dict[str, str]:
    """The texts of the fields of a form that changes a thing: its present values."""
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
    except (ValueError, RecursionError):  # a number with thousands of digits, or thousands of brackets
        reason = "is not valid JSON: too large"
    raise InvalidArgument(name, reason)


@dataclass(frozen=True)
class FilterForm(OperationForm):
    """The filters of a listing; empty ones are left out."""

    @override
    def result(self, texts: Mapping[str, str], present: Mapping[str, str]) -> Operation[Any]:
        return call_of(self.operation, self.given, {name: text for name, text in texts.items() if text.strip()})

    def filters(self, call: Operation[Any]) -> dict[str, Any]:
        """Return the filters of a call, by field."""
        return {name: value for name, value in call.given().items() if name not in self.given}

    @override
    def changes_nothing(self, result: Any) -> bool:
        return False  # the same filters list again
