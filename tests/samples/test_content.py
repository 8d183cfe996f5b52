"""The contents of synthetic records are consistent, as on a real system."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pyarrow as pa
import pytest
from tests.dumps import generated

from zscope.parsers.issues import Issues
from zscope.samples import Recipe, named_systems

Decode = Callable[[bytes], tuple[dict[str, pa.Table], Issues]]
Tables = dict[str, list[dict[str, Any]]]
RECIPE = Recipe(records=9_800, seed=11, systems=named_systems("SYSA", "SYSB", utc_offset_minutes=-120))
QUARTER_US = 15 * 60 * 1_000_000


@pytest.fixture(scope="module")
def tables(decode: Decode) -> Tables:
    decoded, _ = decode(generated(RECIPE))
    return {name: table.to_pylist() for name, table in decoded.items()}


def test_each_resumed_session_had_a_full_handshake_before(tables: Tables) -> None:
    seen: dict[tuple[str, str], dict[str, Any]] = {}
    resumed = 0
    by_start = sorted(tables["smf119_zert_detail"], key=lambda row: row["start_utc"])
    for row in by_start:
        if not row["session_id"]:
            continue
        key = row["system"], row["session_id"]
        if row["handshake_type"] == 1:
            seen.setdefault(key, row)
        else:
            full = seen[key]
            resumed += 1
            for column in ("cipher", "tls_version", "remote_ip", "job_name", "server_cert_serial"):
                assert row[column] == full[column]
    assert resumed > 1_000


def test_only_the_newest_level_has_tls13_and_failed_handshakes(tables: Tables) -> None:
    by_system = defaultdict(set)
    for row in tables["smf119_zert_detail"]:
        by_system[row["system"]].add((row["tls_version"], row["handshake_type"]))
    assert {(0x0304, 1), (0x0304, 2), (0, 3)} <= by_system["SYSA"]  # level 3.2
    assert not any(version == 0x0304 or kind == 3 for version, kind in by_system["SYSB"])


def test_records_of_failed_handshakes_have_no_tls_values(tables: Tables) -> None:
    failed = [row for row in tables["smf119_zert_detail"] if row["handshake_type"] == 3]
    assert failed
    for row in failed:
        assert row["cipher"] == "FFFFFF"
        assert (row["tls_version"], row["handshake_role"], row["session_id"]) == (0, 0, None)
        assert (row["server_cert_serial"], row["server_cert_not_after_utc"]) == (None, None)


def test_end_records_have_a_start_record_and_subtypes_agree(tables: Tables) -> None:
    detail = tables["smf119_zert_detail"]
    started = {row["connection_id"]: row for row in detail if row["event_type"] == 1}
    ended = {row["connection_id"]: row for row in detail if row["event_type"] in {3, 4}}
    assert all(number in started for number, row in ended.items() if row["event_type"] == 3)
    for number, row in ended.items():
        long = row["end_utc"] - row["start_utc"] >= timedelta(seconds=10)
        assert long is (number in started)
    joined = 0
    for row in tables["smf119_tcp_term"]:
        if (other := ended.get(row["connection_id"])) is not None:
            joined += 1
            for column in ("system", "job_name", "remote_ip", "local_ip", "remote_port", "local_port"):
                assert row[column] == other[column]
            assert (row["in_bytes"], row["out_segments"]) == (other["in_bytes"], other["out_segments"])
            # zERT has 1/100 seconds, the TOD clock more
            assert timedelta(0) <= row["end_utc"] - other["end_utc"] < timedelta(milliseconds=10)
    assert joined == len(tables["smf119_tcp_term"])
    initiated = {row["connection_id"] for row in tables["smf119_tcp_init"]}
    assert initiated <= set(started) | set(ended)


def test_local_times_are_utc_plus_the_offset(tables: Tables) -> None:
    offset = timedelta(minutes=-120)
    for row in tables["smf119_tcp_term"]:
        exact = row["end_utc"].replace(tzinfo=None) + offset
        assert timedelta(0) <= exact - row["end_local"] < timedelta(milliseconds=10)
        assert row["written_local"] == row["end_local"]
    for row in tables["smf70_interval"]:
        end = row["interval_start_local"] + timedelta(milliseconds=row["interval_ms"])
        assert row["interval_end_utc"].replace(tzinfo=None) + offset == end
        assert row["local_offset_us"] == -120 * 60 * 1_000_000


def test_at_tls_sections_only_contain_two_character_ciphers(tables: Tables) -> None:
    secured = [row for row in tables["smf119_tcp_term"] if row["ttls_status"] == 3]
    assert secured
    detail = {row["connection_id"]: row for row in tables["smf119_zert_detail"]}
    for row in secured:
        assert row["cipher_2"] != "4X"
        assert detail[row["connection_id"]]["cipher"] == f"00{row['cipher_2']}"
        assert detail[row["connection_id"]]["tls_version"] == row["tls_version"]
    others = [row for row in tables["smf119_tcp_term"] if row["ttls_status"] != 3]
    assert all(row["cipher_2"] is None for row in others)


def test_certificates_belong_to_applications(tables: Tables) -> None:
    serials: dict[str, set[str]] = defaultdict(set)
    for row in tables["smf119_zert_detail"]:
        if row["server_cert_serial"]:
            serials[row["job_name"]].add(row["server_cert_serial"])
    assert all(len(known) == 1 for known in serials.values())
    assert len({next(iter(known)) for known in serials.values()}) == len(serials) >= 8
    names = {row["distinguished_name"] for row in tables["smf119_zert_dn"]}
    assert all("O=Synthetic" in name for name in names)
    kinds = {row["dn_type"] for row in tables["smf119_zert_dn"]}
    assert kinds == {5, 6, 7, 8}


def test_partners_are_many_and_some_have_ipv6(tables: Tables) -> None:
    partners = {row["remote_ip"] for row in tables["smf119_zert_detail"]}
    assert len(partners) > 500
    assert any(":" in address for address in partners)
    for row in tables["smf119_zert_detail"]:
        assert (":" in row["remote_ip"]) == (":" in row["local_ip"]) == bool(row["connection_flags"] & 0x80)


def test_summary_counters_continue_in_the_next_interval(tables: Tables) -> None:
    sessions: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for row in tables["smf119_zert_summary"]:
        if row["summary_event_type"] == 1:
            sessions[row["system"], row["security_session_id"]].append(row)
    assert len(sessions) >= 24
    counters = ("conn_count", "short_conn_count", "in_bytes", "out_bytes", "in_segments", "out_segments")
    for rows in sessions.values():
        assert len(rows) > 2
        for before, after in pairwise(rows):
            assert (
                before["written_local"] + timedelta(microseconds=after["interval_us"])
                == after["written_local"]
            )
            for name in counters:
                assert before[f"end_{name}"] == after[f"init_{name}"] <= after[f"end_{name}"]
        newest = rows[0]["system"] == "SYSA"
        assert all((row["end_failed_handshake_count"] is not None) is newest for row in rows)
        assert all(row["end_short_conn_count"] <= row["end_conn_count"] for row in rows)
        assert all(row["unexplained_tls_36"] in {None, "000000000000"} for row in rows)


def test_rmf_processor_times_add_up(tables: Tables) -> None:
    for row in tables["smf70_cpu"]:
        assert row["wait_us"] + row["parked_us"] <= QUARTER_US
    for row in tables["smf70_logical_cpu"]:
        assert row["effective_us"] <= row["dispatch_us"] <= row["online_us"] == QUARTER_US
    assert any(row["parked_us"] == QUARTER_US for row in tables["smf70_cpu"])
    assert {row["cpu_type"] for row in tables["smf70_cpu"]} == {0, 2}
    # Both systems report the same machine, and no more of it is used than there is.
    views: dict[Any, set[str]] = defaultdict(set)
    by_record: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for row in tables["smf70_logical_cpu"]:
        by_record[row["record_no"]].append(row)
    for rows in by_record.values():
        views[rows[0]["interval_start_local"]].add(str([row["dispatch_us"] for row in rows]))
        used = sum(row["dispatch_us"] for row in rows if row["cpu_type_index"] == 1)
        assert used <= 6 * QUARTER_US  # three general purpose processors for each system
    assert all(len(different) == 1 for different in views.values())


def test_rmf_partitions_refer_to_their_processors(tables: Tables) -> None:
    names = {row["partition_name"] for row in tables["smf70_partition"]}
    assert names == {"SYSA", "SYSB", "LINUX1", "CF01", "PHYSICAL"}
    logical: dict[int, int] = defaultdict(int)
    for row in tables["smf70_logical_cpu"]:
        logical[row["record_no"]] += 1
    skips: dict[int, int] = defaultdict(int)
    for row in tables["smf70_partition"]:
        assert row["logical_cpu_skip"] == skips[row["record_no"]]
        skips[row["record_no"]] += row["logical_cpu_count"]
    assert skips == logical


def test_rmf_shows_the_cpu_cost_of_the_connections(tables: Tables) -> None:
    cost = RECIPE.cpu_cost
    expected: dict[tuple[str, Any], float] = defaultdict(float)
    starts = {row["record_no"]: row for row in tables["smf70_interval"]}
    begins = sorted({row["interval_start_local"] for row in starts.values()})
    for row in tables["smf119_zert_detail"]:
        if row["event_type"] not in {3, 4}:
            continue
        ended = row["end_utc"].replace(tzinfo=None) + timedelta(minutes=-120)
        begin = max(begin for begin in begins if begin <= ended)
        handshake = {1: cost.full_us, 2: cost.abbreviated_us, 3: cost.full_us}.get(row["handshake_type"], 0)
        size = (row["in_bytes"] + row["out_bytes"]) / 1_000_000 * cost.megabyte_us
        expected[row["system"], begin] += handshake + size
    partition = {1: "SYSA", 2: "SYSB"}
    checked = 0
    for number, rows in _by_record(tables["smf70_logical_cpu"]).items():
        interval = starts[number]
        for at in (1, 2):
            own = rows[5 * (at - 1) : 5 * at]
            used = sum(row["dispatch_us"] for row in own if row["cpu_type_index"] == 1)
            base = cost.base * 2.5 * QUARTER_US
            wanted = expected[partition[at], interval["interval_start_local"]]
            assert used - base == pytest.approx(wanted, abs=50)  # each connection's bytes are rounded down
            checked += 1
    assert checked == 2 * len(starts) > 200


def _by_record(rows: list[dict[str, Any]]) -> dict[int, list[dict[str, Any]]]:
    records: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        records[row["record_no"]].append(row)
    return records


def test_queue_samples_add_up(tables: Tables) -> None:
    for row in tables["smf70_asid"]:
        for queue in ("in_ready_samples_", "batch_samples_", "work_unit_samples_n", "queue_samples_n"):
            assert sum(value for name, value in row.items() if name.startswith(queue)) == 900
        assert row["tso_minimum"] <= row["tso_total"] / 900 <= row["tso_maximum"]


def test_crypto_cards_are_never_busy_for_longer_than_the_interval(tables: Tables) -> None:
    for row in tables["smf70_crypto_cca"]:
        seconds = row["all_operations_time_raw"] * row["scaling_factor"]
        assert 0 < seconds < 900
        assert seconds / row["all_operations_count"] == pytest.approx(0.000_9, rel=0.01)
    assert all(row["aes_encipher_bytes"] == 600 * row["aes_encipher_calls"] for row in tables["smf70_icsf"])
    older = [row for row in tables["smf70_icsf"] if row["system"] == "SYSB"]
    assert all(row["ffx_encipher_calls"] is None for row in older)
    assert older
