"""Which grammar reads which family of reports; a new family is a line here and a heading in `headings.py`.

Grammars are imported when a file with reports is read: compiling them takes longer than a small dump.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from zscope.parsers.text.headings import GSKSRVR, NETSTAT, RMF, TRANSACTION

if TYPE_CHECKING:
    from zscope.parsers.text.out import Sheet
    from zscope.parsers.text.report import Grammar
    from zscope.parsers.text.rmf.xml import RmfXml
FAMILIES = (RMF, NETSTAT, GSKSRVR, TRANSACTION)


def grammars(sheet: Sheet) -> dict[str, Grammar]:
    """A grammar for each family, for the reports of one file."""
    from zscope.parsers.text.gsksrvr.grammar import Gsksrvr
    from zscope.parsers.text.netstat.grammar import Netstat
    from zscope.parsers.text.rmf.listing import RmfListing
    from zscope.parsers.text.transaction_count import TransactionCounts

    return {
        RMF: RmfListing(sheet),
        NETSTAT: Netstat(sheet),
        GSKSRVR: Gsksrvr(sheet),
        TRANSACTION: TransactionCounts(sheet),
    }


def xml_grammar(sheet: Sheet) -> RmfXml:
    """The grammar for an XML file."""
    from zscope.parsers.text.rmf.xml import RmfXml

    return RmfXml(sheet)


def family_name(report: str) -> str:
    """The family of a report, from the name it was counted under.

    >>> family_name("NETSTAT CONN")
    'netstat'
    """
    return report.split(maxsplit=1)[0].lower()
