"""The options `--store` and `--settings`, and sessions that query the store."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING

import click

from zscope.app.cli.exits import NothingDoneError, RefusedError
from zscope.app.cli.hidden_libraries import without_numpy
from zscope.app.shared.default_store import DEFAULT_STORE

if TYPE_CHECKING:
    import pyarrow as pa

    from zscope.pipelines.metrics import MetricSelection
    from zscope.pipelines.store.session import Session


Command = Callable[..., int | None]
LEFT_OUT = "left_out_hour"
"""The metric with the hours that figures of production leave out."""


def store_option(command: Command) -> Command:
    """Add `--store` to a command; the command receives the argument `store`, the path of the folder."""
    option = click.option(
        "--store", metavar="DIR", envvar="ZSCOPE_STORE", default=DEFAULT_STORE, show_default=True,
        show_envvar=True, type=click.Path(path_type=Path), help="Folder of the store.",
    )  # fmt: skip
    return option(command)


@contextmanager
def store_errors() -> Iterator[None]:
    """Turn the exceptions of the store into messages and exit codes."""
    from zscope.pipelines.store import StoreError
    from zscope.pipelines.store.folder import DamagedStoreError
    from zscope.pipelines.store.sql_sandbox import QueryError

    try:
        yield
    except DamagedStoreError as error:
        raise RefusedError(str(error)) from error
    except (StoreError, QueryError) as error:
        raise NothingDoneError(str(error)) from error


@contextmanager
def open_session(
    store: Path,
    *,
    memory: str | None = None,
    threads: int | None = None,
    seconds: float | None = None,
    temp_size: str | None = None,
    only_prints: bool = False,
) -> Iterator[Session]:
    """Open a guarded, read-only session on what a store has, as `open_reader` does.

    A command that `only_prints` rows of it does nothing else in this process, so it needs no numpy.
    """
    from zscope.pipelines.store import open_reader

    with store_errors():
        reader = open_reader(store)
        if only_prints:
            # Not before: a store whose catalogue is out of date is read with everything that builds one.
            without_numpy()
        from zscope.pipelines.store.session import Session

        with Session.guard(
            reader, store, memory=memory, threads=threads, seconds=seconds, spill_size=temp_size
        ) as session:
            yield session


def prepare_metric(
    session: Session, name: str, selection: MetricSelection | None = None, settings: Iterable[str] = ()
) -> None:
    """Apply settings and compute once what all queries of a metric need."""
    from zscope.pipelines.metrics import metric
    from zscope.pipelines.metrics.narrowing import prepared

    for text in (*settings, *prepared(metric(name), selection, summarised=session.summarised)):
        session.run(text)


def note_missing_zones(session: Session, *metrics: str, systems: Iterable[str] = ()) -> None:
    """Print a note if rows that metrics read have no time in UTC, because a time zone is not configured.

    With `systems` the metrics were narrowed to these.
    """
    from zscope.pipelines.local_time.unzoned_rows import unzoned_note, unzoned_query

    if (query := unzoned_query(metrics, systems)) and (note := unzoned_note(query_table(session, query))):
        click.echo(f"note: {note}", err=True)


def note_left_out_hours(session: Session, *metrics: str, systems: Sequence[str] = ()) -> None:
    """Print a note if shares and rates of metrics leave out hours with benchmark runs of some systems."""
    from zscope.pipelines.metrics import needed, settable
    from zscope.pipelines.metrics.metric_statements import WITH_RUNS

    if not any(LEFT_OUT in needed(name) for name in metrics):
        return
    left_out = query_table(session, f"SELECT DISTINCT system FROM {LEFT_OUT}")["system"].to_pylist()
    if set(systems or left_out) & set(left_out):
        counts = ", --with-runs counts them" if any(WITH_RUNS in settable(name) for name in metrics) else ""
        click.echo(
            f"note: hours with benchmark runs are left out: zscope metrics {LEFT_OUT} lists them{counts}",
            err=True,
        )


def note_both_ends(session: Session, systems: Sequence[str]) -> None:
    """Print a note if sums over these systems, or all of the store, can contain both ends of connections."""
    from zscope.pipelines.metrics.query_options import KNOWN_SYSTEMS

    if len(systems or query_table(session, KNOWN_SYSTEMS)) > 1:
        click.echo(
            "note: a connection between two of the systems counts on both: --by system,... keeps them apart, "
            "--system NAME selects one",
            err=True,
        )


def query_table(
    session: Session, query: str, parameters: Sequence[object] | dict[str, object] | None = None
) -> pa.Table:
    """Run a query and return all its rows as one table."""
    import pyarrow as pa

    result = session.run(query, parameters)
    assert result is not None, "a query returns rows"
    return pa.Table.from_batches(result.batches, result.schema)


def settings_option(command: Command) -> Command:
    """Add `--settings` to a command that has a `store`; the command receives the argument `settings`."""

    @click.option(
        "--settings", "settings_path", metavar="FILE", type=click.Path(path_type=Path),
        help="Read settings from FILE. Default: zscope.toml in the store or in the current folder.",
    )  # fmt: skip
    @wraps(command)
    def with_settings(*, settings_path: Path | None, store: Path, **options: object) -> int | None:
        from zscope.pipelines.settings import read_settings
        from zscope.schemas.errors import SettingsError

        try:
            settings = read_settings(settings_path, store)
        except SettingsError as error:
            raise click.UsageError(str(error)) from error
        return command(settings=settings, store=store, **options)

    return with_settings
