"""The Python interface of zscope: one import for notebooks and programs.

Rows of files, without a store:

>>> import zscope.api as zs
>>> tables = zs.read("sample-data/smf-sample.bin", "smf119_tcp_term[job_name,tls_version]")
>>> tables["smf119_tcp_term"].column_names
['job_name', 'tls_version']

`zs.scan` returns the same rows as an Arrow stream and `zs.scan_polars` as a polars `LazyFrame`, both in
bounded memory. `zs.open` opens a store, with tables and metrics. All errors are kinds of `zs.Error`.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    import duckdb

    from zscope.parsers import (
        Batch,
        Code,
        DataWarning,
        FileRange,
        Framing,
        InputError,
        InventoryReport,
        Issue,
        Issues,
        ProgressState,
        RangePlan,
        ReadOptions,
        Scan,
        SelectionError,
        Severity,
        Tables,
        UnknownTableError,
        inventory,
        plan_ranges,
        read,
        register_spark,
        scan,
        scan_polars,
    )
    from zscope.parsers.zones import ZoneError
    from zscope.pipelines.python_store import MetricQueryError, Names, Store, StoreError
    from zscope.schemas.errors import DeclarationError, Error, SettingsError

    __version__: str

__all__ = [
    "Batch",
    "Code",
    "DataWarning",
    "DeclarationError",
    "Error",
    "FileRange",
    "Framing",
    "InputError",
    "InventoryReport",
    "Issue",
    "Issues",
    "MetricQueryError",
    "Names",
    "ProgressState",
    "RangePlan",
    "ReadOptions",
    "Scan",
    "SelectionError",
    "SettingsError",
    "Severity",
    "Store",
    "StoreError",
    "Tables",
    "UnknownTableError",
    "ZoneError",
    "__version__",
    "inventory",
    "issues",
    "open",
    "plan_ranges",
    "read",
    "register_spark",
    "scan",
    "scan_polars",
]

_MODULES = {
    "ZoneError": "zscope.parsers.zones",
    **dict.fromkeys(("MetricQueryError", "Names", "Store", "StoreError"), "zscope.pipelines.python_store"),
    **dict.fromkeys(("DeclarationError", "Error", "SettingsError"), "zscope.schemas.errors"),
}
"""The modules of the names that are not in `zscope.parsers`."""


def open(store: str | Path | None = None) -> Store:  # noqa: A001 - zs.open, as polars and others name it
    """Open a store for reading, as it is now; loads that arrive later are seen after `refresh`.

    Without a folder it is the store of the commands: that of `ZSCOPE_STORE`, else `zscope-store`.

    >>> import zscope.api as zs
    >>> zs.open("no-store")
    Traceback (most recent call last):
    ...
    zscope.pipelines.store.folder.StoreError: no-store: there is no store; zscope ingest --store no-store \
FILE creates one
    """
    from zscope.pipelines.python_store import Store

    return Store(os.environ.get("ZSCOPE_STORE") or "zscope-store" if store is None else store)


def issues(store: str | Path | None = None) -> duckdb.DuckDBPyRelation:
    """Return what the loads of a store could not decode, as `zscope issues` lists it.

    What was found while files are read without a store is in `Tables.issues` and `Scan.issues`.
    """
    return open(store).issues()


if not TYPE_CHECKING:  # a type checker would accept every name

    def __getattr__(name: str) -> object:
        """Import a name when it is first used: programs that only read files need no DuckDB, for example."""
        if name not in __all__:
            # With name and object, Python suggests similar names.
            raise AttributeError(
                f"module {__name__!r} has no attribute {name!r}", name=name, obj=sys.modules[__name__]
            )
        if name == "__version__":
            from importlib.metadata import version

            value: object = version("zscope")
        else:
            value = getattr(import_module(_MODULES.get(name, "zscope.parsers")), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    """Return the public names, for completion."""
    return sorted(__all__)
