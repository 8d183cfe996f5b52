"""Load dumps and reports into the store."""

from __future__ import annotations

from zscope.pipelines.ingest.interface import IngestOptions, row_selection
from zscope.pipelines.ingest.load import ingest

__all__ = ["IngestOptions", "ingest", "row_selection"]
