"""The kinds of data under which records and reports are counted, as declared with `shown_as`."""

from __future__ import annotations

from collections import defaultdict

from zscope.schemas.load import catalog
from zscope.schemas.reports import report_tables
from zscope.schemas.sql_text import literal

OTHER_DATA = "Other SMF records (only counted)"


def kind_of_data() -> str:
    """Return the SQL expression of the kind of data of a row of `load_kind`.

    >>> "    WHEN concat_ws('-', record_type, record_subtype) IN ('119-11') THEN" in kind_of_data()
    True
    """
    records: dict[str, list[str]] = defaultdict(list)
    for record in catalog().records.values():
        subtype = "" if record.subtype is None else f"-{record.subtype}"
        records[record.shown_as].append(literal(f"{record.type}{subtype}"))
    cases = [
        f"    WHEN concat_ws('-', record_type, record_subtype) IN ({', '.join(records[title])}) "
        f"THEN {literal(title)}"
        for title in sorted(records)
    ]
    reports = {report.report_prefix or report.title: report.shown_as for report in report_tables().values()}
    cases += [
        f"    WHEN starts_with(report, {literal(prefix)}) THEN {literal(reports[prefix])}"
        for prefix in sorted(reports)
    ]
    return "\n".join(["CASE", *cases, f"    ELSE {literal(OTHER_DATA)}", "END"])
