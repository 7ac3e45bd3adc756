"""The settings of one gateway process."""

from pathlib import Path
from uuid import UUID

import msgspec

from chassis.settings import Secret


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Each field is the environment variable of the same name in upper case."""

    brain_id: UUID
    nats_url: Secret
    postgres_dsn: Secret
    brain_keyring: Path
    brain_signing_key: Path
    brain_signers: Path
    health_port: int
    http_port: int
    public_url: str
    """The address that callers use: the only source of host names in answers."""
    web_url: str
    """Where a browser goes once it is signed in."""
    trusted_proxies: tuple[str, ...] = ()
    """Networks of proxies, as `10.0.0.0/8`, whose `X-Forwarded-For` says who really sends."""
    client_document_hosts: tuple[str, ...] = ()
    """Hosts that may describe applications by client-id metadata documents; none means any on the internet."""
    brain_roles: tuple[str, ...] = ("serve", "project")
    http_host: str = "127.0.0.1"
    health_host: str = "127.0.0.1"
    otlp_endpoint: str = ""
    brain_trace_file: Path | None = None
