"""A decoder for the records of one file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zscope.parsers.smf.dump import Decoder
from zscope.parsers.text.coding import code_page

if TYPE_CHECKING:
    from zscope.parsers.issues import Issues
    from zscope.parsers.options import Selection


def default_decoder(selection: Selection, issues: Issues, file: str = "") -> Decoder:
    """Return a decoder for texts in the usual code page."""
    return Decoder(selection, issues, file, code_page("1047"))
