"""From dumps and reports to a committed, queryable store."""

from __future__ import annotations

from zscope.pipelines.ingest.run import How, ingest
from zscope.pipelines.ingest.selection import choose

__all__ = ["How", "choose", "ingest"]
