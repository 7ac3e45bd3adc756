"""What an operator says to the log itself."""

import msgspec

from contracts.content import ContentRef
from contracts.enums import LogStream


class LogQuarantined(msgspec.Struct, frozen=True, kw_only=True):
    """Exactly this sequence is skipped by whoever cannot read it. `reason` is a text body."""

    stream: LogStream
    sequence: int
    reason: ContentRef


Event = LogQuarantined
