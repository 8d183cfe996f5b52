"""What to do about an input that was refused: one sentence for each cause."""

from __future__ import annotations

from collections.abc import Mapping

from zscope.parsers.issues import Code

_AGAIN = "Transfer it again in binary with the record lengths (FTP: binary, quote SITE RDW, get)"

REMEDIES: Mapping[Code, str] = {
    Code.EMPTY: "Look whether the job that makes the file wrote anything, and transfer it again.",
    Code.UNREADABLE: "Look at the name, the permissions and the size of the file; an archive may be cut off: "
    "transfer it again.",
    Code.RDW_STRIPPED: f"{_AGAIN}, or pack it with AMATERSE, which keeps the lengths.",
    Code.TEXT_MODE: f"{_AGAIN}; what the text transfer changed cannot be undone.",
    Code.LINE_ENDS: "Copy the original without conversion of line ends (git: mark it -text). " + _AGAIN + ".",
    Code.XMIT: "RECEIVE it on z/OS and transfer the data set itself, or pack that with AMATERSE.",
    Code.MONITOR_III: "Ask the RMF data server for the Postprocessor report CPU; Monitor III is not read.",
    Code.TERSE_FOREIGN: "Pack the dump with AMATERSE on z/OS.",
    Code.UNKNOWN_DATA: "Compare the first bytes with those of the original: if it is a dump, transfer it in "
    "binary with SITE RDW; if it is something else, keep it out of the folder.",
    Code.FRAMING_WRONG: "Leave --framing out: the file itself tells how its records follow each other.",
    Code.NO_REPORT: "Capture one of the reports that the document on inputs lists, with its heading.",
    Code.ZVM_NETSTAT: "Capture the display on z/OS; that of z/VM has another form.",
}
STRICT = "Load it without --strict: what cannot be decoded becomes an issue, all else is loaded."
"""For causes that refuse nothing by themselves."""


def remedy_for(code: Code) -> str:
    """What to do about an input that was refused for this cause."""
    return REMEDIES.get(code, STRICT)
