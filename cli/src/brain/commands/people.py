"""`brain whoami`, `brain member`, `brain group`, `brain signin`: who belongs, and who sits at this machine."""

import os
from uuid import uuid4

import click

from brain import api, console, output, signins
from brain.groups import Group
from brain.stack.home import locate
from contracts import gateway_api
from contracts.enums import PrincipalKind, Role, Tier
from contracts.gateway_messages import GroupSet, Issued, MemberAdded
from contracts.ids import CommandId
from contracts.replies import Accepted

_ROLE = click.Choice([role.value for role in Role])
_TIER = click.Choice([tier.value for tier in Tier])


@click.command()
@api.as_option
@output.json_option
def whoami(*, person: str | None, as_json: bool) -> None:
    """Say who PERSON is: name, role and tier."""
    with api.connect(person) as gateway:
        me = gateway.get(gateway_api.WHOAMI, gateway_api.WhoAmI)
    output.show(me, [f"{me.name}, {me.role.value}, tier {me.tier.value}"], as_json=as_json)


@click.group(cls=Group)
def member() -> None:
    """Who belongs to the brain."""


@member.command("list")
@api.as_option
@output.json_option
def list_members(*, person: str | None, as_json: bool) -> None:
    """List the members."""
    with api.connect(person) as gateway:
        found = gateway.get(gateway_api.MEMBERS, gateway_api.MemberLines)
    lines = [f"{each.name:24} {each.kind.value:8} {each.role.value:8} {each.tier.value}" for each in found.members]
    output.show(found, lines, as_json=as_json)


@member.command("add")
@click.argument("name")
@click.option("--role", type=_ROLE, default="member", show_default=True)
@click.option("--tier", type=_TIER, default="employee", show_default=True)
@click.option("--service", is_flag=True, help="A program, not a person.")
@api.as_option
@output.json_option
def add_member(*, name: str, role: str, tier: str, service: bool, person: str | None, as_json: bool) -> None:
    """Add a member.

    NAME is made of a-z, 0-9 and single hyphens. It is given once: whoever has left keeps it, and nobody gets it again.
    """
    kind = PrincipalKind.SERVICE if service else PrincipalKind.PERSON
    asked = gateway_api.NewMember(name=name, role=Role(role), tier=Tier(tier), kind=kind, command=CommandId(uuid4()))
    with api.connect(person) as gateway:
        added = gateway.post(gateway_api.MEMBER_ADD, asked, MemberAdded)
    output.show(added, [f"{name} belongs now."], as_json=as_json)


@member.command("role")
@click.argument("name")
@click.argument("role", type=_ROLE)
@click.argument("tier", type=_TIER)
@api.as_option
@output.json_option
def change_role(*, name: str, role: str, tier: str, person: str | None, as_json: bool) -> None:
    """Give a member another role and tier."""
    asked = gateway_api.MemberRole(name=name, role=Role(role), tier=Tier(tier), command=CommandId(uuid4()))
    with api.connect(person) as gateway:
        done = gateway.post(gateway_api.MEMBER_ROLE, asked, Accepted)
    output.show(done, [f"{name} is {role}, tier {tier}."], as_json=as_json)


@member.command("remove")
@click.argument("name")
@api.as_option
@output.json_option
def remove_member(*, name: str, person: str | None, as_json: bool) -> None:
    """Let a member go: every sign-in and token ends at once.

    A name that was removed is never used again, since what its member decided is told under it. Who comes back joins
    under another name.
    """
    asked = gateway_api.MemberName(name=name, command=CommandId(uuid4()))
    with api.connect(person) as gateway:
        done = gateway.post(gateway_api.MEMBER_REMOVE, asked, Accepted)
    output.show(done, [f"{name} has left."], as_json=as_json)


@click.group(cls=Group)
def group() -> None:
    """Groups of members, which hold grants, own pages and open captures as a member does."""


@group.command("list")
@api.as_option
@output.json_option
def list_groups(*, person: str | None, as_json: bool) -> None:
    """List the groups with their members. For admins."""
    with api.connect(person) as gateway:
        found = gateway.get(gateway_api.GROUPS, gateway_api.GroupLines)
    lines = [
        f"{each.name:24} {'everybody' if each.members is None else ', '.join(each.members) or 'empty'}"
        for each in found.groups
    ]
    output.show(found, lines, as_json=as_json)


@group.command("set")
@click.argument("name")
@click.argument("members", metavar="[MEMBER]...", nargs=-1)
@api.as_option
@output.json_option
def set_group(*, name: str, members: tuple[str, ...], person: str | None, as_json: bool) -> None:
    """Let the group NAME have exactly these members from now on; one that is not there yet is made.

    Name all of them: who is not named is no member any more, and without any the group is empty. Everybody belongs to
    the group `everyone`, which cannot be set.
    """
    asked = gateway_api.Group(name=name, members=members, command=CommandId(uuid4()))
    with api.connect(person) as gateway:
        done = gateway.post(gateway_api.GROUP_SET, asked, GroupSet)
    output.show(done, [f"{name} is {', '.join(members) or 'empty'}."], as_json=as_json)


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
    told = {"name": name, "position": issued.position, "archived": issued.archived}
    output.show(told, [f"{name} is signed in here."], as_json=as_json)


def web_link(issued: Issued) -> str:
    """The address at which a browser turns a one-time code into a session."""
    return f"{api.address(locate(os.environ))}/signin?code={issued.secret}"
