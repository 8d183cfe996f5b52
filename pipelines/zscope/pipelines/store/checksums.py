"""Checksums of commits.

Each commit contains its number, its checksum, and the checksum of the commit before it. The file `head` has
the number and checksum of the last one, so that its loss is noticed. Commits of earlier versions of zscope
contain no checksum: for them the digest of the file is used, from the next commit on.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from xxhash import xxh3_128

from zscope.pipelines.store.folder import StoreError, commit_numbers, write_atomically
from zscope.schemas.errors import Error

if TYPE_CHECKING:
    from pathlib import Path

    from zscope.pipelines.store.folder import Folder

_NUMBER, _PREVIOUS, _CHECKSUM = "number", "previous", "checksum"
_DIGITS = 8
_BEFORE_CHECKSUM = f', "{_CHECKSUM}": "'


class ChecksumError(Error, ValueError):
    """A text whose checksum is not that of its content."""


@dataclass(frozen=True, slots=True)
class CheckedContent:
    """The content of a file with a checksum."""

    content: dict[str, Any]
    """Without number, previous checksum and checksum."""
    checksum: str
    """That in the file, or the digest of a file that has none."""
    has_checksum: bool
    number: int | None
    previous: str | None

    def require(self, number: int) -> None:
        """Raise ChecksumError if the content is that of another number."""
        if self.has_checksum and self.number != number:
            raise ChecksumError(f"it is commit {self.number}, with another name")


def with_checksum(content: dict[str, Any], number: int, previous: str) -> tuple[str, str]:
    """Return a text with a checksum of all before it, and the checksum."""
    body = json.dumps({**content, _NUMBER: number, _PREVIOUS: previous})
    checksum = _digest(body)
    return f'{body[:-1]}{_BEFORE_CHECKSUM}{checksum}"}}', checksum


def parse_with_checksum(text: str) -> CheckedContent:
    """Return the content of a text; raise ChecksumError if it was changed, ValueError if it is not JSON."""
    content = json.loads(text)
    if not isinstance(content, dict):
        raise ChecksumError("it is not a JSON object")
    if _CHECKSUM not in content:
        return CheckedContent(content, _digest(text), has_checksum=False, number=None, previous=None)
    checksum, number = content.pop(_CHECKSUM), content.pop(_NUMBER, None)
    body, _, rest = text.rpartition(_BEFORE_CHECKSUM)
    if rest != f'{checksum}"}}' or _digest(f"{body}}}") != checksum:
        raise ChecksumError("its checksum is not that of its content: it was changed after it was written")
    return CheckedContent(
        content, checksum, has_checksum=True, number=number, previous=content.pop(_PREVIOUS, None)
    )


def _digest(text: str) -> str:
    return str(xxh3_128(text.encode()).hexdigest())


def commit_path(folder: Folder, number: int) -> Path:
    """Return the file of a commit."""
    return folder.commits / f"{number:0{_DIGITS}}.json"


@dataclass(frozen=True, slots=True)
class Head:
    """The last commit that was appended."""

    number: int
    checksum: str


def _head_path(folder: Folder) -> Path:
    return folder.commits / "head"


def write_head(folder: Folder, head: Head) -> None:
    """Record the last commit; without room on the disk the record stays behind, which is no damage."""
    content = {_NUMBER: head.number, _CHECKSUM: head.checksum}
    with suppress(OSError):  # the commit is complete, and the next one writes the record again
        write_atomically(_head_path(folder), json.dumps(content).encode())


def read_head(folder: Folder) -> Head | None:
    """Return the record of the last commit; None in a store of an earlier version of zscope."""
    path = _head_path(folder)
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        number, checksum = content[_NUMBER], content[_CHECKSUM]
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise StoreError(f"{path}: cannot be read ({error.strerror})") from error
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise StoreError(f"{path}: {_DAMAGED_HEAD}") from error
    if type(number) is not int or not isinstance(checksum, str):
        raise StoreError(f"{path}: {_DAMAGED_HEAD}")
    return Head(number, checksum)


_DAMAGED_HEAD = (
    "the record of the last commit is damaged; restore it from a backup, or delete it if zscope store check "
    "--deep shows that no load is missing"
)


def last_commit(folder: Folder) -> int:
    """Return the number of the newest commit, 0 before the first; raise an error if it is missing."""
    head = read_head(folder)  # first: a commit that is appended meanwhile is then only in the list
    last = max(commit_numbers(folder), default=0)
    if head is not None and head.number > last:
        require_commit(folder, head.number, "commits/head")
        last = head.number
    return last


def require_commit(folder: Folder, number: int, named_by: str) -> None:
    """Raise StoreError if a commit that a file names does not exist."""
    path = commit_path(folder, number)
    if not path.exists():
        raise StoreError(
            f"{path}: this commit is missing, but {named_by} names it; nothing was changed, and the files of "
            "its load are still there. Restore the commit from a backup. If that is not possible, delete "
            f"{folder.path / named_by} to give it up: its load has to be ingested again"
        )
