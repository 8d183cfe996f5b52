"""Data quality: what rows of the store should be like, kept as data, and checked with great_expectations.

That library takes seconds to import and hundreds of megabytes, so it runs in a process of its own, after the
data is committed, over views of a catalogue that is only read. Only `engine` knows of it.
"""

from __future__ import annotations

from zscope.pipelines.quality.checks import QualityError, Severity
from zscope.pipelines.quality.process import validate_in_own_process
from zscope.pipelines.quality.results import VALIDATION_SCHEMA, Outcome, unvalidated, worst
from zscope.pipelines.quality.slices import Slice

__all__ = [
    "VALIDATION_SCHEMA",
    "Outcome",
    "QualityError",
    "Severity",
    "Slice",
    "unvalidated",
    "validate_in_own_process",
    "worst",
]
