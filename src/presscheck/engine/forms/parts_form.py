"""Forms for operations with object fields: each part of an object is a separate field instead of JSON."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast, get_args, get_origin

from typing_extensions import override

from presscheck.api.operation import Argument
from presscheck.api.shell_command import members_of
from presscheck.documents.nodes.from_markdown import markdown_to_nodes
from presscheck.documents.nodes.to_markdown import nodes_to_markdown
from presscheck.engine.forms.field_help import PARTS, limits
from presscheck.engine.forms.form import FIELD_VALIDATORS, FormField, Kind, OperationForm, call_of, form_fields
from presscheck.engine.forms.references import PART_REFERENCES
from presscheck.errors import InvalidArgument

if TYPE_CHECKING:
    from presscheck.api.operation import Operation

SEPARATOR = "__"
"""Separates field and part in the names of form fields."""
TREE = "instructions"
"""The name of a field with a tree of nodes, which the user types as Markdown."""
LARGEST = 20_000_000
"""Maximum size in bytes of a file whose text is sent."""


@dataclass(frozen=True)
class PartsForm(OperationForm):
    """The form of an operation, with a field for each part of an object field."""

    @property
    @override
    def fields(self) -> tuple[FormField, ...]:
        found: list[FormField] = []
        for field in form_fields(self.operation, self.given):
            parts = list(_parts(self.operation, field))
            if field.name == TREE:
                found.append(FormField(TREE, "Instructions for the translation, as Markdown", "", "long text"))
            else:
                found += parts or [field]
        return tuple(found)

    @override
    def result(self, texts: Mapping[str, str], present: Mapping[str, str]) -> Operation[Any]:
        values = dict(self.given)
        plain: dict[str, str] = {}
        objects: dict[str, dict[str, Any]] = {}
        problems: dict[str, InvalidArgument] = {}
        by_name = {field.name: field for field in self.fields}
        for name, text in texts.items():
            field, mark, part = name.partition(SEPARATOR)
            if mark:
                try:
                    value = by_name[name].value_of(text)
                except InvalidArgument as error:
                    problems.setdefault(field, error)
                    continue
                if value not in (None, ()):
                    objects.setdefault(field, {})[part] = value
            elif name == TREE:
                if text != present.get(TREE, ""):
                    values[TREE] = markdown_to_nodes(text)
            elif by_name[name].is_required or text != present.get(name, ""):
                plain[name] = text
        for name in {name.partition(SEPARATOR)[0] for name in by_name if SEPARATOR in name} - problems.keys():
            if name in objects or self.operation.model_fields[name].is_required():
                try:
                    values[name] = _joined(self.operation, name, objects.get(name, {}), by_name)
                except InvalidArgument as error:
                    problems[name] = self._placed(error, by_name, objects)
        try:
            return call_of(self.operation, values, plain, problems)
        except InvalidArgument as error:
            first, *others = [self._placed(one, by_name, objects) for one in (error, *error.others)]
            raise InvalidArgument(first.field, first.reason, call=first.call, wire=first.wire, others=others) from None

    def _placed(
        self, error: InvalidArgument, fields: Container[str], objects: Mapping[str, Mapping[str, Any]]
    ) -> InvalidArgument:
        """Return a copy of an error that names the form field instead of the field of the operation.

        If the error already has the name of a form field, or concerns no field, return it unchanged.
        """
        name = self._place(error, fields, objects) if error.call else ""
        return InvalidArgument(name, error.reason) if name else error

    def _place(self, error: InvalidArgument, fields: Container[str], objects: Mapping[str, Mapping[str, Any]]) -> str:
        """Return the name of the form field that an error concerns; empty if there is none.

        An error from an object names only the part. An error from the operation also names the object that contains the
        part.
        """
        first, last = error.field.partition(".")[0], error.field.rpartition(".")[2]
        owners = [name for name, parts in objects.items() if last in parts]
        parts = [f"{name}{SEPARATOR}{last}" for name in (first, *owners, *objects)]
        names = [first, *parts] if error.call == self.operation.__name__ else parts
        return next((name for name in names if name in fields), "")

    @override
    def changes_nothing(self, result: Any) -> bool:
        return bool(result.given().keys() <= self.given.keys())


def has_parts(operation: type[Operation[Any]]) -> bool:
    """Return whether an operation has fields that are typed in parts or as Markdown."""
    return any(name == TREE or any(_models(operation, name)) for name in operation.model_fields if _is_known(name))


def tree_text(item: Any) -> dict[str, str]:
    """Return the instructions of an item as Markdown, under the name of their field; empty if it has none."""
    tree = getattr(item, TREE, None)
    return {TREE: nodes_to_markdown(cast("dict[str, Any]", tree)).strip()} if isinstance(tree, dict) else {}


def with_file(call: Operation[Any]) -> Operation[Any]:
    """Replace the text `@FILE` in a call by the text of the file. Reads the disk, so call it in a thread.

    Raises:
        InvalidArgument: the file cannot be read as UTF-8 text, or is too large.
    """
    source = getattr(call, "source", None)
    text = getattr(source, "text", None)
    if source is None or not isinstance(text, str) or not text.startswith("@"):
        return call
    name, path = f"source{SEPARATOR}text", text[1:].strip()
    try:
        place = Path(path).expanduser()
        if not place.is_file():  # reading a pipe could block forever
            raise InvalidArgument(name, "is not a file" if place.exists() else "file not found")
        if place.stat().st_size > LARGEST:
            raise InvalidArgument(name, f"is too large: at most {LARGEST // 1_000_000} MB")
        content = place.read_text("utf-8-sig")
    except (OSError, ValueError, RuntimeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "no UTF-8 text"
        raise InvalidArgument(name, f"could not be read: {reason}") from None
    return call.model_copy(update={"source": source.model_copy(update={"text": content})})


def _is_known(name: str) -> bool:
    return name == TREE or name in PARTS


def _models(operation: type[Operation[Any]], name: str) -> list[type[Argument]]:
    members = members_of(operation.model_fields[name].annotation)
    return [member for member in members if isinstance(member, type) and issubclass(member, Argument)]


def _parts(operation: type[Operation[Any]], field: FormField) -> list[FormField]:
    """Return a form field for each part of an object field; empty for other fields."""
    found: dict[str, FormField] = {}
    models = _models(operation, field.name)
    for model in models:
        for part, label in PARTS.get(field.name, {}).items():
            info = model.model_fields.get(part)
            if info is None or part in found:
                continue
            members = members_of(info.annotation)
            choices: tuple[tuple[str, str], ...] = ()
            kind: Kind = "text"
            if get_origin(members[0]) is Literal:
                kind, words = "choice", [str(word) for word in get_args(members[0])]
                choices = tuple((word, word) for word in words)
            elif get_origin(members[0]) is tuple:
                kind = "list"
            found[part] = FormField(
                f"{field.name}{SEPARATOR}{part}",
                label,
                "; ".join([*limits(info, is_repeatable=kind == "list"), *(["separated by commas"] * (kind == "list"))]),
                kind,
                choices,
                is_required=len(models) == 1 and info.is_required(),
                reference=PART_REFERENCES.get((field.name, part)),
                check=FIELD_VALIDATORS.get(part),
            )
    return list(found.values())


def _joined(
    operation: type[Operation[Any]], name: str, parts: Mapping[str, Any], fields: Mapping[str, FormField]
) -> Argument:
    """Combine the parts of a field into an object.

    Args:
        operation: the operation.
        name: the name of the field.
        parts: the values of the typed parts.
        fields: the form fields, whose labels appear in messages.

    Raises:
        InvalidArgument: a part is missing or invalid, or parts exclude each other.
    """

    def label(part: str) -> str:
        return f"“{fields[f'{name}{SEPARATOR}{part}'].label.partition(', ')[0]}”"

    models = _models(operation, name)
    first = f"{name}{SEPARATOR}{next(iter(parts), next(iter(models[0].model_fields)))}"
    if not parts:
        names = [part for part in PARTS.get(name, {}) if any(part in model.model_fields for model in models)]
        others = [] if models[0].model_fields[names[0]].is_required() and len(models) == 1 else names[1:]
        unless = f", unless {' or '.join(map(label, others))} is given" if others else ""
        raise InvalidArgument(f"{name}{SEPARATOR}{names[0]}", f"is required{unless}")
    model = next((model for model in models if set(parts) <= set(model.model_fields)), None)
    if model is None or (not model.always_sent and {"url", "text"} <= set(parts)):
        more = " and ".join(map(label, list(parts)[1:]))
        raise InvalidArgument(first, f"cannot be given together with {more}: give one")
    fixed = {field: model.model_fields[field].default for field in model.always_sent}
    for part, info in model.model_fields.items():
        if info.is_required() and part not in parts and part not in fixed:
            raise InvalidArgument(f"{name}{SEPARATOR}{part}", "is required")
    return model(**fixed, **parts)
