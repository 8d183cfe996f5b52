"""Write rows to standard output or a file, in any of the formats, from one stream of batches."""

from __future__ import annotations

from zscope.app.cli.output.options import Output, row_options
from zscope.app.cli.output.rows import Rows

__all__ = ["Output", "Rows", "row_options"]
