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
from zscope.app.store_option import asking, store_errors

if TYPE_CHECKING:
    from zscope.pipelines.ingest.outcome import Report
    from zscope.pipelines.store.session import Session

CHECKOUT = Path(__file__).resolve().parents[4]
SAMPLE = Path("sample-data")
DUMP = "smf-sample.bin"
REPORTS = "reports"
DEMO_STORE = "zscope-demo-store"
ZONE = "+01:00"
"""The clocks of the two systems of the sample are an hour ahead."""
_SHOWN = {
    "The most frequent kinds of SMF records and reports in them (all are in table load_kind):": """
        SELECT
            coalesce(report, record_type || coalesce('-' || record_subtype, '')) AS kind,
            sum(records)::BIGINT AS records,
            string_agg(DISTINCT system, ', ' ORDER BY system) AS systems,
            min(first_local) AS first_local,
            max(last_local) AS last_local
        FROM load_kind
        GROUP BY ALL
        ORDER BY records DESC, kind LIMIT 15""",
    "How the TLS sessions of the connections began that zERT saw end:": """
        SELECT coalesce(code.text, 'unknown (' || handshake_type || ')') AS handshake,
            count(*) AS connections, round(100 * count(*) / sum(count(*)) OVER (), 1) AS percent
        FROM smf119_zert_detail LEFT JOIN code_handshake_type AS code ON code.code = handshake_type
        WHERE event_type IN (3, 4) AND security_protocols_flags & 128 <> 0
        GROUP BY ALL ORDER BY connections DESC""",
    "The versions and ciphers they agreed on:": """
        SELECT version.text AS tls_version, coalesce(cipher.name, detail.cipher) AS cipher,
            count(*) AS connections, round(100 * count(*) / sum(count(*)) OVER (), 1) AS percent
        FROM smf119_zert_detail AS detail
        LEFT JOIN code_tls_version AS version ON version.code = detail.tls_version
        LEFT JOIN cipher ON cipher.code = detail.cipher
        WHERE event_type IN (3, 4) AND security_protocols_flags & 128 <> 0
        GROUP BY ALL ORDER BY connections DESC, cipher LIMIT 6""",
    "CPU use of the systems, hour by hour from the RMF intervals (the three busiest of each):": """
        WITH hours AS (
            SELECT system, time_bucket(INTERVAL 1 HOUR, interval_start_local) AS hour_local,
                max(cps_online) AS cps, round(avg(lpar_busy_pct), 1) AS lpar_busy_pct,
                round(sum(cpu_s), 1) AS cpu_s
            FROM cpu_interval GROUP BY ALL
        )
        FROM hours
        QUALIFY row_number() OVER (PARTITION BY system ORDER BY cpu_s DESC, hour_local) <= 3
        ORDER BY system, hour_local""",
}


@click.command()
@click.option(
    "--store", metavar="DIR", default=DEMO_STORE, show_default=True, type=click.Path(path_type=Path),
    help="The folder for the store of the demonstration; made if it is not there.",
)  # fmt: skip
def command(*, store: Path) -> None:
    """Load the sample data into a store and show what comes out.

    Takes the dump and the reports in sample-data, or where there are none makes the same ones, loads them
    twice to show that nothing is added the second time, and answers a few questions from the store.

    \b
    Example:
      zscope demo
    """
    with _sample() as (folder, name):
        _say(
            f"{name}: SMF records and reports of one day and two systems, as they come from a mainframe.\n"
            "The data are synthetic: every name, address and number in them is made up.\n"
        )
        _tell(_ingest(store, folder), "Loading them into", store)
        _tell(_ingest(store, folder), "Once more into", store)
    with asking(store) as session:
        for title, statement in _SHOWN.items():
            _say(f"\n{title}\n")
            _show(session, statement)
        tables = _count(session, "SELECT count(*) FROM information_schema.tables WHERE table_schema = 'main'")
    _say(
        f"\nThe store {store} has {tables} tables; any DuckDB client can open {store}/zscope.duckdb.\n"
        "Try next:\n"
        f"  export ZSCOPE_STORE={store}\n"
        "  zscope loads\n"
        '  zscope sql "SELECT job_name, count(*) FROM smf119_zert_detail GROUP BY job_name"\n'
        "  zscope sql\n"
        "  zscope validate\n"
        "  zscope fields handshake\n"
        "  zscope ingest --store zscope-store YOUR.SMF.DUMP"
    )


@contextmanager
def _sample() -> Iterator[tuple[Path, str]]:
    """The sample in the checkout with its name there, or the same data made anew and how to make them."""
    from zscope.parsers.synthetic import generate, sample
    from zscope.parsers.synthetic.reports import report_files

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
        _say(f"To have the sample as files: zscope generate --preset sample -o {DUMP} --reports {REPORTS}\n")
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
