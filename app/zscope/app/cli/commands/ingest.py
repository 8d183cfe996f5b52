"""Load dumps and reports into the store."""

from __future__ import annotations

import shlex
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from zscope.app.cli.exits import NothingDoneError, print_message
from zscope.app.cli.input_options import (
    ReadingOptions,
    SuppliedOptions,
    code_page_option,
    day_or_time,
    distinct_outputs,
    input_errors,
    paths_argument,
    progress,
    reading_options,
    report_issues,
    supplied_options,
)
from zscope.app.cli.load_options import LoadOptions, code_after_load, load_options
from zscope.app.cli.loading import describe_outcome, describe_report, return_memory_soon
from zscope.app.cli.output import Output, Rows, row_options
from zscope.app.cli.output.output_options import OutputFormat
from zscope.app.cli.store_option import settings_option, store_errors, store_option

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import date
    from pathlib import Path

    from zscope.parsers.issues import Issues
    from zscope.pipelines.ingest.load import LoadEngine
    from zscope.pipelines.ingest.options_and_outcomes import FileOutcome
    from zscope.pipelines.settings import Settings

NESTED = (OutputFormat.JSON, OutputFormat.JSONL, OutputFormat.PARQUET, OutputFormat.ARROW)


@click.command()
@paths_argument
@store_option
@load_options
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
    "--taken", metavar="DAY", type=day_or_time,
    help="Date of displays that show only the time of day, or date and time of displays that show neither.",
)  # fmt: skip
@click.option(
    "--engine", type=click.Choice(["local", "spark"]), default="local", show_default=True,
    help="Where files are decoded: in this process, or by the workers of a Spark cluster, which see the "
    "files and the store under the same paths (extra zscope[spark], Java 17). The store is the same.",
)  # fmt: skip
@click.option(
    "--master", metavar="URL",
    help="Cluster for --engine spark, such as spark://host:7077, yarn or local[4,4]. Default: as Spark is "
    "configured.",
)  # fmt: skip
@click.option(
    "--spark-conf", "spark_conf", metavar="NAME=VALUE", multiple=True,
    help="Property of Spark, such as spark.executor.memory=4g. Can be repeated.",
)  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Decode and report, but do not change the store.")
@supplied_options
@settings_option
@row_options
@code_page_option
@reading_options
def command(  # noqa: PLR0913 - one argument for each option
    paths: tuple[str, ...],
    *,
    store: Path,
    loading: LoadOptions,
    begin: date | None,
    end: date | None,
    taken: date | None,
    engine: str,
    master: str | None,
    spark_conf: tuple[str, ...],
    dry_run: bool,
    settings: Settings,
    supplied: SuppliedOptions,
    code_page: str,
    reading: ReadingOptions,
    output: Output,
) -> int:
    """Load dumps and reports into the store.

    PATH is a file, a folder (searched recursively) or - for standard input. Each file is loaded completely
    or not at all; small files are committed together. A file that was loaded before is skipped, even if it
    is packed or has another name; records that are already in the store are not stored again. A refused
    file leaves a report in the folder `quarantine` of the store. Prints one row for each file.

    \b
    Examples:
      zscope ingest SMF.DUMP /captures
      zscope ingest SMF.DUMP --select '119(2,11:12),70' --timezone SYSA=Europe/Berlin
      zscope ingest /nightly --format json -o report.json --validate
      zscope ingest /nightly --engine spark --master spark://driver:7077 --store /shared/store
    """
    from zscope.parsers.options import ReadOptions
    from zscope.pipelines.ingest import IngestOptions, ingest, row_selection
    from zscope.pipelines.ingest.options_and_outcomes import ESSENTIAL_COLUMNS, FileStatus, report_rows

    return_memory_soon()
    distinct_outputs(output.path, reading.issues.path if reading.issues else None, "--issues")
    settings = loading.merged(settings)
    loaded: list[str] = []
    # On a terminal the bar shows the progress, and the table below it has a row for each file.
    quiet = reading.quiet or output.on_screen

    def report_outcome(outcome: FileOutcome) -> None:
        if outcome.status is FileStatus.LOADED:
            loaded.append(outcome.file)
        if not quiet:
            print_message(describe_outcome(outcome))

    with input_errors(), store_errors(), progress(quiet=reading.quiet) as shown:
        read_options = ReadOptions(
            code_page=code_page, framing=reading.framing, jobs=loading.jobs, strict=loading.strict,
            progress=shown, system=loading.only_system, taken=taken,
            unpack_limits=reading.unpack_limits or settings.unpack_limits,
        )  # fmt: skip
        options = IngestOptions(
            selection=row_selection(loading.select, loading.systems, begin, end),
            read_options=supplied.added_to(read_options),
            settings=settings,
            dry_run=dry_run,
            notify=print_message,
            on_outcome=report_outcome,
        )
        try:
            with _engine(engine, master, spark_conf, loading.jobs) as chosen:
                report = ingest(store, paths, options, chosen)
        except KeyboardInterrupt as error:
            raise NothingDoneError(_interrupted(loaded, dry_run=dry_run)) from error
    output.write(Rows.of(report_rows(report, nested=output.format in NESTED), ESSENTIAL_COLUMNS))
    if not reading.quiet:
        print_message(describe_report(report, store))
    for file in _runs_files(report.issues):
        words = ("zscope", "runs", "import", file, "--store", str(store))
        print_message(f"note: {file} is not imported: {shlex.join(words)} imports its benchmark runs")
    any_input = any(outcome.issues == () or outcome.load for outcome in report.outcomes)
    code = report_issues(report.issues, reading, any_input=any_input)
    return max(code, code_after_load(report, store, settings, quiet=reading.quiet))


def _runs_files(issues: Issues) -> Iterator[str]:
    """Yield the files with benchmark runs among the inputs, which a load does not read."""
    from pathlib import Path

    from zscope.parsers.issues import Code

    for issue in issues:
        # A member of an archive is no file that can be imported.
        if issue.code is Code.BENCHMARK_RUNS and Path(issue.file).is_file():
            yield issue.file


@contextmanager
def _engine(
    name: str, master: str | None, conf: tuple[str, ...], jobs: int | None
) -> Iterator[LoadEngine | None]:
    """Return what decodes the files; Spark is stopped at the end."""
    if name != "spark":
        if master or conf:
            raise click.UsageError("--master and --spark-conf need --engine spark")
        yield None
        return
    from zscope.pipelines.ingest.parallel_load import BulkEngine, EngineError
    from zscope.pipelines.ingest.spark_scheduler import SparkScheduler

    settings = {}
    for text in conf:
        key, assigned, value = text.partition("=")
        if not assigned or not key.startswith("spark."):
            raise click.UsageError(f"--spark-conf {text!r}: write spark.NAME=VALUE")
        settings[key] = value
    scheduler = SparkScheduler(master, settings)
    try:
        yield BulkEngine(scheduler, jobs=jobs or 1)
    except EngineError as error:
        raise NothingDoneError(str(error)) from error
    finally:
        scheduler.close()


def _interrupted(loaded: Sequence[str], *, dry_run: bool) -> str:
    """Describe what an interrupted ingest has stored."""
    if dry_run or not loaded:
        return "interrupted; no file was loaded, the store is unchanged"
    files = "1 file was" if len(loaded) == 1 else f"{len(loaded):,} files were"
    return (
        f"interrupted; {files} loaded and committed, the last is {loaded[-1]}; "
        "the same command loads the others and skips these"
    )
