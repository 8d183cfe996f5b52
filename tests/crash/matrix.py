"""The crash matrix: commands that are killed, lose power or get errors of the disk at each of their calls.

    python -m tests.crash.matrix [COMMAND[@TEXT] ...]

With TEXT, only the states are examined in whose description it is, such as `watch@loaded/`.

Each command that changes a store runs once, and its calls that change files are recorded. What a kill or a
power failure leaves at each of them is made from the record; each such state is examined as readers and
`zscope store check` see it, and the command runs again. `--write-docs` writes the table into `docs/trust.md`.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from tests.crash.examination import Examination, Findings, Sample
from tests.crash.file_calls import build, is_preloaded, preloaded
from tests.crash.scenes import SCENES, watch_once
from tests.document_parts import write_between
from tests.pipelines.small_catalogue import use_small_catalogue
from tests.pipelines.store.forked import CHECKOUT, ONE_THREAD, done_by_child, warm_up

if TYPE_CHECKING:
    from collections.abc import Sequence

DOCUMENT = CHECKOUT / "docs" / "trust.md"
BEGIN, END = "<!-- begin of the crash matrix -->\n", "<!-- end of the crash matrix -->\n"
MEMORY = Path("/dev/shm")


def table(rows: Sequence[Findings]) -> str:
    """Return the table of the document."""
    total = Findings("**all**", *(sum(getattr(row, name) for row in rows) for name in _NUMBERS))
    total.holes = [hole for row in rows for hole in row.holes]
    lines = [
        "| command | calls | states after kills | after power failures | examined | calls not done | holes |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for row in (*rows, total):
        name = row.command if row is total else f"`{row.command}`"
        numbers = " | ".join(f"{getattr(row, each):,}" for each in _NUMBERS)
        lines.append(f"| {name} | {numbers} | {len(row.holes):,} |")
    return "\n".join([*lines, "", f"- {datetime.now(UTC):%Y-%m-%d}"]) + "\n"


_NUMBERS = ("calls", "kills", "power_failures", "examined", "not_done")


def examined(place: Path, options: argparse.Namespace) -> list[Findings]:
    """Examine commands; each finding is printed on standard error when it is known."""
    pa.set_cpu_count(1)
    warm_up()
    rows = []
    with pytest.MonkeyPatch.context() as patch:
        watch_once(patch)
        empty = place / "empty.duckdb"
        done_by_child(lambda: empty.write_bytes(use_small_catalogue(patch)))
        use_small_catalogue(patch, empty.read_bytes())
        for name, _, at in chosen(options):
            examination = Examination.of(SCENES[name], place)
            sample = Sample(options.states, options.not_done, at, random.Random(options.seed))
            rows.append(examination.findings(sample))
            print(rows[-1], file=sys.stderr)
    return rows


def chosen(options: argparse.Namespace) -> list[tuple[str, str, str]]:
    """Return the names of commands, with the texts in the descriptions of their states."""
    return [name.partition("@") for name in options.command or SCENES]


def main() -> None:
    """Run the program."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("command", nargs="*", metavar="COMMAND", help=f"default: all: {'; '.join(SCENES)}")
    parser.add_argument("--states", type=int, help="states of each command, chosen at random; default: all")
    parser.add_argument("--not-done", type=int, help="calls that are not done in further runs, likewise")
    parser.add_argument("--seed", type=int, default=49, help="default: %(default)s")
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")
    parser.add_argument("--write-docs", action="store_true", help="write the table into docs/trust.md")
    options = parser.parse_args()
    if unknown := {name for name, _, _ in chosen(options)} - SCENES.keys():
        parser.error(f"no command {'; '.join(sorted(unknown))}; commands: {'; '.join(SCENES)}")
    memory = MEMORY if MEMORY.is_dir() else None
    with tempfile.TemporaryDirectory(prefix="zscope-crash-", dir=memory) as folder:
        if not is_preloaded():
            again = [sys.executable, "-m", "tests.crash.matrix", *sys.argv[1:]]
            environment = os.environ | ONE_THREAD | preloaded(build(Path(folder)))
            sys.exit(subprocess.run(again, env=environment, check=False).returncode)
        rows = examined(Path(folder), options)
    print(json.dumps([asdict(row) for row in rows]) if options.json else table(rows), end="")
    if options.write_docs:
        write_between(DOCUMENT, BEGIN, END, table(rows))
    holes = [hole for row in rows for hole in row.holes]
    if holes and not options.json:
        sys.exit("\n".join(holes))


if __name__ == "__main__":
    main()
