"""The grammars of all report families.

A new family needs a grammar here and a heading in `headings.py`; a family that also comes as JSON has a
second grammar for objects. Grammars are imported when a file with reports is read, because compiling them
takes longer than reading a small dump.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from zscope.parsers.text.headings import (
    ATTLS,
    ATTLS_FILE,
    ATTLS_LOG,
    GSKSRVR,
    MQ,
    NETSTAT,
    RMF,
    SUPPLIED,
    ZVM,
)
from zscope.schemas.reports import report_table

if TYPE_CHECKING:
    from collections.abc import Iterable

    from zscope.parsers.options import ReadOptions
    from zscope.parsers.text.captured_report import Grammar, ObjectGrammar, Origin
    from zscope.parsers.text.report_rows import FileRows
    from zscope.parsers.text.rmf.xml import RmfXml
FAMILIES = (RMF, NETSTAT, GSKSRVR, ATTLS, ATTLS_FILE, ATTLS_LOG, ZVM, MQ, SUPPLIED)
OBJECT_FAMILIES = frozenset({MQ, SUPPLIED})
"""Families that also come as JSON."""


def families_of(tables: Iterable[str]) -> frozenset[str]:
    """Return the families of reports that give rows of these tables.

    >>> sorted(families_of(["rmf_cpu", "zvm_user"]))
    ['rmf', 'supplied', 'zvm']
    """
    wanted = [report_table(name) for name in tables]
    families = {table.family for table in wanted} | {SUPPLIED for table in wanted if table.csv}
    return frozenset(families | {ATTLS_FILE, ATTLS_LOG} if ATTLS in families else families)


def grammars(sheet: FileRows, options: ReadOptions) -> dict[str, Grammar]:
    """Return a grammar for each family, for the reports of one file."""
    from zscope.parsers.text.attls.messages import TlsMessages
    from zscope.parsers.text.attls.pasearch import Pasearch
    from zscope.parsers.text.attls.policy_file import PolicyFile
    from zscope.parsers.text.csv_and_json.table_reader import SuppliedCsv
    from zscope.parsers.text.gsksrvr.gsk_grammar import Gsksrvr
    from zscope.parsers.text.mq_formatter.formatter_files import MqFormatter
    from zscope.parsers.text.netstat.netstat_grammar import Netstat
    from zscope.parsers.text.rmf.listing import RmfListing
    from zscope.parsers.text.zvm.zvm_reader import PerformanceToolkit

    return {
        RMF: RmfListing(sheet),
        NETSTAT: Netstat(sheet),
        GSKSRVR: Gsksrvr(sheet),
        ATTLS: Pasearch(sheet),
        ATTLS_FILE: PolicyFile(sheet),
        ATTLS_LOG: TlsMessages(sheet),
        ZVM: PerformanceToolkit(sheet),
        MQ: MqFormatter(sheet, options.formatter_clock),
        SUPPLIED: SuppliedCsv(sheet, options),
    }


def object_grammars(sheet: FileRows, options: ReadOptions, origin: Origin) -> tuple[ObjectGrammar, ...]:
    """Return the grammars for the objects of a JSON file; each object goes to the first that accepts it."""
    from zscope.parsers.text.csv_and_json.table_reader import SuppliedObjects
    from zscope.parsers.text.mq_formatter.formatter_files import MqObjects

    return (MqObjects(sheet, origin, options.formatter_clock), SuppliedObjects(sheet, options, origin))


def xml_grammar(sheet: FileRows) -> RmfXml:
    """Return the grammar for an XML file."""
    from zscope.parsers.text.rmf.xml import RmfXml

    return RmfXml(sheet)


def family_name(report: str) -> str:
    """Return the family of a report, from its name in the inventory.

    >>> family_name("NETSTAT CONN")
    'netstat'
    """
    return report.split(maxsplit=1)[0].lower().replace("/", "").replace("-", "")
