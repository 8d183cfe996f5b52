"""The page with the newest values of all exported metrics, computed again only if the store has changed.

Requests never wait long: while the values of a new load are computed, the page has those before, and says of
which commit they are. If the store cannot be read, the page has no values of it, and says so in a metric.
"""

from __future__ import annotations

import io
import threading
import time
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

from zscope.pipelines.export_target import ExportError
from zscope.pipelines.exposition.expose import exported_metrics, expose
from zscope.pipelines.exposition.openmetrics import OpenMetrics
from zscope.pipelines.exposition.samples import Sample
from zscope.pipelines.exposition.series import COUNT, PREFIX, UNITS_MOMENT, Family, Unit, series_query
from zscope.pipelines.metrics import metric
from zscope.pipelines.store import StoreError, open_reader
from zscope.pipelines.store.catalogue_file import newest
from zscope.pipelines.store.folder import existing_store
from zscope.pipelines.store.session import Session
from zscope.pipelines.store.sql_sandbox import QueryError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from zscope.pipelines.exposition.series import Labels

PAGE = "export"
"""Part of the names of metrics about the page itself, in the place of the name of a metric."""
LONGEST_WAIT = 5.0
"""Seconds that a request waits for new values; Prometheus gives up after 10 unless configured otherwise."""
_ATTEMPTS = 3
"""A load or a compaction can delete files while they are read; the next attempt opens the newest commit."""
_SECONDS = Unit("seconds", "s")
_ABOUT: Mapping[str, tuple[str, Unit, tuple[str, ...]]] = {
    "version": ("Version of the program, as a label.", COUNT, ("version",)),
    "store_up": ("Whether the store can be read.", COUNT, ()),
    "values_present": ("Whether the page has values of the store.", COUNT, ()),
    "commit": ("Commit of the store that the values are of.", COUNT, ()),
    "computed_timestamp_seconds": ("When the values were computed.", UNITS_MOMENT, ()),
    "computing_seconds": ("How long that took.", _SECONDS, ()),
    "left_out": ("Metrics that are left out, because they have too many series.", COUNT, ("metric",)),
}
"""Meaning, unit and labels of the metrics about the page itself."""
State = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Values:
    """The values of a commit of the store."""

    state: State
    """The commit and settings, and the day, from which the values follow."""
    text: bytes
    """The series in the text format, without the end mark."""
    left_out: tuple[str, ...]
    """Metrics that are left out, because they have too many series."""
    computed: datetime
    took_s: float

    @property
    def commit(self) -> int:
        """The number of the commit."""
        return int(str(self.state[1]))


class MetricsPage:
    """The page of one store. Several threads can ask for it."""

    def __init__(
        self,
        store: Path,
        version: str,
        most_series: int,
        metrics: Sequence[str] = (),
        wait: float = LONGEST_WAIT,
        today: Callable[[], date] = lambda: datetime.now(UTC).date(),
        report: Callable[[str], object] = lambda _: None,
    ) -> None:
        """Prepare the page of a store, with these or all exported metrics.

        `report` is called with the reason why the store cannot be read or a metric is left out: a page in the
        text formats has no place for it.
        """
        self._store = store
        self._version = version
        self._most_series = most_series
        self._metrics = tuple(metrics) or exported_metrics()
        self._wait = wait
        self._today = today
        self._report = report
        self._reported = ""
        self._lock = threading.Lock()
        self._values: Values | None = None
        self._problem: tuple[State, str] | None = None
        """The reason why the values of a state could not be computed."""
        self._computing: threading.Thread | None = None
        self._closed = threading.Event()

    def close(self) -> None:
        """Stop computing values, after the query that is running."""
        self._closed.set()
        if self._computing is not None:
            self._computing.join()

    def text(self) -> bytes:
        """Return the page, valid in the text format of Prometheus and as OpenMetrics."""
        state, problem = self._state()
        if not problem:
            self._refresh(state)
        with self._lock:
            values = self._values
            if self._problem and self._problem[0] == state:
                problem = self._problem[1]
            if problem != self._reported and problem:
                self._report(problem)
            self._reported = problem
        out = io.BytesIO()
        if values and not problem:
            out.write(values.text)
        self._write_about(out, None if problem else values, up=not problem)
        return out.getvalue()

    def prepare(self) -> None:
        """Begin to compute the values, so that the first request finds them."""
        state, problem = self._state()
        if not problem:
            self._refresh(state, wait=0)

    def problem(self) -> str:
        """Return why the store cannot be read now; empty if it can."""
        state, problem = self._state()
        with self._lock:
            if not problem and self._problem and self._problem[0] == state:
                return self._problem[1]
        return problem

    def _state(self) -> tuple[State, str]:
        """Return what the values follow from, or the reason why the store cannot be read."""
        try:
            return (self._today(), *newest(existing_store(self._store))), ""
        except (StoreError, OSError) as error:
            return (), str(error)

    def _refresh(self, state: State, wait: float | None = None) -> None:
        """Compute the values of a state unless they are there, and wait for them a short time."""
        with self._lock:
            current = self._values is not None and self._values.state == state
            if current or (self._problem and self._problem[0] == state):
                return
            if self._computing is None or not self._computing.is_alive():
                self._computing = threading.Thread(target=self._compute, name="zscope-page")
                self._computing.start()
            computing = self._computing
        computing.join(self._wait if wait is None else wait)

    def _compute(self) -> None:
        for attempt in range(_ATTEMPTS):
            state, problem = self._state()
            if problem:
                return  # the next request reports it
            try:
                values = self._computed(state)
            except (StoreError, QueryError, OSError) as error:
                if attempt == _ATTEMPTS - 1:
                    with self._lock:
                        self._problem = (state, str(error))
                continue
            if attempt < _ATTEMPTS - 1 and self._state()[0] != state:
                continue  # the values can be of two commits
            if values is None:
                return
            with self._lock:
                self._values, self._problem = values, None
            return

    def _computed(self, state: State) -> Values | None:
        """Compute the values of a state; None if the page was closed."""
        started = time.monotonic()
        now = datetime.now(UTC).replace(microsecond=0)
        out = io.BytesIO()
        left_out = []
        used = 0
        for name in self._metrics:
            if self._closed.is_set():
                return None
            part = io.BytesIO()
            query = series_query(metric(name), newest=True)
            try:
                [exposed] = expose(
                    [query],
                    lambda: Session.guard(open_reader(self._store), self._store),
                    _PagePart(part),
                    self._most_series - used,
                    now,
                    newest=True,
                )
            except ExportError as error:
                left_out.append(name)
                self._report(f"left out: {error}")
                continue
            used += exposed.series
            out.write(part.getvalue())
        return Values(state, out.getvalue(), tuple(left_out), now, time.monotonic() - started)

    def _write_about(self, out: io.BytesIO, values: Values | None, *, up: bool) -> None:
        """Write the metrics about the page itself."""
        rows: dict[str, list[tuple[Labels, float]]] = {
            "version": [((("version", self._version),), 1)],
            "store_up": [((), int(up))],
            "values_present": [((), int(values is not None))],
        }
        if values:
            rows["commit"] = [((), values.commit)]
            rows["computed_timestamp_seconds"] = [((), int(values.computed.timestamp()))]
            rows["computing_seconds"] = [((), round(values.took_s, 3))]
            rows["left_out"] = [((("metric", name),), 1) for name in values.left_out]
        writer = OpenMetrics(out, timestamps=False)
        for name, samples in rows.items():
            meaning, unit, _ = _ABOUT[name]
            family = Family(PAGE, name, f"Export: {meaning}", unit, "", summed=False)
            writer.write(family, [Sample(labels, None, 0, value) for labels, value in samples])
        writer.close()


def about_names() -> dict[str, frozenset[str]]:
    """Return the names of the metrics about the page itself, each with its labels."""
    return {f"{PREFIX}_{PAGE}_{name}": frozenset(labels) for name, (_, _, labels) in _ABOUT.items()}


class _PagePart(OpenMetrics):
    """A writer of a part of a page, which has no end mark."""

    def __init__(self, out: io.BytesIO) -> None:
        super().__init__(out, timestamps=False)

    def close(self) -> None:
        """Write nothing: the end mark follows the last part."""
