"""deploy/k8s as kubectl renders it, in the shapes that tests ask about."""

import subprocess
from typing import TypeAlias

import msgspec
import yaml

from house.repository import ROOT, Environment, tool

BASE = ROOT / "deploy" / "k8s" / "base"
WORKLOADS = {"Deployment", "StatefulSet", "Job"}

Document: TypeAlias = dict[str, object]


class Key(msgspec.Struct):
    name: str
    key: str


class Source(msgspec.Struct, rename="camel"):
    config_map_key_ref: Key


class Variable(msgspec.Struct, rename="camel"):
    name: str
    value: str = ""
    value_from: Source | None = None


class Walls(msgspec.Struct, rename="camel"):
    allow_privilege_escalation: bool
    read_only_root_filesystem: bool
    capabilities: dict[str, list[str]]


class Container(msgspec.Struct, rename="camel"):
    name: str
    image: str
    security_context: Walls
    resources: dict[str, dict[str, str]]
    env: list[Variable] = []
    startup_probe: Document = {}
    readiness_probe: Document = {}
    liveness_probe: Document = {}
    lifecycle: Document = {}


class Paper(msgspec.Struct):
    key: str
    path: str


class Papers(msgspec.Struct, rename="camel"):
    secret_name: str
    items: list[Paper]
    default_mode: int


class Volume(msgspec.Struct):
    name: str
    secret: Papers | None = None


class PodWalls(msgspec.Struct, rename="camel"):
    run_as_non_root: bool
    run_as_user: int
    seccomp_profile: dict[str, str]


class Pod(msgspec.Struct, rename="camel"):
    containers: list[Container]
    security_context: PodWalls
    automount_service_account_token: bool
    volumes: list[Volume]
    topology_spread_constraints: list[Document] = []
    termination_grace_period_seconds: int = 30


class Labelled(msgspec.Struct):
    labels: dict[str, str]


class Template(msgspec.Struct):
    spec: Pod
    metadata: Labelled


class WorkloadSpec(msgspec.Struct):
    template: Template
    replicas: int = 1
    strategy: Document = {}


class Named(msgspec.Struct):
    name: str


class Workload(msgspec.Struct):
    kind: str
    metadata: Named
    spec: WorkloadSpec

    @property
    def main(self) -> Container:
        (container,) = self.spec.template.spec.containers
        return container

    @property
    def program(self) -> str:
        return self.spec.template.metadata.labels["app.kubernetes.io/name"]

    @property
    def environment(self) -> Environment:
        return {each.name: each.value for each in self.main.env}

    @property
    def roles(self) -> list[str]:
        return self.environment["BRAIN_ROLES"].split(",")


def render() -> list[Document]:
    """Every document of the base."""
    ended = subprocess.run([tool("kubectl"), "kustomize", str(BASE)], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return list(yaml.safe_load_all(ended.stdout))


def workloads(rendered: list[Document]) -> list[Workload]:
    """What runs pods."""
    return [msgspec.convert(each, Workload) for each in rendered if each["kind"] in WORKLOADS]
