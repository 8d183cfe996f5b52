"""Load what arrives in a folder, one load after the other, until a signal ends it.

Files are listed and judged as those of the nightly batch. Those that are complete at the same time are one
load, which publishes the catalogue once. A file is remembered while it is in the folder, so that it is read
again only if it has changed.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from zscope.app.cli.exits import ExitCode, describe, print_message
from zscope.app.cli.files_put_away import move_file, why_it_stays
from zscope.app.cli.input_options import (
    SuppliedOptions,
    code_page_option,
    exit_code_for,
    framing_of,
    framing_option,
    input_errors,
    print_issues,
    supplied_options,
    unpack_limits_option,
)
from zscope.app.cli.load_options import LoadOptions, code_after_load, load_options
from zscope.app.cli.loading import describe_outcome, describe_report, return_memory_soon
from zscope.app.cli.new_files import INCOMPLETE, list_files, with_outcomes
from zscope.app.cli.stop_signal import StopSignal
from zscope.app.cli.store_option import settings_option, store_errors, store_option

if TYPE_CHECKING:
    from zscope.app.cli.new_files import FileChoice, LoadedFile, NewFile
    from zscope.parsers.issues import Issue
    from zscope.pipelines.ingest import IngestOptions
    from zscope.pipelines.ingest.options_and_outcomes import FileOutcome, IngestReport
    from zscope.pipelines.settings import Settings


LONGEST_PAUSE_S = 300.0
"""Limit of the pause after loads that could not change the store: it doubles with each."""


@dataclass
class Watch:
    """A folder, the store that its files are loaded into, and what is known of the files."""

    choice: FileChoice
    store: Path
    options: IngestOptions
    stop: StopSignal
    every_s: float
    quiet: bool
    move_to: Path | None = None
    """Where files go that are in the store; None if they stay."""
    worst: ExitCode = ExitCode.OK
    """The highest exit code of the loads."""
    _known: dict[Path, tuple[int, int]] = field(default_factory=dict)
    """Size and time of the last change of the files that were loaded, or refused."""
    _reported: set[str] = field(default_factory=set)
    """What was skipped in the folder, or is missing, and was reported."""
    _failed: str = ""
    """Why the last load could not change the store."""

    def run(self) -> ExitCode:
        """Load what arrives until a signal; return the exit code."""
        pause = self.every_s
        while not self.stop.is_set:
            self.look()
            pause = min(2 * pause, LONGEST_PAUSE_S) if self._failed else self.every_s
            self.stop.wait(pause)
        return ExitCode.NOTHING if self._failed else self.worst

    def look(self) -> None:
        """List the folder, and load the files that are complete and were not loaded as they are."""
        outside = [self.store, *([self.move_to] if self.move_to else [])]
        listing = list_files(self.choice, outside, time.time())
        there = {file.path for file in listing.files}
        self._known = {path: known for path, known in self._known.items() if path in there}
        problems = {str(issue): issue for issue in (*listing.missing, *listing.skipped)}
        new = [file for file in listing.files if self._known.get(file.path) != _state_of(file)]
        if new or problems.keys() - self._reported:
            self._load(new, [issue for text, issue in problems.items() if text not in self._reported])
        if not self._failed:
            self._reported = set(problems)

    def _load(self, files: list[NewFile], problems: list[Issue]) -> None:
        from zscope.pipelines.freed_memory import return_memory_now
        from zscope.pipelines.ingest import ingest

        outcomes: list[FileOutcome] = []

        def on_outcome(outcome: FileOutcome) -> None:
            outcomes.append(outcome)
            if not self.quiet:
                print_message(describe_outcome(outcome))

        options = replace(self.options, passed_over=tuple(problems), on_outcome=on_outcome, stops=self._stops)
        try:
            with store_errors():
                report = ingest(self.store, [file.path for file in files], options)
            self._failed = ""
        except click.ClickException as error:
            if (text := error.format_message()) != self._failed:
                print_message(
                    f"{text}; watch tries again, and at least every {LONGEST_PAUSE_S / 60:g} minutes"
                )
            self._failed = text
        else:
            self._report(report)
        self._note(with_outcomes(files, outcomes))
        return_memory_now()

    def _report(self, report: IngestReport) -> None:
        """Print what a load did, and validate and publish it, as the settings say."""
        print_issues(report.issues)
        if not self.quiet:
            print_message(describe_report(report, self.store))
        code = exit_code_for(report.issues.worst)
        try:
            settings = self.options.settings
            code = max(code, code_after_load(report, self.store, settings, quiet=self.quiet))
        except click.ClickException as error:
            print_message(error.format_message())
            code = ExitCode.NOTHING
        self.worst = max(self.worst, code)

    def _stops(self) -> bool:
        return self.stop.is_set

    def _note(self, loaded: tuple[LoadedFile, ...]) -> None:
        """Remember the files that have an outcome, and put away those that are in the store."""
        for each in loaded:
            if not each.outcomes:
                continue
            self._known[each.file.path] = _state_of(each.file)
            if self.move_to and why_it_stays(each) is None:
                try:
                    move_file(each.file, self.move_to / each.file.inside)
                except OSError as error:
                    self.worst = max(self.worst, ExitCode.REFUSED)
                    print_message(f"{each.file.path}: stays in the folder: {describe(error)}")


def _state_of(file: NewFile) -> tuple[int, int]:
    return file.size, file.changed_ns


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
