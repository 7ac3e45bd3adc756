"""The published description of the REST door: OpenAPI 3.1, made from the Structs that the operations take and give."""

from collections.abc import Sequence
from typing import Any

import msgspec

from gateway.mcp import words
from gateway.rest.agents import Operation

_REF = "#/components/schemas/{name}"
DOCUMENT = "/tools/openapi.json"

_REFUSALS = {
    "401": "The token is unknown, expired or revoked.",
    "403": "The token may not do this. Nothing is said of what there is.",
    "404": "There is nothing here that this token can see.",
    "413": "The request is too large.",
    "422": "Fields do not have the expected shape, or a rule said no.",
    "429": "Too many calls of this kind in this minute.",
    "500": "A fault of the server. It is logged under the request's id.",
    "503": "Nothing can be served now.",
}
_WAITS = frozenset({"429", "503"})


class Field(msgspec.Struct, frozen=True):
    field: str
    what: str


class Error(msgspec.Struct, frozen=True, omit_defaults=True):
    """`where`: the field, path or limit that broke the rule. `fields`: every field that does not fit."""

    code: str
    what: str
    where: str
    remedy: str
    request_id: str
    fields: tuple[Field, ...] = ()


class Problem(msgspec.Struct, frozen=True):
    error: Error


def document(operations: Sequence[Operation], public_url: str) -> dict[str, Any]:
    """The whole description."""
    shapes = [shape for each in operations for shape in (each.asked, each.answer)]
    _, schemas = msgspec.json.schema_components([*shapes, Problem], ref_template=_REF)
    for shape in shapes:  # roots stand where they are used, as generators name an inlined body best
        schemas[shape.__name__].pop("title", None)
    paths: dict[str, Any] = {}
    for each in operations:
        paths.setdefault(each.path, {})[each.method.lower()] = _operation(each, schemas)
    for shape in shapes:
        schemas.pop(shape.__name__, None)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Company Brain: tools for agents", "version": words.VERSION},
        "servers": [{"url": public_url.rstrip("/")}],
        "security": [{"key": []}],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer", "description": "A token of kind agent."}},
        },
    }


def _operation(each: Operation, schemas: dict[str, Any]) -> dict[str, Any]:
    asked, answer = schemas[each.asked.__name__], schemas[each.answer.__name__]
    told: dict[str, Any] = {
        "operationId": each.name,
        "summary": each.title,
        "description": each.description,
        "responses": {"200": {"description": "Done.", "content": _json(answer)}} | _refusals(),
    }
    if each.method == "GET":
        told["parameters"] = [_parameter(each, name, schema, asked) for name, schema in asked["properties"].items()]
    else:
        told["requestBody"] = {"required": True, "content": _json(asked)}
    return told


def _parameter(each: Operation, name: str, schema: dict[str, Any], asked: dict[str, Any]) -> dict[str, Any]:
    within = f"{{{name}}}" in each.path
    found = {"name": name, "in": "path" if within else "query", "required": name in asked.get("required", ())}
    if schema.get("type") == "array":
        found |= {"style": "form", "explode": True}
    return found | {"schema": schema}


def _refusals() -> dict[str, Any]:
    problem = _json({"$ref": _REF.format(name="Problem")})
    wait = {"Retry-After": {"description": "Seconds to wait.", "schema": {"type": "integer", "minimum": 1}}}
    return {
        status: {"description": told, "content": problem} | ({"headers": wait} if status in _WAITS else {})
        for status, told in _REFUSALS.items()
    }


def _json(schema: dict[str, Any]) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}
