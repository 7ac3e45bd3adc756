"""Logs: one JSON line an event on stderr, fields and not sentences, and nothing of anybody's content."""

import logging
import sys
import traceback
from collections.abc import MutableMapping
from contextlib import suppress
from types import TracebackType
from typing import Any, TextIO, cast

import structlog
from opentelemetry import trace

_NOISY = ("httpx2", "httpcore2", "asyncio", "nats", "faststream", "uvicorn", "opentelemetry")


def configure(service: str, level: str = "info") -> None:
    """Send this process's logs, and those of its libraries from warnings up, to stderr as JSON lines."""
    chain: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True, key="at"),
        _Service(service),
        _trace_ids,
        _failure,
    ]
    structlog.configure(
        processors=[*chain, structlog.processors.JSONRenderer()],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level.upper()]),
        logger_factory=_to_stderr,
        cache_logger_on_first_use=False,
    )
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=chain,
        processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, structlog.processors.JSONRenderer()],
    )
    to_stderr = logging.StreamHandler(sys.stderr)
    to_stderr.setFormatter(formatter)
    logging.basicConfig(handlers=[to_stderr], level=logging.WARNING, force=True)
    for name in _NOISY:
        logging.getLogger(name).setLevel(logging.WARNING)


def at_least(service: str) -> None:
    """Configure logs where nothing has: for what is told before there are settings."""
    if not structlog.is_configured():
        configure(service)


def get(**fields: str) -> structlog.typing.FilteringBoundLogger:
    """A logger whose lines all carry `fields`."""
    logger: structlog.typing.FilteringBoundLogger = structlog.get_logger(**fields)
    return logger


def _to_stderr(*_: object) -> structlog.WriteLogger:
    """Whatever stderr is when a line is written: a console that was run inside a process leaves a closed one behind."""
    return structlog.WriteLogger(cast("TextIO", _Forgiving()))


class _Forgiving:
    """stderr, but a line that cannot be written is lost: a full disk under a log must not end what it tells of."""

    def write(self, text: str) -> None:
        with suppress(OSError, ValueError):
            sys.stderr.write(text)

    def flush(self) -> None:
        with suppress(OSError, ValueError):
            sys.stderr.flush()


class _Service:
    def __init__(self, name: str) -> None:
        self._name = name

    def __call__(self, _logger: object, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
        event["service"] = self._name
        return event


def _trace_ids(_logger: object, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    context = trace.get_current_span().get_span_context()
    if context.is_valid:
        event["trace"] = trace.format_trace_id(context.trace_id)
    return event


def _failure(_logger: object, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Replace an exception by its type and where it arose: its text may quote a value, so it is left out."""
    raised = event.pop("exc_info", None)
    if raised is True:
        raised = sys.exc_info()[1]
    if isinstance(raised, tuple):
        raised = raised[1]
    if isinstance(raised, BaseException):
        event["error"] = f"{type(raised).__module__}.{type(raised).__qualname__}"
        event["frames"] = _frames(raised.__traceback__)
    return event


def _frames(raised_at: TracebackType | None, most: int = 12) -> list[str]:
    frames = traceback.extract_tb(raised_at)[-most:]
    return [f"{frame.filename.rsplit('/src/', 1)[-1]}:{frame.lineno} {frame.name}" for frame in frames]
