"""Traces of requests, one span each, sent to our own collector: nothing of them goes upstream."""

from __future__ import annotations

import logging
import time
from typing import Any

from denv.errors import UsageError
from denv.router.course import Course
from denv.router.log import warn
from denv.router.settings import Tracing

_MOST_SAID = 300
_NANO = 1_000_000_000


class Tracer:
    """Writes a span for each request that has ended; it holds names of ours and numbers alone.

    Raises
    ------
    UsageError
        The extra that it needs is not installed.
    """

    def __init__(self, settings: Tracing, *, exporter: Any = None) -> None:
        try:
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import (  # noqa: PLC0415
                OTLPSpanExporter,
            )
            from opentelemetry.sdk.resources import Resource  # noqa: PLC0415
            from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
            from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415
            from opentelemetry.sdk.trace.sampling import TraceIdRatioBased  # noqa: PLC0415
        except ImportError:
            raise UsageError("tracing needs an extra: pip install 'denv-parity[tracing]'") from None
        _tell_in_json()
        self._provider = TracerProvider(
            sampler=TraceIdRatioBased(settings.share),
            resource=Resource({"service.name": "denv-router"}),
        )
        exporter = exporter or OTLPSpanExporter(endpoint=settings.endpoint)
        self._provider.add_span_processor(BatchSpanProcessor(exporter))
        self._tracer = self._provider.get_tracer("denv.router")

    def ended(self, course: Course, *, took_s: float) -> None:
        """Write the span of a request; no context of the caller's is read or passed on."""
        now = time.time_ns()
        span = self._tracer.start_span(
            course.route_name, context=None, start_time=now - int(took_s * _NANO)
        )
        span.set_attribute("http.response.status_code", course.status)
        span.set_attribute("denv.replica", course.replica_name)
        span.set_attribute("denv.request_id", course.request_id)
        span.set_attribute("denv.attempts", course.attempts)
        span.set_attribute("denv.waited_s", course.waited_s)
        if course.client is not None:
            span.set_attribute("denv.client", course.client.name)
        if course.cut is not None:
            span.set_attribute("denv.cut", course.cut)
        span.end(end_time=now)

    def close(self) -> None:
        """Send what is left."""
        self._provider.shutdown()


class _Told(logging.Handler):
    """Says in the router's own form what the library says of a collector that is away."""

    def emit(self, record: logging.LogRecord) -> None:
        """Say it; a span holds nothing of a request's content, and so does its loss."""
        warn("traces", said=" ".join(record.getMessage().split())[:_MOST_SAID])


def _tell_in_json() -> None:
    library = logging.getLogger("opentelemetry")
    library.propagate = False
    if not any(isinstance(handler, _Told) for handler in library.handlers):
        library.addHandler(_Told())
