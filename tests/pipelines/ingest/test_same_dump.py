"""The same dump in another form, or taken piece by piece: the rows of one clean load."""

from __future__ import annotations

import gzip
import io
import zipfile
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest
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
from zscope.parsers.smf.frame import as_blocks, as_segments
from zscope.pipelines.ingest import How, choose


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


@pytest.mark.parametrize("first", FORMS)
def test_the_same_records_in_any_form_behind_any_other(
    fresh: Fresh, clean: Clean, place: Path, first: str
) -> None:
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


WAYS: dict[str, tuple[How, ...]] = {
    "one type before all": (How(choose("119(11)")), How(choose(None))),
    "all before one type": (How(choose(None)), How(choose("119(11)"))),
    "type by type": (How(choose("119(11)")), How(choose("119(1)")), How(choose("70"))),
    "table by table": (How(choose("smf119_zert_dn")), How(choose("smf119_tcp_init,smf70_cpu"))),
    "day by day": tuple(
        How(choose(None, begin=begin, end=end))
        for begin, end in (
            (None, date(2026, 3, 2)),
            (date(2026, 3, 3), date(2026, 3, 3)),
            (date(2026, 3, 4), None),
        )
    ),
    "days that overlap": (
        How(choose(None, end=date(2026, 3, 3))),
        How(choose(None, begin=date(2026, 3, 3))),
        How(choose(None)),
    ),
    "system by system": (How(choose(None, ["SYSA"])), How(choose(None, ["SYSB"]))),
    "one system before all": (How(choose(None, ["SYSB"])), How(choose(None))),
}


@pytest.mark.parametrize("way", WAYS)
def test_what_was_chosen_piece_by_piece_is_the_whole_in_the_end(
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
