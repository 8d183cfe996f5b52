"""Run the validation in a subprocess, which isolates the library and frees its memory."""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from zscope.pipelines.quality.quality_checks import QualityError
from zscope.pipelines.quality.slices import SAMPLE_ROWS, StoreSlice
from zscope.pipelines.quality.validation_results import VALIDATION_SCHEMA

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

EXIT_NOT_VALIDATED = 12
"""Exit code if the validation could not run; the last line of standard error is the reason."""


def validate_in_subprocess(
    catalogue: Path, store_slice: StoreSlice, docs: Path, *, sample_rows: int = SAMPLE_ROWS
) -> pa.Table:
    """Validate a slice of a store, write the HTML pages, and return rows of the table `validation`.

    Raises QualityError if the data could not be checked; bad data is part of the results.
    """
    import pyarrow.parquet as pq

    with tempfile.TemporaryDirectory(prefix="zscope-quality-") as folder:
        result = Path(folder) / "result.parquet"
        arguments = arguments_of(catalogue, store_slice, docs, result, sample_rows)
        # -P: never import modules from the current folder.
        command = [sys.executable, "-P", "-m", "zscope.pipelines.quality", *arguments]
        process = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False
        )
        if process.returncode:
            raise QualityError(_reason(process.returncode, process.stderr.decode(errors="replace")))
        return pq.read_table(result).cast(VALIDATION_SCHEMA)


def arguments_of(
    catalogue: Path, store_slice: StoreSlice, docs: Path, result: Path, sample_rows: int
) -> list[str]:
    """Return the arguments of the subprocess.

    >>> arguments_of(Path("a"), StoreSlice((1, 2), system="SYSA"), Path("b"), Path("c"), 9)[6:]
    ['--sample', '9', '--load', '1', '2', '--system', 'SYSA']
    """
    return [
        "--catalogue", str(catalogue), "--docs", str(docs), "--result", str(result),
        "--sample", str(sample_rows), *_slice_arguments(store_slice),
    ]  # fmt: skip


def _slice_arguments(store_slice: StoreSlice) -> Iterator[str]:
    if store_slice.loads is not None:
        yield from ("--load", *map(str, store_slice.loads))
    if store_slice.tables:
        yield from ("--table", *store_slice.tables)
    if store_slice.system is not None:
        yield from ("--system", store_slice.system)
    if store_slice.first_day:
        yield from ("--from", store_slice.first_day.isoformat())
    if store_slice.last_day:
        yield from ("--to", store_slice.last_day.isoformat())


def _reason(code: int, output: str) -> str:
    lines = [line for line in output.splitlines() if line.strip()]
    last = lines[-1] if lines else "no message"
    if code == EXIT_NOT_VALIDATED:
        return last
    if code < 0:
        name = signal.Signals(-code).name
        hint = "if memory was insufficient, select fewer tables or days"
        return f"the validation process was terminated by {name}; {hint}"
    return f"the validation process exited with {code}: {last}"
