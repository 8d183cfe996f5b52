"""Open standard output, or a file that appears under its name only when it is complete."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from collections.abc import Iterator

STANDARD_OUTPUT = "-"


class AbandonedError(Exception):
    """Raised while writing if there is nothing to write; `open_target` catches it and keeps the old file."""


@contextmanager
def open_target(path: str) -> Iterator[BinaryIO]:
    """Yield a stream to write to; a file is written under a temporary name and renamed on success.

    An existing file stays until then, and after a failure. Devices and pipes are written directly.
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
    temporary = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with _create(path, temporary) as file:
            yield file
        if target.exists():
            temporary.chmod(target.stat().st_mode & 0o7777)
        temporary.replace(target)
    except AbandonedError:
        pass
    finally:
        with suppress(FileNotFoundError):  # renamed, or never created
            temporary.unlink()


def _create(path: str, temporary: Path) -> BinaryIO:
    """Create the temporary file; an error names the path that the user gave."""
    try:
        return temporary.open("xb")
    except OSError as error:
        error.filename = path
        raise
