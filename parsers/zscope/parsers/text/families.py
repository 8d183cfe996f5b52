"""Which grammar reads which family of reports; a new family is a line here and a heading in `headings.py`.
Families that come as JSON, too, have a second one that takes objects.

Grammars are imported when a file with reports is read: compiling them takes longer than a small dump.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from zscope.parsers.text.headings import GSKSRVR, MQ, NETSTAT, RMF, SUPPLIED, ZVM
from zscope.schemas.printed import report_table

if TYPE_CHECKING:
    from collections.abc import Iterable

    from zscope.parsers.inputs import Options
    from zscope.parsers.text.out import Sheet
    from zscope.parsers.text.report import Grammar, ObjectGrammar, Origin
    from zscope.parsers.text.rmf.xml import RmfXml
FAMILIES = (RMF, NETSTAT, GSKSRVR, ZVM, MQ, SUPPLIED)
OBJECT_FAMILIES = frozenset({MQ, SUPPLIED})
"""Those that come as JSON, too."""


def families_of(tables: Iterable[str]) -> frozenset[str]:
    """The families of reports from which rows of these tables are made.

    >>> sorted(families_of(["rmf_cpu", "zvm_user"]))
    ['rmf', 'supplied', 'zvm']
    """
    wanted = [report_table(name) for name in tables]
    return frozenset({*(table.family for table in wanted), *(SUPPLIED for table in wanted if table.csv)})


def grammars(sheet: Sheet, options: Options) -> dict[str, Grammar]:
    """A grammar for each family, for the reports of one file."""
    from zscope.parsers.text.gsksrvr.grammar import Gsksrvr
    from zscope.parsers.text.mq_formatter.grammar import MqFormatter
    from zscope.parsers.text.netstat.grammar import Netstat
    from zscope.parsers.text.rmf.listing import RmfListing
    from zscope.parsers.text.supplied.grammar import SuppliedCsv
    from zscope.parsers.text.zvm.grammar import PerformanceToolkit

    return {
        RMF: RmfListing(sheet),
        NETSTAT: Netstat(sheet),
        GSKSRVR: Gsksrvr(sheet),
        ZVM: PerformanceToolkit(sheet),
        MQ: MqFormatter(sheet, options.formatter_clock),
        SUPPLIED: SuppliedCsv(sheet, options),
    }


def object_grammars(sheet: Sheet, options: Options, origin: Origin) -> tuple[ObjectGrammar, ...]:
    """What takes the objects of a JSON file; the first that knows an object has it."""
    from zscope.parsers.text.mq_formatter.objects import MqObjects
    from zscope.parsers.text.supplied.objects import SuppliedObjects

    return (MqObjects(sheet, origin, options.formatter_clock), SuppliedObjects(sheet, options, origin))


def xml_grammar(sheet: Sheet) -> RmfXml:
    """The grammar for an XML file."""
    from zscope.parsers.text.rmf.xml import RmfXml

    return RmfXml(sheet)


def family_name(report: str) -> str:
    """The family of a report, or what it is about, from the name it was counted under.

    >>> family_name("NETSTAT CONN")
    'netstat'
    """
    return report.split(maxsplit=1)[0].lower().replace("/", "")
