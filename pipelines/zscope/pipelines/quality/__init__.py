"""Data validation: expectations about the rows of the store, checked with Great Expectations.

The library takes seconds to import and hundreds of megabytes. Therefore it runs in a separate process, after
the data is committed, on a read-only catalogue. Only `engine` uses it.
"""

from __future__ import annotations

from zscope.pipelines.quality.checks import CheckSeverity, QualityError
from zscope.pipelines.quality.process import validate_in_subprocess
from zscope.pipelines.quality.results import VALIDATION_SCHEMA, CheckOutcome, unvalidated_loads, worst_outcome
from zscope.pipelines.quality.slices import StoreSlice

__all__ = [
    "VALIDATION_SCHEMA",
    "CheckOutcome",
    "CheckSeverity",
    "QualityError",
    "StoreSlice",
    "unvalidated_loads",
    "validate_in_subprocess",
    "worst_outcome",
]
