"""The inputs of tools. Bounds and descriptions here become the JSON schemas that clients see."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

Query = Annotated[str, Meta(min_length=2, max_length=2000, description="Words to look for, at least 2 characters.")]
Limit = Annotated[int, Meta(ge=1, le=20, description="How many to return at most, 1 to 20.")]
NodeId = Annotated[str, Meta(min_length=1, max_length=64)]
InboxKind = Literal["observation", "correction", "proposal", "work_output"]


class FindPage(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    query: Query
    limit: Limit = 10


class Search(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    query: Query
    limit: Limit = 10


class ReadPage(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    path: Annotated[
        str,
        Meta(min_length=1, max_length=300, description="The page's path, or its node id (n_ and 32 hex digits)."),
    ]
    offset: Annotated[int, Meta(ge=0, description="Start at this character of a long page's text.")] = 0


class WriteInbox(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    kind: Annotated[InboxKind, Meta(description="What this is.")]
    title: Annotated[str, Meta(min_length=3, max_length=120)]
    body: Annotated[str, Meta(min_length=10, max_length=4000)]
    related: Annotated[list[NodeId], Meta(max_length=10, description="Ids of the pages it concerns.")] | None = (
        msgspec.field(name="relatedNodeIds", default=None)
    )
