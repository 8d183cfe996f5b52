"""What tests compare rows with: one dump, in all forms and parts, and the rows of one clean load of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from click.testing import CliRunner, Result
from tests.dumps import records_in
from tests.pipelines.stores import Contents, dump_bytes

from zscope.app.cli.main import program as zscope
from zscope.parsers.smf.record_writer import as_stream

if TYPE_CHECKING:
    from zscope.pipelines.ingest.options_and_outcomes import IngestReport

MIX = {"zert-detail": 0.5, "tcp-init": 0.3, "rmf-cpu": 0.05, "foreign": 0.1}
TABLES = (
    "smf119_tcp_init", "smf119_zert_detail", "smf119_zert_dn",
    "smf119_zert_ipsec", "smf70_asid", "smf70_cpu", "smf70_cpu_type", "smf70_interval",
    "smf70_logical_cpu", "smf70_partition",
)  # fmt: skip
"""The tables with rows of such records."""
TABLES_OF_REPORTS = (
    "gsk_cache_stats", "gsk_cache_status", "netstat_all", "netstat_config", "netstat_conn",
    "netstat_devlink", "netstat_ttls", "netstat_ttls_group", "rmf_cpu", "rmf_interval", "rmf_partition",
)  # fmt: skip
"""The tables with rows of the sample reports."""

Fresh = Callable[[], Path]
"""Makes a store without loads, always at the same place."""
Clean = Callable[..., Contents]
"""Gives the rows of one load of a content, into a store that has nothing else."""


@cache
def dump(framing: str = "rdw") -> bytes:
    """A dump of two days with tables of several levels."""
    block = {"block_size": 3_000} if framing == "bdw-spanned" else {}
    return dump_bytes(60, 2, mix=MIX, framing=framing, **block)


@cache
def records() -> list[bytes]:
    """Its records, with their length words."""
    return records_in(dump())


def kept(some: Iterable[bytes]) -> int:
    """How many records there are of the types that the store keeps."""
    return sum(record[5] in {70, 119} for record in some)


def stream(some: Iterable[bytes]) -> bytes:
    """Records as a file."""
    return b"".join(as_stream(some))


def write(path: Path, content: bytes) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    return path


def statuses(report: IngestReport) -> list[str]:
    return [outcome.status.value for outcome in report.outcomes]


def duplicates(report: IngestReport) -> int:
    return sum(load.duplicates for load in report.loads)


def run(*arguments: object, stdin: bytes | None = None) -> Result:
    """The program, as a user starts it."""
    result = CliRunner().invoke(zscope, [str(a) for a in arguments], stdin, prog_name="zscope")
    assert "Traceback" not in result.stderr
    return result


def named_again(result: Result) -> list[str]:
    """The files that a removal says should be loaded again."""
    return re.findall(r"ingest (\S+) again", result.stderr)
