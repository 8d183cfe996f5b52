"""What is wrong with a file is reported with file, line, key, and what is allowed."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path, PurePath
from typing import Annotated, Any, Literal

import pytest
from msgspec import Meta, field

from zscope.schemas.allowed import Allowed
from zscope.schemas.declared import Declared, TomlFile, WrongValueError
from zscope.schemas.errors import DeclarationError, SettingsError


def _hour(raw: int) -> int:
    if not 0 <= raw < 24:
        raise ValueError(f"{raw} is not an hour")
    return raw


def _different(paths: list[PurePath]) -> tuple[PurePath, ...]:
    if len(set(paths)) < len(paths):
        raise ValueError("contains a path twice")
    return tuple(paths)


def _below(text: str, folder: Path) -> Path:
    return folder / text


def _days(text: str) -> int:
    return int(text.removesuffix("d"))


AnyPath = Annotated[PurePath, Allowed("a path", PurePath)]


class Side(Declared, frozen=True):
    role: Literal["client", "server"]
    from_hour: Annotated[int, Allowed("an hour from 0 to 23", _hour, of=int)] = field(name="from", default=0)
    to: int = 24

    def __post_init__(self) -> None:
        if self.to <= self.from_hour:
            raise WrongValueError("to", f"{self.to} is not after {self.from_hour}")


class Timed(Declared, frozen=True):
    name: str
    starts: datetime | None = None
    sides: tuple[Side, ...] = ()
    folders: Annotated[tuple[AnyPath, ...], Allowed("a list of paths", _different)] = ()
    codes: Mapping[int, str] = field(default_factory=dict)


class Limits(Declared, frozen=True):
    kb: Literal[1000, 1024]
    folder: Annotated[Annotated[Path, Allowed("a path", _below, in_folder=True)], Meta(examples=['"/data"'])]
    wait: Annotated[int, Meta(ge=0, le=4096), Allowed("seconds")] = 0
    rows: Annotated[int, Meta(ge=1)] = 1
    days: Annotated[int, Allowed("a period such as 3d", _days)] = 0


class Whole(Declared, frozen=True):
    run: tuple[Timed, ...]
    note: str | tuple[str, ...] = ""
    strict: bool = False
    price: float = 0
    limits: Limits | None = None


def problem(text: str) -> SettingsError:
    file = TomlFile.parse(text, "whole.toml", SettingsError)
    with pytest.raises(SettingsError) as caught:
        file.typed(Whole)
    return caught.value


def test_a_file_becomes_typed_objects() -> None:
    text = """\ufeffprice = 3
[[run]]
name = "a"
starts = 2026-03-09T01:00:00Z
sides = [{ role = "client", from = 3 }]
folders = ["new", "old"]
codes = { 8 = "eight" }
"""
    whole = TomlFile.parse(text, "whole.toml").typed(Whole)
    assert whole.price == 3
    [run] = whole.run
    assert run.sides == (Side("client", 3),)
    assert run.folders == (PurePath("new"), PurePath("old"))
    assert run.codes == {8: "eight"}
    assert run.starts is not None
    assert run.starts.isoformat() == "2026-03-09T01:00:00+00:00"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "whole.toml: run: is missing; expected tables [[run]], with two brackets"),
        ("run = 1", "whole.toml, line 1: run: expected tables [[run]], with two brackets, got 1"),
        ("run = [1]", "line 1: run[0]: expected a table, got 1"),
        (
            "run = []\n\nstrickt = true",
            "line 3: strickt: is not a valid key; valid: run, note, strict, price, limits; did you mean",
        ),
        ("run = []\nxyz = 1", "line 2: xyz: is not a valid key; valid: run, note, strict, price, limits"),
        ("run = []\nstrict = 1", "line 2: strict: expected true or false, got 1"),
        ("run = []\nprice = true", "line 2: price: expected a number, got True"),
        ("run = []\nnote = 3", "line 2: note: expected a text or a list of texts, got 3"),
        ("[[run]]\nname = 'a'\n\n[[run]]\n", "line 4: run[1].name: is missing; expected a text"),
        ("[[run]]\nname = 'a'\nstarts = 3", "line 3: run[a].starts: expected a time such as 2026-03-09T01:"),
        (
            "[[run]]\nname = 'a'\n[[run.sides]]\nrole = 'clinet'",
            'line 4: run[a].sides[0].role: expected "client" or "server", got \'clinet\'; did you mean',
        ),
        (
            "[[run]]\nname = 'a'\n[[run.sides]]\nrole = 'client'\nfrom = 24",
            "line 5: run[a].sides[0].from: 24 is not an hour",
        ),
        (
            "[[run]]\nname = 'a'\n[[run.sides]]\nrole = 'client'\nfrom = true",
            "line 5: run[a].sides[0].from: expected an hour from 0 to 23, got True",
        ),
        (
            "[[run]]\nname = 'a'\n[[run.sides]]\nrole = 'client'\nfrom = 3\nto = 3",
            "line 6: run[a].sides[0].to: 3 is not after 3",
        ),
        (
            "[[run]]\nname = 'a'\nfolders = 'new'",
            "line 3: run[a].folders: expected a list of paths, got 'new'",
        ),
        ("[[run]]\nname = 'a'\nfolders = [1]", "line 3: run[a].folders[0]: expected a path, got 1"),
        ("[[run]]\nname = 'a'\nfolders = ['b', 'b']", "line 3: run[a].folders: contains a path twice"),
        ("[[run]]\nname = 'a'\ncodes = 1", "line 3: run[a].codes: expected a table, got 1"),
        (
            "[[run]]\nname = 'a'\n[run.codes]\n1 = 'b'\nx = 'c'",
            "line 5: run[a].codes.x: is not a valid key; expected an integer",
        ),
        ("[[run]]\nname = 'a'\n[run.codes]\n1 = 1", "line 4: run[a].codes.1: expected a text, got 1"),
        (
            "[[run]]\nname = 'a'\nstarts = '2026-03-09T01:00:00Z'",
            "expected a time such as 2026-03-09T01:00:00Z,",
        ),
        (
            "[[run]]\nname = 'a'\nstarts = 2026-03-09",
            "starts: expected a time such as 2026-03-09T01:00:00Z, got 2026",
        ),
        ("limits = 1", "line 1: limits: expected a table [limits], got 1"),
        ("rows = 1", "line 1: rows: is not a valid key here; it belongs to [limits]"),
        (
            "[limits]\nkb = 1000",
            'line 1: limits.folder: is missing; expected a path, such as folder = "/data"',
        ),
        ("[limits]\nkb = 512", "line 2: limits.kb: expected 1000 or 1024, got 512"),
        ("[limits]\nwait = -1", "line 2: limits.wait: expected seconds from 0 to 4,096, got -1"),
        ("[limits]\nrows = 0", "line 2: limits.rows: expected an integer of 1 or more, got 0"),
        ("[limits]\ndays = 3", "line 2: limits.days: expected a period such as 3d, got 3"),
    ],
)
def test_a_problem_has_its_place_and_what_is_allowed(text: str, message: str) -> None:
    assert message in str(problem(text))


def test_all_problems_are_reported_in_the_order_of_their_lines() -> None:
    error = problem("[[run]]\nnam = 'a'\n\n[[run]]\nname = 3\nstart = 1")
    assert [(each.line, each.key) for each in (error, *error.further)] == [
        (1, "run[0].name"),
        (2, "run[0].nam"),
        (5, "run[1].name"),
        (6, "run[1].start"),
    ]
    assert all(isinstance(each, SettingsError) for each in error.further)
    assert str(error).count("whole.toml, line ") == len(str(error).splitlines()) == 4


def test_an_error_is_the_same_in_another_process() -> None:
    error = problem("[[run]]\nnam = 'a'")
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), again.line) == (SettingsError, str(error), 1)
    assert [str(each) for each in again.further] == [str(each) for each in error.further]


def test_a_relative_path_begins_at_the_folder_of_the_file(tmp_path: Path) -> None:
    text = "[limits]\nkb = 1024\nfolder = 'new'\ndays = '3d'"
    assert TomlFile.parse(text, str(tmp_path / "a.toml")).typed(Limits, path=("limits",)) == Limits(
        kb=1024, folder=tmp_path / "new", days=3
    )


def test_values_from_elsewhere_have_the_place_where_they_are_used() -> None:
    file = TomlFile.parse("[[run]]\nname = 'a'\n[[run.sides]]\nto = 3", "whole.toml")
    assert file.typed(Side, {"role": "server", "to": 3}, ("run", 0, "sides", 0)) == Side("server", 0, 3)
    with pytest.raises(DeclarationError, match=r"^whole\.toml, line 3: run\[a\]\.sides\[0\]\.role: expected"):
        file.typed(Side, {"role": 1, "to": 3}, ("run", 0, "sides", 0))
    with pytest.raises(DeclarationError, match=r"line 3: run\[a\]\.sides\[0\]\.role: is missing"):
        file.typed(Side, path=("run", 0, "sides", 0))


@pytest.mark.parametrize(
    ("content", "message", "line"),
    [
        (None, "cannot be read: No such file or directory", None),
        (b"a = '\xff'", "is not UTF-8 text (byte 5)", None),
        (b"a = 1\nb = ]\n", "is not TOML: Invalid value (at line 2, column 5)", 2),
        (b"a = 2026-02-30", "is not TOML", 1),
        (b"a = " + 2000 * b"[" + 2000 * b"]", "is nested too deeply", None),
    ],
)
def test_an_unreadable_file_is_reported(
    tmp_path: Path, content: bytes | None, message: str, line: int | None
) -> None:
    path: Any = tmp_path / "whole.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(DeclarationError) as caught:
        TomlFile.read(path, name="shown.toml")
    assert message in str(caught.value)
    assert (caught.value.file, caught.value.line) == ("shown.toml", line)
