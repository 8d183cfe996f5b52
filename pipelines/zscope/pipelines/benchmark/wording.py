"""Texts about published results that the command line, the dashboard and the report share.

They are titles, the reasons why results are not compared, counts of verdicts, and suggestions of ids.
"""

from __future__ import annotations

import re
from collections import Counter
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

VERDICTS = ("agrees", "differs", "direction only", "other machine", "not comparable", "no data")
DIRECTIONS = ("agrees", "within noise", "contradicts")
SYNTHETIC_MEASUREMENT = "SYNTHETIC: the measured data is synthetic"
_SUGGESTIONS = 3
"""Ids suggested for an unknown one."""
_CPU = "cpu_per_tran"
_CONNECTION = "CRR"
"""Workloads in which each transaction opens a connection begin like this."""
_NOUNS = {
    _CPU: "CPU per transaction",
    "cached_ticket_use": "share of handshakes with a cached ticket",
    "cpu_added_per_round_trip": "CPU time added to a round trip",
    "duration_of_high_ecb_use": "time with many ECBs in use",
    "ecb_seconds": "ECB seconds",
    "ecbs_in_use": "ECBs in use",
    "elapsed_negotiating": "time of negotiations",
    "elapsed_negotiating_per_32_round_trips": "time of negotiations in 32 round trips",
    "elapsed_negotiating_per_122_round_trips": "time of negotiations in 122 round trips",
    "elapsed_per_negotiation": "time of a negotiation",
    "heap_latch_contention": "contention for heap latches",
    "io_rate": "I/O rate",
    "memory": "memory use",
    "messages_per_negotiation": "messages between two negotiations",
    "round_trip": "time of a round trip",
    "round_trip_added": "time added to a round trip",
    "round_trip_added_per_negotiation": "time added to a round trip by a negotiation",
    "share_of_transaction_cpu": "share of the network in the CPU time of a transaction",
    "share_of_worker_threads_for_session_starts": "share of worker threads for starts of sessions",
    "tcp_sends_per_message": "TCP sends of a message",
    "throughput_etr": "throughput",
}
"""Names of measures that are not their words."""
_CHANGES = {"increase": "higher", "decrease": "lower", "improved": "better"}
_COST_CHANGES = {"increase": "more", "decrease": "less"}
_ENDS = ("client", "server", "sender", "receiver")
_SAME = {"comparable": "about the same", "no_change": "the same"}
_QUANTIFIERS = {"up to": "up to ", "about": "about ", "average": "on average ", "more than": "more than "}
_REASONS = (
    (re.compile(r"has the tag .* but SMF"), "A tag of a run contradicts the data of the run"),
    (re.compile(r"does not (state|show) which side"), "The document or the workload does not show the side"),
)
_NOTHING = "No data that zscope can load measures it"
_RUNS = "Needs benchmark runs that are not loaded"
_DATA = "Needs data that is not loaded"
_OTHER = "Other reasons"


def plain_title(result: Mapping[str, Any]) -> str:
    """Return what a published result says, as a sentence.

    >>> plain_title({
    ...     "metric": "cpu_per_tran", "workload": "CRR40(64B/8kB)", "side": "both", "subject": None,
    ...     "baseline": "TLSv1.2 C030", "baseline_in_title": "TLSv1.2 (C030)",
    ...     "candidate": "TLSv1.3 1302", "candidate_in_title": "TLSv1.3 (1302)", "scope": None,
    ...     "kind": "percent_change", "value_kind": "percent_change", "as_printed": "16 %",
    ...     "published_value": 16.0, "published_direction": "increase", "quantifier": None,
    ...     "level_unit": None,
    ... })
    'With TLSv1.3 (1302), a connection costs 16 % more CPU than with TLSv1.2 (C030)'
    """
    candidate, baseline = (result[f"{name}_in_title"] or result[name] for name in ("candidate", "baseline"))
    scope = result["scope"]
    noun = _NOUNS.get(result["metric"], result["metric"].replace("_", " "))
    if baseline and _is_change(result):
        begin = f"{scope}: with" if scope else "with"
        return _sentence(f"{begin} {candidate}, {_change(result, noun)} with {baseline}")
    instead = f" instead of {baseline}" if baseline else ""
    within = f", {scope}" if scope else ""
    return _sentence(f"{noun}{_place(result)}, {candidate}{instead}{within}: {_levels(result)}")


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:]


def _is_change(result: Mapping[str, Any]) -> bool:
    """Whether a result is a percentage or a direction, not values or a quotation with a percentage."""
    if result["value_kind"] == "percent_change":
        return bool(result["kind"] != "qualitative")
    return bool(result["value_kind"] == "direction" and result["published_direction"])


def _change(result: Mapping[str, Any], noun: str) -> str:
    """What changes and how, up to the word before the baseline."""
    direction, is_cost = result["published_direction"], result["metric"] == _CPU
    per = "connection" if (result["workload"] or "").startswith(_CONNECTION) else "transaction"
    verb = "becomes" if result["quantifier"] == "becomes" else "is"
    if direction in _SAME:
        if is_cost:
            return f"a {per} costs {_SAME[direction]} CPU{_place(result)} as"
        return f"the {noun} {verb} {_SAME[direction]} as"
    if is_cost:
        return f"a {per} costs {_amount(result)}{_COST_CHANGES[direction]} CPU{_place(result)} than"
    return f"the {noun} {verb} {_amount(result)}{_CHANGES[direction]} than"


def _amount(result: Mapping[str, Any]) -> str:
    """The published percentage, or the published adverb of a direction, such as "a little"."""
    if result["published_value"] is None:
        printed: str = result["as_printed"]
        adverb, space, _ = printed.rpartition(" ")
        return adverb.strip('"') + space
    return f"{_QUANTIFIERS.get(result['quantifier'] or '', '')}{abs(result['published_value']):g} % "


def _place(result: Mapping[str, Any]) -> str:
    """Where CPU time was measured."""
    if result["metric"] != _CPU:
        return ""
    if result["subject"]:
        return f" in the {result['subject']}"
    return f" at the {result['side']}" if result["side"] in _ENDS else ""


def _levels(result: Mapping[str, Any]) -> str:
    """The published values, without the differences that a table prints after them."""
    printed: str = result["as_printed"]
    values, comma, _ = printed.partition(", ")
    return f"{values} {result['level_unit']}" if comma and result["level_unit"] else printed


def reason_group(result: Mapping[str, Any]) -> str:
    """Return why a result has no comparison, in words that are the same for all results of a kind."""
    if result["filled_from"] == "nothing":
        return _NOTHING
    if result["verdict"] == "no data":
        return _RUNS if "runs" in (result["needs"] or "") else _DATA
    why = result["why"] or ""
    return next((group for pattern, group in _REASONS if pattern.search(why)), _OTHER)


def verdict_summary(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Count verdicts, and those that depend on generated data, in one or two sentences.

    >>> row = {"verdict": "agrees", "direction_matches": None, "synthetic": False, "measured": "16 %"}
    >>> print(*verdict_summary([row]))
    1 published results: 1 agrees, 0 differs, 0 direction only, 0 other machine, 0 not comparable, 0 no data
    """
    verdicts = Counter(row["verdict"] for row in rows)
    directions = Counter(row["direction_matches"] for row in rows)
    counted = [f"{verdicts[name]} {name}" for name in VERDICTS]
    if verdicts["direction only"]:
        counted[VERDICTS.index("direction only")] += (
            f" ({', '.join(f'{directions[name]} {name}' for name in DIRECTIONS)})"
        )
    sentences = [f"{len(rows)} published results: {', '.join(counted)}"]
    if synthetic := sum(bool(row["synthetic"] and row["measured"]) for row in rows):
        sentences.append(
            f"SYNTHETIC: {synthetic} of them were computed from synthetic data; agreement proves the "
            "arithmetic, not the published figure"
        )
    return sentences


def closest_ids(unknown: str, ids: Sequence[str]) -> str:
    """Suggest ids for an unknown one: those that contain it, or that are spelled like it.

    >>> closest_ids("version", ["tls13-version", "mq-interval"])
    'did you mean tls13-version?'
    """
    text = unknown.strip().lower()
    containing = [name for name in ids if text and text in name]
    close = containing or get_close_matches(text, ids, _SUGGESTIONS, 0.5)
    if not close:
        return "zscope benchmark lists all results"
    more = (
        f", or another of the {len(containing)} ids that contain it" if len(containing) > _SUGGESTIONS else ""
    )
    return f"did you mean {' or '.join(close[:_SUGGESTIONS])}{more}?"
