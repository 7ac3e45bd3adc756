"""What every embedding model offers, and how one fails."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
"""One row a text, each of length one; a single vector is a row without its matrix."""


class Model(Protocol):
    """Turns text into vectors of length one whose dot product is their likeness.

    Calls block while the model computes; call them from a thread of their own. A vector depends on
    its own text only, never on the texts that were handed in beside it.
    """

    @property
    def model_id(self) -> str:
        """The name that is kept with every vector: vectors of two names are never compared."""

    @property
    def dim(self) -> int:
        """How many numbers a vector has."""

    def slices(self, texts: Sequence[str]) -> list[list[int]]:
        """Places of texts to hand in together: each is one computation, so that a waiting query is not kept long."""

    def passages(self, texts: Sequence[str]) -> Vectors:
        """Vectors of texts that are to be found, float32, one row a text in the given order."""

    def query(self, text: str) -> Vectors:
        """The vector of a text that looks for passages, float32, one dimension."""


class ModelError(Exception):
    """A model gave no vectors. The message names the model and the remedy, never the text or a key."""


class ModelUnavailable(ModelError):
    """The model may answer later: a busy, slow or unreachable endpoint after the bounded retries."""


class ModelRefused(ModelError):
    """The model will answer no better later: a wrong key, address, model name or setting."""


class TextRefused(ModelError):
    """The model takes other texts but not these, and will not take them later."""


class ModelAnsweredWrongly(ModelError):
    """The model answered, but with something that is not the asked vectors."""
