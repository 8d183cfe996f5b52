"""The store: immutable Parquet files, commits that list the valid ones, and a DuckDB catalogue."""

from __future__ import annotations

from zscope.pipelines.store.catalogue import catalogue_version, open_reader
from zscope.pipelines.store.folder import StoreError

__all__ = ["StoreError", "catalogue_version", "open_reader"]
