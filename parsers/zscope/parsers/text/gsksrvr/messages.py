"""Messages of GSKSRVR that are no display: they are told as notes, with what an error number means."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from zscope.parsers.issues import Code

if TYPE_CHECKING:
    from zscope.parsers.text.gsksrvr.heading import Heading
    from zscope.parsers.text.out import Out

_XCF_FAILED = "GSK01034E"
_ERROR = re.compile(r"\berror\s{1,9}(\d{1,9})\b", re.ASCII | re.IGNORECASE)
_XCF_ERRORS = {
    1: "no XCF control lock on the target",
    2: "cross-system services are not available",
    3: "the token is not known on the target",
    4: "the user may not use the data of the token",
    5: "no storage on the target",
    6: "the target is not in the group",
    7: "the target is not active",
    8: "IXCMSGO failed",
    9: "IXCMSGI failed on the target",
    10: "the target does not support the function",
    11: "the request was cancelled",
    12: "unknown notification",
    13: "the target did not answer",
    14: "no storage on the local system",
    15: "IXCMSGI failed on the local system",
}


def note_message(out: Out, heading: Heading, line: int) -> None:
    """Tell a message that no table is made from."""
    text = f"{heading.message_id} {heading.text}".strip()[:200]
    if heading.message_id == _XCF_FAILED and (found := _ERROR.search(heading.text)):
        meaning = _XCF_ERRORS.get(int(found[1]))
        text += f" ({meaning})" if meaning else ""
    more = sum(1 for further in heading.body if further.text.strip())
    if more:
        text += f", and {more} further {'line' if more == 1 else 'lines'}"
    out.issue(Code.OTHER_REPORT, f"not a display that tables are made from: {text}", line)
