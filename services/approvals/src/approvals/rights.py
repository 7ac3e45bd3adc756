"""Members and their grants, as the fold of the access facts in this schema has them."""

from collections.abc import Iterable

from access import lookup
from approvals.domain.decision import not_a_member
from approvals.domain.sight import Person
from chassis.postgres import Pooled
from contracts.ids import BrainId, PrincipalId


async def person(db: Pooled, brain: BrainId, principal: PrincipalId) -> Person:
    """An active member with its grants. Raises `not_a_member`."""
    found = await people(db, brain, [principal])
    if principal not in found:
        raise not_a_member()
    return found[principal]


async def people(db: Pooled, brain: BrainId, principals: Iterable[PrincipalId]) -> dict[PrincipalId, Person]:
    """Those of these principals that are active members, with their grants."""
    found = {}
    for principal in dict.fromkeys(principals):
        caller = await lookup.caller_for(db, brain, principal, None)
        if caller is not None:
            found[principal] = Person(caller, tuple(await lookup.grants_for(db, caller.subjects)))
    return found
