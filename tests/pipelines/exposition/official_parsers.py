"""The text of a page as the parsers of the Prometheus project read it."""

from __future__ import annotations

from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics_families
from prometheus_client.parser import text_string_to_metric_families as prometheus_families

Families = dict[str, dict[frozenset[tuple[str, str]], float]]
"""Samples by the name of their family and their labels."""


def parsed(text: str) -> Families:
    """Return the samples that the parsers of both formats read; they must be the same."""
    new: Families = {
        family.name: {frozenset(sample.labels.items()): sample.value for sample in family.samples}
        for family in openmetrics_families(text)  # type: ignore[no-untyped-call] # it has no types
    }
    old: Families = {
        family.name: {frozenset(sample.labels.items()): sample.value for sample in family.samples}
        for family in prometheus_families(text)
    }
    assert old == new
    return new
