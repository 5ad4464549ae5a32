"""What the router counts and times; no label holds anything that a client wrote.

Each request is counted in plain dictionaries and lists, which is ten times cheaper than the
library's own counters; the library writes them when it is asked for them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)

_SHORT = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0)
_LONG = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 1800.0)


class Tally:
    """A counter with labels."""

    def __init__(self, name: str, text: str, *labels: str) -> None:
        self._about = (f"denv_router_{name}", text)
        self._labels = labels
        self._counts: Counter[tuple[str, ...]] = Counter()

    def add(self, *labels: str) -> None:
        """Count one."""
        self._counts[labels] += 1

    def family(self) -> Metric:
        """Give what the library writes."""
        family = CounterMetricFamily(*self._about, labels=self._labels)
        for labels, count in self._counts.items():
            family.add_metric(labels, count)
        return family


class _Times:
    """The times of one value of a histogram's label."""

    __slots__ = ("counts", "total")

    def __init__(self, buckets: int) -> None:
        self.counts = [0] * (buckets + 1)
        self.total = 0.0


class Timing:
    """A histogram of seconds, with one label or none."""

    def __init__(self, name: str, text: str, bounds: Sequence[float], *labels: str) -> None:
        self._about = (f"denv_router_{name}_seconds", text)
        self._bounds = bounds
        self._labels = labels
        self._times: dict[str, _Times] = {}

    def add(self, seconds: float, label: str = "") -> None:
        """Note one time."""
        times = self._times.get(label)
        if times is None:
            times = self._times[label] = _Times(len(self._bounds))
        times.counts[bisect_left(self._bounds, seconds)] += 1
        times.total += seconds

    def family(self) -> Metric:
        """Give what the library writes."""
        family = HistogramMetricFamily(*self._about, labels=self._labels)
        names = [*map(str, self._bounds), "+Inf"]
        for label, times in self._times.items():
            buckets = list(zip(names, map(float, accumulate(times.counts)), strict=True))
            labels = [label] if self._labels else []
            family.add_metric(labels, buckets, sum_value=times.total)
        return family


class Metrics:
    """The metrics of one router, in a registry of their own."""

    def __init__(self) -> None:
        self.requests = Tally("requests", "Requests answered.", "route", "replica", "code")
        self.refused = Tally("refused", "Requests the router said no to.", "code", "client")
        self.retries = Tally("retries", "Requests sent once more.", "replica", "why")
        self.senseless = Tally("senseless", "Answers that are no HTTP to pass on.", "replica")
        self.cut = Tally("cut", "Answers that did not come to their end.", "why")
        self.ejections = Tally("ejections", "Replicas taken out.", "replica", "by")
        self.permitted = Tally("permitted", "Permitted requests answered.", "replica")
        self.table_faults = Tally("table_faults", "Tables not taken.")
        self.added = Timing(
            "added",
            "From a request's head to its sending, but for its body and waiting for a place.",
            _SHORT,
        )
        self.queued = Timing("queue", "Waiting for a place.", _LONG)
        self.first_byte = Timing(
            "first_byte", "From sending to the head of the answer.", _LONG, "replica"
        )
        self.took = Timing("request", "From a request's head to its answer's end.", _LONG, "route")
        self._gauges: list[tuple[str, str, Callable[[], dict[str, float]]]] = []
        self._registry = CollectorRegistry()
        self._registry.register(self)

    def read(self, name: str, text: str, values: Callable[[], dict[str, float]]) -> None:
        """Have a gauge read when it is asked for: by replica, or of the name ``""`` alone."""
        self._gauges.append((f"denv_router_{name}", text, values))

    def collect(self) -> Iterator[Metric]:
        """Give all metrics, as the library asks for them."""
        for part in vars(self).values():
            if isinstance(part, Tally | Timing):
                yield part.family()
        for name, text, values in self._gauges:
            found = values()
            labels = [] if "" in found else ["replica"]
            family = GaugeMetricFamily(name, text, labels=labels)
            for label, value in found.items():
                family.add_metric([label] if labels else [], value)
            yield family

    def text(self) -> bytes:
        """Write all metrics in Prometheus' text form."""
        return generate_latest(self._registry)
