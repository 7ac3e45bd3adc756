"""deploy/k8s, rendered by kubectl and held against the schemas of Kubernetes: restricted, probed, without a secret."""

import re
from collections.abc import Iterator
from ipaddress import ip_address, ip_network
from pathlib import Path

import kubernetes_validate
import msgspec
import pytest
import yaml

from contracts import gateway_api
from house import manifests
from house.manifests import Document, Key, Labelled, Named, Walls, Workload
from house.repository import (
    DURING_A_JOB,
    ROOT,
    SERVICES,
    documents,
    of_image,
    papers_used,
    settings,
    wrong_settings,
)

VERSION = "1.37"
NO_SCHEMA = {"HTTPRoute"}
"""Kinds that a cluster learns from others: kubernetes-validate has no schema of them."""

OUTWARD = "gateway-reads-descriptions"
"""The one way out of the cluster."""

EXAMPLES = sorted((ROOT / "deploy" / "k8s" / "examples").glob("*.yaml"))


class Place(msgspec.Struct):
    type: str
    value: str


class Match(msgspec.Struct):
    path: Place


class Rule(msgspec.Struct, rename="camel"):
    matches: list[Match]
    backend_refs: list[Named]


class Block(msgspec.Struct):
    cidr: str
    leaving: list[str] = msgspec.field(default_factory=list, name="except")


class Peer(msgspec.Struct, rename="camel"):
    ip_block: Block


class WayOut(msgspec.Struct):
    to: list[Peer]
    ports: list[dict[str, str | int]]


@pytest.fixture(scope="session")
def rendered() -> list[Document]:
    return manifests.render()


@pytest.fixture(scope="session")
def workloads(rendered: list[Document]) -> list[Workload]:
    return manifests.workloads(rendered)


@pytest.fixture(scope="session")
def deployments(workloads: list[Workload]) -> list[Workload]:
    return [each for each in workloads if each.kind == "Deployment"]


def _of(kind: str, rendered: list[Document]) -> Iterator[Document]:
    return (each for each in rendered if each["kind"] == kind)


def test_every_document_is_what_kubernetes_knows(rendered: list[Document]) -> None:
    examples = [each for path in EXAMPLES for each in documents(path)]
    skipped = {str(each["kind"]) for each in examples if each["kind"] in NO_SCHEMA}
    assert skipped == NO_SCHEMA
    for each in (*rendered, *examples):
        if each["kind"] not in NO_SCHEMA:
            kubernetes_validate.validate(each, VERSION, strict=True)


def test_the_rendered_nats_syncs_every_write(rendered: list[Document]) -> None:
    (found,) = (msgspec.convert(each["data"], dict[str, str]) for each in _of("ConfigMap", rendered))
    assert "sync_interval: always" in [line.strip() for line in found["nats.conf"].splitlines()]


def test_no_secret_is_in_the_repository(rendered: list[Document], workloads: list[Workload]) -> None:
    assert list(_of("Secret", rendered)) == []
    for each in workloads:
        values = [value for value in each.environment.values() if "@" in value or "password" in value.lower()]
        assert values in ([], ["/run/brain/POSTGRES_PASSWORD"])


def test_every_service_runs_all_its_roles_once(deployments: list[Workload]) -> None:
    for service in SERVICES:
        told = [role for each in deployments if each.program == service for role in each.roles]
        (roles,) = (field for field in msgspec.structs.fields(settings(service)) if field.name == "brain_roles")
        assert sorted(told) == sorted(roles.default)


def test_what_follows_the_ledger_is_replaced_and_what_is_many_is_spread(
    deployments: list[Workload], rendered: list[Document]
) -> None:
    kept = {str(msgspec.convert(each["metadata"], Named).name) for each in _of("PodDisruptionBudget", rendered)}
    for each in deployments:
        if {"project", "archive"} & set(each.roles):
            assert (each.spec.replicas, each.spec.strategy) == (1, {"type": "Recreate"}), each.metadata.name
        if each.spec.replicas > 1:
            spread = {term["topologyKey"] for term in each.spec.template.spec.topology_spread_constraints}
            assert spread == {"topology.kubernetes.io/zone", "kubernetes.io/hostname"}
            assert each.metadata.name in kept


def test_a_program_gets_the_settings_that_it_reads_and_papers_that_there_are(
    workloads: list[Workload], papers: Path
) -> None:
    for each in workloads:
        if each.program in SERVICES:
            given = of_image(each.program) | each.environment
            assert wrong_settings(settings(each.program), given) == [], each.metadata.name
        elif each.program == "prepare":
            given = each.environment
            assert wrong_settings(DURING_A_JOB["prepare"][0], given) == []
        else:
            given = each.environment
        (secret,) = (volume.secret for volume in each.spec.template.spec.volumes if volume.secret)
        assert secret.secret_name == f"brain-{each.program}"
        assert secret.default_mode == 0o440
        assert {item.key for item in secret.items} <= {path.name for path in (papers / each.program).iterdir()}
        if each.program != "nats":
            assert papers_used(given) == {item.path for item in secret.items}, each.metadata.name


def test_settings_that_are_no_secret_come_from_what_brain_secrets_writes(
    workloads: list[Workload], papers: Path
) -> None:
    written = {line.split("=", 1)[0] for line in (papers / "brain.env").read_text().splitlines()}
    for each in workloads:
        for variable in each.main.env:
            if variable.value_from:
                assert variable.value_from.config_map_key_ref == Key("brain", variable.name)
                assert variable.name in written


def test_every_pod_is_restricted(workloads: list[Workload], rendered: list[Document]) -> None:
    (namespace,) = (msgspec.convert(each["metadata"], Labelled) for each in _of("Namespace", rendered))
    assert namespace.labels["pod-security.kubernetes.io/enforce"] == "restricted"
    jobs = [msgspec.convert(each, Workload) for path in EXAMPLES for each in documents(path) if each["kind"] == "Job"]
    for each in (*workloads, *jobs):
        pod = each.spec.template.spec
        assert not pod.automount_service_account_token
        assert pod.security_context.run_as_non_root
        assert pod.security_context.run_as_user >= 10_001
        assert pod.security_context.seccomp_profile == {"type": "RuntimeDefault"}
        assert each.main.security_context == Walls(
            allow_privilege_escalation=False, read_only_root_filesystem=True, capabilities={"drop": ["ALL"]}
        )
        resources = each.main.resources
        assert resources["limits"]["memory"] == resources["requests"]["memory"]
        assert resources["requests"]["cpu"]
        assert ":" in each.main.image
        assert not each.main.image.endswith(":latest")


def test_every_service_is_probed_and_has_time_to_stop(deployments: list[Workload]) -> None:
    for each in deployments:
        paths = [
            msgspec.convert(probe["httpGet"], dict[str, str])["path"]
            for probe in (each.main.startup_probe, each.main.readiness_probe, each.main.liveness_probe)
        ]
        assert paths == ["/livez", "/readyz", "/livez"]
        assert each.main.lifecycle == {"preStop": {"sleep": {"seconds": 5}}}
        assert each.spec.template.spec.termination_grace_period_seconds > 30  # the longest wait for an acknowledgement


def test_servers_are_probed_too(workloads: list[Workload]) -> None:
    for each in workloads:
        if each.kind == "StatefulSet":
            assert each.main.startup_probe
            assert each.main.readiness_probe
            assert each.main.liveness_probe


def test_nobody_speaks_to_anybody_unless_it_is_said(rendered: list[Document], workloads: list[Workload]) -> None:
    policies = {
        msgspec.convert(each["metadata"], Named).name: msgspec.convert(each["spec"], Document)
        for each in _of("NetworkPolicy", rendered)
    }
    assert policies["deny-all"] == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}
    named = yaml.safe_dump([spec for name, spec in policies.items() if name != "deny-all"])
    assert {each.program for each in workloads if each.program not in named} == set()
    assert [name for name, spec in policies.items() if "ipBlock" in yaml.safe_dump(spec)] == [OUTWARD]


def test_gateway_reaches_the_internet_and_nothing_private(rendered: list[Document]) -> None:
    named = {msgspec.convert(each["metadata"], Named).name: each for each in _of("NetworkPolicy", rendered)}
    spec = msgspec.convert(named[OUTWARD]["spec"], Document)
    assert spec["podSelector"] == {"matchLabels": {"app.kubernetes.io/name": "gateway"}}
    (way,) = msgspec.convert(spec["egress"], list[WayOut])
    assert way.ports == [{"protocol": "TCP", "port": 443}]
    blocks = [peer.ip_block for peer in way.to]
    for inside in ("10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "127.0.0.1", "100.64.0.1", "fd00::1"):
        ip = ip_address(inside)
        for block in blocks:
            left_out = any(ip in ip_network(each) for each in block.leaving)
            assert left_out or ip not in ip_network(block.cidr), inside


def test_the_route_sends_gateway_what_it_serves_and_the_web_the_rest() -> None:
    (route,) = (each for path in EXAMPLES for each in documents(path) if each["kind"] == "HTTPRoute")
    rules = msgspec.convert(msgspec.convert(route["spec"], Document)["rules"], list[Rule])
    to = {match.path.value: rule.backend_refs[0].name for rule in rules for match in rule.matches}
    assert to.pop("/") == "approvals"
    assert set(to.values()) == {"gateway"}
    folder = ROOT / "services" / "gateway" / "src"
    served = {value for name, value in vars(gateway_api).items() if name.isupper() and isinstance(value, str)}
    for path in folder.rglob("*.py"):
        served |= set(re.findall(r'"(/[a-z][a-z0-9/_-]+)"', path.read_text(encoding="utf-8")))
    assert served
    assert [path for path in sorted(served) if not path.startswith(tuple(to))] == []
