"""Maintain the store: compact, expire, check, rebuild the catalogue."""

from __future__ import annotations

import re
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import click

from zscope.app.cli.store_option import settings_option, store_errors, store_option

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from zscope.pipelines.settings import Settings
    from zscope.pipelines.store.commits import State
    from zscope.pipelines.store.folder import Folder

_PERIOD = re.compile(r"(\d{1,6})\s*([dwmy]?)", re.IGNORECASE)
_DAYS = {"": 1, "d": 1, "w": 7, "m": 31, "y": 366}


@click.group()
def command() -> None:
    """Maintain the store: compact, expire, check, rebuild.

    \b
    Examples:
      zscope store compact
      zscope store expire --keep 400d
      zscope store check
    """


def _days_to_keep(context: click.Context, parameter: click.Parameter, text: str) -> int:  # noqa: ARG001
    """Convert a period to days; months and years count with their longest length.

    >>> _days_to_keep(None, None, "400d"), _days_to_keep(None, None, "13m")
    (400, 403)
    """
    if (match := _PERIOD.fullmatch(text.strip())) is None or int(match[1]) < 1:
        raise click.BadParameter(f"{text!r} is not a period such as 400d, 60w, 13m or 2y")
    return int(match[1]) * _DAYS[match[2].lower()]


@contextmanager
def _changing(store: Path, settings: Settings) -> Iterator[tuple[Folder, State]]:
    from zscope.pipelines.store.change import changing
    from zscope.pipelines.store.folder import existing_store

    with store_errors():
        folder = existing_store(store)
        with changing(folder, settings, _print) as state:
            yield folder, state


def _print(text: str) -> None:
    click.echo(text, err=True)


@command.command("compact")
@store_option
@settings_option
def compact_command(*, store: Path, settings: Settings) -> None:
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
    _print(f"{done.before:,} files became {done.after:,}" if done.before else "there is nothing to compact")


@command.command("expire")
@click.option(
    "--keep", "kept_days", metavar="TIME", required=True, callback=_days_to_keep,
    help="Period to keep, counted back from today: 400d, 60w, 13m, 2y.",
)  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Report what would be removed, and remove nothing.")
@store_option
@settings_option
def expire_command(*, kept_days: int, dry_run: bool, store: Path, settings: Settings) -> None:
    """Remove days that are older than the period to keep; rows without a day stay.

    \b
    Example:
      zscope store expire --keep 400d
    """
    from zscope.pipelines.store.maintenance import expire

    today = datetime.now(UTC).date()
    first_kept = today - timedelta(days=min(kept_days, today.toordinal() - 1))
    with _changing(store, settings) as (folder, state):
        expired = expire(folder, state, first_kept, dry_run=dry_run)
    verb = "would be removed" if dry_run else "removed"
    _print(
        f"{expired.rows:,} rows of {expired.days:,} days before {first_kept} {verb}, "
        f"{expired.bytes / 1e6:,.1f} MB"
        if expired.files
        else f"there are no rows older than {first_kept}"
    )


@command.command("check")
@store_option
def check_command(*, store: Path) -> None:
    """Read every file and compare it with what was committed.

    \b
    Example:
      zscope store check
    """
    from zscope.pipelines.store.folder import existing_store
    from zscope.pipelines.store.maintenance import check_store

    with store_errors():
        totals = check_store(existing_store(store))
    _print(
        f"{totals.files:,} files with {totals.rows:,} rows, {totals.bytes / 1e6:,.1f} MB: all unchanged "
        "since their commit"
    )


@command.command("rebuild")
@store_option
@settings_option
def rebuild_command(*, store: Path, settings: Settings) -> None:
    """Rebuild the catalogue zscope.duckdb from the commits, and compute the stored rows of steps again.

    \b
    Example:
      zscope store rebuild
    """
    from zscope.pipelines.store.catalogue import publish_catalogue
    from zscope.pipelines.store.summaries import drop_summaries

    with _changing(store, settings) as (folder, state):
        drop_summaries(folder, state)
        publish_catalogue(folder, state, anew=True)
    _print(f"{folder.catalogue}: rebuilt")
