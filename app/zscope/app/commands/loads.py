"""List what was loaded, and take loads out again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from zscope.app.exits import ExitCode
from zscope.app.output import Output, Rows, row_options
from zscope.app.settings_option import settings_option
from zscope.app.store_option import asking, store_errors, store_option

if TYPE_CHECKING:
    import pyarrow as pa

    from zscope.pipelines.settings import Settings

ESSENTIAL_OF_REFUSED = ("refused_utc", "file", "times", "code", "text", "remedy")
ESSENTIAL = ("load_id", "status", "file", "records", "rows", "duplicates", "issues", "started_utc")


@click.group(invoke_without_command=True)
@click.option("--refused", is_flag=True, help="Instead, the files that were refused, from the quarantine.")
@store_option
@row_options
@click.pass_context
def command(context: click.Context, *, refused: bool, store: Path, output: Output) -> None:
    """List what was loaded, and take loads out again.

    One row for each load: which file, when, how many records and rows, how many issues.

    \b
    Examples:
      zscope loads
      zscope loads --refused
      zscope loads remove 3
    """
    if context.invoked_subcommand is not None:
        said = [name for name in ("store", "refused", "form", "path", "raw") if _said(context, name)]
        if said:
            raise click.UsageError(
                f"{context.invoked_subcommand} has options of its own: put them behind it, such as "
                f"zscope loads {context.invoked_subcommand} --store DIR"
            )
        return
    if refused:
        output.write(Rows.of(_refused(store), ESSENTIAL_OF_REFUSED))
        return
    with asking(store) as session:
        result = session.run("SELECT * FROM load ORDER BY load_id")
        assert result is not None, "a question has rows"
        output.write(Rows(result.schema, result.batches, ESSENTIAL))


def _said(context: click.Context, name: str) -> bool:
    return context.get_parameter_source(name) is ParameterSource.COMMANDLINE


def _refused(store: Path) -> pa.Table:
    from zscope.pipelines.ingest.quarantine import reports
    from zscope.pipelines.store.folder import existing_store

    with store_errors():
        return reports(existing_store(store).quarantine)


@command.command("remove")
@click.argument("load_ids", metavar="ID...", type=int, nargs=-1, required=True)
@store_option
@settings_option
def remove(load_ids: tuple[int, ...], *, store: Path, settings: Settings) -> int:
    """Take loads out of the store, without touching what others brought.

    Each is a commit of its own. Records that a later load left out because this one had them are gone with
    it; zscope says so, and ingesting that file again brings them back.

    \b
    Example:
      zscope loads remove 3
    """
    from zscope.pipelines.store.change import changing
    from zscope.pipelines.store.folder import existing_store
    from zscope.pipelines.store.remove import removable, remove_load

    code = ExitCode.OK
    with store_errors():
        folder = existing_store(store)
        with changing(folder, settings, lambda text: click.echo(text, err=True)) as state:
            for load_id in load_ids:
                removable(state, load_id)
            for load_id in dict.fromkeys(load_ids):
                removed = remove_load(folder, state, load_id)
                click.echo(f"load {load_id} ({removed.load.file}): {removed.rows:,} rows removed", err=True)
                for other in removed.reopened:
                    click.echo(
                        f"warning: load {other.load_id} had left out records that load {load_id} had; ingest "
                        f"{other.file} again to bring them back",
                        err=True,
                    )
                    code = ExitCode.WARNINGS
    return code
