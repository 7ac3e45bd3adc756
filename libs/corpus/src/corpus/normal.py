"""Bytes that come from outside, brought to the one form that is stored, hashed and shown."""

from corpus.errors import Malformed

MAX_PAGE_BYTES = 256 * 1024


def normalise(body: bytes) -> bytes:
    """UTF-8 without a byte order mark, every line ended by LF. Applied once, on entry; applying it again is quiet.

    Refuses what no page may hold: bytes that are not UTF-8, NUL, and more than 256 KB (domain rule).
    """
    if len(body) > 2 * MAX_PAGE_BYTES:
        raise _too_large()
    normal = body.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    try:
        normal.decode()
    except UnicodeDecodeError as error:
        raise Malformed("not_utf8", "The page holds bytes that are not UTF-8.", *_place(normal, error.start)) from None
    nul = normal.find(b"\0")
    if nul >= 0:
        raise Malformed("nul_character", "The page holds a NUL character.", *_place(normal, nul))
    if len(normal) > MAX_PAGE_BYTES:
        raise _too_large()
    return normal


def _too_large() -> Malformed:
    return Malformed("page_too_large", f"The page is larger than {MAX_PAGE_BYTES // 1024} KB.")


def _place(body: bytes, offset: int) -> tuple[int, int]:
    before = body[:offset]
    return before.count(b"\n") + 1, len(before.rsplit(b"\n", 1)[-1]) + 1
