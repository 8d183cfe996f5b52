"""One base class catches what a wrong file, store, table, metric, setting or zone raises."""

from __future__ import annotations

import importlib
import pickle
import pkgutil
from typing import TYPE_CHECKING

import click
import pytest

import zscope.api as zs
import zscope.app
import zscope.parsers
import zscope.pipelines
import zscope.samples
import zscope.schemas
from zscope.parsers.smf.chain import MoreNeeded

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import ModuleType

SAMPLE = "sample-data/smf-sample.bin"


def test_a_wrong_file(tmp_path: Path) -> None:
    options = zs.ReadOptions(strict=True)
    foreign = tmp_path / "foreign.bin"
    foreign.write_bytes(b"no record, no report" * 20)
    for path in (tmp_path / "missing.bin", foreign):
        with pytest.raises(zs.Error) as caught:
            zs.read(path, options=options)
        assert isinstance(caught.value, zs.InputError)
        assert path.name in str(caught.value)


def test_a_wrong_store(tmp_path: Path) -> None:
    with pytest.raises(zs.Error, match="there is no store") as caught:
        zs.open(tmp_path / "none")
    assert isinstance(caught.value, zs.StoreError)


def test_a_wrong_table(checkout: Path) -> None:
    with pytest.raises(zs.Error, match="did you mean smf70_cpu") as caught:
        zs.read(SAMPLE, "smf70_cpux")
    assert isinstance(caught.value, zs.SelectionError)
    with (
        zs.open(checkout / "zscope-store") as store,
        pytest.raises(zs.Error, match="there is no table 'smf70_cpux'") as unknown,
    ):
        store.table("smf70_cpux")
    assert isinstance(unknown.value, zs.UnknownTableError)
    assert isinstance(unknown.value, KeyError)


def test_a_wrong_metric(checkout: Path) -> None:
    queries: tuple[Callable[[zs.Store], object], ...] = (
        lambda store: store.metric("no_metric"),
        lambda store: store.metric("handshake_mix", by="no_column"),
        lambda store: store.metric("handshake_mix", from_="yesterday"),
        lambda store: store.metric("handshake_mix", from_="2026-03-03", to="2026-03-02"),
        lambda store: store.metric("handshake_mix", where="no_column = 1"),
        lambda store: store.metric("tls_price", price_per_msux=1),
        lambda store: store.metric("tls_price", price_per_msu="much"),
    )
    with zs.open(checkout / "zscope-store") as store:
        for query in queries:
            with pytest.raises(zs.Error) as caught:
                query(store)
            assert isinstance(caught.value, (zs.MetricQueryError, zs.UnknownTableError))


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: zs.ReadOptions(code_page="850"),
        lambda: zs.ReadOptions(jobs=0),
        lambda: zs.ReadOptions(framing="odd"),  # type: ignore[arg-type]
        lambda: zs.ReadOptions(taken="2026-03-02"),  # type: ignore[arg-type]
        lambda: zs.ReadOptions(time_format="%Q"),
        lambda: zs.ReadOptions(mapping={"odd": "name"}),
        lambda: zs.ReadOptions(unpack_limits="depth=9"),
        lambda: zs.plan_ranges(SAMPLE, size=0),
    ],
)
def test_a_wrong_setting(wrong: Callable[[], object]) -> None:
    with pytest.raises(zs.Error) as caught:
        wrong()
    assert isinstance(caught.value, ValueError)


def test_a_wrong_zone() -> None:
    with pytest.raises(zs.Error, match="Europe/Berlin") as caught:
        zs.ReadOptions(formatter_zone="Europe/Berlon")
    assert isinstance(caught.value, zs.ZoneError)


def test_at_most_ten_classes_are_public() -> None:
    names = [name for name in zs.__all__ if name.endswith("Error")]
    assert len(names) <= 10
    assert all(issubclass(getattr(zs, name), zs.Error) for name in names)


def test_an_error_about_a_declaration_can_be_sent_to_another_process() -> None:
    error = zs.SettingsError("zscope.toml", "ingest.validate", "expected true or false", 3)
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error) == "zscope.toml, line 3: ingest.validate: expected true or false"
    assert (type(again), again.line) == (zs.SettingsError, 3)


def _defined(package: ModuleType) -> list[type[Exception]]:
    classes: list[type[Exception]] = []
    for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        if found.name.endswith((".__main__", ".spark.source")):
            continue  # the first are programs, the second needs pyspark
        module = importlib.import_module(found.name)
        classes += [
            value
            for value in vars(module).values()
            if isinstance(value, type) and issubclass(value, Exception) and not issubclass(value, Warning)
            if value.__module__ == found.name
        ]
    return classes


def test_every_error_of_the_packages_has_the_base() -> None:
    packages = (zscope.schemas, zscope.parsers, zscope.pipelines, zscope.samples, zscope.app)
    classes = {each for package in packages for each in _defined(package)} - {MoreNeeded}
    assert len(classes) > 40
    assert [each for each in classes if not issubclass(each, (zs.Error, click.ClickException))] == []
