"""The numbers that `zscope demo` and the page Overview show of the sample data, next to published ones.

`docs/metrics.md` has them as a table, and a test compares them with what is computed.
"""

from __future__ import annotations

from dataclasses import dataclass

OVERVIEW = "page Overview"
_ALL_WORK = "CPU time of all work of a system. What TLS costs of it is in the manifest of the sample world."
_VOLUME = "A volume, without a published one."
_MIX = "A property of the site, without a published one."
_PRICE = "The truth is 239, 176, 327 and 327 s a day, from CLI1 to SRV2; SYSA and SYSB have few connections."
_CACHED = ("tls31-sysplex-tickets-hit",)
_NEGOTIATION = ("mq-32k-per-negotiation", "mq-8k-per-negotiation")


@dataclass(frozen=True, slots=True)
class SampleNumber:
    """A column of a printed table, or a number of the page."""

    table: str
    number: str
    sample: str
    """The least and the greatest value with three digits."""
    remark: str
    published: tuple[str, ...] = ()
    """Published results of the same magnitude."""


SAMPLE_NUMBERS = (
    SampleNumber("cpu_per_transaction", "cpu_s", "35,500", _ALL_WORK),
    SampleNumber("cpu_per_transaction", "transactions", "6,700,000", _VOLUME),
    SampleNumber("cpu_per_transaction", "transactions_per_s", "11.1", _VOLUME),
    SampleNumber("cpu_per_transaction", "lpar_cpu_us_per_transaction", "5,290", _ALL_WORK),
    SampleNumber(
        "run_result", "transactions_per_s", "2,580 to 4,210",
        "Forty clients in a closed loop: 40 divided by the latency. The worked example of the method "
        "rmf-cpu-per-tran has 100,000 a second.",
    ),
    SampleNumber(
        "run_result", "latency_ms", "9.51 to 15.5",
        "Connection, handshake, 8 kB and close under load. Published: elapsed time of a negotiation alone.",
        (*_NEGOTIATION, "mq-table-ecdhe-rsa"),
    ),
    SampleNumber(
        "run_result", "cpu_us_per_transaction", "98.4 to 326",
        "One side, with a handshake. Published: both sides, without a handshake; and the elapsed time of a "
        "negotiation, which bounds its CPU time.",
        ("mq-8k-cpu-added", *_NEGOTIATION),
    ),
    SampleNumber("handshake_mix", "handshakes", "364 to 1,030", _VOLUME),
    SampleNumber("handshake_mix", "full", "187 to 428", _VOLUME),
    SampleNumber("handshake_mix", "resumed", "166 to 591", _VOLUME),
    SampleNumber("handshake_mix", "failed", "0 to 13", _VOLUME),
    SampleNumber(
        "handshake_mix", "resumed_pct", "44.6 to 58.3",
        "Published where clients offer every ticket; half of the clients here have no session to offer.",
        _CACHED,
    ),
    SampleNumber("resumption_rate", "lookups", "0 to 8,650,000", _VOLUME),
    SampleNumber("resumption_rate", "hits", "0 to 8,130,000", _VOLUME),
    SampleNumber(
        "resumption_rate", "hit_rate_pct", "92.7 to 96.8", "Of the sessions that clients offer.", _CACHED
    ),
    SampleNumber(
        "resumption_rate", "resumed_pct", "34.7 to 56",
        "Includes the nights of runs, most of which have full handshakes only.", _CACHED,
    ),
    SampleNumber("cipher_distribution", "connections", "55 to 1,930", _VOLUME),
    SampleNumber("cipher_distribution", "connections_pct", "1.24 to 43.4", _MIX),
    SampleNumber("cipher_distribution", "bytes_pct", "1.26 to 36.8", _MIX),
    SampleNumber("tls_price", "cpu_s_per_day", "223 to 365", _PRICE),
    SampleNumber("tls_price", "low_cpu_s_per_day", "0 to 228", _PRICE),
    SampleNumber("tls_price", "high_cpu_s_per_day", "0.677 to 437", _PRICE),
    SampleNumber(
        "tls_price", "lpar_pct", "4.54 to 7.21",
        "Published: the share of all work for the network, in a typical workload.",
        ("tls31-network-share",),
    ),
    SampleNumber("finding", "systems", "2 to 6", _VOLUME),
    SampleNumber("finding", "connections", "32 to 9,460,000", "Counts of zERT summaries are among them."),
    SampleNumber(
        OVERVIEW, "Resumption rate, %", "55.4", "As resumed_pct of handshake_mix, over all systems.", _CACHED
    ),
    SampleNumber(OVERVIEW, "TLSv1.3, of TLS connections, %", "19.6", _MIX),
    SampleNumber(OVERVIEW, "Unprotected connections, %", "20.1", _MIX),
    SampleNumber(OVERVIEW, "LPAR CPU per connection, ms", "26.8 to 32.7", _ALL_WORK),
)  # fmt: skip
