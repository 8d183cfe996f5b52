"""Failed handshakes of generated dumps: the port at which they count if no side is shown as server."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from tests.dumps import generated, kind_of, records_in
from tests.pipelines.record_changes import with_numbers
from tests.pipelines.stores import load

from zscope.pipelines.store import open_reader
from zscope.samples import Recipe, RecordKind, named_systems

if TYPE_CHECKING:
    from pathlib import Path

FAILED = 3
LOW_PORT = 900
"""A port below all ports of servers, as the lower one of two was taken for the server's."""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A day before z/OS 3.2 on which some handshakes failed, with a remote port below the server's."""
    recipe = Recipe(
        records=2_000,
        start=datetime(2026, 3, 2, tzinfo=UTC),
        systems=named_systems("SYSA", utc_offset_minutes=0),
        mix={RecordKind.ZERT_DETAIL: 1.0},
    )
    dump = generated(recipe)
    folder = tmp_path_factory.mktemp("failed")
    plain = folder / "plain.smf"
    plain.write_bytes(dump)
    load(folder / "plain", plain)
    with open_reader(folder / "plain") as connection:
        chosen = connection.execute(
            "SELECT record_no FROM smf119_zert_detail WHERE handshake_role IN (2, 3) AND handshake_type = 1 "
            "AND event_type = 4 ORDER BY record_no LIMIT 60"
        ).fetchall()
    numbers = {number for (number,) in chosen[::3]}
    records = [
        with_numbers(
            record, "smf119_zert_detail", handshake_type=FAILED, handshake_role=0, remote_port=LOW_PORT
        )
        if number in numbers and kind_of(record) == (119, 11)
        else record
        for number, record in enumerate(records_in(dump), start=1)
    ]
    failed = folder / "failed.smf"
    failed.write_bytes(b"".join(records))
    load(folder / "store", failed)
    return folder / "store"


def test_a_failed_handshake_counts_at_the_port_that_its_job_has_otherwise(store: Path) -> None:
    with open_reader(store) as connection:
        failed = connection.execute(
            "SELECT job_name, local_port, server_port FROM handshake "
            f"WHERE kind = 'failed' AND remote_port = {LOW_PORT}"
        ).fetchall()
        served = connection.execute(
            "SELECT DISTINCT job_name, server_port FROM handshake WHERE handshake_role LIKE 'server%'"
        ).fetchall()
    assert len(failed) == 20
    for job, local_port, server_port in failed:
        assert (job, server_port) in served
        assert server_port == local_port


def test_no_finding_is_about_a_port_that_serves_nothing(store: Path) -> None:
    with open_reader(store) as connection:
        found = connection.execute("SELECT DISTINCT server_port FROM finding").fetchall()
        failed = connection.execute(
            "SELECT server_port, sum(failed_handshakes) FROM handshake_mix GROUP BY ALL"
        ).fetchall()
    assert found
    assert LOW_PORT not in {port for (port,) in found}
    assert sum(count for _, count in failed) > 20
    assert LOW_PORT not in {port for port, _ in failed}
