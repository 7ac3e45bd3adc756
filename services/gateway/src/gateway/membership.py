"""Commands about members and grants: read what stands, decide, append."""

import msgspec

from access import lookup
from access.records import Member
from access.scopes import parse_scope, written
from chassis.postgres import Pool, Pooled, transaction
from content.bodies import Put, Slot
from content.store import ContentStore
from contracts import gateway_messages as messages
from contracts import subjects
from contracts.content import ContentRef
from contracts.enums import Role, Tier
from contracts.ids import (
    BrainId,
    CommandId,
    GrantId,
    PrincipalId,
    content_id,
    derived,
    service_principal,
)
from contracts.replies import Accepted
from gateway.domain import gates, grants, groups, members, opening
from gateway.domain.standing import RANKS, Said, Standing, Subject, administrator
from gateway.ledger import AccessLedger, Change


class Membership:
    """Serves the commands that change who belongs and who may see what."""

    def __init__(self, pool: Pool, brain: BrainId, store: ContentStore, ledger: AccessLedger) -> None:
        self._pool = pool
        self._brain = brain
        self._store = store
        self._ledger = ledger

    async def open_brain(self, asked: messages.OpenBrain) -> messages.MemberAdded:
        """Begin the brain. Said twice, true once."""
        owner = members.person(self._brain, asked.owner, Role.OWNER, Tier.ADMIN)
        texts = {
            "name": (_named("brain"), Slot.NAME),
            "profile": (_named(asked.owner), Slot.NAME),
            "owners_scope": (b"**", Slot.SCOPE),
            "everyones_scope": (b"**", Slot.SCOPE),
        }
        kept = await self._keep(asked.command, texts)
        bodies = opening.Bodies(**kept)
        granted = (self._grant_id(asked.command, "owner"), self._grant_id(asked.command, "everyone"))

        async def decision(db: Pooled) -> Change:
            brain_itself = subjects.brain_itself(self._brain)
            opened = (await lookup.positions(db, [brain_itself]))[brain_itself] > 0
            return Change(opening.open_brain(self._brain, opened, owner, bodies, granted), self._brain)

        landed = await self._ledger.decide(asked.command, service_principal(self._brain, "operator"), decision)
        return messages.MemberAdded(member=owner.id, position=landed.position, archived=landed.archived)

    async def add_member(self, asked: messages.AddMember) -> messages.MemberAdded:
        """Let a person or service join."""
        joining = members.person(self._brain, asked.name, asked.role, asked.tier, asked.kind)
        await self._asker_may_administer(asked.by)
        profile = (await self._keep(asked.command, {"profile": (_named(asked.name), Slot.NAME)}))["profile"]

        async def decision(db: Pooled) -> Change:
            by, before = await lookup.member(db, asked.by), await lookup.member(db, joining.id)
            namesake = await lookup.group_by_name(db, asked.name)
            return self._change(members.join(by, before, joining, profile, namesake), joining.id)

        landed = await self._ledger.decide(asked.command, asked.by, decision)
        return messages.MemberAdded(member=joining.id, position=landed.position, archived=landed.archived)

    async def remove_member(self, asked: messages.RemoveMember) -> Accepted:
        """End a membership; its tokens and grants end with it."""

        async def decision(db: Pooled) -> Change:
            by, member = await lookup.member(db, asked.by), await lookup.member_by_name(db, asked.name)
            said = members.leave(by, member, await self._standing(db))
            return self._change(said, asked.by if member is None else member.id)

        landed = await self._ledger.decide(asked.command, asked.by, decision)
        return Accepted(landed.position, landed.archived)

    async def change_role(self, asked: messages.ChangeRole) -> Accepted:
        """Set a member's role and tier."""

        async def decision(db: Pooled) -> Change:
            by, member = await lookup.member(db, asked.by), await lookup.member_by_name(db, asked.name)
            said = members.change_role(by, member, asked.role, asked.tier, await self._standing(db))
            return self._change(said, asked.by if member is None else member.id, member)

        landed = await self._ledger.decide(asked.command, asked.by, decision)
        return Accepted(landed.position, landed.archived)

    async def set_group(self, asked: messages.SetGroup) -> messages.GroupSet:
        """Let a group have exactly these members."""
        group = groups.group_id(self._brain, asked.name)
        await self._asker_may_administer(asked.by)
        profile = (await self._keep(asked.command, {"profile": (_named(asked.name), Slot.NAME)}))["profile"]

        async def decision(db: Pooled) -> Change:
            by, namesake = await lookup.member(db, asked.by), await lookup.member_by_name(db, asked.name)
            wanted = [await lookup.member_by_name(db, name) for name in asked.members]
            before, held = await lookup.members_of(db, group), await lookup.grants_for(db, [group])
            there = groups.Group(group, profile, before, tuple(held))
            said = groups.set_members(by, namesake, there, wanted, await self._standing(db))
            narrowing = any(gates.narrows(fact, members=before) for _, fact in said)
            return self._ledger.change(said, group, narrowing=narrowing)

        landed = await self._ledger.decide(asked.command, asked.by, decision)
        return messages.GroupSet(group=group, position=landed.position, archived=landed.archived)

    async def grant(self, asked: messages.GrantTo) -> messages.GrantMade:
        """Give a permission on a scope to a member or group."""
        scope = parse_scope(asked.scope)
        await self._asker_may_administer(asked.by)
        body = (await self._keep(asked.command, {"scope": (written(scope).encode(), Slot.SCOPE)}))["scope"]
        grant_id = self._grant_id(asked.command, "granted")
        made = grant_id

        async def decision(db: Pooled) -> Change:
            nonlocal made
            by, subject = await lookup.member(db, asked.by), await self._subject(db, asked.subject, asked.by)
            standing = await self._standing(db)
            said = grants.grant(by, subject, (scope, asked.permission), standing, grant_id, body)
            if subject is not None and (held := grants.find(subject, scope, asked.permission)) is not None:
                made = held.id
            return self._change(said, asked.by if subject is None else subject.id)

        landed = await self._ledger.decide(asked.command, asked.by, decision)
        return messages.GrantMade(grant=made, position=landed.position, archived=landed.archived)

    async def revoke(self, asked: messages.RevokeFrom) -> Accepted:
        """Take a grant back, from the next request on."""
        scope = parse_scope(asked.scope)

        async def decision(db: Pooled) -> Change:
            by, subject = await lookup.member(db, asked.by), await self._subject(db, asked.subject, asked.by)
            said = grants.revoke(by, subject, scope, asked.permission)
            return self._change(said, asked.by if subject is None else subject.id)

        landed = await self._ledger.decide(asked.command, asked.by, decision)
        return Accepted(landed.position, landed.archived)

    def _change(self, said: list[Said], cause: PrincipalId, before: Member | None = None) -> Change:
        role, tier = (None, None) if before is None else (before.role, before.tier)
        narrowing = any(gates.narrows(fact, role, tier) for _, fact in said)
        return self._ledger.change(said, cause, narrowing=narrowing)

    async def _asker_may_administer(self, by: PrincipalId) -> None:
        """Refuse early, before a text of the asker is stored."""
        async with transaction(self._pool, self._brain) as db:
            administrator(await lookup.member(db, by))

    async def _standing(self, db: Pooled) -> Standing:
        active = await lookup.members(db)
        return Standing(
            owners=sum(member.role is Role.OWNER for member in active),
            administrators=sum(RANKS[member.role] >= RANKS[Role.ADMIN] for member in active),
        )

    async def _subject(self, db: Pooled, name: str, asker: PrincipalId) -> Subject | None:
        member = await lookup.member_by_name(db, name)
        group = None if member is not None else await lookup.group_by_name(db, name)
        subject = member.id if member is not None else group
        if subject is None:
            return None
        caller = await lookup.caller_for(db, self._brain, asker, None)
        includes = caller is not None and subject in caller.subjects
        held = tuple(await lookup.numbered_grants(db, [subject]))
        return Subject(subject, name, member, held, includes)

    async def _keep(self, command: CommandId, texts: dict[str, tuple[bytes, Slot]]) -> dict[str, ContentRef]:
        puts = [Put(content_id(command, slot), body, kind) for slot, (body, kind) in texts.items()]
        async with transaction(self._pool, self._brain) as db:
            refs = await self._store.put(db, self._brain, puts)
        return dict(zip(texts, refs, strict=True))

    def _grant_id(self, command: CommandId, which: str) -> GrantId:
        return GrantId(derived(command, "grant", which))


def _named(name: str) -> bytes:
    return msgspec.json.encode({"name": name})
