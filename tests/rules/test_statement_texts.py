"""Statements, wherever they stand, do without what DuckDB does slowly or by the time zone of the session."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from zscope.pipelines.metrics import declared, metric_names, statement

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("schemas", "parsers", "pipelines", "app")
KINDS = {".sql", ".toml", ".py"}
IN_DAYS = re.compile(r"time_bucket\(\s*(?:to_days\(|INTERVAL\s+'?\d+'?\s+(?:DAY|WEEK))", re.IGNORECASE)
"""A hundred times slower than a span in hours, and the same for times in UTC."""
BY_SESSION = re.compile(r"\bdate_trunc\(", re.IGNORECASE)
"""Follows the time zone of the session."""


@pytest.mark.parametrize("folder", FOLDERS)
@pytest.mark.parametrize("refused", [IN_DAYS, BY_SESSION], ids=["in days", "by the session"])
def test_no_statement_has_it(folder: str, refused: re.Pattern[str]) -> None:
    paths = [path for path in (ROOT / folder).rglob("*") if path.suffix in KINDS]
    assert paths
    found = [str(path) for path in paths if refused.search(path.read_text(encoding="utf-8"))]
    assert found == []


@pytest.mark.parametrize("span", ["hour_utc", "day_utc", "week_utc", "day", "week"])
def test_metrics_by_hour_day_and_week_are_grouped_by_hours(span: str) -> None:
    metrics = [declared()[name] for name in metric_names()]
    with_clock = [metric for metric in metrics if metric.clock and metric.combinable]
    assert with_clock
    for metric in with_clock:
        text = statement(metric, [span])
        dimension = span in {column.name for column in metric.dimensions}
        assert dimension or f"AS {span}" in text
        assert IN_DAYS.search(text) is None, metric.name


def test_what_is_refused_is_found() -> None:
    assert IN_DAYS.search("time_bucket(INTERVAL 1 DAY, hour_utc)")
    assert IN_DAYS.search("TIME_BUCKET(INTERVAL '7' DAY, t)")
    assert IN_DAYS.search("time_bucket(INTERVAL 24 HOUR, hour_utc)") is None
    assert BY_SESSION.search("date_trunc('day', t)")
