"""Why somebody may or may not see a path, for himself and for whoever administers grants."""

from nats.aio.client import Client

from access import lookup, rule
from access.rule import Caller, GrantLine, PageClass
from access.scopes import Category, written
from chassis import rpc
from chassis.postgres import Pool, transaction
from contracts import retrieval_messages
from contracts.enums import Access, Gate, Permission, Reach
from contracts.errors import Refused
from contracts.gateway_messages import AskWhy, Reasoning
from contracts.ids import BrainId, PrincipalId
from contracts.retrieval_messages import Asker, PageView, ReadPage
from gateway.domain.standing import administrator, no_such_member


class Reasons:
    """Answers `why` from the grants, and from the page where the asker may see it himself."""

    def __init__(self, nc: Client, pool: Pool, brain: BrainId) -> None:
        self._nc = nc
        self._pool = pool
        self._brain = brain

    async def why(self, asked: AskWhy) -> Reasoning:
        """May this person see this path, and by which grants? An admin learns nothing of pages he cannot see."""
        async with transaction(self._pool, self._brain, readonly=True) as db:
            by = await lookup.member(db, asked.by)
            person = await lookup.member_by_name(db, asked.person)
            if person is None or person.id != asked.by:
                administrator(by)
            if person is None:
                raise no_such_member("person")
            caller = await lookup.caller_for(db, self._brain, person.id, None)
            grants = await lookup.grants_for(db, [] if caller is None else caller.subjects)
            position = (await lookup.gate_positions(db))[Gate.ACCESS]
        if caller is None:
            return _answer(asked, False, None, ["not an active member"], position)
        view = await self._seen_by(asked.by, asked.path)
        page = PageClass(asked.path, Access.PUBLIC, Reach.ORDINARY)
        if view is not None:
            page = PageClass(view.path, view.access, view.sensitivity)
        held = rule.permission(grants, caller, page)
        reasons = rule.explain(grants, caller, page) + _by_category(grants, caller)
        if view is not None:
            visible = await self._seen_by(person.id, view.path) is not None
            return _answer(asked, visible, held, reasons, position)
        reasons.append("decided on the path alone: you see no page there, so its class and category are unknown")
        return _answer(asked, held is not None, held, reasons, position)

    async def _seen_by(self, principal: PrincipalId, path: str) -> PageView | None:
        asked = ReadPage(asker=Asker(principal=principal), path=path)
        try:
            return await rpc.ask(self._nc, retrieval_messages.READ_PAGE, asked, PageView)
        except Refused:
            return None


def _answer(
    asked: AskWhy, visible: bool, permission: Permission | None, reasons: list[str], position: int
) -> Reasoning:
    return Reasoning(
        person=asked.person,
        path=asked.path,
        visible=visible,
        permission=permission,
        reasons=tuple(reasons),
        position=position,
    )


def _by_category(grants: list[GrantLine], caller: Caller) -> list[str]:
    return [
        f"grant of {line.permission.value} on {written(line.scope)} counts where the page is of that category"
        for line in grants
        if line.subject in caller.subjects and isinstance(line.scope, Category)
    ]
