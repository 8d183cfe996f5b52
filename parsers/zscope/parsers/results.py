"""What `read`, `inventory` and `unpack` return, and how it is shown in a prompt or a notebook."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from zscope.parsers.notebook_html import html_table
from zscope.schemas.errors import Error
from zscope.schemas.suggestions import suggestion

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from zscope.parsers.inputs import FileSummary
    from zscope.parsers.issues import Issues

_SHOWN = 10
"""Tables that are listed; further ones are counted."""


class UnknownTableError(Error, KeyError):
    """There is no table with this name in a result; the message has similar names."""

    def __str__(self) -> str:
        """Return the message; a `KeyError` would return it with quotes around it."""
        return str(self.args[0])


class Tables(Mapping[str, "pa.Table"]):
    """Whole tables by name, with the issues and the files they come from."""

    def __init__(self, tables: dict[str, pa.Table], issues: Issues, files: list[FileSummary]) -> None:
        self.tables = tables
        """The tables by name, as a dictionary."""
        self.issues = issues
        """What could not be read, with its place."""
        self.files = files
        """The files that were read."""

    def __getitem__(self, name: str) -> pa.Table:
        """Return one table."""
        try:
            return self.tables[name]
        except KeyError:
            hint = suggestion(name, self.tables, f"there are {len(self)}, of which {self._with_rows()}")
            raise UnknownTableError(f"no table {name!r} was read; {hint}") from None

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of the tables."""
        return iter(self.tables)

    def __len__(self) -> int:
        """Return the number of tables."""
        return len(self.tables)

    def __repr__(self) -> str:
        """Return the number of rows of the tables that have some, and the number of issues."""
        lines = [f"{name}: {table.num_rows:,} rows" for name, table in self._filled()[:_SHOWN]]
        return "\n  ".join([f"<Tables: {self._with_rows()}; {self.issues!r}>", *lines, *self._more()])

    def _repr_html_(self) -> str:
        rows = [(name, f"{table.num_rows:,}", str(table.num_columns)) for name, table in self._filled()]
        listed = html_table(("table", "rows", "columns"), rows[:_SHOWN])
        more = "".join(f"<p>{escape(text)}</p>" for text in self._more())
        return f"<p>{escape(self._with_rows())}; {escape(repr(self.issues))}</p>{listed}{more}"

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)

    def _filled(self) -> list[tuple[str, pa.Table]]:
        return [(name, table) for name, table in self.tables.items() if table.num_rows]

    def _with_rows(self) -> str:
        return f"{len(self._filled())} of {len(self)} tables have rows"

    def _more(self) -> list[str]:
        more = len(self._filled()) - _SHOWN
        return [f"and {more} more tables"] if more > 0 else []


@dataclass(frozen=True, slots=True, repr=False)
class InventoryReport:
    """What some files contain: one row per system and kind of record or report."""

    rows: pa.Table
    """File, packing, framing, system, kind, counts, lengths and first and last time."""
    issues: Issues
    """What could not be read, with its place."""
    files: list[FileSummary]
    """The files that were read."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return the rows as an Arrow stream."""
        return self.rows.__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        """Return the number of files, kinds and issues."""
        return (
            f"<InventoryReport: {self.rows.num_rows:,} kinds in {len(self.files):,} files; {self.issues!r}>"
        )

    def _repr_html_(self) -> str:
        names = ("file", "system", "kind", "record_type", "record_subtype", "records")
        shown = self.rows.select(names).slice(0, _SHOWN).to_pylist()
        rows = [tuple("" if row[name] is None else str(row[name]) for name in names) for row in shown]
        return f"<p>{escape(repr(self))}</p>{html_table(names, rows)}"


@dataclass(frozen=True, slots=True)
class UnpackReport:
    """What `unpack` wrote."""

    records: int
    """Zero for data that are no SMF dump."""
    bytes: int
    issues: Issues
    files: list[FileSummary]
