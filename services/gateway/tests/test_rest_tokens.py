"""Keys of agents: who issues them, for whom, and what they are bound to."""

import pytest

from contracts import gateway_api
from contracts import gateway_messages as messages
from contracts.enums import PrincipalKind, Role, Scope, Tier, TokenKind
from contracts.errors import Refused
from contracts.ids import PrincipalId
from gateway_world import House, command

pytestmark = pytest.mark.service


async def test_a_person_issues_a_key_bound_to_domains_and_finds_it_in_the_list(house: House) -> None:
    async with house.client(await house.sign_in()) as http:
        wanted = {"tier": "employee", "kind": "agent", "domains": ["pricing", "legal", "pricing"]}
        issued = await http.post(gateway_api.TOKEN_ISSUE, json=wanted)
        assert issued.status_code == 200, issued.text
        listed = (await http.get(gateway_api.TOKENS)).json()["tokens"]
    (line,) = (each for each in listed if each["id"] == issued.json()["token"])
    assert (line["kind"], line["domains"], line["scopes"]) == ("agent", ["legal", "pricing"], ["brain:read"])


async def test_domains_belong_to_keys_of_agents_alone(house: House) -> None:
    async with house.client(await house.sign_in()) as http:
        refused = await http.post(gateway_api.TOKEN_ISSUE, json={"tier": "employee", "domains": ["pricing"]})
    assert (refused.status_code, refused.json()["error"]["code"]) == (422, "domains_refused")
    assert "pricing" not in refused.text


async def test_an_admin_issues_for_a_service_and_a_stranger_for_nobody(house: House) -> None:
    joined = messages.AddMember(
        command=command(),
        by=house.alice,
        name="pricing-bot",
        kind=PrincipalKind.SERVICE,
        role=Role.MEMBER,
        tier=Tier.EMPLOYEE,
    )
    await house.ask(messages.ADD_MEMBER, joined, messages.MemberAdded)
    bob = await house.join("bob-of-keys")

    def wanted(by: PrincipalId) -> messages.IssueToken:
        return messages.IssueToken(
            command=command(),
            by=by,
            kind=TokenKind.AGENT,
            tier=Tier.EMPLOYEE,
            scopes=(Scope.READ,),
            service="pricing-bot",
            domains=("pricing",),
        )

    assert (await house.ask(messages.ISSUE_TOKEN, wanted(house.alice), messages.Issued)).secret.startswith("brain_")
    for by in (bob, PrincipalId(command())):
        with pytest.raises(Refused):
            await house.ask(messages.ISSUE_TOKEN, wanted(by), messages.Issued)
