"""What could not be read as it stands, and the files that were refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zscope.pipelines.ingest.quarantine import reports
from zscope.pipelines.store.folder import existing_store

if TYPE_CHECKING:
    import pyarrow as pa

    from zscope.app.dashboard.answers import Data

MOST = 1000
SHOWN_ROWS = 500


def by_file_and_code(data: Data) -> pa.Table:
    """How many issues each load has of each code, the most first."""
    return data.rows(f"""
        SELECT load_id, regexp_extract(file, '[^/\\\\]*$') AS name, severity, code, count(*) AS issues, file
        FROM issue GROUP BY ALL ORDER BY issues DESC, load_id, code LIMIT {MOST}
    """)


def of_code(data: Data, chosen: dict[str, Any]) -> pa.Table:
    """Some of the issues of one code that a load has."""
    return data.rows(
        f"""
        SELECT record_no, byte_offset, byte_end, line_no, column_no, section, field, text
        FROM issue WHERE load_id = ? AND file = ? AND code = ? AND severity = ?
        ORDER BY record_no NULLS FIRST, line_no NULLS FIRST, byte_offset NULLS FIRST LIMIT {SHOWN_ROWS}
        """,
        [chosen[name] for name in ("load_id", "file", "code", "severity")],
    )


def refused(data: Data) -> pa.Table:
    """Files that were refused, the newest first."""
    return reports(existing_store(data.answers.store).quarantine)
