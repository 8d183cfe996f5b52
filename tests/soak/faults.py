"""Faults of disks and clocks in other processes, by a library that is preloaded into them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

SOURCE = Path(__file__).with_name("faults.c")
COMPILER = shutil.which("cc")
"""None: processes cannot have faults."""


def build(folder: Path) -> Path:
    """Compile the library into a folder, and return its path."""
    library = folder / "faults.so"
    assert COMPILER is not None
    subprocess.run(
        [COMPILER, "-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", "-o", library, SOURCE, "-ldl"],
        check=True,
    )
    return library


def failing(folder: Path, at: int, count: int) -> dict[str, str]:
    """Return the settings for errors of the disk: so many operations from this one on; 0: all later ones."""
    return {"FAULT_FOLDER": str(folder), "FAULT_EIO_AT": str(at), "FAULT_EIO_FOR": str(count)}


def short(folder: Path, length: int) -> dict[str, str]:
    """Return the settings for reads and writes that transfer at most so many bytes."""
    return {"FAULT_FOLDER": str(folder), "FAULT_SHORT": str(length)}


def wrong_clock(seconds: int) -> dict[str, str]:
    """Return the settings for a clock that is wrong by so many seconds."""
    return {"FAULT_CLOCK": str(seconds)}
