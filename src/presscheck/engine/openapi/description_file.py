"""Reads an OpenAPI description from a file, apart from the versions: a screen that lists these needs no YAML."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from presscheck.documents.yaml_mapping import InvalidYaml, load_yaml_value
from presscheck.errors import InvalidArgument

LARGEST = 20_000_000
"""The most bytes of a file with a description."""


def read_description(file: Path, field: str) -> Mapping[str, Any]:
    """An OpenAPI description from a file, JSON or YAML. Reads the disk: in a thread.

    Args:
        file: the file.
        field: the name of the argument that named it, for errors.

    Raises:
        InvalidArgument: it cannot be read, is too large, or is no OpenAPI description.
    """
    try:
        with file.expanduser().open("rb") as stream:
            content = stream.read(LARGEST + 1)
    except OSError as error:
        raise InvalidArgument(field, f"could not be read: {error.strerror}") from None
    if len(content) > LARGEST:
        raise InvalidArgument(field, f"is too large: at most {LARGEST // 1_000_000} MB")
    return parse_description(content, field)


def parse_description(content: bytes, field: str) -> Mapping[str, Any]:
    """An OpenAPI description from the bytes of a file, JSON or YAML; slow: in a thread.

    Raises:
        InvalidArgument: it is no OpenAPI description.
    """
    try:
        found: Any = json.loads(json.dumps(load_yaml_value(content), default=str))
    except InvalidYaml as error:
        raise InvalidArgument(field, f"invalid JSON or YAML in line {error.line}: {error}") from None
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidArgument(field, f"has a value that JSON does not support: {error}") from None
    if not isinstance(found, dict) or not {"openapi", "swagger", "paths"} & cast("dict[str, Any]", found).keys():
        raise InvalidArgument(field, "is no OpenAPI description: it has no openapi, swagger or paths")
    return cast("dict[str, Any]", found)
