"""The whole HTTP surface as one application."""

from litestar import Litestar
from litestar.handlers import ASGIRouteHandler, HTTPRouteHandler

from gateway.http.edge import App, Edge
from gateway.http.routes import on_framework_error
from gateway.limits.addresses import Addresses
from gateway.mcp.protocol import BODY_LIMIT


def site(
    handlers: list[ASGIRouteHandler | HTTPRouteHandler], public_url: str, web_url: str, port: int, addresses: Addresses
) -> App:
    """Every route behind the edge. Bodies are bounded; the framework publishes nothing of its own."""
    inner = Litestar(
        route_handlers=handlers,
        exception_handlers={Exception: on_framework_error},
        request_max_body_size=BODY_LIMIT,
        openapi_config=None,
        logging_config=None,
    )
    return Edge(inner, public_url, web_url, port, addresses)
