"""Titles of published results, and the groups of reasons why results are not compared."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import pytest

from zscope.pipelines.benchmark.wording import plain_title, reason_group
from zscope.schemas.published import published_tables


def published(**changed: Any) -> dict[str, Any]:  # noqa: ANN401 - values of all types
    return {
        "metric": "latency", "workload": "RR60(4kB)", "side": "n/a", "subject": None,
        "baseline": "OSD", "baseline_in_title": None, "candidate": "OSH", "candidate_in_title": None,
        "scope": None, "kind": "percent_change", "value_kind": "percent_change", "published_value": -93.0,
        "published_direction": "decrease", "quantifier": None, "as_printed": "93 %", "level_unit": None,
        "filled_from": "runs", "verdict": "no data", "why": None, "needs": None,
    } | changed  # fmt: skip


DIRECTION = {"kind": "qualitative", "value_kind": "direction", "published_value": None}
RESULTS = {row["id"]: row for row in published_tables()["reference_result"].to_pylist()}
LONGEST = 150
CODE = re.compile(r"\b(?:C0|00|13)[0-9A-F]{2}\b")


def title_of(name: str) -> str:
    row = RESULTS[name]
    return plain_title(row | {"published_value": row["value"], "published_direction": row["direction"]})


@pytest.mark.parametrize(
    ("changed", "title"),
    [
        ({}, "With OSH, the latency is 93 % lower than with OSD"),
        (
            {"metric": "cpu_per_tran", "quantifier": "up to", "side": "both"},
            "With OSH, a transaction costs up to 93 % less CPU than with OSD",
        ),
        (
            {"metric": "cpu_per_tran", "workload": "CRR40(64B/8kB)", "side": "server"},
            "With OSH, a connection costs 93 % less CPU at the server than with OSD",
        ),
        (
            {"metric": "cpu_per_tran", "subject": "SSL server", "workload": None},
            "With OSH, a transaction costs 93 % less CPU in the SSL server than with OSD",
        ),
        (
            DIRECTION | {"published_direction": "increase", "as_printed": "higher"},
            "With OSH, the latency is higher than with OSD",
        ),
        (
            DIRECTION | {"published_direction": "increase", "as_printed": '"a little" higher'},
            "With OSH, the latency is a little higher than with OSD",
        ),
        (
            DIRECTION | {"metric": "cpu_per_tran", "published_direction": "comparable"},
            "With OSH, a transaction costs about the same CPU as with OSD",
        ),
        (
            DIRECTION
            | {"published_direction": "comparable", "quantifier": "becomes", "scope": "growing payload"},
            "Growing payload: with OSH, the latency becomes about the same as with OSD",
        ),
        (
            DIRECTION | {"metric": "memory", "published_direction": "no_change"},
            "With OSH, the memory use is the same as with OSD",
        ),
        (
            {"value_kind": "absolute", "as_printed": "7 to 6 ms", "scope": "8KB messages"},
            "Latency, OSH instead of OSD, 8KB messages: 7 to 6 ms",
        ),
        (
            {"value_kind": "absolute", "as_printed": "0.0 to 0.047, 0.047, na", "level_unit": "CPU/tx"},
            "Latency, OSH instead of OSD: 0.0 to 0.047 CPU/tx",
        ),
        (
            {"kind": "qualitative", "as_printed": '"can be small (10%)"', "published_value": 10.0},
            'Latency, OSH instead of OSD: "can be small (10%)"',
        ),
        ({"baseline": None, "value_kind": "percent_share"}, "Latency, OSH: 93 %"),
        (
            {"baseline_in_title": "OSD (old)", "candidate_in_title": "OSH (new)"},
            "With OSH (new), the latency is 93 % lower than with OSD (old)",
        ),
    ],
)
def test_a_title_says_what_was_published(changed: dict[str, Any], title: str) -> None:
    assert plain_title(published(**changed)) == title


@pytest.mark.parametrize(
    ("name", "title"),
    [
        (
            "tls31-ecdhe-vs-rsa-kx-cpu",
            (
                "Full handshakes: with ECDHE key exchange (C030), a connection costs up to 26 % more CPU"
                " than with RSA key exchange (009D)"
            ),
        ),
        (
            "tls31-tls13-vs-tls12-server",
            "With TLSv1.3 (1302), a connection costs the same CPU at the server as with TLSv1.2 (C030)",
        ),
        (
            "tls31-network-share",
            (
                "Share of the network in the CPU time of a transaction, typical production work:"
                " approximately 5 %"
            ),
        ),
        (
            "perf32-tls13-vs-tls12-cpu",
            "RSASSA-PSS: with TLSv1.3 (1302), a connection costs a little more CPU than with TLSv1.2 (C030)",
        ),
        (
            "ztpf-inetd-peak-ecbs",
            (
                "ECBs in use, PJ48040 instead of the code before it, 8000 session requests:"
                " about 2500 to about 100"
            ),
        ),
        (
            "mq-8k-ecdhe-rsa-rt",
            (
                "Time of a round trip, ECDHE_RSA_AES_256_CBC_SHA384 instead of no cipher, 8KB messages:"
                " 402 to 437 us"
            ),
        ),
        (
            "rscs-t2-tcpip",
            (
                "With TLS 1.0 (RSA_AES_256), a transaction costs 218.2 % more CPU in the TCPIP server"
                " than with no TLS"
            ),
        ),
    ],
)  # fmt: skip
def test_published_results_have_these_titles(name: str, title: str) -> None:
    assert title_of(name) == title


def test_no_two_published_results_have_the_same_title() -> None:
    titles = Counter(map(title_of, RESULTS))
    assert [title for title, count in titles.items() if count > 1] == []


@pytest.mark.parametrize("name", RESULTS)
def test_a_title_is_short_and_explains_codes_of_cipher_suites(name: str) -> None:
    title = title_of(name)
    assert len(title) <= LONGEST
    in_words = re.sub(r"\([^()]*\)", "", title)
    assert not CODE.search(in_words), title


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
