"""REST under `/tools`: the same operations as over MCP, for tokens of kind agent."""

from collections.abc import Sequence
from typing import Any

import msgspec
from litestar import Request, Response, get, post
from litestar.handlers import HTTPRouteHandler

from chassis import log, rpc
from chassis.postgres import GONE
from contracts.enums import TokenKind
from contracts.errors import Refused, Unavailable
from gateway import texts
from gateway.audit import trail
from gateway.credentials import Credentials, Viewer
from gateway.http.mcp_endpoint import bearer
from gateway.http.routes import refusal
from gateway.limits.permits import Take
from gateway.limits.rates import Limit, Throttled
from gateway.mcp.protocol import Headers
from gateway.rest import openapi
from gateway.rest.agents import Operation

_LOG = log.get(part="rest")
_NO_STORE = {"cache-control": "no-store"}
_UNFIT = 422

Asked = Request[Any, Any, Any]  # Litestar's own three parameters: user, auth and state, none of which we use


class Unfit(Exception):
    """Fields that do not have the expected shape."""

    def __init__(self, fields: tuple[openapi.Field, ...]) -> None:
        super().__init__("unfit")
        self.fields = fields


class Rest:
    """Makes the handlers. `public_url`: where the description says that they are."""

    def __init__(self, credentials: Credentials, take: Take, operations: Sequence[Operation], public_url: str) -> None:
        self._credentials = credentials
        self._take = take
        self._operations = operations
        self._described = msgspec.json.encode(openapi.document(operations, public_url))

    def routes(self) -> list[HTTPRouteHandler]:
        """Every operation at its path, and the description, which anybody may read."""

        async def describe() -> Response[bytes]:
            return Response(self._described, media_type="application/json")

        described = get(openapi.DOCUMENT, name=openapi.DOCUMENT)(describe)
        return [described, *(self._route(each) for each in self._operations)]

    def _route(self, operation: Operation) -> HTTPRouteHandler:
        async def handle(request: Asked) -> Response[bytes]:
            return await self._served(request, operation)

        path = operation.path.replace("{entry}", "{entry:path}")
        if operation.method == "GET":
            return get(path, name=operation.name)(handle)
        return post(path, name=operation.name, status_code=200)(handle)

    async def _served(self, request: Asked, operation: Operation) -> Response[bytes]:
        request_id, left = str(request.scope["state"]["request_id"]), trail.current()
        try:
            viewer = await self._agent(request)
            left.identified(viewer)
            refused = _may_not(viewer, operation)
            if refused is not None:
                await self._take(viewer, Limit.PROTOCOL, None)
                raise refused
            await self._take(viewer, operation.rate, operation.name)
            rpc.enter(rpc.Call(request_id, str(viewer.member.id)))
            asked = fitting(await _given(request, operation), operation.asked, strict=operation.method != "GET")
            texts.check(asked)
            left.hashes(msgspec.to_builtins(asked))
            answer = await operation.serve(viewer, asked)
        except Unfit as error:
            left.refused("invalid_arguments")
            return _unfit(error, request_id)
        except (Refused, Unavailable, Throttled) as error:
            return refusal(error, request_id)
        except GONE as error:
            _LOG.warning("database_gone", error=type(error).__qualname__)
            return refusal(Unavailable("the database does not answer"), request_id)
        return Response(msgspec.json.encode(answer), media_type="application/json", headers=_NO_STORE)

    async def _agent(self, request: Asked) -> Viewer:
        viewer = await bearer(self._credentials, Headers.of(list(request.scope["headers"])))
        if viewer is None or viewer.token.kind is TokenKind.SIGNIN:
            raise Refused(
                "not_signed_in",
                "This request carries no living token.",
                "authorization",
                "Issue another with brain token issue --kind agent.",
            )
        return viewer


def _may_not(viewer: Viewer, operation: Operation) -> Refused | None:
    if viewer.token.kind is not TokenKind.AGENT:
        return Refused("forbidden", "This door is for tokens of kind agent.", "authorization", "Issue one.")
    if operation.scope not in viewer.caller.scopes:
        return Refused("scope_missing", operation.denial, "authorization", "Ask for a token with this scope.")
    return None


async def _given(request: Asked, operation: Operation) -> dict[str, Any]:
    """The fields of a request as they came: a JSON object, or the query with what stands in the path."""
    if operation.method != "GET":
        body = await request.body()
        try:
            given = msgspec.json.decode(body)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise Unfit((openapi.Field("body", "Expected one JSON object."),)) from error
        if not isinstance(given, dict):
            raise Unfit((openapi.Field("body", "Expected one JSON object."),))
        return given
    lists = {
        field.encode_name
        for field in msgspec.structs.fields(operation.asked)
        if field.default_factory is not msgspec.NODEFAULT
    }
    query = request.query_params
    found: dict[str, Any] = {}
    for name in query:
        values = query.getall(name)
        if name not in lists and len(values) > 1:
            raise Unfit((openapi.Field(name, "Expected one value."),))
        found[name] = values if name in lists else values[0]
    return found | {name: str(value).removeprefix("/") for name, value in request.path_params.items()}


def fitting(given: dict[str, Any], shape: type[Any], *, strict: bool) -> Any:
    """The request, if every field fits. Raises `Unfit` with each that does not, never with a value that was sent."""
    fields = {field.encode_name: field for field in msgspec.structs.fields(shape)}
    unfit = [
        openapi.Field("body", "There is a field that this operation does not have.")
        for name in given
        if name not in fields
    ][:1]
    for name, field in fields.items():
        if name not in given:
            if field.required:
                unfit.append(openapi.Field(name, "This field is required."))
            continue
        try:
            msgspec.convert(given[name], field.type, strict=strict)
        except msgspec.ValidationError as error:
            unfit.append(openapi.Field(name, f"{_expected(str(error))}."))
    if unfit:
        raise Unfit(tuple(unfit))
    return msgspec.convert(given, shape, strict=strict)


def _expected(error: str) -> str:
    told = error.partition(" - at `")[0]
    return told if told.startswith("Expected") else "This does not have the expected shape"


def _unfit(error: Unfit, request_id: str) -> Response[bytes]:
    first = error.fields[0]
    told = openapi.Error(
        "malformed",
        "Fields do not have the expected shape.",
        first.field,
        "Correct them and send the request again.",
        request_id,
        error.fields,
    )
    body = msgspec.json.encode(openapi.Problem(told))
    return Response(body, status_code=_UNFIT, media_type="application/json", headers=_NO_STORE)
