"""Write the series of several metrics into one stream."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from zscope.pipelines.exposition.samples import Sample, SampleTable
from zscope.pipelines.metrics import declared, metric_names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from contextlib import AbstractContextManager
    from datetime import datetime

    from zscope.pipelines.exposition.series import Family, SeriesQuery
    from zscope.pipelines.store.session import Session


@dataclass(frozen=True, slots=True)
class ExposedMetric:
    """Summary of one exported metric."""

    metric: str
    series: int
    samples: int
    without_time: int
    """Rows that are left out because their time in UTC is not known."""


class SeriesWriter(Protocol):
    """A writer of one format."""

    def write(self, family: Family, samples: Iterable[Sample]) -> int:
        """Write all samples of a family and return their number."""
        ...

    def close(self) -> None:
        """Write the end of the file."""
        ...


def exported_metrics() -> tuple[str, ...]:
    """Return the metrics that are exported by default.

    Their rows describe successive intervals, or their declaration says how they become series.
    """
    metrics = (declared()[name] for name in metric_names())
    return tuple(m.name for m in metrics if m.series or (m.clock and (m.combinable or m.clock in m.grain)))


def expose(
    queries: Iterable[SeriesQuery],
    opened: Callable[[], AbstractContextManager[Session]],
    writer: SeriesWriter,
    most: int,
    now: datetime,
    *,
    newest: bool = False,
) -> Iterable[ExposedMetric]:
    """Write the series of each query, at most `most` in all, and yield a summary of each metric.

    Every query has its own session, so that tables narrowed for one are not used by the next.
    """
    used = 0
    for query in queries:
        with opened() as session:
            samples = SampleTable(session, query, now, newest=newest)
            samples.check(used, most)
            used += samples.series
            written = sum(writer.write(family, samples.of(family)) for family in query.families)
            if newest and written and (ends := samples.newest()):
                writer.write(*ends)
        yield ExposedMetric(query.metric.name, samples.series, written, samples.without_time)
    writer.close()
