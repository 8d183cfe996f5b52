"""Look after the store: compact, expire, check, rebuild the catalogue."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click

from zscope.app.settings_option import settings_option
from zscope.app.store_option import store_errors, store_option

if TYPE_CHECKING:
    from zscope.pipelines.settings import Settings
    from zscope.pipelines.store.commits import State
    from zscope.pipelines.store.folder import Folder

_KEEP = re.compile(r"(\d{1,6})\s*([dwmy]?)", re.IGNORECASE)
_DAYS = {"": 1, "d": 1, "w": 7, "m": 31, "y": 366}


@click.group()
def command() -> None:
    """Look after the store: compact, expire, check.

    \b
    Examples:
      zscope store compact
      zscope store expire --keep 400d
      zscope store check
    """


def _kept_days(context: click.Context, parameter: click.Parameter, text: str) -> int:  # noqa: ARG001
    """A number of days; months and years are taken at their longest, so that nothing goes too early.

    >>> _kept_days(None, None, "400d"), _kept_days(None, None, "13m")
    (400, 403)
    """
    if (match := _KEEP.fullmatch(text.strip())) is None or int(match[1]) < 1:
        raise click.BadParameter(f"{text!r} is no time such as 400d, 60w, 13m or 2y")
    return int(match[1]) * _DAYS[match[2].lower()]


@contextmanager
def _changing(store: Path, settings: Settings) -> Iterator[tuple[Folder, State]]:
    from zscope.pipelines.store.change import changing
    from zscope.pipelines.store.folder import existing_store

    with store_errors():
        folder = existing_store(store)
        with changing(folder, settings, _say) as state:
            yield folder, state


def _say(text: str) -> None:
    click.echo(text, err=True)


@command.command("compact")
@store_option
@settings_option
def compact_command(*, store: Path, settings: Settings) -> None:
    """Merge the small files of each table and day; the rows stay as they are.

    The files that were merged stay on the disk for a while (an hour, or grace_s in zscope.toml), for those
    who opened the catalogue before.

    \b
    Example:
      zscope store compact
    """
    from zscope.pipelines.store.compact import compact

    with _changing(store, settings) as (folder, state):
        done = compact(folder, state)
    _say(f"{done.before:,} files became {done.after:,}" if done.before else "there is nothing to compact")


@command.command("expire")
@click.option(
    "--keep", "kept_days", metavar="TIME", required=True, callback=_kept_days,
    help="How much to keep, counted back from today: 400d, 60w, 13m, 2y.",
)  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Only say what would go.")
@store_option
@settings_option
def expire_command(*, kept_days: int, dry_run: bool, store: Path, settings: Settings) -> None:
    """Drop the days that are older than what is to be kept; rows without a day stay.

    \b
    Example:
      zscope store expire --keep 400d
    """
    from zscope.pipelines.store.expire import expire

    today = datetime.now(UTC).date()
    first_kept = today - timedelta(days=min(kept_days, today.toordinal() - 1))
    with _changing(store, settings) as (folder, state):
        gone = expire(folder, state, first_kept, dry=dry_run)
    would = "would go" if dry_run else "are gone"
    _say(
        f"{gone.rows:,} rows of {gone.days:,} days before {first_kept} {would}, {gone.bytes / 1e6:,.1f} MB"
        if gone.files
        else f"there is nothing older than {first_kept}"
    )


@command.command("check")
@store_option
def check_command(*, store: Path) -> None:
    """Compare the files on the disk with the commits, and read every file from front to end.

    \b
    Example:
      zscope store check
    """
    from zscope.pipelines.store.check import check
    from zscope.pipelines.store.folder import existing_store

    with store_errors():
        found = check(existing_store(store))
    _say(
        f"{found.files:,} files with {found.rows:,} rows, {found.bytes / 1e6:,.1f} MB: all are as they were "
        "committed"
    )


@command.command("rebuild")
@store_option
@settings_option
def rebuild_command(*, store: Path, settings: Settings) -> None:
    """Build the catalogue zscope.duckdb again from the commits, as after moving the store.

    \b
    Example:
      zscope store rebuild
    """
    from zscope.pipelines.store.catalogue import publish

    with _changing(store, settings) as (folder, state):
        publish(folder, state, anew=True)
    _say(f"{folder.catalogue}: built again")
