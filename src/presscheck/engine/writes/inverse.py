"""The base class of inverses: recorded values, their comparison with the present values, and descriptions."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from presscheck.api.operation import Operation

Call = Any
"""A call of the operation that the inverse belongs to."""
Json = dict[str, Any]
Read = Callable[[Operation[Any]], Awaitable[Any]]
"""Returns the response of the service to a read, bypassing the cache."""
LONGEST = 60
"""Maximum number of characters of a quoted text."""
NO_FORMER = "the former value is not known"
NO_CHANGE = "it changed nothing"
NO_RESULT = "the service did not tell what it created"


@dataclass(frozen=True)
class SentWrite:
    """A write that was sent.

    Attributes:
        call: the write.
        former: the values that the write replaced; None if unknown.
        result: the recorded part of the response; None if no part was recorded.
        me: the id of the author; empty if unknown.
    """

    call: Call
    former: Json | None
    result: Json | None
    me: str = ""

    @property
    def before(self) -> Json:
        """The values that the write replaced. Only valid if `Inverse.reason` is None."""
        return self.former or {}

    @property
    def response(self) -> Json:
        """The recorded part of the response. Only valid if `Inverse.reason` is None."""
        return self.result or {}


@dataclass(frozen=True)
class Comparison:
    """The comparison of the present values with the values that a write left.

    Attributes:
        state: `unchanged`; `undone` (the present values equal the values before the write); `changed` (by others, or by
            a later write of the user).
        written: the values that the write left, as text.
        present: the present values, as text.
    """

    state: Literal["unchanged", "undone", "changed"]
    written: str = ""
    present: str = ""


class Inverse(ABC):
    """The inverse of an operation. By default, no values are recorded except the id of the created resource."""

    async def former(self, read: Read, call: Call, me: str) -> Json | None:
        """Return the values that a call will replace, which are recorded before the call is sent; None if not needed.

        Raises:
            PresscheckError: the values cannot be read.
        """
        return None

    def result(self, answer: Any) -> Json | None:
        """Return the part of the response to record, or None if no part is needed."""
        identity = getattr(answer, "id", None)
        return {"id": identity} if isinstance(identity, str) else None

    @abstractmethod
    def reason(self, sent: SentWrite) -> str | None:
        """Return why a write cannot be undone, or None if no reason is known without a request."""

    @abstractmethod
    def calls(self, sent: SentWrite) -> tuple[Operation[Any], ...]:
        """Return the writes that undo a sent write. Only valid if `reason` is None."""

    @abstractmethod
    def words(self, sent: SentWrite) -> str:
        """Describe the effect of the undo in a sentence."""

    @abstractmethod
    async def compare(self, read: Read, sent: SentWrite) -> Comparison:
        """Compare the present values with the values that the write left.

        Raises:
            PresscheckError: the present values cannot be read.
        """


def last_id(call: Call) -> str:
    """Return the id of the resource that a call changes, which is the last field of its path."""
    return getattr(call, call.path_fields()[-1])


def compared(written: Json, former: Json | None, present: Json, text: Callable[[Json], str]) -> Comparison:
    """Compare the present values with the values that a write left and with the values before the write."""
    texts = text(written), text(present)
    if _have_same_values(written, present):
        return Comparison("unchanged", *texts)
    is_back = former is not None and _have_same_values(former, present)
    return Comparison("undone" if is_back else "changed", *texts)


def _have_same_values(expected: Json, present: Json) -> bool:
    """Return whether fields have their expected values.

    Differences in surrounding whitespace are ignored, and an empty text equals a missing value, as services store them.
    """
    return all(_is_same(name, value, present.get(name)) for name, value in expected.items())


def _is_same(name: str, first: Any, second: Any) -> bool:
    if isinstance(first, dict) or isinstance(second, dict):
        return value_text(name, first) == value_text(name, second)
    if isinstance(first, str) or isinstance(second, str):
        first, second = first or "", second or ""
        return is_same_text(first, second) if name == "text" else first.strip() == second.strip()
    return first == second


def is_change(former: Any, written: Any) -> bool:
    """Return whether a write changed a value. Surrounding whitespace does not count; an empty value equals None."""
    first, second = (value.strip() if isinstance(value, str) else value for value in (former, written))
    return (first or None) != (second or None)


def values_text(values: Json) -> str:
    """Return the values of fields as text: a line per field, or the value alone."""
    if len(values) == 1:
        [(name, value)] = values.items()
        return value_text(name, value)
    return "\n".join(f"{name.replace('_', ' ')}: {value_text(name, value)}" for name, value in values.items())


def value_text(name: str, value: Any) -> str:
    """Return a value as text. Node trees are converted to Markdown."""
    if name == "resolved":
        return "resolved" if value else "open"
    if name == "adaptive_content":
        return "on" if value == {"enabled": True} else "off"
    if isinstance(value, bool):
        return "on" if value else "off"
    if name == "merge_rules" and isinstance(value, dict):
        return _rules_text(cast("Json", value))
    if isinstance(value, dict):
        # 3 ms, only for a description
        from presscheck.documents.nodes.to_markdown import nodes_to_markdown
        from presscheck.documents.nodes.validation import InvalidNode

        node = cast("Json", value)
        try:
            return nodes_to_markdown(node).strip()
        except InvalidNode:
            return json.dumps(node, sort_keys=True, ensure_ascii=False)
    if isinstance(value, list):
        return ", ".join(map(str, cast("list[Any]", value))) or "none"
    return "" if value is None else str(value)


def _rules_text(value: Json) -> str:
    if value.get("type") != "rules" or not value.get("rules"):
        return "those of the organization" if value.get("type") == "inherit" else "none"
    rules = [
        " ".join(part for part in (rule["rule"], *(rule.get("users") or ()), rule.get("expression") or "") if part)
        for rule in value["rules"]
    ]
    return ", ".join(sorted(rules)).replace("_", " ")


def sentence(parts: Sequence[str]) -> str:
    """Join parts with commas, and capitalize the first letter."""
    text = ", ".join(parts)
    return text[:1].upper() + text[1:]


def text_of(body: Any) -> str:
    """Return the Markdown of a message."""
    return ((body.markdown if body else None) or "").strip()


def is_same_text(first: str, second: str) -> bool:
    """Return whether two Markdown texts are equal, ignoring differences in how the service formats Markdown."""
    # 2 ms, only to compare texts
    from presscheck.documents.nodes.from_markdown import markdown_to_nodes
    from presscheck.documents.nodes.to_markdown import nodes_to_markdown

    if first.split() == second.split():
        return True
    return nodes_to_markdown(markdown_to_nodes(first)).split() == nodes_to_markdown(markdown_to_nodes(second)).split()


def short(text: str) -> str:
    """Shorten a text for a quotation in a sentence."""
    flat = " ".join(text.split())
    return flat if len(flat) <= LONGEST else f"{flat[: LONGEST - 1].rstrip()}…"
