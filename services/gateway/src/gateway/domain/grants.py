"""Giving and taking permissions."""

from access.records import Grant, Member
from access.rule import GrantLine
from access.scopes import Prefix, Scope
from contracts.access_facts import Granted, Revoked
from contracts.content import ContentRef
from contracts.enums import Permission
from contracts.errors import Refused
from contracts.ids import GrantId
from gateway.domain.standing import Said, Standing, Subject, administrator, no_such_member


def grant(
    by: Member | None,
    subject: Subject | None,
    wanted: tuple[Scope, Permission],
    standing: Standing,
    grant_id: GrantId,
    body: ContentRef,
) -> list[Said]:
    """Give a permission. One that is held already is not given twice.

    Whoever grants to himself, directly or by a group he is in, needs a second admin (where the brain has one) for
    approve, and for an exact path or a category, the scopes that reach restricted pages.
    """
    asker = administrator(by)
    if subject is None or (subject.member is not None and not subject.member.active):
        raise no_such_member("subject")
    scope, permission = wanted
    if find(subject, scope, permission) is not None:
        return []
    reaches_restricted = not isinstance(scope, Prefix)
    to_himself = subject.id == asker.id or subject.includes_asker
    if to_himself and standing.administrators > 1 and (permission is Permission.APPROVE or reaches_restricted):
        raise Refused(
            "second_admin_needed",
            "Granting yourself approve, or a scope that reaches restricted pages, takes another admin.",
            "subject",
            "Ask another admin or owner to make this grant.",
        )
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
