"""What the embedder answers: a question's vector."""

from contracts.embedder_messages import Embed, Embedded
from contracts.errors import Unavailable
from embedder import vectors
from embedder.models import ModelError
from embedder.worker import Worker


class Questions:
    """Serves `ask.embedder.embed`."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker

    async def embed(self, asked: Embed) -> Embedded:
        """The vector of a query, with the model that made it. Raises `Unavailable` where the model gives none."""
        try:
            vector = await self._worker.query(asked.query)
        except ModelError as error:
            raise Unavailable(str(error), retry_after=5) from error
        model = self._worker.model
        return Embedded(model=model.model_id, dim=model.dim, vector=vectors.encode(vector))
