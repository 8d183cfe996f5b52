"""List the contents of files without decoding them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from zscope.app.cli.input_options import (
    ReadingOptions,
    SuppliedOptions,
    code_page_option,
    display_options,
    distinct_outputs,
    input_errors,
    paths_argument,
    print_files,
    progress,
    reading_options,
    report_issues,
    supplied_options,
)
from zscope.app.cli.output import Output, Rows, row_options

if TYPE_CHECKING:
    from datetime import date

    import pyarrow as pa

_KIND = ("system", "report", "source", "record_type", "record_subtype")
_TIMES = ("first_local", "last_local", "first_utc", "last_utc")
ESSENTIAL = (
    "system", "report", "record_type", "record_subtype", "files", "records", "percent", "first", "last",
    *_TIMES, "avg_bytes", "source", "file",
)  # fmt: skip
_FRAME = (2, 3)
"""Types of the records with which the dump program begins and ends its output."""


@click.command()
@paths_argument
@display_options
@supplied_options
@row_options
@code_page_option
@reading_options
@click.option(
    "--questions",
    is_flag=True,
    help="Print one row for each question instead: whether the files answer it, with which metric, and what "
    "is missing.",
)
def command(  # noqa: PLR0913 - one argument for each option
    paths: tuple[str, ...],
    *,
    questions: bool,
    system: str | None,
    taken: date | None,
    supplied: SuppliedOptions,
    code_page: str,
    reading: ReadingOptions,
    output: Output,
) -> int:
    """List the contents of files: kinds of records and reports, counts, first and last time.

    PATH is a file, a folder (searched recursively) or - for standard input. Files can be SMF dumps, RMF
    listings and XML, captured NETSTAT and GSKSRVR displays, AT-TLS policies and messages, and figures as
    CSV or JSON, in any mixture and packed by gzip, xz, zstd, zip, tar or TERSE. Prints one row for each
    file, system, and record type and subtype or report; of several files a terminal shows the sums, and
    with --all-columns each file. Times are local, or end in Z if they are UTC. For a folder, what its files
    answer and what is missing goes to standard error first; a summary of the files and all issues follow
    the rows.

    \b
    Examples:
      zscope inventory SMF.DUMP
      zscope inventory captured/ --format json -o inventory.json
      zscope inventory captured/ --questions
      gunzip -c SMF.DUMP.gz | zscope inventory -
    """
    from zscope.parsers.api import inventory
    from zscope.parsers.options import ReadOptions

    distinct_outputs(output.path, reading.issues.path if reading.issues else None, "--issues")
    with input_errors(), progress(quiet=reading.quiet) as report:
        contents = inventory(
            paths,
            options=ReadOptions(
                code_page=code_page,
                framing=reading.framing,
                unpack_limits=reading.unpack_limits,
                progress=report,
                system=system,
                taken=taken,
                run=supplied.run,
                mapping=supplied.mapping,
                time_format=supplied.time_format,
                formatter_zone=supplied.formatter_zone,
            ),
        )
    if contents.files and not reading.quiet and (questions or any(map(os.path.isdir, paths))):
        print_missing(contents.rows)
    if contents.files and questions:
        output.write(Rows.of(question_rows(contents.rows), ("question", "answered", "metric", "missing")))
    elif contents.files:
        rows = contents.rows
        if output.on_screen and not output.all_columns and len(contents.files) > 1:
            rows = sums_of_files(rows)
        names = [name for name in rows.column_names if rows[name].null_count < rows.num_rows]
        output.write(Rows.of(rows, tuple(name for name in ESSENTIAL if name in names)))
    if not reading.quiet:
        print_files(contents.files)
    return report_issues(contents.issues, reading, any_input=bool(contents.files))


def sums_of_files(rows: pa.Table) -> pa.Table:
    """Return a row for each system and kind of record or report, from the rows of several files.

    Times are texts, so that local ones and those in UTC have one column.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    def times(end: str) -> pa.Array:
        local = pc.strftime(sums[f"{end}_local"].cast(pa.timestamp("s"), safe=False), "%Y-%m-%dT%H:%M:%S")
        utc = pc.strftime(sums[f"{end}_utc"].cast(pa.timestamp("s", "UTC"), safe=False), "%Y-%m-%dT%H:%M:%SZ")
        return pc.coalesce(local, utc)

    ends = [(name, "min" if name.startswith("first") else "max") for name in _TIMES]
    sums = rows.group_by(list(_KIND)).aggregate([("file", "count_distinct"), ("records", "sum"), *ends])
    sums = sums.rename_columns([*_KIND, "files", "records", *_TIMES])
    # Records come before reports, which have no type.
    order = [(name, "ascending") for name in ("system", "record_type", "record_subtype", "report", "source")]
    return (
        sums.append_column("first", times("first"))
        .append_column("last", times("last"))
        .drop_columns(list(_TIMES))
        .sort_by(order)
    )


def print_missing(rows: pa.Table) -> None:
    """Print the records without a layout, and what is missing for the questions without an answer."""
    from zscope.schemas.questions import answers

    counted, headers = _without_layout(rows)
    if counted:
        click.echo(f"only counted, no layout: SMF {', '.join(counted)}", err=True)
    if headers:
        click.echo(f"only the header is read, no layout of the data: SMF {', '.join(headers)}", err=True)
    every = answers(filled_tables(rows))
    answered = sum(answer.answered for answer in every)
    click.echo(f"{answered} of {len(every)} questions can be answered (--questions lists them)", err=True)
    for missing in dict.fromkeys(missing for answer in every for missing in answer.missing):
        click.echo(f"missing: {missing}", err=True)


def question_rows(rows: pa.Table) -> pa.Table:
    """Return a row for each question."""
    import pyarrow as pa

    from zscope.schemas.questions import answers

    columns: dict[str, list[object]] = {"question": [], "answered": [], "metric": [], "missing": []}
    for answer in answers(filled_tables(rows)):
        columns["question"].append(answer.question.question)
        columns["answered"].append("yes" if answer.answered else "no")
        columns["metric"].append(answer.question.rows_in)
        columns["missing"].append("; ".join(answer.missing) or None)
    return pa.table({name: pa.array(values, pa.string()) for name, values in columns.items()})


def filled_tables(rows: pa.Table) -> frozenset[str]:
    """Return the tables that files fill, from the rows of their inventory."""
    from zscope.schemas import catalog
    from zscope.schemas.reports import report_tables

    tables: set[str] = set()
    for record_type, subtype, report in _kinds(rows):
        if record_type is not None:
            layout = catalog().records.get((record_type, -1 if subtype is None else subtype))
            tables |= {table.name for table in layout.tables} if layout else set()
        elif report:
            tables |= {
                table.name
                for table in report_tables().values()
                if report in (table.reports or (table.title,))
            }
    return frozenset(tables)


def _without_layout(rows: pa.Table) -> tuple[list[str], list[str]]:
    """Return the kinds of records that are only counted, and those of which only the header is read."""
    from zscope.schemas import catalog

    counted: set[tuple[int, int | None]] = set()
    headers: set[tuple[int, int | None]] = set()
    for record_type, subtype, _ in _kinds(rows):
        if record_type is None or (record_type in _FRAME and subtype is None):
            continue
        layout = catalog().records.get((record_type, subtype))
        if layout is None:
            counted.add((record_type, subtype))
        elif layout.header_only:
            headers.add((record_type, subtype))
    return _labels(counted), _labels(headers)


def _kinds(rows: pa.Table) -> set[tuple[int | None, int | None, str | None]]:
    columns = (rows[name].to_pylist() for name in ("record_type", "record_subtype", "report"))
    return set(zip(*columns, strict=True))


def _labels(kinds: set[tuple[int, int | None]]) -> list[str]:
    from zscope.schemas.model import record_label

    ordered = sorted(kinds, key=lambda kind: (kind[0], -1 if kind[1] is None else kind[1]))
    return [record_label(record_type, subtype) for record_type, subtype in ordered]
