"""`zscope check`: rows, exit codes and evidence."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from datetime import datetime
from functools import cache
from pathlib import Path

import pytest
from click.testing import Result
from tests.dumps import composed

from zscope.app.cli.exits import ExitCode
from zscope.pipelines.ingest import IngestOptions, ingest, row_selection

Run = Callable[..., Result]
Row = dict[str, str]
Store = Callable[..., Path]
GOOD = (0x0304, "1302")
TLS10 = (0x0301, "C014")
WITHOUT_PFS = (0x0303, "009D")
SSL3 = (0x0300, "C014")
DHE = (0x0303, "009F")
LOW = (WITHOUT_PFS, DHE)
"""Findings that are low, and a practice that is not followed."""
MIXED = (TLS10, GOOD, TLS10, SSL3)


def dump_of(connections: list[tuple[int, str]], systems: list[str]) -> bytes:
    """ZERT detail records of short connections with these versions and cipher suites."""
    count = len(connections)
    records = composed(
        (119, 11),
        [datetime(2026, 3, 1, 12, 0, second) for second in range(count)],  # noqa: DTZ001 - local time
        systems,
        identification={"stack": "TCPIP"},
        common={
            "event_type": 4, "security_protocols_flags": 128, "ip_protocol": 6, "job_name": "WEB",
            "local_port": 443, "remote_port": 50000, "connection_id": list(range(count)),
        },
        tls={
            "tls_version": [version for version, _ in connections], "handshake_type": 1, "handshake_role": 2,
            "cipher": [cipher for _, cipher in connections],
        },
    )  # fmt: skip
    return b"".join(records)


@pytest.fixture(scope="module")
def store_of(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Stores with such connections, the first of them on SYSA and all others on SYSB; only to be read."""

    @cache
    def make(*connections: tuple[int, str]) -> Path:
        folder = tmp_path_factory.mktemp("check")
        systems = ["SYSA"] + ["SYSB"] * (len(connections) - 1)
        (folder / "dump.smf").write_bytes(dump_of(list(connections), systems))
        ingest(folder / "store", [folder / "dump.smf"], IngestOptions(selection=row_selection(None)))
        return folder / "store"

    return make


@pytest.fixture
def rows(run: Run) -> Callable[..., list[Row]]:
    """Run the command and read what it prints, whatever it ends with."""

    def start(store: Path, *arguments: object) -> list[Row]:
        result = run("check", "--store", store, *arguments, "--format", "csv")
        assert result.exit_code in set(ExitCode), result.output
        return list(csv.DictReader(io.StringIO(result.stdout)))

    return start


@pytest.mark.parametrize(
    ("connections", "fail_on", "code"),
    [
        ((GOOD,), "low", ExitCode.OK),
        (MIXED, "high", ExitCode.REFUSED),
        (MIXED, "never", ExitCode.WARNINGS),
        pytest.param((TLS10,), "high", ExitCode.WARNINGS, marks=pytest.mark.deep),
        pytest.param((TLS10,), "medium", ExitCode.REFUSED, marks=pytest.mark.deep),
        (LOW, "medium", ExitCode.WARNINGS),
        pytest.param(LOW, "low", ExitCode.REFUSED, marks=pytest.mark.deep),
    ],
)
def test_the_exit_code_follows_from_the_severity(
    connections: tuple[tuple[int, str], ...], fail_on: str, code: ExitCode, run: Run, store_of: Store
) -> None:
    result = run("check", "--store", store_of(*connections), "--only", "findings", "--fail-on", fail_on)
    assert result.exit_code == code


def test_high_findings_fail_by_default(run: Run, store_of: Store) -> None:
    assert run("check", "--store", store_of(*MIXED)).exit_code == ExitCode.REFUSED


def test_a_practice_that_is_not_followed_is_medium(run: Run, store_of: Store) -> None:
    store = store_of(*LOW)
    arguments = ("check", "--store", store, "--only", "practices")
    assert run(*arguments).exit_code == ExitCode.WARNINGS
    assert run(*arguments, "--fail-on", "medium").exit_code == ExitCode.REFUSED


def test_unknown_is_not_a_failure(run: Run, store_of: Store) -> None:
    result = run("check", "--store", store_of(GOOD), "--only", "practices", "--fail-on", "low")
    assert (result.exit_code, result.stderr.splitlines()[-1][:15]) == (ExitCode.OK, "findings: none;")


def test_the_worst_rows_of_both_parts_come_first(rows: Callable[..., list[Row]], store_of: Store) -> None:
    result = rows(store_of(*MIXED))
    assert result[0]["id"] == "ssl-version"
    ranks = [["high", "medium", "low", "info"].index(row["severity"]) for row in result]
    assert ranks == sorted(ranks)
    assert {row["kind"] for row in result} == {"finding", "practice"}
    assert len({row["id"] for row in result if row["kind"] == "practice"}) == 20


@pytest.mark.parametrize(("only", "kind"), [("findings", "finding"), ("practices", "practice")])
def test_only_selects_one_part(only: str, kind: str, rows: Callable[..., list[Row]], store_of: Store) -> None:
    assert {row["kind"] for row in rows(store_of(TLS10), "--only", only)} == {kind}


def test_rows_of_a_system_include_practices_without_a_system(
    rows: Callable[..., list[Row]], store_of: Store
) -> None:
    result = rows(store_of(*MIXED), "--system", "SYSB")
    assert {row["system"] for row in result} == {"SYSB", ""}
    assert {row["kind"] for row in result if not row["system"]} == {"practice"}
    assert {row["connections"] for row in result if row["id"] == "tls10-tls11"} == {"1"}


def test_explain_prints_the_connections_of_a_finding(rows: Callable[..., list[Row]], store_of: Store) -> None:
    store = store_of(*MIXED)
    result = rows(store, "--explain", "tls10-tls11")
    assert sorted((row["system"], row["connection_id"]) for row in result) == [("SYSA", "0"), ("SYSB", "2")]
    narrowed = rows(store, "--explain", "tls10-tls11", "--system", "SYSB")
    assert [row["connection_id"] for row in narrowed] == ["2"]


def test_explain_prints_the_evidence_of_a_practice(rows: Callable[..., list[Row]], store_of: Store) -> None:
    [result] = rows(store_of(TLS10), "--explain", "ecdhe")
    assert (result["reported_by"], result["cipher"], result["connections"]) == ("zERT", "C014", "1")


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ("tls10-tls12", "there is no finding or practice 'tls10-tls12' in the result; try: tls10-tls11"),
        ("zhpf", "zhpf: there is no evidence to print"),
    ],
)
def test_explain_needs_a_row_with_evidence(wanted: str, message: str, run: Run, store_of: Store) -> None:
    result = run("check", "--store", store_of(TLS10), "--explain", wanted)
    assert (result.exit_code, result.stdout) == (ExitCode.NOTHING, "")
    assert message in result.stderr


def test_the_evidence_query_runs_in_zscope_sql(
    run: Run, rows: Callable[..., list[Row]], store_of: Store
) -> None:
    store = store_of(*MIXED)
    queries = [row["evidence_query"] for row in rows(store) if row["evidence_query"]]
    assert queries
    for query in queries:
        result = run("sql", "--store", store, query, "--format", "csv")
        assert result.exit_code == ExitCode.OK
        assert len(result.stdout.splitlines()) > 1


@pytest.mark.parametrize("more", [(), ("--explain", "tls10-tls11")])
def test_an_unknown_system_is_an_error(run: Run, store_of: Store, more: tuple[str, ...]) -> None:
    result = run("check", "--store", store_of(*MIXED), "--system", "sysa", *more)
    assert (result.exit_code, result.stdout) == (ExitCode.NOTHING, "")
    assert "--system sysa: there is no such system in the store; it has SYSA, SYSB" in result.stderr
