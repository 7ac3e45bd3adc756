"""The catalogue that the official suite asks for, on the product's dispatcher. Its names and texts are the suite's."""

import base64
import json
import secrets
from collections.abc import Callable, Mapping
from datetime import UTC, datetime

from contracts.enums import Scope
from gateway.credentials import Viewer
from gateway.mcp.catalogue import Catalogue, Run, Tool, ToolResult
from gateway.mcp.offers import Block, OldMethods, Prompt, Resources
from gateway.mcp.protocol import JSON
from gateway.mcp.rounds import InputRequired, Round, Seal

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
SILENCE = base64.b64encode(
    b"RIFF\x24\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x80\x3e\x00\x00\x02\x00\x10\x00"
    b"data\x00\x00\x00\x00"
).decode()
NO_ARGUMENTS: dict[str, JSON] = {"type": "object", "properties": {}}
IMAGE: Block = {"type": "image", "data": PIXEL, "mimeType": "image/png"}
DIALECT: dict[str, JSON] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}
MIRRORED: dict[str, JSON] = {
    "type": "object",
    "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
    "required": ["region"],
}

Step = Callable[[Round], ToolResult | InputRequired]


def text_block(text: str) -> Block:
    return {"type": "text", "text": text}


def resource_block(uri: str, text: str, mime: str = "text/plain") -> Block:
    return {"type": "resource", "resource": {"uri": uri, "mimeType": mime, "text": text}}


def elicit(message: str, field: str, kind: str = "string") -> dict[str, JSON]:
    schema: JSON = {"type": "object", "properties": {field: {"type": kind}}, "required": [field]}
    return {"method": "elicitation/create", "params": {"message": message, "requestedSchema": schema}}


def sample(text: str, most: int = 100) -> dict[str, JSON]:
    messages: JSON = [{"role": "user", "content": text_block(text)}]
    return {"method": "sampling/createMessage", "params": {"messages": messages, "maxTokens": most}}


ROOTS: dict[str, JSON] = {"method": "roots/list", "params": {}}
NAME = elicit("What is your name?", "name")


def elicited(client: Round, key: str, field: str) -> JSON:
    """What a person answered, None where nobody accepted."""
    answer = client.answers.get(key, {})
    content = answer.get("content")
    return content.get(field) if answer.get("action") == "accept" and isinstance(content, dict) else None


def always(*blocks: Block, text: str = "", failed: bool = False) -> Run:
    async def run(_viewer: Viewer, _arguments: dict[str, JSON], _client: Round) -> ToolResult:
        return ToolResult(text, failed=failed, blocks=blocks)

    return run


def stepping(step: Step) -> Run:
    async def run(_viewer: Viewer, _arguments: dict[str, JSON], client: Round) -> ToolResult | InputRequired:
        return step(client)

    return run


def a_tool(name: str, run: Run, schema: dict[str, JSON] | None = None) -> Tool:
    return Tool(
        name=name,
        title=name,
        description=f"What the suite calls {name}.",
        schema=schema or NO_ARGUMENTS,
        run=run,
        scope=Scope.READ,
        denial="Forbidden.",
    )


def greet(client: Round) -> ToolResult | InputRequired:
    name = elicited(client, "user_name", "name")
    return ToolResult(f"Hello, {name}!") if name else InputRequired({"user_name": NAME})


def ask_capital(client: Round) -> ToolResult | InputRequired:
    answer = client.answers.get("capital_question")
    return ToolResult(json.dumps(answer)) if answer else InputRequired({"capital_question": sample("Capital?")})


def list_roots(client: Round) -> ToolResult | InputRequired:
    answer = client.answers.get("client_roots")
    return ToolResult(json.dumps(answer)) if answer else InputRequired({"client_roots": ROOTS})


def confirm(client: Round) -> ToolResult | InputRequired:
    if client.state == "asked" and elicited(client, "confirm", "ok"):
        return ToolResult("state-ok")
    return InputRequired({"confirm": elicit("Please confirm", "ok", "boolean")}, state="asked")


def three(client: Round) -> ToolResult | InputRequired:
    if client.state == "asked" and {"user_name", "greeting", "client_roots"} <= client.answers.keys():
        return ToolResult("All three were answered.")
    requests = {"user_name": NAME, "greeting": sample("Generate a greeting", 50), "client_roots": ROOTS}
    return InputRequired(requests, state="asked")


def rounds_of_two(client: Round) -> ToolResult | InputRequired:
    match client.state:
        case {"name": str(name)} if color := elicited(client, "step2", "color"):
            return ToolResult(f"{name} likes {color}.")
        case _ if told := elicited(client, "step1", "name"):
            return InputRequired({"step2": elicit("Step 2: What is your favorite color?", "color")}, {"name": told})
        case _:
            return InputRequired({"step1": elicit("Step 1: What is your name?", "name")}, {"name": None})


def whatever_is_declared(client: Round) -> ToolResult | InputRequired:
    possible = {"elicitation": ("user_name", NAME), "sampling": ("greeting", sample("Generate a greeting"))}
    asked = dict(request for capability, request in possible.items() if capability in client.capabilities)
    return ToolResult("Answered.") if client.answers or not asked else InputRequired(asked)


def needing_a_model(client: Round) -> ToolResult | InputRequired:
    return ToolResult("Sampled.") if client.answers else InputRequired({"sampled": sample("Anything")})


TOOLS = [
    a_tool("test_simple_text", always(text="This is a simple text response for testing.")),
    a_tool("test_image_content", always(IMAGE)),
    a_tool("test_audio_content", always({"type": "audio", "data": SILENCE, "mimeType": "audio/wav"})),
    a_tool(
        "test_embedded_resource",
        always(resource_block("test://embedded-resource", "This is an embedded resource content.")),
    ),
    a_tool(
        "test_multiple_content_types",
        always(
            IMAGE,
            resource_block("test://mixed-content-resource", '{"test":"data","value":123}', "application/json"),
            text="Multiple content types test:",
        ),
    ),
    a_tool("test_error_handling", always(text="This tool intentionally returns an error for testing", failed=True)),
    a_tool("test_logging_tool", always(text="Nothing was logged.")),
    a_tool("json_schema_2020_12_tool", always(text="Taken."), DIALECT),
    a_tool("test_custom_headers", always(text="Taken."), MIRRORED),
    a_tool("test_missing_capability", stepping(needing_a_model)),
    a_tool("test_streaming_elicitation", stepping(greet)),
    a_tool("test_input_required_result_elicitation", stepping(greet)),
    a_tool("test_input_required_result_sampling", stepping(ask_capital)),
    a_tool("test_input_required_result_list_roots", stepping(list_roots)),
    a_tool("test_input_required_result_request_state", stepping(confirm)),
    a_tool("test_input_required_result_tampered_state", stepping(confirm)),
    a_tool("test_input_required_result_multiple_inputs", stepping(three)),
    a_tool("test_input_required_result_multi_round", stepping(rounds_of_two)),
    a_tool("test_input_required_result_capabilities", stepping(whatever_is_declared)),
]

# resources

TEMPLATE = "test://template/", "/data"


async def read(_viewer: Viewer, uri: str, _client: Round) -> list[Block] | None:
    before, after = TEMPLATE
    if uri == "test://static-text":
        return [{"uri": uri, "mimeType": "text/plain", "text": "This is the content of the static text resource."}]
    if uri == "test://static-binary":
        return [{"uri": uri, "mimeType": "image/png", "blob": PIXEL}]
    if uri.startswith(before) and uri.endswith(after):
        number = uri[len(before) : -len(after)]
        text = json.dumps({"id": number, "templateTest": True, "data": f"Data for ID: {number}"})
        return [{"uri": uri, "mimeType": "application/json", "text": text}]
    return None


RESOURCES = Resources(
    read=read,
    listed=(
        {"uri": "test://static-text", "name": "static-text", "description": "A text.", "mimeType": "text/plain"},
        {"uri": "test://static-binary", "name": "static-binary", "description": "An image.", "mimeType": "image/png"},
    ),
    templates=({"uriTemplate": "test://template/{id}/data", "name": "template", "mimeType": "application/json"},),
)

# prompts


def says(content: Block) -> Block:
    return {"role": "user", "content": content}


def a_prompt(
    name: str, fill: Callable[[Mapping[str, str], Round], list[Block] | InputRequired], **arguments: str
) -> Prompt:
    async def run(_viewer: Viewer, given: Mapping[str, str], client: Round) -> list[Block] | InputRequired:
        return fill(given, client)

    said = f"What the suite calls {name}."
    return Prompt(name=name, title=name, description=said, fill=run, arguments=arguments, required=frozenset(arguments))


def with_arguments(given: Mapping[str, str], _client: Round) -> list[Block]:
    return [says(text_block(f"Prompt with arguments: arg1='{given['arg1']}', arg2='{given['arg2']}'"))]


def with_resource(given: Mapping[str, str], _client: Round) -> list[Block]:
    embedded = resource_block(given["resourceUri"], "Embedded resource content for testing.")
    return [says(embedded), says(text_block("Please process the embedded resource above."))]


def with_context(_given: Mapping[str, str], client: Round) -> list[Block] | InputRequired:
    context = elicited(client, "user_context", "context")
    if not context:
        return InputRequired({"user_context": elicit("What context should the prompt use?", "context")})
    return [says(text_block(f"In the context of {context}."))]


PROMPTS = [
    a_prompt("test_simple_prompt", lambda _given, _client: [says(text_block("This is a simple prompt for testing."))]),
    a_prompt("test_prompt_with_arguments", with_arguments, arg1="First test argument", arg2="Second test argument"),
    a_prompt("test_prompt_with_embedded_resource", with_resource, resourceUri="URI of the resource to embed"),
    a_prompt(
        "test_prompt_with_image",
        lambda _given, _client: [says(IMAGE), says(text_block("Please analyze the image above."))],
    ),
    a_prompt("test_input_required_result_prompt", with_context),
]


async def complete(_viewer: Viewer, _ref: Block, _argument: str, value: str) -> list[str]:
    return [known for known in ("paris", "park", "party", "testing") if known.startswith(value)]


# methods of old revisions


async def accepted(_viewer: Viewer, _params: Block) -> Block:
    return {}


OLD = OldMethods(
    methods={"logging/setLevel": accepted, "resources/subscribe": accepted, "resources/unsubscribe": accepted},
    capabilities={"logging": {}, "resources": {"subscribe": True}},
)


def catalogue() -> Catalogue:
    """All of it, with a key of its own for what travels with clients."""
    seal = Seal(secrets.token_bytes(32), lambda: datetime.now(UTC))
    return Catalogue(TOOLS, resources=RESOURCES, prompts=PROMPTS, complete=complete, old=OLD, seal=seal)
