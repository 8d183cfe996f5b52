"""What all commands that read input files share: options, messages about issues and files, and progress.

Progress is a bar on a terminal, and a line every few seconds elsewhere.
"""

from __future__ import annotations

import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from functools import wraps
from glob import glob, has_magic
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

import click

from zscope.app.cli.exits import ExitCode, NothingDoneError, RefusedError
from zscope.app.cli.output import Output, Rows
from zscope.app.cli.output.output_options import STANDARD_OUTPUT, chosen_format
from zscope.pipelines.quantities import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zscope.parsers.inputs import FileSummary
    from zscope.parsers.issues import Issues, Severity
    from zscope.parsers.options import ProgressState, ReadOptions
    from zscope.parsers.smf.framing import Framing

    Report = Callable[[ProgressState], None]


ISSUES_SHOWN = 20
"""Number of issues that are printed one by one."""
FILES_SHOWN = 20
"""Number of files up to which each has a line."""

# Repeated here because importing the parsers would make every --help load Arrow; a test compares them.
CodePageName = Literal["1047", "037"]
FramingName = Literal["rdw", "bdw", "rdw-exclusive"]
CODE_PAGES: tuple[CodePageName, ...] = get_args(CodePageName)
FRAMINGS: tuple[FramingName, ...] = get_args(FramingName)

_FILE_KINDS = {"smf": "SMF dump", "text": "text", "xml": "XML", "json": "JSON"}

Command = Callable[..., int | None]


@dataclass(frozen=True, slots=True)
class ReadingOptions:
    """How input files are read and where issues are written."""

    framing: Framing | None
    quiet: bool
    issues: Output | None
    unpack_limits: str = ""


@dataclass(frozen=True, slots=True)
class SuppliedOptions:
    """How supplied CSV and JSON files and the files of the MQ formatter are read."""

    run: str | None
    mapping: tuple[tuple[str, str], ...]
    time_format: str | None
    formatter_zone: str | None

    def added_to(self, options: ReadOptions) -> ReadOptions:
        """Return a copy of `options` with these options set."""
        return replace(
            options,
            run=self.run,
            mapping=self.mapping,
            time_format=self.time_format,
            formatter_zone=self.formatter_zone,
        )


def paths_argument(command: Command) -> Command:
    """Add the argument `paths`; patterns that the shell has left, as in quotation marks, are expanded."""
    argument = click.argument("paths", metavar="PATH...", nargs=-1, required=True, callback=_expanded)
    return argument(command)


def _expanded(_context: click.Context, _argument: click.Parameter, paths: tuple[str, ...]) -> tuple[str, ...]:
    files: list[str] = []
    for path in paths:
        # A name with brackets can be that of a file. Not Path.glob: it takes no absolute patterns.
        pattern = has_magic(path) and not os.path.lexists(path)
        files += (pattern and sorted(glob(path, recursive=True))) or [path]  # noqa: PTH207
    return tuple(files)


def day_or_time(text: str) -> date:
    """Parse a day, or a day with a time of day, in local time.

    >>> day_or_time("2026-03-02"), day_or_time("2026-03-02T09:41")
    (datetime.date(2026, 3, 2), datetime.datetime(2026, 3, 2, 9, 41))
    """
    from zscope.pipelines.written_days import parse_day

    try:
        if len(text) <= len("2026-03-02"):
            return parse_day(text)
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise click.BadParameter(
            f"{text!r} is not a day or time such as 2026-03-02, 2026.061 or 2026-03-02T09:41"
        ) from error
    if moment.tzinfo:
        raise click.BadParameter("omit the time zone: this is the local time of the system")
    return moment


def display_options(command: Command) -> Command:
    """Add the options that supply what captured displays do not show: `system` and `taken`."""
    system = click.option(
        "--system", metavar="NAME", help="System name for records and displays that do not contain one."
    )
    taken = click.option(
        "--taken", metavar="DAY", type=day_or_time,
        help="Date (2026-03-02) for displays that show only the time of day, or date and time "
        "(2026-03-02T09:41) for displays that show neither. Default: from the file name.",
    )  # fmt: skip
    return system(taken(command))


code_page_option = click.option(
    "--code-page", type=click.Choice(CODE_PAGES), default=CODE_PAGES[0], show_default=True,
    help="EBCDIC code page of texts in SMF records.",
)  # fmt: skip


def _checked_limits(_context: click.Context, _option: click.Parameter, text: str) -> str:
    if text:
        from zscope.parsers.containers.budget import LimitsError, UnpackLimits

        try:
            UnpackLimits.parse(text)
        except LimitsError as error:
            raise click.BadParameter(str(error)) from error
    return text


framing_option = click.option(
    "--framing", type=click.Choice(FRAMINGS),
    help="How the records of a dump are separated: record lengths (rdw), block and record lengths (bdw), "
    "or record lengths that do not count themselves (rdw-exclusive). Default: detected.",
)  # fmt: skip
unpack_limits_option = click.option(
    "--unpack-limits", metavar="LIMIT=N,...", default="", callback=_checked_limits,
    help="Raise limits for packed files, for a file that you trust: bytes, members, nesting, ratio, "
    "seconds, such as ratio=1000,bytes=2TB. Default: bytes=1TB,members=10000,nesting=8,ratio=250,"
    "seconds=14400.",
)  # fmt: skip


def framing_of(name: str | None) -> Framing | None:
    """Return the framing with a name; None if it is to be detected."""
    from zscope.parsers.smf.framing import Framing

    return Framing(name) if name else None


def reading_options(command: Command) -> Command:
    """Add the options of reading; the command receives the argument `reading`."""

    @framing_option
    @unpack_limits_option
    @click.option(
        "--issues", "issues_path", metavar="FILE",
        help="Write all issues to FILE; its ending is the format (csv, json, jsonl, parquet, arrow, txt).",
    )  # fmt: skip
    @click.option("-q", "--quiet", is_flag=True, help="Print issues only, no progress and no summaries.")
    @wraps(command)
    def with_reading(
        framing: str | None,
        issues_path: str | None,
        unpack_limits: str,
        *,
        quiet: bool,
        **options: object,
    ) -> int | None:
        issues = Output(chosen_format(None, issues_path), issues_path) if issues_path else None
        return command(reading=ReadingOptions(framing_of(framing), quiet, issues, unpack_limits), **options)

    return with_reading


def supplied_options(command: Command) -> Command:
    """Add the options of supplied figures; the command receives the argument `supplied`."""

    @click.option(
        "--run", metavar="NAME",
        help="Benchmark run (see zscope runs) of supplied figures and reports that have no column `run`.",
    )  # fmt: skip
    @click.option(
        "--map", "mapping", metavar="COLUMN=NAME", multiple=True,
        help="Name of a column in a supplied CSV or JSON file: ecbs_in_use='ECBs in use', or in JSON a path "
        "such as ecbs_in_use=data.ecb.inUse. Can be repeated.",
    )  # fmt: skip
    @click.option(
        "--time-format", metavar="FORMAT",
        help="Format of the times in a supplied time series: seconds, milliseconds, or a format such as "
        "'%m/%d/%Y %H:%M:%S'. Default: ISO 8601 or a number, detected.",
    )  # fmt: skip
    @click.option(
        "--formatter-zone", metavar="ZONE",
        help="Time zone in which the MQ SMF formatter wrote the times of the channel initiator: that of the "
        "workstation it ran on, or UTC. Default: unknown; these times are null.",
    )  # fmt: skip
    @wraps(command)
    def with_supplied(
        run: str | None,
        mapping: tuple[str, ...],
        time_format: str | None,
        formatter_zone: str | None,
        **options: object,
    ) -> int | None:
        supplied = SuppliedOptions(run, _mapping(mapping), time_format or None, formatter_zone or None)
        _check_supplied(supplied)
        return command(supplied=supplied, **options)

    return with_supplied


def _mapping(texts: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    if not texts:
        return ()
    from zscope.parsers.text.csv_and_json.forms import MappingError, mapping_of

    try:
        return mapping_of(texts)
    except MappingError as error:
        raise click.BadParameter(str(error), param_hint="'--map'") from error


def _check_supplied(supplied: SuppliedOptions) -> None:
    """Raise an error for a run name, a time format or a time zone that is not valid."""
    from zscope.parsers.zones import ZoneError, zone_of
    from zscope.pipelines.runs.entry import run_name

    if supplied.run is not None:
        try:
            run_name(supplied.run)
        except ValueError as error:
            raise click.BadParameter(str(error), param_hint="'--run'") from error
    if supplied.time_format:
        from zscope.parsers.text.csv_and_json.times import TimeFormatError, check_time_format

        try:
            check_time_format(supplied.time_format)
        except TimeFormatError as error:
            raise click.BadParameter(str(error), param_hint="'--time-format'") from error
    if supplied.formatter_zone:
        try:
            zone_of(supplied.formatter_zone)
        except ZoneError as error:
            raise click.BadParameter(str(error), param_hint="'--formatter-zone'") from error


@contextmanager
def input_errors() -> Iterator[None]:
    """Turn exceptions of the parsers into messages: a wrong selection, or the first issue with --strict."""
    from zscope.parsers.issues import InputError
    from zscope.parsers.options import SelectionError

    try:
        yield
    except SelectionError as error:
        raise click.UsageError(str(error)) from error
    except InputError as error:
        raise RefusedError(str(error)) from error


def distinct_outputs(output: str, other: str | None, option: str) -> None:
    """Raise an error if two outputs have the same name: the second would replace the first."""
    if other and other == output and other != STANDARD_OUTPUT:
        raise click.UsageError(f"-o and {option} both name {other}; use different names")


def print_files(files: Sequence[FileSummary]) -> None:
    """Print a line for each file that was read; of many files one line with their kinds."""
    if len(files) > FILES_SHOWN:
        kinds = Counter(_FILE_KINDS[file.kind] for file in files)
        outside = sum(file.outside for file in files)
        lines = f"; {counted(outside, 'line')} of texts belong to no report" if outside else ""
        counts = ", ".join(f"{count:,} {kind}" for kind, count in kinds.most_common())
        click.echo(f"{len(files):,} files: {counts}{lines}", err=True)
        return
    for file in files:
        packing = f"packed with {', '.join(file.packing)}, " if file.packing else ""
        click.echo(f"{file.file}: {_FILE_KINDS[file.kind]}, {packing}{_content(file)}", err=True)


def _content(file: FileSummary) -> str:
    if file.skipped:
        return "not read, because the table comes from other inputs"
    if file.kind == "smf":
        records = counted(file.records, "record")
        return f"framing {file.form}, {records} ({file.spanned:,} spanned), {file.bytes:,} bytes"
    coding = f"{file.form}, {counted(file.lines, 'line')}, " if file.kind in {"text", "json"} else ""
    outside = (
        f"; {file.outside:,} of {counted(file.lines, 'line')} belong to no report" if file.outside else ""
    )
    return f"{coding}{counted(file.reports, 'report')}{outside}"


def report_issues(issues: Issues, reading: ReadingOptions, *, any_input: bool) -> ExitCode:
    """Print the issues, write them to the file of --issues, and return the exit code that follows from them.

    `any_input` is false if there was nothing to read.
    """
    from zscope.parsers.issues import Code

    if reading.issues:
        reading.issues.write(Rows.of(issues.to_arrow()))
    print_issues(issues)
    if not any_input and all(issue.code is Code.UNREADABLE for issue in issues):
        raise NothingDoneError("no input could be opened" if len(issues) else "there is nothing to read")
    return exit_code_for(issues.worst)


def exit_code_for(worst: Severity | None) -> ExitCode:
    """Return the exit code that follows from the highest severity of issues."""
    from zscope.parsers.issues import Severity

    match worst:
        case Severity.REFUSED:
            return ExitCode.REFUSED
        case Severity.WARNING:
            return ExitCode.WARNINGS
        case _:
            return ExitCode.OK


def print_issues(issues: Issues) -> None:
    """Print the worst issues, and the number of each code if there are more."""
    worst_first = sorted(issues, key=lambda issue: -issue.severity)
    for issue in worst_first[:ISSUES_SHOWN]:
        click.echo(f"{issue.severity.name.lower()}: {issue}", err=True)
    if len(worst_first) > ISSUES_SHOWN:
        counts: Counter[str] = Counter({code.value: count for code, count in issues.counts().items()})
        codes = ", ".join(f"{count:,} {code}" for code, count in counts.most_common())
        click.echo(
            f"{ISSUES_SHOWN} of {len(issues):,} issues shown: {codes}; use --issues FILE for all of them",
            err=True,
        )


SECONDS_BETWEEN_LINES = 5.0


@contextmanager
def progress(*, quiet: bool = False, rows_on_screen: bool = False) -> Iterator[Report | None]:
    """Yield the function that shows progress; None if quiet, or if rows are shown on the same terminal."""
    if quiet or (rows_on_screen and sys.stderr.isatty()):
        yield None
    elif sys.stderr.isatty():
        with _bar() as report:
            yield report
    else:
        yield ProgressLines()


@dataclass(slots=True)
class ProgressLines:
    """Write a line to standard error if the last one is some seconds old."""

    every: float = SECONDS_BETWEEN_LINES
    clock: Callable[[], float] = time.monotonic
    last: float = field(init=False)
    _file: str = field(default="", init=False)
    _file_started: float = field(default=0.0, init=False)
    """Time of the first report about this file."""

    def __post_init__(self) -> None:
        self.last = self.clock()

    def __call__(self, state: ProgressState) -> None:
        """Write a line if it is time to."""
        now = self.clock()
        if state.file != self._file:
            self._file, self._file_started = state.file, now
        if now - self.last >= self.every:
            self.last = now
            click.echo(progress_text(state, now - self._file_started), err=True)


def progress_text(state: ProgressState, seconds: float = 0.0) -> str:
    """Describe the state; after some seconds also with the rate and the time left."""
    done = f"{state.bytes_done / 1e6:,.1f}"
    if state.bytes_total:
        share = 100 * state.bytes_done / state.bytes_total
        done += f" of {state.bytes_total / 1e6:,.1f} MB ({share:.0f} %)"
    else:
        done += " MB"
    text = f"{state.file}: {done if state.bytes_done else 'reading'}, {state.records:,} records"
    if not seconds or not state.bytes_done:
        return text
    rate = state.bytes_done / seconds
    left = (state.bytes_total - state.bytes_done) / rate if state.bytes_total else None
    return f"{text}, {rate / 1e6:,.0f} MB/s" + (f", {left:,.0f} s left" if left is not None else "")


@contextmanager
def _bar() -> Iterator[Report]:
    # Importing rich takes longer than many commands.
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[records]:,} records"),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None, records=0)
        current = ""

        def report(state: ProgressState) -> None:
            nonlocal current
            if state.file != current:
                current = state.file
                bar.reset(task, total=state.bytes_total, description=Path(current).name, records=0)
            bar.update(task, completed=state.bytes_done, records=state.records)

        yield report
