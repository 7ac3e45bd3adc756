"""Where sentences end, in English and Norwegian prose."""

import re

# Abbreviations that a sentence does not end with. Those that often do (etc., osv., mv., Inc.) are not here.
_ABBREVIATIONS = """
    e.g i.e eg ie vs cf mr mrs ms dr prof st fig approx ca bl.a dvs f.eks feks jf jfr nr kl pkt tlf evt iht inkl ekskl
    pga ift mht ev hhv f.o.m t.o.m ref gj.sn forts kap avd adm
"""
_NEVER_LAST = frozenset(_ABBREVIATIONS.split())
_CLOSING = "\"')*_\u2019\u201d»\\]"
_OPENING = "\"'(*_`!<«\\[\u2018\u201c"
# Every repetition is possessive or bounded by what may precede it, so hostile text costs no more than its length.
_CANDIDATE = re.compile(
    rf"(?<![.!?…])[.!?…]++[{_CLOSING}]*+(?:\[\^[^\[\]\s]{{1,200}}\])*+\s++"
    rf"(?=[{_OPENING}]{{0,8}}[0-9A-ZÆØÅÄÖÉÜ]|[^\x00-\u024F])"
)
_LAST_WORD = re.compile(rf"(?:^|[\s{_OPENING}])([^\s{_OPENING}]{{1,12}})$")


def sentence_ends(text: str) -> list[int]:
    """Offsets at which a new sentence starts, the first one's left out. Citation marks stay with what they follow."""
    ends: list[int] = []
    ticks = counted = 0
    for match in _CANDIDATE.finditer(text):
        ticks += text.count("`", counted, match.start())
        counted = match.start()
        if ticks % 2 == 0 and not _is_abbreviation(text, match):
            ends.append(match.end())
    return ends


def _is_abbreviation(text: str, match: re.Match[str]) -> bool:
    if not match[0].startswith(".") or match[0].startswith(".."):
        return False
    before = _LAST_WORD.search(text[max(0, match.start() - 14) : match.start()])
    if before is None:
        return False
    word = before[1].casefold()
    initial = len(word) == 1 and word.isalpha()
    numbered = word == "no" and text[match.end() : match.end() + 1].isdigit()
    return word in _NEVER_LAST or initial or numbered
