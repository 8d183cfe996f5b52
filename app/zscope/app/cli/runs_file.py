"""Open the runs.toml of a store for a change."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from zscope.app.cli.exits import NothingDoneError
from zscope.app.cli.store_option import store_errors

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from zscope.pipelines.store.folder import Folder


@contextmanager
def changing_runs(store: Path) -> Iterator[Folder]:
    """Yield the folder of an existing store, and turn errors of changing its runs into messages."""
    from zscope.pipelines.runs.edit import RunsChangeError
    from zscope.pipelines.store.folder import existing_store

    with store_errors():
        try:
            yield existing_store(store)
        except RunsChangeError as error:
            raise NothingDoneError(str(error)) from error
