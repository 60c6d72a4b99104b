"""Metrics for Prometheus."""

from __future__ import annotations

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from trivium.retrievers.retriever_names import RETRIEVERS
from trivium.search.stage_timing import StageEnded
from trivium.server.job_table import Job, Queue

CONTENT_TYPE = CONTENT_TYPE_LATEST

_REQUEST_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 120.0)
_STAGE_SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0)


class Metrics:
    """The metrics of one application, in a separate registry."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        self._requests = Counter(
            "trivium_http_requests",
            "Requests answered, by route and status (499: the client closed the connection).",
            ("method", "route", "status"),
            registry=self._registry,
        )
        self._seconds = Histogram(
            "trivium_http_request_seconds",
            "From a request's arrival to the end of its answer.",
            ("method", "route"),
            buckets=_REQUEST_SECONDS,
            registry=self._registry,
        )
        self._stages = Histogram(
            "trivium_search_stage_seconds",
            "Time to embed a question, and to ask each retriever.",
            ("stage",),
            buckets=_STAGE_SECONDS,
            registry=self._registry,
        )
        for name in ("embed", *RETRIEVERS):
            self._stages.labels(name)  # so that the series exist from the start
        self._cache = Counter(
            "trivium_answer_cache",
            "Questions looked up in the cache of answers. A hit asks no retriever.",
            ("result",),
            registry=self._registry,
        )
        for result in ("hit", "miss"):
            self._cache.labels(result)
        self._jobs = Counter(
            "trivium_jobs", "Changes of the documents that ended.", ("kind", "state"), registry=self._registry
        )
        self._jobs_waiting = Gauge(
            "trivium_jobs_waiting", "Changes of the documents that wait.", registry=self._registry
        )
        self._jobs_oldest = Gauge(
            "trivium_jobs_oldest_seconds",
            "How long the first change that waits has waited.",
            registry=self._registry,
        )

    def answered(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request that has ended."""
        self._requests.labels(method, route, str(status)).inc()
        self._seconds.labels(method, route).observe(seconds)

    def looked_up(self, *, found: bool) -> None:
        """Count a question that was looked up in the cache of answers."""
        self._cache.labels("hit" if found else "miss").inc()

    def observe_stage(self, ended: StageEnded) -> None:
        """Record a stage of a search: only embedding the question and asking each retriever."""
        if ended.stage in ("embed", "retrieve"):
            self._stages.labels(ended.retriever or ended.stage).observe(ended.seconds)

    def watch_jobs(self, queue: Callable[[], Queue]) -> None:
        """Export the number of waiting changes and the longest wait."""
        self._jobs_waiting.set_function(lambda: queue().waiting)
        self._jobs_oldest.set_function(lambda: queue().oldest_seconds)

    def job_ended(self, job: Job) -> None:
        """Count a job that is done or has failed."""
        self._jobs.labels(job.kind, job.state).inc()

    def text(self) -> bytes:
        """Return all metrics in the Prometheus format."""
        return generate_latest(self._registry)
