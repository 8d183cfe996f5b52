"""Load the sample data into a store and print the answers on one screen."""

from __future__ import annotations

import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from zscope.app.cli.commands.summary import paragraphs, said_statements, screen_of
from zscope.app.cli.output import Output, Rows
from zscope.app.cli.output.output_options import OutputFormat
from zscope.app.cli.runs_file import changing_runs
from zscope.app.cli.store_option import open_session, store_errors
from zscope.samples.sample_folder import COUNTERS, DUMP, REPORTS, SYSTEMS, WORLD
from zscope.schemas.catalogue_schemas import EVERY_NAME

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zscope.pipelines.ingest.options_and_outcomes import IngestReport
    from zscope.pipelines.metrics.narrowing import PreparedMetrics
    from zscope.pipelines.store.session import Session

CHECKOUT = Path(__file__).resolve().parents[5]
SAMPLE = Path("sample-data")
DEMO_STORE = "zscope-demo-store"
ZONE = "+01:00"
"""The local time of all systems in the sample data is one hour ahead of UTC."""
_OUTPUT = Output(OutputFormat.TABLE, all_rows=True, paged=False)
_ROWS_ON_SCREEN = 12
"""Compared results that a terminal shows."""
_METRICS = {
    "CPU time of the servers in a week, with all of their work, and the transactions that they counted": (
        "cpu_per_transaction",
        """
        SELECT system, sum(matched_cpu_s) AS cpu_s, sum(matched_transactions)::BIGINT AS transactions,
            1e3 * sum(counted_transactions) / sum(counted_ms) AS transactions_per_s,
            1e6 * sum(matched_cpu_s) / sum(matched_transactions) AS lpar_cpu_us_per_transaction
        FROM cpu_per_transaction
        WHERE counted_by = 'supplied count' AND run IS NULL AND job_name IS NULL
        GROUP BY system ORDER BY system""",
    ),
    "CPU time and latency of a transaction with a TLS handshake, in benchmark runs": (
        "run_result",
        """
        SELECT name AS run, role, max(value) FILTER (measure = 'transaction_rate') AS transactions_per_s,
            max(value) FILTER (measure = 'latency') AS latency_ms,
            max(value) FILTER (measure = 'cpu_per_tran') AS cpu_us_per_transaction
        FROM run_result
        WHERE role <> 'both' AND name IN (
            'tls12-rsa-full', 'tls12-ecdhe-full', 'tls12-ecdhe-resumed', 'tls13-full', 'tls13-ticket'
        )
        GROUP BY name, role ORDER BY name, role""",
    ),
    "Full and resumed TLS handshakes that have records, by system": (
        "handshake_mix",
        """
        SELECT system, sum(handshakes)::BIGINT AS handshakes, sum(full_handshakes)::BIGINT AS full,
            sum(resumed_handshakes)::BIGINT AS resumed, sum(failed_handshakes)::BIGINT AS failed,
            100 * sum(resumed_handshakes)
            / nullif(sum(full_handshakes) + sum(resumed_handshakes), 0) AS resumed_pct
        FROM handshake_mix GROUP BY system ORDER BY system""",
    ),
    "Hit rate of the session caches, from GSKSRVR statistics": (
        "resumption_rate",
        """
        SELECT system, cache, sum(lookups)::BIGINT AS lookups, sum(hits)::BIGINT AS hits,
            100 * sum(hits) / nullif(sum(lookups), 0) AS hit_rate_pct,
            100 * sum(resumed_handshakes)
            / nullif(sum(resumed_handshakes) + sum(full_handshakes), 0) AS resumed_pct
        FROM resumption_rate WHERE source = 'GSKSRVR' AND basis = 'between displays'
        GROUP BY ALL ORDER BY system, cache""",
    ),
    "Most frequent TLS versions and cipher suites": (
        "cipher_distribution",
        """
        SELECT protocol, coalesce(cipher_name, cipher) AS cipher, connections, connections_pct, bytes_pct
        FROM cipher_distribution WHERE source = 'each connection once'
        ORDER BY connections DESC, cipher LIMIT 8""",
    ),
    "CPU time that TLS costs in a day, estimated by regression": (
        "tls_price",
        """
        SELECT system, status, cpu_s_per_day, low_cpu_s_per_day, high_cpu_s_per_day, high_lpar_pct,
            left(why, 60) AS why
        FROM tls_price WHERE shared_by = 'system' AND part = 'TLS' ORDER BY system""",
    ),
    "Security findings, the worst first": (
        "finding",
        """
        SELECT severity, what, count(DISTINCT system) AS systems, sum(connections)::BIGINT AS connections
        FROM finding GROUP BY severity, what
        ORDER BY list_position(['high', 'medium', 'low', 'info'], severity), what LIMIT 8""",
    ),
}
_BENCHMARK = """
    SELECT id, measured, as_printed AS published, verdict FROM benchmark
    WHERE measured IS NOT NULL ORDER BY id"""
_TABLES = f"SELECT count(*) FROM ({EVERY_NAME})"
_NOT_MEASURED = """
    SELECT area, verdict, count(*) AS results FROM benchmark
    WHERE measured IS NULL GROUP BY ALL ORDER BY area, verdict"""
_WHAT_IS_LOADED = """\
{name} contains SMF records, reports and displays of six systems, with a week of production
and two nights of benchmark runs, and measurements of MQ, a z/VM link and floods on z/TPF.
The data is synthetic: all names, addresses and numbers are invented.
"""
_NEXT = """\
Next steps:
  export ZSCOPE_STORE={store}
  zscope dashboard                                   # the same in a browser
  zscope report -o report.html                       # the same as a file to send
  zscope demo --full                                 # tables of metrics, each compared result, sentences
  zscope ingest --store zscope-store YOUR.SMF.DUMP   # your own data"""
_NEXT_STEPS = """
Next steps:
  export ZSCOPE_STORE={store}
  zscope dashboard                                         # the same in a browser
  zscope report -o report.html                             # the same as a file to send
  zscope metrics                                           # all metrics
  zscope metrics handshake_mix --by system,day
  zscope benchmark --measured                              # measured runs and published results
  zscope benchmark --explain tls31-tls13-vs-tls12-cpu
  zscope compare tls12-signature-0804 tls13-signature-0804
  zscope check                                             # recommended settings, weak TLS
  zscope metrics mq_negotiation_cost
  zscope model flood
  zscope sql                                               # a prompt for SQL
  zscope validate
  zscope fields handshake
  zscope ingest --store zscope-store YOUR.SMF.DUMP         # your own data"""


@click.command()
@click.option(
    "--store", metavar="DIR", default=DEMO_STORE, show_default=True, type=click.Path(path_type=Path),
    help="Folder of the store; it is created if it does not exist.",
)  # fmt: skip
@click.option("--full", is_flag=True, help="Print tables of metrics, all compared results, and sentences.")
def command(*, store: Path, full: bool) -> None:
    """Load the sample data into a store and print the answers on one screen.

    Loads the dumps and reports in sample-data, or generates the same files if they are not there. Loads them
    twice, to show that the second load adds nothing. Then prints what the data say (zscope summary). With
    --full, prints the most important metrics, compares each benchmark run with the published results, and
    ends with the sentences of zscope summary --full.

    \b
    Examples:
      zscope demo
      zscope demo --full
    """
    from zscope.pipelines.runs.read import FILE_NAME

    with _sample() as (folder, name):
        if full:
            _print(_WHAT_IS_LOADED.format(name=name))
        else:
            _print("Synthetic sample data: all names, addresses and numbers are invented.")
        # The runs come first: a load computes what is stored for them, and would do so again after it.
        added = {part: _import_runs(store, folder / part) for part in (WORLD, SYSTEMS)}
        for title in ("First load", "Second load of the same files"):
            report = _ingest(store, folder)
            _print(_load_in_words(report, f"{title} into {store}") if full else _load_in_a_line(report))
        if full:
            for part, sides in added.items():
                _print(f"{sides} entries for benchmark runs of {part} added to {store / FILE_NAME}")
    with open_session(store) as session:
        if full:
            _print_everything(session, store)
        else:
            _print(f"{screen_of(session, store)}\n\n{_NEXT.format(store=store)}")


def _print_everything(session: Session, store: Path) -> None:
    """Print the metrics, all compared results and the statements."""
    from zscope.pipelines.metrics.narrowing import PreparedMetrics

    metrics = PreparedMetrics(session)
    for title, (name, query) in _METRICS.items():
        metrics.prepare(name)
        _print(f"\n{title}\nzscope metrics {name}\n")
        _print_rows(session, query)
    _print_benchmark(metrics)
    statements = said_statements(session, every=True)
    _print(f"\nWhat these data say\nzscope summary --full\n\n{paragraphs(statements)}")
    tables = _count(session, _TABLES)
    _print(f"\nThe store {store} has {tables} tables; any DuckDB client can open {store}/zscope.duckdb.")
    _print(_NEXT_STEPS.format(store=store))


def _print_benchmark(metrics: PreparedMetrics) -> None:
    metrics.prepare("benchmark")
    session = metrics.session
    results = _count(session, "SELECT count(*) FROM benchmark")
    _print(
        f"\nBenchmark runs compared with the {results} published results. The runs are SYNTHETIC:\n"
        "agreement proves the arithmetic, not the published figure.\nzscope benchmark --measured\n"
    )
    if _OUTPUT.on_screen:
        measured = _count(session, f"SELECT count(*) FROM ({_BENCHMARK})")
        _print_rows(session, f"{_BENCHMARK} LIMIT {_ROWS_ON_SCREEN}")
        _print(f"... {measured - _ROWS_ON_SCREEN} more; zscope benchmark --measured shows all")
    else:
        _print_rows(session, _BENCHMARK)
    _print("\nResults without a measured value; zscope benchmark explains what each of them needs:\n")
    _print_rows(session, _NOT_MEASURED)


def _import_runs(store: Path, part: Path) -> int:
    """Import the runs of a part of the sample data, and return how many the store did not have."""
    from zscope.pipelines.runs.edit import import_runs
    from zscope.pipelines.runs.read import FILE_NAME, read_file
    from zscope.pipelines.settings import Settings
    from zscope.pipelines.store.folder import make_store

    with store_errors():
        make_store(store)
    with changing_runs(store) as folder:
        return import_runs(folder, Settings(), _print, read_file(part / FILE_NAME))


@contextmanager
def _sample() -> Iterator[tuple[Path, str]]:
    """Yield the folder with the sample data and its name; outside a checkout, generate the data."""
    from zscope.samples.sample_folder import write_sample_folder

    if (CHECKOUT / SAMPLE / DUMP).is_file():
        yield CHECKOUT / SAMPLE, str(SAMPLE)
        return
    with tempfile.TemporaryDirectory(prefix="zscope-") as temporary:
        folder = Path(temporary, SAMPLE)
        folder.mkdir()
        write_sample_folder(folder, lambda _: None)
        click.echo(f"to keep these files: zscope generate sample {SAMPLE}", err=True)
        yield folder, str(SAMPLE)


def _ingest(store: Path, folder: Path) -> IngestReport:
    from zscope.pipelines.ingest import IngestOptions, ingest, row_selection
    from zscope.pipelines.settings import Settings

    with store_errors():
        # Not the whole folder: in a checkout it also contains the generator.
        parts = [folder / name for name in (DUMP, COUNTERS, REPORTS, WORLD, SYSTEMS)]
        return ingest(
            store, parts, IngestOptions(selection=row_selection(None), settings=Settings().merge([ZONE]))
        )


def _load_in_words(report: IngestReport, title: str) -> str:
    """A load with all its counts."""
    records, rows = _records_and_rows(report)
    return (
        f"{title}: {len(report.loads)} files loaded, {records:,} records and reports, {rows:,} "
        f"rows, {report.seconds:.1f} s; {_repeated(report)} files skipped, already loaded"
    )


def _load_in_a_line(report: IngestReport) -> str:
    """A load in a short line."""
    records, rows = _records_and_rows(report)
    loaded = f"Loaded {len(report.loads)} files: {records:,} records and reports, {rows:,} rows"
    skipped = f"skipped {_repeated(report)} files that were loaded before"
    return f"{loaded if report.loads else skipped.capitalize()} ({report.seconds:.1f} s)"


def _records_and_rows(report: IngestReport) -> tuple[int, int]:
    return sum(load.records for load in report.loads), sum(load.rows for load in report.loads)


def _repeated(report: IngestReport) -> int:
    from zscope.pipelines.ingest.options_and_outcomes import FileStatus

    return report.count(FileStatus.REPEATED)


def _print_rows(session: Session, query: str) -> None:
    result = session.run(query)
    assert result is not None, "a query returns rows"
    sys.stdout.flush()
    _OUTPUT.write(Rows(result.schema, result.batches))


def _count(session: Session, query: str) -> int:
    result = session.run(query)
    assert result is not None, "a query returns rows"
    return int(next(result.batches)[0][0].as_py())


def _print(text: str) -> None:
    click.echo(text)
