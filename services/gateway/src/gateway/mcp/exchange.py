"""One request in, one answer out. No framework and no I/O but what the catalogue calls."""

from gateway.audit import messages as audit
from gateway.credentials import Viewer
from gateway.mcp.answers import Call, answer
from gateway.mcp.catalogue import Catalogue
from gateway.mcp.limited import permit
from gateway.mcp.messages import parse
from gateway.mcp.protocol import CALL_ID, MODERN, MODERN_STATUS, Answer, Headers, RpcError, failure, success
from gateway.mcp.revisions import agree, echoed

__all__ = ["echoed", "exchange"]


async def exchange(body: bytes, headers: Headers, viewer: Viewer, catalogue: Catalogue, request_id: str) -> Answer:
    """Answer one POST of an authenticated caller."""
    call_id: CALL_ID = None
    modern = echoed(headers) == MODERN
    try:
        message = parse(body)
        call_id = message.id
        audit.read(message, viewer, catalogue)
        modern = agree(message, headers)
        await permit(message, viewer, catalogue)
        if not message.expects_answer:
            return Answer(202)
        result = await answer(Call(message, headers, viewer, catalogue, modern))
        audit.answered(result)
    except RpcError as error:
        audit.refused(error)
        status = error.status or (MODERN_STATUS.get(error.code, 400) if modern else 200)
        extra = {"retry-after": str(error.retry_after)} if error.retry_after else {}
        return Answer(status, failure(call_id, error, request_id), extra, error.needs)
    return Answer(200, success(call_id, result))
