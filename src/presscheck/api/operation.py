"""Operations of the API as classes: the declaration of a class determines the request and the type of the response.

Fields in the route go into the path. The other fields are query parameters of GET and DELETE, and the JSON body of
other methods. Only fields that were given are sent; None is sent as null. Arguments are validated strictly, responses
tolerantly: unknown fields and enumeration values are accepted.
"""

# Annotations in this package are not postponed: pydantic would compile each of them, a third of the import time.
import json
import os
import pkgutil
import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import import_module
from types import GenericAlias
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Generic, TypeVar, cast, get_args, get_origin
from urllib.parse import quote

from pydantic import (
    BaseModel,
    ConfigDict,
    FailFast,
    Field,
    SerializationInfo,
    SerializerFunctionWrapHandler,
    TypeAdapter,
    ValidationError,
    model_serializer,
)
from pydantic.alias_generators import to_camel
from pydantic_core import ErrorDetails
from typing_extensions import override

from presscheck import api
from presscheck.api.former_operation_names import FORMER_NAMES
from presscheck.errors import InvalidArgument, PresscheckError

# pydantic would search all installed packages for plugins, which takes 13 ms
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")

Answer = TypeVar("Answer")
Item = TypeVar("Item")

MAX_PAGE = 10_000
"""The maximum number of items accepted on one page of a listing; the service returns at most 1,000."""
ALL = 1000
"""The largest page size that the service supports."""
DOCUMENT = "document"
"""The release with the operations of the published document of the service and no others."""

SEND_NULLS = "send nulls"
"""The serialization context that keeps the nulls of a `NullableModel`."""

FAMILIES: "dict[str, type[Operation[Any]]]" = {}
"""All imported operations by qualified name, ``family.Name``."""
BY_STORED_NAME: "dict[str, type[Operation[Any]]]" = {}
"""All imported operations by stored name."""

_INVALID_SEGMENTS = frozenset(("", ".", ".."))
"""Path segments that would lead to a different path."""
_PLACEHOLDER = re.compile(r"\{(\w+)\}")

MOST_ERRORS = 1_000
"""The maximum number of invalid values that an error lists; formatting a million would take a minute."""
NOT_CACHED = "(not cached)"
"""The value of a secret in a cached response."""


class Model(BaseModel):
    """A resource of the API, parsed tolerantly: unknown fields are kept."""

    model_config = ConfigDict(
        alias_generator=to_camel, populate_by_name=True, extra="allow", frozen=True, defer_build=True
    )


class NullableModel(Model):
    """A resource with fields whose null has a meaning; elsewhere the API omits fields that are null.

    The service sends these nulls: it serializes with `exclude_none=True` and the context `SEND_NULLS`.
    """

    nullable: ClassVar[frozenset[str]]
    """The names of these fields."""

    @model_serializer(mode="wrap")
    def _serialize(self, serialize: SerializerFunctionWrapHandler, info: SerializationInfo) -> Any:
        fields = serialize(self)
        if info.context == SEND_NULLS:
            fields.update({to_camel(name): None for name in self.nullable if getattr(self, name) is None})
        return fields


class Cursor(Model):
    """The cursor of the next page of a listing."""

    page: str


class Page(Model, Generic[Item]):
    """One page of a listing; the last page has no `next`.

    `count` is the number of items on this page. `total` is the number of items in the whole listing; only the local
    service has it, for change requests and for other listings of at most 1,000 items.
    """

    items: Annotated[tuple[Item, ...], Field(max_length=MAX_PAGE), FailFast()]
    next: Cursor | None = None
    count: int | None = None
    total: int | None = None


class Argument(BaseModel):
    """An argument of a call, validated strictly: an unknown field or an exceeded limit is an error.

    Raises:
        InvalidArgument: a value is invalid; the error names the field and the limit.
    """

    model_config = ConfigDict(
        alias_generator=to_camel,
        populate_by_name=True,
        extra="forbid",
        frozen=True,
        defer_build=True,
        loc_by_alias=False,
    )

    always_sent: ClassVar[frozenset[str]] = frozenset()
    """Fields that are sent even if not given, because their default is their only value."""

    def __init__(self, **fields: Any) -> None:
        try:
            super().__init__(**fields)
        except ValidationError as error:
            if error.error_count() > MOST_ERRORS:
                reason = f"{error.error_count():,} values are invalid"
                raise InvalidArgument("arguments", reason, call=type(self).__name__) from None
            first, *others = error.errors()
            raise self._invalid(first, [self._invalid(detail) for detail in others]) from None
        self.model_fields_set.update(self.always_sent)

    @classmethod
    def _invalid(cls, error: ErrorDetails, others: Sequence[InvalidArgument] = ()) -> InvalidArgument:
        # the types of a union, such as "literal['a','b']" or "dict[str,any]", are no names of fields
        path = [str(part) for part in error["loc"] if "[" not in str(part)] or ["arguments"]
        wire = ".".join([cls.on_wire(path[0]), *path[1:]])
        return InvalidArgument(".".join(path), _reason(cls, error), call=cls.__name__, wire=wire, others=others)

    @classmethod
    def on_wire(cls, field: str) -> str:
        """Return the name of a field in the API."""
        return (cls.model_fields[field].alias if field in cls.model_fields else None) or field


class Operation(Argument, Generic[Answer]):
    """A call of one API operation; `Answer` is the type of its response.

    Subclass `Operation[X]` directly: a generic class in between would lose X at run time.

    Raises:
        InvalidArgument: a value is invalid; the error names the field and the limit.
    """

    operation_id: ClassVar[str] = ""
    """The published id of the operation, which does not change when classes and modules are renamed."""
    route: ClassVar[str] = ""
    """Method and path, such as ``GET /spaces/{space_id}``."""
    success: ClassVar[int] = 200
    """The status of a successful response; 204 has no body."""
    in_query: ClassVar[frozenset[str]] = frozenset()
    """Fields of a POST, PUT or PATCH that go into the query."""
    body_field: ClassVar[str | None] = None
    """The field whose value is the whole body, if the body is not an object of the fields."""
    release: ClassVar[str | None] = None
    """The only release of the service that has the operation; None if all have it."""
    feature: ClassVar[str | None] = None
    """The optional feature of the operation, such as ``reviews``; messages put *this service has no* before it.

    A service has all operations of a feature or none. Operations of the published document of the service belong to no
    feature: every service has them, unless they have a `release`.
    """
    may_be_absent: ClassVar[bool] = False
    """Whether the resource may be missing although its parent exists and its path does not end in an id."""
    secret_fields: ClassVar[frozenset[str]] = frozenset()
    """Keys of the response whose values are never cached; the cache has `NOT_CACHED` instead."""
    answer: ClassVar[Any] = None
    """The type of the response, `X` of ``Operation[X]``."""
    family: ClassVar[str] = ""

    if not TYPE_CHECKING:

        def __class_getitem__(cls, answer):
            """Return an alias as the base class. A pydantic model for each response type would take 4 kB and 0.1 ms."""
            return GenericAlias(cls, answer)

    def __init__(self, **fields: Any) -> None:
        super().__init__(**fields)
        for field in self.path_fields():
            parts = str(getattr(self, field)).split("/") if field == "page_path" else (getattr(self, field),)
            if any(part in _INVALID_SEGMENTS for part in parts):
                reason = "must not be empty, `.` or `..`"
                raise InvalidArgument(field, reason, call=type(self).__name__, wire=self.on_wire(field))

    @override
    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        super().__pydantic_init_subclass__(**kwargs)
        if not cls.route:
            return
        cls.answer = _answer_of(cls)
        cls.family = cls.__module__.rpartition(".")[2]
        missing = set(cls.path_fields()) - set(cls.model_fields)
        if missing:
            raise TypeError(f"{cls.__name__}: the route names {sorted(missing)}, which are not fields")
        for names, name in ((FAMILIES, cls.qualified_name()), (BY_STORED_NAME, cls.stored_name())):
            if names.setdefault(name, cls) is not cls and names[name].__qualname__ != cls.__qualname__:
                raise TypeError(f"two operations are called {name}")

    @classmethod
    def stored_name(cls) -> str:
        """Return the name in the outbox and in cache keys: the published `operationId`, or else the qualified name."""
        return cls.operation_id or cls.qualified_name()

    @classmethod
    def qualified_name(cls) -> str:
        """Return ``family.Name``, from the module and the class."""
        return f"{cls.family}.{cls.__name__}"

    @classmethod
    def in_document(cls) -> bool:
        """Return whether the published document of the service has the operation."""
        return cls.feature is None

    @classmethod
    def is_in(cls, release: str | None) -> bool:
        """Return whether a release has the operation.

        Args:
            release: a release, `DOCUMENT` for the published document, or None for all operations.
        """
        return cls.in_document() if release == DOCUMENT else release is None or cls.release in (None, release)

    @classmethod
    def optional_name(cls) -> str:
        """Return the name to report if a service lacks the operation: its feature, or else its stored name."""
        return cls.feature or cls.stored_name()

    @classmethod
    def method(cls) -> str:
        """Return the HTTP method."""
        return cls.route.partition(" ")[0]

    @classmethod
    @cache
    def path_fields(cls) -> tuple[str, ...]:
        """Return the fields in the path, in order."""
        return tuple(_PLACEHOLDER.findall(cls.route))

    @classmethod
    def is_read(cls) -> bool:
        """Return whether the operation only reads."""
        return cls.method() == "GET"

    @classmethod
    def query_fields(cls) -> frozenset[str]:
        """Return the fields that go into the query."""
        if cls.method() in ("GET", "DELETE"):
            return frozenset(cls.model_fields) - set(cls.path_fields())
        return cls.in_query

    def given(self) -> dict[str, Any]:
        """Return the given arguments as JSON values by field name, the form in which a call is stored."""
        return self.model_dump(mode="json", by_alias=False, exclude_unset=True)

    def key(self) -> str:
        """Return the cache key: the stored name and the canonical JSON of the arguments."""
        given = json.dumps(self.given(), sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        return f"{self.stored_name()} {given}"

    def wire_path(self) -> str:
        """Return the path of the request, percent-encoded."""
        template = self.route.partition(" ")[2]
        return _PLACEHOLDER.sub(lambda match: quote(str(getattr(self, match[1])), safe=_safe(match[1])), template)

    def wire_query(self) -> list[tuple[str, str]]:
        """Return the query as pairs; a list has one pair for each item."""
        return list(self._query())

    def _query(self) -> Iterator[tuple[str, str]]:
        given = self.query_fields() & self.model_fields_set
        if not given:
            return
        for name, value in self.model_dump(mode="json", by_alias=True, include=set(given)).items():
            for item in value if isinstance(value, list) else (value,):
                yield name, _query_text(item)

    def wire_body(self) -> Any:
        """Return the JSON body, or None if there is none."""
        if self.method() in ("GET", "DELETE"):
            return None
        excluded = set(self.path_fields()) | self.query_fields()
        dumped = self.model_dump(mode="json", by_alias=True, exclude_unset=True, exclude=excluded)
        if self.body_field is None:
            return dumped or None
        field = type(self).model_fields[self.body_field]
        return dumped.get(field.alias or self.body_field)

    def read_answer(self, body: bytes) -> Answer:
        """Parse a response body. Return None if the operation has no response.

        Raises:
            pydantic.ValidationError: the body is not JSON, or not of the declared type.
        """
        if type(self).answer is None or not body:
            return cast("Answer", None)  # Operation[None], or a 204
        return answer_reader(type(self)).validate_json(body)

    @override
    def __str__(self) -> str:
        return f"{self.method()} {self.wire_path()}"


DETAILS_HEADER = "x-details"
"""The header with the JSON response of an operation whose status, 204, has no body."""


class Paged(BaseModel):
    """Mixin of paginated listings. `page` is the cursor of a page. Without a `limit`, the service chooses the page
    size.
    """

    page: str | None = None
    limit: int | None = Field(default=None, ge=0, le=ALL)

    @classmethod
    def max_page_size(cls) -> int:
        """Return the largest page size of the listing."""
        return next(rule.le for rule in cls.model_fields["limit"].metadata if hasattr(rule, "le"))


class InOrganization(BaseModel):
    """Mixin of calls on an organization, whose id is in the path."""

    organization_id: str


class InSite(InOrganization):
    """Mixin of calls on a site, whose id is in the path."""

    site_id: str


class InSpace(BaseModel):
    """Mixin of calls on a space, whose id is in the path."""

    space_id: str


class InChangeRequest(InSpace):
    """Mixin of calls on a change request, whose id or number is in the path."""

    change_request_id: str


def revive(name: str, given: dict[str, Any]) -> "Operation[Any]":
    """Create a call from its stored name, current or former, and its stored arguments.

    Raises:
        PresscheckError: the operation does not exist in this version, or the arguments are invalid.
    """
    return operation_called(name)(**given)


def operation_called(name: str) -> "type[Operation[Any]]":
    """Return the operation with this stored name, or with this former ``family.Name``.

    Raises:
        PresscheckError: the operation does not exist in this version.
    """
    if name not in BY_STORED_NAME:
        name = FORMER_NAMES.get(name, name)
    if name not in BY_STORED_NAME:
        every_operation()  # its family is not imported yet, and the name does not contain it
    if name not in BY_STORED_NAME:
        raise PresscheckError(f"{name}: this version of presscheck does not know that operation")
    return BY_STORED_NAME[name]


def operation_in_family(name: str) -> "type[Operation[Any]]":
    """Import the family of an operation. Return the operation with this qualified name, ``family.Name``."""
    import_module(f"{api.__name__}.{name.partition('.')[0]}")
    return FAMILIES[name]


@cache
def every_operation() -> "tuple[type[Operation[Any]], ...]":
    """Import all families. Return all operations, sorted by qualified name."""
    for family in pkgutil.iter_modules(api.__path__):
        import_module(f"{api.__name__}.{family.name}")  # only here: a first screen loads only its own families
    prefix = api.__name__ + "."
    return tuple(FAMILIES[name] for name in sorted(FAMILIES) if FAMILIES[name].__module__.startswith(prefix))


@cache
def answer_reader(operation: type[Operation[Any]]) -> TypeAdapter[Any]:
    """Return the parser for the responses of an operation, cached."""
    return TypeAdapter(operation.answer)


def _answer_of(cls: type[Operation[Any]]) -> Any:
    bases: tuple[Any, ...] = getattr(cls, "__orig_bases__", ())
    for base in bases:
        if get_origin(base) is Operation:
            [answer] = get_args(base)
            return None if answer is type(None) else answer
    raise TypeError(f"{cls.__name__} must subclass Operation[X] directly")


_REASONS = {
    "missing": "is required",
    "string_too_long": "must have at most {max_length:,} characters",
    "string_too_short": "must have at least {min_length:,} characters",
    "too_long": "must have at most {max_length:,} values",
    "too_short": "must have at least {min_length:,} values",
    "literal_error": "must be {expected}",
    "bool_parsing": "must be true or false",
    "bool_type": "must be true or false",
    "dict_type": "must be a JSON object, such as {{…}}",
    "model_type": "must be a JSON object, such as {{…}}",
    "model_attributes_type": "must be a JSON object, such as {{…}}",
    "list_type": "must be a list",
    "tuple_type": "must be a list",
    "string_type": "must be a text",
    "int_parsing": "must be a whole number",
    "int_type": "must be a whole number",
    "greater_than": "must be more than {gt:,}",
    "greater_than_equal": "must be at least {ge:,}",
    "less_than": "must be less than {lt:,}",
    "less_than_equal": "must be at most {le:,}",
    "union_tag_not_found": "has no {discriminator}",
    "union_tag_invalid": "has {discriminator} '{tag}', which must be {expected_tags}",
}
"""Reasons for invalid values, by the type of the validation error."""


def _reason(cls: type[BaseModel], mistake: ErrorDetails) -> str:
    """Return the reason why a value is invalid. A field with a pattern describes it in words."""
    info = cls.model_fields.get(str(mistake["loc"][0])) if mistake["loc"] else None
    if mistake["type"] == "string_pattern_mismatch" and info and info.description:
        return f"must be {info.description}"
    limits = mistake.get("ctx", {})
    if limits.get("min_length") == 1:
        return "must not be empty"
    return _REASONS[mistake["type"]].format(**limits) if mistake["type"] in _REASONS else mistake["msg"]


def _safe(field: str) -> str:
    return "/" if field == "page_path" else ""


def _query_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "null" if value is None else str(value)
