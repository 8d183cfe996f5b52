"""Supplied transaction counts in a store are loaded once, and CPU time is divided by them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.pipelines.stores import load

from zscope.pipelines.store import open_reader

if TYPE_CHECKING:
    from pathlib import Path

    from zscope.pipelines.ingest.options_and_outcomes import IngestReport

HEAD = "system,start,end,transactions,workload"
FIRST = "SYSA,2026-03-02T10:00:00+01:00,2026-03-02T10:15:00+01:00,900,RR60(4kB)"
SECOND = "SYSA,2026-03-02T10:15:00+01:00,2026-03-02T10:30:00+01:00,1800,RR60(4kB)"


def write(path: Path, *lines: str) -> Path:
    path.write_text("\n".join([HEAD, *lines]) + "\n", encoding="utf-8")
    return path


def counts(report: IngestReport) -> list[tuple[int, int]]:
    """Rows that were stored, and those that were there already."""
    loads = [outcome.load for outcome in report.outcomes]
    return [(load.rows, load.duplicates) for load in loads if load]


def ask(store: Path, statement: str) -> list[tuple[Any, ...]]:
    with open_reader(store) as connection:
        return connection.execute(statement).fetchall()


def test_counts_are_loaded_with_their_load_and_line(tmp_path: Path) -> None:
    store = tmp_path / "store"
    report = load(store, write(tmp_path / "counts.csv", FIRST, SECOND))
    assert counts(report) == [(2, 0)]
    assert ask(store, "SELECT load_id, line_no, system, transactions FROM transaction_count ORDER BY 2") == [
        (1, 2, "SYSA", 900),
        (1, 3, "SYSA", 1800),
    ]


def test_repeated_count_is_not_stored_again(tmp_path: Path) -> None:
    store = tmp_path / "store"
    load(store, write(tmp_path / "one.csv", FIRST))
    report = load(store, write(tmp_path / "both.csv", SECOND, FIRST))
    assert counts(report) == [(1, 1)]
    assert ask(store, "SELECT sum(transactions)::BIGINT FROM transaction_count") == [(2700,)]


def test_count_gives_a_rate_without_other_data(tmp_path: Path) -> None:
    store = tmp_path / "store"
    load(store, write(tmp_path / "counts.csv", FIRST, SECOND))
    found = ask(
        store,
        "SELECT counted_by, status, transactions_per_s, cpu_us_per_transaction FROM cpu_per_transaction",
    )
    assert found == [
        ("supplied count", "no CPU data", 1.0, None),
        ("supplied count", "no CPU data", 2.0, None),
    ]
