"""Whether the files of a store are what the commits say of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from zscope.pipelines.identity import digest_of_file
from zscope.pipelines.store.commits import read_state
from zscope.pipelines.store.folder import DamagedStoreError, Folder

if TYPE_CHECKING:
    from zscope.pipelines.store.commits import DataFile

MOST_TOLD = 10


@dataclass(frozen=True, slots=True)
class Checked:
    """What was found in order."""

    files: int
    rows: int
    bytes: int


def check(folder: Folder) -> Checked:
    """Read every committed file to its end; whatever is wrong is an error that names the files."""
    files = list(read_state(folder).files.values())
    wrong = [f"{file.path}: {problem}" for file in files if (problem := _problem(folder, file))]
    if wrong:
        more = f"; and {len(wrong) - MOST_TOLD} more" if len(wrong) > MOST_TOLD else ""
        raise DamagedStoreError(
            f"{folder.data}: {len(wrong)} of {len(files)} files are not as they were committed: "
            f"{'; '.join(wrong[:MOST_TOLD])}{more}; restore them from a backup, or remove the loads they "
            "belong to (zscope loads) and ingest those files again"
        )
    return Checked(len(files), sum(file.rows for file in files), sum(file.bytes for file in files))


def _problem(folder: Folder, expected: DataFile) -> str:
    path = folder.data / expected.path
    try:
        if (size := path.stat().st_size) != expected.bytes:
            return f"has {size:,} bytes instead of {expected.bytes:,}"
        digest = digest_of_file(path)
    except FileNotFoundError:
        return "is missing"
    except OSError as error:
        return f"cannot be read ({error.strerror})"
    return "" if digest == expected.digest else "has other content"
