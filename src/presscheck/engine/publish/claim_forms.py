"""Forms for a claim in a visitor schema, and for an audience with the claims of a schema."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

from typing_extensions import override

from presscheck.documents.visitors.claim_schema import PRIMITIVES, Claim, claim_at, with_claim
from presscheck.engine.forms.form import FLAGS, TYPES, Form, FormField
from presscheck.engine.publish.audiences import Audience, read_claims
from presscheck.errors import InvalidArgument
from presscheck.text.sanitize import sanitize

ENUMERATION = "enumeration"
KINDS = {**TYPES, ENUMERATION: "one of a list of texts"}
"""The types of claims that the form offers, with their labels."""
NOT_SET = ("", "not set")


class ClaimChange(NamedTuple):
    """A change of a claim in a schema.

    Attributes:
        path: the names of the objects that contain the claim, and its own name.
        claim: the JSON schema of the claim; None deletes the claim.
        former: the path before the change; empty for a new claim.
    """

    path: tuple[str, ...]
    claim: dict[str, Any] | None
    former: tuple[str, ...] = ()

    def made_in(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        """Apply the change to a copy of a schema.

        Raises:
            InvalidArgument: the schema already has the claim, or lacks the object that should contain it.
        """
        name = ".".join(self.path)
        if self.claim is not None and self.path != self.former and claim_at(schema, self.path):
            raise InvalidArgument("path", f"there is a claim “{name}” already")
        try:
            return with_claim(schema, self.path, self.claim, former=self.former)
        except LookupError:
            above = ".".join(self.path[:-1])
            reason = (
                f"there is no object claim “{above}”: make it in the JSON" if above else "the schema has no properties"
            )
            raise InvalidArgument("path", reason) from None


@dataclass(frozen=True)
class ClaimForm(Form):
    """The form for a new claim or for changes to a claim.

    Attributes:
        schema: the schema that contains the claim.
        claim: the claim; None for a new claim.
    """

    schema: Mapping[str, Any]
    claim: Claim | None = None

    @property
    @override
    def fields(self) -> tuple[FormField, ...]:
        kinds = tuple(KINDS.items())
        return (
            FormField(
                "path", "Name", "as in conditions after visitor.claims.; a dot goes into an object", "text", (), True
            ),
            FormField("kind", "Type", "", "choice", kinds, True),
            FormField("values", "Values", "separated by commas; only for one of a list of texts", "list"),
            FormField("description", "Description", "shown to those who write conditions", "text", (), True),
        )

    @property
    def present(self) -> dict[str, str]:
        """The initial texts of the fields."""
        claim = self.claim
        if claim is None:
            return {"kind": "string"}
        kind = ENUMERATION if claim.values and claim.kind == "string" else claim.kind
        texts = {"path": claim.name, "kind": kind, "values": ", ".join(claim.values), "description": claim.description}
        return {name: text for name, text in texts.items() if text}

    @override
    def result(self, texts: Mapping[str, str], present: Mapping[str, str]) -> ClaimChange:
        former = self.claim.path if self.claim else ()
        name = texts["path"].strip()
        path = former if self.claim and name == self.claim.name else tuple(name.split("."))
        if not all(part and part == part.strip() for part in path):
            raise InvalidArgument("path", "is required" if not name else "has an empty name between its dots")
        kind, description = texts["kind"], texts["description"].strip()
        if kind not in KINDS:
            raise InvalidArgument("kind", f"must be one of: {', '.join(KINDS.values())}")
        if not description:
            raise InvalidArgument("description", "is required")
        values = self._values(texts["values"])
        claim: dict[str, Any] = {"type": "string" if kind == ENUMERATION else kind, "description": description}
        if kind == ENUMERATION and not values:
            raise InvalidArgument("values", "is required for one of a list of texts")
        if kind != ENUMERATION and values:
            raise InvalidArgument("values", f"need the type “{KINDS[ENUMERATION]}”")
        if values:
            claim["enum"] = list(values)
        change = ClaimChange(path, claim, former)
        change.made_in(self.schema)
        return change

    def _values(self, text: str) -> tuple[str, ...]:
        if self.claim and text == ", ".join(self.claim.values):
            return self.claim.values  # keep unchanged values as they are: a value may contain a comma
        return tuple(dict.fromkeys(part for one in text.split(",") if (part := one.strip())))

    @override
    def changes_nothing(self, result: Any) -> bool:
        return result.path == result.former and claim_at(self.schema, result.path) == result.claim


def can_fill_in(claim: Claim) -> bool:
    """Return whether the form can edit a claim."""
    return claim.kind in PRIMITIVES and all("." not in name for name in claim.path)


@dataclass(frozen=True)
class AudienceForm(Form):
    """The form of an audience: the name, the claims of the schema, and all other claims as JSON.

    Attributes:
        claims: the claims of the schema.
        audience: the audience; None for a new audience.
    """

    claims: Sequence[Claim]
    audience: Audience | None = None

    @property
    @override
    def fields(self) -> tuple[FormField, ...]:
        return (
            FormField("name", "Name of the audience", "", "text", (), True),
            *(self._field(claim) for claim in self._claims_with_field),
            FormField("others", "Other claims", 'JSON, such as {"team": "x"}: claims that the schema lacks', "json"),
        )

    @property
    def _claims_with_field(self) -> list[Claim]:
        return [claim for claim in self.claims if claim.kind in (*PRIMITIVES, "array")]

    @property
    def present(self) -> dict[str, str]:
        """The initial texts of the fields."""
        if self.audience is None:
            return {}
        others: dict[str, Any] = json.loads(json.dumps(self.audience.claims))
        texts = {"name": self.audience.name}
        for claim in self._claims_with_field:
            text = _text_of(claim, _value_at(others, claim.path))
            if text is not None:
                texts[_name(claim)] = text
                _remove(others, claim.path)
        return {**texts, **({"others": json.dumps(others, ensure_ascii=False)} if others else {})}

    @override
    def result(self, texts: Mapping[str, str], present: Mapping[str, str]) -> Audience:
        name = texts["name"].strip()
        if not name:
            raise InvalidArgument("name", "is required")
        try:
            claims = read_claims(texts["others"]) if texts["others"].strip() else {}
        except InvalidArgument as error:
            raise InvalidArgument("others", error.reason) from None
        for claim in self._claims_with_field:
            if texts[_name(claim)].strip():
                _set(claims, claim.path, _value_of(claim, texts[_name(claim)]))
        return Audience(name, claims)

    @override
    def changes_nothing(self, result: Any) -> bool:
        return result == self.audience

    def _field(self, claim: Claim) -> FormField:
        choices: tuple[tuple[str, str], ...] = ()
        if claim.kind == "boolean":
            choices = (*FLAGS.items(), NOT_SET)
        elif claim.values and claim.kind != "array":
            choices = (*((value, sanitize(value)) for value in dict.fromkeys(claim.values) if value), NOT_SET)
        notes = [kind_words(claim) if claim.kind != "array" else "several, separated by commas", claim.description]
        if claim.kind == "array" and claim.values:
            notes.insert(1, f"of {', '.join(claim.values)}")
        label, help_ = sanitize(claim.name), ": ".join(note for note in notes if note)
        return FormField(_name(claim), label, help_, "choice" if choices else "text", choices)


def kind_words(claim: Claim) -> str:
    """Return the type of a claim in the words of the forms; untrusted text."""
    if claim.items:
        return f"list of {TYPES.get(claim.items, claim.items)}"
    return TYPES.get(claim.kind, claim.kind)


def _name(claim: Claim) -> str:
    """Return the name of a claim's field. The path is encoded in hexadecimal, because it may have any characters."""
    return f"claim_{json.dumps(claim.path).encode().hex()}"


def _value_at(claims: Mapping[str, Any], path: Sequence[str]) -> Any:
    value: Any = claims
    for name in path:
        value = cast("dict[str, Any]", value).get(name) if isinstance(value, dict) else None
    return value


def _remove(claims: dict[str, Any], path: Sequence[str]) -> None:
    """Remove a claim and the objects that become empty."""
    if len(path) > 1:
        _remove(claims[path[0]], path[1:])
    if len(path) == 1 or not claims[path[0]]:
        del claims[path[0]]


def _set(claims: dict[str, Any], path: Sequence[str], value: Any) -> None:
    for name in path[:-1]:
        inside = claims.setdefault(name, {})
        if not isinstance(inside, dict):
            raise InvalidArgument("others", f"“{name}” is an object in the schema")
        claims = cast("dict[str, Any]", inside)
    claims[path[-1]] = value


def _text_of(claim: Claim, value: Any) -> str | None:
    """Format a value as the user types it, or return None if it is missing or the claim's field cannot express it."""
    if claim.kind == "array":
        items = cast("list[Any]", value) if isinstance(value, list) else []
        texts = [_item_text(claim.items, item) for item in items]
        return (
            ", ".join(text for text in texts if text)
            if texts and all(text and "," not in text for text in texts)
            else None
        )
    text = _item_text(claim.kind, value)
    return None if text is None or (claim.values and text not in claim.values) else text


def _item_text(kind: str, value: Any) -> str | None:
    if kind == "boolean":
        return {True: "true", False: "false"}.get(value) if isinstance(value, bool) else None
    if kind == "number":
        return json.dumps(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
    return value if isinstance(value, str) and value and value == value.strip() else None


def _value_of(claim: Claim, text: str) -> Any:
    if claim.kind == "array":
        return [_item_value(claim, claim.items, part) for one in text.split(",") if (part := one.strip())]
    return _item_value(claim, claim.kind, text.strip())


def _item_value(claim: Claim, kind: str, text: str) -> Any:
    if claim.values and text not in claim.values:
        raise InvalidArgument(_name(claim), f"must be one of {', '.join(claim.values)}")
    if kind == "boolean":
        if text not in ("true", "false"):
            raise InvalidArgument(_name(claim), "must be true or false")
        return text == "true"
    if kind == "number":
        try:
            value = json.loads(text)
        except ValueError:
            value = None
        if (
            not isinstance(value, int | float)
            or isinstance(value, bool)
            or value != value
            or abs(value) == float("inf")
        ):
            raise InvalidArgument(_name(claim), "must be a number, such as 3 or 1.5")
        return value
    return text
