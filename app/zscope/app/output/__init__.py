"""Rows to standard output or a file, in any of the formats, from one stream of batches."""

from __future__ import annotations

from zscope.app.output.options import Output, row_options
from zscope.app.output.rows import Rows

__all__ = ["Output", "Rows", "row_options"]
