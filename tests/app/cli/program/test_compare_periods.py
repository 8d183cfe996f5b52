"""`zscope compare-periods`: how periods are written, what is compared with what, and what is printed."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest
from click.testing import Result

from zscope.app.cli.commands.compare_periods import lines_below
from zscope.pipelines.written_days import DaysPeriod, parse_period

Run = Callable[..., Result]
Ask = Callable[..., Result]


@pytest.fixture
def ask(run: Run, demo: tuple[Path, Result]) -> Ask:
    """The sample data: the week from 9 March 2026 of four systems."""

    def compare(*arguments: object) -> Result:
        return run("compare-periods", *arguments, "--store", demo[0])

    return compare


def rows(result: Result) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(result.stdout)))


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("2026-03-02", "2026-03-02", "2026-03-02"),
        ("2026.061", "2026-03-02", "2026-03-02"),
        ("2026-W10", "2026-03-02", "2026-03-08"),
        ("2026-02", "2026-02-01", "2026-02-28"),
        ("2025-12", "2025-12-01", "2025-12-31"),
        ("2026-03-02..2026-03-04", "2026-03-02", "2026-03-04"),
    ],
)
def test_a_period_is_a_day_a_week_a_month_or_a_span(text: str, first: str, last: str) -> None:
    period = parse_period(text)
    assert (period.first, period.last) == (date.fromisoformat(first), date.fromisoformat(last))


@pytest.mark.parametrize(
    ("text", "before"),
    [
        ("2026-03-09", "2026-03-02"),
        ("2026-W01", "2025-W52"),
        ("2026-01", "2025-12"),
        ("2026-03-09..2026-03-17", "2026-02-23..2026-03-03"),
    ],
)
def test_a_period_is_compared_with_the_same_days_before(text: str, before: str) -> None:
    assert parse_period(text).before == parse_period(before)


@pytest.mark.parametrize(
    "text", ["", "yesterday", "2026-13", "2026-W54", "2026-03-04..2026-03-02", "2026-03.."]
)
def test_what_is_no_period_is_refused(text: str, ask: Ask) -> None:
    result = ask(text)
    assert result.exit_code == 12
    assert "is not a day, week, month or span of days" in result.stderr


def test_the_month_before_has_its_own_length() -> None:
    assert parse_period("2026-03").before == DaysPeriod(date(2026, 2, 1), date(2026, 2, 28), is_month=True)


def test_two_days_are_compared_for_each_system_and_quantity(ask: Ask) -> None:
    result = ask("2026-03-10", "2026-03-12", "--system", "SRV1")
    assert result.exit_code == 0
    compared = {row["quantity"]: row for row in rows(result)}
    assert list(compared) == [
        "TLS cost", "CPU time", "handshakes", "resumed handshakes", "TLSv1.3", "old versions", "connections",
        "bytes",
    ]  # fmt: skip
    cpu = compared["CPU time"]
    assert (cpu["earlier_period"], cpu["later_period"]) == ("2026-03-10", "2026-03-12")
    assert float(cpu["low"]) <= float(cpu["change"]) <= float(cpu["high"])
    assert cpu["sentence"].startswith("SRV1: ")
    assert {row["verdict"] for row in compared.values()} >= {"not known"}
    for row in compared.values():
        assert (row["verdict"] == "not known") == (row["low"] == "")
        assert row["verdict"] != "not known" or row["why"]


def test_a_period_without_data_before_it_is_not_known(ask: Ask) -> None:
    result = ask("2026-03-10")
    assert result.exit_code == 4
    assert {row["verdict"] for row in rows(result)} == {"not known"}
    assert {row["earlier_period"] for row in rows(result)} == {"2026-03-03"}


def test_more_than_two_periods_and_unknown_systems_are_refused(ask: Ask) -> None:
    assert "at most two periods" in ask("2026-03-10", "2026-03-11", "2026-03-12").stderr
    assert "no such system" in ask("2026-03-10", "--system", "NONE").stderr
    assert "the year must be" in ask("2999-03-10").stderr


def test_causes_are_printed_instead(ask: Ask) -> None:
    result = ask("2026-03-10", "2026-03-12", "--why", "--system", "SRV1")
    assert result.exit_code == 0
    causes = {(row["quantity"], row["cause"]): row for row in rows(result)}
    assert ("resumed handshakes", "session cache") in causes
    assert ("TLS cost", "TLS cost") in causes
    assert causes["TLS cost", "TLS cost"]["sentence"]


@pytest.mark.parametrize(("first", "is_noise"), [("2026-03-10", True), ("2026-03-11", False)])
def test_causes_of_changes_within_noise_are_noted(ask: Ask, first: str, *, is_noise: bool) -> None:
    verdicts = {row["verdict"] for row in rows(ask(first, "2026-03-12", "--system", "SRV1"))}
    assert verdicts.isdisjoint({"less", "more"}) is is_noise
    note = "note: SRV1: no change is more than noise, so these causes may be noise"
    assert (note in ask(first, "2026-03-12", "--why", "--system", "SRV1").stderr) is is_noise


def test_hours_of_runs_are_left_out_and_noted_unless_they_are_to_count(ask: Ask) -> None:
    covered = []
    for options, noted in (((), True), (("--with-runs",), False)):
        result = ask("2026-03-15", "2026-03-16", "--system", "SRV1", *options)
        [cpu] = [row for row in rows(result) if row["quantity"] == "CPU time"]
        assert ("hours with benchmark runs are left out" in result.stderr) is noted
        covered.append(float(cpu["later_covered_pct"]))
    assert covered[0] < covered[1]


def test_without_causes_the_missing_records_and_their_period_are_named(ask: Ask) -> None:
    result = ask("2026-01-05", "2026-01-06", "--why", "--system", "SRV1")
    assert result.exit_code == 4
    assert not rows(result)
    assert "What changed in 2026-01-06 against 2026-01-05 is not known" in result.stderr
    assert "of the earlier period and 0 % of the later period, and at least 50 % are needed" in result.stderr
    assert "SYSB" not in result.stderr


def test_records_of_another_time_are_missing_in_the_periods(ask: Ask) -> None:
    result = ask("2026-01-05", "2026-01-06", "--system", "SRV1")
    assert result.exit_code == 4
    [cpu] = [row for row in rows(result) if row["quantity"] == "CPU time"]
    assert cpu["why"] == (
        "SRV1: records of CPU time (SMF 70-1) cover 0 % of the earlier period and 0 % of the later period, "
        "and at least 50 % are needed"
    )


def compared(quantity: str, verdict: str, why: str = "") -> dict[str, str]:
    return {
        "system": "SYSA", "quantity": quantity, "verdict": verdict, "why": why, "source": "zERT detail",
        "sentence": f"the {quantity} changed", "earlier_period": "2026-W10", "later_period": "2026-W11",
    }  # fmt: skip


def test_a_terminal_has_sentences_for_changes_alone_and_each_reason_once() -> None:
    within = compared("bytes", "within noise")
    unknown = [compared(quantity, "not known", "no records") for quantity in ("handshakes", "TLSv1.3")]
    changed = [compared("CPU time", "more"), within, *unknown]
    assert list(lines_below(changed)) == [
        "2026-W11 against 2026-W10", "the CPU time changed",
        "no records (not known: handshakes, TLSv1.3)",
    ]  # fmt: skip
    assert list(lines_below([within, *unknown]))[-1] == (
        'no change is more than noise; one below "smallest visible" would not have been seen'
    )
    other = {**within, "system": "SYSB", "later_period": "2026-03-09"}
    assert list(lines_below([within, other]))[:2] == [
        "SYSA: 2026-W11 against 2026-W10", "SYSB: 2026-03-09 against 2026-W10",
    ]  # fmt: skip


def test_a_terminal_says_where_systems_have_a_quantity_from_other_records() -> None:
    rows = [compared(quantity, "within noise") for quantity in ("connections", "bytes", "handshakes")]
    others = [
        {
            **row,
            "system": "SYSB",
            "source": "zERT summary" if row["quantity"] != "handshakes" else row["source"],
        }
        for row in rows
    ]
    assert list(lines_below([*rows, *others]))[1:-1] == [
        "records of connections, bytes: zERT detail of SYSA; zERT summary of SYSB"
    ]
    assert not [line for line in lines_below(rows) if line.startswith("records of")]
