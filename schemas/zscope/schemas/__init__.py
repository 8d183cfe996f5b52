"""Declared layouts of everything zscope reads: records, sections, fields, code tables.

>>> from zscope.schemas import catalog
>>> record, table = catalog().table("smf119_zert_detail")
>>> record.type, record.subtype, table.rows
(119, 11, ('common',))
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zscope.schemas.code_tables import CipherSuite, cipher_suites
    from zscope.schemas.load import catalog, extended_header, standard_header
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
    "RecordLayout",
    "RowKind",
    "Section",
    "TableLayout",
    "TripletArea",
    "catalog",
    "cipher_suites",
    "extended_header",
    "standard_header",
]

_MODULES = {
    "CipherSuite": "code_tables",
    "cipher_suites": "code_tables",
    "catalog": "load",
    "extended_header": "load",
    "standard_header": "load",
}
"""The modules of some names; the others are in `model`."""


if not TYPE_CHECKING:  # a type checker would accept every name

    def __getattr__(name: str) -> object:
        """Import a name when it is first used: programs that only need the errors read no layouts."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(f"{__name__}.{_MODULES.get(name, 'model')}"), name)
