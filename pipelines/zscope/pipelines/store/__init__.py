"""The store: immutable Parquet files, commits that say which of them count, a catalogue for readers."""

from __future__ import annotations

from zscope.pipelines.store.catalogue import catalogue_version, open_reader
from zscope.pipelines.store.folder import StoreError
from zscope.pipelines.store.validations import record_validation

__all__ = ["StoreError", "catalogue_version", "open_reader", "record_validation"]
