"""`brain limits`, `brain costs`: how often anybody may ask, and what was used."""

import click

from brain import api, output
from brain.groups import Group
from contracts import gateway_api


@click.group(cls=Group)
def limits() -> None:
    """How often anybody may ask: calls in a minute, by kind. For admins."""


@limits.command("list")
@api.as_option
@output.json_option
def list_limits(*, person: str | None, as_json: bool) -> None:
    """List every limit, and what it counts."""
    with api.connect(person) as gateway:
        found = gateway.get(gateway_api.LIMITS, gateway_api.LimitLines)
    output.show(found, _limits(found), as_json=as_json)


@limits.command("set")
@click.argument("name")
@click.argument("per_minute", type=click.IntRange(1), required=False)
@api.as_option
@output.json_option
def set_limit(*, name: str, per_minute: int | None, person: str | None, as_json: bool) -> None:
    """Set the limit NAME to PER_MINUTE calls in a minute; without a figure it gets its default back."""
    asked = gateway_api.NewLimit(name=name, per_minute=per_minute)
    with api.connect(person) as gateway:
        found = gateway.post(gateway_api.LIMIT_SET, asked, gateway_api.LimitLines)
    output.show(found, [line for line in _limits(found) if line.startswith(f"{name} ")], as_json=as_json)


@click.command()
@click.option("--days", type=click.IntRange(1), default=30, show_default=True, help="The last DAYS days, with today.")
@api.as_option
@output.json_option
def costs(*, days: int, person: str | None, as_json: bool) -> None:
    """Show what was used by day: calls of tools, and runs of the chat with their tokens. For admins."""
    with api.connect(person) as gateway:
        found = gateway.get(gateway_api.COSTS, gateway_api.CostLines, {"days": days})
    lines = [
        f"{line.day}  {line.category:9}  {'billable' if line.billable else 'free':8}"
        f"  {output.count(line.calls, 'call')}, {line.refused} refused, {output.count(line.tokens, 'token')}"
        for line in found.costs
    ]
    output.show(found, lines or ["Nothing was used."], as_json=as_json)


def _limits(found: gateway_api.LimitLines) -> list[str]:
    return [
        f"{line.name:17} {line.per_minute:>7}  {line.counts}"
        + ("" if line.per_minute == line.default else f" (default {line.default})")
        for line in found.limits
    ]
