"""Reads OpenAPI descriptions from files. A separate module, so that the list of versions does not import YAML."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from presscheck.documents.yaml_mapping import InvalidYaml, load_yaml_value
from presscheck.errors import InvalidArgument

LARGEST = 20_000_000
"""Maximum size of a description file in bytes."""


def read_description(file: Path, field: str) -> Mapping[str, Any]:
    """Read an OpenAPI description from a JSON or YAML file. Reads the disk, so call it in a thread.

    Args:
        file: the file.
        field: the name of the argument with the path, for errors.

    Raises:
        InvalidArgument: the file cannot be read, is too large, or is not an OpenAPI description.
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
    """Parse an OpenAPI description in JSON or YAML. This is slow, so call it in a thread.

    Raises:
        InvalidArgument: the content is not an OpenAPI description.
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
