"""The settings of the nightly batch: what is refused, and with which message."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from msgspec.structs import fields
from tests.app.cli.nightly.nights import LOAD, NightFolder

from zscope.app.cli.main import program
from zscope.app.cli.nightly.document import declared_keys
from zscope.app.cli.nightly.running import STEPS
from zscope.app.cli.nightly.settings_file import (
    NightlySettings,
    read_nightly_settings,
    sections_in_file,
)
from zscope.schemas.declared import Declared, TomlFile
from zscope.schemas.errors import SettingsError

EXPORT = '\n[[export]]\ntarget = "out.duckdb"\n'


def read(folder: Path, text: str) -> Any:  # noqa: ANN401 - the settings, for short tests
    file = folder / "nightly.toml"
    file.write_text(text, encoding="utf-8")
    return read_nightly_settings(file)


WRONG = {
    "empty list": ('store = "s"\n[load]\nfolders = []', "load.folders: is an empty list; name at least one"),
    "twice": ('store = "s"\n[load]\nfolders = ["a", "a"]', "/a is in the list twice"),
    "system twice": (LOAD + 'systems = ["a", "A"]', "load.systems: A is in the list twice"),
    "blank path": ('store = " "', "line 1: store: expected a path, got ' '"),
    "no home folder": ('store = "~nobody-x/s"', "store: '~nobody-x/s': the home folder is not known"),
    "selection": (LOAD + 'select = "999"', "load.select: "),
    "zone": (LOAD + 'timezone = "Europe/Berlni"', "load.timezone: "),
    "zone of a system": (LOAD + 'timezones = { SYSA = "x" }', "load.timezones.SYSA: "),
    "system": (LOAD + 'systems = ["FAR TOO LONG"]', "load.systems[0]: 'FAR TOO LONG' is not a system name"),
    "same system": (LOAD + 'timezones = { a = "UTC", A = "UTC" }', "load.timezones.A: A is defined twice"),
    "column": (LOAD + 'columns = { xyzzy = "x" }', "load.columns: 'xyzzy' is not a column"),
    "time format": (LOAD + 'time_format = "%Q"', "load.time_format: "),
    "where to move": (LOAD + '[files]\nafter_load = "move"', "files.move_to: is missing"),
    "move and delete": (
        LOAD + '[files]\nafter_load = "delete"\nmove_to = "x"',
        'files.move_to: has no effect with after_load = "delete"',
    ),
    "moved to new": (
        LOAD + '[files]\nafter_load = "move"\nmove_to = "."',
        "so its files would not be loaded",
    ),
    "moved to store": (LOAD + '[files]\nafter_load = "move"\nmove_to = "store/x"', "is in the store"),
    "new in store": ('store = "s"\n[load]\nfolders = ["s/new"]', "load.folders: "),
    "period": (LOAD + '[expire]\nkeep = "soon"', "expire.keep: 'soon' is not a period such as 400d"),
    "number of export": (LOAD + EXPORT + "[[export]]\nformat = 'csv'", "export[1].target: is missing"),
    "placeholder": (
        LOAD + '[[export]]\ntarget = "{x}"',
        "{x} in '{x}' is not a placeholder; valid: {date}",
    ),
    "similar placeholder": (LOAD + '[[export]]\ntarget = "{dates}"', "did you mean {date}?"),
    "brace": (LOAD + '[[export]]\ntarget = "{date"', "export[0].target: '{date': expected '}'"),
    "same target": (LOAD + EXPORT + EXPORT, "export[1].target: out.duckdb is written twice"),
    "export into new": (LOAD + '[[export]]\ntarget = "new/x.csv"', "is in a folder with new files"),
    "export into store": (LOAD + '[[export]]\ntarget = "store/x.csv"', "is in the store"),
    "tables for results of checks": (
        LOAD + '[[export]]\ntarget = "x.jsonl"\nformat = "splunk"\ntables = ["tls_price"]',
        "export[0].tables: cannot be used with splunk, which exports all results of checks",
    ),
    "by for tables": (
        LOAD + EXPORT + 'by = "system"',
        "export[0].by: can be used with openmetrics, prometheus",
    ),
    "by without metrics": (
        LOAD + '[[export]]\ntarget = "x.prom"\nby = "system"',
        "export[0].by: needs the names of metrics in `tables`",
    ),
    "not a metric": (
        LOAD + '[[export]]\ntarget = "x.prom"\ntables = ["handshake_mixx"]',
        "handshake_mixx is not a metric, and prometheus exports only metrics; did you mean handshake_mix",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_settings_are_refused(case: str, tmp_path: Path) -> None:
    text, message = WRONG[case]
    with pytest.raises(SettingsError) as caught:
        read(tmp_path, text)
    assert str(caught.value).startswith(f"{tmp_path / 'nightly.toml'}")
    assert message in str(caught.value)


def test_all_wrong_settings_are_reported_together(tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as caught:
        read(tmp_path, LOAD + 'settle_s = -1\nstrict = 1\n[export]\ntarget = "x"')
    wrong = [caught.value, *caught.value.further]
    assert [(each.line, each.key) for each in wrong] == [
        (5, "load.settle_s"),
        (6, "load.strict"),
        (7, "export"),
    ]
    assert str(caught.value).count("nightly.toml, line ") == 3


def test_a_mistake_ends_the_batch_before_it_begins(night: NightFolder) -> None:
    night.settings(LOAD + "settle = 3")
    result = night.run()
    assert result.exit_code == 12
    assert "did you mean settle_s or select?" in result.stderr
    assert not night.store.exists()


def test_a_missing_file_is_an_error_with_a_hint(night: NightFolder) -> None:
    result = night.run()
    assert result.exit_code == 12
    assert (
        "nightly.toml: cannot be read: No such file or directory; zscope nightly --example" in result.stderr
    )


def test_a_mistake_in_the_settings_of_the_store_is_an_error(night: NightFolder) -> None:
    night.settings(LOAD)
    (night.path / "zscope.toml").write_text("[xyzzy]")
    result = night.run()
    assert result.exit_code == 12
    assert "zscope.toml, line 1: xyzzy: is not a valid key; valid: systems, ingest" in result.stderr
    assert not night.store.exists()


def test_paths_are_relative_to_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    settings = read(tmp_path, LOAD)
    assert settings.store == tmp_path / "store"
    assert settings.reports_folder == tmp_path / "store" / "nightly"


def example() -> str:
    return CliRunner().invoke(program, ["nightly", "--example"]).stdout


def sections_of(settings: NightlySettings) -> list[str]:
    return [name for name in sections_in_file() if getattr(settings, name)]


def test_the_example_can_be_used_as_it_is(tmp_path: Path) -> None:
    settings = read(tmp_path, example())
    assert settings.store == Path("/data/zscope")
    assert sections_of(settings) == ["load"]


def test_every_setting_of_the_example_is_valid(tmp_path: Path) -> None:
    text = (
        example().replace("#:", "").replace("\nby = ", "\n# by = ").replace("\nmax_series", "\n# max_series")
    )
    assert sections_of(read(tmp_path, text)) == [step.name for step in STEPS]


SECTIONS = [NightlySettings, *(each.keys for each in sections_in_file().values())]


@pytest.mark.parametrize("section", SECTIONS)
def test_every_key_is_described_and_in_the_example(section: type[Declared]) -> None:
    keys = declared_keys(section)
    assert {key.name for key in keys} | set(sections_in_file()) >= {
        key.encode_name for key in fields(section)
    }
    for key in keys:
        assert key.meaning.endswith(".")
        assert f"{key.name} = {key.example}\n" in example()


@pytest.mark.parametrize("section", SECTIONS)
def test_examples_are_of_the_types_that_are_declared(section: type[Declared]) -> None:
    """The example of a key is TOML whose type fits, so that a user can begin with it."""
    types = {key.encode_name: key.type for key in fields(section)}
    for key in declared_keys(section):
        file = TomlFile.parse(f"x = {key.example}", "/example/nightly.toml")
        assert file.typed(types[key.name], path=("x",)) is not None
