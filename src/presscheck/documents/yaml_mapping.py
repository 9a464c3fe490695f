"""Loads untrusted YAML within limits; JSON is also YAML."""

from __future__ import annotations

import re
from typing import Any, cast

import yaml

DEEPEST = 200
"""Maximum nesting depth of sequences and mappings."""
MOST_VALUES = 500_000
"""Maximum number of values; the values of an alias count each time."""

LONGEST_NUMBER = 1000
"""Maximum number of characters of a number."""

_CONSTRUCTION_ERRORS = (
    yaml.YAMLError, ValueError, OverflowError, RecursionError, LookupError, AttributeError, TypeError
)  # fmt: skip
"""Exceptions of the library for values such as the 31st of February, or `!!bool maybe`."""
_number = re.compile(r"[-+]?[0-9][0-9a-fA-Fx_:]*").fullmatch

_parse: Any = getattr(yaml, "parse")  # noqa: B009  # the library's type annotations lack this function
_loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # safe loaders only: others call functions that tags name


class InvalidYaml(Exception):
    """The text is not YAML or exceeds the limits: the reason, and the line, counted from 1."""

    def __init__(self, reason: str, line: int) -> None:
        super().__init__(reason)
        self.line = line


def load_yaml(text: str) -> dict[str, Any]:
    """Load a YAML mapping; any other value becomes an empty dict.

    Raises:
        InvalidYaml: the text is not YAML or exceeds the limits.
    """
    value = load_yaml_value(text)
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def load_yaml_value(text: str | bytes) -> Any:
    """Load a YAML document.

    Raises:
        InvalidYaml: the text is not YAML or exceeds the limits.
    """
    try:
        _require_limits(text)
        return yaml.load(text, Loader=_loader)  # noqa: S506  # a safe loader
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise InvalidYaml(error.problem or "cannot be read", min(line, _lines(text, len(text)))) from None
    except yaml.reader.ReaderError as error:
        raise InvalidYaml(error.reason, _lines(text, error.position)) from None
    except _CONSTRUCTION_ERRORS as error:
        raise InvalidYaml(_first_line(error), 1) from None


def _require_limits(text: str | bytes) -> None:
    """Read the events of a document one by one, before the document is composed.

    Composing recurses: in the C loader, deep nesting would crash the process.

    Raises:
        InvalidYaml: the nesting is too deep, there are too many values, or an alias contains itself.
    """
    size = _Size()
    line = 1
    try:
        for event in _parse(text, Loader=_loader):
            line = event.start_mark.line + 1 if event.start_mark else line
            size.add(event)
    except ValueError as error:
        raise InvalidYaml(str(error), line) from None


class _Size:
    """Counts the depth and the number of values of a document from its events; aliases count like their targets.

    An item of the stack is the name of an anchor, the depth below it, and its number of values.
    """

    def __init__(self) -> None:
        self._open: list[tuple[str | None, int, int]] = [(None, 0, 0)]
        self._anchors: dict[str, tuple[int, int]] = {}

    def add(self, event: Any) -> None:
        """Process an event.

        Raises:
            ValueError: the document exceeds a limit.
        """
        if isinstance(event, yaml.CollectionStartEvent):
            self._open.append((event.anchor, 0, 1))
            self._require_depth(0)
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, depth, values = self._open.pop()
            self._count(anchor, depth + 1, values)
        elif isinstance(event, yaml.ScalarEvent):
            if event.implicit[0] and len(event.value) > LONGEST_NUMBER and _number(event.value):
                raise ValueError("number is too long")
            self._count(event.anchor, 0, 1)
        elif isinstance(event, yaml.AliasEvent):
            if any(event.anchor == name for name, _, _ in self._open):
                raise ValueError(f"the alias *{event.anchor} contains itself")
            self._count(None, *self._anchors.get(str(event.anchor), (0, 1)))

    def _count(self, anchor: str | None, depth: int, values: int) -> None:
        if anchor:
            self._anchors[anchor] = depth, values
        above, deepest, total = self._open[-1]
        self._open[-1] = above, max(deepest, depth), total + values
        self._require_depth(depth)
        if total + values > MOST_VALUES:
            raise ValueError(f"too large: more than {MOST_VALUES} values")

    def _require_depth(self, below: int) -> None:
        if len(self._open) - 1 + below > DEEPEST:
            raise ValueError("nested too deep")


def _lines(text: str | bytes, end: int) -> int:
    """Return the line of an offset, counted from 1."""
    return 1 + (text.count("\n", 0, end) if isinstance(text, str) else text.count(b"\n", 0, end))


def _first_line(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]
