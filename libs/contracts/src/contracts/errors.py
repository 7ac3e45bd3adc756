"""What a caller is told when something is not done."""


class Refused(Exception):
    """A rule said no. Nothing was changed.

    code: stable snake_case, safe to parse. what: the rule in a sentence. where: the field, path or position that
    broke it ("" where there is none). remedy: what to do next. None of them holds content or a secret.
    """

    def __init__(self, code: str, what: str, where: str = "", remedy: str = "") -> None:
        super().__init__(code)
        self.code = code
        self.what = what
        self.where = where
        self.remedy = remedy

    def __reduce__(self) -> tuple[type["Refused"], tuple[str, str, str, str]]:
        return (Refused, (self.code, self.what, self.where, self.remedy))


class CannotStart(Refused):
    """A process lacks what it needs to run, or was given what is unusable: nothing but a person can mend it.

    Trying again changes nothing. Names settings and files, never what they hold.
    """

    def __str__(self) -> str:
        return " ".join(part for part in (self.what, self.where and f"({self.where})", self.remedy) if part)


class Unavailable(Exception):
    """Something needed did not answer in time; the caller may try again after `retry_after` seconds."""

    def __init__(self, what: str, retry_after: int = 1) -> None:
        super().__init__(what)
        self.what = what
        self.retry_after = retry_after


FORBIDDEN = frozenset(
    {"forbidden", "not_a_member", "self_approval", "scope_missing", "tier_too_low", "second_admin_needed"}
)
"""Refusal codes that mean 'you may not', whatever the bytes: HTTP 403, exit code 4."""

MISSING = frozenset(
    {
        "no_such_build",
        "no_such_grant",
        "no_such_member",
        "no_such_page",
        "no_such_proposal",
        "no_such_request",
        "no_such_token",
    }
)
"""Refusal codes that mean 'there is none that you can see': HTTP 404, exit code 1."""
