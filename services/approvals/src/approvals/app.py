"""The only place that constructs things: bus, database, projections, the archive, commands, queries and pages."""

import asyncio
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime

from nats.aio.client import Client

from access.projection import HEARS as ACCESS_HEARS
from access.projection import applying as applying_access
from approvals.asking import Asking
from approvals.commands.building import Building
from approvals.commands.deciding import Deciding
from approvals.commands.submitting import Submissions
from approvals.desk import Desk
from approvals.ledger import projector as ledger
from approvals.ledger.bodies import Bodies
from approvals.reactions import accepted_texts
from approvals.reactions.accepted_texts import AcceptedTexts
from approvals.settings import Settings
from approvals.web.site import Site
from chassis import health, http, log, nats, postgres, rpc, telemetry
from chassis.postgres import Pool
from chassis.settings import read
from content.keyring import KeyRing
from content.store import ContentStore
from contracts import approvals_messages as messages
from contracts import subjects
from contracts.ids import BrainId
from eventlog.archive import Archived, Archiver
from eventlog.follower import Follower
from eventlog.log import EventLog
from eventlog.projector import Projection, Projector
from eventlog.reaction import Reaction
from eventlog.signing import Signer, Verifier
from eventlog.wait import Watch

SERVICE = "approvals"
ACCESS = "approvals-access-v1"
"""The durable and checkpoint of the grants and members in this schema."""


async def main(stop: asyncio.Event, environ: Mapping[str, str] = os.environ) -> None:
    """Run the service until `stop` is set."""
    settings = read(Settings, environ)
    log.configure(SERVICE)
    telemetry.configure(SERVICE, settings.otlp_endpoint, settings.brain_trace_file)
    followers: list[Follower | Reaction] = []
    parts = {"service": "starting"}

    async def ready() -> dict[str, str]:
        troubles = [(name_of(each), each.trouble()) for each in followers]
        return {part: reason for part, reason in [*parts.items(), *troubles] if reason}

    async with AsyncExitStack() as stack:
        await stack.enter_async_context(health.serve(settings.health_port, ready, settings.health_host))
        pool = await postgres.connect(settings.postgres_dsn, SERVICE, service=SERVICE, largest=14)
        stack.push_async_callback(pool.close)
        client = await nats.connect(settings.nats_url, SERVICE)
        stack.push_async_callback(client.drain)
        nats.require(client)
        desk = desk_of(settings, client, pool)
        verifier = Verifier.load(settings.brain_signers)
        followers += await _followers(settings, desk, verifier, stack)
        await stack.enter_async_context(_running(followers))
        if "serve" in settings.brain_roles:
            await stack.enter_async_context(_serving(settings, desk))
        parts["service"] = ""
        log.get().info("service_started", roles=settings.brain_roles)
        await stop.wait()
        log.get().info("service_stopping")


def desk_of(settings: Settings, client: Client, pool: Pool) -> Desk:
    """What commands and queries work with."""
    brain = BrainId(settings.brain_id)
    store = ContentStore(KeyRing.load(settings.brain_keyring))
    bodies = Bodies(store, brain)
    signer = Signer.load(settings.brain_signing_key, SERVICE)
    return Desk(
        nc=client,
        pool=pool,
        brain=brain,
        store=store,
        bodies=bodies,
        log=EventLog(client, "EVT", brain, signer, _now),
        archived=Archived(client, pool, brain),
        access=Watch(client, pool, brain, ACCESS),
        ledger=Watch(client, pool, brain, ledger.NAME),
        write=ledger.applying(bodies),
        clock=_now,
    )


def projections(desk: Desk) -> list[Projection]:
    """The two read models of this schema."""
    return [
        Projection(ACCESS, "EVT", ACCESS_HEARS, applying_access(desk.store)),
        Projection(ledger.NAME, "EVT", ledger.HEARS, desk.write),
    ]


def name_of(part: Follower | Reaction) -> str:
    """What a part is called in a report about readiness."""
    return part.name if isinstance(part, Follower) else part.durable


async def _followers(
    settings: Settings, desk: Desk, verifier: Verifier, stack: AsyncExitStack
) -> list[Follower | Reaction]:
    """What this process follows the log for, by its roles."""
    found: list[Follower | Reaction] = []
    if "project" in settings.brain_roles:
        found += [Projector(desk.nc, desk.pool, desk.brain, each, verifier) for each in projections(desk)]
    if "archive" in settings.brain_roles:
        pool = await postgres.connect(settings.archive_dsn, "archive", service="archive", largest=6)
        stack.push_async_callback(pool.close)
        found += [Archiver(desk.nc, pool, desk.brain, stream) for stream in ("EVT", "CAP")]
    if "react" in settings.brain_roles:
        found.append(
            Reaction(
                desk.nc,
                accepted_texts.DURABLE,
                "EVT",
                accepted_texts.HEARS,
                AcceptedTexts(desk).react,
                verifier,
                subjects.parked(desk.brain, SERVICE),
            )
        )
    return found


@asynccontextmanager
async def _running(followers: list[Follower | Reaction]) -> AsyncIterator[None]:
    async with asyncio.TaskGroup() as tasks:  # one that ends by itself ends the process
        running = [tasks.create_task(each.run()) for each in followers]
        yield
        for task in running:
            task.cancel()


@asynccontextmanager
async def _serving(settings: Settings, desk: Desk) -> AsyncIterator[None]:
    server = rpc.Server(nats.broker(settings.nats_url, SERVICE), SERVICE)
    submissions, building, asking, deciding = Submissions(desk), Building(desk), Asking(desk), Deciding(desk)
    server.route(messages.SUBMIT_PAGE, messages.SubmitPage, submissions.submit_page)
    server.route(messages.SUBMIT_TEXT, messages.SubmitText, submissions.submit_text)
    server.route(messages.RAISE_REVIEW, messages.RaiseReview, submissions.raise_review)
    server.route(messages.WITHDRAW, messages.Withdraw, submissions.withdraw)
    server.route(messages.OPEN_BUILD, messages.OpenBuild, building.open_build)
    server.route(messages.WRITE_PAGES, messages.WritePages, building.write_pages)
    server.route(messages.SUBMIT_BUILD, messages.SubmitBuild, building.submit_build)
    server.route(messages.DECIDE, messages.Decide, deciding.decide)
    server.route(messages.PROPOSALS, messages.AskProposals, asking.proposals)
    server.route(messages.PROPOSAL, messages.AskProposal, asking.proposal)
    server.route(messages.LIVE_PAGES, messages.AskLivePages, asking.live_pages)
    await server.start()
    try:
        site = Site(desk, deciding, settings.public_url, settings.web_url, settings.http_port)
        async with http.serve(site.app(), settings.http_port, settings.http_host):
            yield
    finally:
        await server.stop()


def _now() -> datetime:
    return datetime.now(UTC)
