"""Settings: where they are looked for, what they can say, and what is said about those that are wrong."""

from __future__ import annotations

import sys
import zoneinfo
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.handbook import blocks, section

from zscope.parsers import zones as zones_module
from zscope.parsers.zones import ZoneError, zone_of
from zscope.pipelines.settings import FILE_NAME, Settings, Zones, read_settings
from zscope.schemas.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Iterator

WHOLE = """
[systems.SYSA]
timezone = "Europe/Berlin"
[systems.sysb]
timezone = "-05:30"
[systems.SYSC]
[ingest]
default_timezone = "+00:00"
validate = true
lock_wait_s = 5
[store]
grace_s = 0
summarise_from_rows = 7
[publish]
iceberg = "tables"
"""


def written(folder: Path, text: str) -> Path:
    path = folder / FILE_NAME
    path.write_text(text, encoding="utf-8")
    return path


def error_of(folder: Path, text: str) -> SettingsError:
    with pytest.raises(SettingsError) as caught:
        read_settings(written(folder, text))
    assert caught.value.file == str(folder / FILE_NAME)
    assert str(caught.value).startswith(str(folder / FILE_NAME))
    return caught.value


def test_all_settings(tmp_path: Path) -> None:
    path = written(tmp_path, WHOLE)
    zones = Zones({"SYSA": "Europe/Berlin", "SYSB": "-05:30"}, "+00:00")
    assert read_settings(path) == Settings(
        zones, validate=True, lock_wait_s=5, grace_s=0, summarise_from_rows=7, publish_iceberg=True,
        iceberg_target=tmp_path / "tables", file=path,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("value", "publishes", "target"),
    [("true", True, None), ("false", False, None), ('"/shared/tables"', True, Path("/shared/tables"))],
)
def test_publication_is_set_by_a_flag_or_a_folder(
    tmp_path: Path, value: str, publishes: bool, target: Path | None
) -> None:
    settings = read_settings(written(tmp_path, f"[publish]\niceberg = {value}"))
    assert (settings.publish_iceberg, settings.iceberg_target) == (publishes, target)


def test_the_file_in_the_document_can_be_read(tmp_path: Path) -> None:
    [text] = blocks(section("load.md", "Set the time zones"), "toml")
    path = written(tmp_path, text)
    zones = Zones({"SYSA": "Europe/Berlin", "SYSB": "-05:00", "PLEX2.SYSA": "+01:00"}, "+00:00")
    # All else in it are the defaults.
    assert read_settings(path) == Settings(zones, file=path)


def test_an_empty_file_sets_nothing(tmp_path: Path) -> None:
    path = written(tmp_path, "\ufeff# nothing\n")
    assert read_settings(path) == Settings(file=path)


def test_zones_by_system_name_and_default() -> None:
    zones = Zones({"SYSA": "Europe/Berlin"}, "+00:00")
    assert [zones.of("SYSA"), zones.of("sysa"), zones.of("SYSB"), zones.of(None)] == [
        "Europe/Berlin", "Europe/Berlin", "+00:00", "+00:00",
    ]  # fmt: skip
    assert Zones().of("SYSA") is None


def test_sysplexes_and_names_with_one(tmp_path: Path) -> None:
    text = '[systems.sysa]\nsysplex = "plex1"\n[systems."plex2.sysa"]\ntimezone = "+01:00"\n'
    settings = read_settings(written(tmp_path, text))
    assert settings.sysplexes == {"SYSA": "PLEX1"}
    assert settings.zones.of("PLEX2.SYSA") == "+01:00"
    assert settings.zones.of("PLEX1.SYSA") is None


@pytest.mark.parametrize("name", ["A.B.C", "PLEX1.", ".SYSA", "TOOLONGNAME.SYSA", "PL EX.SYSA"])
def test_a_name_with_a_wrong_sysplex_is_refused(name: str, tmp_path: Path) -> None:
    path = written(tmp_path, f'[systems."{name}"]\ntimezone = "+01:00"\n')
    with pytest.raises(SettingsError, match="is not a system name of 1 to 8 characters"):
        read_settings(path)


@pytest.mark.parametrize("name", ["", "PLEX1.SYSA", "TOOLONGNAME"])
def test_a_wrong_sysplex_is_refused(name: str, tmp_path: Path) -> None:
    path = written(tmp_path, f'[systems.SYSA]\nsysplex = "{name}"\n')
    with pytest.raises(SettingsError, match="sysplex"):
        read_settings(path)


def test_order_of_settings_files(
    tmp_path: Path,
) -> None:
    places = {name: tmp_path / name for name in ("named", "store", "folder")}
    for seconds, place in enumerate(places.values()):
        place.mkdir()
        written(place, f"[store]\ngrace_s = {seconds}")
    named, store, folder = (places[name] for name in ("named", "store", "folder"))
    assert read_settings(named / FILE_NAME, store, folder).grace_s == 0
    assert read_settings(None, store, folder).grace_s == 1
    (store / FILE_NAME).unlink()
    assert read_settings(None, store, folder).grace_s == 2
    (folder / FILE_NAME).unlink()
    assert read_settings(None, store, folder) == Settings()


def test_settings_of_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path, "[store]\ngrace_s = 7")
    monkeypatch.chdir(tmp_path)
    assert read_settings().grace_s == 7


@pytest.mark.parametrize(
    ("text", "key", "problem"),
    [
        ("[publish]\niceberg = 1", "publish.iceberg", "expected true, false or the name of a folder, got 1"),
        (
            '[publish]\niceberg = ""',
            "publish.iceberg",
            "expected true, false or the name of a folder, got ''",
        ),
        ("[systems.SYSA]\nzone = 1", "systems.SYSA.zone", "did you mean timezone?"),
        ("[systems.SYSA]\ntimezone = 1", "systems.SYSA.timezone", "expected a name such as"),
        (
            "[systems.SYSA]\ntimezone = 'Europe/Berlim'",
            "systems.SYSA.timezone",
            "similar names are Europe/Berlin",
        ),
        (
            "[systems.SYSA]\ntimezone = 'europe/berlin'",
            "systems.SYSA.timezone",
            "similar names are Europe/Berlin",
        ),
        ("[systems.SYSA]\n[systems.sysa]", "systems.sysa", "SYSA is defined twice"),
        ("[systems.ABCDEFGHI]", "systems.ABCDEFGHI", "1 to 8 characters"),
        ("[systems]\nSYSA = 'Europe/Berlin'", "systems.SYSA", "expected a table [systems.SYSA]"),
        ("systems = 3", "systems", "expected tables [systems.NAME], got 3"),
        ("[ingest]\nlock_wait_s = -1", "ingest.lock_wait_s", "got -1"),
        ("[store]\ngrace_s = 1e99", "store.grace_s", "got 1e+99"),
        ("[store]\nsummarise_from_rows = -1", "store.summarise_from_rows", "an integer of 0 or more"),
        ("[ingest]\ndefault_timezone = '+25:00'", "ingest.default_timezone", "the largest is 16 hours"),
        ("[ingest]\ndefault_timezone = '+1'", "ingest.default_timezone", "write hours and minutes"),
    ],
)
def test_invalid_setting_names_file_key_and_expectation(
    text: str, key: str, problem: str, tmp_path: Path
) -> None:
    error = error_of(tmp_path, text)
    assert error.key == key
    assert problem in error.problem


def test_given_file_must_be_readable(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="No such file"):
        read_settings(tmp_path / "missing.toml")
    with pytest.raises(SettingsError, match="cannot be read: Is a directory"):
        read_settings(tmp_path)
    (tmp_path / FILE_NAME).write_bytes(b"# \xff")
    with pytest.raises(SettingsError, match=r"is not UTF-8 text \(byte 2\)"):
        read_settings(None, tmp_path)


def test_options_override_the_file(tmp_path: Path) -> None:
    merged = read_settings(written(tmp_path, WHOLE)).merge(
        ["sysa=+02:00", "SYSD=UTC", "Asia/Tokyo"], validate=False, lock_wait_s=1
    )
    zones = Zones({"SYSA": "+02:00", "SYSB": "-05:30", "SYSD": "UTC"}, "Asia/Tokyo")
    assert merged == Settings(
        zones,
        validate=False,
        lock_wait_s=1,
        grace_s=0,
        summarise_from_rows=7,
        publish_iceberg=True,
        iceberg_target=tmp_path / "tables",
        file=tmp_path / FILE_NAME,
    )


def test_no_option_changes_nothing(tmp_path: Path) -> None:
    found = read_settings(written(tmp_path, WHOLE))
    assert found.merge() == found


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["SYSA=Mars/Base"], "'SYSA=Mars/Base': 'Mars/Base' is not a time zone"),
        (["=UTC"], "'' is not a system name"),
        (["SYS A=UTC"], "'SYS A' is not a system name"),
        (["SYSA="], "'' is not a time zone"),
        (["SYSA=UTC", "SYSA=+01:00"], "SYSA has two different zones"),
        (["UTC", "+01:00"], "two different default zones"),
    ],
)
def test_an_error_in_an_option_names_the_option(options: list[str], problem: str) -> None:
    with pytest.raises(SettingsError) as caught:
        Settings().merge(options)
    assert str(caught.value).startswith("--timezone: ")
    assert problem in str(caught.value)


@pytest.fixture
def no_database(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A machine that knows no zone: neither files of the system nor the package."""
    for module in [name for name in sys.modules if name.split(".")[0] == "tzdata"]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "tzdata", None)
    zoneinfo.reset_tzpath(to=[])
    zoneinfo.ZoneInfo.clear_cache()
    zones_module.zone_of.cache_clear()
    yield
    zoneinfo.reset_tzpath()
    zones_module.zone_of.cache_clear()


@pytest.mark.usefixtures("no_database")
def test_without_a_database_of_zones_the_message_says_what_to_install() -> None:
    with pytest.raises(ZoneError, match="pip install tzdata"):
        zone_of("Europe/Berlin")
    assert zone_of("+01:00").utcoffset(None) == timedelta(hours=1)


@given(
    st.text(max_size=40)
    | st.sampled_from(["Europe", "../x", "/etc/passwd", "tzdata.zi", "a\0b", "x" * 5_000])
)
def test_any_text_is_a_zone_or_an_error(text: str) -> None:
    try:
        zone = zone_of(text)
    except ZoneError:
        with pytest.raises(SettingsError, match=r"^--timezone: "):
            Settings().merge([f"SYSA={text}"])
    else:
        assert zone.utcoffset(datetime(2026, 3, 2)) is not None  # noqa: DTZ001 - a time of that zone
