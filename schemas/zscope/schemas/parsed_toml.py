"""Parse the TOML files of the installation once: what they contain is kept beside the compiled modules.

Python parses a text of TOML twelve times as slowly as it reads the result, and every command needs a hundred
declarations. A kept result is used only if it is of exactly the same text. It is written where Python writes
compiled modules, and only if Python writes those; a folder that cannot be written costs nothing but time.
"""

from __future__ import annotations

import marshal
import os
import sys
import tomllib
from contextlib import suppress
from hashlib import sha256
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any

_DIGEST_BYTES = 32


def parsed_toml(file: Path, text: str) -> dict[str, Any]:
    """Return what the text of a file contains; raise ValueError if it is not TOML."""
    kept = Path(cache_from_source(f"{file}.py")).with_suffix(".kept")
    content = _read(kept, text)
    if content is None:
        content = tomllib.loads(text)
        if not sys.dont_write_bytecode:
            _write(kept, text, content)
    return content


def _read(kept: Path, text: str) -> dict[str, Any] | None:
    """Return the kept content if there is one of this text, whole and unchanged."""
    try:
        data = kept.read_bytes()
    except OSError:
        return None
    digest, dumped = data[:_DIGEST_BYTES], data[_DIGEST_BYTES:]
    if digest != _digest(text, dumped):
        return None
    content: dict[str, Any] = marshal.loads(dumped)
    return content


def _write(kept: Path, text: str, content: dict[str, Any]) -> None:
    """Keep the content, as a whole or not at all."""
    try:
        dumped = marshal.dumps(content)
    except ValueError:
        return  # it has dates or times
    temporary = kept.with_name(f"{kept.name}.{os.getpid()}")
    # A folder that cannot be written or is full is no error: the text is parsed again the next time.
    with suppress(OSError):
        kept.parent.mkdir(exist_ok=True)
        try:
            temporary.write_bytes(_digest(text, dumped) + dumped)
            temporary.replace(kept)
        finally:
            temporary.unlink(missing_ok=True)


def _digest(text: str, dumped: bytes) -> bytes:
    return sha256(text.encode() + dumped).digest()
