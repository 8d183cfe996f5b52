"""Metrics for monitoring systems: numbers as time series, in the formats of Prometheus and OpenTelemetry.

Nothing here knows a single metric. Names, units, labels, times and explanations follow from the declarations.
"""

from __future__ import annotations

from zscope.pipelines.exposition.expose import Told, expose, on_intervals
from zscope.pipelines.exposition.openmetrics import OpenMetrics
from zscope.pipelines.exposition.otlp import Otlp
from zscope.pipelines.exposition.series import Question, question

__all__ = ["OpenMetrics", "Otlp", "Question", "Told", "expose", "on_intervals", "question"]
