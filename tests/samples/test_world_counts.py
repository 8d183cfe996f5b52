"""All records, reports and displays of a world agree with each other and with the manifest."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from tests.samples.world_reading import ReadWorld, contents, read_world, write

from zscope.parsers import Severity
from zscope.samples.world import WorldRecipe

if TYPE_CHECKING:
    from pathlib import Path

RECIPE = WorldRecipe(seed=7, days=2, connections_per_hour=60, runs="none")
LAST = "FROM smf119_zert_detail WHERE event_type IN (3, 4)"


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> ReadWorld:
    return read_world(RECIPE, tmp_path_factory.mktemp("world"))


@pytest.mark.deep
def test_another_seed_gives_other_bytes(tmp_path: Path) -> None:
    """The sample world shows that the same seed gives the same bytes."""
    for name, seed in (("a", 1), ("b", 2)):
        recipe = WorldRecipe(seed=seed, days=1, connections_per_hour=8, runs="none", packing="gzip")
        write(recipe, tmp_path / name)
    first, other = (contents(tmp_path / name) for name in "ab")
    changed = {name for name in first if first[name] != other[name]}
    assert changed >= {f"smf/{name}.smf.gz" for name in ("CLI1", "CLI2", "SRV1", "SRV2")}
    assert first["README.txt"] == other["README.txt"]


@pytest.mark.deep
def test_reading_it_gives_the_rows_of_the_manifest_and_no_warning(world: ReadWorld) -> None:
    expected = world.manifest["rows_by_table"]
    assert {name: world.tables[name].num_rows for name in expected} == expected
    assert [str(issue) for issue in world.tables.issues if issue.severity > Severity.NOTE] == []


def test_connections_and_bytes_are_those_of_the_manifest(world: ReadWorld) -> None:
    decoded = world.rows(
        f"SELECT system, end_utc::DATE::VARCHAR, count(*), sum(in_bytes), sum(out_bytes) {LAST} GROUP BY ALL"
    )
    expected = [
        (system, day, row["connections_ended"], row["in_bytes"], row["out_bytes"])
        for system, days in world.manifest["days"].items()
        for day, row in days.items()
        if row.get("connections_ended")
    ]
    assert sorted(decoded) == sorted(expected)


def test_handshakes_are_those_of_the_manifest_by_kind_version_and_cipher(world: ReadWorld) -> None:
    kinds = {1: "full", 2: "abbreviated", 3: "failed", None: "none"}
    versions = {0x0301: "TLSv1.0", 0x0303: "TLSv1.2", 0x0304: "TLSv1.3"}
    rows = world.rows(f"SELECT system, handshake_type, tls_version, cipher, count(*) {LAST} GROUP BY ALL")
    decoded: dict[str, dict[str, Counter[str]]] = {}
    for system, kind, version, cipher, count in rows:
        counts = decoded.setdefault(
            system, {"handshakes": Counter(), "by_version": Counter(), "by_cipher": Counter()}
        )
        counts["handshakes"][kinds[kind]] += count
        if kinds[kind] in {"full", "abbreviated"}:
            counts["by_version"][versions[version]] += count
            counts["by_cipher"][cipher] += count
    for system, days in world.manifest["days"].items():
        for name, seen in decoded[system].items():
            expected: Counter[str] = Counter()
            for row in days.values():
                expected.update(row.get(name, {}))
            assert seen == expected, (system, name)


def test_every_connection_has_the_same_values_at_both_ends(world: ReadWorld) -> None:
    [[both, alike]] = world.rows(
        f"""WITH ended AS (SELECT * {LAST})
        SELECT count(*), count(*) FILTER (
            WHERE c.end_utc = s.end_utc AND c.in_bytes = s.out_bytes AND c.out_bytes = s.in_bytes
            AND c.tls_version IS NOT DISTINCT FROM s.tls_version AND c.cipher IS NOT DISTINCT FROM s.cipher
            AND c.handshake_type IS NOT DISTINCT FROM s.handshake_type
            AND c.session_id IS NOT DISTINCT FROM s.session_id AND c.event_type = s.event_type)
        FROM ended AS c JOIN ended AS s ON c.start_utc = s.start_utc
            AND (c.local_ip, c.local_port, c.remote_ip, c.remote_port)
            = (s.remote_ip, s.remote_port, s.local_ip, s.local_port)
        WHERE c.system LIKE 'CLI%' AND s.system LIKE 'SRV%'"""
    )
    started = {
        name: sum(d.get("connections_started", 0) for d in days.values())
        for name, days in world.manifest["days"].items()
    }
    assert both == alike == started["CLI1"] + started["CLI2"] == started["SRV1"] + started["SRV2"] > 2_000


def test_the_distributor_assigns_servers_in_turn(world: ReadWorld) -> None:
    turns = world.rows(
        "SELECT c.system, list(s.system ORDER BY c.start_utc, c.connection_id) "
        "FROM smf119_tcp_init AS c JOIN smf119_tcp_init AS s ON c.start_utc = s.start_utc "
        "AND c.local_port = s.remote_port AND c.local_ip = s.remote_ip "
        "WHERE c.remote_ip = '192.168.20.1' GROUP BY ALL"
    )
    assert len(turns) == 2
    for _, servers in turns:
        assert all(a != b for a, b in pairwise(servers))


def test_tcp_records_agree_with_zert_records(world: ReadWorld) -> None:
    query = (
        "SELECT system, connection_id, start_utc, end_utc, local_ip, local_port, remote_ip, remote_port, "
        "in_bytes, out_bytes, {version}, {cipher} FROM {table} ORDER BY ALL"
    )
    tcp = world.rows(query.format(version="tls_version", cipher="cipher_4", table="smf119_tcp_term"))
    zert = world.rows(
        query.format(
            version="CASE WHEN handshake_type < 3 THEN tls_version END",
            cipher="CASE WHEN handshake_type < 3 THEN trim(cipher) END",
            table=f"(SELECT * {LAST})",
        )
    )
    assert tcp == zert
    starts = world.rows("SELECT system, connection_id, start_utc FROM smf119_tcp_init ORDER BY ALL")
    assert starts == sorted(row[:3] for row in tcp)


def test_summaries_add_up_the_connections(world: ReadWorld) -> None:
    def total(what: str) -> str:
        return f"sum(end_{what} - coalesce(init_{what}, 0))::BIGINT"

    summed = world.rows(
        "SELECT system, security_protocols_flags, tls_version, trim(cipher), "
        f"{total('conn_count')}, coalesce({total('failed_handshake_count')}, 0), "
        f"{total('short_conn_count')}, "
        f"{total('partial_conn_count')}, {total('in_bytes')}, {total('out_bytes')} "
        "FROM smf119_zert_summary WHERE summary_event_type = 1 GROUP BY ALL"
    )
    by_system: dict[str, list[int]] = {}
    for system, *_, counts in ((row[0], row[4:]) for row in summed):
        by_system[system] = [a + b for a, b in zip(by_system.get(system, [0] * 6), counts, strict=True)]
    detail = world.rows(
        "SELECT system, count(*), count(*) FILTER (WHERE handshake_type = 3), "
        "count(*) FILTER (WHERE event_type = 4), 0, sum(in_bytes)::BIGINT, sum(out_bytes)::BIGINT "
        f"{LAST} GROUP BY ALL"
    )
    changed = dict(
        world.rows("SELECT system, count(*) FROM smf119_zert_detail WHERE event_type = 2 GROUP BY ALL")
    )
    assert by_system == {
        system: [n, failed, short, changed[system], *sizes] for system, n, failed, short, _, *sizes in detail
    }
    good = Counter(
        {(row[0], row[2], row[3]): row[4] - row[5] for row in summed if row[1] and row[4] > row[5]}
    )
    expected = Counter(
        {
            (system, version, cipher): count
            for system, version, cipher, count in world.rows(
                "SELECT system, tls_version, trim(cipher), count(*) "
                f"{LAST} AND handshake_type < 3 GROUP BY ALL"
            )
        }
    )
    assert good == expected


def test_counters_of_summaries_continue(world: ReadWorld) -> None:
    [[broken]] = world.rows(
        """SELECT count(*) FROM (
            SELECT init_conn_count, init_in_bytes,
                lag(end_conn_count) OVER w AS conns, lag(end_in_bytes) OVER w AS bytes
            FROM smf119_zert_summary WHERE summary_event_type = 1
            WINDOW w AS (PARTITION BY system, security_session_id ORDER BY written_local)
        ) WHERE conns <> init_conn_count OR bytes <> init_in_bytes"""
    )
    assert broken == 0


def test_long_connections_span_intervals_and_midnight_and_change_once(world: ReadWorld) -> None:
    [[spanning, over_midnight, changed]] = world.rows(
        f"""SELECT count(*) FILTER (WHERE end_utc - start_utc > INTERVAL 30 MINUTE),
            count(*) FILTER (WHERE start_utc::DATE < end_utc::DATE),
            (SELECT count(*) FROM smf119_zert_detail WHERE event_type = 2) {LAST}"""
    )
    assert spanning > 50
    assert over_midnight > 1
    expected = sum(
        d.get("protection_changed", 0) for days in world.manifest["days"].values() for d in days.values()
    )
    assert changed == expected > 5
    [[before, after]] = world.rows(
        """SELECT count(*) FILTER (WHERE s.security_protocols_flags = 0),
            count(*) FILTER (WHERE c.security_protocols_flags = 128)
        FROM smf119_zert_detail AS c JOIN smf119_zert_detail AS s USING (system, connection_id, start_utc)
        WHERE c.event_type = 2 AND s.event_type = 1"""
    )
    assert before == after == expected


def test_only_stacks_of_level_3_2_report_failed_handshakes(world: ReadWorld) -> None:
    failed = dict(world.rows(f"SELECT system, count(*) {LAST} AND handshake_type = 3 GROUP BY ALL"))
    assert set(failed) == {"CLI1", "SRV1", "SRV2"}
    [[level]] = world.rows("SELECT DISTINCT tls_version FROM smf119_zert_detail WHERE handshake_type = 3")
    assert level == 0


def test_caches_count_the_handshakes_of_servers(world: ReadWorld) -> None:
    shown = world.rows(
        "SELECT system, cache, taken_local, add_successful, retrieval_successful, reset_count "
        "FROM gsk_cache_stats ORDER BY system, cache, taken_local"
    )
    expected = [
        (row["system"], row["cache"], _local(row["at"]), row["add_successful"], row["retrieval_successful"])
        for row in world.manifest["gsksrvr"]
    ]
    assert [row[:5] for row in shown] == sorted(expected)
    resets = 0
    for (system, cache, at, added, decoded, reset), later in pairwise(shown):
        if later[:2] != (system, cache):
            continue
        began = "2026-03-09 10:30:00" if later[5] > reset else str(at)
        [[full, resumed]] = world.rows(
            f"""SELECT count(*) FILTER (WHERE handshake_type = 1), count(*) FILTER (WHERE handshake_type = 2)
            FROM (
                SELECT *, CASE WHEN event_type = 2 THEN written_local
                    ELSE (start_utc AT TIME ZONE 'UTC') + INTERVAL 1 HOUR END AS handshake_local
                FROM smf119_zert_detail WHERE event_type IN (1, 2, 4)
            )
            WHERE system = '{system}' AND security_protocols_flags = 128 AND local_ip IS NOT NULL
                AND handshake_local >= '{began}' AND handshake_local < '{later[2]}'
                AND (tls_version = 772) = ('{cache}' = 'ticket')"""
        )
        base = (0, 0) if later[5] > reset else (added, decoded)
        assert (later[3] - base[0], later[4] - base[1]) == (full, resumed), (system, cache, at)
        resets += later[5] > reset
    assert resets == 2


def test_netstat_shows_the_open_connections(world: ReadWorld) -> None:
    [[shown, there]] = world.rows(
        f"""SELECT count(*), count(d.system) FROM netstat_conn AS n
        LEFT JOIN (SELECT * {LAST}) AS d ON d.system = n.system AND d.connection_id = n.connection_id
            AND d.local_port = n.local_port AND d.remote_port = n.remote_port AND d.local_ip = n.local_ip
            AND d.remote_ip = n.remote_ip AND d.job_name = n.job_name
            AND d.start_utc <= (n.taken_local - INTERVAL 1 HOUR) AT TIME ZONE 'UTC'
            AND d.end_utc > (n.taken_local - INTERVAL 1 HOUR) AT TIME ZONE 'UTC'
        WHERE n.state ILIKE 'est%'"""
    )
    assert shown == there > 10


def _local(utc: str) -> datetime:
    return datetime.fromisoformat(utc).replace(tzinfo=None) + timedelta(hours=1)


def test_the_manifest_and_the_files_are_labelled_as_synthetic(world: ReadWorld) -> None:
    manifest: dict[str, Any] = world.manifest
    assert manifest["synthetic"] is True
    for path in (
        world.folder / "README.txt",
        world.folder / "runs.toml",
        world.folder / "displays/syslog.txt",
    ):
        assert "synthetic" in path.read_text(encoding="utf-8")[:200].lower()
