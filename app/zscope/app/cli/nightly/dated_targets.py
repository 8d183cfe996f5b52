"""Targets of the night whose names can contain the day, and the days that they contain."""

from __future__ import annotations

from datetime import datetime, time, timedelta
from typing import TYPE_CHECKING

from zscope.app.cli.exits import NothingDoneError

if TYPE_CHECKING:
    from pathlib import Path

    from zscope.app.cli.nightly.night import Night
    from zscope.app.cli.nightly.setting_values import DatedPath

_MOST_DAYS = 400


def remove_dated_leftovers(night: Night, path: DatedPath) -> None:
    """Delete what the killed runs of this night left under the names of earlier days."""
    from zscope.pipelines.export_target import remove_leftovers

    if night.begin.resumed and not night.dry_run:
        day, today = night.begin.at.astimezone().date(), night.started.date()
        for days in range(min((today - day).days, _MOST_DAYS)):
            remove_leftovers(path.on(day + timedelta(days=days)))


def check_fixed_folder(path: DatedPath, target: Path) -> None:
    """Raise an error if the folder that is the same every night does not exist."""
    folder = path.fixed_folder()
    if not folder.is_dir():
        raise NothingDoneError(f"{target}: the folder {folder} does not exist; create it first")


def make_dated_folder(path: DatedPath, target: Path) -> None:
    """Create the folders whose names have placeholders; a missing other one is a mistake."""
    if path.fixed_folder().is_dir():
        target.parent.mkdir(parents=True, exist_ok=True)


def first_moment(night: Night, last_days: int | None) -> datetime | None:
    """Return the begin of the last so many days, by the clock of this machine; None for all days."""
    if last_days is None:
        return None
    return datetime.combine(night.started.date() - timedelta(days=last_days - 1), time())
