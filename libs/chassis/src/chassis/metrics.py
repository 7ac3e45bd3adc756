"""Numbers about a process, printed for Prometheus at `/metrics`. Labels are closed words, never ids or content."""

from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["counter", "gauge"]


@dataclass(slots=True)
class Metric:
    """One number by label values. Its name is `<service or library>_<thing>_<unit>`."""

    name: str
    meaning: str
    kind: Kind
    labels: tuple[str, ...] = ()
    values: dict[tuple[str, ...], float] = field(default_factory=dict)

    def add(self, *labels: str, amount: float = 1) -> None:
        """Count up."""
        self.values[labels] = self.values.get(labels, 0) + amount

    def set(self, *labels: str, value: float) -> None:
        """Record the present value."""
        self.values[labels] = value


_KNOWN: dict[str, Metric] = {}


def counter(name: str, meaning: str, *labels: str) -> Metric:
    """Declare a number that only grows. Declaring a name again returns the same metric."""
    return _KNOWN.setdefault(name, Metric(name, meaning, "counter", labels))


def gauge(name: str, meaning: str, *labels: str) -> Metric:
    """Declare a number that goes up and down. Declaring a name again returns the same metric."""
    return _KNOWN.setdefault(name, Metric(name, meaning, "gauge", labels))


def render() -> str:
    """All metrics in Prometheus' text format."""
    lines: list[str] = []
    for metric in sorted(_KNOWN.values(), key=lambda each: each.name):
        lines += [f"# HELP {metric.name} {metric.meaning}", f"# TYPE {metric.name} {metric.kind}"]
        for labels, value in sorted(metric.values.items()):
            pairs = ",".join(f'{name}="{_escape(text)}"' for name, text in zip(metric.labels, labels, strict=True))
            lines.append(f"{metric.name}{{{pairs}}} {value:g}" if pairs else f"{metric.name} {value:g}")
    return "\n".join(lines) + "\n"


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
