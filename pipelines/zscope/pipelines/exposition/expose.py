"""All of it together: metric after metric into one stream."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from zscope.pipelines.exposition.samples import Sample, Samples
from zscope.pipelines.metrics import declared, metric_names

if TYPE_CHECKING:
    from zscope.pipelines.exposition.series import Family, Question
    from zscope.pipelines.store.session import Session


@dataclass(frozen=True, slots=True)
class Told:
    """What became of a metric."""

    metric: str
    series: int
    samples: int
    without_time: int
    """Rows that are left out, as their moment in UTC is not known."""


class Writer(Protocol):
    """A format."""

    def write(self, family: Family, samples: Iterable[Sample]) -> int:
        """Write all samples of a family, and say how many there are."""
        ...

    def close(self) -> None:
        """Write what stands at the end."""
        ...


def on_intervals() -> tuple[str, ...]:
    """The metrics whose rows are about intervals of time, one after the other: what makes a time series."""
    found = (declared()[name] for name in metric_names())
    return tuple(m.name for m in found if m.clock and (m.combinable or m.clock in m.grain))


def expose(
    questions: Iterable[Question],
    opened: Callable[[], AbstractContextManager[Session]],
    writer: Writer,
    most: int,
    now: datetime,
    *,
    newest: bool = False,
) -> Iterable[Told]:
    """Write the series of each question, and tell of each when it is done; never more series than `most`.

    Each has a session of its own: what is narrowed for one must not be taken for all there is by the next.
    """
    used = 0
    for question in questions:
        with opened() as session:
            samples = Samples(session, question, now, newest=newest)
            samples.check(used, most)
            used += samples.series
            written = sum(writer.write(family, samples.of(family)) for family in question.families)
            if newest and written and (found := samples.newest()):
                writer.write(*found)
        yield Told(question.metric.name, samples.series, written, samples.without_time)
    writer.close()
