"""Data validation: expectations about the rows of the store, checked with Great Expectations.

The library takes seconds to import and hundreds of megabytes. Therefore it runs in a separate process, after
the data is committed, on a read-only catalogue. Only `engine` uses it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zscope.pipelines.quality.quality_checks import CheckSeverity, QualityError
    from zscope.pipelines.quality.slices import StoreSlice
    from zscope.pipelines.quality.validation_process import validate_in_subprocess
    from zscope.pipelines.quality.validation_results import (
        VALIDATION_SCHEMA,
        CheckOutcome,
        unvalidated_loads,
        worst_outcome,
    )

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

_MODULES = {
    "CheckSeverity": "quality_checks",
    "QualityError": "quality_checks",
    "StoreSlice": "slices",
    "validate_in_subprocess": "validation_process",
}
"""The modules of the names that are not in `validation_results`."""


def __getattr__(name: str) -> object:
    """Import a name when it is first used: commands that open a store import `validation_results` only."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES.get(name, 'validation_results')}"), name)
