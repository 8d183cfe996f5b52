"""Load dumps and reports into the store."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import click

from zscope.app.cli.exits import ExitCode
from zscope.app.cli.output import Output, Rows, row_options
from zscope.app.cli.output.options import OutputFormat
from zscope.app.cli.reading import (
    ReadingOptions,
    SuppliedOptions,
    code_page_option,
    day_or_time,
    distinct_outputs,
    input_errors,
    progress,
    reading_options,
    report_issues,
    supplied_options,
)
from zscope.app.cli.store_option import settings_option, store_errors, store_option
from zscope.app.cli.validating import validate_loads

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import date
    from pathlib import Path

    from zscope.pipelines.ingest.interface import FileOutcome, IngestReport
    from zscope.pipelines.settings import Settings

NESTED = (OutputFormat.JSON, OutputFormat.JSONL, OutputFormat.PARQUET, OutputFormat.ARROW)


@click.command()
@click.argument("paths", metavar="PATH...", nargs=-1, required=True)
@store_option
@click.option(
    "--select", metavar="TYPES",
    help="Only these record types and subtypes, or tables, such as '119(2,11:12),70' or 'rmf_cpu'.",
)  # fmt: skip
@click.option(
    "--system", "systems", metavar="NAME", multiple=True,
    help="Only rows of this system. Can be repeated. If given once, it is also the system of records and "
    "displays that do not contain one.",
)  # fmt: skip
@click.option(
    "--from", "begin", metavar="DAY", type=day_or_time,
    help="Only rows of this day or local time or later (2026-03-02, 2026-03-02T09:00).",
)  # fmt: skip
@click.option(
    "--to",
    "end",
    metavar="DAY",
    type=day_or_time,
    help="Only rows of this day or earlier, or before this local time.",
)
@click.option(
    "--timezone", "timezones", metavar="[SYSTEM=]ZONE", multiple=True,
    help="Time zone of a system (SYSA=Europe/Berlin, SYSB=+01:00), or of all systems not named. Can be "
    "repeated.",
)  # fmt: skip
@click.option(
    "--taken", metavar="DAY", type=day_or_time,
    help="Date of displays that show only the time of day, or date and time of displays that show neither.",
)  # fmt: skip
@click.option("--jobs", "-j", metavar="N", type=click.IntRange(min=1), help="Threads. Default: one per CPU.")
@click.option("--strict", is_flag=True, help="Refuse a file at its first issue.")
@click.option("--dry-run", is_flag=True, help="Decode and report, but do not change the store.")
@click.option(
    "--validate/--no-validate", default=None,
    help="Validate the new loads after they are committed. Default: no, or the setting in zscope.toml.",
)  # fmt: skip
@click.option(
    "--wait", "wait_s", metavar="SECONDS", type=click.IntRange(min=0),
    help="How long to wait while another process changes the store. Default: 600, or the setting in "
    "zscope.toml.",
)  # fmt: skip
@supplied_options
@settings_option
@row_options
@code_page_option
@reading_options
def command(  # noqa: PLR0913 - one argument for each option
    paths: tuple[str, ...],
    *,
    store: Path,
    select: str | None,
    systems: tuple[str, ...],
    begin: date | None,
    end: date | None,
    timezones: tuple[str, ...],
    taken: date | None,
    jobs: int | None,
    strict: bool,
    dry_run: bool,
    validate: bool | None,
    wait_s: int | None,
    settings: Settings,
    supplied: SuppliedOptions,
    code_page: str,
    reading: ReadingOptions,
    output: Output,
) -> int:
    """Load dumps and reports into the store.

    PATH is a file, a folder (searched recursively) or - for standard input. Each file is one commit: it is
    loaded completely or not at all. A file that was loaded before is skipped, even if it is packed or has
    another name; records that are already in the store are not stored again. A refused file leaves a
    report in the folder `quarantine` of the store. Prints one row for each file.

    \b
    Examples:
      zscope ingest SMF.DUMP /captures
      zscope ingest SMF.DUMP --select '119(2,11:12),70' --timezone SYSA=Europe/Berlin
      zscope ingest /nightly --format json -o report.json --validate
    """
    from zscope.parsers.options import ReadOptions
    from zscope.pipelines.ingest import IngestOptions, ingest, row_selection
    from zscope.pipelines.ingest.interface import ESSENTIAL_COLUMNS, FileStatus, report_rows
    from zscope.pipelines.settings import SettingsError

    _use_jemalloc()
    distinct_outputs(output.path, reading.issues.path if reading.issues else None, "--issues")
    try:
        settings = settings.merge(timezones, validate=validate, lock_wait_s=wait_s)
    except SettingsError as error:
        raise click.UsageError(str(error)) from error
    with input_errors(), store_errors(), progress(quiet=reading.quiet) as shown:
        read_options = ReadOptions(
            code_page=code_page, framing=reading.framing, jobs=jobs, strict=strict, progress=shown,
            system=systems[0].upper() if len(systems) == 1 else None, taken=taken,
        )  # fmt: skip
        options = IngestOptions(
            selection=row_selection(select, systems, begin, end),
            read_options=supplied.added_to(read_options),
            settings=settings,
            dry_run=dry_run,
            notify=_print,
            on_outcome=_outcome_printer(reading),
        )
        report = ingest(store, paths, options)
    output.write(Rows.of(report_rows(report, nested=output.format in NESTED), ESSENTIAL_COLUMNS))
    if not reading.quiet:
        _print_summary(report, store)
    any_input = any(outcome.issues == () or outcome.load for outcome in report.outcomes)
    code = report_issues(report.issues, reading, any_input=any_input)
    if report.count(FileStatus.REFUSED):
        code = max(code, ExitCode.REFUSED)
    if settings.validate and report.committed and report.loads:
        return max(code, validate_loads(store, [load.load_id for load in report.loads], settings))
    return code


def _use_jemalloc() -> None:
    """Use the allocator of Arrow that returns memory soonest and is not slower; some builds lack it."""
    import pyarrow as pa

    with suppress(NotImplementedError):
        pa.set_memory_pool(pa.jemalloc_memory_pool())


def _print(text: str) -> None:
    click.echo(text, err=True)


def _outcome_printer(reading: ReadingOptions) -> Callable[[FileOutcome], None]:
    """Return a function that prints a line for each input when it is done."""
    from zscope.pipelines.ingest.interface import FileStatus

    def print_outcome(outcome: FileOutcome) -> None:
        load, note = outcome.load, outcome.note
        if outcome.status is FileStatus.LOADED and load:
            note = f"load {load.load_id}, {load.records:,} records, {load.rows:,} rows, {load.seconds:,.1f} s"
            note += f", {load.duplicates:,} duplicates" if load.duplicates else ""
        _print(f"{outcome.file}: {outcome.status.value}{f', {note}' if note else ''}")

    return (lambda _: None) if reading.quiet else print_outcome


def _print_summary(report: IngestReport, store: Path) -> None:
    from zscope.pipelines.ingest.interface import FileStatus

    counts = {status.value: report.count(status) for status in FileStatus}
    done = ", ".join(f"{count:,} {status}" for status, count in sorted(counts.items()) if count)
    rows = sum(load.rows for load in report.loads)
    ending = "" if report.committed else " (dry run: nothing was stored)"
    _print(f"{store}: {done}; {rows:,} rows in {report.seconds:,.1f} s{ending}")
