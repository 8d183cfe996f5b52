"""The pages about a run, put in the place of those about the run before."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from zscope.pipelines.quality.checks import QualityError
from zscope.pipelines.quality.index_page import TITLE, index_page
from zscope.pipelines.quality.offline import made_offline

if TYPE_CHECKING:
    import pyarrow as pa

INDEX = "index.html"
_MARK = ".zscope-data-docs"
"""In folders that we made: others are never replaced."""


def refuse_other(docs: Path) -> None:
    """Make sure that a folder is there for pages: nothing else in it would survive."""
    if docs.exists() and not (docs / _MARK).exists() and not _is_empty(docs):
        raise QualityError(f"{docs}: there is something else here; move it away, or name another folder")


def publish(raw: Path, docs: Path, results: pa.Table) -> None:
    """Clean the pages that great_expectations wrote, add the first page, and let them take their place."""
    refuse_other(docs)
    beside = docs.with_name(f".{docs.name}.{os.getpid()}")
    try:
        shutil.rmtree(beside, ignore_errors=True)
        beside.mkdir(parents=True)
        (beside / _MARK).touch()
        pages = _clean(raw, beside)
        (beside / INDEX).write_text(index_page(results, pages), encoding="utf-8")
        _replace(docs, beside)
    except OSError as error:
        raise QualityError(f"{docs}: the pages cannot be written ({error.strerror or error})") from error
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def _is_empty(folder: Path) -> bool:
    return folder.is_dir() and not any(folder.iterdir())


def _clean(raw: Path, target: Path) -> dict[str, dict[str, str]]:
    """Copy the pages; returns where those of each table are, by what they are about."""
    pages: dict[str, dict[str, str]] = {}
    for page in sorted(raw.rglob("*.html")):
        place = page.relative_to(raw)
        about, table = place.parts[0], place.with_suffix("").parts[-1] if len(place.parts) == 2 else ""
        if page.name == INDEX and len(place.parts) == 1:
            continue  # needs programs from the internet to show anything
        if about == "validations":
            table = place.parts[1]
        clean = made_offline(page.read_text(encoding="utf-8"), f"{table}: {about} - {TITLE} - zscope")
        (target / place).parent.mkdir(parents=True, exist_ok=True)
        (target / place).write_text(clean, encoding="utf-8")
        pages.setdefault(table, {})[about] = place.as_posix()
    return pages


def _replace(docs: Path, beside: Path) -> None:
    """A folder cannot be renamed over another: for a moment there is none."""
    old = docs.with_name(f".{docs.name}.old.{os.getpid()}")
    if docs.exists():
        docs.rename(old)
    beside.rename(docs)
    shutil.rmtree(old, ignore_errors=True)
