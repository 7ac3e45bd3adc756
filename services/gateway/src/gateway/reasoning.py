"""Why somebody may or may not see a path, for himself and for whoever administers grants."""

from nats.aio.client import Client

from access import lookup, rule
from access.rule import PageClass
from chassis import rpc
from chassis.postgres import Pool, transaction
from contracts import retrieval_messages
from contracts.enums import Gate, Permission
from contracts.errors import MISSING, Refused
from contracts.gateway_messages import AskWhy, Reasoning
from contracts.ids import BrainId, PrincipalId
from contracts.retrieval_messages import Asker, PageView, ReadPage
from gateway.domain.standing import administrator, no_such_member

_NOT_THERE = "there is no page here that you can see"


class Reasons:
    """Answers `why` from the grants, and from the page where the asker may see it himself."""

    def __init__(self, nc: Client, pool: Pool, brain: BrainId) -> None:
        self._nc = nc
        self._pool = pool
        self._brain = brain

    async def why(self, asked: AskWhy) -> Reasoning:
        """May this person see this path, and by which grants?

        Where the asker himself sees no page, hidden and missing are one: the answer follows from the grants alone.
        """
        async with transaction(self._pool, self._brain, readonly=True) as db:
            by = await lookup.member(db, asked.by)
            person = await lookup.member_by_name(db, asked.person)
            if person is None or person.id != asked.by:
                administrator(by)
            if person is None:
                raise no_such_member("person")
            caller = await lookup.caller_for(db, self._brain, person.id, None)
            grants = await lookup.grants_for(db, [] if caller is None else caller.subjects)
            names = await lookup.names(db, {line.subject for line in grants})
            position = (await lookup.gate_positions(db))[Gate.ACCESS]
        if caller is None:
            return _answer(asked, False, None, ["not an active member"], position)
        view = await self._seen_by(asked.by, asked.path, position)
        if view is None:
            reasons = [_NOT_THERE, *rule.reaching(grants, caller, asked.path, names)]
            return _answer(asked, False if person.id == asked.by else None, None, reasons, position)
        page = PageClass(view.path, view.access, view.sensitivity)
        reasons = rule.explain(grants, caller, page, names)
        visible = person.id == asked.by or await self._seen_by(person.id, view.path, position) is not None
        return _answer(asked, visible, rule.permission(grants, caller, page) if visible else None, reasons, position)

    async def _seen_by(self, principal: PrincipalId, path: str, position: int) -> PageView | None:
        """The page as a principal sees it by the grants of `position`, None where it does not exist for him."""
        asked = ReadPage(asker=Asker(principal=principal), path=path, rights=position)
        try:
            return await rpc.ask(self._nc, retrieval_messages.READ_PAGE, asked, PageView)
        except Refused as refused:
            if refused.code in MISSING:
                return None
            raise


def _answer(
    asked: AskWhy, visible: bool | None, permission: Permission | None, reasons: list[str], position: int
) -> Reasoning:
    return Reasoning(
        person=asked.person,
        path=asked.path,
        visible=visible,
        permission=permission,
        reasons=tuple(reasons),
        position=position,
    )
