"""Replace operators in the SQL of metrics by wrong ones; for each of them a case of a metric must fail.

    python -m tests.mutants.sql_operators [--seed 1] [--number 100] [--of NAME]

The seed gives each operator of `operator_places.py` a rank, and those with the lowest ranks are replaced. The
rank depends on the metric, the line and the wrong line: if a line changes, the operators of other lines are
replaced as before. For each wrong operator, the cases in `tests/pipelines/cases` run that compute a metric
with it: first those of this metric, then those of the metrics that depend on it. `make test` runs all of
them. A statement that DuckDB refuses to plan, or that does not end, is noticed as well: the output says so.

The exit code is 1 if no case notices a wrong operator, unless it is in `sql_operators.toml`: that is the list
of those that change no row that can occur, each with the reason.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import tomllib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from threading import Timer
from typing import TYPE_CHECKING
from unittest.mock import patch

import duckdb
from tests.mutants.operator_places import (
    MACROS,
    Operator,
    macros_with_wrong,
    metrics_with_macro,
    operators,
    with_wrong,
)
from tests.pipelines.metrics import metric_steps
from tests.pipelines.metrics.metric_cases import MetricCase, case_files, difference
from tests.pipelines.metrics.metric_steps import StepTables, step_tables, steps_between

from zscope.pipelines.metrics import declared

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

LIST = Path(__file__).with_name("sql_operators.toml")
_LONGEST_S = 20
"""After this time a statement is interrupted."""
_NOT_PLANNED = (duckdb.BinderException, duckdb.CatalogException, duckdb.ParserException)


@dataclass(frozen=True, slots=True)
class Equivalent:
    """A wrong operator that changes no row that can occur."""

    of: str
    part: str
    line: str
    wrong_line: str
    reason: str

    def is_about(self, operator: Operator) -> bool:
        """Return whether it is this operator."""
        named = (self.of, self.part, self.line, self.wrong_line)
        return named == (operator.of, operator.part, operator.line, operator.wrong_line)


def equivalents() -> list[Equivalent]:
    """Return the entries of the list."""
    entries = tomllib.loads(LIST.read_text(encoding="utf-8")).get("equivalent", [])
    return [Equivalent(**entry) for entry in entries]


def noticed_by(operator: Operator) -> str:
    """Return the case that a wrong operator makes fail; no text if there is none."""
    if operator.of != MACROS:
        wrong = with_wrong(operator)
        metrics = {**declared(), **wrong}
        with patch.object(metric_steps, "declared", lambda: metrics):
            return _failing_case(step_tables(), wrong)
    with patch.object(metric_steps, "macros_sql", lambda: macros_with_wrong(operator)):
        try:
            tables = StepTables()
        except duckdb.Error as error:
            return f"the macros cannot be created ({type(error).__name__})"
    return _failing_case(tables, metrics_with_macro(operator))


def _failing_case(tables: StepTables, changed: Collection[str]) -> str:
    """Run the cases that compute a changed metric until one fails, and return its name."""
    for case in _cases_with(changed):
        name = f"{case.metric}: {case.name}"
        timer = Timer(_LONGEST_S, tables.connection.interrupt)
        timer.start()
        try:
            rows = tables.rows(case.metric, case.given, case.parameters, case.by)
        except _NOT_PLANNED:
            return f"{name} (DuckDB does not plan it)"
        except duckdb.Error as error:
            return f"{name} ({type(error).__name__})"
        finally:
            timer.cancel()
        if difference(case, rows):
            return name
    return ""


def _cases_with(changed: Collection[str]) -> list[MetricCase]:
    """Return the cases that compute a changed metric: its own, then those with the fewest steps first."""
    found = []
    for case in (case for cases in case_files().values() for case in cases):
        steps = steps_between(case.metric, case.given)
        if not {*steps, case.metric}.isdisjoint(changed):
            found.append((case.metric not in changed, len(steps), case))
    return [case for _, _, case in sorted(found, key=lambda entry: entry[:2])]


def chosen_by(seed: int, number: int, possible: Sequence[Operator]) -> list[Operator]:
    """Return the operators that a seed chooses."""

    def rank(operator: Operator) -> bytes:
        return hashlib.sha256(f"{seed}: {operator}".encode()).digest()

    return sorted(possible, key=rank)[:number]


def survivors(chosen: Sequence[Operator]) -> list[Operator]:
    """Return the wrong operators that no case notices and that are not listed. Print the result of each."""
    listed = equivalents()
    unnoticed = []
    results: Counter[str] = Counter()
    for operator in chosen:
        noticed = noticed_by(operator)
        is_equivalent = any(entry.is_about(operator) for entry in listed)
        result = "killed" if noticed else "equivalent" if is_equivalent else "SURVIVED"
        results[result] += 1
        if result == "SURVIVED":
            unnoticed.append(operator)
        print(f"{result}: {operator}" + (f" ({noticed})" if noticed else ""), flush=True)
    print(", ".join(f"{number} {result}" for result, number in results.items()))
    return unnoticed


def main(arguments: Sequence[str]) -> int:
    """Choose operators and replace each."""
    options = _options(arguments)
    possible = [operator for operator in operators() if options.of in {None, operator.of}]
    chosen = chosen_by(options.seed, options.number, possible)
    return 1 if survivors(chosen) or not chosen else 0


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants.sql_operators")
    parser.add_argument("--seed", type=int, default=1, help="chooses the operators; default: 1")
    parser.add_argument("--number", type=int, default=100, help="how many operators; default: 100")
    parser.add_argument("--of", help="only operators of this metric, or of `macros`; default: all")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
