"""An OpenAPI specification, indexed so that a page parses only the parts that it shows.

A parsed specification takes about ten times its size in memory. Therefore operations and components stay JSON text
until they are read. Swagger 2 is converted to the form of OpenAPI 3 first.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast
from urllib.parse import unquote

from presscheck.documents.openapi.swagger import as_version_3
from presscheck.documents.yaml_mapping import InvalidYaml, load_yaml_value

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
LARGEST_JSON, LARGEST_YAML = 30_000_000, 1_500_000
"""Maximum numbers of bytes of a file; a megabyte of YAML takes a second to load, a megabyte of JSON 10 ms."""
MOST_REFERENCES = 20
"""Maximum number of references in a chain."""
Object = Mapping[str, Any]
_has_surrogates = re.compile(rb"\\u[dD][89a-fA-F]").search
"""Finds escapes of surrogates. A surrogate without its pair cannot be encoded as UTF-8."""


class SpecificationError(Exception):
    """A file is not a specification, or is too large."""


class Entry(NamedTuple):
    """An operation or a webhook in the index.

    Attributes:
        kind: `operation` or `webhook`.
        method: the method in lower case.
        name: the path of an operation or the name of a webhook.
        tags: the names of its tags.
        title: its summary, or else its operation id, or else its name.
        is_deprecated: whether clients should no longer use it.
    """

    kind: str
    method: str
    name: str
    tags: tuple[str, ...]
    title: str
    is_deprecated: bool


class Specification:
    """An indexed specification. It never changes, because threads share it.

    Attributes:
        head: everything except paths, webhooks and components.
        entries: the operations and webhooks, in order.
        schemas: the names of the schemas, in order.
    """

    def __init__(self, document: Object) -> None:
        document = as_version_3(document) if "swagger" in document else document
        self._parts: dict[tuple[str, ...], str] = {}
        self.entries: list[Entry] = []
        for section, kind in (("paths", "operation"), ("webhooks", "webhook")):
            for name, item in mapping(document.get(section)).items():
                self._parts[section, name] = _packed(item)
                self.entries += _entries(kind, name, self._target(document, item))
        for kind, parts in mapping(document.get("components")).items():
            for name, part in mapping(parts).items():
                self._parts["components", kind, name] = _packed(part)
        self.schemas = [key[2] for key in self._parts if key[:2] == ("components", "schemas")]
        self.head = {name: value for name, value in document.items() if name not in ("paths", "webhooks", "components")}

    @property
    def title(self) -> str:
        """The title of the API."""
        return text(mapping(self.head.get("info")).get("title"))

    def part(self, key: tuple[str, ...]) -> Any:
        """Parse a path, a webhook or a component, and return it; None if it does not exist.

        The key is `(section, name)` or, for a component, `("components", kind, name)`.
        """
        packed = self._parts.get(key)
        return json.loads(packed) if packed is not None else None

    def weight(self) -> int:
        """Estimate the size in memory in bytes."""
        return 10_000 + sum(300 + len(packed) for packed in self._parts.values()) + 500 * len(self.entries)

    @staticmethod
    def _target(document: Object, item: Any) -> Any:
        """Return a path item or, if it is a reference within the document, the target of the reference."""
        address = mapping(item).get("$ref")
        if not isinstance(address, str):
            return item
        value: Any = document
        for name in pointer(address) or ():
            value = mapping(value).get(name)
        return value


def read_specification(content: bytes) -> Specification:
    """Read a specification in JSON or YAML.

    Raises:
        SpecificationError: the file is not a specification, or is too large.
    """
    is_json = content.lstrip()[:1] == b"{"
    if len(content) > (LARGEST_JSON if is_json else LARGEST_YAML):
        raise SpecificationError("the specification is too large")
    try:
        document = json.loads(content) if is_json else _plain(load_yaml_value(content))
    except (InvalidYaml, TypeError, ValueError, RecursionError):
        raise SpecificationError("the specification cannot be read") from None
    if not isinstance(document, dict) or not ("openapi" in document or "swagger" in document):
        raise SpecificationError("the file is not an OpenAPI specification")
    if _has_surrogates(content):
        document = json.loads(json.dumps(document, ensure_ascii=False).encode("utf-8", "replace"))
    return Specification(cast("Object", document))


def _plain(value: Any) -> Any:
    """Convert a value from YAML to one that JSON can have: dates become text, and keys that are numbers or booleans.

    Raises:
        TypeError: a key is of another type, such as a date.
    """
    return json.loads(json.dumps(value, default=str))


def _packed(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def _entries(kind: str, name: str, item: Any) -> Iterator[Entry]:
    for method, value in mapping(item).items():
        if method.lower() not in METHODS or not isinstance(value, dict):
            continue
        details = mapping(value)
        if details.get("x-internal") is True or details.get("x-gitbook-ignore") is True:
            continue
        tags = tuple(tag for tag in sequence(details.get("tags")) if isinstance(tag, str))
        yield Entry(kind, method.lower(), name, tags, title_of(details, name), details.get("deprecated") is True)


def title_of(details: Object, name: str) -> str:
    """Return the title of an operation: its summary, or else its operation id, or else `name`."""
    return " ".join((text(details.get("summary")) or text(details.get("operationId")) or name).split())


class SpecificationReader:
    """Reads the parts of a specification for one page, and parses each part only once.

    Args:
        specification: the specification.
        slug: its name in the organization; empty for a file.
        address: the base of relative URLs of servers; empty if there is none.
        is_tried: whether readers of the page can send requests.
    """

    def __init__(
        self, specification: Specification, slug: str = "", address: str = "", *, is_tried: bool = False
    ) -> None:
        self.specification, self.slug, self.address, self.is_tried = specification, slug, address, is_tried
        self._parsed: dict[tuple[str, ...], Any] = {}

    @property
    def head(self) -> Object:
        """Everything except paths, webhooks and components."""
        return self.specification.head

    def find(self, section: str, name: str, method: str) -> Object | None:
        """Return an operation of the section `paths` or `webhooks`, or None.

        It includes the parameters of its path, the servers of its path or of the specification, and the default
        authorization, unless the operation overrides them.
        """
        item = self.resolved(self.part((section, name)))
        own = next((value for key, value in item.items() if key.lower() == method.lower()), None)
        if method.lower() not in METHODS or not isinstance(own, dict):
            return None
        details = mapping(own)
        parameters = {
            (text(parameter.get("in")), text(parameter.get("name"))): parameter
            for parameter in map(
                self.resolved, (*sequence(item.get("parameters")), *sequence(details.get("parameters")))
            )
        }
        servers = details.get("servers") or item.get("servers") or self.head.get("servers")
        security = details.get("security", self.head.get("security"))
        return {**details, "parameters": list(parameters.values()), "servers": servers, "security": security}

    def component(self, kind: str, name: str) -> Any:
        """Return a component, such as a schema, or None."""
        return self.part(("components", kind, name))

    def part(self, key: tuple[str, ...]) -> Any:
        """Return a part, parsed at most once; None if it does not exist. See `Specification.part`."""
        if key not in self._parsed:
            self._parsed[key] = self.specification.part(key)
        return self._parsed[key]

    def resolved(self, value: Any) -> Object:
        """Return an object or, if it is a reference, the object that it refers to.

        Other keys of the reference take precedence over the keys of the target. The target of an invalid reference is
        an empty object.
        """
        other_keys: dict[str, Any] = {}
        for _ in range(MOST_REFERENCES):
            current = mapping(value)
            address = current.get("$ref")
            if not isinstance(address, str):
                return {**current, **other_keys} if other_keys else current
            other_keys = {name: item for name, item in current.items() if name != "$ref"} | other_keys
            value = self._at(pointer(address))
        return {}

    def _at(self, names: tuple[str, ...] | None) -> Any:
        if not names:
            return None
        length = 3 if names[0] == "components" else 2 if names[0] in ("paths", "webhooks") else 0
        value: Any = self.part(names[:length]) if length else self.head
        for name in names[length:]:
            if isinstance(value, list):
                items = cast("list[Any]", value)
                value = items[int(name)] if name.isdecimal() and len(name) < 9 and int(name) < len(items) else None
            else:
                value = mapping(value).get(name)
        return value


def pointer(address: str) -> tuple[str, ...] | None:
    """Return the keys that lead to the target of a reference, or None if the reference is to another document."""
    if not address.startswith("#/"):
        return None
    return tuple(name.replace("~1", "/").replace("~0", "~") for name in unquote(address[2:]).split("/"))


def model_reference(name: str) -> Object:
    """Return a reference to a named schema."""
    quoted = name.replace("%", "%25").replace("~", "~0").replace("/", "~1")
    return {"$ref": f"#/components/schemas/{quoted}"}


def referenced_name(schema: Any) -> str:
    """Return the name of the component that a schema refers to, or an empty string."""
    address = mapping(schema).get("$ref")
    names = pointer(address) if isinstance(address, str) else None
    return names[-1] if names else ""


def mapping(value: Any) -> Object:
    """Return a value if it is an object, and an empty object otherwise."""
    return cast("Object", value) if isinstance(value, dict) else {}


def sequence(value: Any) -> Sequence[Any]:
    """Return a value if it is a list, and an empty list otherwise."""
    return cast("Sequence[Any]", value) if isinstance(value, list) else ()


def text(value: Any) -> str:
    """Return a value if it is a string, and an empty string otherwise."""
    return value if isinstance(value, str) else ""
