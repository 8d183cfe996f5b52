"""List the loads of a store, and remove loads."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from zscope.app.cli.exits import ExitCode, print_message
from zscope.app.cli.output import Output, Rows, row_options
from zscope.app.cli.output.output_options import OUTPUT_ARGUMENTS
from zscope.app.cli.publishing import publish_if_set
from zscope.app.cli.store_option import open_session, settings_option, store_errors, store_option

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa

    from zscope.pipelines.settings import Settings

ESSENTIAL_OF_REFUSED = ("refused_utc", "file", "times", "code", "text", "remedy")
ESSENTIAL = ("load_id", "status", "file", "records", "rows", "duplicates", "issues", "started_utc")


@click.group(invoke_without_command=True)
@click.option(
    "--refused", is_flag=True, help="List the refused files instead, with the reason and what to do."
)
@store_option
@row_options
@click.pass_context
def command(context: click.Context, *, refused: bool, store: Path, output: Output) -> None:
    """List the loads of the store, or remove loads.

    Prints one row for each load: file, time, number of records, rows, duplicates and issues.

    \b
    Examples:
      zscope loads
      zscope loads --refused
      zscope loads remove 3
    """
    if context.invoked_subcommand is not None:
        sources = map(context.get_parameter_source, ("store", "refused", *OUTPUT_ARGUMENTS))
        if ParameterSource.COMMANDLINE in sources:
            raise click.UsageError(
                f"write the options after {context.invoked_subcommand}, such as "
                f"zscope loads {context.invoked_subcommand} 3 --store DIR"
            )
        return
    if refused:
        output.write(Rows.of(_refused(store), ESSENTIAL_OF_REFUSED))
        return
    with open_session(store, only_prints=True) as session:
        result = session.run("SELECT * FROM load ORDER BY load_id")
        assert result is not None, "a query returns rows"
        output.write(Rows(result.schema, result.batches, ESSENTIAL))


def _refused(store: Path) -> pa.Table:
    from zscope.pipelines.ingest.quarantine import quarantine_table
    from zscope.pipelines.store.folder import existing_store

    with store_errors():
        return quarantine_table(existing_store(store).quarantine)


@command.command("remove")
@click.argument("load_ids", metavar="ID...", type=int, nargs=-1, required=True)
@store_option
@settings_option
def remove(load_ids: tuple[int, ...], *, store: Path, settings: Settings) -> int:
    """Remove loads from the store; the rows of other loads stay.

    Each removal is one commit. If a later load skipped records because this load had them, they are removed
    too; zscope names the file to ingest again.

    \b
    Example:
      zscope loads remove 3
    """
    from zscope.pipelines.store.folder import existing_store
    from zscope.pipelines.store.remove import removable_load, remove_load
    from zscope.pipelines.store.transaction import changing

    code = ExitCode.OK
    with store_errors():
        folder = existing_store(store)
        with changing(folder, settings, print_message) as state:
            for load_id in load_ids:
                removable_load(state, load_id)
            for load_id in dict.fromkeys(load_ids):
                removed = remove_load(folder, state, load_id)
                click.echo(f"load {load_id} ({removed.load.file}): {removed.rows:,} rows removed", err=True)
                for other in removed.reopened:
                    click.echo(
                        f"warning: load {other.load_id} skipped records that load {load_id} had; ingest "
                        f"{other.file} again to restore them",
                        err=True,
                    )
                    code = ExitCode.WARNINGS
    return max(code, publish_if_set(store, settings))
