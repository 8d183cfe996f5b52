"""The same dump in another form, or taken piece by piece: the rows of one clean load."""

from __future__ import annotations

import gzip
import io
import zipfile
from datetime import date
from typing import TYPE_CHECKING

import pytest
from tests.marking import deep_except
from tests.pipelines.ingest.comparing import (
    Clean,
    Fresh,
    dump,
    duplicates,
    kept,
    records,
    run,
    statuses,
    stream,
    write,
)
from tests.pipelines.stores import load, rows_of

from zscope.parsers.containers import terse_write
from zscope.parsers.smf.record_writer import as_blocks, as_segments
from zscope.pipelines.ingest import IngestOptions, row_selection

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def zipped(content: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("member.smf", content)
    return out.getvalue()


def tersed(_: bytes) -> bytes:
    without_lengths = [record[4:] for record in records()]
    return terse_write.pack(without_lengths, variable=True, record_length=32_756, form="PACK")


def spacked(_: bytes) -> bytes:
    without_lengths = [record[4:] for record in records()]
    return terse_write.pack(without_lengths, variable=True, record_length=32_756, form="SPACK")


def blocked(_: bytes) -> bytes:
    return b"".join(as_blocks(records(), 27_998))


def segmented(_: bytes) -> bytes:
    return b"".join(as_segments(records(), 500))


FORMS: dict[str, Callable[[bytes], bytes]] = {
    "plain": bytes,
    "renamed": bytes,
    "gzip": gzip.compress,
    "zip": zipped,
    "terse": tersed,
    "spack": spacked,
    "blocks": blocked,
    "segments": segmented,
    "zip in gzip": lambda content: gzip.compress(zipped(content)),
}


@pytest.mark.parametrize(
    "first", deep_except(["plain"], ["plain", "gzip", "zip in gzip", "terse", "blocks", "segments"])
)
def test_same_dump_in_any_form_is_stored_once(fresh: Fresh, clean: Clean, place: Path, first: str) -> None:
    paths = {
        form: write(place / f"form-{form}".replace(" ", "-"), pack(dump())) for form, pack in FORMS.items()
    }
    store = fresh()
    assert statuses(load(store, paths[first])) == ["loaded"]
    for form, path in paths.items():
        report = load(store, path)
        assert statuses(report) in (["repeated"], ["loaded"])
        # Other bytes, such as blocks, are another file; its records are known all the same.
        assert duplicates(report) == (kept(records()) if statuses(report) == ["loaded"] else 0)
        if form == first or {form, first} <= {"plain", "renamed", "gzip", "zip", "zip in gzip"}:
            assert statuses(report) == ["repeated"], form
    assert rows_of(store) == clean(dump())


@pytest.mark.deep
def test_standard_input_is_recognised_too(fresh: Fresh, clean: Clean, place: Path) -> None:
    store, said = fresh(), []
    for content in (dump(), dump(), gzip.compress(dump())):
        result = run("ingest", "-", "--store", store, stdin=content)
        assert result.exit_code == 0, result.output
        said.append("repeated, was loaded before, as load 1" in result.stderr)
    assert said == [False, True, True]
    assert statuses(load(store, write(place / "known.smf", dump()))) == ["repeated"]
    half = stream(records()[:30])
    assert run("ingest", "-", "--store", store, stdin=half).exit_code == 0
    assert rows_of(store) == clean(dump())


WAYS: dict[str, tuple[IngestOptions, ...]] = {
    "one type before all": (
        IngestOptions(selection=row_selection("119(11)")),
        IngestOptions(selection=row_selection(None)),
    ),
    "all before one type": (
        IngestOptions(selection=row_selection(None)),
        IngestOptions(selection=row_selection("119(11)")),
    ),
    "type by type": (
        IngestOptions(selection=row_selection("119(11)")),
        IngestOptions(selection=row_selection("119(1)")),
        IngestOptions(selection=row_selection("70")),
    ),
    "table by table": (
        IngestOptions(selection=row_selection("smf119_zert_dn")),
        IngestOptions(selection=row_selection("smf119_tcp_init,smf70_cpu")),
    ),
    "day by day": tuple(
        IngestOptions(selection=row_selection(None, begin=begin, end=end))
        for begin, end in (
            (None, date(2026, 3, 2)),
            (date(2026, 3, 3), date(2026, 3, 3)),
            (date(2026, 3, 4), None),
        )
    ),
    "days that overlap": (
        IngestOptions(selection=row_selection(None, end=date(2026, 3, 3))),
        IngestOptions(selection=row_selection(None, begin=date(2026, 3, 3))),
        IngestOptions(selection=row_selection(None)),
    ),
    "system by system": (
        IngestOptions(selection=row_selection(None, ["SYSA"])),
        IngestOptions(selection=row_selection(None, ["SYSB"])),
    ),
    "one system before all": (
        IngestOptions(selection=row_selection(None, ["SYSB"])),
        IngestOptions(selection=row_selection(None)),
    ),
}


@pytest.mark.deep
@pytest.mark.parametrize("way", deep_except(["type by type", "one system before all"], WAYS))
def test_partial_selections_add_up_to_the_whole_dump(
    fresh: Fresh, clean: Clean, place: Path, way: str
) -> None:
    store, path = fresh(), write(place / "chosen.smf", dump())
    for how in WAYS[way]:
        assert statuses(load(store, path, how=how)) == ["loaded"]
    for how in WAYS[way]:
        assert statuses(load(store, path, how=how)) == ["repeated"]
    assert rows_of(store) == clean(dump())
    load(store, path)
    assert rows_of(store) == clean(dump())
