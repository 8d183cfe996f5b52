"""The macros that metrics share: part of the catalogue, and usable in every client."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import duckdb
import pytest
from tests.pipelines.metric_world import catalogue

from zscope.pipelines.estimate.student_distribution import student
from zscope.pipelines.metrics import declared, macros_sql, needed
from zscope.pipelines.store.folder import Folder

if TYPE_CHECKING:
    from pathlib import Path

MACROS = tuple(re.findall(r"^CREATE OR REPLACE MACRO (\w+)", macros_sql(), re.MULTILINE))
CALLED = {
    name: {*re.findall(r"\b\w+(?=\()", metric.sql), *(column.combine for column in metric.measures)}
    for name, metric in declared().items()
}
USED_IN = {macro: [name for name, called in CALLED.items() if macro in called] for macro in MACROS}
# Planning what reads runs takes seconds without preparation; benchmark_pair uses the macros of tags.
METRICS_WITH_MACROS = sorted(
    {name for names in USED_IN.values() for name in names if "run_interval" not in needed(name)}
)
QUICK = [name for name in METRICS_WITH_MACROS if len(needed(name)) < 100]
"""Without those that read most steps: DuckDB plans `statement` for eight seconds."""
ABOVE_ALL = [
    name
    for name in METRICS_WITH_MACROS
    if not any(name in needed(other) for other in METRICS_WITH_MACROS if other != name)
]
"""Those that no other one reads: their views contain the SQL of all others."""
ONE_OF_EACH = sorted(
    {
        min(possible, key=lambda name: len(needed(name)))
        for names in USED_IN.values()
        if (possible := [name for name in names if name in QUICK])
    }
)
"""For each macro, the metric that reads the fewest steps."""


@pytest.fixture
def bare() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    connection.execute(macros_sql())
    return connection


def test_a_bare_shell_can_read_the_file(bare: duckdb.DuckDBPyConnection) -> None:
    created = bare.execute("SELECT function_name FROM duckdb_functions() WHERE NOT internal").fetchall()
    assert {name for (name,) in created} == set(MACROS)


@pytest.mark.parametrize("macro", MACROS)
def test_a_macro_is_used(macro: str) -> None:
    by_macros = len(re.findall(rf"\b{macro}\(", macros_sql())) - 1
    assert len(USED_IN[macro]) + by_macros > 0


@pytest.mark.parametrize(
    "names",
    [
        pytest.param(ONE_OF_EACH, id="one of each macro"),
        pytest.param(ABOVE_ALL, id="all", marks=pytest.mark.deep),
    ],
)
def test_a_client_that_attaches_the_catalogue_can_query_the_views(
    names: list[str], summarised_store: Path
) -> None:
    """Under a name that is not `zscope`, which all sessions of the product use."""
    with duckdb.connect() as client:
        client.execute(f"ATTACH '{Folder(summarised_store).catalogue}' AS another_name (READ_ONLY)")
        for name in names:
            client.execute(f"SELECT * FROM another_name.steps.{name} LIMIT 0")


def test_the_server_port_comes_from_the_handshake_then_from_opening_then_from_the_numbers(
    bare: duckdb.DuckDBPyConnection,
) -> None:
    cases = [
        ("2, 8, 443, 50000", 443),
        ("1, 16, 443, 50000", 50000),
        ("0, 16, 9000, 80", 9000),
        ("NULL, 8, 9000, 80", 80),
        ("0, 0, 9000, 80", 80),
    ]
    found = [bare.execute(f"SELECT server_port_of({values})").fetchone() for values, _ in cases]
    assert found == [(port,) for _, port in cases]


def test_every_registered_suite_is_weak_exactly_if_its_name_says_so() -> None:
    rows = (
        catalogue()
        .execute("""
        SELECT name, suite_weaknesses(key_exchange, authentication, encryption) IS NOT NULL AS is_weak
        FROM cipher WHERE is_suite(code, protocol)
    """)
        .fetchall()
    )
    weak = re.compile(r"_RC4_|_3DES_|_DES_|_DES40_|_RC2_|WITH_NULL|_EXPORT_|_anon_|^TLS_SHA\d+_SHA")
    assert len(rows) > 300
    assert [name for name, is_weak in rows if is_weak != bool(weak.search(name))] == []


def test_signalling_values_and_unknown_numbers_are_no_suites() -> None:
    rows = catalogue().execute("SELECT name FROM cipher WHERE NOT is_suite(code, protocol)").fetchall()
    assert sorted(rows) == [("TLS_EMPTY_RENEGOTIATION_INFO_SCSV",), ("TLS_FALLBACK_SCSV",)]
    assert catalogue().execute("SELECT is_suite(NULL, NULL)").fetchone() == (False,)


@pytest.mark.parametrize(
    ("key_type", "bits", "is_short"),
    [
        *((key_type, bits, bits < 2048) for key_type in (2, 3, 4) for bits in (1, 2047, 2048, 2049)),
        *((5, bits, bits < 224) for bits in (1, 223, 224, 225)),
        (2, 0, False),
        (9, 1, False),
    ],
)
def test_keys_are_short_below_their_limit(
    bare: duckdb.DuckDBPyConnection, key_type: int, bits: int, is_short: bool
) -> None:
    assert bare.execute("SELECT is_short_key(?, ?)", [key_type, bits]).fetchone() == (is_short,)


def test_an_interval_lies_mostly_in_another_one_from_four_fifths_on(bare: duckdb.DuckDBPyConnection) -> None:
    inside = "SELECT lies_mostly_in(0, 10000000, ?, 99000000)"
    assert bare.execute(inside, [2_000_000]).fetchone() == (True,)
    assert bare.execute(inside, [2_000_001]).fetchone() == (False,)


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (659.4, "659"), (99.95, "100"), (99.94, "99.9"), (0.0001, "0.0001"), (6.29e-05, "0.0000629"),
        (-1.5e-06, "-0.0000015"), (0, "0"), (None, None), (12_345_678, "12,345,678"),
    ],
)  # fmt: skip
def test_a_number_in_a_sentence_has_no_exponent(
    number: float | None, text: str | None, bare: duckdb.DuckDBPyConnection
) -> None:
    assert bare.execute("SELECT number_text(?)", [number]).fetchone() == (text,)


@pytest.mark.parametrize("freedom", [4, 6, 13, 30, 1000])
@pytest.mark.parametrize("probability", [0.025, 0.025 / 8, 0.025 / 48])
def test_quantiles_of_student_are_close(
    bare: duckdb.DuckDBPyConnection, freedom: int, probability: float
) -> None:
    exact = student(1 - probability, freedom)
    [found] = bare.execute("SELECT student_beyond(?, ?)", [freedom, probability]).fetchone() or ()
    assert found == pytest.approx(exact, rel=0.03 if freedom > 4 else 0.07)
