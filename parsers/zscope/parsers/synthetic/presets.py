"""Recipes with a name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from zscope.parsers.synthetic.recipe import TYPICAL_BYTES, TYPICAL_MIX, Kind, Recipe

TYPE_119_SHARE = 0.1
"""Of the bytes of a mixed dump."""
SAMPLE_SEED = 20_260_302


def zert_only(records: int = 10_000, *, seed: int = 1) -> Recipe:
    """Nothing but zERT detail records of about 500 bytes."""
    return Recipe(records=records, seed=seed, mix={Kind.ZERT_DETAIL: 1.0})


def mixed(size_bytes: int = 100_000_000, *, seed: int = 1) -> Recipe:
    """A dump of a busy system: type 119 is a tenth of the bytes, and most of the rest is not decoded."""
    rmf = {Kind.RMF_CPU, Kind.RMF_CRYPTO}
    network = {kind: share for kind, share in TYPICAL_MIX.items() if kind not in rmf | {Kind.FOREIGN}}
    network_bytes = sum(TYPICAL_BYTES[kind] * share for kind, share in network.items())
    foreign = network_bytes * (1 / TYPE_119_SHARE - 1) / TYPICAL_BYTES[Kind.FOREIGN]
    mix = {**network, Kind.FOREIGN: foreign, Kind.RMF_CPU: 0.01, Kind.RMF_CRYPTO: 0.01}
    return Recipe(size_bytes=size_bytes, seed=seed, mix=mix)


SAMPLE_COUNTS: Mapping[str, float] = {
    Kind.ZERT_DETAIL: 980,
    Kind.ZERT_SUMMARY: 218,
    Kind.TCP_INIT: 300,
    Kind.TCP_TERM: 300,
    Kind.FTP_CLIENT: 30,
    Kind.FTP_SERVER: 50,
    Kind.FTP_FAILURE: 10,
    Kind.TN3270_INIT: 47,
    Kind.TN3270_TERM: 47,
    Kind.RMF_CPU: 192,
    Kind.RMF_CRYPTO: 192,
    Kind.FOREIGN: 24,
    Kind.UNKNOWN_SUBTYPE: 10,
}
"""RMF records for every quarter of an hour and both systems; nine zERT summaries of twelve sessions each."""


def sample() -> Recipe:
    """The small dump in `sample-data`: all kinds, two systems, one day."""
    return Recipe(records=int(sum(SAMPLE_COUNTS.values())), seed=SAMPLE_SEED, mix=SAMPLE_COUNTS)


PRESETS: Mapping[str, Callable[[], Recipe]] = {"mixed": mixed, "sample": sample, "zert-only": zert_only}
