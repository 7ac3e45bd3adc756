"""Fixed windows of one minute, aligned to the minute."""

import math

SECONDS = 60


def minute(at: float) -> int:
    """Which minute since 1970 an instant in seconds belongs to."""
    return math.floor(at / SECONDS)


def wait(at: float) -> int:
    """Whole seconds from an instant until its minute is over, at least 1."""
    return max(1, math.ceil((minute(at) + 1) * SECONDS - at))
