"""Messages that a reaction gave up on: kept whole in PARKED, with why, until somebody replays or discards them."""

import nats.errors
from nats.aio.msg import Msg
from nats.js import JetStreamContext
from nats.js.errors import APIError

from chassis import log, metrics, telemetry
from contracts import codec, subjects
from contracts.errors import Unavailable
from contracts.ids import BrainId

STREAM = "PARKED"
BY, FROM, POSITION, TRIES, REASON = (
    "Brain-Parked-By",
    "Brain-Parked-From",
    "Brain-Parked-Position",
    "Brain-Parked-Tries",
    "Brain-Parked-Reason",
)

_PARKED = metrics.counter("embedder_parked_total", "messages given up on, by the code of the reason", "reason")
_LOG = log.get(part="parking")


class Parking:
    """Parks messages of one durable, for one service."""

    def __init__(self, jetstream: JetStreamContext, brain: BrainId, service: str, durable: str) -> None:
        self._jetstream = jetstream
        self._brain = brain
        self._service = service
        self._durable = durable

    async def park(self, message: Msg, reason: str) -> None:
        """Store a copy with the code of the reason, then acknowledge. Raises `Unavailable` where it cannot."""
        at = message.metadata
        headers = {
            "Nats-Msg-Id": f"{self._durable}/{at.stream}/{at.sequence.stream}",
            BY: self._durable,
            FROM: message.subject,
            POSITION: f"{at.stream}/{at.sequence.stream}",
            TRIES: str(at.num_delivered or 1),
            REASON: reason,
            codec.TYPE_HEADER: codec.type_of(message.headers),
        }
        subject = subjects.parked(self._brain, self._service)
        try:
            await self._jetstream.publish(
                subject, message.data, stream=STREAM, headers=telemetry.inject({k: v for k, v in headers.items() if v})
            )
        except (nats.errors.Error, APIError, TimeoutError) as error:
            raise Unavailable(f"{STREAM} takes no message") from error
        await message.ack()
        _PARKED.add(reason)
        _LOG.warning("message_parked", durable=self._durable, position=at.sequence.stream, reason=reason)
