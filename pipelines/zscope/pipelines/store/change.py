"""The frame of every change: alone with the store, after sweeping, with a catalogue of it in the end."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa

from zscope.pipelines.store.catalogue import is_current, open_reader, publish
from zscope.pipelines.store.catalogue_file import replaced
from zscope.pipelines.store.commits import State, read_state
from zscope.pipelines.store.folder import Folder, StoreError
from zscope.pipelines.store.lock import only_writer
from zscope.pipelines.store.summaries import has_summaries, keep_summaries, worked_out, worth_it
from zscope.pipelines.store.sweep import sweep

if TYPE_CHECKING:
    from pathlib import Path

    from zscope.pipelines.settings import Settings


@contextmanager
def changing(folder: Folder, settings: Settings, tell: Callable[[str], None]) -> Iterator[State]:
    """The state of the store, for as long as nobody else can change it.

    Whatever was committed is in the catalogue when this ends, also when it ends in an error.
    """
    with _store_errors(folder), only_writer(folder, tell, settings.lock_wait_s):
        state = read_state(folder)
        sweep(folder, state, settings.grace_s)
        try:
            yield state
        except BaseException:
            # What went wrong is told, and not what goes wrong after it for the same reason.
            with suppress(StoreError):
                _finish(folder, state)
            raise
        _finish(folder, state)
        if worth_it(state, settings.summarise_from_rows):
            _summarise(folder, tell)


def _finish(folder: Folder, state: State) -> None:
    shutil.rmtree(folder.stage, ignore_errors=True)
    if not is_current(folder):
        publish(folder, state)


def _summarise(folder: Folder, tell: Callable[[str], None]) -> None:
    """Put summaries into the catalogue, unless it has them; what was committed can be read meanwhile."""
    try:
        with open_reader(folder.path) as reader:
            if has_summaries(reader):
                return
            rows = worked_out(reader)
    except duckdb.Error as error:
        told = str(error).partition("\n")[0]
        tell(f"{folder.path}: answers will take longer, as summaries cannot be made of the data ({told})")
        return
    replaced(folder, folder.catalogue.read_bytes, lambda connection: keep_summaries(connection, rows))


def refreshed(folder: Folder, settings: Settings, tell: Callable[[str], None]) -> Path:
    """The catalogue file, showing the newest commit: made again if a writer was killed before it could."""
    if not is_current(folder):
        with changing(folder, settings, tell):
            pass
    return folder.catalogue


@contextmanager
def _store_errors(folder: Folder) -> Iterator[None]:
    """The inputs' errors are told by their readers; what comes through is the store's folder."""
    kept = "what was committed before stays, of the change under way nothing was kept"
    try:
        yield
    except (duckdb.Error, pa.ArrowInvalid) as error:
        told = str(error).partition("\n")[0]
        raise StoreError(f"{folder.path}: {told}; {kept}; zscope store check looks at all files") from error
    except OSError as error:
        where = f" ({os.fsdecode(error.filename)})" if error.filename else ""
        told = error.strerror or str(error).partition("\n")[0]
        raise StoreError(f"{folder.path}: the store cannot be changed: {told}{where}; {kept}") from error
