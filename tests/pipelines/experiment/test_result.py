"""The rows and sentences of a result: what is left out, which kinds were tested, what is said."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pytest

from zscope.pipelines.experiment.result import result_table, sentences
from zscope.samples.experiment_truth import ARMS, ExperimentWorld, simulated_experiment

COUNTS = ("test_plain", "test_full", "test_resumed", "test_tls_mb", "test_plain_mb")
Row = dict[str, Any]
KIND: Row = {
    "system": "SYSA", "test_port": 4443, "tls_version": "TLSv1.3", "cipher_name": "TLS_AES_256_GCM_SHA384",
    "key_exchange": "TLS13", "handshake_role": "server", "server_cert_key_bits": 2048, "test_full": 1000,
    "test_resumed": 1000, "real_full": 5000, "real_resumed": 9000,
}  # fmt: skip


def interval_rows() -> list[Row]:
    """Return the rows of experiment_interval of a simulated experiment, with a log that agrees."""
    columns = simulated_experiment(ExperimentWorld(), 7).columns
    rows = []
    for at in range(len(columns["arm"])):
        row: Row = {name: float(column[at]) for name, column in columns.items()}
        arm = int(row.pop("arm"))
        row["interval_start_utc"] = datetime.fromtimestamp(row.pop("start_us") / 1e6, UTC)
        row |= {"system": "SYSA", "test_port": 4443, "arm": ARMS[arm] if arm >= 0 else None}
        row["client_full"], row["client_resumed"] = round(row["test_full"]), round(row["test_resumed"])
        row["client_connections"] = row["client_full"] + row["client_resumed"] + round(row["test_plain"])
        if arm < 0:
            row |= {"client_full": None, "client_resumed": None, "client_connections": None}
        rows.append(row)
    return rows


def result(rows: list[Row], *kinds: Row) -> list[Row]:
    """Return the rows of the result."""
    table = result_table(pa.Table.from_pylist(rows), pa.Table.from_pylist(list(kinds or (KIND,))))
    return list(table.to_pylist())


def test_costs_and_price_have_the_kind_that_was_tested() -> None:
    rows = result(interval_rows())
    assert [(row["item"], row["unit"], row["status"]) for row in rows] == [
        ("full handshake", "us", "estimate"),
        ("resumed handshake", "us", "estimate"),
        ("megabyte", "us", "estimate"),
        ("TLS", "s/day", "estimate"),
    ]
    assert {row["kind"] for row in rows} == {
        "TLSv1.3, TLS_AES_256_GCM_SHA384, TLS13, key of 2048 bits, server"
    }
    assert {(row["left_out"], row["intervals"], row["tested_pct"]) for row in rows} == {(0, 16, 100)}
    [sentence] = sentences(rows)
    assert sentence.startswith("SYSA, port 4443: TLS costs ")
    assert sentence.endswith("CPU s a day; application work is not in it")


def test_another_kind_of_real_handshakes_makes_a_range() -> None:
    other = KIND | {"key_exchange": "RSA", "test_full": 0, "test_resumed": 0, "real_full": 5000}
    price = result(interval_rows(), KIND, other)[-1]
    assert (price["status"], price["tested_pct"], price["high"]) == ("range", 50, None)
    [sentence] = sentences([price])
    assert "TLS costs at least" in sentence
    assert "at most" not in sentence


def test_costs_of_two_tested_kinds_are_their_mean() -> None:
    rows = result(interval_rows(), KIND, KIND | {"tls_version": "TLSv1.2"})
    assert {row["status"] for row in rows[:3]} == {"conditional"}
    assert rows[0]["kind"].count("; ") == 1


def test_intervals_whose_records_are_not_those_of_the_log_are_left_out() -> None:
    rows = interval_rows()
    full = [row for row in rows if row["arm"] == "full"]
    for row in full[:2]:
        row["test_full"] = 0.9 * row["client_full"]
    for row in full[2:4]:
        row["test_full"] = 0.97 * row["client_full"]
    after = result(rows)
    assert {(row["left_out"], row["intervals"]) for row in after} == {(2, 14)}
    for row in rows:
        if row["arm"] in ("full", "plain"):
            row["client_connections"] += 5000
    refused = result(rows)
    assert [(row["item"], row["status"]) for row in refused] == [("TLS", "not enough data")]
    assert refused[0]["why"] == "0 intervals of an arm can be used, 8 are needed"


def test_many_intervals_left_out_make_a_condition() -> None:
    rows = interval_rows()
    in_test = [row for row in rows if row["arm"] is not None]
    for row in in_test[:12]:
        row["client_full"] = 10_000
    price = result(rows)[-1]
    assert price["status"] in ("conditional", "range")
    assert price["left_out"] == 12


def test_two_experiments_that_tested_all_kinds_give_a_price_together() -> None:
    first = interval_rows()
    second = [row | {"test_port": 4444} for row in first]
    other = {"key_exchange": "RSA", "real_full": 5000, "real_resumed": 9000}
    kinds = (
        KIND,
        KIND | other | {"test_full": 0, "test_resumed": 0},
        KIND | {"test_port": 4444, "test_full": 0, "test_resumed": 0},
        KIND | other | {"test_port": 4444},
    )
    rows = result([*first, *second], *kinds)
    prices = [row for row in rows if row["item"] == "TLS"]
    assert [(row["test_port"], row["status"]) for row in prices] == [
        (4443, "range"), (4444, "range"), (None, "conditional"),
    ]  # fmt: skip
    whole = result(first)[-1]
    # Both have the same data, and each kind half of the handshakes.
    assert prices[-1]["value"] == pytest.approx(whole["value"])
    assert prices[-1]["low"] > whole["low"]
    assert prices[-1]["tested_pct"] == 100
    assert list(sentences(prices))[-1].startswith("SYSA, all tested kinds: TLS costs ")
    third = KIND | {"key_exchange": "DHE", "test_full": 0, "real_full": 2500}
    incomplete = result([*first, *second], *kinds, third, third | {"test_port": 4444})[-1]
    assert (incomplete["status"], incomplete["high"], incomplete["tested_pct"]) == ("range", None, 80)


def test_two_experiments_of_the_same_kind_are_not_added() -> None:
    first = interval_rows()
    second = [row | {"test_port": 4444} for row in first]
    rows = result([*first, *second], KIND, KIND | {"test_port": 4444})
    assert [row["test_port"] for row in rows if row["item"] == "TLS"] == [4443, 4444]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"arm": None}, "no interval of SMF 30 of the stack is in the time of the experiment"),
        ({"listener_cpu_s": None}, "SMF 30 has no interval of the job of the listener"),
    ],
)
def test_without_cpu_time_of_both_address_spaces_there_is_no_cost(change: Row, why: str) -> None:
    [row] = result([row | change for row in interval_rows()])
    assert (row["status"], row["why"]) == ("not enough data", why)
    assert list(sentences([row])) == [f"SYSA, port 4443: not enough data: {why}"]


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        ({"status": "conditional", "why": "if A"}, "TLS costs 95.2 (90.1 to 100) CPU s a day, if A"),
        ({"status": "differs", "why": "A"}, "TLS costs between 90.1 and 100 CPU s a day, but A"),
        ({"status": "range", "why": "A"}, "TLS costs at least 90.1, at most 100 CPU s a day: A"),
    ],
)
def test_each_status_has_its_sentence(row: Row, sentence: str) -> None:
    numbers = {"item": "TLS", "value": 95.2, "low": 90.1, "high": 100.4}
    assert list(sentences([{"system": "S", "test_port": 1} | numbers | row])) == [f"S, port 1: {sentence}"]
