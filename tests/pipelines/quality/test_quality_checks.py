"""The expectations themselves, as statements on DuckDB: clean data passes, and each finds its fault."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa
import pytest

from zscope.parsers.text.gsksrvr.statistics_values import COUNTERS
from zscope.pipelines.quality.declared_checks import (
    all_checks,
    declared_checks,
    explicit_checks,
    limits_in,
    read_expectations,
    read_folder,
)
from zscope.pipelines.quality.quality_checks import (
    CHECKED,
    NEARBY,
    SAMPLED,
    Check,
    CheckKind,
    CheckSeverity,
    NoRows,
)
from zscope.pipelines.quality.slices import StoreSlice, make_views
from zscope.schemas.arrow import table_schema
from zscope.schemas.declared import TomlFile
from zscope.schemas.errors import DeclarationError
from zscope.schemas.stored import stored_schema
from zscope.schemas.tables import table_names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.pipelines.quality.conftest import MakeCatalogue, Tables

EXPECTATIONS = Path("pipelines/zscope/pipelines/quality/expectations")
DAY = date(2026, 3, 2)
HOURS = "INTERVAL 3 HOUR"
IN_TOTALS = "(row_kind = 'total')::INTEGER"
FAULTS = {
    "smf119_tcp_term.end-after-start": {"end_utc": f"start_utc - {HOURS}"},
    "smf119_zert_detail.end-after-start": {"end_utc": f"start_utc - {HOURS}"},
    "smf119_zert_ssh.end-after-start": {"end_utc": f"start_utc - {HOURS}"},
    "smf119_zert_ipsec.end-after-start": {"end_utc": f"start_utc - {HOURS}"},
    "smf119_ftp_client.end-after-start": {"end_local": f"start_local - {HOURS}"},
    "smf119_ftp_server.end-after-start": {"end_local": f"start_local - {HOURS}"},
    "smf119_tn3270_term.end-after-start": {"end_local": f"start_local - {HOURS}"},
    "smf70_interval.written-after-start": {"written_local": f"interval_start_local - {HOURS}"},
    "rmf_interval.end-after-start": {"interval_end_local": f"interval_start_local - {HOURS}"},
    "gsk_cache_stats.reset-after-start": {"reset_local": f"started_local - {HOURS}"},
    "netstat_all.connected-before-display": {"started_local": "taken_local + INTERVAL 2 DAY"},
    "gsk_cache_stats.add-sum": {"add_failed_full": "add_failed_full + 1"},
    "gsk_cache_stats.update-sum": {"update_expired": "update_expired + 1"},
    "gsk_cache_stats.retrieval-sum": {"retrieval_expired": "retrieval_expired + 1"},
    "gsk_cache_stats.add-share": {"add_success_pct": "add_success_pct - 0.001"},
    "gsk_cache_stats.update-share": {"update_success_pct": "update_success_pct - 0.001"},
    "gsk_cache_stats.retrieval-share": {"retrieval_success_pct": "retrieval_success_pct - 0.001"},
    "gsk_cache_stats.never-reset": {"reset_local": f"started_local + {HOURS}"},
    "gsk_cache_stats.size-within-maximum": {"cache_size_mb": "maximum_size_mb + 1"},
    "gsk_cache_status.size-within-maximum": {"used_mb": "maximum_mb + 1"},
    "gsk_cache_stats.counters-never-fall": {"add_requested": "1_000_000 - add_requested"},
    "rmf_interval.length-is-end-less-start": {"interval_ms": "interval_ms + 60_000"},
    "rmf_interval.machine-sum": {"physical_cpus": "1"},
    "rmf_partition.effective-within-dispatch": {"effective_ms": "dispatch_ms + 1"},
    "rmf_partition.dispatch-within-interval": {"dispatch_ms": "(interval_ms * logical_cpus * 1.1)::BIGINT"},
    "rmf_partition.total-is-sum": {"dispatch_ms": f"dispatch_ms + {IN_TOTALS} * 500"},
    "rmf_partition.share-follows-from-time": {"logical_total_pct": "logical_total_pct + 0.1"},
    "rmf_cpu.total-is-average": {"lpar_busy_pct": f"lpar_busy_pct + {IN_TOTALS}"},
    "rmf_cpu.multithreading": {
        "mt_productivity_pct": "90.0", "mt_utilisation_pct": "lpar_busy_pct * 0.9 + 0.1",
    },
    "smf70_cpu.wait-within-interval": {"wait_us": "interval_ms * 1100"},
    "smf70_cpu.processors-stay": {
        "config_flags": "if(cpu_id = 0 AND hour(interval_start_local) < 12, 4, config_flags)",
    },
    "smf70_cpu.parked-within-interval": {"parked_us": "interval_ms * 1100"},
    "smf70_logical_cpu.dispatch-within-online": {"dispatch_us": "(online_us * 1.1)::BIGINT"},
    "smf70_logical_cpu.online-within-interval": {"online_us": "interval_ms * 1100"},
    "smf70_logical_cpu.effective-within-dispatch": {"effective_us": "dispatch_us + 2000"},
    "smf70_partition.lists-complete": {"logical_cpu_skip": "logical_cpu_skip + 100"},
    "smf113_processor.cycles-within-interval": {"cpu_speed": "cpu_speed // 20"},
    "smf113_processor.counters-kept": {"counter_flags": "32768"},
    "smf113_processor.busy-agrees": {"cpu_speed": "cpu_speed * 2"},
    "smf113_counter.subtypes-agree": {
        "basis": "'difference'", "interval_start_utc": "interval_end_utc - INTERVAL 15 MINUTE",
    },
    "smf113_counter.crypto-within-cycles": {
        "counter_value": "if(counter_name = 'AES_CYCLES', 100 * counter_value, counter_value)",
    },
    "smf119_zert_detail.end-only-at-end": {"event_type": "1", "end_utc": "start_utc"},
    "smf119_zert_dn.belongs-to-a-record": {"record_no": "record_no + 1_000_000"},
    "smf119_zert_summary_dn.belongs-to-a-record": {"record_no": "record_no + 1_000_000"},
    "smf119_zert_summary.bytes-never-fall": {"init_in_bytes": "end_in_bytes + 1"},
    "smf119_zert_summary.session-has-ports": {"server_port_first": "server_port_last + 1"},
    "smf70_interval.sources-agree": {"rmf_cpu.lpar_busy_pct": "lpar_busy_pct + 5"},
    "rmf_interval.sources-agree": {"rmf_cpu.lpar_busy_pct": "lpar_busy_pct + 5"},
    "smf70_interval.zone-agrees": {"written_utc": f"written_utc - {HOURS}"},
    "smf30_interval.enclaves-within-tasks": {"enclave_ms": "task_ms + 30"},
    "smf30_end.enclaves-within-tasks": {"enclave_ms": "task_ms + 30"},
    "smf30_interval.ziip-work-within-tasks": {"ziip_on_cp_ms": "task_ms + 30"},
    "smf30_interval.capture-within-cpu-time": {"task_ms": "task_ms * 1_000"},
    "smf72_service_class_period.capture-within-cpu-time": {"cpu_service": "cpu_service * 1_000"},
    "smf72_service_class_period.ziips-and-zaaps-within-service": {"ziip_service": "cpu_service * 2"},
    "smf30_end.intervals-within-step": {"smf30_interval.task_ms": "task_ms + 20"},
    "smf119_port_statistics.open-within-most": {"open_connections": "most_connections + 1"},
    "mq_task.times-make-the-interval": {"wait_tod": "wait_tod + (task_type <> 'DNS')::INTEGER"},
    "mq_task.dns-times-make-the-interval": {"elapsed_tod": "9223372036854775807"},
    "mq_task.microseconds-make-the-interval": {"elapsed_us": "elapsed_us + 2"},
    "mq_task.cpu-within-interval": {"cpu_us": "interval_us * 2"},
    "mq_task.requests-take-time": {"elapsed_tod": "0"},
    "mq_task.written-after-start": {"written_local": f"interval_start_local - {HOURS}"},
    "mq_channel.written-after-start": {"written_local": f"interval_start_local - {HOURS}"},
    "mq_channel.stopped-after-start": {"stopped_utc": "started_utc - INTERVAL 1 SECOND"},
    "mq_channel.persistent-among-messages": {"persistent_message_bytes": "message_bytes + 1"},
    "mq_channel.full-among-batches": {"full_batches": "batches + 1"},
    "mq_channel.messages-within-bytes": {"message_bytes": "sent_bytes + received_bytes + 1"},
    "mq_channel.average-within-extremes": {"network_avg_us": "network_min_us - 1"},
    "mq_channel.suite-of-tls-is-recorded": {"cipher_code": "0"},
    "mq_channel_initiator.channels-within-limits": {"active_channels_high": "current_channels_high + 1"},
    "mq_channel_initiator.written-after-start": {"written_local": f"interval_start_local - {HOURS}"},
    "mq_round_trip.takes-time": {"round_trip_us": "0.0"},
    "mq_round_trip.of-something": {"round_trips": "0"},
    "mq_round_trip.no-keys-without-a-cipher": {"sslrkeyc": "1_048_576"},
    "mq_round_trip.headers-take-bytes": {"channel_message_bytes": "message_bytes - 1"},
    "zvm_user.virtual-within-total": {"vcpu_s": "tcpu_s + 0.001"},
    "zvm_user.use-follows-from-time": {"cpu_pct": "tcpu_s / period_s"},
    "zvm_user.ratio-follows-from-times": {"tv_ratio": "tv_ratio + 0.2"},
    "zvm_user.time-fits-the-period": {"tcpu_s": "65 * period_s"},
    "zvm_channel.path-has-two-digits": {"chpid": "'5g'"},
    "zvm_channel.own-within-all": {"own_data_read_pct": "data_read_pct + 2"},
    "ztpf_series.time-goes-on": {"since_start_us": "(10_000_000 - since_start_us)::BIGINT"},
    "ztpf_series.starts-never-fall": {"tls_starts_completed": "1000 - tls_starts_completed"},
    "ztpf_series.starting-within-all": {"worker_threads": "1"},
    "tls_rule.actions-are-defined": {"environment_action": "'eAct9~Lost'"},
    "tls_message.errors-have-a-code": {"return_code": "0"},
    "rmf_workload.time-follows-from-percentage": {"cp_s": "cp_s + 1"},
    "rmf_workload.capture-within-cpu-time": {
        "system": "'SYSA'", "interval_start_utc": "TIMESTAMPTZ '2026-03-02 10:00:00+00'",
        "interval_ms": "900_000", "class_name": "'OTHER'", "cp_s": "1e6",
    },
    "rmf_workload.sources-agree": {
        "system": "'SYSA'", "interval_start_utc": "TIMESTAMPTZ '2026-03-02 10:00:00+00'",
    },
    "smf72_service_class_period.sources-agree": {
        "system": "'SRV1'", "interval_start_local": "TIMESTAMP '2026-03-09 13:00:00'",
    },
    "ztpf_series.starts-within-requests": {"sessions_requested": "799"},
    "smf119_tcp_term.hours-lost": {"coverage.state": "'lost'"},
    "smf119_tcp_term.hours-partial": {"coverage.state": "'partial'"},
    "smf119_zert_detail.hours-lost": {"coverage.state": "'lost'"},
    "smf119_zert_detail.hours-partial": {"coverage.state": "'partial'"},
    "smf119_zert_summary.hours-lost": {"coverage.state": "'lost'"},
    "smf119_zert_summary.hours-partial": {"coverage.state": "'partial'"},
    "smf119_stack_statistics.hours-lost": {"coverage.state": "'lost'"},
    "smf119_stack_statistics.hours-partial": {"coverage.state": "'partial'"},
    "smf70_interval.hours-lost": {"coverage.state": "'lost'"},
    "smf70_interval.hours-partial": {"coverage.state": "'partial'"},
    "smf72_service_class_period.hours-lost": {"coverage.state": "'lost'"},
    "smf72_service_class_period.hours-partial": {"coverage.state": "'partial'"},
    "smf30_interval.hours-lost": {"coverage.state": "'lost'"},
    "smf30_interval.hours-partial": {"coverage.state": "'partial'"},
}  # fmt: skip
"""For each expectation that somebody wrote down: columns of its table (or another) and what spoils them."""
EXPLICIT = {check.id: check for check in explicit_checks(read_folder(EXPECTATIONS))}


@pytest.fixture
def catalogue(sample: Tables, make_catalogue: MakeCatalogue, tmp_path: Path) -> Path:
    """A catalogue with the intervals of a day."""
    return make_catalogue(tmp_path, {"smf70_interval": sample["smf70_interval"]})


@pytest.fixture(scope="module")
def views(
    sample: dict[str, object], make_catalogue: object, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[duckdb.DuckDBPyConnection]:
    assert callable(make_catalogue)
    catalogue = make_catalogue(tmp_path_factory.mktemp("store"), sample)
    with duckdb.connect() as connection:
        make_views(connection, catalogue, StoreSlice())
        yield connection


def found(connection: duckdb.DuckDBPyConnection, check: Check) -> int:
    row = connection.execute(f"SELECT count(*) FROM ({check.unexpected})").fetchone()
    assert row is not None
    return int(row[0])


@pytest.mark.deep
def test_clean_data_has_nothing_worse_than_notes(views: duckdb.DuckDBPyConnection) -> None:
    grave = [check for check in all_checks() if check.severity != CheckSeverity.NOTE]
    assert [check.id for check in grave if found(views, check)] == []


@pytest.mark.parametrize(
    ("part", "hours"),
    [
        (StoreSlice(), 24),
        (StoreSlice(system="SYSB"), 24),
        (StoreSlice(tables=("smf70_interval",), first_day=DAY, last_day=DAY), 24),
        (StoreSlice(loads=(99,)), 0),
        (StoreSlice(first_day=DAY + timedelta(days=1)), 0),
    ],
)
def test_lost_hours_are_those_of_the_systems_and_days_of_the_slice(
    part: StoreSlice, hours: int, catalogue: Path
) -> None:
    """The catalogue has lost hours of one system, on the day of its records and the day before."""
    with duckdb.connect(str(catalogue)) as connection:
        connection.execute("UPDATE steps.coverage SET state = if(system = 'SYSB', 'lost', 'complete')")
        connection.execute(
            "INSERT INTO steps.coverage "
            "SELECT * REPLACE (hour_local - INTERVAL 1 DAY AS hour_local) FROM steps.coverage"
        )
    with duckdb.connect() as connection:
        make_views(connection, catalogue, part)
        assert found(connection, EXPLICIT["smf70_interval.hours-lost"]) == hours
        assert found(connection, EXPLICIT["smf70_interval.hours-partial"]) == 0


def test_usual_end_of_a_connection_is_not_a_finding(views: duckdb.DuckDBPyConnection) -> None:
    (check,) = (each for each in all_checks() if each.id == "smf119_tcp_term.termination_code.codes")
    assert found(views, check) == 0


def test_local_times_in_utc_do_not_differ_from_the_header() -> None:
    table = "smf119_tcp_term"
    [check] = [each for each in all_checks() if each.id == f"{table}.end_local.header"]
    written = datetime.fromisoformat("2026-03-02T10:00")
    late = written + timedelta(hours=5)
    rows = [
        {"written_local": written, "end_local": late, "end_utc": utc.replace(tzinfo=UTC) if utc else None}
        for utc in (late, written, None)
    ]
    schema = stored_schema(table)
    whole = [dict.fromkeys(schema.names) | row for row in rows]
    nullable = pa.schema([field.with_nullable(True) for field in schema])
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        connection.register("rows_of_table", pa.Table.from_pylist(whole, nullable))
        connection.execute(f"CREATE SCHEMA {SAMPLED}; CREATE TABLE {SAMPLED}.{table} AS FROM rows_of_table")
        assert found(connection, check) == 2


def test_processors_that_stay_are_no_finding(views: duckdb.DuckDBPyConnection) -> None:
    assert found(views, EXPLICIT["smf70_cpu.processors-stay"]) == 0


@pytest.mark.parametrize("name", EXPLICIT)
def test_a_planted_fault_is_found(name: str, views: duckdb.DuckDBPyConnection) -> None:
    check = EXPLICIT[name]
    views.execute("BEGIN")
    by_table: dict[str, list[str]] = {}
    for place, value in FAULTS[name].items():
        other, _, column = place.rpartition(".")
        by_table.setdefault(other or check.table, []).append(f"{value} AS {column}")
    for table, replaced in by_table.items():
        schema = "steps" if table == "coverage" else "raw"
        spoiled = f"SELECT * REPLACE ({', '.join(replaced)}) FROM store.{schema}.{table}"
        views.execute(f"CREATE TABLE spoiled_{table} AS {spoiled}")
        for schema in (CHECKED, SAMPLED, NEARBY):
            views.execute(f"CREATE OR REPLACE VIEW {schema}.{table} AS SELECT * FROM main.spoiled_{table}")
    try:
        assert found(views, check) > 0
    finally:
        views.execute("ROLLBACK")


def test_every_explicit_expectation_has_a_fault_to_find() -> None:
    assert set(FAULTS) == set(EXPLICIT)


def test_every_kind_is_used() -> None:
    assert {check.kind for check in all_checks()} == set(CheckKind)


def test_names_are_unique_and_their_tables_are_declared() -> None:
    names = [check.id for check in all_checks()]
    assert len(names) == len(set(names))
    assert {check.table for check in all_checks()} == set(table_names())


def test_columns_of_checks_and_limits_are_declared() -> None:
    limits = limits_in(read_folder(EXPECTATIONS)).by_column
    named = {(check.table, check.column) for check in all_checks() if check.column} | set(limits)
    assert [(table, column) for table, column in named if column not in stored_schema(table).names] == []


def test_all_counters_of_displays_are_checked() -> None:
    [watched] = [
        each.counters for file in read_folder(EXPECTATIONS) for each in file.expectation if each.counters
    ]
    assert sorted(watched) == sorted(COUNTERS)


def test_every_required_column_and_every_grain_has_a_check() -> None:
    declared = declared_checks(limits_in([]))
    for table in table_names():
        required = {"load_id", *(field.name for field in table_schema(table) if not field.nullable)}
        of_table = [check for check in declared if check.table == table]
        assert {check.column for check in of_table if check.kind == CheckKind.NOT_NULL} == required
        assert [check.kind for check in of_table].count(CheckKind.UNIQUE) == 1


def test_unknown_codes_are_never_failures() -> None:
    codes = [check for check in all_checks() if check.kind == CheckKind.CODES]
    assert {check.severity for check in codes} == {CheckSeverity.WARNING, CheckSeverity.NOTE}


def test_counters_may_decrease_after_a_reset(views: duckdb.DuckDBPyConnection) -> None:
    check = EXPLICIT["gsk_cache_stats.counters-never-fall"]
    views.execute("BEGIN")
    views.execute(
        "CREATE OR REPLACE VIEW nearby.gsk_cache_stats AS SELECT * REPLACE (1_000_000 - add_requested AS "
        "add_requested, taken_local AS reset_local) FROM store.raw.gsk_cache_stats"
    )
    try:
        assert found(views, check) == 0
    finally:
        views.execute("ROLLBACK")


def test_findings_have_the_origin_of_the_row(views: duckdb.DuckDBPyConnection) -> None:
    for check in all_checks():
        if check.kind in {CheckKind.AGREEMENT, CheckKind.COVERAGE, CheckKind.UNIQUE}:
            continue
        columns = [column[0] for column in views.execute(f"{check.unexpected} LIMIT 0").description or ()]
        assert columns[0] == "load_id", check.id
        assert {"record_no", "line_no"} & set(columns), check.id


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ({"table": "nonsense"}, "unknown table nonsense"),
        ({"severity": "awful"}, "expected .* got 'awful'"),
        ({"kind": "odd"}, "expected .* got 'odd'"),
        ({"sql": "SELECT 1"}, "exactly one of where, sql, counters is required"),
    ],
)
def test_a_wrong_declaration_is_refused(entry: dict[str, str], problem: str) -> None:
    good = {
        "id": "x", "table": "rmf_cpu", "kind": "order", "severity": "note", "meaning": "M.", "where": "false",
    }  # fmt: skip
    lines = ["[[expectation]]", *(f"{key} = '{value}'" for key, value in {**good, **entry}.items())]
    with pytest.raises(DeclarationError, match=rf"x\.toml, line \d: expectation\[x\].*: {problem}"):
        read_expectations(TomlFile.parse("\n".join(lines), "x.toml"))


def test_explicit_expectations_are_statements() -> None:
    assert {type(check.test) for check in EXPLICIT.values()} == {NoRows}
