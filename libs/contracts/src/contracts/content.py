"""How a fact speaks of content without holding it."""

import msgspec

from contracts.ids import ContentId


class ContentRef(msgspec.Struct, frozen=True):
    """A body in the content store: its id, and the HMAC-SHA-256 of its bytes under the salt stored with the body."""

    id: ContentId
    commitment: str
