"""Which new files of a night stay where they are, and why."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from zscope.app.cli.files_put_away import why_it_stays
from zscope.app.cli.new_files import LoadedFile, NewFile
from zscope.parsers.issues import REFUSALS, Code
from zscope.pipelines.ingest.options_and_outcomes import FileOutcome, FileStatus

if TYPE_CHECKING:
    from pathlib import Path


def loaded(path: Path, *statuses: FileStatus, **counts: int) -> LoadedFile:
    about = path.lstat()
    outcomes = tuple(FileOutcome(str(path), status, counts=counts) for status in statuses)
    return LoadedFile(NewFile(path, path.parent, about.st_size, about.st_mtime_ns), outcomes)


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    """A file whose content does not matter."""
    path = tmp_path / "a.smf"
    path.write_bytes(b"records")
    return path


@pytest.mark.parametrize("status", [FileStatus.LOADED, FileStatus.REPEATED])
def test_a_file_that_is_in_the_store_does_not_stay(dump: Path, status: FileStatus) -> None:
    assert why_it_stays(loaded(dump, status)) is None
    assert why_it_stays(loaded(dump, status, **{Code.TRUNCATED.value: 1})) is None


def test_a_link_stays_as_its_file_is_elsewhere(dump: Path) -> None:
    link = dump.with_name("link.smf")
    link.symlink_to(dump)
    assert why_it_stays(loaded(link, FileStatus.LOADED)) == "a link"


def test_a_file_of_which_something_is_not_in_the_store_stays(dump: Path) -> None:
    refusal = {next(iter(REFUSALS)).value: 1}
    assert why_it_stays(loaded(dump, FileStatus.LOADED, FileStatus.REFUSED)) == "refused"
    assert why_it_stays(loaded(dump)) == "nothing to load"
    assert why_it_stays(loaded(dump, FileStatus.LOADED, **refusal)) == "a part of it was refused"


def test_a_file_that_was_changed_meanwhile_stays(dump: Path) -> None:
    of_listing = loaded(dump, FileStatus.LOADED)
    os.utime(dump, ns=(0, of_listing.file.changed_ns + 1))
    assert why_it_stays(of_listing) == "changed since it was loaded"
    dump.unlink()
    assert why_it_stays(of_listing) == "changed since it was loaded"
