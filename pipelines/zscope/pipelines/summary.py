"""What the data say, in a few sentences with numbers: for `zscope summary`, and for pages and reports.

Each sentence names the command that prints its evidence. A sentence about which the data say nothing states
what is missing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from zscope.pipelines.quantities import counted, number, percent

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Row = dict[str, Any]
Query = Callable[[str, str], "list[Row]"]
"""A function that runs a statement on the rows of a metric, whose name is its first argument.

The statement calls these rows `found`: all of them, or those that match the filters of a page.
"""

_MOST_SYSTEMS = 3
_PRICES = """
SELECT system, shared_by, job_name, share_pct, status, cpu_s_per_day, low_cpu_s_per_day, high_cpu_s_per_day,
    lpar_pct, high_lpar_pct, sentence
FROM found WHERE part = 'TLS' AND (
    (shared_by = 'system' AND high_cpu_s_per_day IS NOT NULL)
    OR (shared_by IN ('job', 'port') AND share_pct IS NOT NULL)
)
ORDER BY (status = 'estimate' AND cpu_s_per_day IS NOT NULL) DESC, high_cpu_s_per_day DESC NULLS LAST,
    share_pct DESC, system, job_name, server_port"""
_ADVICE = """
SELECT shared_by, sentence, statement, parameter, recommended, value_today, why_full
FROM found
WHERE shared_by IN ('rule', 'port') AND upper_s_per_day > 0 AND saving_high_s_per_day = upper_s_per_day
ORDER BY shared_by = 'rule' DESC, upper_s_per_day DESC, system, rule_name, server_port, change, basis
LIMIT 1"""
_POSTURE = """
SELECT source, sum(connections)::BIGINT AS connections, sum(covered_hours) AS covered, sum(hours) AS hours,
    sum(unprotected_connections)::BIGINT AS unprotected,
    sum(old_version_connections)::BIGINT AS old,
    arg_max({system: system, job_name: job_name, server_port: server_port}, unprotected_connections) AS most,
    max(unprotected_connections)::BIGINT AS of_most
FROM found GROUP BY source HAVING sum(connections) > 0 ORDER BY sum(connections) DESC"""
_CERTIFICATES = """
SELECT expiry, bool_or(ends_within_90_days) AS is_soon, count(*) AS certificates,
    min(not_after_utc)::DATE AS first,
    arg_min(
        coalesce(nullif(regexp_extract(subject_dn, 'CN=([^,]+)', 1), ''), 'serial ' || serial), not_after_utc
    ) AS name
FROM found WHERE expiry NOT IN ('later', 'unknown') GROUP BY expiry"""
_CHANGES = """
SELECT subject, value, earlier, later, change_pct, earlier_pct, later_pct, why FROM found
ORDER BY subject, value"""
PRICES_OF_PARTS = (
    "Only a system has a price of its own; a job or a port has a share of it, not both together."
)
"""Shown when the filters select jobs or ports."""
_FEWEST_POINTS = 1.0
"""Changes of a share that are named, in percentage points."""


@dataclass(frozen=True, slots=True)
class Conclusion:
    """One sentence about the data."""

    about: str
    """Its subject: price, saving, exposure, certificates, change."""
    sentence: str
    metric: str
    """The metric with the rows behind it."""
    where: str = ""
    """The condition in SQL of these rows."""

    @property
    def evidence(self) -> str:
        """The command that prints the rows behind it."""
        narrowed = f' --where "{self.where}"' if self.where else ""
        return f"zscope metrics {self.metric}{narrowed}"


def conclusions(query: Query, *, chosen_period: bool = False, of_parts: bool = False) -> list[Conclusion]:
    """Return the sentences about a store, in the order in which a reader needs them.

    With `chosen_period`, the query compares a period that the reader chose with the one before, not the last
    seven days. With `of_parts`, its rows are those of some jobs, ports or roles, not of whole systems.
    """
    return [
        Conclusion("price", _price(query, of_parts=of_parts), "tls_price"),
        Conclusion("saving", _saving(query), "tls_advice", "shared_by = 'rule'"),
        Conclusion("exposure", _exposure(query), "tls_posture"),
        Conclusion("certificates", _certificates(query), "certificate_inventory"),
        Conclusion("change", _change(query, chosen_period=chosen_period), "period_comparison"),
    ]


def _price(query: Query, *, of_parts: bool) -> str:
    found = query("tls_price", _PRICES)
    rows = [row for row in found if row["shared_by"] == "system"]
    if not rows and found:
        return _shares(found)
    if not rows and of_parts:
        return f"No price of TLS matches the filters. {PRICES_OF_PARTS}"
    if not rows:
        return (
            "What TLS costs is not known: the data have too few intervals with CPU time (SMF 70 or 30) and "
            "handshakes (SMF 119-11 or 119-12)."
        )
    text = f"TLS costs {_listed([_cost(row) for row in rows[:_MOST_SYSTEMS]])}"
    if others := rows[_MOST_SYSTEMS:]:
        if len(others) <= _MOST_SYSTEMS:
            each = [f"{_range(row)} on {row['system']}" for row in others]
            text += f"; {_listed(each)}"
        else:
            ends = {
                "low_cpu_s_per_day": min(row["low_cpu_s_per_day"] for row in others),
                "high_cpu_s_per_day": max(row["high_cpu_s_per_day"] for row in others),
            }
            text += f"; {_range(ends)} on each of {len(others)} other systems"
    first = rows[0]["system"]
    owner = next((row for row in found if (row["shared_by"], row["system"]) == ("job", first)), None)
    if owner is None:
        return f"{text}."
    share = f"{percent(owner['share_pct'])} of it, by handshakes and bytes,"
    return f"{text}. On {first}, {share} is job {owner['job_name']}."


def _cost(row: Row) -> str:
    if row["status"] == "estimate" and row["cpu_s_per_day"] is not None:
        share = "" if row["lpar_pct"] is None else f", {percent(row['lpar_pct'])} of the LPAR"
        between = f"{number(row['low_cpu_s_per_day'], 3)} to {number(row['high_cpu_s_per_day'], 3)}"
        return f"{number(row['cpu_s_per_day'], 3)} CPU seconds a day ({between}{share}) on {row['system']}"
    share = "" if row["high_lpar_pct"] is None else f" ({percent(row['high_lpar_pct'])} of the LPAR)"
    most = number(row["high_cpu_s_per_day"], 3)
    if row["low_cpu_s_per_day"] > 0:
        least = number(row["low_cpu_s_per_day"], 3)
        return f"at least {least} and at most {most} CPU seconds a day{share} on {row['system']}"
    return f"at most {most} CPU seconds a day{share} on {row['system']}"


def _range(row: Row) -> str:
    most = number(row["high_cpu_s_per_day"], 3)
    least = row["low_cpu_s_per_day"]
    return f"{number(least, 3)} to {most}" if least > 0 else f"at most {most}"


def _shares(found: Sequence[Row]) -> str:
    """Return the shares of jobs or ports, where a filter selects no system as a whole."""
    sentences = "; ".join(row["sentence"] for row in found[:_MOST_SYSTEMS])
    more = f"; and {counted(len(found) - _MOST_SYSTEMS, 'more row')}" if len(found) > _MOST_SYSTEMS else ""
    return f"{PRICES_OF_PARTS} Of these: {sentences}{more}."


def _saving(query: Query) -> str:
    rows = query("tls_advice", _ADVICE)
    if not rows:
        return "No change of an AT-TLS statement with a known saving follows from the data."
    [row] = rows
    of = "under AT-TLS rules" if row["shared_by"] == "rule" else "on ports"
    today = f" (today {row['value_today']})" if row["value_today"] else ""
    text = f"Of the changes {of}, this one can save most: {row['sentence']}."
    if row["parameter"]:
        text += f" What can be set: {row['statement']}, {row['parameter']}{today}: {row['recommended']}."
    else:
        text += f" It takes {row['recommended']}: no setting here is known to help."
    why = row["why_full"]
    return f"{text} {why[0].upper()}{why[1:]}." if why else text


def _exposure(query: Query) -> str:
    rows = query("tls_posture", _POSTURE)
    if not rows:
        return "What is unprotected is not known: load zERT summaries or details (SMF 119-12 or 119-11)."
    row = rows[0]
    most = ""
    if row["unprotected"]:
        place = row["most"]
        job = "unknown" if place["job_name"] is None else place["job_name"]
        port = "an unknown port" if place["server_port"] is None else f"port {place['server_port']}"
        most = f", the largest part ({row['of_most']:,}) of job {job} on {port} of {place['system']}"
    text = (
        f"{_unprotected(row)} in {_records(row)} have no recognized cryptographic protection{most}; "
        f"{row['old']:,} use SSL, TLSv1.0 or TLSv1.1."
    )
    for other in rows[1:]:
        text += (
            f" On other days or systems, {_unprotected(other)} in {_records(other)} have none; "
            f"{other['old']:,} use SSL, TLSv1.0 or TLSv1.1."
        )
    return text


def _unprotected(row: Row) -> str:
    share = percent(100 * row["unprotected"] / row["connections"])
    return f"{row['unprotected']:,} of {row['connections']:,} connections ({share})"


def _records(row: Row) -> str:
    return records_and_coverage(row["source"], row["covered"], row["hours"])


def records_and_coverage(source: str, covered_hours: float | None, hours: float | None) -> str:
    """Return the records that a share comes from, with how many of the hours they cover.

    >>> records_and_coverage("zERT summary", 18, 24)
    'zERT summaries (75.0 % of the hours)'
    >>> records_and_coverage("zERT detail", None, None)
    'zERT details (of an unknown share of the hours)'
    """
    records = {"zERT summary": "zERT summaries", "zERT detail": "zERT details"}.get(source, source)
    if covered_hours is None or not hours:
        return f"{records} (of an unknown share of the hours)"
    return f"{records} ({percent(100 * covered_hours / hours)} of the hours)"


def _certificates(query: Query) -> str:
    kinds = {row["expiry"]: row for row in query("certificate_inventory", _CERTIFICATES)}
    soon = [row for row in kinds.values() if row["is_soon"]]
    parts = []
    if soon:
        count = sum(row["certificates"] for row in soon)
        first = min(soon, key=lambda row: row["first"])
        parts.append(
            f"{counted(count, 'certificate')} {'ends' if count == 1 else 'end'} within 90 days after the "
            f"data, first {first['name']} on {first['first']}"
        )
    if expired := kinds.get("expired"):
        count = expired["certificates"]
        parts.append(
            f"{counted(count, 'certificate')} {'was' if count == 1 else 'were'} in use after the end"
        )
    if ended := kinds.get("ended since"):
        count = ended["certificates"]
        parts.append(f"{counted(count, 'certificate')} ended after being last seen")
    text = "; ".join(parts) or "No certificate in the data ends within 90 days after them"
    return f"{text}."


def _relative(change_pct: float) -> str:
    """A change in percent; from the tenfold on, how many times as many there are.

    >>> _relative(-9.24), _relative(3649.5)
    ('-9.2 %', '37 times as many')
    """
    return f"{change_pct:+.1f} %" if change_pct < 900 else f"{1 + change_pct / 100:,.0f} times as many"


def _change(query: Query, *, chosen_period: bool) -> str:
    rows = query("period_comparison", _CHANGES)
    compared = [row for row in rows if row["subject"] != "AT-TLS policy"]
    settings = len(rows) - len(compared)
    policy = f" {counted(settings, 'setting')} of the AT-TLS policy changed." if settings else ""
    if not any(row["earlier"] for row in compared):
        period = "chosen period" if chosen_period else "last seven days of the data"
        return f"The data have no connections from before the {period} to compare with.{policy}"
    in_all = [row for row in compared if row["value"] == "all"]
    totals = [
        f"{row['subject']} {_relative(row['change_pct'])}" for row in in_all if row["change_pct"] is not None
    ]
    why = next((row["why"] for row in in_all if row["why"]), None)
    shares = sorted(_moved(compared), key=lambda change: -abs(change[0]))[:2]
    moved = [f"{name} {points:+.1f} points" for points, name in shares]
    text = _listed([*totals, *moved]) or "nothing by a point or more"
    period = (
        "chosen period, against the one of the same length before"
        if chosen_period
        else "last seven days of the data, against the seven before"
    )
    if why and not totals:
        return f"In the {period}, what changed is not known: {why}.{policy}"
    not_compared = f" Not compared: {why}." if why else ""
    return f"In the {period}, changed: {text}.{not_compared}{policy}"


def _moved(rows: Sequence[Row]) -> Iterator[tuple[float, str]]:
    for row in rows:
        if row["value"] != "all" and None not in {row["earlier_pct"], row["later_pct"]}:
            points = row["later_pct"] - row["earlier_pct"]
            if abs(points) >= _FEWEST_POINTS:
                noun = " handshakes" if row["subject"] == "handshake" else ""
                yield points, f"{row['value']}{noun}"


def _listed(parts: Sequence[str]) -> str:
    return ", ".join(parts[:-1]) + (" and " if len(parts) > 1 else "") + "".join(parts[-1:])
