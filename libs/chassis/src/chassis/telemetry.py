"""Traces: one trace follows a request through every process, carried in the headers of NATS and HTTP."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec
from opentelemetry import trace
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.trace import Link, Span, SpanKind, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

_PROPAGATOR = TraceContextTextMapPropagator()

Attribute = str | int | float | bool
"""Ids, numbers and closed words only; never a query, a title, a path or a body."""


@dataclass(slots=True)
class _Configured:
    provider: TracerProvider


_CONFIGURED = _Configured(TracerProvider())


def configure(service: str, otlp: str = "", trace_file: Path | None = None) -> None:
    """Name the service in its spans and send them on.

    `otlp` is the base address of an OpenTelemetry collector over HTTP, `trace_file` a file that gets one JSON line a
    span; without either, spans only pass trace ids on.
    """
    provider = TracerProvider(resource=Resource.create({"service.name": service}), shutdown_on_exit=False)
    if otlp:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415 - seldom used

        provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=otlp.rstrip("/") + "/v1/traces")))
    if trace_file is not None:
        provider.add_span_processor(SimpleSpanProcessor(TraceFile(service, trace_file)))
    _CONFIGURED.provider = provider


def shutdown() -> None:
    """Send what has not been sent yet."""
    _CONFIGURED.provider.shutdown()


@contextmanager
def span(
    name: str,
    *,
    headers: Mapping[str, str] | None = None,
    links: Sequence[Mapping[str, str]] = (),
    kind: SpanKind = SpanKind.INTERNAL,
    attributes: Mapping[str, Attribute] | None = None,
) -> Iterator[Span]:
    """A span around a block. `headers` (of a message or request) make it a child of the sender's span.

    `links` are headers of messages that this span works on without being part of their traces. An exception marks
    the span as failed with the exception's type, never its text.
    """
    parent = _PROPAGATOR.extract(_lower(headers)) if headers else None
    linked = [Link(context) for context in (_context_of(each) for each in links) if context.is_valid]
    tracer = _CONFIGURED.provider.get_tracer("brain")
    with tracer.start_as_current_span(
        name,
        context=parent,
        kind=kind,
        links=linked,
        attributes=dict(attributes or {}),
        record_exception=False,
        set_status_on_exception=False,
    ) as current:
        try:
            yield current
        except BaseException as error:
            current.set_attribute("error.type", type(error).__qualname__)
            current.set_status(StatusCode.ERROR)
            raise


def inject(headers: Mapping[str, str] | None = None) -> dict[str, str]:
    """A copy of `headers` that carries the current trace on."""
    carrier = dict(headers or {})
    _PROPAGATOR.inject(carrier)
    return carrier


def trace_id() -> str:
    """The current trace in hex, or an empty text outside one."""
    context = trace.get_current_span().get_span_context()
    return trace.format_trace_id(context.trace_id) if context.is_valid else ""


def _lower(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


def _context_of(headers: Mapping[str, str]) -> trace.SpanContext:
    return trace.get_current_span(_PROPAGATOR.extract(_lower(headers))).get_span_context()


class TraceFile(SpanExporter):
    """Appends one JSON line a span to a file that several processes may share."""

    def __init__(self, service: str, path: Path) -> None:
        self._service = service
        self._path = path

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Write the lines in one append."""
        with self._path.open("ab") as out:
            out.write(b"".join(msgspec.json.encode(self._line(each)) + b"\n" for each in spans))
        return SpanExportResult.SUCCESS

    def _line(self, each: ReadableSpan) -> dict[str, object]:
        context = each.get_span_context() or trace.INVALID_SPAN_CONTEXT
        return {
            "service": self._service,
            "name": each.name,
            "kind": each.kind.name.lower(),
            "trace": trace.format_trace_id(context.trace_id),
            "span": trace.format_span_id(context.span_id),
            "parent": trace.format_span_id(each.parent.span_id) if each.parent else "",
            "links": [trace.format_trace_id(link.context.trace_id) for link in each.links],
            "start_ns": each.start_time,
            "end_ns": each.end_time,
            "failed": each.status.status_code is StatusCode.ERROR,
            "attributes": dict(each.attributes or {}),
        }
