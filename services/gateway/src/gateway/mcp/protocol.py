"""Revisions, error codes and JSON-RPC shapes. Figures and names are the protocol's own, 2025-03-26 to 2026-07-28."""

from dataclasses import dataclass, field
from typing import TypeAlias

import msgspec

from contracts.enums import Scope

JSON: TypeAlias = "dict[str, JSON] | list[JSON] | str | int | float | bool | None"

MODERN = "2026-07-28"
LEGACY = ("2025-11-25", "2025-06-18", "2025-03-26")
SUPPORTED = (MODERN, *LEGACY)
WITHOUT_LINKS = ("2025-03-26",)
"""Revisions that know no links to resources in results."""
DEFAULT = "2025-06-18"
"""Assumed where a request names no revision (the product's documents say so)."""

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
RESOURCE_NOT_FOUND = -32002
"""On the legacy wire; the modern one says `INVALID_PARAMS`."""
HEADER_MISMATCH = -32020
MISSING_CAPABILITY = -32021
UNSUPPORTED_VERSION = -32022
FORBIDDEN = 403
UNAVAILABLE = 503
"""Codes of our own stand outside JSON-RPC's reserved range and equal the HTTP status."""

MODERN_STATUS = {METHOD_NOT_FOUND: 404, INTERNAL_ERROR: 500, UNAVAILABLE: 503}
"""HTTP status by error code on the modern wire; any other error is 400."""

ENDPOINTS = frozenset({"/api/mcp", "/api/build/mcp"})
"""Paths on which every answer is JSON-RPC's, faults included."""
BODY_LIMIT = 1024 * 1024
"""Bytes of one request."""
DEPTH_LIMIT = 64
"""How deep its JSON may nest."""
LARGEST_ID = 2**63 - 1

META_VERSION = "io.modelcontextprotocol/protocolVersion"
META_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
META_SERVER = "io.modelcontextprotocol/serverInfo"

CALL_ID: TypeAlias = "str | int | None"


class RpcError(Exception):
    """A JSON-RPC error. `status` overrides the wire's own HTTP status; `needs`: a scope that a person could give."""

    def __init__(
        self,
        code: int,
        message: str,
        extra: dict[str, JSON] | None = None,
        *,
        status: int = 0,
        retry_after: int = 0,
        needs: Scope | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.extra = extra or {}
        self.status = status
        self.retry_after = retry_after
        self.needs = needs


@dataclass(frozen=True, slots=True)
class Answer:
    """An HTTP response: status, body, and headers beside those that every response has.

    `needs`: a scope that the caller's consent lacks; the door says where it can be asked for.
    """

    status: int
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    needs: Scope | None = None


@dataclass(frozen=True, slots=True)
class Headers:
    """Request headers, lower-cased, outer blanks removed; every copy is kept, as two of one name are refused."""

    pairs: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, raw: list[tuple[bytes, bytes]]) -> "Headers":
        """From ASGI. Some servers keep trailing blanks in values, so they are stripped here."""
        return cls(tuple((name.decode("latin-1").lower(), value.decode("latin-1").strip(" \t")) for name, value in raw))

    def all(self, name: str) -> list[str]:
        """Every value of this name."""
        return [value for found, value in self.pairs if found == name]

    def one(self, name: str) -> str | None:
        """The value, None where it is absent. Raises `RpcError` where it comes twice."""
        values = self.all(name)
        if len(values) > 1:
            raise RpcError(HEADER_MISMATCH, f"The header {name} is there more than once", status=400)
        return values[0] if values else None


def failure(call_id: CALL_ID, error: RpcError, request_id: str) -> bytes:
    """The body of an error: code, message and the request's id, never an internal detail."""
    extra: dict[str, JSON] = {**error.extra, "requestId": request_id}
    return msgspec.json.encode(
        {
            "jsonrpc": "2.0",
            "id": call_id,
            "error": {"code": error.code, "message": error.message, "data": extra},
        }
    )


def success(call_id: CALL_ID, result: dict[str, JSON]) -> bytes:
    """The body of a result."""
    return msgspec.json.encode({"jsonrpc": "2.0", "id": call_id, "result": result})
