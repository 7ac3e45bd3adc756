"""Which of the two languages a text is searched and split as."""

import re
from typing import Literal

_SAMPLE = 20_000
_WORD = re.compile(r"[^\W\d_]+")
_ENGLISH_WORDS = """
    the and of to is in that for you we with are be this if not it on as by from or an can will our your have has
    they which when should what how who there was were do does must may any all but
"""
_NORWEGIAN_WORDS = """
    og ikke det som på av til er å med vi har du skal kan eller den hvis hva ved fra om et en at de jeg være blir
    dette når hvor hvem hvordan må seg deg oss vår våre din ditt dine også etter alle ein ei eit ikkje korleis
"""
_ENGLISH = frozenset(_ENGLISH_WORDS.split())
_NORWEGIAN = frozenset(_NORWEGIAN_WORDS.split())


def detect(text: str) -> Literal["english", "norwegian"]:
    """The language whose function words are more frequent at the text's start; English where neither is."""
    found = [word.lower() for word in _WORD.findall(text[:_SAMPLE])]
    norwegian = sum(word in _NORWEGIAN for word in found)
    english = sum(word in _ENGLISH for word in found)
    return "norwegian" if norwegian > english else "english"
