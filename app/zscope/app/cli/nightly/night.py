"""One night: what the steps share, and the lock and the note that make a killed night harmless.

While a night runs, the file `unfinished.json` notes when it began and the last load before it. A night that
finds the note of a killed one continues it: its report contains what the killed night loaded.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from zscope.app.cli.exits import ExitCode, NothingDoneError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from zscope.app.cli.new_files import LoadedFile
    from zscope.app.cli.nightly.settings_file import NightlySettings
    from zscope.pipelines.settings import Settings

_LOCK = ".lock"
_NOTE = "unfinished.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class StepResult:
    """What a step did."""

    code: ExitCode
    text: str
    """In one sentence."""
    details: tuple[str, ...] = ()
    """Further lines for people: issues, files that stay, expectations that are not met."""
    counts: Mapping[str, int] = field(default_factory=dict)
    items: tuple[Mapping[str, object], ...] = ()
    """One entry for each file, export or expectation."""
    stops: bool = False
    """Whether steps that need this one are skipped."""


@dataclass(frozen=True, slots=True)
class NightBegin:
    """When the night began, and what the store had then."""

    at: datetime
    last_load: int
    """Number of the last load before the night; later loads belong to it."""
    resumed: bool = False
    """Whether an earlier run began the night and was killed."""


@dataclass(slots=True, kw_only=True)
class Night:
    """What the steps of a night share."""

    settings: NightlySettings
    store: Path
    store_settings: Settings
    begin: NightBegin
    started: datetime
    """Start of this run."""
    dry_run: bool
    notify: Callable[[str], None]
    """Called with messages for the user."""
    quiet: bool = False
    files: tuple[LoadedFile, ...] = ()
    """The files of the night, set by the step `load`."""
    loads: tuple[int, ...] = ()
    """The loads of the night, set by the step `load`."""


def store_settings(file: Path, settings: NightlySettings) -> Settings:
    """Return the settings of the store: of zscope.toml, overridden by those of the batch."""
    from zscope.pipelines.settings import read_settings

    read = read_settings(settings.settings, settings.store, file.absolute().parent)
    return read.merge(lock_wait_s=settings.lock_wait_s)


@contextmanager
def only_night(folder: Path) -> Iterator[None]:
    """Lock the folder of the notes, in a store, against other nights.

    The lock of a killed process is gone with it.
    """
    from zscope.pipelines.store.process_lock import clear, holder, sign, try_lock

    folder.mkdir(exist_ok=True)
    handle = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        if not try_lock(handle):
            other = holder(handle) or "another process"
            raise NothingDoneError(
                f"{folder.parent}: {other} runs the nightly batch of this store; nothing was done"
            )
        sign(handle)
        try:
            yield
        finally:
            clear(handle)
    finally:
        os.close(handle)


def begin_night(notes: Path, store: Path, started: datetime) -> NightBegin:
    """Note that a night begins; if the last one was killed, continue it."""
    from zscope.pipelines.store.commits import read_state
    from zscope.pipelines.store.folder import existing_store, write_atomically

    for path in notes.glob(f".{_NOTE}.*"):  # of a process that was killed while it wrote one
        path.unlink()
    if (unfinished := _read_note(notes / _NOTE)) is not None:
        return unfinished
    last_load = read_state(existing_store(store)).next_load_id - 1
    note = {"began_utc": started.astimezone(UTC).isoformat(), "last_load": last_load}
    write_atomically(notes / _NOTE, json.dumps(note).encode())
    return NightBegin(started, last_load)


def _read_note(path: Path) -> NightBegin | None:
    """Return the note of a killed night. Notes appear completely, so another content is not ours."""
    try:
        note = json.loads(path.read_bytes())
        return NightBegin(datetime.fromisoformat(note["began_utc"]), int(note["last_load"]), resumed=True)
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError) as error:
        raise NothingDoneError(f"{path}: not a note of a night ({error}); delete it") from error


def end_night(notes: Path) -> None:
    """Delete the note: the night is complete, and its report is written."""
    (notes / _NOTE).unlink(missing_ok=True)
