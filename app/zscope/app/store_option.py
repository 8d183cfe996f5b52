"""The store a command works on: the option that names it, and opening it for questions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from zscope.app.exits import NothingDoneError, RefusedError

if TYPE_CHECKING:
    from zscope.pipelines.metrics import Selection
    from zscope.pipelines.store.session import Session

DEFAULT_STORE = "zscope-store"

Command = Callable[..., int | None]


def store_option(command: Command) -> Command:
    """Give a command the option of the store; it gets one argument `store`, the folder."""
    option = click.option(
        "--store", metavar="DIR", envvar="ZSCOPE_STORE", default=DEFAULT_STORE, show_default=True,
        show_envvar=True, type=click.Path(path_type=Path), help="The folder with the store.",
    )  # fmt: skip
    return option(command)


@contextmanager
def store_errors() -> Iterator[None]:
    """Turn what the store raises into messages."""
    from zscope.pipelines.store import StoreError
    from zscope.pipelines.store.folder import DamagedStoreError
    from zscope.pipelines.store.session import QueryError

    try:
        yield
    except DamagedStoreError as error:
        raise RefusedError(str(error)) from error
    except (StoreError, QueryError) as error:
        raise NothingDoneError(str(error)) from error


@contextmanager
def asking(
    store: Path, *, memory: str | None = None, threads: int | None = None, seconds: float | None = None
) -> Iterator[Session]:
    """A guarded session on the newest commit of a store."""
    from zscope.pipelines.store import open_reader
    from zscope.pipelines.store.session import Session

    with (
        store_errors(),
        Session.guard(open_reader(store), store, memory=memory, threads=threads, seconds=seconds) as session,
    ):
        yield session


def prepare(
    session: Session, name: str, selection: Selection | None = None, settings: Iterable[str] = ()
) -> None:
    """Make ready for questions about a metric: what they all rest on is computed once."""
    from zscope.pipelines.metrics import metric
    from zscope.pipelines.metrics.narrowing import prepared

    for text in (*settings, *prepared(metric(name), selection, summarised=session.summarised)):
        session.run(text)
