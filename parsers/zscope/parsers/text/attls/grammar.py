"""The grammars of the three kinds of AT-TLS inputs, for the families that the splitter distinguishes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zscope.parsers.text.attls.messages import TlsMessages
from zscope.parsers.text.attls.pasearch import Pasearch
from zscope.parsers.text.attls.policy_file import PolicyFile
from zscope.parsers.text.headings import ATTLS, ATTLS_FILE, ATTLS_LOG

if TYPE_CHECKING:
    from zscope.parsers.text.captured_report import Grammar
    from zscope.parsers.text.report_rows import FileRows


def attls_grammars(sheet: FileRows) -> dict[str, Grammar]:
    """Return the grammars by family."""
    return {ATTLS: Pasearch(sheet), ATTLS_FILE: PolicyFile(sheet), ATTLS_LOG: TlsMessages(sheet)}
