"""Read files as a polars `LazyFrame`, so that only what a query needs is read and decoded."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from zscope.parsers.api import Scan, plain_texts, refuse_second_pass, warn_of, with_plain_texts
from zscope.parsers.file_range import FileRange
from zscope.parsers.options import DEFAULT_OPTIONS, RowCondition, ScanHooks, Selection, parse

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

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
    imported_polars()
    import polars as pl
    from polars.io.plugins import register_io_source

    selection = parse(table)
    paths = paths if isinstance(paths, (str, Path, FileRange)) else tuple(paths)
    schema = Scan(paths, selection, options).schema
    (name,) = selection.tables
    passes = count()

    def frames(
        columns: list[str] | None, predicate: pl.Expr | None, most: int | None, _batch_rows: int | None
    ) -> Iterator[pl.DataFrame]:
        if next(passes):
            refuse_second_pass(paths)
        wanted = schema.names if columns is None else columns
        tested = [] if predicate is None else predicate.meta.root_names()
        read = list(dict.fromkeys([*wanted, *tested]))
        # For a count of the rows no column is wanted: then one of numbers is decoded.
        read = read or schema.names[:1]
        # `head(5).filter(...)` arrives with both, and the rows are counted before the condition applies.
        # `filter(...).head(5)` arrives without a number: polars stops asking when it has enough.
        where = _row_condition(predicate) if predicate is not None and tested and most is None else None
        few = most is not None and most < _MANY_ROWS
        hooks = ScanHooks(first_rows=most if few else None, where=where)
        # polars can wait in all of its threads for this function, so no other thread may call polars.
        used = replace(options, jobs=1) if few or where else options
        scan = Scan(paths, Selection({name: tuple(read)}), used, hooks)
        left = most
        try:
            # Closing ends the threads that decode ahead.
            with closing(scan.plain_batches()) as batches:
                for rows in batches:
                    frame = pl.DataFrame(rows)
                    if left is not None:
                        frame = frame.head(left)
                        left -= frame.height
                    yield (frame if predicate is None else frame.filter(predicate)).select(wanted)
                    if left == 0:
                        return
        finally:
            if issues is None:
                warn_of(scan.issues)
            else:
                issues.extend(scan.issues)

    return register_io_source(frames, schema=pl.DataFrame(schema.empty_table()).schema, is_pure=True)


def imported_polars() -> ModuleType:
    """Return the module polars, or raise an error that names the extra to install."""
    try:
        import polars as pl
    except ModuleNotFoundError as error:
        message = 'polars is not installed; install it with: pip install "zscope[polars]"'
        raise ModuleNotFoundError(message, name="polars") from error
    return pl


def _row_condition(predicate: pl.Expr) -> RowCondition:
    import polars as pl
    import pyarrow as pa

    def meets(rows: pa.RecordBatch) -> pa.Array:
        frame = pl.DataFrame(with_plain_texts(rows, plain_texts(rows.schema)))
        try:
            return frame.select(predicate.fill_null(value=False)).to_series().to_arrow()
        except Exception:  # noqa: BLE001 - whatever polars raises is raised again below
            # Not a fault of the file, as which the reader would report it: these rows pass, and the filter
            # over them raises the same error to the user.
            return pa.repeat(pa.scalar(value=True), rows.num_rows)

    return RowCondition(tuple(predicate.meta.root_names()), meets)
