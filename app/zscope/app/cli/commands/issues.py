"""List the issues of the store."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from zscope.app.cli.output import Output, Rows, row_options
from zscope.app.cli.store_option import open_session, store_option

if TYPE_CHECKING:
    from pathlib import Path

SEVERITIES = ("note", "warning", "refused")
COLUMNS = (
    "load_id", "file", "severity", "code", "record_no", "byte_offset", "byte_end", "line_no", "column_no",
    "section", "field", "text",
)  # fmt: skip
ESSENTIAL = ("load_id", "file", "code", "record_no", "line_no", "text")


@click.command()
@click.option(
    "--load",
    "loads",
    metavar="ID",
    type=int,
    multiple=True,
    help="Only issues of this load. Can be repeated.",
)
@click.option("--file", "file", metavar="TEXT", help="Only issues of files whose name contains TEXT.")
@click.option(
    "--code",
    "codes",
    metavar="CODE",
    multiple=True,
    help="Only issues with this code, such as truncated. Can be repeated.",
)
@click.option("--severity", type=click.Choice(SEVERITIES), help="Only issues of this severity or worse.")
@store_option
@row_options
def command(
    *,
    loads: tuple[int, ...],
    file: str | None,
    codes: tuple[str, ...],
    severity: str | None,
    store: Path,
    output: Output,
) -> None:
    """List what could not be decoded or loaded, with file, record, byte and field.

    Prints one row for each issue of the loads in the store: severity, code and text, with record number and
    byte offset for dumps, line and column for reports. Files that were refused or skipped have rows without
    a load.

    \b
    Examples:
      zscope issues
      zscope issues --load 3 --severity warning
      zscope issues --code bad-value --code unknown-line -o issues.csv
    """
    conditions: dict[str, tuple[str, object]] = {
        "loads": ("list_contains($loads, load_id)", list(loads)),
        "file": ("contains(file, $file)", file),
        "codes": ("list_contains($codes, code)", list(codes)),
        "severities": (
            "list_contains($severities, severity)",
            list(SEVERITIES[SEVERITIES.index(severity) :]) if severity else None,
        ),
    }
    given = {name: condition for name, condition in conditions.items() if condition[1]}
    where = " AND ".join(sql for sql, _ in given.values()) or "true"
    statement = (
        f"SELECT {', '.join(COLUMNS)} FROM (FROM issue UNION ALL BY NAME FROM input_issue) WHERE {where} "
        "ORDER BY load_id, file, record_no NULLS FIRST, line_no NULLS FIRST, byte_offset NULLS FIRST, code"
    )
    with open_session(store, only_prints=True) as session:
        result = session.run(statement, {name: value for name, (_, value) in given.items()})
        assert result is not None
        rows = Rows(result.schema, result.batches, ESSENTIAL)
        output.write(rows)
    if not rows.count:
        click.echo("no issue matches" if given else "there are no issues", err=True)
