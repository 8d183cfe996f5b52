"""Validation in a process of its own: its memory is given back, and its library stays out of ours."""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from zscope.pipelines.quality.checks import QualityError
from zscope.pipelines.quality.results import VALIDATION_SCHEMA
from zscope.pipelines.quality.slices import SAMPLE_ROWS, Slice

if TYPE_CHECKING:
    import pyarrow as pa

COULD_NOT = 12
"""Exit code when validation could not be run; the last line on standard error says why."""


def validate_in_own_process(
    catalogue: Path, part: Slice, docs: Path, *, sample_rows: int = SAMPLE_ROWS
) -> pa.Table:
    """Check a slice of a store and write the pages about it; the results have the columns of `validation`.

    Bad data is told in the results; `QualityError` says that nothing was checked, and why.
    """
    import pyarrow.parquet as pq

    with tempfile.TemporaryDirectory(prefix="zscope-quality-") as folder:
        result = Path(folder) / "result.parquet"
        arguments = arguments_of(catalogue, part, docs, result, sample_rows)
        # -P: what lies in the folder we happen to be in is not ours to import.
        command = [sys.executable, "-P", "-m", "zscope.pipelines.quality", *arguments]
        ended = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False
        )
        if ended.returncode:
            raise QualityError(_reason(ended.returncode, ended.stderr.decode(errors="replace")))
        return pq.read_table(result).cast(VALIDATION_SCHEMA)


def arguments_of(catalogue: Path, part: Slice, docs: Path, result: Path, sample_rows: int) -> list[str]:
    """The arguments of the process.

    >>> arguments_of(Path("a"), Slice((1, 2), system="SYSA"), Path("b"), Path("c"), 9)[6:]
    ['--sample', '9', '--load', '1', '2', '--system', 'SYSA']
    """
    return [
        "--catalogue", str(catalogue), "--docs", str(docs), "--result", str(result),
        "--sample", str(sample_rows), *_slice_arguments(part),
    ]  # fmt: skip


def _slice_arguments(part: Slice) -> Iterator[str]:
    if part.loads is not None:
        yield from ("--load", *map(str, part.loads))
    if part.tables:
        yield from ("--table", *part.tables)
    if part.system is not None:
        yield from ("--system", part.system)
    if part.first_day:
        yield from ("--from", part.first_day.isoformat())
    if part.last_day:
        yield from ("--to", part.last_day.isoformat())


def _reason(code: int, talk: str) -> str:
    lines = [line for line in talk.splitlines() if line.strip()]
    last = lines[-1] if lines else "it said nothing"
    if code == COULD_NOT:
        return last
    if code < 0:
        name = signal.Signals(-code).name
        hint = "if memory was short, choose fewer tables or days"
        return f"the process that validates was ended by {name}; {hint}"
    return f"the process that validates ended with {code}: {last}"
