"""Maintain the store: compact, expire, check, repair, rebuild the catalogue."""

from __future__ import annotations

from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path as PathType
from typing import TYPE_CHECKING

import click

from zscope.app.cli.exits import ExitCode, print_message
from zscope.app.cli.publishing import publish_if_set
from zscope.app.cli.repairing import describe_repair, not_restored
from zscope.app.cli.store_option import settings_option, store_errors, store_option

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from zscope.pipelines.settings import Settings
    from zscope.pipelines.store.commits import State
    from zscope.pipelines.store.folder import Folder


@click.group()
def command() -> None:
    """Maintain the store: compact, expire, check, repair, rebuild.

    \b
    Examples:
      zscope store compact
      zscope store expire --keep 400d
      zscope store check
    """


def _days_to_keep(context: click.Context, parameter: click.Parameter, text: str) -> int:  # noqa: ARG001
    from zscope.pipelines.store.retention import PeriodError, days_in

    try:
        return days_in(text)
    except PeriodError as error:
        raise click.BadParameter(str(error)) from error


@contextmanager
def _changing(
    store: Path, settings: Settings, *, all_summaries: bool = False
) -> Iterator[tuple[Folder, State]]:
    from zscope.pipelines.store.folder import existing_store
    from zscope.pipelines.store.transaction import changing

    with store_errors():
        folder = existing_store(store)
        with changing(folder, settings, print_message, all_summaries=all_summaries) as state:
            yield folder, state


@command.command("compact")
@store_option
@settings_option
def compact_command(*, store: Path, settings: Settings) -> int:
    """Merge the small files of each table and month; the rows do not change.

    Loads do the same, but only with some files at a time. Files of older versions of zscope,
    which can have other columns or types, are written again.

    The old files stay on the disk for an hour (grace_s in zscope.toml), for clients that opened the
    catalogue before.

    \b
    Example:
      zscope store compact
    """
    from zscope.pipelines.store.maintenance import compact

    with _changing(store, settings) as (folder, state):
        done = compact(folder, state)
    print_message(
        f"{done.before:,} files became {done.after:,}" if done.before else "there is nothing to compact"
    )
    return publish_if_set(store, settings)


@command.command("expire")
@click.option(
    "--keep", "kept_days", metavar="TIME", required=True, callback=_days_to_keep,
    help="Period to keep, counted back from today: 400d, 60w, 13m, 2y.",
)  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Report what would be removed, and remove nothing.")
@store_option
@settings_option
def expire_command(*, kept_days: int, dry_run: bool, store: Path, settings: Settings) -> int:
    """Remove days that are older than the period to keep; rows without a day stay.

    \b
    Example:
      zscope store expire --keep 400d
    """
    from zscope.pipelines.store.maintenance import expire
    from zscope.pipelines.store.retention import describe_expired, first_kept_day

    first_kept = first_kept_day(datetime.now(UTC).date(), kept_days)
    with _changing(store, settings) as (folder, state):
        expired = expire(folder, state, first_kept, dry_run=dry_run)
    print_message(describe_expired(expired, first_kept, dry_run=dry_run))
    return ExitCode.OK if dry_run else publish_if_set(store, settings)


@command.command("check")
@click.option(
    "--deep", is_flag=True,
    help="Also read the store from its first commit, and decode and count all rows. Takes about as long as "
    "an export.",
)  # fmt: skip
@click.option(
    "--record", is_flag=True,
    help="Record the result in the store, as the nightly batch does: metric store_check has it, and nothing "
    "is read from tables with damaged files.",
)  # fmt: skip
@store_option
@settings_option
def check_command(*, deep: bool, record: bool, store: Path, settings: Settings) -> None:
    """Compare every file and commit with its checksum, and the commits with each other.

    The files to read directly, in tables/, must be the current data files.

    Other commands check only what is cheap: the commits that they read, and that the last one is there.

    \b
    Examples:
      zscope store check
      zscope store check --deep
      zscope store check --record
    """
    from zscope.pipelines.store.file_checks import check_all, check_store
    from zscope.pipelines.store.folder import existing_store

    if record:
        with _changing(store, settings) as (folder, state):
            check_all(folder, state)
    with store_errors():
        totals = check_store(existing_store(store), deep=deep)
    print_message(
        f"{totals.files:,} files with {totals.rows:,} rows, {totals.bytes / 1e6:,.1f} MB: all unchanged "
        "since their commit"
    )
    if totals.without_checksum:
        print_message(
            f"note: {totals.without_checksum:,} of {totals.commits:,} commits have no checksum, because an "
            "earlier version of zscope wrote them; changes of the newest of them are noticed after the "
            "next commit"
        )
    if totals.public_commit is not None and totals.public_commit != totals.commits:
        print_message(
            f"note: the files in tables/ show commit {totals.public_commit:,} of {totals.commits:,}; the "
            "next change of the store, such as zscope store rebuild, completes them"
        )


@command.command("repair")
@click.option(
    "--backup", metavar="DIR", type=click.Path(path_type=PathType, exists=True, file_okay=False),
    help="A copy of the store, from which files are restored.",
)  # fmt: skip
@click.option(
    "--take-out", is_flag=True,
    help="Take damaged files out of the store if their rows cannot be restored. These rows are lost; those "
    "of other files can be read again.",
)  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Report what would be done, and change nothing.")
@store_option
@settings_option
def repair_command(
    *, backup: Path | None, take_out: bool, dry_run: bool, store: Path, settings: Settings
) -> int:
    """Restore the rows of damaged files.

    Compares every file with its checksum. A damaged file is restored from the backup. Without one, the loads
    that have rows in it are removed and loaded again from their files, if these have not changed.

    \b
    Examples:
      zscope store repair --dry-run
      zscope store repair --backup /backup/zscope
      zscope store repair --take-out
    """
    from zscope.app.cli.input_options import input_errors
    from zscope.pipelines.ingest.repair import repair_store

    with input_errors(), store_errors():
        done = repair_store(store, settings, print_message, backup=backup, take_out=take_out, dry_run=dry_run)
    for line in describe_repair(done, dry_run=dry_run):
        print_message(line)
    if not_restored(done):
        return ExitCode.REFUSED
    return ExitCode.WARNINGS if done.taken_out else ExitCode.OK


@command.command("rebuild")
@store_option
@settings_option
def rebuild_command(*, store: Path, settings: Settings) -> None:
    """Rebuild the catalogue zscope.duckdb from the commits, and compute the stored rows of steps again.

    The files to read directly, in tables/, are compared with the current data files, and linked again where
    they differ.

    \b
    Example:
      zscope store rebuild
    """
    from zscope.pipelines.public_files import compare_all_next
    from zscope.pipelines.store.catalogue import publish_catalogue
    from zscope.pipelines.store.stored_steps import drop_summaries

    with _changing(store, settings, all_summaries=True) as (folder, state):
        drop_summaries(folder, state)
        publish_catalogue(folder, state, anew=True)
        compare_all_next(folder)
    print_message(f"{folder.catalogue}: rebuilt")
