"""The folder for the inputs of a benchmark."""

from __future__ import annotations

import os
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

VARIABLE = "ZSCOPE_BENCH_DIR"


@contextmanager
def working_folder() -> Iterator[Path]:
    """Yield the folder in the environment variable, which is kept, or a temporary folder."""
    if kept := os.environ.get(VARIABLE):
        folder = Path(kept)
        folder.mkdir(parents=True, exist_ok=True)
        yield folder
        return
    with tempfile.TemporaryDirectory(prefix="zscope-bench-") as temporary:
        yield Path(temporary)
