"""Published results can be compared: each has a rule, and tags select its runs."""

from __future__ import annotations

from collections import Counter
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import pytest
from tests.schemas.test_published import assert_refused

from zscope.schemas.declared import TomlFile
from zscope.schemas.published import published_tables

if TYPE_CHECKING:
    from pathlib import Path

RESULTS: list[dict[str, Any]] = published_tables()["reference_result"].to_pylist()
FILLINGS: list[dict[str, Any]] = published_tables()["reference_filling"].to_pylist()
BY_ID = {row["id"]: row for row in FILLINGS}
PAIRS = [(row, BY_ID[row["id"]]) for row in RESULTS]
FROM_RUNS = [pair for pair in PAIRS if pair[1]["filled_from"] == "runs"]


def test_every_result_has_one_filling() -> None:
    assert [row["id"] for row in FILLINGS] == [row["id"] for row in RESULTS]
    assert Counter(row["filled_from"] for row in FILLINGS) == {
        "runs": 73,
        "inputs": 47,
        "nothing": 4,
        "metric": 2,
    }


def test_every_declared_rule_fills_something() -> None:
    rules = TomlFile.read(files("zscope.schemas") / "published" / "fillings.toml").content
    assert set(rules) == {row["rule"] for row in FILLINGS}


@pytest.mark.parametrize(("result", "filling"), PAIRS, ids=lambda row: row["id"])
def test_a_filling_names_its_source_or_an_obstacle(result: dict[str, Any], filling: dict[str, Any]) -> None:
    if filling["filled_from"] == "nothing":
        assert filling["obstacle"]
        assert not filling["captures"]
    else:
        assert filling["captures"]
    about_other_systems = result["document"].startswith(("The impact", "RSCS", "Shared SSL"))
    assert (filling["filled_from"] == "inputs") == about_other_systems
    assert (filling["obstacle"] is None) == (filling["filled_from"] != "nothing")
    assert (filling["measure"] is None) == (filling["filled_from"] == "nothing")


@pytest.mark.parametrize(("result", "filling"), FROM_RUNS, ids=lambda row: row["id"])
def test_a_pair_of_runs_is_distinguished_by_tags(result: dict[str, Any], filling: dict[str, Any]) -> None:
    assert result["baseline_tags"]
    assert result["candidate_tags"]
    assert result["value_kind"] in {"percent_change", "direction"}
    assert filling["measure"] in {"cpu_per_tran", "latency", "transaction_rate", "throughput"}
    own = {tag.split("=")[0] for name in ("baseline_tags", "candidate_tags") for tag in result[name]}
    assert not own & set(filling["free_tags"])
    assert not own & {tag.split("=")[0] for tag in filling["both_tags"]}


@pytest.mark.parametrize(("result", "filling"), FROM_RUNS, ids=lambda row: row["id"])
def test_what_is_measured_is_what_was_published_or_it_is_said(
    result: dict[str, Any], filling: dict[str, Any]
) -> None:
    assert filling["measure"] == result["metric"] or result["metric"] == "performance"
    assert filling["also_measures"] == (["latency"] if result["metric"] == "performance" else [])


def test_a_level_that_depends_on_the_machine_is_marked() -> None:
    """A time, CPU or a scaled figure alone is never compared with that of another machine."""
    for result, filling in PAIRS:
        if filling["filled_from"] != "inputs" or result["unit"] in (None, "pct", "messages", "sends"):
            continue
        assert filling["level"], result["id"]
    assert BY_ID["mq-8k-interval"]["level"] is None
    assert BY_ID["ztpf-sharedssl-thread-cap"]["level"] is None


def test_what_is_loaded_is_measured_under_the_name_of_the_result_or_that_of_its_rule() -> None:
    assert BY_ID["rscs-t2-etr"]["measure"] == "throughput_etr"
    assert BY_ID["mq-8k-cipher-added"]["measure"] == "round_trip"
    assert BY_ID["ztpf-memory"]["measure"] == "ecb_seconds"


def test_time_of_a_connection_is_latency_only_if_each_transaction_has_one() -> None:
    for result, filling in PAIRS:
        if filling["rule"] == "connection-time-pair":
            assert filling["run_kinds"] == ["CRR"], result["id"]
        if filling["rule"] == "transaction-time":
            assert set(filling["run_kinds"]) <= {"RR", "STR"}, result["id"]


def test_workloads_of_a_document_are_in_its_text() -> None:
    assert BY_ID["tls31-ecdhe-vs-rsa-kx-cpu"]["workloads"] == ["CRR40(64B/8kB)"]
    assert BY_ID["perf32-smcr-tcp-str-cpu"]["workloads"] == ["STR1(1B/20MB)", "STR1(20MB/1B)"]
    assert BY_ID["perf32-shared-osh-hs-rr-cpu"]["workloads"] == []
    # Several kinds at once: no run has the name of such a workload in one piece.
    mixed = BY_ID["perf32-gre-iwq-cpu"]
    assert (mixed["run_kinds"], mixed["workloads"], mixed["both_tags"]) == ([], [], ["traffic=RR+STR"])


def test_a_difference_is_a_percentage_where_its_level_is_published() -> None:
    levels = {row["id"]: row["percent_of"] for row in FILLINGS if row["percent_of"] is not None}
    assert levels == {"mq-8k-cipher-added": 402, "mq-32k-cipher-added": 563}
    of_result = {row["id"]: row for row in RESULTS}
    assert all(of_result[name]["value_kind"] == "difference" for name in levels)


def test_results_about_a_payload_are_not_measured_with_another() -> None:
    sizes = {row["id"]: (row["least_payload_bytes"], row["most_payload_bytes"]) for row in FILLINGS}
    assert sizes["perf32-shared-osh-hs-rr-latency-32k"] == (32000, 32768)
    assert sizes["perf32-shared-osh-hs-rr-latency-small"] == (0, 31999)


@pytest.mark.parametrize(
    ("file", "old", "new", "problem"),
    [
        ("results_perf32", "[32000, 32768]", "[2, 1]", "payload_bytes [2, 1] is not the least and the most"),
        ("results_mq", "percent_of = 402", "percent_of = 0", "percent_of 0.0 is not a level"),
        (
            "fillings",
            '"inputs"\n',
            '"inputs"\nalso = ["latency"]\n',
            "line 83: mq-round-trips.also: is not allowed in a rule from inputs",
        ),
        ("results_mq", '"mq-cpu"', '"mq-cup"', "names 'mq-cup', which is not declared"),
        (
            "results_perf32",
            'run_kinds = ["CRR"]',
            'run_kinds = ["CCR"]',
            'run_kinds[0]: expected "RR", "CRR" or "STR", got \'CCR\'',
        ),
        (
            "fillings",
            'measure = "latency"\n',
            "",
            "connection-time-pair.measure: is missing, which a rule from runs needs",
        ),
        (
            "fillings",
            '"nothing"\nobstacle',
            '"nothing"\ncaptures',
            "datagram-time.obstacle: is missing, which a rule",
        ),
        (
            "fillings",
            '"runs"\n',
            '"runs"\nlevel = "x"\n',
            "line 22: cpu-pair.level: is not allowed in a rule from runs",
        ),
    ],
)
def test_a_wrong_filling_is_refused(tmp_path: Path, file: str, old: str, new: str, problem: str) -> None:
    assert_refused(tmp_path, f"{file}.toml", old, new, problem)
