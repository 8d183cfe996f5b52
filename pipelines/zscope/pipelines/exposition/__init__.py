"""Metrics as time series, and the results of checks as events, in the formats of monitoring systems.

No individual metric is known here: names, units, labels, times and descriptions of series follow from the
declarations of the metrics. Events are the rows of the step `check_result`, and the resources of
OpenTelemetry those of `system_identity`. The dashboard and the alert rules name metrics, and a test
compares them.
"""

from __future__ import annotations

from zscope.pipelines.exposition.expose import ExposedMetric, exported_metrics, expose
from zscope.pipelines.exposition.openmetrics import OpenMetrics
from zscope.pipelines.exposition.otlp import Otlp
from zscope.pipelines.exposition.otlp_lines import Resources
from zscope.pipelines.exposition.series import SeriesQuery, series_query

__all__ = [
    "ExposedMetric",
    "OpenMetrics",
    "Otlp",
    "Resources",
    "SeriesQuery",
    "exported_metrics",
    "expose",
    "series_query",
]
