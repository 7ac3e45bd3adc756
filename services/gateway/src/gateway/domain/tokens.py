"""Tokens that act for a member, within his own tier. Secrets are made and hashed outside; only digests come in."""

from datetime import datetime, timedelta

from access.records import Member, Token
from access.rule import lower_tier
from contracts.access_facts import TokenIssued, TokenRevoked
from contracts.content import ContentRef
from contracts.enums import PrincipalKind, Role, Scope, Tier, TokenKind
from contracts.errors import Refused
from contracts.gateway_messages import LONGEST_TOKEN_DAYS
from contracts.ids import TokenId
from gateway.domain.standing import RANKS, Said, administrator

MOST_DOMAINS = 20
"""Domains that one token may be bound to."""
LONGEST_DOMAIN = 64
"""Characters of a domain, as in a page's front matter."""
SIGN_IN_DAYS = 90
"""Days that a person's sign-in on a machine lasts (a rule of the domain)."""


def issue(
    by: Member | None,
    holder: Member | None,
    wanted: tuple[TokenKind, Tier, frozenset[Scope]],
    fresh: tuple[TokenId, str],
    now: datetime,
    days: int | None,
    domains: ContentRef | None = None,
) -> list[Said]:
    """A token for oneself, or by an admin for a service: a person's token is issued by that person alone.

    `fresh`: its id and the SHA-256 (hex) of its secret. Reading belongs to every token.
    """
    if by is None or not by.active:
        raise Refused("not_a_member", "You are not an active member of this brain.", "by", "Ask an admin to add you.")
    bearer = by if holder == by else _service(by, holder)
    kind, tier, scopes = wanted
    if kind is TokenKind.SIGNIN:
        raise Refused(
            "kind_refused", "A sign-in is not issued as a token.", "kind", "Use `brain signin` on the console."
        )
    if lower_tier(tier, bearer.tier) is not tier:
        raise Refused(
            "tier_too_low",
            "A token's tier is never above its principal's.",
            "tier",
            f"Ask for {bearer.tier.value} or lower.",
        )
    if days is not None and not 1 <= days <= LONGEST_TOKEN_DAYS:
        told = f"A token lasts 1 to {LONGEST_TOKEN_DAYS} days."
        raise Refused("days_out_of_range", told, "days", "Choose a number in that range.")
    expires = None if days is None else now + timedelta(days=days)
    return [_issued(bearer, kind, tier, scopes | {Scope.READ}, fresh, expires, domains)]


def only_domains(kind: TokenKind, domains: tuple[str, ...]) -> None:
    """Raises `Refused` (domains_refused) unless a token of this kind may be bound to these domains."""
    if domains and kind is not TokenKind.AGENT:
        raise Refused(
            "domains_refused",
            "Only a token of kind agent is bound to domains.",
            "domains",
            "Leave the domains out, or ask for the kind agent.",
        )
    if len(domains) > MOST_DOMAINS or not all(0 < len(domain) <= LONGEST_DOMAIN for domain in domains):
        raise Refused(
            "domains_refused",
            f"A token is bound to at most {MOST_DOMAINS} domains of 1 to {LONGEST_DOMAIN} characters each.",
            "domains",
            "Name fewer domains, as pages name them.",
        )


def _service(by: Member, holder: Member | None) -> Member:
    administrator(by)
    if holder is None or not holder.active or holder.kind is not PrincipalKind.SERVICE:
        raise Refused(
            "no_such_member", "No active service has this name; a person's token is issued by that person.", "service",
            "Name a service, or let the person issue it.",
        )  # fmt: skip
    return holder


def sign_in(member: Member | None, fresh: tuple[TokenId, str], now: datetime) -> list[Said]:
    """A sign-in of a person on a machine: own tier, every scope, 90 days."""
    signed = signs_in(member)
    expires = now + timedelta(days=SIGN_IN_DAYS)
    return [_issued(signed, TokenKind.SIGNIN, signed.tier, frozenset(Scope), fresh, expires)]


def signs_in(member: Member | None) -> Member:
    """The member, if he may sign in. Raises `Refused` (no_such_member) unless an active person."""
    if member is None or not member.active or member.kind is not PrincipalKind.PERSON:
        raise Refused(
            "no_such_member", "No active person has this name.", "name", "List the members, or add the person first."
        )
    return member


def revoke(by: Member | None, token: Token | None, token_id: TokenId) -> list[Said]:
    """Kill a token: its own person may, and an admin. One that is dead, or that one may not end, is not there."""
    missing = Refused("no_such_token", "There is no such token that you could revoke.", "token", "List your tokens.")
    if by is None or not by.active or token is None:
        raise missing
    if token.principal != by.id and RANKS[by.role] < RANKS[Role.ADMIN]:
        raise missing
    return [(token.principal, TokenRevoked(token=token_id, principal=token.principal))]


def _issued(
    member: Member,
    kind: TokenKind,
    tier: Tier,
    scopes: frozenset[Scope],
    fresh: tuple[TokenId, str],
    expires_at: datetime | None,
    domains: ContentRef | None = None,
) -> Said:
    token, digest = fresh
    ordered = tuple(scope for scope in Scope if scope in scopes)
    fact = TokenIssued(
        token=token,
        principal=member.id,
        kind=kind,
        tier=tier,
        scopes=ordered,
        digest=digest,
        expires_at=expires_at,
        domains=domains,
    )
    return (member.id, fact)
