"""Readers for all formats that zscope knows: from files to Arrow tables and issues.

>>> from zscope.parsers import read
>>> result = read("sample-data/smf-sample.bin", "smf119_tcp_term[job_name,tls_version]")
>>> result["smf119_tcp_term"].num_rows > 0, len(result.issues)
(True, 0)
"""

from __future__ import annotations

from zscope.parsers.api import (
    Batch,
    InventoryReport,
    Scan,
    Tables,
    UnpackReport,
    inventory,
    read,
    scan,
    unpack,
)
from zscope.parsers.inputs import FileSummary
from zscope.parsers.issues import Code, InputError, Issue, Issues, Severity
from zscope.parsers.options import ProgressState, ReadOptions, ScanHooks, SelectionError
from zscope.parsers.smf.framing import Framing

__all__ = [
    "Batch",
    "Code",
    "FileSummary",
    "Framing",
    "InputError",
    "InventoryReport",
    "Issue",
    "Issues",
    "ProgressState",
    "ReadOptions",
    "Scan",
    "ScanHooks",
    "SelectionError",
    "Severity",
    "Tables",
    "UnpackReport",
    "inventory",
    "read",
    "scan",
    "unpack",
]
