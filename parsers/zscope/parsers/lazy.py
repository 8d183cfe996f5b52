"""Read files as a polars `LazyFrame`, so that only what a query needs is read and decoded."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from zscope.parsers.api import Scan, plain_texts, warn_of, with_plain_texts
from zscope.parsers.options import DEFAULT_OPTIONS, RowCondition, ScanHooks, Selection, parse

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl
    import pyarrow as pa

    from zscope.parsers.inputs import Paths
    from zscope.parsers.issues import Issues
    from zscope.parsers.options import ReadOptions

_MANY_ROWS = 100_000
"""From here on it is not worth reading less of a file at a time."""


def scan_polars(
    paths: Paths,
    table: str,
    options: ReadOptions = DEFAULT_OPTIONS,
    *,
    issues: Issues | None = None,
) -> pl.LazyFrame:
    """Read one table of files as a polars `LazyFrame`.

    Columns that a query does not use are not decoded, nor are the other columns of records that do not meet
    its conditions; `head` stops reading. Each `collect` reads the files again. What could not be read is
    added to `issues`, or is told by a `DataWarning` without it.

    It needs polars: `pip install "zscope[polars]"`.

    >>> import polars as pl
    >>> connections = scan_polars("sample-data/smf-sample.bin", "smf119_tcp_term")
    >>> tls = connections.filter(pl.col("tls_version").is_not_null()).select("system", "job_name")
    >>> tls.collect().columns
    ['system', 'job_name']
    """
    import polars as pl
    from polars.io.plugins import register_io_source

    selection = parse(table)
    schema = Scan(paths, selection, options).schema
    (name,) = selection.tables
    paths = paths if isinstance(paths, str) or not hasattr(paths, "__iter__") else tuple(paths)

    def frames(
        columns: list[str] | None, predicate: pl.Expr | None, most: int | None, _batch_rows: int | None
    ) -> Iterator[pl.DataFrame]:
        wanted = schema.names if columns is None else columns
        read = list(dict.fromkeys([*wanted, *([] if predicate is None else predicate.meta.root_names())]))
        # For a count of the rows no column is wanted: then one of numbers is decoded.
        read = read or schema.names[:1]
        where = None if predicate is None else _row_condition(predicate)
        # Of rows that have to meet a condition, nobody knows where the first ones are.
        few = most is not None and most < _MANY_ROWS and predicate is None
        hooks = ScanHooks(first_rows=most if few else None, where=where)
        # polars can wait in all of its threads for this function, so no other thread may call polars.
        used = replace(options, jobs=1) if few or where else options
        scan = Scan(paths, Selection({name: tuple(read)}), used, hooks)
        left = most
        try:
            for rows in scan.plain_batches():
                frame = pl.DataFrame(rows)
                if predicate is not None:
                    frame = frame.filter(predicate)
                if left is not None:
                    frame = frame.head(left)
                    left -= frame.height
                yield frame.select(wanted)
                if left == 0:
                    return
        finally:
            if issues is None:
                warn_of(scan.issues)
            else:
                issues.extend(scan.issues)

    return register_io_source(frames, schema=pl.DataFrame(schema.empty_table()).schema, is_pure=True)


def _row_condition(predicate: pl.Expr) -> RowCondition:
    import polars as pl

    def meets(rows: pa.RecordBatch) -> pa.Array:
        frame = pl.DataFrame(with_plain_texts(rows, plain_texts(rows.schema)))
        return frame.select(predicate.fill_null(value=False)).to_series().to_arrow()

    return RowCondition(tuple(predicate.meta.root_names()), meets)
