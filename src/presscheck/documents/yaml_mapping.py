"""Loads YAML mappings; every failure is one error with its line."""

from __future__ import annotations

from typing import Any, cast

import yaml


class InvalidYaml(Exception):
    """A text is not YAML: the reason, and the line, counted from 1."""

    def __init__(self, reason: str, line: int) -> None:
        super().__init__(reason)
        self.line = line


def load_yaml(text: str) -> dict[str, Any]:
    """Loads a YAML mapping; any other value is an empty one.

    Raises:
        BadYaml: the text is not YAML.
    """
    try:
        value = yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise InvalidYaml(error.problem or "cannot be read", line) from None
    except yaml.reader.ReaderError as error:
        raise InvalidYaml(error.reason, 1 + text.count("\n", 0, error.position)) from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # ValueError: for example the 31st of February
        raise InvalidYaml(str(error).splitlines()[0], 1) from None
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
