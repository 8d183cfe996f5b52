"""Checks that somebody wrote down: the TOML files in `expectations/`.

Each is an `[[expectation]]` with `id`, `table`, `kind`, `severity` and `meaning`, and one of

- `where`: a condition that the rows to complain about fulfil; `shows` names the columns to show of them,
- `sql`: a statement that returns the rows to complain about; tables are named with their schema
  (see `slices`), and those besides `table` are listed in `needs`,
- `counters`: columns that never fall, from row to row in `order` among the rows alike in `by` and `since`.

`[unit.X]` and `[[range]]` hold the limits of units and of single columns, `[nothing_told]` by code table what
stands in a record where there is no code to give.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from zscope.pipelines.quality.checks import CHECKED, NEARBY, SAMPLED, Check, Kind, Severity, identifier
from zscope.pipelines.quality.declared import Allowed, Range, declared_checks
from zscope.pipelines.quality.places import place_columns, where
from zscope.schemas.load import LayoutError, read_toml
from zscope.schemas.tables import table_names


@cache
def all_checks() -> tuple[Check, ...]:
    """Every check there is, the declared ones first."""
    contents = read_folder(files(__package__) / "expectations")
    return (*declared_checks(allowed_in(contents)), *explicit_checks(contents))


def read_folder(folder: Traversable) -> dict[str, dict[str, Any]]:
    """The content of every file, by its name."""
    found = sorted((file for file in folder.iterdir() if file.name.endswith(".toml")), key=lambda f: f.name)
    return {file.name: read_toml(file) for file in found}


def allowed_in(contents: dict[str, dict[str, Any]]) -> Allowed:
    """The limits, and the codes that tell nothing, in all files."""
    by_unit: dict[str, Range] = {}
    by_column: dict[tuple[str, str], Range] = {}
    nothing_told: dict[str, tuple[str, ...]] = {}
    for file, content in contents.items():
        nothing_told |= {name: tuple(codes) for name, codes in content.get("nothing_told", {}).items()}
        for unit, raw in content.get("unit", {}).items():
            by_unit[unit] = _limits(file, unit, raw)
        for raw in content.get("range", []):
            place = (raw.get("table"), raw.get("column"))
            by_column[place] = _limits(file, f"{place[0]}.{place[1]}", raw)
    return Allowed(by_unit, by_column, nothing_told)


def _limits(file: str, key: str, raw: dict[str, Any]) -> Range:
    try:
        return Range(
            raw.get("minimum"), raw.get("maximum"), Severity(raw["severity"]), str(raw["meaning"]).strip()
        )
    except (KeyError, ValueError) as error:
        raise LayoutError(file, key, str(error)) from error


def explicit_checks(contents: dict[str, dict[str, Any]]) -> Iterator[Check]:
    """The checks in all files."""
    for file, content in contents.items():
        for raw in content.get("expectation", []):
            key = str(raw.get("id", "expectation without id"))
            try:
                yield _check(raw)
            except (KeyError, ValueError) as error:
                raise LayoutError(file, key, str(error)) from error


def _check(raw: dict[str, Any]) -> Check:
    table = raw["table"]
    needs = tuple(raw.get("needs", ()))
    if unknown := {table, *needs}.difference(table_names()):
        raise ValueError(f"there is no table {', '.join(sorted(unknown))}")
    kinds = {"where": _by_condition, "sql": _by_statement, "counters": _by_counters}
    statements = [make(raw) for key, make in kinds.items() if key in raw]
    if len(statements) != 1:
        raise ValueError(f"needs exactly one of {', '.join(kinds)}")
    return Check(
        id=f"{table}.{raw['id']}",
        table=table,
        kind=Kind(raw["kind"]),
        severity=Severity(raw["severity"]),
        meaning=" ".join(raw["meaning"].split()),
        unexpected=statements[0],
        column=raw.get("column", ""),
        rows=SAMPLED if "where" in raw else CHECKED,
        needs=needs,
    )


def _by_condition(raw: dict[str, Any]) -> str:
    return where(raw["table"], raw["where"], *raw["shows"])


def _by_statement(raw: dict[str, Any]) -> str:
    return str(raw["sql"]).strip()


def _by_counters(raw: dict[str, Any]) -> str:
    """Every fall of a counter, with the value before and where that one stands."""
    table, order = raw["table"], raw["order"]
    places = [name for name in place_columns(table) if name not in raw["by"]]
    kept = _names([*places, order, *raw["by"], *raw["since"]])
    group = _names([*raw["by"], *raw["since"]])
    counters = _names(raw["counters"])
    return f"""
WITH shown AS (
    UNPIVOT (
        SELECT {kept}, {counters} FROM {NEARBY}.{identifier(table)} WHERE {identifier(order)} IS NOT NULL
    )
    ON {counters} INTO NAME counter VALUE value
),
pairs AS (
    SELECT
        *,
        lag(value) OVER in_time AS value_before,
        lag({identifier(places[-1])}) OVER in_time AS {identifier(f"{places[-1]}_before")}
    FROM shown
    WINDOW in_time AS (PARTITION BY {group}, counter ORDER BY {identifier(order)}, value)
)
SELECT * FROM pairs
WHERE value < value_before AND load_id IN (SELECT load_id FROM {CHECKED}.{identifier(table)})
""".strip()


def _names(columns: list[str]) -> str:
    return ", ".join(identifier(name) for name in columns)
