"""The operators in the SQL of metrics that can be replaced, and the list of those that change no row."""

from __future__ import annotations

import pytest
from tests.mutants.operator_places import operators, places
from tests.mutants.sql_operators import chosen_by, equivalents, noticed_by


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("a + b - c", ["+", "-"]),
        ("SELECT *, t.*, count(*), -1, (-a) FROM t -- a + b", []),
        ("a * 'b * c' || \"d / e\" ** 2", ["*"]),
        ("a < b AND c <= d OR e <> f", ["<", "AND", "<=", "OR"]),
        ("a BETWEEN b AND c AND d BETWEEN (e AND f) AND g", ["AND", "AND"]),
        ("sum(a) FILTER (b > 0), max(sum)", ["sum", ">"]),
        ("coalesce(a, b), coalesce(f(a, b), c), coalesce(a, b, c)", ["coalesce", "coalesce"]),
        ("CREATE OR REPLACE MACRO m(a) AS a -> b", []),
    ],
)
def test_operators_of_a_text(sql: str, expected: list[str]) -> None:
    assert [sql[begin:end] for begin, end in places(sql)] == expected


def test_a_listed_operator_is_in_its_statement_and_has_a_reason() -> None:
    possible = operators()
    for entry in equivalents():
        assert any(entry.is_about(operator) for operator in possible), entry
        assert entry.reason.endswith(".")


def test_the_choice_of_a_seed_depends_on_no_other_operator() -> None:
    every = operators()
    chosen = chosen_by(1, 100, every)
    assert len(set(chosen)) == 100
    others = [operator for operator in reversed(every) if operator not in chosen[40:60]]
    assert chosen_by(1, 80, others) == chosen[:40] + chosen[60:]
    assert chosen_by(2, 100, every) != chosen


def test_a_wrong_operator_is_noticed_by_a_case() -> None:
    [operator] = [
        operator
        for operator in operators()
        if operator.line
        == "HAVING sum(s.interval_ms) >= 0.98 * epoch_ms(y.interval_end_utc - y.interval_start_utc)"
        and operator.wrong == "/"
    ]
    assert noticed_by(operator).startswith("cost_interval: ")
