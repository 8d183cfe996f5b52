"""Small metrics with rows given by a test, and their series in each format."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import duckdb

from zscope.pipelines.exposition import ExposedMetric, OpenMetrics, Otlp, Resources, expose, series_query
from zscope.pipelines.metrics.declarations import load
from zscope.pipelines.store.session import Session

if TYPE_CHECKING:
    from pathlib import Path

    from zscope.pipelines.metrics import Metric

NOW = datetime(2026, 3, 10, 12, 0, tzinfo=UTC)
MANY = 1_000_000
Opened = Callable[[], AbstractContextManager[Session]]


def metric(folder: Path, head: str, columns: Sequence[str], rows: Sequence[str]) -> Metric:
    """Return a metric from lines such as `calls | BIGINT | combine = "sum"`, and rows in SQL."""
    subject = folder / "subject"
    subject.mkdir(parents=True, exist_ok=True)
    split = [[part.strip() for part in column.split("|")] for column in columns]
    fields = [
        ", ".join([f'name = "{name}", type = "{kind}", meaning = "Of {name}."', *more])
        for name, kind, *more in split
    ]
    declarations = "".join(f"    {{ {column} }},\n" for column in fields)
    (subject / "small.toml").write_text(
        'kind = "metric"\ntitle = "Small"\nquestion = "Q?"\ninputs = []\n'
        f"columns = [\n{declarations}]\n{head}\n",
        encoding="utf-8",
    )
    given = [(name, kind) for name, kind, *more in split if not any(one.startswith("from") for one in more)]
    chosen = ", ".join(f"CAST({name} AS {kind}) AS {name}" for name, kind in given)
    names = ", ".join(name for name, _ in given)
    values = ",\n".join(rows)
    (subject / "small.sql").write_text(
        f"-- Rows.\nSELECT {chosen} FROM (VALUES\n{values}\n) AS given ({names})\n"
    )
    return load(folder)["small"]


def nothing(folder: Path) -> Opened:
    """Return sessions without a store: the rows are part of the metric."""
    return lambda: Session.guard(duckdb.connect(), folder)


def text(
    small: Metric, opened: Opened, by: Sequence[str] | None = None, *, newest: bool = False, most: int = MANY
) -> tuple[bytes, list[ExposedMetric]]:
    """Return a metric in the text format, and its summary."""
    out = io.BytesIO()
    writer = OpenMetrics(out, timestamps=not newest)
    summaries = list(
        expose([series_query(small, by, newest=newest)], opened, writer, most, NOW, newest=newest)
    )
    return out.getvalue(), summaries


def lines(small: Metric, opened: Opened, by: Sequence[str] | None = None) -> bytes:
    """Return a metric as OTLP."""
    out = io.BytesIO()
    list(expose([series_query(small, by)], opened, Otlp(out, Resources("9.9", {})), MANY, NOW))
    return out.getvalue()
