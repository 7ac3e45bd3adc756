"""The shell around applications: finds them, registers them, and checks their secrets."""

import hmac
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Protocol
from uuid import UUID

from chassis import sql
from chassis.postgres import Pool, transaction
from contracts.errors import Refused
from contracts.ids import BrainId
from gateway import one_time
from gateway.oauth import addresses
from gateway.oauth.clients import Client, is_document
from gateway.oauth.registration import Registration

STATEMENTS = sql.load("gateway.oauth", "registry.sql")
KEPT = timedelta(days=400)
"""How long an application that nobody uses stays: clients that are forgotten do not recover by themselves."""
_NOTED = timedelta(days=1)


class Described(Protocol):
    """Where applications are found that are known by the address of their own description."""

    async def find(self, client_id: str) -> Client:
        """Raises `Refused`."""
        ...


class Registry:
    """The applications of one brain. `documents` None: only those that registered are known."""

    def __init__(
        self,
        pool: Pool,
        brain: BrainId,
        clock: Callable[[], datetime],
        new_id: Callable[[], UUID],
        documents: Described | None = None,
    ) -> None:
        self._pool = pool
        self._brain = brain
        self._clock = clock
        self._new_id = new_id
        self._documents = documents

    @property
    def reads_documents(self) -> bool:
        """Whether an address may be a client id here."""
        return self._documents is not None

    async def find(self, client_id: str) -> Client:
        """The application, with where it may be answered. Raises `Refused` (invalid_client)."""
        if is_document(client_id) and self._documents is not None:
            return await self._documents.find(client_id)
        return await self._registered(client_id)

    async def proven(self, client_id: str, secret: str) -> Client:
        """The application at the token endpoint. Raises `Refused` (invalid_client).

        One known by an address is not read again there: its codes and tokens are bound to the address, and PKCE, not a
        document, says that they come from the same hands.
        """
        address = addresses.parse(client_id) if self._documents is not None else None
        client = await self._registered(client_id) if address is None else Client(client_id, "", (), "none")
        given = one_time.digest(secret) if secret else ""
        if not hmac.compare_digest(given, client.secret_digest):
            raise Refused("invalid_client", "The application's secret is missing or wrong.", "client_secret")
        return client

    async def register(self, said: Registration) -> tuple[Client, str, datetime]:
        """A new application, its secret ("" where it asked for none), and when that was."""
        now = self._clock()
        secret = "" if said.method == "none" else one_time.new_code()
        client = Client(
            id=f"c_{self._new_id().hex}",
            name=said.client_name,
            redirect_uris=said.redirect_uris,
            method=said.method,
            secret_digest=one_time.digest(secret) if secret else "",
        )
        async with transaction(self._pool, self._brain) as db:
            await db.execute(STATEMENTS.drop_old_clients, self._brain, now - KEPT)
            await db.execute(
                STATEMENTS.add_client,
                self._brain,
                client.id,
                client.name,
                list(client.redirect_uris),
                client.method,
                client.secret_digest,
                now,
            )
        return client, secret, now

    async def note_use(self, client: Client) -> None:
        """The application was given tokens, so it is not forgotten."""
        now = self._clock()
        async with transaction(self._pool, self._brain) as db:
            await db.execute(STATEMENTS.note_use, self._brain, client.id, now, now - _NOTED)

    async def _registered(self, client_id: str) -> Client:
        async with transaction(self._pool, self._brain, readonly=True) as db:
            row = await db.fetchrow(STATEMENTS.client_by_id, self._brain, client_id)
        if row is None:
            raise Refused(
                "invalid_client",
                "This application is not registered here, or no longer.",
                "client_id",
                "Remove the connection in the application and connect again: it then registers anew.",
            )
        return Client(row["id"], row["name"], tuple(row["redirect_uris"]), row["method"], row["secret_digest"])
