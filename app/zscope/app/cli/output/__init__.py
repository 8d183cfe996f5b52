"""Write rows to standard output or a file, in any of the formats, from one stream of batches."""

from __future__ import annotations

from zscope.app.cli.output.output_options import Output, row_options
from zscope.app.cli.output.row_stream import Rows

__all__ = ["Output", "Rows", "row_options"]
