"""The Python interface of zscope: one import for notebooks and programs.

>>> import zscope.api as zs
>>> tables = zs.read("sample-data/smf-sample.bin", "smf119_tcp_term[job_name,tls_version]")
>>> tables["smf119_tcp_term"].column_names
['job_name', 'tls_version']
"""

from __future__ import annotations

from importlib.metadata import version

from zscope.parsers import Issue, Issues, Scan, Tables, inventory, read, scan
from zscope.parsers.options import ReadOptions

__version__ = version("zscope")

__all__ = [
    "Issue",
    "Issues",
    "ReadOptions",
    "Scan",
    "Tables",
    "__version__",
    "inventory",
    "read",
    "scan",
]
