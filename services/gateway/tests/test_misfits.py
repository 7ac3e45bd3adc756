"""A word outside a closed set is answered with the words that there are."""

import msgspec
import pytest

from contracts.gateway_api import MemberRole, NewToken
from gateway.http import routes
from gateway.mcp.inputs import WriteInbox
from gateway.misfits import allowed


def misfit(fields: dict[str, object], shape: type[msgspec.Struct]) -> msgspec.ValidationError:
    with pytest.raises(msgspec.ValidationError) as told:
        msgspec.convert(fields, shape)
    return told.value


@pytest.mark.parametrize(
    ("fields", "shape", "words"),
    [
        ({"kind": "lament"}, WriteInbox, "correction, observation, proposal, work_output"),
        ({"kind": "a - at `$.title`"}, WriteInbox, "correction, observation, proposal, work_output"),
        ({"tier": "employee", "scopes": ["brain:all"]}, NewToken, "brain:read, brain:propose"),
        ({"name": "bob", "role": "boss"}, MemberRole, "member, manager, admin, owner"),
        ({"kind": 3}, WriteInbox, ""),
        ({"name": "bob"}, MemberRole, ""),
        ({"kind": "proposal", "title": "a", "body": "a body of words"}, WriteInbox, ""),
    ],
)
def test_a_word_outside_a_closed_set_is_answered_with_its_words(
    fields: dict[str, object], shape: type[msgspec.Struct], words: str
) -> None:
    assert allowed(misfit(fields, shape), shape) == words


def test_a_route_names_the_field_and_its_words_and_not_what_was_sent() -> None:
    refused = routes.misfit(misfit({"name": "bob", "role": "boss"}, MemberRole), MemberRole)
    assert (refused.what, refused.where) == ("It is one of member, manager, admin, owner.", "role")
    assert "boss" not in str(refused)
