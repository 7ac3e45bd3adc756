"""Identifiers. Every one is a UUID; derived ones are uuid5, so that asking twice names the same thing."""

from typing import NewType
from uuid import UUID, uuid5

BrainId = NewType("BrainId", UUID)
PrincipalId = NewType("PrincipalId", UUID)
GrantId = NewType("GrantId", UUID)
TokenId = NewType("TokenId", UUID)
CaptureId = NewType("CaptureId", UUID)
PageId = NewType("PageId", UUID)
ProposalId = NewType("ProposalId", UUID)
BuildId = NewType("BuildId", UUID)
ContentId = NewType("ContentId", UUID)
CommandId = NewType("CommandId", UUID)
FactId = NewType("FactId", UUID)
ImportId = NewType("ImportId", UUID)

SERVICES = ("gateway", "ingest", "embedder", "drift", "approvals", "retrieval")


def derived(*parts: UUID | str | int) -> UUID:
    """A UUID that follows from its parts: the first names the space, the rest name the thing in it.

    Raises `TypeError` unless the first part is a UUID.
    """
    space, *rest = parts
    if not isinstance(space, UUID):
        raise TypeError("the first part of a derived id is the UUID of its space")
    return uuid5(space, "/".join(str(part) for part in rest))


def fact_id(command: CommandId, index: int) -> FactId:
    """The id of the `index`-th fact that a command leads to; a retry of the command makes the same ids."""
    return FactId(derived(command, "fact", index))


def content_id(command: CommandId, slot: str) -> ContentId:
    """The id of a body that a command stores under a name of its own; a retry stores the same body once."""
    return ContentId(derived(command, "content", slot))


def service_principal(brain: BrainId, service: str) -> PrincipalId:
    """The principal a service acts as when no person stands behind an act."""
    return PrincipalId(derived(brain, "service", service))


def everyone(brain: BrainId) -> PrincipalId:
    """The group of all active human members. A grant may name it; it is never implied."""
    return PrincipalId(derived(brain, "group", "everyone"))


def node_id(page: PageId) -> str:
    """How a page's id is written for readers and in relations: `n_` and 32 hexadecimal digits."""
    return f"n_{page.hex}"


def parse_node_id(text: str) -> PageId | None:
    """The page that `text` names, or None where it is not a node id."""
    if not text.startswith("n_") or len(text) != len("n_") + 32:
        return None
    try:
        return PageId(UUID(hex=text[2:]))
    except ValueError:
        return None
