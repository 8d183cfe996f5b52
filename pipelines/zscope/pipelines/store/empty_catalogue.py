"""The catalogue of an empty store, prepared once for each installation.

A new store begins with it, as most of a catalogue is the same for every store and takes seconds to build.
Like the compiled modules of Python it is in a folder `__pycache__`, can be deleted at any time, and is not
written if Python writes no compiled modules or the folder cannot be written to.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from importlib.metadata import version
from importlib.util import cache_from_source
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
from xxhash import xxh3_128_digest, xxh3_128_hexdigest

from zscope.pipelines.store.catalogue_file import digest_of_declarations
from zscope.pipelines.store.folder import temporary_path

if TYPE_CHECKING:
    from collections.abc import Callable

_DIGEST_BYTES = 16
_KIND = ".duckdb"


def prepared(build: Callable[[], bytes]) -> bytes:
    """Return the prepared catalogue, or build it and keep it for the next process."""
    path = _path()
    try:
        content = path.read_bytes()
    except OSError:  # there is none yet
        content = b""
    catalogue, digest = content[:-_DIGEST_BYTES], content[-_DIGEST_BYTES:]
    if catalogue and xxh3_128_digest(catalogue) == digest:
        return catalogue
    catalogue = build()
    if not sys.dont_write_bytecode:
        with suppress(OSError):  # the next process builds it again
            _keep(path, catalogue + xxh3_128_digest(catalogue))
    return catalogue


def _path() -> Path:
    """Return the file for this version of the declarations, of zscope, DuckDB and Python."""
    compiled = Path(cache_from_source(__file__))
    made_of = f"{digest_of_declarations()} {version('zscope')} {duckdb.__version__}"
    return compiled.with_suffix(f".{xxh3_128_hexdigest(made_of.encode())[:16]}{_KIND}")


def _keep(path: Path, content: bytes) -> None:
    """Write the file, and delete those of other versions."""
    others = set(path.parent.glob(f"{path.name.removesuffix(''.join(path.suffixes[-2:]))}.*{_KIND}")) - {path}
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = temporary_path(path)
    try:
        temporary.write_bytes(content)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    for other in others:
        other.unlink(missing_ok=True)
