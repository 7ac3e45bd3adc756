"""Giving and taking permissions."""

from access.records import Grant, Member
from access.rule import GrantLine
from access.scopes import Scope
from contracts.access_facts import Granted, Revoked
from contracts.content import ContentRef
from contracts.enums import Permission
from contracts.errors import Refused
from contracts.ids import GrantId
from gateway.domain.standing import Said, Standing, Subject, administrator, no_such_member
from gateway.domain.widening import not_alone


def grant(
    by: Member | None,
    subject: Subject | None,
    wanted: tuple[Scope, Permission],
    standing: Standing,
    grant_id: GrantId,
    body: ContentRef,
) -> list[Said]:
    """Give a permission. One that is held already is not given twice.

    Whoever grants to himself, directly or by a group he is in, may need a second admin (`widening`).
    """
    asker = administrator(by)
    if subject is None or (subject.member is not None and not subject.member.active):
        raise no_such_member("subject")
    scope, permission = wanted
    if find(subject, scope, permission) is not None:
        return []
    if subject.id == asker.id or subject.includes_asker:
        not_alone(asker, standing, "subject", gained=[GrantLine(subject.id, scope, permission)])
    return [(subject.id, Granted(grant=grant_id, subject=subject.id, scope=body, permission=permission))]


def revoke(by: Member | None, subject: Subject | None, scope: Scope, permission: Permission) -> list[Said]:
    """Take a permission back, exactly as it was granted. Raises `Refused` (no_such_grant) where it is not held."""
    administrator(by)
    if subject is None:
        raise no_such_member("subject")
    held = find(subject, scope, permission)
    if held is None:
        raise Refused(
            "no_such_grant",
            "There is no grant of exactly this permission and scope to this subject.",
            "scope",
            "List the grants, and revoke one as it is written there.",
        )
    return [(subject.id, Revoked(grant=held.id, subject=subject.id))]


def find(subject: Subject, scope: Scope, permission: Permission) -> Grant | None:
    """The subject's grant of exactly this, if it holds one."""
    line = GrantLine(subject.id, scope, permission)
    return next((held for held in subject.grants if held.line == line), None)
