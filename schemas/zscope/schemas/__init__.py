"""Declared layouts of everything zscope reads: records, sections, fields, code tables.

>>> from zscope.schemas import catalog
>>> record, table = catalog().table("smf119_zert_detail")
>>> record.type, record.subtype, table.rows
(119, 11, ('common',))
"""

from __future__ import annotations

from zscope.schemas.load import CipherSuite, LayoutError, catalog, cipher_suites, standard_header
from zscope.schemas.model import (
    Catalog,
    CodeTable,
    Condition,
    Evidence,
    Field,
    Format,
    Join,
    RecordLayout,
    RowKind,
    Section,
    TableLayout,
    TripletArea,
)

__all__ = [
    "Catalog",
    "CipherSuite",
    "CodeTable",
    "Condition",
    "Evidence",
    "Field",
    "Format",
    "Join",
    "LayoutError",
    "RecordLayout",
    "RowKind",
    "Section",
    "TableLayout",
    "TripletArea",
    "catalog",
    "cipher_suites",
    "standard_header",
]
