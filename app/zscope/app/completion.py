"""What the TAB key offers at the prompt of `zscope sql`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zscope.pipelines.store.session import Session

COMMANDS = (".tables", ".columns", ".help", ".quit")
_WORD = re.compile(r"\w+")
_TABLES = (
    "SELECT table_name FROM duckdb_tables() WHERE schema_name = 'main' AND NOT internal "
    "UNION SELECT view_name FROM duckdb_views() WHERE schema_name = 'main' AND NOT internal ORDER BY ALL"
)
_COLUMNS = (
    "SELECT DISTINCT column_name FROM duckdb_columns() "
    "WHERE schema_name = 'main' AND NOT internal AND list_contains($tables, table_name) ORDER BY ALL"
)
_KEYWORDS = "SELECT keyword_name FROM duckdb_keywords() WHERE keyword_category != 'unreserved' ORDER BY ALL"
_OFTEN = ("by", "avg", "count", "max", "min", "over", "partition", "quantile_cont", "sum", "time_bucket")
"""Words that DuckDB does not count as keywords, or not as reserved ones."""


class Completion:
    """Completes tables, columns of the tables that a statement names, and keywords."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._keywords = sorted({*self._column(_KEYWORDS), *_OFTEN})

    def tables(self) -> list[str]:
        """All tables and views, those made since the start included."""
        return self._column(_TABLES)

    def candidates(self, statement: str, word: str) -> list[str]:
        """What a word can become; `statement` is all that is typed so far, with the word at its end."""
        first = statement.lstrip()
        if first.startswith("."):
            offered = list(COMMANDS) if first == word else self.tables()
            return [name for name in offered if name.startswith(word)]
        table, dot, part = word.rpartition(".")
        if dot:
            return [f"{table}.{name}" for name in self._columns([table]) if name.startswith(part)]
        tables = self.tables()
        named = [name for name in _WORD.findall(first) if name in tables]
        found = [name for name in (*self._columns(named), *tables) if name.startswith(word.lower())]
        keywords = [name for name in self._keywords if name.startswith(word.lower())]
        return [*dict.fromkeys(found), *(k.upper() if word.isupper() else k for k in keywords)]

    def _columns(self, tables: list[str]) -> list[str]:
        return self._column(_COLUMNS, {"tables": tables})

    def _column(self, query: str, parameters: dict[str, object] | None = None) -> list[str]:
        result = self._session.run(query, parameters)
        assert result is not None
        return [value for batch in result.batches for value in batch[0].to_pylist()]
