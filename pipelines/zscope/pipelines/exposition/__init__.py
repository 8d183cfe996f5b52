"""Metrics as time series for monitoring systems, in the formats of Prometheus and OpenTelemetry.

This package knows no individual metric. Names, units, labels, times and descriptions follow from the
declarations of the metrics.
"""

from __future__ import annotations

from zscope.pipelines.exposition.expose import ExposedMetric, expose, interval_metrics
from zscope.pipelines.exposition.openmetrics import OpenMetrics
from zscope.pipelines.exposition.otlp import Otlp
from zscope.pipelines.exposition.series import SeriesQuery, series_query

__all__ = [
    "ExposedMetric",
    "OpenMetrics",
    "Otlp",
    "SeriesQuery",
    "expose",
    "interval_metrics",
    "series_query",
]
