"""Converts the parts of Swagger 2 that pages show to the form of OpenAPI 3."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

_MOVED = {
    "#/definitions/": "#/components/schemas/",
    "#/parameters/": "#/components/parameters/",
    "#/responses/": "#/components/responses/",
}
_JSON = "application/json"
_FORM, _FILES = "application/x-www-form-urlencoded", "multipart/form-data"
_OF_PARAMETER = frozenset(("name", "in", "description", "required", "deprecated", "allowEmptyValue"))
"""The names of a parameter that do not describe its schema."""
_FLOWS = {"accessCode": "authorizationCode", "application": "clientCredentials"}
Object = Mapping[str, Any]


def as_version_3(document: Object) -> dict[str, Any]:
    """Convert a specification from Swagger 2 to the form of OpenAPI 3."""
    converter = _Converter(document)
    return cast("dict[str, Any]", _with_references(converter.document()))


class _Converter:
    def __init__(self, document: Object) -> None:
        self._document = document
        self._consumes, self._produces = _types(document.get("consumes")), _types(document.get("produces"))

    def document(self) -> dict[str, Any]:
        document = self._document
        moved = ("swagger", "host", "basePath", "schemes", "definitions", "parameters", "responses", "paths")
        parameters = _object(document.get("parameters"))
        return {
            **{name: value for name, value in document.items() if name not in (*moved, "securityDefinitions")},
            "openapi": "3.0.0",
            "servers": self._servers(),
            "paths": {path: self._path(item) for path, item in _object(document.get("paths")).items()},
            "components": {
                "schemas": _object(document.get("definitions")),
                "parameters": {name: _parameter(_object(value)) for name, value in parameters.items()},
                "responses": {
                    name: self._response(value, self._produces)
                    for name, value in _object(document.get("responses")).items()
                },
                "securitySchemes": {
                    name: _security(_object(value))
                    for name, value in _object(document.get("securityDefinitions")).items()
                },
            },
        }

    def _servers(self) -> list[dict[str, str]]:
        host, path = self._document.get("host"), str(self._document.get("basePath") or "")
        if not isinstance(host, str):
            return [{"url": path or "/"}]
        schemes = self._document.get("schemes")
        names = cast("list[Any]", schemes) if isinstance(schemes, list) and schemes else ["https"]
        return [{"url": f"{scheme}://{host}{path}"} for scheme in names]

    def _path(self, item: Any) -> dict[str, Any]:
        shared = [value for value in _objects(_object(item).get("parameters")) if not self._is_body(value)]
        bodies = [value for value in _objects(_object(item).get("parameters")) if self._is_body(value)]
        path: dict[str, Any] = {}
        for name, value in _object(item).items():
            if name == "parameters":
                path[name] = [_parameter(parameter) for parameter in shared]
            elif isinstance(value, dict) and not name.startswith("x-"):
                path[name] = self._operation(_object(value), bodies)
            else:
                path[name] = value
        return path

    def _operation(self, given: Object, shared_bodies: list[Object]) -> dict[str, Any]:
        parameters = _objects(given.get("parameters"))
        bodies = [value for value in parameters if self._is_body(value)] or shared_bodies
        produces = _types(given.get("produces")) or self._produces
        operation = {
            **{name: value for name, value in given.items() if name not in ("consumes", "produces", "schemes")},
            "parameters": [_parameter(value) for value in parameters if not self._is_body(value)],
            "responses": {
                status: self._response(value, produces) for status, value in _object(given.get("responses")).items()
            },
        }
        if bodies:
            operation["requestBody"] = self._body(bodies, _types(given.get("consumes")) or self._consumes)
        return operation

    def _is_body(self, parameter: Object) -> bool:
        return self._resolved(parameter).get("in") in ("body", "formData")

    def _resolved(self, parameter: Object) -> Object:
        address = parameter.get("$ref")
        if not isinstance(address, str):
            return parameter
        return _object(_object(self._document.get("parameters")).get(address.removeprefix("#/parameters/")))

    def _body(self, given: list[Object], consumes: list[str]) -> dict[str, Any]:
        parameters = [self._resolved(value) for value in given]
        whole = next((value for value in parameters if value.get("in") == "body"), None)
        if whole is not None:
            content = {kind: {"schema": whole.get("schema")} for kind in consumes or [_JSON]}
            return {"content": content, "required": whole.get("required"), "description": whole.get("description")}
        has_files = any(value.get("type") == "file" for value in parameters)
        properties = {str(value.get("name")): _form_schema(value) for value in parameters}
        required = [str(value.get("name")) for value in parameters if value.get("required") is True]
        schema = {"type": "object", "properties": properties, "required": required}
        forms = [kind for kind in consumes if kind in (_FORM, _FILES)] or [_FILES if has_files else _FORM]
        return {"content": {kind: {"schema": schema} for kind in forms}, "required": bool(required)}

    def _response(self, value: Any, produces: list[str]) -> dict[str, Any]:
        response = dict(_object(value))
        schema, examples = response.pop("schema", None), _object(response.pop("examples", None))
        headers = _object(response.get("headers"))
        if headers:
            response["headers"] = {name: {"schema": header, **_object(header)} for name, header in headers.items()}
        kinds = [*examples, *(kind for kind in produces or [_JSON] if kind not in examples)]
        if schema is not None or examples:
            response["content"] = {
                kind: ({"schema": schema} if schema is not None else {})
                | ({"example": examples[kind]} if kind in examples else {})
                for kind in kinds
            }
        return response


def _parameter(parameter: Object) -> Object:
    if "$ref" in parameter or "schema" in parameter:
        return parameter
    schema = {name: value for name, value in parameter.items() if name not in _OF_PARAMETER}
    return {**{name: value for name, value in parameter.items() if name in _OF_PARAMETER}, "schema": schema}


def _form_schema(parameter: Object) -> dict[str, Any]:
    schema = {name: value for name, value in parameter.items() if name not in _OF_PARAMETER or name == "description"}
    return schema | ({"type": "string", "format": "binary"} if schema.get("type") == "file" else {})


def _security(scheme: Object) -> Object:
    if scheme.get("type") == "basic":
        return {**scheme, "type": "http", "scheme": "basic"}
    if scheme.get("type") != "oauth2":
        return scheme
    flow = str(scheme.get("flow") or "")
    details = {name: scheme[name] for name in ("authorizationUrl", "tokenUrl", "scopes") if name in scheme}
    return {**scheme, "flows": {_FLOWS.get(flow, flow): details}}


def _with_references(value: Any) -> Any:
    """Return a value with its references changed to the paths that OpenAPI 3 uses, such as `#/components/schemas/`."""
    if isinstance(value, list):
        return [_with_references(item) for item in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    return {
        name: _moved(item) if name == "$ref" and isinstance(item, str) else _with_references(item)
        for name, item in cast("dict[str, Any]", value).items()
    }


def _moved(address: str) -> str:
    for before, after in _MOVED.items():
        if address.startswith(before):
            return after + address.removeprefix(before)
    return address


def _object(value: Any) -> Object:
    return cast("Object", value) if isinstance(value, dict) else {}


def _objects(value: Any) -> list[Object]:
    return (
        [cast("Object", item) for item in cast("list[Any]", value) if isinstance(item, dict)]
        if isinstance(value, list)
        else []
    )


def _types(value: Any) -> list[str]:
    return [str(item) for item in cast("list[Any]", value)] if isinstance(value, list) else []
