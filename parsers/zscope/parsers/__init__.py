"""Readers for all formats that zscope knows: from files to Arrow tables and issues.

>>> from zscope.parsers import read
>>> result = read("sample-data/smf-sample.bin", "smf119_tcp_term[job_name,tls_version]")
>>> result["smf119_tcp_term"].num_rows > 0, len(result.issues)
(True, 0)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zscope.parsers.api import (
        Batch,
        DataWarning,
        Scan,
        inventory,
        read,
        scan,
        unpack,
    )
    from zscope.parsers.file_range import FileRange
    from zscope.parsers.inputs import FileSummary
    from zscope.parsers.issues import Code, InputError, Issue, Issues, Severity
    from zscope.parsers.lazy import scan_polars
    from zscope.parsers.options import ProgressState, ReadOptions, ScanHooks, SelectionError
    from zscope.parsers.planning import RangePlan, plan_ranges
    from zscope.parsers.results import InventoryReport, Tables, UnknownTableError, UnpackReport
    from zscope.parsers.smf.framing import Framing
    from zscope.parsers.spark import register_spark

__all__ = [
    "Batch",
    "Code",
    "DataWarning",
    "FileRange",
    "FileSummary",
    "Framing",
    "InputError",
    "InventoryReport",
    "Issue",
    "Issues",
    "ProgressState",
    "RangePlan",
    "ReadOptions",
    "Scan",
    "ScanHooks",
    "SelectionError",
    "Severity",
    "Tables",
    "UnknownTableError",
    "UnpackReport",
    "inventory",
    "plan_ranges",
    "read",
    "register_spark",
    "scan",
    "scan_polars",
    "unpack",
]

_MODULES = {
    "FileRange": "file_range",
    "FileSummary": "inputs",
    "Framing": "smf.framing",
    **dict.fromkeys(("Code", "InputError", "Issue", "Issues", "Severity"), "issues"),
    "register_spark": "spark",
    "scan_polars": "lazy",
    **dict.fromkeys(("RangePlan", "plan_ranges"), "planning"),
    **dict.fromkeys(("InventoryReport", "Tables", "UnknownTableError", "UnpackReport"), "results"),
    **dict.fromkeys(("ProgressState", "ReadOptions", "ScanHooks", "SelectionError"), "options"),
}
"""The modules of the names that are not in `api`."""


def __getattr__(name: str) -> object:
    """Import a name when it is first used: programs that only open a store need no readers."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES.get(name, 'api')}"), name)
