"""Publication of the tables after a command that changes the store."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from zscope.app.cli.exits import ExitCode, print_message

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from zscope.pipelines.iceberg.published_folder import Publication
    from zscope.pipelines.settings import Settings


def publish_if_set(store: Path, settings: Settings, *, quiet: bool = False) -> ExitCode:
    """Publish the tables of a store, if the settings say so; return the exit code.

    The change of the store is committed, so an error is only a warning.
    """
    if not settings.publish_iceberg:
        return ExitCode.OK
    from zscope.pipelines.iceberg.publish import publish_iceberg
    from zscope.pipelines.iceberg.published_folder import PublicationError
    from zscope.pipelines.store import StoreError

    try:
        done = publish_iceberg(store, settings=settings, notify=print_message)
    except (PublicationError, StoreError) as error:
        click.echo(
            f"warning: the change is committed, but its Iceberg tables are not published: {error}", err=True
        )
        return ExitCode.WARNINGS
    if not quiet:
        for line in describe_publication(done):
            click.echo(line, err=True)
    return ExitCode.OK


def describe_publication(done: Publication) -> Iterator[str]:
    """Yield the lines that tell what was published, and which tables are not, with the reason."""
    from zscope.pipelines.iceberg.published_folder import TableStatus

    changed = done.with_status(TableStatus.PUBLISHED)
    left_out = [*done.with_status(TableStatus.INTERNAL), *done.with_status(TableStatus.NOT_PUBLISHED)]
    if done.anew:
        yield f"{done.target}: everything is published again: {done.anew}"
    yield (
        f"{done.target}: {len(changed):,} of {len(done.tables) - len(left_out):,} tables have changed up to "
        f"commit {done.commit}, in {done.seconds:,.1f} s"
    )
    for table in left_out:
        yield f"{table.table} is not published: {table.note}"
