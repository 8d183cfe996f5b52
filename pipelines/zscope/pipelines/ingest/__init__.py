"""Load dumps and reports into the store."""

from __future__ import annotations

from zscope.pipelines.ingest.load import ingest
from zscope.pipelines.ingest.options_and_outcomes import IngestOptions, row_selection

__all__ = ["IngestOptions", "ingest", "row_selection"]
