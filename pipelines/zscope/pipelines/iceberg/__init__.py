"""Iceberg tables of a store: metadata about the committed Parquet files, in a folder of its own.

The data is not written again. Each table has a snapshot for each commit that changes it. Everything follows
from the commits, so the folder can be deleted and published again at any time.
"""

from __future__ import annotations

from zscope.pipelines.iceberg.publish import publish_iceberg
from zscope.pipelines.iceberg.published_folder import (
    Publication,
    PublicationError,
    PublishedTable,
    TableStatus,
    default_target,
)

__all__ = [
    "Publication",
    "PublicationError",
    "PublishedTable",
    "TableStatus",
    "default_target",
    "publish_iceberg",
]
