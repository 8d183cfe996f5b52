"""Where output goes: standard output, or a file that appears only when it is complete."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

STANDARD_OUTPUT = "-"


class AbandonedError(Exception):
    """Raised while writing, says that there is nothing to write after all; it goes no further."""


@contextmanager
def open_target(path: str) -> Iterator[BinaryIO]:
    """A stream to write to; a file is written beside its name and renamed when all went well.

    What had the name before stays until then, and after a failure. Devices and pipes are written directly.
    """
    if path == STANDARD_OUTPUT:
        with suppress(AbandonedError):
            yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    target = Path(path).resolve()
    if target.exists() and not target.is_file():
        with target.open("wb") as direct, suppress(AbandonedError):
            yield direct
        return
    beside = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with _named(path, beside) as file:
            yield file
        if target.exists():
            beside.chmod(target.stat().st_mode & 0o7777)
        beside.replace(target)
    except AbandonedError:
        pass
    finally:
        with suppress(FileNotFoundError):  # renamed, or never made
            beside.unlink()


def _named(path: str, beside: Path) -> BinaryIO:
    """Open the file beside; an error shows the name that the user knows."""
    try:
        return beside.open("xb")
    except OSError as error:
        error.filename = path
        raise
