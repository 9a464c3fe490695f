"""Validation of an OpenAPI specification on standard input: `python -m presscheck.service.openapi_validation`.

Specifications are untrusted: a pattern can backtrack for hours, and a reference can point to a file or a web server.
Therefore the process has limits (see `bounded_process`). After loading its libraries, it cannot open files or
connections, or start other processes.

Standard output is a JSON object: `content` with a valid specification, otherwise `code` and `messages` of the errors.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from itertools import islice
from typing import Any, cast

from presscheck.documents.yaml_mapping import InvalidYaml, load_yaml_value
from presscheck.service.bounded_process import limit_resources
from presscheck.service.integrations.script_process import restrict

MOST_ERRORS = 20
"""Maximum number of reported errors."""
LONGEST_MESSAGE = 500
"""Maximum number of characters of an error message."""
MOST_SECONDS = 10
"""Seconds of processor time for a validation. The process is killed after twice that much real time."""
MOST_MEMORY = 1024 * 1024 * 1024
"""Bytes of memory for a validation."""
REFERENCES = ("$ref", "$dynamicRef", "$id")
"""Keys whose values a validator may load as URLs, unless they begin with `#`."""


class Faulty(Exception):
    """A specification is invalid.

    Attributes:
        code: the error code of the API.
        messages: the error messages.
    """

    def __init__(self, code: str, *messages: str) -> None:
        super().__init__(*messages)
        self.code = code
        self.messages = [message[:LONGEST_MESSAGE] for message in messages]

    @property
    def errors(self) -> list[dict[str, Any]]:
        """The errors in the format of the API: an object with `message` and `code` for each message."""
        return [{"message": message, "code": self.code} for message in self.messages]


def parsed(text: bytes) -> dict[str, Any]:
    """Parse a specification in JSON or YAML. YAML values that JSON lacks, such as dates, become text.

    Raises:
        Faulty: the text is invalid JSON or YAML, is too large, or is not an object.
    """
    try:
        value = load_yaml_value(text)
    except InvalidYaml as error:
        raise Faulty("PARSE_ERROR", f"invalid JSON or YAML in line {error.line}: {error}") from None
    if not isinstance(value, dict):
        raise Faulty("PARSE_ERROR", "must be an object")
    try:
        return json.loads(json.dumps(value, default=str, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise Faulty("PARSE_ERROR", f"has a value that JSON does not support: {error}") from None


def outside_references(specification: dict[str, Any]) -> Iterator[str]:
    """Yield an error message for each reference that points outside the document."""
    waiting: list[tuple[str, Any]] = [("", specification)]
    while waiting:
        place, value = waiting.pop()
        if isinstance(value, dict):
            for key, inner in cast("dict[str, Any]", value).items():
                if key in REFERENCES and isinstance(inner, str) and not inner.startswith("#"):
                    yield f"{place}{key}: {inner} points outside this document; only references that begin with # work"
                waiting.append((f"{place}{key}.", inner))
        elif isinstance(value, list):
            waiting.extend((f"{place}{index}.", inner) for index, inner in enumerate(cast("list[Any]", value)))


def require_valid(specification: dict[str, Any]) -> None:
    """Check a specification against the schema of its OpenAPI version.

    Afterwards this process can open neither files nor connections.

    Raises:
        Faulty: the specification is invalid.
    """
    if outside := list(islice(outside_references(specification), MOST_ERRORS)):
        raise Faulty("PARSE_ERROR", *outside)
    version = str(specification.get("openapi") or specification.get("swagger") or "")
    validator = _validator_of(version)
    if validator is None:
        raise Faulty("PARSE_ERROR", f"openapi: unsupported version ({version or 'missing'}); must be 2.0, 3.0 or 3.1")
    # makes the validator read the schema from its files while files can be opened
    list(validator({"openapi": version}).iter_errors())
    # from here on, the kernel refuses files and connections that a reference would make the validator load
    restrict(MOST_MEMORY, MOST_SECONDS, 2 * MOST_SECONDS)
    try:
        errors = [_message(error) for error in islice(validator(specification).iter_errors(), MOST_ERRORS)]
    except (MemoryError, RecursionError) as error:
        raise Faulty("PARSE_ERROR", f"too large or too deep to be validated ({type(error).__name__})") from None
    except Exception as error:  # the validator may fail on unexpected input
        errors = [f"{type(error).__name__}: {error}"]
    if errors:
        raise Faulty("PARSE_ERROR", *errors)


def _validator_of(version: str) -> Any:
    """Return the validator for an OpenAPI version, or None if the version is not supported."""
    # takes 370 ms to import, so only in the process that validates
    from openapi_spec_validator import OpenAPIV2SpecValidator, OpenAPIV30SpecValidator, OpenAPIV31SpecValidator

    validators = {"2.": OpenAPIV2SpecValidator, "3.0": OpenAPIV30SpecValidator, "3.1": OpenAPIV31SpecValidator}
    return next((validator for begins, validator in validators.items() if version.startswith(begins)), None)


def _message(error: Any) -> str:
    path = ".".join(str(part) for part in error.absolute_path)
    message = str(error.message).partition("\n")[0]
    return f"{path}: {message}" if path else message


def main() -> None:
    """Validate the specification on standard input."""
    limit_resources(MOST_MEMORY, MOST_SECONDS)
    answer: dict[str, Any]
    try:
        specification = parsed(sys.stdin.buffer.read())
        require_valid(specification)
        answer = {"content": json.dumps(specification, separators=(",", ":"))}
    except Faulty as fault:
        answer = {"code": fault.code, "messages": fault.messages}
    sys.stdout.write(json.dumps(answer))


if __name__ == "__main__":
    main()
