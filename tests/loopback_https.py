"""An HTTPS server on the loopback that says what it is told, and an authority of its own that vouches for it."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

Say = Callable[[asyncio.StreamWriter], Awaitable[None]]


@dataclass(frozen=True)
class Authority:
    """A certificate authority that nobody else knows: its own certificate, and how a server uses one it signed."""

    certificate: Path
    serving: ssl.SSLContext

    def trusted(self) -> ssl.SSLContext:
        return ssl.create_default_context(cafile=str(self.certificate))


def authority(folder: Path, *names: str) -> Authority:
    """Make an authority, and a certificate of it for `names`."""
    root_key, root_name = ec.generate_private_key(ec.SECP256R1()), _name("Tests only")
    root = (
        _certificate(root_name, root_name, root_key.public_key())
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(signs=True), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(root_key.public_key()), critical=False)
        .sign(root_key, hashes.SHA256())
    )
    key = ec.generate_private_key(ec.SECP256R1())
    leaf = (
        _certificate(_name(names[0]), root_name, key.public_key())
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name) for name in names]), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(root_key.public_key()), critical=False)
        .sign(root_key, hashes.SHA256())
    )
    certificate, chain = folder / "authority.pem", folder / "server.pem"
    certificate.write_bytes(root.public_bytes(serialization.Encoding.PEM))
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    chain.write_bytes(private + leaf.public_bytes(serialization.Encoding.PEM))
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serving.load_cert_chain(chain)
    return Authority(certificate, serving)


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _certificate(subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return x509.CertificateBuilder(
        subject_name=subject,
        issuer_name=issuer,
        public_key=key,
        serial_number=x509.random_serial_number(),
        not_valid_before=now - timedelta(hours=1),
        not_valid_after=now + timedelta(hours=1),
    )


def _usage(*, signs: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=False,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs,
        crl_sign=signs,
        encipher_only=False,
        decipher_only=False,
    )


@dataclass
class Origin:
    """The server: what it says next, and what it was asked."""

    port: int = 0
    say: Say | None = None
    asked: list[bytes] = field(default_factory=list)
    names: list[str | None] = field(default_factory=list)
    """The host names that were asked for in the handshakes."""

    def answers(self, body: bytes, *headers: str, status: str = "200 OK", kind: str = "application/json") -> None:
        """Say this from now on."""

        async def say(writer: asyncio.StreamWriter) -> None:
            head = [f"HTTP/1.1 {status}", f"content-length: {len(body)}", f"content-type: {kind}", *headers]
            writer.write("\r\n".join([*head, "", ""]).encode() + body)
            await writer.drain()

        self.say = say


@asynccontextmanager
async def origin(vouched: Authority) -> AsyncIterator[Origin]:
    """Serve on 127.0.0.1 while the block runs."""
    served = Origin()

    def named(_socket: ssl.SSLObject, name: str | None, _context: ssl.SSLContext) -> None:
        served.names.append(name)

    vouched.serving.sni_callback = named

    async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError, ssl.SSLError):
            served.asked.append(await reader.readuntil(b"\r\n\r\n"))
            assert served.say is not None
            await served.say(writer)
        writer.close()
        with suppress(ConnectionError, ssl.SSLError):
            await writer.wait_closed()

    server = await asyncio.start_server(converse, "127.0.0.1", 0, ssl=vouched.serving)
    served.port = server.sockets[0].getsockname()[1]
    try:
        yield served
    finally:
        server.close()
        await server.wait_closed()
