"""JSON schemas of tool inputs, in the one shape that every client accepts."""

from typing import cast

import msgspec

from gateway.mcp.protocol import JSON

_TEMPLATE = "#/$defs/{name}"


def input_schema(shape: type[msgspec.Struct]) -> dict[str, JSON]:
    """The schema of a Struct with `type: object` at the root; clients reject a catalogue with a `$ref` there."""
    (root,), components = msgspec.json.schema_components([shape], ref_template=_TEMPLATE)
    name = str(root["$ref"]).rsplit("/", 1)[1]
    schema = cast("dict[str, JSON]", dict(components.pop(name)))
    schema.pop("title", None)
    if components:
        schema["$defs"] = cast("JSON", components)
    return schema
