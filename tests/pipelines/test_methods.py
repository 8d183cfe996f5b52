"""The methods behind the published results: from what would be measured to the numbers that are printed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tests.pipelines.metric_world import database

from zscope.pipelines.runs.workloads import parse_workloads
from zscope.schemas.reference import reference_tables

Row = Mapping[str, object]

METHODS = {row["id"]: row for row in reference_tables()["reference_method"].to_pylist()}
START = datetime(2026, 3, 2, 10, 0, tzinfo=UTC)
TLS_RSA = "TLS_RSA_WITH_AES_256_CBC_SHA256"
ECDHE_RSA = "ECDHE_RSA_AES_256_CBC_SHA384"


def worked(method: str, name: str | None = None) -> dict[str, Any]:
    """The published example of a method, with what is printed next to what follows."""
    examples = json.loads(METHODS[method]["worked"])
    [found] = [example for example in examples if name is None or example.get("name", "").startswith(name)]
    return {part: found.get(part, {}) for part in ("given", "gives", "printed")}


def asked(name: str, rows: Mapping[str, Sequence[Row]], **parameters: object) -> list[dict[str, Any]]:
    """The rows of a metric over rows of the tables of a store."""
    with database(name, rows) as connection:
        for parameter, value in parameters.items():
            connection.execute(f"SET VARIABLE {parameter} = ?", [value])
        found: list[dict[str, Any]] = connection.execute(f"SELECT * FROM {name}").to_arrow_table().to_pylist()
        return found


def test_every_published_method_is_tried_here() -> None:
    tried = {
        "rmf-cpu-per-tran", "workload-names", "ticket-hit-rate",
        "mq-cipher-overhead", "mq-negotiation", "rscs-etr", "ztpf-throughput", "ztpf-ecb-seconds",
    }  # fmt: skip
    assert set(METHODS) == tried


def test_cpu_per_transaction_follows_from_smf_70_and_a_count() -> None:
    example = worked("rmf-cpu-per-tran")
    given, gives = example["given"], example["gives"]
    length_us = given["interval_s"] * 1_000_000
    record = {
        "system": "SYSA",
        "record_no": 1,
        "record_offset": 0,
        "interval_start_local": START.replace(tzinfo=None),
    }
    end = START + timedelta(seconds=given["interval_s"])
    rows: dict[str, list[Row]] = {
        "smf70_interval": [
            record
            | {
                "interval_ms": length_us // 1000,
                "partition_number": 1,
                "local_offset_us": 0,
                "interval_end_utc": end,
            }
        ],
        "smf70_partition": [
            record
            | {
                "partition_name": "SYSA",
                "partition_number": 1,
                "logical_cpu_skip": 0,
                "logical_cpu_count": given["online_cps"],
                "maximum_thread_id": 0,
            }
        ],
        "smf70_cpu_type": [record | {"section_no": 0, "cpu_type_name": "CP"}],
        "smf70_logical_cpu": [
            record
            | {
                "section_no": number,
                "logical_cpu_address": number,
                "cpu_type_index": 1,
                "weight": 100,
                "logical_cpu_flags": 0,
                "online_us": length_us,
                # Some are busier than others: 25 % is the average of all that are online.
                "dispatch_us": length_us * given["utilization_pct"] // 100 + (-1) ** number * 500_000,
            }
            for number in range(given["online_cps"])
        ],
        "transaction_count": [
            {"system": "SYSA", "start_utc": START, "end_utc": end, "transactions": given["transactions"]}
        ],
        "run": [{"name": "a", "system": "SYSA", "role": "server", "from_utc": START, "to_utc": end}],
    }
    with database("cpu_per_transaction", rows) as connection:
        [found] = (
            connection.execute("SELECT * FROM cpu_per_transaction WHERE counted_by = 'supplied count'")
            .to_arrow_table()
            .to_pylist()
        )
    assert found["cpu_s"] == pytest.approx(gives["cpu_seconds"], rel=1e-12)
    assert found["transactions_per_s"] == pytest.approx(gives["tran_per_s"], rel=1e-12)
    assert found["cpu_us_per_transaction"] == pytest.approx(gives["cpu_us_per_tran"], rel=1e-12)


def test_share_of_cached_tickets_follows_from_two_displays() -> None:
    # 40 sessions stored and 960 found in between: 960 / (960 + 40) = 96 %, which is over the published 95 %.
    shared = {"system": "TGT1", "cache": "ticket", "reset_count": 0, "file": "gsk.txt", "source": "terminal"}
    first = {
        "add_requested": 1000,
        "add_successful": 1000,
        "retrieval_requested": 500,
        "retrieval_successful": 500,
    }
    second = {
        "add_requested": 1040,
        "add_successful": 1040,
        "retrieval_requested": 1470,
        "retrieval_successful": 1460,
    }
    rows = [
        shared
        | counts
        | {
            "line_no": number,
            "taken_local": (START + timedelta(minutes=number)).replace(tzinfo=None),
            "taken_utc": START + timedelta(minutes=number),
            "started_local": START.replace(tzinfo=None),
            "reset_local": START.replace(tzinfo=None),
        }
        for number, counts in enumerate((first, second), start=1)
    ]
    with database("resumption_rate", {"gsk_cache_stats": rows}) as connection:
        found = connection.execute(
            "SELECT full_handshakes, resumed_handshakes, resumed_pct, hit_rate_pct FROM resumption_rate "
            "WHERE source = 'GSKSRVR' AND basis = 'between displays'"
        ).fetchall()
    [(full, resumed, share, hit_rate)] = found
    assert (full, resumed, share) == (40, 960, 96)
    assert share > worked("ticket-hit-rate")["printed"]["hit_pct_over"]
    assert hit_rate == pytest.approx(100 * 960 / 970, rel=1e-12)  # of those who asked; another question


@pytest.mark.parametrize(
    "example", json.loads(METHODS["workload-names"]["worked"]), ids=lambda e: e["given"]["name"]
)
def test_workload_names_are_read_as_published(example: dict[str, Any]) -> None:
    [found] = parse_workloads(example["given"]["name"])
    gives = example["gives"]
    units = {"B": 1, "kB": 1000, "MB": 1_000_000}

    def size(text: str) -> int:
        digits = text.rstrip("kMB")
        return int(digits) * units[text[len(digits) :]]

    assert (found.kind, found.clients) == (gives["kind"], gives["clients"])
    assert found.client_bytes == size(gives["client_bytes"])
    assert found.server_bytes == size(gives["server_bytes"])


@pytest.mark.parametrize("size", ["8KB", "32KB"])
def test_cipher_overhead_follows_from_round_trips(size: str) -> None:
    example = worked("mq-cipher-overhead", size)
    plain, protected = example["given"]["rt_none"], example["given"]["rt_cipher"]
    message = {"8KB": 8192, "32KB": 32768}[size]
    rows: list[Row] = [
        # Two measurements without a cipher, which lie around the published one.
        {"message_bytes": message, "cipher": "none", "round_trip_us": plain - 3.0},
        {"message_bytes": message, "cipher": "none", "round_trip_us": plain + 3.0},
        {"message_bytes": message, "cipher": ECDHE_RSA, "sslrkeyc": 0, "round_trip_us": float(protected)},
        # Renewing keys costs more and is another matter; another size is another row.
        {"message_bytes": message, "cipher": ECDHE_RSA, "sslrkeyc": 1048576, "round_trip_us": 999.0},
        {"message_bytes": 1, "cipher": ECDHE_RSA, "sslrkeyc": 0, "round_trip_us": 1.0},
    ]
    [found] = asked("mq_cipher_overhead", {"mq_round_trip": rows})
    assert (found["message_bytes"], found["cipher"]) == (message, ECDHE_RSA)
    assert found["added_us"] == example["gives"]["added_us"]
    assert round(found["added_pct"], 2) == example["gives"]["pct"]


@pytest.mark.parametrize(
    # The channel counts 8595 bytes for a message of 8 KB, and at 32 KB as many as the message has.
    ("size", "message", "channel_bytes", "without", "tolerance"),
    [("8KB", 8192, 8595, 437, 2e-5), ("32KB", 32768, 32768, 717, 0)],
)
def test_negotiation_time_follows_from_round_trips(
    size: str, message: int, channel_bytes: int, without: float, tolerance: float
) -> None:
    example = worked("mq-negotiation", size)
    with_renewal = without + example["given"]["added_us"]
    shared = {
        "message_bytes": message,
        "cipher": TLS_RSA,
        "channel_message_bytes": float(channel_bytes),
        "channel_pairs": 2,
    }
    rows: list[Row] = [
        shared | {"sslrkeyc": 0, "round_trip_us": without},
        shared | {"sslrkeyc": 1048576, "round_trip_us": with_renewal},
        {"message_bytes": message, "cipher": "none", "round_trip_us": 402.0},
    ]
    [found] = asked("mq_negotiation_cost", {"mq_round_trip": rows})
    gives = example["gives"]
    wanted = example["given"]["messages_per_negotiation"]
    assert found["added_us"] == example["given"]["added_us"]
    assert found["messages_per_negotiation"] == pytest.approx(wanted, rel=tolerance)
    assert found["total_us"] == pytest.approx(gives["total_us"], rel=tolerance)
    assert found["per_negotiation_us"] == pytest.approx(gives["per_negotiation_us"], rel=tolerance)
    printed = example["printed"]
    assert round(found["total_us"] / 1000, 1) == printed["total_ms"]
    assert round(found["per_negotiation_us"] / 1000, 1) == printed["per_negotiation_ms"]


def test_negotiation_time_needs_a_run_that_renews_no_keys() -> None:
    rows = [{"message_bytes": 8192, "cipher": TLS_RSA, "sslrkeyc": 1048576, "round_trip_us": 496.0}]
    assert asked("mq_negotiation_cost", {"mq_round_trip": rows}) == []


def test_cpu_per_transaction_on_zvm_follows_from_two_listings() -> None:
    # (12.9 M + 12.8 M) / 100000 = 257. SSL: 100 x 72.474 / 600 = 12.079 %, / 257 = 0.047; TCPIP: 53.97 s are
    # 8.995 %, 0.035; RSCS: 269.85 s are 44.975 %, 0.175. Together 66.049 % / 257 = 0.257.
    used = {"SSL00001": 72.474, "TCPIP": 53.97, "RSCS": 269.85}
    listing = {"load_id": 1, "file": "perf.txt", "run": "2A", "period_s": 600.0}
    rows: dict[str, list[Row]] = {
        "zvm_user": [
            listing | {"line_no": line, "userid": userid, "tcpu_s": tcpu_s}
            for line, (userid, tcpu_s) in enumerate(used.items(), start=1)
        ],
        "zvm_channel": [
            listing | {"line_no": 8, "chpid": "32", "write_bytes_per_s": 1.2e6, "read_bytes_per_s": 3.4e6},
            listing | {"line_no": 9, "chpid": "54", "write_bytes_per_s": 12.9e6, "read_bytes_per_s": 12.8e6},
        ],
    }
    by_server = {row["server"]: row for row in asked("zvm_cpu_per_tx", rows)}
    table_2 = worked("rscs-etr", "Table 2")
    for server in ("SSL", "TCPIP", "RSCS"):
        assert round(by_server[server]["cpu_per_tx"], 3) == table_2["given"][server.lower()]
    assert round(by_server["combined"]["cpu_per_tx"], 3) == table_2["gives"]["combined"]
    unit = worked("rscs-etr", "unit")
    assert by_server["RSCS"]["etr"] == unit["given"]["etr"]
    assert round(by_server["RSCS"]["busy_pct"], 2) == pytest.approx(
        unit["gives"]["cpu_utilization"], abs=0.005
    )


def flood(name: str, points: Sequence[tuple[float, float]], column: str) -> dict[str, list[Row]]:
    """A series of z/TPF with the run it belongs to, which begins 5 s after the first sample."""
    begin = START + timedelta(seconds=5)
    switch = {"before": "off", "after": "on"}[name]
    run = {
        "name": name, "system": "TPFA", "role": "server", "from_utc": begin,
        "to_utc": begin + timedelta(minutes=1), "tags": [f"pj48040={switch}", "sessions=8000"],
        "synthetic": False,
    }  # fmt: skip
    samples: list[Row] = [
        {
            "load_id": 1, "file": f"{name}.csv", "line_no": number + 2, "system": "TPFA", "series": name,
            "run": name, "sample_no": number, "since_start_us": round(1e6 * at),
            "sample_utc": START + timedelta(seconds=at), column: float(value),
        }
        for number, (at, value) in enumerate(points)
    ]  # fmt: skip
    return {"run": [run], "ztpf_series": samples}


def floods(
    column: str, *, rule: str = "trapezoid", **points: Sequence[tuple[float, float]]
) -> dict[str, dict[str, Any]]:
    """What the metric says of two floods, by their names."""
    both = [flood(name, found, column) for name, found in points.items()]
    rows = {table: [row for one in both for row in one[table]] for table in ("run", "ztpf_series")}
    return {row["series"]: row for row in asked("ztpf_flood", rows, ztpf_rule=rule)}


def test_throughput_gain_follows_from_sessions_over_time() -> None:
    # 20000 starts in 20 s against 29200 in 20 s: 1460 / 1000 - 1 = 46 %; 1000 / 1460 = 0.68493.
    found = floods(
        "tls_starts_completed",
        before=[(0, 0), (5, 0), (15, 10000), (25, 20000), (35, 20000)],
        after=[(0, 100), (5, 100), (25, 29300), (40, 29300)],
    )
    example = worked("ztpf-throughput")
    assert found["before"]["starts_per_s"] == pytest.approx(1000, rel=1e-12)
    assert found["after"]["starts_per_s"] == pytest.approx(1460, rel=1e-12)
    assert found["after"]["against"] == "before"
    assert found["after"]["throughput_gain_pct"] == pytest.approx(example["given"]["gain_pct"], rel=1e-12)
    assert round(found["after"]["elapsed_ratio"], 3) == example["gives"]["elapsed_ratio"]


def test_ecb_seconds_follow_from_samples_over_time() -> None:
    # The pictures as rectangles: values that hold until the next sample.
    found = floods(
        "ecbs_in_use",
        rule="step",
        before=[(at, 2500 if 5 <= at < 25 else 0) for at in range(31)],
        after=[(at, 100 if 5 <= at < 7 else 0) for at in range(31)],
    )
    for name in ("before", "after"):
        example = worked("ztpf-ecb-seconds", name)
        assert found[name]["peak_ecbs"] == example["given"]["peak"]
        assert found[name]["duration_s"] == example["given"]["duration_s"]
        assert found[name]["sessions"] == example["given"]["sessions"]
        assert found[name]["ecb_seconds"] == example["gives"]["ecb_seconds"]
        assert found[name]["ecb_seconds_per_session"] == example["gives"]["per_session"]
    wanted = worked("ztpf-ecb-seconds", "change")["gives"]["change_pct"]
    assert found["after"]["ecb_seconds_change_pct"] == pytest.approx(wanted, rel=1e-12)
    assert found["after"]["peak_change_pct"] == pytest.approx(-96, rel=1e-12)
    assert found["after"]["duration_change_pct"] == pytest.approx(-90, rel=1e-12)
