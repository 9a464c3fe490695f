"""The OpenAPI 3.1 description of the service, generated from the operations.

Request schemas describe what the service parses, and response schemas what it sends: absent fields are omitted, and
only the nullable fields of a `NullableModel` can be null.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from typing import Any, cast

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode, JsonSchemaValue
from pydantic_core import core_schema
from typing_extensions import override

from presscheck import __version__
from presscheck.api.change_requests import ChangeRequest
from presscheck.api.content_changes import ContentUpdate
from presscheck.api.operation import Operation, every_operation

Schema = dict[str, Any]
Key = tuple[str, JsonSchemaMode]

ONE_OR_THE_OTHER: dict[Any, Any] = {ContentUpdate: ContentUpdate | ChangeRequest}
"""Responses with two possible models, for which the client has a single one."""
REFUSALS = {
    "400": "The request is invalid.",
    "401": "The token is missing, invalid or expired.",
    "403": "You do not have permission to do this.",
    "404": "Not found, or you do not have permission to see it.",
    "default": "The request failed; the status and the message say why.",
}
_REFERENCE = "#/components/schemas/{model}"
_REFUSAL: Schema = {
    "description": "An error response.",
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["code", "message"],
            "properties": {"code": {"type": "integer"}, "message": {"type": "string"}},
        }
    },
}


@cache
def description(release: str | None = None) -> bytes:
    """Return the OpenAPI document of one API release or of all operations, as JSON; cached."""
    operations = [operation for operation in every_operation() if operation.is_in(release)]
    return json.dumps(describe(operations), ensure_ascii=False, separators=(",", ":")).encode()


def describe(operations: Iterable[type[Operation[Any]]]) -> Schema:
    """Return the OpenAPI document of some operations, as JSON values."""
    chosen = tuple(operations)
    schemas, models = _schemas(chosen)
    paths: dict[str, Schema] = {}
    for operation in chosen:
        path, method = _path(operation), operation.method().lower()
        paths.setdefault(path, {})[method] = _described(operation, schemas)
    return {
        "openapi": "3.1.0",
        "info": {"title": "presscheck", "version": __version__, "description": "The local presscheck service."},
        "tags": [{"name": family} for family in sorted({operation.family for operation in chosen})],
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "responses": {
                _refusal(status): {"description": text, "content": _json({"$ref": _model_reference("Refusal")})}
                for status, text in REFUSALS.items()
            },
            "schemas": models | {"Refusal": _REFUSAL},
        },
    }


def _schemas(operations: tuple[type[Operation[Any]], ...]) -> tuple[dict[Key, Schema], dict[str, Schema]]:
    """Return the schemas of requests and responses by operation, and the models that they refer to."""
    inputs: list[tuple[str, JsonSchemaMode, TypeAdapter[Any]]] = []
    for operation in operations:
        inputs.append((operation.stored_name(), "validation", TypeAdapter(operation)))
        if operation.answer is not None:
            answer = TypeAdapter[Any](ONE_OR_THE_OTHER.get(operation.answer, operation.answer))
            inputs.append((operation.stored_name(), "serialization", answer))
    schemas, definitions = TypeAdapter.json_schemas(inputs, ref_template=_REFERENCE, schema_generator=_OnTheWire)
    models = cast("dict[str, Schema]", definitions.get("$defs", {}))
    schemas_by_key = {
        key: models.pop(schema["$ref"].rpartition("/")[2]) if key[1] == "validation" else schema
        for key, schema in schemas.items()
    }
    return schemas_by_key, models


def operation_id(operation: type[Operation[Any]]) -> str:
    """Return the published `operationId` of an operation, or a name of the same form if none is published."""
    name = operation.__name__
    return operation.operation_id or name[:1].lower() + name[1:]


def _described(operation: type[Operation[Any]], schemas: dict[Key, Schema]) -> Schema:
    name, summary = operation.stored_name(), (operation.__doc__ or "").strip().partition("\n")[0]
    arguments = schemas[name, "validation"]
    described: Schema = {
        "operationId": operation_id(operation),
        "tags": [operation.family],
        "summary": summary,
        "parameters": [*_in_path(operation, arguments), *_in_query(operation, arguments)],
        "responses": {str(operation.success): _response(schemas.get((name, "serialization")))}
        | {status: {"$ref": f"#/components/responses/{_refusal(status)}"} for status in REFUSALS},
    }
    body = None if operation.method() in ("GET", "DELETE") else _body(operation, arguments)
    return described | ({"requestBody": body} if body else {})


def _in_path(operation: type[Operation[Any]], arguments: Schema) -> Iterable[Schema]:
    for field in operation.path_fields():
        name = operation.on_wire(field)
        schema = {"minLength": 1, **arguments["properties"][name]}
        yield {"name": name, "in": "path", "required": True, "schema": schema}


def _in_query(operation: type[Operation[Any]], arguments: Schema) -> Iterable[Schema]:
    queried = operation.query_fields()
    for field in operation.model_fields:  # in the order of declaration
        if field in queried:
            name = operation.on_wire(field)
            schema = _without_null(arguments["properties"][name])
            yield {"name": name, "in": "query", "required": name in arguments.get("required", ()), "schema": schema}


def _body(operation: type[Operation[Any]], arguments: Schema) -> Schema | None:
    elsewhere = {operation.on_wire(field) for field in (*operation.path_fields(), *operation.query_fields())}
    properties = {name: schema for name, schema in arguments["properties"].items() if name not in elsewhere}
    required = [name for name in arguments.get("required", ()) if name not in elsewhere]
    if not properties:
        return None
    if operation.body_field is not None:
        name = operation.on_wire(operation.body_field)
        return {"required": name in required, "content": _json(properties[name])}
    schema: Schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return {"required": bool(required), "content": _json(schema | ({"required": required} if required else {}))}


def _response(schema: Schema | None) -> Schema:
    if schema is None:
        return {"description": "Done; no content."}
    return {"description": "The response.", "content": _json(schema)}


def _path(operation: type[Operation[Any]]) -> str:
    path = "/v1" + operation.route.partition(" ")[2]
    for field in operation.path_fields():
        path = path.replace("{" + field + "}", "{" + operation.on_wire(field) + "}")
    return path


def _without_null(schema: Schema) -> Schema:
    """Return a schema without null, because query parameters that are null are omitted."""
    variants = [variant for variant in schema.get("anyOf", ()) if variant != {"type": "null"}]
    if not variants:
        return schema
    rest = {name: value for name, value in schema.items() if name != "anyOf"}
    return rest | (variants[0] if len(variants) == 1 else {"anyOf": variants})


def _json(schema: Schema) -> Schema:
    return {"application/json": {"schema": schema}}


def _model_reference(model: str) -> str:
    return _REFERENCE.format(model=model)


def _refusal(status: str) -> str:
    return "Refused" if status == "default" else f"Refused{status}"


class _OnTheWire(GenerateJsonSchema):
    """Schemas of JSON as it is sent and received: no titles, no null defaults, and no null in responses."""

    @override
    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    @override
    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        made = super().default_schema(schema)
        return {name: value for name, value in made.items() if (name, value) != ("default", None)}

    @override
    def tagged_union_schema(self, schema: core_schema.TaggedUnionSchema) -> JsonSchemaValue:
        made = super().tagged_union_schema(schema)
        if "discriminator" not in made:  # with a callable discriminator, several variants may match
            made["anyOf"] = made.pop("oneOf")
        return made

    @override
    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        inner = cast("Schema", schema["schema"])
        if self.mode == "serialization":
            inner = _as_sent(inner, getattr(schema["cls"], "nullable", frozenset()))
        made = super().model_schema(cast("core_schema.ModelSchema", {**schema, "schema": inner}))
        made.pop("title", None)
        return made

    @override
    def ser_schema(self, schema: Any) -> JsonSchemaValue | None:
        return None  # a `NullableModel` is sent with the fields of the model

    @override
    def normalize_name(self, name: str) -> str:
        return super().normalize_name(name.replace("[", "Of").replace("]", ""))


def _as_sent(model: Schema, kept: frozenset[str]) -> Schema:
    """Mark fields as optional in responses: null is omitted, except in the fields in `kept`."""
    if "fields" not in model:  # a validator function around the model
        return {**model, "schema": _as_sent(model["schema"], kept)}
    fields: dict[str, Schema] = model["fields"]
    return {
        **model,
        "fields": {
            name: {**field, "schema": _field_as_sent(field["schema"], name in kept)} for name, field in fields.items()
        },
    }


def _field_as_sent(field: Schema, may_be_null: bool) -> Schema:
    bare: Schema = field["schema"] if field["type"] == "default" else field
    if may_be_null or bare["type"] not in ("nullable", "any"):
        return bare  # pydantic treats a field without a default as required
    return {"type": "default", "schema": bare.get("schema", bare), "default": None}
