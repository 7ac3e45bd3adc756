"""`brain member`, `brain signin`, `brain grant`, `brain why`, `brain token`: who belongs, and who may what."""

import os
from uuid import uuid4

import click

from brain import api, console, output, signins
from brain.stack.home import locate
from contracts.enums import Permission, PrincipalKind, Role, Scope, Tier, TokenKind
from contracts.gateway_messages import GrantMade, Issued, MemberAdded, Reasoning


def _choice(*words: str) -> click.Choice[str]:
    return click.Choice(words)


@click.group()
def member() -> None:
    """Who belongs to the brain."""


@member.command("add")
@click.argument("name")
@click.option("--role", type=_choice(*(role.value for role in Role)), default="member", show_default=True)
@click.option("--tier", type=_choice(*(tier.value for tier in Tier)), default="employee", show_default=True)
@click.option("--service", is_flag=True, help="A program, not a person.")
@api.as_option
@output.json_option
def add_member(*, name: str, role: str, tier: str, service: bool, person: str | None, as_json: bool) -> None:
    """Add a member."""
    kind = PrincipalKind.SERVICE if service else PrincipalKind.PERSON
    request = {"command": uuid4(), "name": name, "role": role, "tier": tier, "kind": kind.value}
    with api.connect(person) as gateway:
        added = gateway.post("/api/v1/members", request, MemberAdded)
    output.show(added, [f"{name} belongs now."], as_json=as_json)


@member.command("remove")
@click.argument("name")
@api.as_option
@output.json_option
def remove_member(*, name: str, person: str | None, as_json: bool) -> None:
    """Let a member go: every sign-in and token ends at once."""
    with api.connect(person) as gateway:
        done = gateway.post("/api/v1/members/remove", {"command": uuid4(), "name": name}, dict[str, object])
    output.show(done, [f"{name} has left."], as_json=as_json)


@click.command()
@click.argument("name")
@click.option("--link", is_flag=True, help="Print a one-time link for a browser instead.")
@output.json_option
def signin(*, name: str, link: bool, as_json: bool) -> None:
    """Sign a member in on this machine. Whoever holds the brain's home may do that."""
    home = locate(os.environ)
    issued = console.sign_in(home, name, link=link)
    if link:
        address = web_link(issued)
        output.show({"link": address, "expires_at": issued.expires_at}, [address], as_json=as_json)
        return
    signins.keep(home, name, issued.secret)
    output.show({"name": name, "position": issued.position}, [f"{name} is signed in here."], as_json=as_json)


def web_link(issued: Issued) -> str:
    """The address at which a browser turns a one-time code into a session."""
    return f"{api.address(locate(os.environ))}/signin?code={issued.secret}"


@click.group()
def grant() -> None:
    """Who may read, suggest and approve what."""


_SUBJECT = click.argument("subject")
_PERMISSION = click.argument("permission", type=_choice(*(each.value for each in Permission)))
_SCOPE = click.argument("scope")


@grant.command("add")
@_SUBJECT
@_PERMISSION
@_SCOPE
@api.as_option
@output.json_option
def add_grant(*, subject: str, permission: str, scope: str, person: str | None, as_json: bool) -> None:
    """Grant PERMISSION on SCOPE (`page.md`, `folder/**`, `**` or `category:name`) to a member or a group."""
    request = {"command": uuid4(), "subject": subject, "permission": permission, "scope": scope}
    with api.connect(person) as gateway:
        made = gateway.post("/api/v1/grants", request, GrantMade)
    output.show(made, [f"{subject} may {permission} {scope}."], as_json=as_json)


@grant.command("revoke")
@_SUBJECT
@_PERMISSION
@_SCOPE
@api.as_option
@output.json_option
def revoke_grant(*, subject: str, permission: str, scope: str, person: str | None, as_json: bool) -> None:
    """Take a grant back; it counts no longer from the answer on."""
    request = {"command": uuid4(), "subject": subject, "permission": permission, "scope": scope}
    with api.connect(person) as gateway:
        done = gateway.post("/api/v1/grants/revoke", request, dict[str, object])
    output.show(done, [f"{subject} may not {permission} {scope} by that grant any more."], as_json=as_json)


@click.command()
@click.argument("who")
@click.argument("path")
@api.as_option
@output.json_option
def why(*, who: str, path: str, person: str | None, as_json: bool) -> None:
    """Say whether WHO may see PATH, and by which grant."""
    with api.connect(person) as gateway:
        reasoning = gateway.get("/api/v1/why", Reasoning, {"person": who, "path": path})
    seen = "may see" if reasoning.visible else "may not see"
    output.show(reasoning, [f"{who} {seen} {path}", *reasoning.reasons], as_json=as_json)


@click.group()
def token() -> None:
    """Tokens with which clients read and propose."""


@token.command("issue")
@click.option("--kind", type=_choice(*(kind.value for kind in TokenKind)), default="person", show_default=True)
@click.option("--tier", type=_choice(*(tier.value for tier in Tier)), default="employee", show_default=True)
@click.option("--scope", "scopes", multiple=True, type=_choice(*(scope.value for scope in Scope)))
@click.option("--days", type=click.IntRange(1, 3650), default=90, show_default=True)
@api.as_option
@output.json_option
def issue_token(*, kind: str, tier: str, scopes: tuple[str, ...], days: int, person: str | None, as_json: bool) -> None:
    """Issue a token for yourself. It is shown once."""
    wanted = scopes or (Scope.READ.value,)
    request = {"command": uuid4(), "kind": kind, "tier": tier, "scopes": wanted, "days": days}
    with api.connect(person) as gateway:
        issued = gateway.post("/api/v1/tokens", request, Issued)
    result = {"token": issued.secret, "id": issued.token, "expires_at": issued.expires_at, "position": issued.position}
    output.show(result, [issued.secret], as_json=as_json)


@token.command("revoke")
@click.argument("id")
@api.as_option
@output.json_option
def revoke_token(*, id: str, person: str | None, as_json: bool) -> None:  # noqa: A002 - the argument's name on screen
    """End a token by its id."""
    with api.connect(person) as gateway:
        done = gateway.post("/api/v1/tokens/revoke", {"command": uuid4(), "token": id}, dict[str, object])
    output.show(done, ["The token counts no longer."], as_json=as_json)
