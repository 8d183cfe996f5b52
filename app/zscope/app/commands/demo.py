"""Show what comes out of the sample data."""

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
from zscope.app.reading import tell_issues

if TYPE_CHECKING:
    import pyarrow as pa

CHECKOUT = Path(__file__).resolve().parents[4]
SAMPLE = Path("sample-data", "smf-sample.bin")
REPORTS = "reports"
"""Folder beside the dump."""
TABLE = "smf119_zert_detail"
ENDED = (3, 4)
"""zERT events that close a connection: each connection has one of them."""
MOST_CIPHERS = 5


@click.command()
def command() -> None:
    """Show what zscope makes of the sample data.

    Takes the dump and the reports in sample-data, or where there are none makes the same ones, and prints a
    few facts about them.

    \b
    Example:
      zscope demo
    """
    from zscope.parsers import inventory, read

    with _sample() as (path, name):
        found = inventory(path)
        columns = f"{TABLE}[event_type,security_protocols_flags,tls_version,handshake_type,cipher]"
        details = read(path, columns)
        reports = inventory(path.parent / REPORTS).rows
    _say(
        f"{name}: {found.files[0].records:,} SMF records of one day, as they come from a mainframe.\n"
        "The data are synthetic: every name, address and number in them is made up.\n"
    )
    _say("Kinds of records, and the tables zscope makes of them:\n")
    _show(_kinds(found.rows))
    _show_connections(details[TABLE])
    _say("Reports about the same systems, as people keep them, are read into tables of the same kind:\n")
    _show(_counted(reports))
    _say("")
    tell_issues(details.issues)
    _say(
        "Try next:\n"
        f"  zscope decode {name} --table {TABLE} --columns job_name,tls_version,cipher --limit 10\n"
        f"  zscope decode {name} --table smf70_interval -o interval.parquet\n"
        f"  zscope decode {Path(name).parent / REPORTS} --table rmf_cpu --limit 5\n"
        "  zscope fields handshake\n"
        "  zscope inventory YOUR.SMF.DUMP"
    )


@contextmanager
def _sample() -> Iterator[tuple[Path, str]]:
    """The sample in the checkout with its name there, or the same dump made anew and how to make it."""
    from zscope.parsers.synthetic import generate, sample
    from zscope.parsers.synthetic.reports import report_files

    if (CHECKOUT / SAMPLE).is_file():
        yield CHECKOUT / SAMPLE, str(SAMPLE)
        return
    with tempfile.TemporaryDirectory(prefix="zscope-") as folder:
        path = Path(folder, SAMPLE.name)
        with path.open("wb") as out:
            generate(sample(), out)
        path.with_name(REPORTS).mkdir()
        for file in report_files(path, sample()):
            (path.parent / REPORTS / file.name).write_bytes(file.content)
        _say(
            "To have the sample as files: "
            f"zscope generate --preset sample -o {SAMPLE.name} --reports {REPORTS}\n"
        )
        yield path, SAMPLE.name


def _kinds(rows: pa.Table) -> pa.Table:
    """Records by type and subtype with what they are; types without a layout in one row."""
    import pyarrow as pa

    from zscope.schemas import catalog

    counts: dict[tuple[str, str, str], int] = {}
    for row in rows.to_pylist():
        kind = "others", "counted, not decoded", ""
        if layout := catalog().records.get((row["record_type"], row["record_subtype"])):
            tables = ", ".join(table.name for table in layout.tables)
            kind = f"{layout.type}-{layout.subtype}", layout.title, tables
        counts[kind] = counts.get(kind, 0) + row["records"]
    total = sum(counts.values())
    known = sorted(counts.items(), key=lambda item: (item[0][0] == "others", -item[1]))
    return pa.Table.from_pylist(
        [
            {"record": k[0], "records": n, "percent": round(100 * n / total, 1), "what": k[1], "tables": k[2]}
            for k, n in known
        ]
    )


def _counted(reports: pa.Table) -> pa.Table:
    """Reports by name, form and system."""
    import pyarrow as pa

    counts: dict[tuple[str, str, str], int] = {}
    for row in reports.to_pylist():
        kind = row["report"], row["source"], row["system"]
        counts[kind] = counts.get(kind, 0) + row["records"]
    names = ("report", "source", "system")
    rows = [dict(zip(names, kind, strict=True)) | {"reports": n} for kind, n in sorted(counts.items())]
    return pa.Table.from_pylist(rows)


def _show_connections(details: pa.Table) -> None:
    """Versions, handshakes and ciphers of the TLS connections that ended in the time of the dump."""
    import pyarrow as pa
    import pyarrow.compute as pc

    ended = details.filter(pc.is_in(details["event_type"], pa.array(ENDED, pa.uint8())))
    tls = pc.not_equal(pc.bit_wise_and(ended["security_protocols_flags"], pa.scalar(0x80, pa.uint8())), 0)
    protected = ended.filter(tls)
    _say(
        f"\nzERT saw {ended.num_rows:,} connections end; {protected.num_rows:,} were protected by TLS.\n"
        "How their TLS sessions began, and what was agreed:\n"
    )
    for column in ("handshake_type", "tls_version", "cipher"):
        _show(_shares(protected, column).slice(0, MOST_CIPHERS))
        _say("")


def _shares(rows: pa.Table, column: str) -> pa.Table:
    """The values of a column by how often they occur; the column keeps its codes, so it reads as text."""
    import pyarrow as pa
    import pyarrow.compute as pc

    counted = pc.value_counts(rows[column].combine_chunks())
    shares = pa.table({"value": counted.field("values"), "connections": counted.field("counts")})
    shares = shares.sort_by([("connections", "descending")])
    percent = pc.round(pc.multiply(shares["connections"], 100.0 / max(1, rows.num_rows)), 1)
    fields = [
        rows.schema.field(column),
        pa.field("connections", pa.int64()),
        pa.field("percent", pa.float64()),
    ]
    return pa.table([shares["value"], shares["connections"], percent], schema=pa.schema(fields))


def _show(table: pa.Table) -> None:
    from zscope.app.output.aligned import write_table

    sys.stdout.flush()
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    write_table(Rows.of(table.combine_chunks()), sys.stdout.buffer, width=width, raw=False)
    sys.stdout.buffer.flush()


def _say(text: str) -> None:
    click.echo(text)
