"""The product's own patterns for credentials, beside those the scanner brings. All run in linear time on re2."""

import base64
import binascii
import json
import math
from collections import Counter
from collections.abc import Callable, Iterator
from typing import NamedTuple

from content.patterns import Pattern, compiled


class Rule(NamedTuple):
    """A named pattern. Its one group is a credential where `real` says so and the whole match is not `harmless`."""

    name: str
    shape: Pattern
    real: Callable[[bytes], bool]
    harmless: Pattern | None = None


_SEPARATOR = r"""["'`*\]]{0,3}[ \t]{0,3}(?:=>|:=|={1,2}|:)["'`*]{0,3}[= \t]{0,3}["'`*]{0,3}"""
_STAND_IN = compiled(
    r"(?i)example|sample|placeholder|change[-_]?(?:me|it)|your|dummy|redacted|insert|replace|xxxx|\*\*|\.\.|…|"
    r"[<>{}$%()\[\]]|1password|lastpass|bitwarden|keychain|https?:|process\.env|os\.environ|secrets?manager"
)
_NAME_OF_ITSELF = compiled(
    r"(?i)^(?:my|the|our|a|some|db|database|admin|test|super|app)?[-_]?(?:user(?:name)?|password|passwd|passord|pass|pwd|pw|"
    r"secret|token|key|api[-_]?key|access[-_]?key|credentials?|admin|root|postgres|guest|test|foo|bar|none|null|true|false|"
    r"undefined|optional|required|string|hidden|bearer|basic|hemmelig)(?:[-_]?(?:key|token|value|here|word|id))?$"
)
_WORDS = compiled(r"^(?:[A-Za-z]+|[vV]?[0-9]{1,4})(?:[-_./:,](?:[A-Za-z]+|[vV]?[0-9]{1,4}))*[.,;:!?]?$")
_PUBLIC = compiled(r"(?i)public|cache|primary|foreign|idempotency|partition")
_LOWER_PASSWORD = compiled(r"^(?:password|passord|secret|test|admin|user)[0-9]{1,4}$")
_UUID = compiled(r"(?i)^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$")
_DIGIT = compiled(r"[0-9]")
_LETTER = compiled(r"[A-Za-z]|[\x80-\xff]")
_CAPITAL = compiled(r"[A-Z]")
_FEW_SYMBOLS = 4
_OPAQUE_BITS = 2.9  # bits a byte; hex that repeats eight symbols has 3.0, English identifiers of this length rarely do


def is_stand_in(secret: bytes) -> bool:
    """Whether `secret` is what documentation writes in place of one: a name, a mask, a variable, EXAMPLE."""
    if len(set(secret)) <= _FEW_SYMBOLS:
        return True
    return any(shape.search(secret) is not None for shape in (_STAND_IN, _NAME_OF_ITSELF, _LOWER_PASSWORD))


def _mixed(secret: bytes) -> bool:
    return _DIGIT.search(secret) is not None and _LETTER.search(secret) is not None


def _bits(secret: bytes) -> float:
    counts = Counter(secret).values()
    return -sum(count / len(secret) * math.log2(count / len(secret)) for count in counts)


def _opaque(secret: bytes) -> bool:
    return (
        _mixed(secret)
        and not is_stand_in(secret)
        and _WORDS.search(secret) is None
        and _UUID.search(secret) is None
        and _bits(secret) >= _OPAQUE_BITS
    )


def _written_out(secret: bytes) -> bool:
    return _mixed(secret) and not is_stand_in(secret) and _WORDS.search(secret) is None


def _shown(secret: bytes) -> bool:
    return not is_stand_in(secret)


def _key_block(secret: bytes) -> bool:
    inside = secret.split(b"-----", 2)[2]
    return not is_stand_in(inside[:64])


def _key_id(secret: bytes) -> bool:
    return b"EXAMPLE" not in secret and b"XXXX" not in secret


def _own_token(secret: bytes) -> bool:
    return _CAPITAL.search(secret) is not None  # of 40 random letters one is, of an identifier's none


def _web_token(secret: bytes) -> bool:
    head = secret.split(b".", 1)[0]
    try:
        fields = json.loads(base64.urlsafe_b64decode(head + b"=" * (-len(head) % 4)))
    except (binascii.Error, ValueError):
        return False
    return isinstance(fields, dict) and "alg" in fields


RULES: tuple[Rule, ...] = (
    Rule(
        "private_key",
        compiled(
            r"(-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----(?:\s|\\r|\\n)+[^\s.<\[{*-]"
            r"(?:(?:[^-]|-[^-]){3,}-----END [A-Z0-9 ]{1,40}-----|[^\r\n]{3,}))"
        ),
        _key_block,
    ),
    Rule("brain_token", compiled(r"\b(brain_[A-Za-z0-9_-]{40,})"), _own_token),
    Rule("aws_access_key_id", compiled(r"\b((?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16})\b"), _key_id),
    Rule(
        "aws_secret_key",
        compiled(
            r"(?i)aws.{0,24}(?:secret|key|token|pw)[^\r\n]{0,16}?[=:]\s*[\"'`]?([A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+=]|$)"
        ),
        _opaque,
    ),
    Rule("storage_account_key", compiled(r"(?i)accountkey=([A-Za-z0-9+/]{86}==)"), _shown),
    Rule(
        "password",
        compiled(
            r"(?i)(?:password|passwd|passord|passphrase|\bpwd|[_-]pwd|\bpw|[_-]pw|\bpass|[_-]pass)(?:et)?(?:"
            + _SEPARATOR
            + r"|\s+(?:is|er)[: ]+[\"'`]?)([^\s\"'`<>|\\,;&]{6,})"
        ),
        _written_out,
    ),
    Rule(
        "secret",
        compiled(
            r"(?i)(?:(?:api|access|auth|secret|private|client|signing|encryption|account|master|session|bearer|refresh|webhook|bot)"
            r"[ _.-]?(?:access[ _.-]?)?(?:key|token|secret)|apikey|authtoken|\bsecret|[_-]secret|\btoken|[_-]token)"
            + _SEPARATOR
            + r"([A-Za-z0-9_+/=.~-]{16,})"
        ),
        _opaque,
    ),
    Rule(
        "key",
        compiled(r"(?i)\b(?:[a-z]{2,20}[_-])?(?:api)?[_-]?key" + _SEPARATOR + r"([A-Za-z0-9_+/=-]{32,})"),
        _opaque,
        harmless=_PUBLIC,
    ),
    Rule(
        "option",
        compiled(r"(?i)--[a-z-]{0,24}(?:key|token|password|secret)[ =][\"']?([A-Za-z0-9_+/=.~-]{16,})"),
        _opaque,
    ),
    Rule(
        "connection_string",
        compiled(r"(?i)\b[a-z][a-z0-9+.-]{1,20}://[^\s:/@\"'`<>]{0,64}:([^\s/@\"'`<>]{3,128})@[a-z0-9\[_-]"),
        _shown,
    ),
    Rule(
        "authorization",
        compiled(r"(?i)authorization[\"']?\s{0,3}[:=]\s{0,3}[\"']?(?:bearer|basic|token)\s+([A-Za-z0-9._~+/=-]{16,})"),
        _opaque,
    ),
    Rule("web_token", compiled(r"\b(eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}(?:\.[A-Za-z0-9_-]*)?)"), _web_token),
    Rule(
        "vendor_token",
        compiled(
            r"\b(xox[abeoprs]-(?:[0-9]+-){1,4}[A-Za-z0-9]{10,}"
            r"|gl(?:pat|dt|rt|cbt|ptt|ft|imt|soat|oas|agent)-[A-Za-z0-9_-]{20,}"
            r"|pypi-AgE[A-Za-z0-9_-]{60,}"
            r"|[0-9a-f]{32}-us[0-9]{1,2}"
            r"|[0-9]{8,10}:AA[A-Za-z0-9_-]{33}"
            r"|[MNO][A-Za-z0-9_-]{23,25}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,38})\b"
        ),
        _written_out,
    ),
    Rule("registry_token", compiled(r"//[^\s/]+/:_authToken=\s*([A-Za-z0-9_-]{16,})"), _shown),
)


def find(body: bytes) -> Iterator[tuple[str, int, int]]:
    """Every credential that an own rule sees in `body`: the rule's name and the byte offsets of the secret."""
    for rule in RULES:
        for hit in rule.shape.finditer(body):
            known_harmless = rule.harmless is not None and rule.harmless.search(hit.group()) is not None
            if rule.real(hit.group(1)) and not known_harmless:
                yield (rule.name, *hit.span(1))
