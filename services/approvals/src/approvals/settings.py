"""What approvals reads from its environment, once."""

from pathlib import Path
from uuid import UUID

import msgspec

from chassis.settings import Secret


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Each field is the variable of the same name in upper case.

    `archive_dsn`: the database as the archive's own role; needed for the role archive. `http_port`: where people
    reach the pages, `public_url` where they sign in, `web_url` where these pages are for them.
    """

    brain_id: UUID
    nats_url: Secret
    postgres_dsn: Secret
    brain_keyring: Path
    brain_signing_key: Path
    brain_signers: Path
    health_port: int
    http_port: int
    public_url: str
    web_url: str
    archive_dsn: Secret = Secret("")
    health_host: str = "127.0.0.1"
    http_host: str = "127.0.0.1"
    brain_roles: tuple[str, ...] = ("serve", "project", "react", "archive")
    otlp_endpoint: str = ""
    brain_trace_file: Path | None = None
