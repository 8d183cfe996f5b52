"""Output files: they are complete or do not exist, and an old file stays until then."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from zscope.app.cli.output.output_options import AbandonedError, open_target

Run = Callable[..., Result]


class StopError(Exception):
    pass


def test_the_file_appears_only_when_it_is_complete(tmp_path: Path) -> None:
    target = tmp_path / "out.csv"
    with open_target(str(target)) as out:
        out.write(b"all")
        assert not target.exists()
    assert target.read_bytes() == b"all"
    assert list(tmp_path.iterdir()) == [target]


def fail_while_writing(target: Path, error: type[BaseException]) -> None:
    with open_target(str(target)) as out:
        out.write(b"half")
        raise error


@pytest.mark.parametrize("error", [StopError, KeyboardInterrupt])
def test_a_failure_keeps_the_old_file(error: type[BaseException], tmp_path: Path) -> None:
    target = tmp_path / "out.csv"
    target.write_bytes(b"old")
    with pytest.raises(error):
        fail_while_writing(target, error)
    assert target.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [target]


def test_abandoned_output_creates_no_file(tmp_path: Path) -> None:
    fail_while_writing(tmp_path / "out.csv", AbandonedError)
    assert list(tmp_path.iterdir()) == []


def test_a_new_file_has_the_usual_permissions_and_an_old_one_keeps_its_own(tmp_path: Path) -> None:
    usual = tmp_path / "usual"
    usual.touch()
    private = tmp_path / "private"
    private.touch(mode=0o600)
    new = tmp_path / "new"
    for target in (new, private):
        with open_target(str(target)) as out:
            out.write(b"x")
    assert stat.S_IMODE(new.stat().st_mode) == stat.S_IMODE(usual.stat().st_mode)
    assert stat.S_IMODE(private.stat().st_mode) == 0o600


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    real, link = tmp_path / "real.csv", tmp_path / "link.csv"
    real.write_bytes(b"old")
    link.symlink_to(real)
    with open_target(str(link)) as out:
        out.write(b"new")
    assert link.is_symlink()
    assert real.read_bytes() == b"new"


def test_a_device_is_written_directly() -> None:
    with open_target(os.devnull) as out:
        out.write(b"x")
    assert not Path(os.devnull).is_file()


def test_a_missing_folder_is_reported_with_the_given_name(run: Run, tmp_path: Path) -> None:
    target = tmp_path / "nowhere" / "out.csv"
    result = run("fields", "-o", target)
    assert result.exit_code == 12
    assert result.stderr == f"Error: {target}: No such file or directory\n"


def test_a_folder_cannot_be_the_target(run: Run, tmp_path: Path) -> None:
    result = run("fields", "-o", tmp_path, "--format", "csv")
    assert result.exit_code == 12
    assert result.stderr == f"Error: {tmp_path}: Is a directory\n"


def test_a_dash_is_standard_output(run: Run) -> None:
    assert run("fields", "cipher", "-o", "-").stdout == run("fields", "cipher").stdout
