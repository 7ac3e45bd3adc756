"""The rule of the second admin: nobody widens his own far-reaching rights alone where another admin could do it."""

from collections.abc import Iterable

from access.records import Member
from access.rule import GrantLine
from access.scopes import Prefix
from contracts.enums import Permission, Tier
from contracts.errors import Refused
from gateway.domain.standing import RANKS, Standing

_TIERS = list(Tier)


def widens(asker: Member, after: Member, gained: Iterable[GrantLine] = ()) -> bool:
    """Whether a change gives the asker more of what takes a second admin.

    `after`: the asker as he would be. `gained`: grants that would count for him, be they his own or a group's, and do
    not yet; what he holds already by another grant excuses none, as one of the two may be revoked.
    """
    return (
        RANKS[after.role] > RANKS[asker.role]
        or _TIERS.index(after.tier) > _TIERS.index(asker.tier)
        or any(far_reaching(line) for line in gained)
    )


def far_reaching(line: GrantLine) -> bool:
    """Whether a grant lets decide, or names a page or a category: the two scopes that reach restricted pages."""
    return line.permission is Permission.APPROVE or not isinstance(line.scope, Prefix)


def not_alone(
    asker: Member, standing: Standing, where: str, *, after: Member | None = None, gained: Iterable[GrantLine] = ()
) -> None:
    """Raise `Refused` (second_admin_needed) where a change widens the asker and the brain has another admin."""
    if standing.administrators > 1 and widens(asker, after or asker, gained):
        raise Refused(
            "second_admin_needed",
            "Giving yourself approve, a scope that reaches restricted pages, or a higher role or tier takes another"
            " admin, also by way of a group.",
            where,
            "Ask another admin or owner to make this change.",
        )
