"""Publish the tables of a store for other engines."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from zscope.app.cli.exits import ExitCode, print_message
from zscope.app.cli.output import Output, Rows, row_options
from zscope.app.cli.publishing import describe_publication
from zscope.app.cli.store_option import settings_option, store_errors, store_option

if TYPE_CHECKING:
    import pyarrow as pa

    from zscope.pipelines.iceberg.published_folder import Publication
    from zscope.pipelines.settings import Settings

ESSENTIAL = ("table", "status", "new_snapshots", "files", "rows", "note")


@click.group()
def command() -> None:
    """Publish the tables of a store for other engines, without writing their data again.

    \b
    Example:
      zscope publish iceberg
    """


@command.command("iceberg")
@click.option(
    "--target", metavar="DIR", type=click.Path(path_type=Path),
    help="Folder of the published tables, outside of the store. Default: the setting in zscope.toml, or the "
    "name of the store with -iceberg.",
)  # fmt: skip
@click.option("--rebuild", is_flag=True, help="Publish everything again, without the earlier snapshots.")
@click.option(
    "--wait", "wait_s", metavar="SECONDS", type=click.IntRange(min=0),
    help="How long to wait while another process publishes. Default: 600, or the setting in zscope.toml.",
)  # fmt: skip
@click.option("-q", "--quiet", is_flag=True, help="Print no messages about what is published.")
@store_option
@settings_option
@row_options
def iceberg_command(
    *,
    target: Path | None,
    rebuild: bool,
    wait_s: int | None,
    quiet: bool,
    store: Path,
    settings: Settings,
    output: Output,
) -> int:
    """Publish the tables of a store as Iceberg tables, which Spark, polars, Trino and others read.

    Only metadata is written: it names the Parquet files of the store. Each commit of the store since the last
    publication becomes a snapshot of the tables that it changes. After the store was moved, everything is
    published again. With iceberg = true in section [publish] of zscope.toml, the commands that change the
    store publish it, too. Prints one row for each table. Needs pip install "zscope[iceberg]".

    \b
    Examples:
      zscope publish iceberg
      zscope publish iceberg --target /shared/zscope-tables --format csv
    """
    from zscope.pipelines.iceberg.publish import publish_iceberg
    from zscope.pipelines.iceberg.published_folder import TableStatus

    settings = settings.merge(lock_wait_s=wait_s)
    with store_errors():
        done = publish_iceberg(store, target, settings, print_message, anew=rebuild)
    output.write(Rows.of(_rows(done), ESSENTIAL))
    if not quiet:
        for line in describe_publication(done):
            print_message(line)
    return ExitCode.WARNINGS if done.with_status(TableStatus.NOT_PUBLISHED) else ExitCode.OK


def _rows(done: Publication) -> pa.Table:
    import pyarrow as pa

    schema = pa.schema(
        [
            ("table", pa.string()),
            ("status", pa.string()),
            ("new_snapshots", pa.int64()),
            ("files", pa.int64()),
            ("rows", pa.int64()),
            ("metadata", pa.string()),
            ("note", pa.string()),
        ]
    )
    rows = [
        {
            "table": table.table,
            "status": table.status.value,
            "new_snapshots": table.new_snapshots,
            "files": table.files,
            "rows": table.rows,
            "metadata": table.metadata,
            "note": table.note,
        }
        for table in done.tables
    ]
    return pa.Table.from_pylist(rows, schema)
