"""The first owner of a deployed brain, and the link that lets that person in."""

from uuid import UUID, uuid4

import msgspec

from brain.deployment import addresses
from chassis import nats, rpc
from chassis.settings import Secret
from contracts.gateway_messages import OPEN_BRAIN, SIGN_IN, Issued, MemberAdded, OpenBrain, SignIn
from contracts.ids import BrainId, CommandId, derived

_SECONDS = 30.0


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Each field is the environment variable of the same name in upper case. `public_url`: gateway's address."""

    brain_id: UUID
    nats_url: Secret
    public_url: str


async def open_brain(settings: Settings, owner: str) -> str:
    """Begin the brain with its first owner; asked again it only makes a new link. Returns the one-time sign-in link.

    Raises `Refused` for a `public_url` that is none and as gateway answers, and `Unavailable` without an answer.
    """
    addresses.web(settings.public_url, "PUBLIC_URL")
    first = CommandId(derived(BrainId(settings.brain_id), "open", owner))
    client = await nats.connect(settings.nats_url, "console")
    try:
        await rpc.ask(client, OPEN_BRAIN, OpenBrain(command=first, owner=owner), MemberAdded, seconds=_SECONDS)
        wish = SignIn(command=CommandId(uuid4()), name=owner, link=True)
        issued = await rpc.ask(client, SIGN_IN, wish, Issued, seconds=_SECONDS)
    finally:
        await client.close()
    return f"{settings.public_url}/signin?code={issued.secret}"
