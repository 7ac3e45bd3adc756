"""What gateway answers on the bus: the operator's commands, and questions of other services."""

from contracts import gateway_messages as messages
from contracts.errors import Refused
from gateway.audit.doors import Bus
from gateway.credentials import Credentials
from gateway.limits.usage import Usage
from gateway.membership import Membership
from gateway.reasoning import Reasons
from gateway.sessions import Sessions
from gateway.texts import checked
from gateway.tokens import Tokens


def listen(
    server: Bus,
    commands: tuple[Membership, Tokens, Reasons],
    sessions: Sessions,
    credentials: Credentials,
) -> None:
    """Route every subject. Routes are made before the server starts."""
    membership, tokens, reasons = commands

    async def session(asked: messages.AskSession) -> messages.Session:
        await credentials.behind_the_fence()
        found = await sessions.find(asked.cookie)
        if found is None:
            raise Refused("not_signed_in", "This browser is not signed in.", "cookie", "Open a new sign-in link.")
        return found

    server.route(messages.OPEN_BRAIN, messages.OpenBrain, checked(membership.open_brain))
    server.route(messages.ADD_MEMBER, messages.AddMember, checked(membership.add_member))
    server.route(messages.REMOVE_MEMBER, messages.RemoveMember, checked(membership.remove_member))
    server.route(messages.CHANGE_ROLE, messages.ChangeRole, checked(membership.change_role))
    server.route(messages.SET_GROUP, messages.SetGroup, checked(membership.set_group))
    server.route(messages.GRANT, messages.GrantTo, checked(membership.grant))
    server.route(messages.REVOKE_GRANT, messages.RevokeFrom, checked(membership.revoke))
    server.route(messages.ISSUE_TOKEN, messages.IssueToken, checked(tokens.issue))
    server.route(messages.REVOKE_TOKEN, messages.RevokeToken, checked(tokens.revoke))
    server.route(messages.SIGN_IN, messages.SignIn, checked(tokens.sign_in))
    server.route(messages.SESSION, messages.AskSession, checked(session))
    server.route(messages.WHY, messages.AskWhy, checked(reasons.why))


def meter(server: Bus, usage: Usage) -> None:
    """Route what others have to say about their use."""

    async def record(ended: messages.RecordRun) -> messages.RunRecorded:
        await usage.ran(ended.run, ended.principal, ended.tokens, acted=ended.acted)
        return messages.RunRecorded(run=ended.run)

    server.route(messages.RECORD_RUN, messages.RecordRun, checked(record))
