"""Folders that zscope fills with synthetic data: only what it made itself is replaced there."""

from __future__ import annotations

import json
from pathlib import Path

from zscope.app.exits import NothingDoneError

MANIFEST = "manifest.json"


def make_room(folder: Path, what: str, mark: str) -> None:
    """Take away the files of such data that are there, and nothing else; `mark` is a key of its manifest."""
    folder.mkdir(parents=True, exist_ok=True)
    if not any(folder.iterdir()):
        return
    files = _made_files(folder, mark)
    if not files:
        raise NothingDoneError(
            f"{folder} has something in it that is no {what}: name a folder that is empty or not there"
        )
    for file in [*files, Path(MANIFEST)]:
        (folder / file).unlink(missing_ok=True)


def _made_files(folder: Path, mark: str) -> list[Path]:
    """What the manifest in a folder says that is in it; nothing if it is not the manifest of such data."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        names = manifest["files"] if manifest[mark] else {}
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return []
    if not isinstance(names, dict):
        return []
    files = [Path(name) for name in names]
    strange = (file.is_absolute() or ".." in file.parts or (folder / file).is_dir() for file in files)
    return [] if any(strange) else files
