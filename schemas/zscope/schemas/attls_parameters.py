"""The AT-TLS parameters with a documented default as a table, for the SQL of metrics."""

from __future__ import annotations

import pyarrow as pa

from zscope.schemas.attls import attls_defaults
from zscope.schemas.described_columns import described

ATTLS_PARAMETER_SCHEMA = pa.schema(
    [
        described("parameter", pa.string(), "Name of the parameter.", required=True),
        described("section", pa.string(), "Statement that contains it, or GSKSRVR; empty for the action."),
        described("default_value", pa.string(), "Value if it is not coded; null for lists and GSKSRVR."),
        described("least", pa.int64(), "Smallest number that it can have; null if that is not documented."),
        described("most", pa.int64(), "Greatest number that it can have; null if that is not documented."),
    ],
    {"meaning": "Ranges and defaults of parameters of AT-TLS actions, and ranges of settings of GSKSRVR."},
)


def attls_parameter_rows() -> pa.Table:
    """Return one row for each parameter with a documented default, and for each setting of GSKSRVR.

    >>> rows = attls_parameter_rows().to_pylist()
    >>> sizes = [row for row in rows if row["parameter"] == "GSK_V3_SIDCACHE_SIZE"]
    >>> [(row["default_value"], row["most"]) for row in sizes]
    [('512', 64000)]
    """
    rows = [
        {
            "parameter": each.name,
            "section": each.section,
            "default_value": None if each.is_list else each.default[0],
            "least": each.least,
            "most": each.most,
        }
        for each in attls_defaults().parameters
    ] + [
        {"parameter": each.name, "section": "GSKSRVR", "least": each.least, "most": each.most}
        for each in attls_defaults().started_task
    ]
    return pa.Table.from_pylist(rows, ATTLS_PARAMETER_SCHEMA)
