"""Load what arrives in a folder, until a signal ends it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from zscope.app.cli.exits import print_message
from zscope.app.cli.input_options import (
    SuppliedOptions,
    code_page_option,
    framing_of,
    framing_option,
    input_errors,
    supplied_options,
    unpack_limits_option,
)
from zscope.app.cli.load_options import LoadOptions, load_options
from zscope.app.cli.loading import return_memory_soon
from zscope.app.cli.new_files import INCOMPLETE
from zscope.app.cli.store_option import settings_option, store_errors, store_option

if TYPE_CHECKING:
    from zscope.pipelines.settings import Settings

SETTLE_S, EVERY_S = 10, 5


@dataclass(frozen=True, slots=True)
class WatchedFolder:
    """The folder, and which of its files are loaded."""

    folders: tuple[Path, ...]
    patterns: tuple[str, ...]
    exclude: tuple[str, ...]
    settle_s: int


@click.command()
@click.argument("folder", metavar="FOLDER", type=click.Path(exists=True, file_okay=False, path_type=Path))
@store_option
@click.option(
    "--pattern", "patterns", metavar="PATTERN", multiple=True, default=("*",),
    help="Only files that match this pattern, such as '*.smf'; it applies to the name, or with a / to the "
    "path in the folder. Can be repeated. Default: all files.",
)  # fmt: skip
@click.option(
    "--exclude", metavar="PATTERN", multiple=True, default=INCOMPLETE,
    help=f"No files that match this pattern. Can be repeated. Default: {', '.join(INCOMPLETE)}.",
)  # fmt: skip
@click.option(
    "--settle", "settle_s", metavar="SECONDS", type=click.IntRange(min=0), default=SETTLE_S,
    show_default=True, help="Load a file when it has not changed for so many seconds.",
)  # fmt: skip
@click.option(
    "--every", "every_s", metavar="SECONDS", type=click.IntRange(min=1), default=EVERY_S, show_default=True,
    help="How often the folder is listed.",
)  # fmt: skip
@click.option(
    "--move-to", metavar="DIR", type=click.Path(file_okay=False, path_type=Path),
    help="Move files that are in the store to this folder. Default: they stay.",
)  # fmt: skip
@load_options
@supplied_options
@settings_option
@code_page_option
@framing_option
@unpack_limits_option
@click.option("-q", "--quiet", is_flag=True, help="Print issues only, no line for each file and load.")
def command(  # noqa: PLR0913 - one argument for each option
    folder: Path,
    *,
    store: Path,
    patterns: tuple[str, ...],
    exclude: tuple[str, ...],
    settle_s: int,
    every_s: int,
    move_to: Path | None,
    loading: LoadOptions,
    settings: Settings,
    supplied: SuppliedOptions,
    code_page: str,
    framing: str | None,
    unpack_limits: str,
    quiet: bool,
) -> int:
    """Load what arrives in a folder, until a signal ends it.

    FOLDER is searched recursively, every few seconds. A file is loaded when it is complete: when it has not
    changed for some seconds, and its name is not that of a file in transfer; hidden files are ignored. Files
    that are complete at the same time are one load, which publishes the catalogue once. A file that was
    loaded before is skipped, and of a dump that has grown only the new part is loaded. A refused file leaves
    a report in the folder `quarantine` of the store, and the others are loaded; it is read again if it
    changes.

    Ctrl-C or SIGTERM ends the program after the file that is being loaded, a second one at once. While the
    store cannot be changed, as on a full disk, the program tries again.

    \b
    Examples:
      zscope watch /data/incoming
      zscope watch /data/incoming --pattern '*.smf' --move-to /data/loaded --timezone SYSA=Europe/Berlin

    Exit code after a signal: the highest of the loads. 0 success; 4 with issues; 8 a file was refused; 12 it
    could not start, or the last load could not be done.
    """
    from zscope.app.cli.watching import StopSignal, Watch
    from zscope.parsers.options import ReadOptions
    from zscope.pipelines.ingest import IngestOptions, row_selection
    from zscope.pipelines.store.folder import make_store

    stop = StopSignal()
    with stop.handled():
        return_memory_soon()
        settings = loading.merged(settings)
        _check_folders(folder, store, move_to)
        with input_errors():
            read_options = ReadOptions(
                code_page=code_page, framing=framing_of(framing), jobs=loading.jobs, strict=loading.strict,
                system=loading.only_system, unpack_limits=unpack_limits or settings.unpack_limits,
            )  # fmt: skip
            options = IngestOptions(
                selection=row_selection(loading.select, loading.systems),
                read_options=supplied.added_to(read_options),
                settings=settings,
                listed=True,
                notify=print_message,
            )
        with store_errors():
            make_store(store, for_everybody=settings.readable_by_everybody)
        if not quiet:
            print_message(f"{folder}: loading what arrives; Ctrl-C or SIGTERM ends this")
        choice = WatchedFolder((folder,), patterns, exclude, settle_s)
        code = Watch(choice, store, options, stop, every_s, quiet, move_to).run()
        if not quiet:
            print_message("stopped")
    return code


def _check_folders(folder: Path, store: Path, move_to: Path | None) -> None:
    """Raise an error for folders that must not be in each other."""
    inside, place = folder.resolve(), store.resolve()
    if _is_in(inside, place):
        raise click.UsageError(f"{folder} is in the store {store}; name another folder")
    if move_to is None:
        return
    target = move_to.resolve()
    if _is_in(target, place):
        raise click.UsageError(f"--move-to: {move_to} is in the store {store}; choose another folder")
    if _is_in(inside, target):
        raise click.UsageError(
            f"--move-to: {folder} is the same folder or in it, so no file would be loaded; choose another one"
        )


def _is_in(path: Path, folder: Path) -> bool:
    return path == folder or folder in path.parents
