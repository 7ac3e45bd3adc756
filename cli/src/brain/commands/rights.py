"""`brain grant`, `brain why`, `brain token`: who may what, and with which token."""

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from uuid import UUID, uuid4

import click

from brain import api, output
from brain.groups import Group
from brain.output import F
from contracts import gateway_api
from contracts.enums import Permission, Scope, Tier, TokenKind
from contracts.gateway_messages import LONGEST_TOKEN_DAYS, GrantMade, Issued, Reasoning
from contracts.ids import CommandId, TokenId
from contracts.replies import Accepted

_ISSUED = [kind.value for kind in TokenKind if kind is not TokenKind.SIGNIN]
"""The kinds that are issued here: a sign-in is made by `brain signin`."""


def _grant_arguments(command: F) -> F:
    arguments: list[Callable[[F], F]] = [
        click.argument("scope"),
        click.argument("permission", type=click.Choice([each.value for each in Permission])),
        click.argument("subject"),
    ]
    for argument in arguments:
        command = argument(command)
    return command


@click.group(cls=Group)
def grant() -> None:
    """Who may read, suggest and approve what."""


@grant.command("list")
@click.argument("subject", default="")
@api.as_option
@output.json_option
def list_grants(*, subject: str, person: str | None, as_json: bool) -> None:
    """List the grants of a member or group; your own without SUBJECT."""
    with api.connect(person) as gateway:
        found = gateway.get(gateway_api.GRANTS, gateway_api.GrantLines, {"subject": subject})
    lines = [f"{line.subject:24} {line.permission.value:8} {line.scope}" for line in found.grants]
    output.show(found, lines, as_json=as_json)


@grant.command("add")
@_grant_arguments
@api.as_option
@output.json_option
def add_grant(*, subject: str, permission: str, scope: str, person: str | None, as_json: bool) -> None:
    """Grant PERMISSION on SCOPE (`page.md`, `folder/**`, `**` or `category:name`) to a member or a group."""
    with api.connect(person) as gateway:
        made = gateway.post(gateway_api.GRANT_ADD, _text(subject, permission, scope), GrantMade)
    output.show(made, [f"{subject} may {permission} {scope}."], as_json=as_json)


@grant.command("revoke")
@_grant_arguments
@api.as_option
@output.json_option
def revoke_grant(*, subject: str, permission: str, scope: str, person: str | None, as_json: bool) -> None:
    """Take a grant back; it counts no longer from the answer on."""
    with api.connect(person) as gateway:
        done = gateway.post(gateway_api.GRANT_REVOKE, _text(subject, permission, scope), Accepted)
    output.show(done, [f"{subject} may not {permission} {scope} by that grant any more."], as_json=as_json)


def _text(subject: str, permission: str, scope: str) -> gateway_api.GrantText:
    command = CommandId(uuid4())
    return gateway_api.GrantText(subject=subject, permission=Permission(permission), scope=scope, command=command)


@click.command()
@click.argument("who", metavar="PERSON")
@click.argument("path")
@api.as_option
@output.json_option
def why(*, who: str, path: str, person: str | None, as_json: bool) -> None:
    """Say whether PERSON may see PATH, and by which grant."""
    with api.connect(person) as gateway:
        reasoning = gateway.get(gateway_api.WHY, Reasoning, {"person": who, "path": path})
    seen = {True: "may see", False: "may not see", None: "may or may not see"}[reasoning.visible]
    output.show(reasoning, [f"{who} {seen} {path}", *reasoning.reasons], as_json=as_json)


@click.group(cls=Group)
def token() -> None:
    """Tokens with which clients read and propose."""


@token.command("list")
@api.as_option
@output.json_option
def list_tokens(*, person: str | None, as_json: bool) -> None:
    """List your tokens with kind, tier, expiry and scopes, never their secrets.

    `signin` is a sign-in on this machine or in a browser.
    """
    with api.connect(person) as gateway:
        found = gateway.get(gateway_api.TOKENS, gateway_api.TokenLines)
    output.show(found, lines_of(found), as_json=as_json)


def lines_of(found: gateway_api.TokenLines) -> Iterator[str]:
    """A line for each token: its id, and all that tells which one it is."""
    for each in found.tokens:
        scopes = " ".join(scope.value for scope in each.scopes)
        domains = "" if each.domains is None else f"  domains {', '.join(each.domains)}"
        yield f"{each.id}  {each.kind.value:8} {each.tier.value:8}  {_expiry(each.expires_at)}  {scopes}{domains}"


@token.command("issue")
@click.option("--kind", type=click.Choice(_ISSUED), default="person", show_default=True, help="Who will use it.")
@click.option(
    "--tier",
    type=click.Choice([tier.value for tier in Tier]),
    default="employee",
    show_default=True,
    help="The highest access levels that it sees; never above its holder's own.",
)
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    type=click.Choice([scope.value for scope in Scope]),
    help="What it may do. May be repeated; brain:read is always there.",
)
@click.option(
    "--days",
    type=click.IntRange(1, LONGEST_TOKEN_DAYS),
    default=90,
    show_default=True,
    help="How many days until it expires.",
)
@click.option("--domain", "domains", multiple=True, help="Of an agent: it sees pages of this domain alone. Repeatable.")
@click.option("--service", default="", help="Issue it for this service, as an admin.")
@api.as_option
@output.json_option
def issue_token(
    *,
    kind: str,
    tier: str,
    scopes: tuple[str, ...],
    days: int,
    domains: tuple[str, ...],
    service: str,
    person: str | None,
    as_json: bool,
) -> None:
    """Issue a token for yourself, or as an admin for a service. It is shown once.

    The token is all of stdout; its id, by which it is revoked, is told on stderr.
    """
    asked = gateway_api.NewToken(
        tier=Tier(tier),
        scopes=scopes_of(scopes),
        kind=TokenKind(kind),
        days=days,
        domains=domains,
        service=service,
        command=CommandId(uuid4()),
    )
    with api.connect(person) as gateway:
        issued = gateway.post(gateway_api.TOKEN_ISSUE, asked, Issued)
    told = {"token": issued.secret, "id": issued.token, "expires_at": issued.expires_at, "position": issued.position}
    if not as_json:
        output.note(f"token {issued.token}, {_expiry(issued.expires_at)}")
    output.show(told, [issued.secret], as_json=as_json)


def scopes_of(named: Sequence[str]) -> tuple[Scope, ...]:
    """The scopes of a token for which these are named: reading is always among them."""
    return tuple(scope for scope in Scope if scope is Scope.READ or scope.value in named)


@token.command("revoke")
@click.argument("token_id", metavar="ID", type=click.UUID)
@api.as_option
@output.json_option
def revoke_token(*, token_id: UUID, person: str | None, as_json: bool) -> None:
    """End a token by its id."""
    asked = gateway_api.TokenName(token=TokenId(token_id), command=CommandId(uuid4()))
    with api.connect(person) as gateway:
        done = gateway.post(gateway_api.TOKEN_REVOKE, asked, Accepted)
    output.show(done, ["The token counts no longer."], as_json=as_json)


def _expiry(at: datetime | None) -> str:
    return "never expires" if at is None else f"expires {at.astimezone(UTC):%Y-%m-%d %H:%M}Z"
