"""Embedding models, all behind one protocol, chosen by the name of a profile."""

import enum
from typing import assert_never

from embedder.models.e5 import E5
from embedder.models.endpoint import Address, Endpoint
from embedder.models.hashing import Hashing
from embedder.models.minilm import MiniLM
from embedder.models.protocol import (
    Model,
    ModelAnsweredWrongly,
    ModelError,
    ModelRefused,
    ModelUnavailable,
    TextRefused,
    Vectors,
)

__all__ = [
    "Address",
    "Model",
    "ModelAnsweredWrongly",
    "ModelError",
    "ModelRefused",
    "ModelUnavailable",
    "Profile",
    "TextRefused",
    "Vectors",
    "select",
]


class Profile(enum.StrEnum):
    """What an installation wants of its model, in words of the person who sets it up."""

    MULTILINGUAL = "multilingual"
    ENGLISH_FAST = "english-fast"
    ENDPOINT = "endpoint"
    HASHING = "hashing"


def select(profile: str, *, threads: int = 1, address: Address | None = None) -> Model:
    """The loaded model of a profile; loading the default one takes about a second.

    Raises ModelRefused when the profile is unknown, or is `endpoint` and no address was given.
    """
    try:
        chosen = Profile(profile)
    except ValueError:
        known = ", ".join(Profile)
        raise ModelRefused(f"there is no model profile {profile!r}; choose one of {known}") from None
    match chosen:
        case Profile.MULTILINGUAL:
            return E5(threads)
        case Profile.ENGLISH_FAST:
            return MiniLM(threads)
        case Profile.ENDPOINT:
            if address is None:
                raise ModelRefused("the model profile endpoint needs the address, name and dimension of its model")
            return Endpoint(address)
        case Profile.HASHING:
            return Hashing()
        case _:
            assert_never(chosen)
