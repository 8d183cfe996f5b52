"""Load dumps and reports into the store."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import click

from zscope.app.exits import ExitCode
from zscope.app.output import Output, Rows, row_options
from zscope.app.output.options import Format
from zscope.app.progress import progress
from zscope.app.reading import (
    Reading,
    code_page_option,
    conclude,
    day_or_time,
    distinct_outputs,
    input_errors,
    reading_options,
)
from zscope.app.settings_option import settings_option
from zscope.app.store_option import store_errors, store_option
from zscope.app.supplied_options import Supplied, supplied_options
from zscope.app.validating import check_loads

if TYPE_CHECKING:
    from zscope.pipelines.ingest.outcome import Outcome, Report
    from zscope.pipelines.settings import Settings

NESTED = (Format.JSON, Format.JSONL, Format.PARQUET, Format.ARROW)


@click.command()
@click.argument("paths", metavar="PATH...", nargs=-1, required=True)
@store_option
@click.option(
    "--select", metavar="TYPES",
    help="Only these record types and subtypes or tables, such as '119(2,11:12),70' or 'rmf_cpu'.",
)  # fmt: skip
@click.option(
    "--system", "systems", metavar="NAME", multiple=True,
    help="Only rows of this system; may be repeated. Named once, it is also the system of records and "
    "displays that do not tell theirs.",
)  # fmt: skip
@click.option(
    "--from", "begin", metavar="DAY", type=day_or_time,
    help="Only rows from this day or local time on (2026-03-02, 2026-03-02T09:00).",
)  # fmt: skip
@click.option(
    "--to",
    "end",
    metavar="DAY",
    type=day_or_time,
    help="Only rows up to and with this day, or before this local time.",
)
@click.option(
    "--timezone", "timezones", metavar="[SYSTEM=]ZONE", multiple=True,
    help="Zone of a system's clock (SYSA=Europe/Berlin, SYSB=+01:00), or of all that are not named.",
)  # fmt: skip
@click.option(
    "--taken", metavar="DAY", type=day_or_time,
    help="Day of displays that show only the time of day, or day and time of those that show neither.",
)  # fmt: skip
@click.option("--jobs", "-j", metavar="N", type=click.IntRange(min=1), help="Threads. Default: one per CPU.")
@click.option("--strict", is_flag=True, help="Refuse a file at the first thing that cannot be decoded.")
@click.option("--dry-run", is_flag=True, help="Do everything but keep it, and report.")
@click.option(
    "--validate/--no-validate", default=None,
    help="Check the data quality of what was loaded, after it is there. Default: no, or as zscope.toml says.",
)  # fmt: skip
@click.option(
    "--wait", "wait_s", metavar="SECONDS", type=click.IntRange(min=0),
    help="How long to wait while another process changes the store. Default: 600, or as zscope.toml says.",
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
    supplied: Supplied,
    code_page: str,
    reading: Reading,
    output: Output,
) -> int:
    """Load dumps and reports into the store.

    PATH is a file, a folder with everything below it, or - for standard input. Each file is committed by
    itself: whatever happens, it is in the store as a whole or not at all. A file that was loaded before, also
    packed or under another name, is skipped; records that are in the store already are not stored again. What
    is refused leaves a report in the store's folder `quarantine`. Prints one row per file.

    \b
    Examples:
      zscope ingest SMF.DUMP /captures
      zscope ingest SMF.DUMP --select '119(2,11:12),70' --timezone SYSA=Europe/Berlin
      zscope ingest /nightly --format json -o report.json --validate
    """
    from zscope.parsers.api import day_and_clock
    from zscope.parsers.inputs import Options
    from zscope.pipelines.ingest import How, choose, ingest
    from zscope.pipelines.ingest.outcome import Status
    from zscope.pipelines.ingest.report import ESSENTIAL, report_rows
    from zscope.pipelines.settings import SettingsError

    _frugal_memory()
    distinct_outputs(output.path, reading.issues.path if reading.issues else None, "--issues")
    try:
        settings = settings.merge(timezones, validate=validate, lock_wait_s=wait_s)
    except SettingsError as error:
        raise click.UsageError(str(error)) from error
    with input_errors(), store_errors(), progress(quiet=reading.quiet) as shown:
        choice = choose(select, systems, begin, end)
        assumed = systems[0].upper() if len(systems) == 1 else None
        options = Options(code_page, reading.framing, jobs, shown, assumed, *day_and_clock(taken))
        how = How(
            choice,
            supplied.added_to(options),
            settings,
            strict=strict,
            dry=dry_run,
            tell=_tell,
            told=_told(reading),
        )
        report = ingest(store, paths, how)
    output.write(Rows.of(report_rows(report, nested=output.format in NESTED), ESSENTIAL))
    if not reading.quiet:
        _say_what_was_done(report, store)
    code = conclude(report.issues, reading, anything=any(o.issues == () or o.load for o in report.outcomes))
    if report.count(Status.REFUSED):
        code = max(code, ExitCode.REFUSED)
    if settings.validate and report.committed and report.loads:
        return max(code, check_loads(store, [load.load_id for load in report.loads], settings))
    return code


def _frugal_memory() -> None:
    """Of Arrow's allocators this one gives memory back soonest, and is no slower; not every build has it."""
    import pyarrow as pa

    with suppress(NotImplementedError):
        pa.set_memory_pool(pa.jemalloc_memory_pool())


def _tell(text: str) -> None:
    click.echo(text, err=True)


def _told(reading: Reading) -> Callable[[Outcome], None]:
    """A line for each input as it is done: the rows come when all are."""
    from zscope.pipelines.ingest.outcome import Status

    def told(outcome: Outcome) -> None:
        load, note = outcome.load, outcome.note
        if outcome.status is Status.LOADED and load:
            note = f"load {load.load_id}, {load.records:,} records, {load.rows:,} rows, {load.seconds:,.1f} s"
            note += f", {load.duplicates:,} were there already" if load.duplicates else ""
        _tell(f"{outcome.file}: {outcome.status.value}{f', {note}' if note else ''}")

    return (lambda _: None) if reading.quiet else told


def _say_what_was_done(report: Report, store: Path) -> None:
    from zscope.pipelines.ingest.outcome import Status

    counts = {status.value: report.count(status) for status in Status}
    done = ", ".join(f"{count:,} {status}" for status, count in sorted(counts.items()) if count)
    rows = sum(load.rows for load in report.loads)
    ending = "" if report.committed else " (dry run: nothing was kept)"
    _tell(f"{store}: {done}; {rows:,} rows in {report.seconds:,.1f} s{ending}")
