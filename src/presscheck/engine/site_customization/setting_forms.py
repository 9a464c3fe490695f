"""A form for settings, which converts values to typed texts and typed texts to a document."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

from typing_extensions import override

from presscheck.engine.forms.form import Form, FormField, first_of
from presscheck.engine.forms.references import SPACE
from presscheck.engine.site_config.document import Place
from presscheck.engine.site_customization.contrast import contrast_words
from presscheck.engine.site_customization.settings import (
    CHOICE_WORDS,
    Document,
    Leaf,
    path_name,
    reference_of,
    reference_text,
    value_at,
    with_value,
)
from presscheck.errors import InvalidArgument

NOT_SET = ("", "not set")


@dataclass(frozen=True)
class SettingsForm(Form):
    """A form whose result is a changed document.

    Attributes:
        document: the document before the change.
        leaves: the values that the form asks for.
        titles: the titles of settings by path; a field's label begins with the title of its setting.
        new: the path of a new item, and the item; None if the form changes existing values.
    """

    document: Document
    leaves: tuple[Leaf, ...]
    titles: Mapping[str, str]
    new: tuple[Place, dict[str, Any]] | None = None

    @property
    def _start(self) -> dict[str, Any]:
        """The document with the new item."""
        return with_value(self.document, *self.new) if self.new else dict(self.document)

    @property
    @override
    def fields(self) -> tuple[FormField, ...]:
        return tuple(self._field(leaf) for leaf in self.leaves)

    @property
    def present(self) -> dict[str, str]:
        """The initial texts of the fields."""
        start = self._start
        return {name_of(leaf): text_of(leaf, value_at(start, leaf.path)) for leaf in self.leaves}

    @override
    def result(self, texts: Mapping[str, str], present: Mapping[str, str]) -> dict[str, Any]:
        document = self._start
        values = {leaf: value_of(leaf, texts.get(name_of(leaf), "")) for leaf in self.leaves}
        problems: dict[str, InvalidArgument] = {}
        for leaf, value in values.items():
            if value is None and leaf.is_required and self._is_given(leaf.owner, values):
                problems[name_of(leaf)] = InvalidArgument(name_of(leaf), "is required")
            elif value != value_at(document, leaf.path):
                if value is not None:
                    try:
                        leaf.check(value)
                    except InvalidArgument as error:
                        problems[name_of(leaf)] = InvalidArgument(name_of(leaf), error.reason)
                document = with_value(document, leaf.path, value) if self._can_set(document, leaf, value) else document
        if problems:
            raise first_of(problems, problems)
        for owner in sorted({leaf.owner for leaf in self.leaves if leaf.owner}, key=len, reverse=True):
            if not self._is_given(owner, values) and value_at(document, owner) is not None:
                document = with_value(document, owner, None)
        return document

    @override
    def changes_nothing(self, result: Any) -> bool:
        return result == self.document

    @staticmethod
    def _can_set(document: Document, leaf: Leaf, value: Any) -> bool:
        """Return whether a value can be written. A value can be removed only if the object around it exists."""
        return value is not None or value_at(document, leaf.path[:-1]) is not None

    def _is_given(self, owner: Place, values: Mapping[Leaf, Any]) -> bool:
        """Return whether an object is needed: it is required, or one of its values is given."""
        if not owner:
            return True
        return any(value is not None for leaf, value in values.items() if leaf.path[: len(owner)] == owner)

    def _field(self, leaf: Leaf) -> FormField:
        titles = [
            self.titles[name] for name in (path_name(leaf.path[:-1]), path_name(leaf.owner)) if name in self.titles
        ]
        label = f"{titles[0]}: {leaf.label[0].lower()}{leaf.label[1:]}" if titles else leaf.label
        is_choice = leaf.kind in ("choice", "flag", "font")
        choices = tuple((word, CHOICE_WORDS.get(word, word)) for word in leaf.choices) if is_choice else ()
        present = value_at(self._start, leaf.path)
        if leaf.kind == "font" and isinstance(present, dict):
            own = font_name(cast("dict[str, Any]", present))
            choices = ((text_of(leaf, present), f"{own} (your own)"), *choices)
        if is_choice and not (leaf.is_required and not leaf.owner):
            choices = (*choices, NOT_SET)
        return FormField(
            name_of(leaf),
            label,
            leaf.help,
            "choice" if is_choice else "text",
            choices,
            is_required=leaf.is_required and not leaf.owner,
            reference=SPACE if leaf.kind == "reference" else None,
            takes_others=True,
            note=partial(self._contrast_note, leaf) if leaf.is_color else None,
        )

    def _contrast_note(self, leaf: Leaf, text: str) -> str:
        return contrast_words(text.strip(), self._start, leaf.path)


def name_of(leaf: Leaf) -> str:
    """Return the name of a value's field, of letters, digits and underscores."""
    return "__".join(str(part) for part in leaf.path)


def text_of(leaf: Leaf, value: Any) -> str:
    """Format a value as the user types it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if leaf.kind == "reference":
        return reference_text(value)
    if leaf.kind == "values" and isinstance(value, list):
        return ", ".join(map(str, cast("list[Any]", value)))
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def value_of(leaf: Leaf, text: str) -> Any:
    """Convert a typed text to a value, or to None if it is empty.

    Raises:
        InvalidArgument: the text is not valid JSON or not a reference, where the value requires one.
    """
    text = text.strip()
    if not text:
        return None
    if leaf.kind == "flag":
        return {"true": True, "false": False}.get(text, text)
    if leaf.kind == "values":
        return [part for one in text.split(",") if (part := one.strip())]
    try:
        if leaf.kind in ("words", "texts") or (leaf.kind == "font" and text.startswith("{")):
            return json.loads(text)
        if leaf.kind == "reference":
            return reference_of(text)
    except ValueError:
        reason = (
            "is not valid JSON" if leaf.kind != "reference" else "must be a web address, the id of a space, or JSON"
        )
        raise InvalidArgument(name_of(leaf), reason) from None
    return text


def font_name(font: Mapping[str, Any]) -> str:
    """Return the name of an uploaded font."""
    return str(font.get("fontFamily") or font.get("id") or "a font")
