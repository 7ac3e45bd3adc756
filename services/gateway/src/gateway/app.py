"""The only place that constructs things: bus, database, the access projection, commands and the HTTP surface."""

import asyncio
import os
import secrets
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from ipaddress import ip_network
from uuid import uuid4

from litestar.handlers import ASGIRouteHandler
from nats.aio.client import Client

from access import projection
from chassis import health, http, log, nats, postgres, rpc, telemetry
from chassis.postgres import Pool
from chassis.settings import read
from content.keyring import KeyRing
from content.store import ContentStore
from contracts.gateway_messages import session_cookie
from contracts.ids import BrainId
from eventlog.archive import Archived
from eventlog.log import EventLog
from eventlog.projector import Projection, Projector
from eventlog.signing import Signer, Verifier
from eventlog.wait import Watch
from gateway import commands
from gateway.audit.doors import Audited, Bus
from gateway.audit.routes import Audits
from gateway.audit.seals import Seals
from gateway.audit.writer import Audit
from gateway.credentials import Credentials
from gateway.http import browser, mcp_endpoint, oauth, site
from gateway.http.console import Console
from gateway.http.routes import Routes
from gateway.http.usage import Metering
from gateway.http.work import Work
from gateway.ledger import AccessLedger, Projected
from gateway.limits.addresses import Addresses
from gateway.limits.permits import Permits
from gateway.limits.usage import Usage
from gateway.mcp.tools import Tools
from gateway.membership import Membership
from gateway.oauth.asking import Waiting
from gateway.oauth.consenting import Browsers, Consenting
from gateway.oauth.documents import Documents
from gateway.oauth.endpoints import Endpoints
from gateway.oauth.fetching import Fetcher
from gateway.oauth.grants import Grants
from gateway.oauth.pages import Pages
from gateway.oauth.registry import Registry
from gateway.reasoning import Reasons
from gateway.rest.doors import Rest
from gateway.seen import Seen
from gateway.sessions import Sessions
from gateway.settings import Settings
from gateway.tokens import Tokens

SERVICE = "gateway"
PROJECTION = "gateway-access-v1"


@dataclass(frozen=True, slots=True)
class _Parts:
    """What everything else is made of."""

    settings: Settings
    brain: BrainId
    client: Client
    pool: Pool
    ring: KeyRing


async def main(stop: asyncio.Event, environ: Mapping[str, str] = os.environ) -> None:
    """Run the service until `stop` is set."""
    settings = read(Settings, environ)
    log.configure(SERVICE)
    telemetry.configure(SERVICE, settings.otlp_endpoint, settings.brain_trace_file)
    troubles = {"gateway": "starting"}
    projectors: list[Projector] = []

    async def ready() -> dict[str, str]:
        behind = {each.name: each.trouble() for each in projectors}
        return {part: reason for part, reason in (troubles | behind).items() if reason}

    async with AsyncExitStack() as stack:
        await stack.enter_async_context(health.serve(settings.health_port, ready, settings.health_host))
        ring = KeyRing.load(settings.brain_keyring)
        pool = await postgres.connect(
            settings.postgres_dsn, SERVICE, service=SERVICE, smallest=2, largest=12, statement_timeout_ms=10_000
        )
        stack.push_async_callback(pool.close)
        client = await nats.connect(settings.nats_url, SERVICE)
        stack.push_async_callback(client.drain)
        nats.require(client)
        parts = _Parts(settings, BrainId(settings.brain_id), client, pool, ring)
        projected: Projected = Watch(client, pool, parts.brain, PROJECTION)
        if "project" in settings.brain_roles:
            projected = await stack.enter_async_context(_projecting(parts, projectors))
        if "serve" in settings.brain_roles:
            audit = Audit(pool, parts.brain, ring.derive("audit"), _now)
            await stack.enter_async_context(audit.writing())
            await stack.enter_async_context(_serving(parts, projected, audit))
        troubles["gateway"] = ""
        log.get().info("service_started", roles=settings.brain_roles)
        await stop.wait()
        log.get().info("service_stopping")


@asynccontextmanager
async def _projecting(parts: _Parts, projectors: list[Projector]) -> AsyncIterator[Projector]:
    apply = projection.applying(ContentStore(parts.ring))
    verifier = Verifier.load(parts.settings.brain_signers)
    access = Projection(PROJECTION, "EVT", projection.HEARS, apply)
    projector = Projector(parts.client, parts.pool, parts.brain, access, verifier)
    projectors.append(projector)
    async with asyncio.TaskGroup() as tasks:  # a projection that ends by itself ends the process
        running = tasks.create_task(projector.run())
        yield projector
        running.cancel()


@asynccontextmanager
async def _serving(parts: _Parts, projected: Projected, audit: Audit) -> AsyncIterator[None]:
    settings, brain, client, pool = parts.settings, parts.brain, parts.client, parts.pool
    signer = Signer.load(settings.brain_signing_key, SERVICE)
    evt = EventLog(client, "EVT", brain, signer, _now)
    ledger = AccessLedger(client, pool, brain, evt, projected, Archived(client, pool, brain))
    sessions = Sessions(pool, brain, parts.ring.derive("csrf"), _now)
    credentials = Credentials(client, pool, brain, projected, _now)
    membership = Membership(pool, brain, ContentStore(parts.ring), ledger)
    access = (
        membership,
        Tokens(pool, brain, ledger, sessions, ContentStore(parts.ring), _now),
        Reasons(client, pool, brain),
    )
    addresses = Addresses(secrets.token_bytes(16), _now, tuple(ip_network(each) for each in settings.trusted_proxies))
    permits, usage = Permits(pool, brain), Usage(pool, brain, _now, addresses.allow)
    seen, routes = Seen(), Routes(credentials, permits.take)
    server = rpc.Server(nats.broker(settings.nats_url, SERVICE), SERVICE)
    commands.listen(Bus(server, audit), access, sessions, credentials)
    commands.meter(Bus(server, audit), usage)
    seals = Seals(pool, brain, (signer.key, signer.key.public_key()))
    tools = Tools(client, seen, uuid4, permits.take)
    secure = settings.public_url.startswith("https:")
    cookies = session_cookie(brain), f"brain_pending_{brain.hex[:8]}"
    surface = site.site(
        [
            mcp_endpoint.endpoint(credentials, tools.catalogue(), settings.public_url),
            *Rest(credentials, permits.take, tools.agents.operations(), settings.public_url).routes(),
            *_authorizing(parts, ledger, Browsers(sessions, credentials, *cookies, secure)),
            *Console(pool, brain, access, uuid4).routes(routes),
            *Work(client, seen, uuid4).routes(routes),
            *Metering(usage, _now).routes(routes),
            *Audits(pool, client, brain, audit, seals).routes(routes),
            *browser.routes(sessions, settings.web_url, *cookies, secure=secure),
        ],
        settings.public_url,
        settings.web_url,
        settings.http_port,
        addresses,
    )
    await server.start()
    try:
        async with (
            http.serve(Audited(surface, audit), settings.http_port, settings.http_host),
            asyncio.TaskGroup() as tasks,
        ):
            following = [tasks.create_task(each) for each in (usage.follow(), seals.follow(_now))]
            yield
            for each in following:
                each.cancel()
    finally:
        await server.stop()


def _authorizing(parts: _Parts, ledger: AccessLedger, browsers: Browsers) -> list[ASGIRouteHandler]:
    """The authorization server."""
    url, pool, brain, pages = parts.settings.public_url, parts.pool, parts.brain, Pages()
    described = Documents(Fetcher().get, hosts=parts.settings.client_document_hosts)
    registry = Registry(pool, brain, _now, uuid4, described)
    grants = Grants(pool, brain, ledger, browsers.credentials, _now)
    consenting = Consenting(url, registry, Waiting(pool, brain, _now), grants, browsers, pages)
    return oauth.routes(Endpoints(url, registry, grants), consenting, pages)


def _now() -> datetime:
    return datetime.now(UTC)
