"""Titles of published results, and the groups of reasons why results are not compared."""

from __future__ import annotations

from typing import Any

import pytest

from zscope.pipelines.benchmark.wording import plain_title, reason_group


def published(**changed: Any) -> dict[str, Any]:  # noqa: ANN401 - values of all types
    return {
        "metric": "latency", "workload": "RR60(4kB)", "baseline": "OSD", "candidate": "OSH",
        "value_kind": "percent_change", "published_value": -93.0, "published_direction": "decrease",
        "quantifier": None, "as_printed": "93 %", "filled_from": "runs", "verdict": "no data", "why": None,
        "needs": None,
    } | changed  # fmt: skip


@pytest.mark.parametrize(
    ("changed", "title"),
    [
        ({}, "OSH has 93 % lower latency than OSD"),
        (
            {"metric": "cpu_per_tran", "quantifier": "up to"},
            "OSH costs up to 93 % less CPU per transaction than OSD",
        ),
        (
            {"metric": "cpu_per_tran", "workload": "CRR40(64B/8kB)"},
            "OSH costs 93 % less CPU per connection than OSD",
        ),
        (
            {"value_kind": "direction", "published_value": None, "published_direction": "increase"},
            "OSH has higher latency than OSD",
        ),
        (
            {"metric": "cpu_per_tran", "published_value": None, "published_direction": "comparable"},
            "OSH costs about the same CPU per transaction as OSD",
        ),
        (
            {"metric": "memory", "published_value": None, "published_direction": "no_change"},
            "OSH has the same memory use as OSD",
        ),
        ({"value_kind": "absolute", "as_printed": "6 ms"}, "OSH against OSD: latency 6 ms"),
        ({"baseline": None, "value_kind": "percent_share"}, "OSH: latency 93 %"),
        (
            {"baseline": "TLSv1.2 C030 TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384"},
            "OSH has 93 % lower latency than TLSv1.2 C030",
        ),
    ],
)
def test_a_title_says_what_was_published(changed: dict[str, Any], title: str) -> None:
    assert plain_title(published(**changed)) == title


@pytest.mark.parametrize(
    ("changed", "group"),
    [
        (
            {"needs": "runs of STR, the baseline tagged sharing=none"},
            "Needs benchmark runs that are not loaded",
        ),
        ({"needs": "table mq_round_trip"}, "Needs data that is not loaded"),
        ({"filled_from": "nothing"}, "No data that zscope can load measures it"),
        (
            {"verdict": "not comparable", "why": "run a has the tag cpc=z17, but SMF 70-1 of A shows z16"},
            "A tag of a run contradicts the data of the run",
        ),
        ({"verdict": "not comparable", "why": "the runs have one client"}, "Other reasons"),
    ],
)
def test_reasons_are_grouped(changed: dict[str, Any], group: str) -> None:
    assert reason_group(published(**changed)) == group
