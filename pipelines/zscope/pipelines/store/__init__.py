"""The store: immutable Parquet files, commits that list the valid ones, and a DuckDB catalogue."""

from __future__ import annotations

from zscope.pipelines.store.catalogue_file import catalogue_version
from zscope.pipelines.store.folder import StoreError
from zscope.pipelines.store.reader import open_reader

__all__ = ["StoreError", "catalogue_version", "open_reader"]
