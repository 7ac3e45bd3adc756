"""How a refusal looks over HTTP: its status, and a body that says what, where and what to do."""

import msgspec

from contracts.errors import FORBIDDEN, MISSING, Refused, Unavailable
from gateway.limits.rates import Throttled

CONFLICTS = frozenset(
    {
        "already_decided",
        "already_issued",
        "already_submitted",
        "base_moved",
        "build_exists",
        "command_reused",
        "digest_mismatch",
        "last_owner",
        "name_taken",
        "path_taken",
        "proposal_exists",
        "withdrawn",
    }
)
"""Refusal codes that mean 'the world has moved, or stands against it': read again before trying again."""

_STATUS = {"not_signed_in": 401, "malformed_json": 400, "too_large": 413, "internal": 500, "no_such_route": 404}


class _Error(msgspec.Struct, frozen=True):
    code: str
    what: str
    where: str
    remedy: str
    request_id: str


class _Body(msgspec.Struct, frozen=True):
    error: _Error


def status_of(code: str) -> int:
    """The HTTP status of a refusal."""
    if code in FORBIDDEN:
        return 403
    if code in MISSING:
        return 404
    return 409 if code in CONFLICTS else _STATUS.get(code, 422)


def problem(error: Refused | Unavailable | Throttled, request_id: str) -> tuple[int, bytes, dict[str, str]]:
    """Status, body and extra headers."""
    if isinstance(error, Unavailable):
        told = _Error("unavailable", error.what, "", f"Try again in {error.retry_after} s.", request_id)
        return 503, msgspec.json.encode(_Body(told)), {"retry-after": str(error.retry_after)}
    if isinstance(error, Throttled):
        what, remedy = (
            "There were too many requests of this kind in this minute.",
            f"Try again in {error.retry_after} s.",
        )
        told = _Error("rate_limited", what, error.limit.value, remedy, request_id)
        return 429, msgspec.json.encode(_Body(told)), {"retry-after": str(error.retry_after)}
    told = _Error(error.code, error.what, error.where, error.remedy, request_id)
    return status_of(error.code), msgspec.json.encode(_Body(told)), {}
