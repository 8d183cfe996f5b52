"""Compare two versions of zscope: load the same files with both and compare everything that comes out.

    python benchmarks/compare_versions.py BEFORE [AFTER] [--real FOLDER] [--world-days N]

BEFORE and AFTER are checkouts in which `make env` has run; AFTER is this checkout unless named. Both versions

1. generate a synthetic world with the same seed: the files must be equal byte for byte;
2. load the sample data, the world and the real files, each into a store: exit codes, every table of the
   store, every issue, every metric and every check must be equal;
3. AFTER opens the store that BEFORE wrote and loads another file into it; BEFORE does the same; the tables
   must be equal.

Wording is compared separately: a difference in columns with sentences is listed and does not count. Times of
loading are not compared. The exit code is 0 if everything is equal, else 1.
"""

from __future__ import annotations

import argparse
import filecmp
import json
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

from zscope.pipelines.store.catalogue_file import search

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

CHECKOUT = Path(__file__).resolve().parents[1]
TIMEZONE = "+01:00"
SENTENCES = {
    "text", "meaning", "title", "note", "why", "reason", "remark", "remarks", "question", "evidence",
    "advice", "detail", "remedy", "what", "explanation", "missing", "doubts", "statement", "evidence_query",
    "summary", "description", "basis", "counted_by", "limits", "verdict_reason", "conditions", "comment",
    "capture", "needs",
}  # fmt: skip
"""Columns that hold sentences for people."""
UNEQUAL_BY_NATURE = {"started_utc", "seconds", "mb_per_second", "zscope_version", "stored_bytes"}
"""Columns that differ between two runs of one version."""
OWN_TABLES = {"zscope_store", "zscope_view", "field_catalog"}
"""Tables about the catalogue itself; field_catalog is compared apart, as it holds mostly sentences."""


FIELD_CATALOG = """
    SELECT table_name, column_name, vendor_name, byte_offset, byte_length, format, arrow_type, unit, codes,
        evidence
    FROM field_catalog
"""


@dataclass
class Version:
    """One checkout of zscope."""

    name: str
    checkout: Path
    work: Path

    def run(self, *arguments: str | Path, check: bool = False) -> subprocess.CompletedProcess[str]:
        """Run the command line of this version in its working folder."""
        command = [str(self.checkout / ".venv" / "bin" / "zscope"), *map(str, arguments)]
        done = subprocess.run(command, cwd=self.work, capture_output=True, text=True, check=False)
        if check and done.returncode not in (0, 4, 8):
            sys.exit(f"{self.name}: {' '.join(command)} ended with {done.returncode}\n{done.stderr}")
        return done

    def connect(self, store: str) -> duckdb.DuckDBPyConnection:
        """Open the catalogue of a store of this version."""
        connection = duckdb.connect(str(self.work / store / "zscope.duckdb"), read_only=True)
        connection.execute("SET TimeZone = 'UTC'")
        search(connection)
        return connection


@dataclass
class Outcome:
    """What was compared, and what differs."""

    compared: int = 0
    differences: list[str] = field(default_factory=list)
    wording: list[str] = field(default_factory=list)

    def expect(self, equal: bool, difference: str) -> None:
        """Count one comparison."""
        self.compared += 1
        if not equal:
            self.differences.append(difference)


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare two checkouts and print what differs."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path, nargs="?", default=CHECKOUT)
    parser.add_argument("--real", type=Path, help="folder of real files")
    parser.add_argument("--world-days", type=int, default=1)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="zscope-compare-") as folder:
        before, after = (
            Version(name, checkout.resolve(), Path(folder, name))
            for name, checkout in (("before", options.before), ("after", options.after))
        )
        outcome = Outcome()
        for version in (before, after):
            version.work.mkdir()
            shutil.copytree(before.checkout / "sample-data", version.work / "sample-data",
                            ignore=shutil.ignore_patterns("zscope"))  # fmt: skip
            if options.real:
                shutil.copytree(options.real, version.work / "real")
        compare_worlds(before, after, options.world_days, outcome)
        inputs = {"sample": "sample-data", "world-store": "world"}
        if options.real:
            inputs["real-store"] = "real"
        for store, path in inputs.items():
            compare_stores(before, after, store, path, outcome)
        compare_old_store(before, after, outcome)
    print(f"compared: {outcome.compared}; different: {len(outcome.differences)}")
    for line in outcome.differences:
        print("DIFFERENT", line)
    print(f"other wording in {len(outcome.wording)} places:", "; ".join(outcome.wording))
    return bool(outcome.differences)


def compare_worlds(before: Version, after: Version, days: int, outcome: Outcome) -> None:
    """Generate a world with both versions; the files must be the same."""
    for version in (before, after):
        arguments = ("--days", str(days), "--seed", "7", "--connections-per-hour", "120", "--runs", "few")
        version.run("generate", "world", "world", *arguments, check=True)
    ours, theirs = (
        sorted(p.relative_to(v.work) for p in (v.work / "world").rglob("*") if p.is_file())
        for v in (before, after)
    )
    outcome.expect(ours == theirs, f"generated files: {set(ours) ^ set(theirs)}")
    for path in ours:
        same = (after.work / path).exists() and filecmp.cmp(
            before.work / path, after.work / path, shallow=False
        )
        if path.name == "README.txt":
            outcome.wording += [] if same else [str(path)]
        else:
            outcome.expect(same, f"generated file {path}")


def compare_stores(before: Version, after: Version, store: str, path: str, outcome: Outcome) -> None:
    """Load the same files with both versions and compare the stores."""
    codes = []
    for version in (before, after):
        loaded = version.run("ingest", path, "--store", store, "--timezone", TIMEZONE, "--format", "json")
        codes.append(loaded.returncode)
        files = sorted((version.work / path).rglob("runs.toml"))
        codes += [version.run("runs", "import", file, "--store", store).returncode for file in files]
    half = len(codes) // 2
    outcome.expect(codes[:half] == codes[half:], f"{store}: exit codes {codes}")
    compare_tables(before, store, after, store, outcome)
    compare_metrics(before, after, store, outcome)


def compare_old_store(before: Version, after: Version, outcome: Outcome) -> None:
    """The store that BEFORE wrote is opened and loaded into by AFTER; BEFORE loads the same into a copy."""
    for version in (before, after):
        shutil.copytree(before.work / "sample", version.work / "old", dirs_exist_ok=True)
        checked = version.run("store", "check", "--store", "old")
        outcome.expect(checked.returncode == 0, f"{version.name}: store check ends with {checked.returncode}")
        version.run("ingest", "world", "--store", "old", "--timezone", TIMEZONE, check=True)
    compare_tables(before, "old", after, "old", outcome)


def stored_tables(connection: duckdb.DuckDBPyConnection) -> list[str]:
    """Return the tables with data: of the readers, bookkeeping, code tables and published results."""
    metrics = connection.execute("""
        SELECT view_name FROM duckdb_views()
        WHERE NOT internal AND sql NOT LIKE '%read_parquet%' AND sql NOT LIKE '%LIMIT 0%'
            AND sql NOT LIKE '%WHERE false%'
    """).fetchall()
    tables = connection.execute("SELECT table_name FROM information_schema.tables").fetchall()
    return sorted({name for (name,) in tables} - {name for (name,) in metrics} - OWN_TABLES)


def columns_of(connection: duckdb.DuckDBPyConnection, relation: str) -> dict[str, str]:
    """Names and types of the columns of a relation."""
    return {
        name: kind for name, kind, *_ in connection.execute(f"DESCRIBE SELECT * FROM {relation}").fetchall()
    }


def compare_tables(before: Version, first: str, after: Version, second: str, outcome: Outcome) -> None:
    """Compare every stored table of two stores, row by row."""
    with before.connect(first) as ours, after.connect(second) as theirs:
        tables = stored_tables(ours)
        absent = set(tables) - set(stored_tables(theirs))
        outcome.expect(not absent, f"{first}: tables that are missing: {sorted(absent)}")
        with tempfile.TemporaryDirectory(prefix="zscope-tables-") as folder, duckdb.connect() as both:
            for table in sorted(set(tables) - absent):
                paths = [Path(folder, f"{side}.parquet") for side in ("before", "after")]
                for connection, path in zip((ours, theirs), paths, strict=True):
                    connection.execute(f"COPY (SELECT * FROM {table}) TO '{path}' (FORMAT parquet)")
                compare_rows(both, f"{first}.{table}", paths[0], paths[1], outcome)
            catalogs = [set(connection.execute(FIELD_CATALOG).fetchall()) for connection in (ours, theirs)]
            missing = sorted(catalogs[0] - catalogs[1], key=str)
            outcome.expect(not missing, f"{first}: missing in field_catalog: {missing[:5]}")


def compare_metrics(before: Version, after: Version, store: str, outcome: Outcome) -> None:
    """Compare every metric, the benchmark and the checks, as the commands give them."""
    names = [row["metric"] for row in json.loads(before.run("metrics", "--format", "json").stdout)]
    with duckdb.connect() as both:
        for name, arguments in [
            *((n, ("metrics", n)) for n in names),
            ("benchmark", ("benchmark",)),
            ("check", ("check",)),
        ]:
            codes, paths = [], []
            for version in (before, after):
                path = version.work / f"{name}.parquet"
                path.unlink(missing_ok=True)
                codes.append(version.run(*arguments, "--store", store, "-o", path).returncode)
                paths.append(path)
            outcome.expect(codes[0] == codes[1], f"{store}: {name}: exit codes {codes}")
            if all(path.exists() for path in paths):
                compare_rows(both, f"{store}: {name}", paths[0], paths[1], outcome)


def compare_rows(
    both: duckdb.DuckDBPyConnection, name: str, before: Path, after: Path, outcome: Outcome
) -> None:
    """Compare the rows of two Parquet files in any order; AFTER must have all columns of BEFORE."""
    sides = [f"read_parquet('{path}')" for path in (before, after)]
    types = [columns_of(both, side) for side in sides]
    missing = types[0].keys() - types[1].keys()
    changed = {c for c in types[0].keys() & types[1].keys() if types[0][c] != types[1][c]}
    outcome.expect(
        not missing and not changed,
        f"{name}: columns missing {sorted(missing)}, of other type {sorted(changed)}",
    )
    columns = [c for c in types[0] if c in types[1] and c not in UNEQUAL_BY_NATURE]
    numbers = [c for c in columns if c not in SENTENCES]
    different = rows_that_differ(both, sides, numbers, types[0])
    outcome.expect(
        not different,
        f"{name}: {different} rows in {list(blamed(both, sides, numbers, types[0])) if different else ''}",
    )
    sentences = [c for c in columns if c in SENTENCES]
    if sentences and (count := rows_that_differ(both, sides, sentences, types[0])):
        outcome.wording.append(f"{name} ({', '.join(sentences)}: {count})")


def rows_that_differ(
    both: duckdb.DuckDBPyConnection, sides: Sequence[str], columns: Sequence[str], types: dict[str, str]
) -> int:
    """The number of rows that only one side has."""
    if not columns:
        return 0
    # Sums of floating point numbers depend on the order of rows in their last digits.
    shown = ", ".join(
        f'printf(\'%.9g\', "{c}") AS "{c}"' if types[c] in ("DOUBLE", "FLOAT") else f'"{c}"' for c in columns
    )
    one, other = (f"SELECT {shown} FROM {side}" for side in sides)
    counts = (f"(SELECT count(*) FROM ({a} EXCEPT ALL {b}))" for a, b in ((one, other), (other, one)))
    [count] = both.execute(f"SELECT {' + '.join(counts)}").fetchone() or (0,)
    return int(count)


def blamed(
    both: duckdb.DuckDBPyConnection, sides: Sequence[str], columns: Sequence[str], types: dict[str, str]
) -> Iterator[str]:
    """The columns whose values differ by themselves."""
    return (c for c in columns if rows_that_differ(both, sides, [c], types))


if __name__ == "__main__":
    sys.exit(main())
