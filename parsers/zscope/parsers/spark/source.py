"""The data source `smf` of Spark: frames with the rows of one table, or with the issues.

Spark calls `partitions` in a process of the driver, and `read` in Python workers of the executors. A data
source in Python is not told which columns are used: the schema that a user names is the projection. Filters
are pushed down if the user wants it.

This module imports pyspark, so import it only where there is one.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.types import StructType

from zscope.parsers.api import Scan
from zscope.parsers.file_range import FileRange
from zscope.parsers.issues import Code, InputError, Issue, Issues, Severity
from zscope.parsers.options import ScanHooks, Selection
from zscope.parsers.planning import plan_ranges
from zscope.parsers.spark.spark_options import ISSUE_TABLE, SparkOptionError, SparkSettings, settings
from zscope.parsers.spark.spark_rows import SparkRows, castable, column_filter, condition, meeting
from zscope.schemas.suggestions import suggestion

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import pyarrow as pa
    from pyspark.sql.datasource import Filter

    from zscope.parsers.spark.spark_rows import ColumnFilter

NEVER_CUT = 1 << 62


class SmfDataSource(DataSource):
    """Dumps and reports as frames of Spark."""

    @classmethod
    def name(cls) -> str:
        """Return the name for `spark.read.format`."""
        return "smf"

    def schema(self) -> StructType:
        """Return the columns of the table, with their meaning as comment."""
        arrow = settings(self.options).schema
        fields = from_arrow_schema(arrow, prefer_timestamp_ntz=True).fields
        for field, column in zip(fields, arrow, strict=True):
            if meaning := (column.metadata or {}).get(b"meaning"):
                field.metadata = {"comment": meaning.decode()}
        return StructType(fields)

    def reader(self, schema: StructType) -> DataSourceReader:
        """Return the reader for the columns of a schema, which can be that of the user."""
        wanted = settings(self.options)
        arrow = to_arrow_schema(schema)
        for field in arrow:
            _check_column(wanted, field)
        if wanted.table == ISSUE_TABLE:
            return SmfIssueReader(wanted, arrow)
        return FilteringSmfReader(wanted, arrow) if wanted.pushdown else SmfRowReader(wanted, arrow)


def _check_column(wanted: SparkSettings, field: pa.Field) -> None:
    known = wanted.schema.names
    if field.name not in known:
        hint = suggestion(field.name, known, f"`zscope fields {wanted.table}` lists its columns")
        raise SparkOptionError(f"table {wanted.table} has no column {field.name!r}; {hint}")
    if not field.nullable:
        raise SparkOptionError(f"column {field.name} is declared as not null; leave that out")
    if wanted.table != ISSUE_TABLE and not castable(wanted.table, field.name, field.type):
        own = wanted.schema.field(field.name).type
        raise SparkOptionError(f"column {field.name} is {own} and cannot become {field.type}")


class SmfRowReader(DataSourceReader):
    """Reads the rows of one table."""

    def __init__(self, wanted: SparkSettings, schema: pa.Schema) -> None:
        self.wanted = wanted
        self.rows = SparkRows(wanted.table, schema)
        self.filters: list[ColumnFilter] = []

    def partitions(self) -> list[InputPartition]:
        """Return the ranges of the files."""
        _check_paths(self.wanted.paths)
        plan = plan_ranges(self.wanted.paths, self.wanted.range_bytes, self.wanted.options)
        return [InputPartition(part) for part in plan]

    def read(self, partition: InputPartition | None) -> Iterator[pa.RecordBatch]:
        """Read one range; without one, there is no file."""
        if partition is None:
            return
        part: FileRange = partition.value
        wanted, schema = self.wanted, self.rows.schema
        hooks = ScanHooks(where=condition(wanted.table, schema, self.filters))
        # A frame without columns is only counted: then one column is decoded.
        names = tuple(schema.names) or (wanted.schema.names[0],)
        scan = Scan(part, Selection({wanted.table: names}), wanted.options, hooks)
        for batch in scan:
            rows = self.rows.convert(batch.rows)
            # Not all readers evaluate conditions.
            yield rows.filter(meeting(rows, self.filters)) if self.filters else rows
        if wanted.refuse and part.named:
            _raise_refused(scan.issues)


class FilteringSmfReader(SmfRowReader):
    """Evaluates filters while records are decoded: other columns are decoded only where rows meet them.

    It is not the default: Spark 4.1 keeps one reader for all uses of a frame, with the filters of the last
    one. So a frame with two different filters, as in a join with itself, would have the rows of one for both.
    """

    def pushFilters(self, filters: list[Filter]) -> Iterable[Filter]:  # noqa: N802 - the name that Spark calls
        """Take over the filters that are evaluated here, and return the others."""
        for each in filters:
            path: tuple[str, ...] = getattr(each, "attribute", ())
            kind, value = type(each).__name__, getattr(each, "value", None)
            ours = column_filter(self.rows.schema, path[0], kind, value) if len(path) == 1 else None
            if ours is None:
                yield each
            else:
                self.filters.append(ours)


class SmfIssueReader(DataSourceReader):
    """Reads what could not be read. One task reads a whole file, as issues are counted for each file."""

    def __init__(self, wanted: SparkSettings, schema: pa.Schema) -> None:
        self.wanted = wanted
        self.rows = SparkRows(ISSUE_TABLE, schema)

    def partitions(self) -> list[InputPartition]:
        """Return the files, and the issues of folders."""
        plan = plan_ranges(self.wanted.paths, NEVER_CUT, self.wanted.options)
        return [InputPartition(plan.issues), *(InputPartition(part) for part in plan)]

    def read(self, partition: InputPartition | None) -> Iterator[pa.RecordBatch]:
        """Read one file, and return its issues."""
        found = partition.value if partition is not None else Issues()
        if isinstance(found, FileRange):
            scan = Scan(found, self.wanted.selection, self.wanted.options)
            for _ in scan:
                pass
            found = scan.issues
        for batch in found.to_arrow().to_batches():
            yield self.rows.convert(batch)


def _check_paths(paths: tuple[str, ...]) -> None:
    for path in paths:
        if not Path(path).exists():
            text = "the driver sees no such file or folder; executors need it under the same path as well"
            raise InputError(Issue(Code.UNREADABLE, text, path))


def _raise_refused(issues: Issues) -> None:
    """Raise an error for a named file that cannot be used: without its rows, the result would be wrong."""
    for issue in issues:
        if issue.severity is Severity.REFUSED:
            text = (
                f'{issue.text}; option("refused", "skip") leaves such files out, and table {ISSUE_TABLE} '
                "lists them"
            )
            raise InputError(Issue(issue.code, text, issue.file, offset=issue.offset))
