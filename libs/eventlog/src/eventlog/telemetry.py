"""Trace context through the log: every fact carries the trace that it was said in, in a header."""

from collections.abc import Mapping

from opentelemetry import propagate, trace

tracer = trace.get_tracer("eventlog")


def inject() -> dict[str, str]:
    """The current trace as headers (`traceparent`), empty where there is none."""
    carrier: dict[str, str] = {}
    propagate.inject(carrier)
    return carrier


def context_of(headers: Mapping[str, str]) -> trace.SpanContext | None:
    """The span that a message was sent in, None where it carries none."""
    found = trace.get_current_span(propagate.extract(headers)).get_span_context()
    return found if found.is_valid else None
