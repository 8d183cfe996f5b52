"""Load the sample data into a store and show what comes out."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from zscope.app.output import Rows
from zscope.app.runs_file import changing_runs
from zscope.app.store_option import asking, prepare, store_errors

if TYPE_CHECKING:
    from zscope.pipelines.ingest.outcome import Report
    from zscope.pipelines.store.session import Session

CHECKOUT = Path(__file__).resolve().parents[4]
SAMPLE = Path("sample-data")
DUMP = "smf-sample.bin"
REPORTS = "reports"
DEMO_STORE = "zscope-demo-store"
WORLD, SYSTEMS = "world", "systems"
ZONE = "+01:00"
"""The clocks of all systems of the sample are an hour ahead."""
_SHOWN = {
    "What a transaction cost in CPU: each system, without the benchmark nights": (
        "cpu_per_transaction",
        """
        SELECT system, sum(matched_cpu_s) AS cpu_s, sum(matched_transactions) AS connections_ended,
            1e6 * sum(matched_cpu_s) / nullif(sum(matched_transactions), 0) AS cpu_us_per_connection
        FROM cpu_per_transaction
        WHERE counted_by = 'connections ended' AND interval_start_utc < TIMESTAMPTZ '2026-03-10 00:00:00+00'
        GROUP BY system ORDER BY system""",
    ),
    "Which share of the handshakes was full": (
        "handshake_mix",
        """
        SELECT system, sum(handshakes)::BIGINT AS handshakes, sum(full_handshakes)::BIGINT AS full,
            sum(abbreviated_handshakes)::BIGINT AS resumed, sum(failed_handshakes)::BIGINT AS failed,
            100 * sum(abbreviated_handshakes)
            / nullif(sum(full_handshakes) + sum(abbreviated_handshakes), 0) AS resumed_pct
        FROM handshake_mix GROUP BY system ORDER BY system""",
    ),
    "How well the session caches worked, by what GSKSRVR counted": (
        "resumption_rate",
        """
        SELECT system, cache, sum(lookups)::BIGINT AS lookups, sum(hits)::BIGINT AS hits,
            100 * sum(hits) / nullif(sum(lookups), 0) AS hit_rate_pct,
            100 * sum(resumed_handshakes)
            / nullif(sum(resumed_handshakes) + sum(full_handshakes), 0) AS resumed_pct
        FROM resumption_rate WHERE source = 'GSKSRVR' GROUP BY ALL ORDER BY system, cache""",
    ),
    "Versions and ciphers, each connection once": (
        "cipher_distribution",
        """
        SELECT protocol, coalesce(cipher_name, cipher) AS cipher, connections, connections_pct, bytes_pct
        FROM cipher_distribution WHERE source = 'each connection once'
        ORDER BY connections DESC, cipher LIMIT 8""",
    ),
    "What handshakes cost the systems, fitted, in microseconds of CPU": (
        "handshake_cost",
        """
        SELECT system, status, full_us, full_low_us, full_high_us, resumed_us, resumed_low_us,
            resumed_high_us, r2_pct, left(why, 60) AS why
        FROM handshake_cost ORDER BY system""",
    ),
    "What to look at": (
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
_TABLES = """
    SELECT count(*) FROM information_schema.tables
    WHERE table_schema = 'main' AND table_catalog <> 'temp'"""
_NOT_MEASURED = """
    SELECT area, verdict, count(*) AS results FROM benchmark
    WHERE measured IS NULL GROUP BY ALL ORDER BY area, verdict"""


@click.command()
@click.option(
    "--store", metavar="DIR", default=DEMO_STORE, show_default=True, type=click.Path(path_type=Path),
    help="The folder for the store of the demonstration; made if it is not there.",
)  # fmt: skip
def command(*, store: Path) -> None:
    """Load the sample data into a store and show what comes out.

    Takes the dumps and the reports in sample-data, or where there are none makes the same ones, loads them
    twice to show that nothing is added the second time, and prints the headline metrics and what the
    benchmark runs among the data say to the published results.

    \b
    Example:
      zscope demo
    """
    with _sample() as (folder, name):
        _say(
            f"{name}: SMF records, reports and displays of six systems, as they come from a mainframe, two\n"
            "nights of benchmark runs among them, and measurements of MQ, a z/VM link and z/TPF floods.\n"
            "The data are synthetic: every name, address and number in them is made up.\n"
        )
        _tell(_ingest(store, folder), "Loading them into", store)
        _tell(_ingest(store, folder), "Once more into", store)
        for part in (WORLD, SYSTEMS):
            _name_runs(store, folder / part)
    with asking(store) as session:
        for title, (name, statement) in _SHOWN.items():
            prepare(session, name)
            _say(f"\n{title} ({name}):\n")
            _show(session, statement)
        _show_benchmark(session)
        tables = _count(session, _TABLES)
    _say(
        f"\nThe store {store} has {tables} tables; any DuckDB client can open {store}/zscope.duckdb.\n"
        "Try next:\n"
        f"  export ZSCOPE_STORE={store}\n"
        "  zscope dashboard\n"
        "  zscope metrics\n"
        "  zscope metrics handshake_mix --by system,day\n"
        "  zscope benchmark --measured\n"
        "  zscope benchmark --explain tls31-tls13-vs-tls12-cpu\n"
        "  zscope check\n"
        "  zscope compare tls12-signature-0804 tls13-signature-0804\n"
        "  zscope metrics mq_negotiation_cost\n"
        "  zscope model flood\n"
        "  zscope sql\n"
        "  zscope validate\n"
        "  zscope fields handshake\n"
        "  zscope ingest --store zscope-store YOUR.SMF.DUMP"
    )


def _show_benchmark(session: Session) -> None:
    prepare(session, "benchmark")
    results = _count(session, "SELECT count(*) FROM benchmark")
    _say(
        f"\nThe {results} published results, and what the runs say to them (benchmark). The\n"
        "runs are SYNTHETIC: agreement proves the arithmetic, not the figure.\n"
    )
    _show(session, _BENCHMARK)
    _say("\nThe others; zscope benchmark says of each what it needs or why it cannot be compared:\n")
    _show(session, _NOT_MEASURED)


def _name_runs(store: Path, part: Path) -> None:
    """Take over the runs of a part of the sample; those of the last time are there already."""
    from zscope.pipelines.runs.change import import_runs
    from zscope.pipelines.runs.read import FILE_NAME, read_file
    from zscope.pipelines.settings import Settings

    with changing_runs(store) as folder:
        added = import_runs(folder, Settings(), _say, read_file(part / FILE_NAME))
    _say(f"{added} sides of benchmark runs of {part.name} named in {store / FILE_NAME}")


@contextmanager
def _sample() -> Iterator[tuple[Path, str]]:
    """The sample in the checkout with its name there, or the same data made anew and how to make them."""
    from zscope.parsers.synthetic import generate, sample
    from zscope.parsers.synthetic.reports import report_files
    from zscope.parsers.synthetic.systems import write_systems
    from zscope.parsers.synthetic.world import small_world, write_world

    if (CHECKOUT / SAMPLE / DUMP).is_file():
        yield CHECKOUT / SAMPLE, str(SAMPLE)
        return
    with tempfile.TemporaryDirectory(prefix="zscope-") as temporary:
        folder = Path(temporary, SAMPLE)
        (folder / REPORTS).mkdir(parents=True)
        with (folder / DUMP).open("wb") as out:
            generate(sample(), out)
        for file in report_files(folder / DUMP, sample()):
            (folder / REPORTS / file.name).write_bytes(file.content)
        write_world(small_world(), folder / WORLD, lambda _: None)
        write_systems(1, folder / SYSTEMS, lambda _: None)
        _say(
            f"To have the sample as files: zscope generate --preset sample -o {DUMP} --reports {REPORTS}\n"
            "and zscope generate world world; zscope generate systems systems\n"
        )
        yield folder, str(SAMPLE)


def _ingest(store: Path, folder: Path) -> Report:
    from zscope.pipelines.ingest import How, choose, ingest
    from zscope.pipelines.settings import Settings

    with store_errors():
        return ingest(store, [folder], How(choose(None), settings=Settings().merge([ZONE])))


def _tell(report: Report, doing: str, store: Path) -> None:
    from zscope.pipelines.ingest.outcome import Status

    records, rows = (sum(getattr(load, what) for load in report.loads) for what in ("records", "rows"))
    _say(
        f"{doing} {store}: {len(report.loads)} files with {records:,} records and reports loaded as {rows:,} "
        f"rows in {report.seconds:.1f} s, {report.count(Status.REPEATED)} files were there already"
    )


def _show(session: Session, statement: str) -> None:
    from zscope.app.output.aligned import write_table

    result = session.run(statement)
    assert result is not None, "a question has rows"
    sys.stdout.flush()
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    write_table(Rows(result.schema, result.batches), sys.stdout.buffer, width=width, raw=False)
    sys.stdout.buffer.flush()


def _count(session: Session, statement: str) -> int:
    result = session.run(statement)
    assert result is not None, "a question has rows"
    return int(next(result.batches)[0][0].as_py())


def _say(text: str) -> None:
    click.echo(text)
