"""Each published result of network runs, with a change that agrees, contradicts, or is too uncertain.

The changes are those of pairs of runs that have the tags of the result, so the rules of the results are
tested with their own declarations.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from tests.pipelines.metrics.metric_steps import step_tables

from zscope.schemas.published import published_tables

NETWORK = (
    "perf32-gre-iwq-cpu",
    "perf32-iprouter-local-cpu",
    "perf32-iprouter-local-latency",
    "perf32-iprouter-mixed-cpu",
    "perf32-iprouter-mixed-forward-rate",
    "perf32-iprouter-mixed-local-rate",
    "perf32-one-nic-rr-crr-str",
    "perf32-one-nic-str",
    "perf32-r32-r31-osd",
    "perf32-shared-osh-hs-rr-latency-small",
    "perf32-shared-osh-osd-rr-latency",
    "perf32-shared-osh-osd-str",
    "perf32-smcd-z17-z16-rr-cpu",
    "perf32-smcd-z17-z16-rr-latency",
    "perf32-smcd-z17-z16-str-cpu",
    "perf32-smcd-z17-z16-str-throughput",
    "perf32-smcr-neth-rr-latency",
    "perf32-smcr-neth-str-cpu",
    "perf32-smcr-tcp-rr-cpu",
    "perf32-smcr-tcp-str-cpu",
    "perf32-zlinux-rr-latency",
    "perf32-zlinux-str-cpu-receiver",
    "perf32-zlinux-str-cpu-sender",
    "perf32-zlinux-str-throughput",
)
FIGURES = {
    "perf32-gre-iwq-cpu": -9.0,
    "perf32-smcr-neth-rr-latency": -10.0,
    "perf32-smcr-neth-str-cpu": -10.0,
}
"""Results with a number; a tenth of it is tolerated on both sides."""
SAME = {"perf32-one-nic-rr-crr-str", "perf32-one-nic-str", "perf32-r32-r31-osd"}
"""Results that find no difference: less than 5 % is none."""
AT_LEAST_THE_SAME = {"perf32-shared-osh-hs-rr-latency-small"}
"""Results that find more for some sizes, and no difference for others."""
MORE = {
    "perf32-iprouter-mixed-forward-rate", "perf32-iprouter-mixed-local-rate", "perf32-shared-osh-osd-str",
    "perf32-smcd-z17-z16-str-throughput", "perf32-zlinux-str-throughput",
}  # fmt: skip
"""Results that find an increase; the others find a decrease."""
WORKLOADS = {"RR": "RR60(16kB/16kB)", "CRR": "CRR40(64B/8kB)", "STR": "STR1(1B/20MB)"}
Interval = tuple[float, float, float]
AGREES, CONTRADICTS, UNCERTAIN = "agrees", "contradicts", "uncertain"
# The change with its interval, and the verdict: of a number v, v +- 0.5 agrees and 3 v +- 0.5 differs; half
# of it +- all of it contains both zero and v. A decrease of 10 +- 2 % is one, 1 +- 3 % can be an increase.
# 1 +- 2 % is within 5 %, 20 +- 2 % is not, 3 +- 4 % can be either.
EXPECTED = {
    AGREES: (("agrees", None), ("direction only", "agrees"), ("direction only", "agrees")),
    CONTRADICTS: (("differs", None), ("direction only", "contradicts"), ("direction only", "contradicts")),
    UNCERTAIN: (
        ("not comparable", None),
        ("direction only", "within noise"),
        ("direction only", "within noise"),
    ),
}
"""By outcome, the verdict and direction of a number, of a direction, and of no difference."""


def _change(result: str, outcome: str) -> Interval:
    """Return a change with its interval."""
    if figure := FIGURES.get(result):
        middle, half = {
            AGREES: (figure, 0.5),
            CONTRADICTS: (3 * figure, 0.5),
            UNCERTAIN: (figure / 2, -figure),
        }[outcome]
    elif result in SAME:
        middle, half = {AGREES: (1.0, 2.0), CONTRADICTS: (20.0, 2.0), UNCERTAIN: (3.0, 4.0)}[outcome]
    elif result in AT_LEAST_THE_SAME:
        middle, half = {AGREES: (20.0, 2.0), CONTRADICTS: (-20.0, 2.0), UNCERTAIN: (-3.0, 4.0)}[outcome]
    else:
        sign = 1.0 if result in MORE else -1.0
        middle, half = {AGREES: (10.0 * sign, 2.0), CONTRADICTS: (-10.0 * sign, 2.0), UNCERTAIN: (sign, 3.0)}[
            outcome
        ]
    return middle, middle - half, middle + half


def _kind(result: dict[str, Any]) -> str | None:
    kinds: list[str] = result["run_kinds"]
    return kinds[0] if kinds else None


def _runs(result: dict[str, Any], *, with_both_tags: bool) -> list[dict[str, Any]]:
    """Return both sides of the two runs of a result."""
    kind = _kind(result)
    workload = (result["workloads"] or [WORKLOADS.get(kind or "", "RR10(4kB) + STR1(5MB/1B)")])[0]
    both = [*result["condition_tags"], *result["both_tags"]] if with_both_tags else []
    return [
        {
            "name": f"{result['id']}, {part}", "system": system, "role": role,
            "tags": [*result[f"{part}_tags"], *both],
            "workload": workload, "workload_kind": kind, "client_bytes": 1, "server_bytes": 16_000,
            "from_utc": datetime(2026, 3, 9, tzinfo=UTC), "synthetic": False,
        }
        for part in ("baseline", "candidate")
        for system, role in (("CLI1", "client"), ("SRV1", "server"))
    ]  # fmt: skip


def _comparisons(result: dict[str, Any], outcome: str) -> list[dict[str, Any]]:
    change, low, high = _change(result["id"], outcome)
    return [
        {
            "baseline": f"{result['id']}, baseline", "candidate": f"{result['id']}, candidate",
            "role": role, "measure": measure, "baseline_value": 100.0, "candidate_value": 100.0 + change,
            "change_pct": change, "low_pct": low, "high_pct": high,
        }
        for role in ("client", "server", "both")
        for measure in (result["measure"], *result["also_measures"])
    ]  # fmt: skip


def _results() -> list[dict[str, Any]]:
    tables = published_tables()
    fillings = {row["id"]: row for row in tables["reference_filling"].to_pylist()}
    results = tables["reference_result"].to_pylist()
    return [row | fillings[row["id"]] for row in results if row["id"] in NETWORK]


def _verdicts(outcome: str, *, with_both_tags: bool = True) -> dict[str, tuple[str, str | None]]:
    results = _results()
    given = {
        "run": [run for result in results for run in _runs(result, with_both_tags=with_both_tags)],
        "run_comparison": [row for result in results for row in _comparisons(result, outcome)],
    }
    rows = step_tables().rows("benchmark", given, {}, None)
    return {row["id"]: (row["verdict"], row["direction_matches"]) for row in rows if row["id"] in NETWORK}


@pytest.mark.parametrize("outcome", EXPECTED)
def test_the_verdict_follows_from_the_change(outcome: str) -> None:
    number, direction, same = EXPECTED[outcome]
    expected = {
        result: number if result in FIGURES else same if result in SAME else direction for result in NETWORK
    }
    assert _verdicts(outcome) == expected


def test_runs_without_the_tags_of_both_are_no_data_where_a_result_needs_them() -> None:
    need = {result["id"] for result in _results() if result["condition_tags"] or result["both_tags"]}
    assert len(need) == 18
    verdicts = _verdicts(AGREES, with_both_tags=False)
    assert {result for result in need if verdicts[result] != ("no data", None)} == set()
