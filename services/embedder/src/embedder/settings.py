"""What the embedder reads from its environment, once."""

from pathlib import Path
from uuid import UUID

import msgspec

from chassis.settings import Secret


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Each field is the variable of the same name in upper case.

    `embedder_profile`: multilingual, english-fast or endpoint. `embedder_threads`: cores that a local model may use.
    The four `embedder_endpoint_*` say where a model is reached, up to but without `/embeddings`, what it is called
    there, how many numbers its vectors have, and its key.
    """

    brain_id: UUID
    nats_url: Secret
    postgres_dsn: Secret
    brain_keyring: Path
    brain_signing_key: Path
    brain_signers: Path
    health_port: int
    health_host: str = "127.0.0.1"
    brain_roles: tuple[str, ...] = ("serve", "react")
    embedder_profile: str = "multilingual"
    embedder_threads: int = 2
    embedder_endpoint_url: str = ""
    embedder_endpoint_model: str = ""
    embedder_endpoint_dim: int = 384
    embedder_endpoint_key: Secret = Secret("")
    otlp_endpoint: str = ""
    brain_trace_file: Path | None = None
