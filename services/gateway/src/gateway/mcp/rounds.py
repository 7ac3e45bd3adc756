"""Calls that ask the client for something on their way: the question is a result, and the client calls again.

No connection is held and nothing is kept here: what a call wants to remember travels with the client, sealed.
"""

import hashlib
import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import cast

import msgspec

from gateway.mcp.messages import Message
from gateway.mcp.protocol import INVALID_PARAMS, JSON, META_CAPABILITIES, MISSING_CAPABILITY, RpcError

PATIENCE_SECONDS = 600
"""How long the client may take to answer."""
_NEEDS = {"elicitation/create": "elicitation", "sampling/createMessage": "sampling", "roots/list": "roots"}
_OF_A_ROUND = {"_meta", "inputResponses", "requestState"}
_TAG = hashlib.sha256().digest_size


@dataclass(frozen=True, slots=True)
class Round:
    """What a client brings beside arguments: what it is able to do, and answers and state of the last round.

    On the legacy wire it brings nothing.
    """

    capabilities: Mapping[str, JSON] = field(default_factory=dict)
    answers: Mapping[str, dict[str, JSON]] = field(default_factory=dict)
    state: JSON = None


@dataclass(frozen=True, slots=True)
class InputRequired:
    """Requests to the client by key. `state`, where there is any, comes back with its answers."""

    requests: Mapping[str, dict[str, JSON]]
    state: JSON = None


class Seal:
    """Binds a state to whom and what it was made for, and to a time. Anyone may hold one; nobody can change it."""

    def __init__(self, key: bytes, clock: Callable[[], datetime], seconds: int = PATIENCE_SECONDS) -> None:
        self._key = key
        self._clock = clock
        self._seconds = seconds

    def close(self, state: JSON, about: bytes) -> str:
        """The state as it travels."""
        inside = msgspec.json.encode([int(self._clock().timestamp()) + self._seconds, state])
        return urlsafe_b64encode(self._tag(inside, about) + inside).decode()

    def open(self, sealed: str, about: bytes) -> JSON:
        """What was closed. Raises `RpcError` for anything else, for another caller or call, and when it is too late."""
        try:
            raw = urlsafe_b64decode(sealed.encode())
        except ValueError:
            raw = b""
        tag, inside = raw[:_TAG], raw[_TAG:]
        genuine = hmac.compare_digest(tag, self._tag(inside, about)) and urlsafe_b64encode(raw).decode() == sealed
        if not genuine:
            raise RpcError(INVALID_PARAMS, "Invalid params: requestState is not one of this call")
        ends, state = msgspec.json.decode(inside, type=tuple[int, object])
        if ends < self._clock().timestamp():
            raise RpcError(INVALID_PARAMS, "Invalid params: requestState has expired; call again from the start")
        return cast("JSON", state)

    def _tag(self, inside: bytes, about: bytes) -> bytes:
        return hmac.digest(self._key, hashlib.sha256(about).digest() + inside, "sha256")


def about(message: Message, principal: str) -> bytes:
    """What a state belongs to: the caller, the method and all that was asked."""
    fixed = {key: value for key, value in message.params.items() if key not in _OF_A_ROUND}
    return msgspec.json.encode([principal, message.method, fixed], order="sorted")


def brought(message: Message, principal: str, seal: Seal | None) -> Round:
    """The round of a modern request. Raises `RpcError` where its answers have no shape or its state is not ours."""
    meta = message.params.get("_meta")
    able = meta.get(META_CAPABILITIES) if isinstance(meta, dict) else None
    answers: dict[str, dict[str, JSON]] = {}
    given = message.params.get("inputResponses", {})
    if not isinstance(given, dict):
        raise RpcError(INVALID_PARAMS, "Invalid params: inputResponses is an object")
    for key, answer in given.items():
        if not isinstance(answer, dict):
            raise RpcError(INVALID_PARAMS, "Invalid params: each of inputResponses is an object")
        answers[key] = answer
    sealed, state = message.params.get("requestState"), None
    if sealed is not None:
        if seal is None or not isinstance(sealed, str):
            raise RpcError(INVALID_PARAMS, "Invalid params: requestState is not one of this call")
        state = seal.open(sealed, about(message, principal))
    return Round(able if isinstance(able, dict) else {}, answers, state)


def asking(
    required: InputRequired, client: Round, message: Message, principal: str, seal: Seal | None
) -> dict[str, JSON]:
    """The result that asks. Raises `RpcError` where the client has not said that it is able to answer."""
    methods = {str(request.get("method")) for request in required.requests.values()}
    lacking: dict[str, JSON] = {
        needed: {} for method in sorted(methods) if (needed := _NEEDS[method]) not in client.capabilities
    }
    if lacking:
        raise RpcError(MISSING_CAPABILITY, "The client lacks a capability", {"requiredCapabilities": lacking})
    result: dict[str, JSON] = {"inputRequests": dict(required.requests)}
    if required.state is not None:
        assert seal is not None, "a catalogue whose calls keep a state has a seal"
        result["requestState"] = seal.close(required.state, about(message, principal))
    return result
