"""Where the inputs of a benchmark are written, and stay if somebody wants them to."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

VARIABLE = "ZSCOPE_BENCH_DIR"


@contextmanager
def working_folder() -> Iterator[Path]:
    """The folder that the environment names, which is kept; else a temporary one."""
    if kept := os.environ.get(VARIABLE):
        folder = Path(kept)
        folder.mkdir(parents=True, exist_ok=True)
        yield folder
        return
    with tempfile.TemporaryDirectory(prefix="zscope-bench-") as temporary:
        yield Path(temporary)
