"""The runs.toml of a store, as several commands meet it: changing it, and what of it cannot be used."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from zscope.app.exits import NothingDoneError
from zscope.app.store_option import store_errors

if TYPE_CHECKING:
    from zscope.pipelines.store.folder import Folder


@contextmanager
def changing_runs(store: Path) -> Iterator[Folder]:
    """The store, with what can go wrong in changing its runs turned into messages."""
    from zscope.pipelines.runs.edit import RunsChangeError
    from zscope.pipelines.store.folder import existing_store

    with store_errors():
        try:
            yield existing_store(store)
        except RunsChangeError as error:
            raise NothingDoneError(str(error)) from error


def unusable_runs(store: Path) -> str:
    """The first thing that cannot be used, and how many there are; empty if there is none.

    For commands that would otherwise be silent about runs that are missing.
    """
    from zscope.pipelines.runs import read_runs

    wrong = [problem for problem in read_runs(store).problems if not problem.warning]
    if not wrong:
        return ""
    more = f"; it is one of {len(wrong)}, which zscope runs tells" if len(wrong) > 1 else ""
    return f"left out: {wrong[0]}{more}"
