"""What every statement has to satisfy, whatever the store and the filters, and the rows behind it."""

from __future__ import annotations

import re
from datetime import UTC
from math import floor, log10
from typing import TYPE_CHECKING, Any

import pytest
from tests.pipelines.metrics.advice_rules import faults_of
from tests.pipelines.metrics.statement_stores import SUBJECTS, evidence_of, rows_of

from zscope.pipelines.quantities import counted, percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.pipelines.metrics.metric_steps import StepsOnDemand

Row = dict[str, Any]

UNKNOWN = "not enough data"
MISSING = re.compile(r"\b(None|NULL|nan|inf)\b|  | ,|\(\)|(job|port|rule|system) [,.;:]")
"""What a name or a figure that is missing leaves in a sentence."""
WRONG_NUMBER = re.compile(r"(?<![\w.])[-+]0(?:\.0+)?(?![\d.]*[1-9])(?!\d)|\d[eE][-+]?\d|\d\.0*[1-9]\d{7,}")
"""A zero with a sign, a number with an exponent, or one with all its digits."""
RANGES = {
    "tls_price": ("part = 'TLS'", "low_cpu_s_per_day", "high_cpu_s_per_day"),
    "tls_advice": ("true", "saving_low_s_per_day", "saving_high_s_per_day"),
    "period_difference": ("true", "low", "high"),
    "period_cause": ("cause = 'TLS cost'", "low", "high"),
}
"""The metrics whose sentences statements repeat, with the rows that have a range, and its ends."""


def number(value: float) -> str:
    """A number as sentences have it: of three digits, and without an exponent."""
    if abs(value) >= 99.95 or not value:
        return f"{value:,.0f}"
    text = f"{value:.{max(0, 2 - floor(log10(abs(value))))}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def check_statements(steps: StepsOnDemand, said: Sequence[Row]) -> None:
    """Compare all statements for filters with their evidence."""
    subjects = dict.fromkeys(row["subject"] for row in said)
    assert list(subjects) == [subject for subject in SUBJECTS if subject in subjects]
    assert subjects.keys() >= {*SUBJECTS} - {"old versions", "runs"}
    for row in said:
        sentence = row["sentence"]
        check_words(sentence)
        assert sentence[0].isupper() or sentence[0].isdigit(), sentence
        assert sentence.endswith("."), sentence
        if row["status"] == UNKNOWN:
            assert (row["value"], row["low"], row["high"]) == (None, None, None), sentence
            continue
        _check_range(row)
        _CHECKS[row["subject"]](row, evidence_of(steps, row))


def check_words(sentence: str) -> None:
    """A sentence has no trace of what is missing, and no number as computers write it."""
    assert not MISSING.search(sentence), sentence
    assert not WRONG_NUMBER.search(sentence), sentence


def check_sentences_behind(steps: StepsOnDemand) -> None:
    """Check all advice, and of every sentence of the metrics behind statements its words and its range."""
    with steps.chosen((), "tls_advice"):
        assert list(faults_of(rows_of(steps.connection, "FROM tls_advice"))) == []
    for name, (condition, low, high) in RANGES.items():
        text = f"SELECT sentence, {low} AS low, {high} AS high FROM {name}"
        with steps.chosen((), name):
            rows = rows_of(steps.connection, f"{text} WHERE sentence IS NOT NULL AND ({condition})")
        for row in rows:
            check_words(row["sentence"])
            if row["low"] and row["high"] is not None:
                both = (number(abs(row[end])) in row["sentence"] for end in ("low", "high"))
                assert all(both), row["sentence"]
            if row["low"] and row["low"] > 0:
                assert f"at most {number(row['high'])}" not in row["sentence"]


def _check_range(row: Row) -> None:
    """A range has both ends, unless the lower one is 0; a value has its range."""
    for end in ("low", "high"):
        if row[end]:
            assert number(abs(row[end])) in row["sentence"], row["sentence"]
    if row["low"] == 0 and row["value"] is None:
        assert f"at most {number(row['high'])}" in row["sentence"]
    if row["value"] is not None and row["high"] is not None and row["subject"] != "change":
        assert number(row["value"]) in row["sentence"]


def _check_price(row: Row, evidence: Sequence[Row]) -> None:
    first = evidence[0]
    assert [row["value"], row["low"], row["high"]] == [
        first[f"{end}cpu_s_per_day"] for end in ("", "low_", "high_")
    ]
    assert row["sentence"].startswith(first["sentence"])
    if len(evidence) > 1:
        assert percent(evidence[1]["share_pct"]) in row["sentence"]
        assert evidence[1]["job_name"] is None or f"job {evidence[1]['job_name']}" in row["sentence"]


def _check_saving(row: Row, evidence: Sequence[Row]) -> None:
    first = evidence[0]
    assert advice_order(first) == max(map(advice_order, evidence))
    assert [row["value"], row["low"], row["high"]] == [
        first[f"saving_{end}s_per_day"] for end in ("", "low_", "high_")
    ]
    named = (
        ["sentence"] if row["sentence"].startswith("No change worth making") else ["sentence", "recommended"]
    )
    assert all(str(first[name]) in row["sentence"] for name in named if first[name])


def advice_order(advice: Row) -> tuple[bool, bool, bool, bool, bool, float]:
    """What saves at least 1 % of all that TLS costs and of its system, then settings, then what is seen."""
    is_large = [advice[name] is None or advice[name] >= 1 for name in ("all_cost_pct", "cost_pct")]
    is_certain = advice["status"] == "estimate"
    kind = advice["names_setting"], advice["is_seen"], is_certain
    return is_large[0], is_large[1], *kind, advice["upper_s_per_day"]


def _check_exposure(row: Row, evidence: Sequence[Row]) -> None:
    column = row["evidence_columns"][0]
    exposed, every = (sum(each[name] for each in evidence) for name in (column, "connections"))
    assert row["value"] == pytest.approx(100 * exposed / every)
    assert f"{exposed:,} of {every:,} connections ({percent(row['value'])})" in row["sentence"]
    hours = [sum(each[name] or 0 for each in evidence) for name in ("covered_hours", "hours")]
    if row["covered_pct"] is not None:
        assert row["covered_pct"] == pytest.approx(100 * hours[0] / hours[1])
        assert f"({percent(row['covered_pct'])} of the hours)" in row["sentence"]
    largest = max(each[column] for each in evidence)
    named = [
        f"job {each['job_name']}, on port {each['server_port']} of {each['system']}"
        for each in evidence
        if each[column] == largest
    ]
    assert not exposed or f"The largest part of them, {largest:,}, was of " in row["sentence"]
    assert not exposed or "not recorded" in row["sentence"] or any(each in row["sentence"] for each in named)


def _check_certificates(row: Row, evidence: Sequence[Row]) -> None:
    if row["value"] == 0:
        assert f"of {len(evidence):,} whose end is known" in row["sentence"]
        assert not any(each["ends_within_90_days"] for each in evidence)
        return
    assert row["value"] == len(evidence)
    assert row["sentence"].startswith(f"{len(evidence):,} certificate")
    first = min(evidence, key=lambda each: each["not_after_utc"])
    assert f" on {first['not_after_utc'].astimezone(UTC):%Y-%m-%d}." in row["sentence"]


def _check_change(row: Row, evidence: Sequence[Row]) -> None:
    if row["unit"] == "settings":
        settings = {(each["system"], re.findall(r"^.*?: \S+", each["value"])[0]) for each in evidence}
        assert row["value"] == len(settings)
        assert any(all(word in row["sentence"] for word in each["value"].split()) for each in evidence)
    elif row["unit"]:
        [change] = evidence
        assert [row[name] for name in ("value", "low", "high")] == [
            change[name] for name in ("change", "low", "high")
        ]
        assert row["sentence"] == f"{change['sentence']}."
        assert change["verdict"] in {"less", "more"}
    else:
        assert {each["verdict"] for each in evidence} == {"within noise"}
        for each in evidence:
            later, earlier = (_value_or_range(each, period) for period in ("later", "earlier"))
            assert f"{each['quantity']} {later} {each['unit']}, before {earlier} (" in row["sentence"]
            assert all(number(abs(each[end])) in row["sentence"] for end in ("low", "high") if each[end])


def _value_or_range(row: Row, period: str) -> str:
    """A value as sentences have it or, where it is not known, its range."""
    if row[period] is not None:
        return number(row[period])
    low, high = row[f"{period}_low"], row[f"{period}_high"]
    return f"{number(low)} to {number(high)}" if low > 0 else f"at most {number(high)}"


def _check_coverage(row: Row, evidence: Sequence[Row]) -> None:
    if row["system"] is None:
        assert row["value"] >= 95
        return
    [covered] = evidence
    assert row["value"] == pytest.approx(covered["covered_pct"])
    hours = (
        f"{number(covered['covered_hours'])} of {counted(covered['hours'], 'hour')} ({percent(row['value'])})"
    )
    assert f" cover {hours} from " in row["sentence"]


def _check_runs(row: Row, evidence: Sequence[Row]) -> None:
    assert row["value"] == sum(each["hours"] for each in evidence)
    for each in evidence:
        assert f"{counted(each['hours'], 'hour')} of {each['system']}" in row["sentence"]


_CHECKS = {
    "price": _check_price,
    "saving": _check_saving,
    "exposure": _check_exposure,
    "old versions": _check_exposure,
    "certificates": _check_certificates,
    "change": _check_change,
    "coverage": _check_coverage,
    "runs": _check_runs,
}


def check_part(part: Sequence[Row], whole: Sequence[Row]) -> None:
    """What filters choose is never more than there is without them."""
    assert _largest(part, "price", "high") <= _largest(whole, "price", "high")
    if _advice_kind(part) == _advice_kind(whole):
        assert _largest(part, "saving", "high") <= _largest(whole, "saving", "high")
    assert sum(map(_counted, part)) <= sum(map(_counted, whole))


def _advice_kind(said: Sequence[Row]) -> tuple[bool, ...]:
    """Whether the largest saving names a setting, and whether the data show it: such savings come first."""
    return tuple(
        any(words in row["sentence"] for row in said if row["subject"] == "saving")
        for words in ("that name a setting", "whose setting or cause is in the data")
    )


def _largest(said: Sequence[Row], subject: str, column: str) -> float:
    return max((row[column] or 0 for row in said if row["subject"] == subject), default=0)


def _counted(row: Row) -> int:
    """The number of unprotected or old connections, or of certificates, that a statement begins with."""
    if row["subject"] not in {"exposure", "old versions", "certificates"} or row["status"] == UNKNOWN:
        return 0
    match = re.search(r"(\d[\d,]*) (?:of|certificates?) ", row["sentence"])
    return int(match[1].replace(",", "")) if match else 0
