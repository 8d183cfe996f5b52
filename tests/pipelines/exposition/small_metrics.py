"""Small metrics over rows that a test names, and their series in each format."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path

import duckdb

from zscope.pipelines.exposition import OpenMetrics, Otlp, Told, expose, question
from zscope.pipelines.metrics import Metric, Selection
from zscope.pipelines.metrics.load import load
from zscope.pipelines.store.session import Session

NOW = datetime(2026, 3, 10, 12, 0, tzinfo=UTC)
MANY = 1_000_000
Opened = Callable[[], AbstractContextManager[Session]]


def metric(folder: Path, head: str, columns: Sequence[str], rows: Sequence[str]) -> Metric:
    """A metric from lines such as `calls | BIGINT | combine = "sum"`, and rows as SQL writes them."""
    folder.mkdir(exist_ok=True)
    split = [[part.strip() for part in column.split("|")] for column in columns]
    told = "".join(
        "\n".join([f'[[column]]\nname = "{name}"\ntype = "{kind}"\nmeaning = "Of {name}."', *more, ""])
        for name, kind, *more in split
    )
    (folder / "small.toml").write_text(
        f'kind = "metric"\ntitle = "Small"\nquestion = "Q?"\ninputs = []\n{head}\n{told}', encoding="utf-8"
    )
    given = [(name, kind) for name, kind, *more in split if not any(one.startswith("from") for one in more)]
    chosen = ", ".join(f"CAST({name} AS {kind}) AS {name}" for name, kind in given)
    names = ", ".join(name for name, _ in given)
    values = ",\n".join(rows)
    (folder / "small.sql").write_text(
        f"-- Rows.\nSELECT {chosen} FROM (VALUES\n{values}\n) AS given ({names})\n"
    )
    return load(folder)["small"]


def nothing(folder: Path) -> Opened:
    """Sessions without a store: the metric has its rows in itself."""
    return lambda: Session.guard(duckdb.connect(), folder)


def text(
    asked: Metric, opened: Opened, by: Sequence[str] | None = None, *, newest: bool = False, most: int = MANY
) -> tuple[bytes, list[Told]]:
    """A metric in the text format, and what is told of it."""
    out = io.BytesIO()
    writer = OpenMetrics(out, timestamps=not newest)
    told = list(expose([question(asked, by, Selection())], opened, writer, most, NOW, newest=newest))
    return out.getvalue(), told


def lines(asked: Metric, opened: Opened, by: Sequence[str] | None = None) -> bytes:
    """A metric as OTLP."""
    out = io.BytesIO()
    list(expose([question(asked, by, Selection())], opened, Otlp(out, "9.9"), MANY, NOW))
    return out.getvalue()
