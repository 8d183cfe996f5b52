"""However a dump or report comes, whole, in parts, packed, again or grown: the rows of one clean load."""

from __future__ import annotations

import gzip
import io
import random
import re
import shutil
import zipfile
from collections.abc import Callable, Iterable
from datetime import date
from functools import cache
from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner, Result
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.pipelines.stores import Contents, contents, dump_bytes, load, rows_of

from zscope.app.cli import program as zscope
from zscope.parsers.containers import terse_write
from zscope.parsers.inputs import Options
from zscope.parsers.smf.frame import as_blocks, as_segments, as_stream
from zscope.pipelines.ingest import How, choose
from zscope.pipelines.store import open_reader
from zscope.pipelines.store.catalogue import publish
from zscope.pipelines.store.commits import State
from zscope.pipelines.store.folder import make_store

if TYPE_CHECKING:
    from zscope.pipelines.ingest.outcome import Report

REPORTS = sorted((Path(__file__).resolve().parents[3] / "sample-data" / "reports").iterdir())
NETSTAT = next(path for path in REPORTS if path.name == "netstat.SYSA.2026-03-02.txt")
MIX = {"zert-detail": 0.5, "tcp-init": 0.3, "rmf-cpu": 0.05, "foreign": 0.1}
FRAMINGS = ("rdw", "segments", "bdw", "bdw-spanned", "bdw-extended", "rdw-exclusive")
FROM_FILE = ("load_id", "record_no", "record_offset", "file", "line_no", "system_from", "time_from")
"""What differs when the same is in a file of another name, too."""

Fresh = Callable[[], Path]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for files and for one store after another."""
    return tmp_path_factory.mktemp("same")


@pytest.fixture(scope="module")
def fresh(place: Path) -> Fresh:
    """A store without loads, always at the same place: its catalogue, which takes longest, is copied."""
    store, kept = place / "store", place / "kept"
    publish(make_store(store), State())
    store.rename(kept)

    def again() -> Path:
        shutil.rmtree(store, ignore_errors=True)
        return Path(shutil.copytree(kept, store))

    return again


@cache
def dump(framing: str = "rdw") -> bytes:
    """A dump of two days with tables of several levels."""
    block = {"block_size": 3_000} if framing == "bdw-spanned" else {}
    return dump_bytes(60, 2, mix=MIX, framing=framing, **block)


@cache
def records() -> list[bytes]:
    """Its records, with their length words."""
    data, found, at = dump(), [], 0
    while at < len(data):
        end = at + int.from_bytes(data[at : at + 2], "big")
        found.append(data[at:end])
        at = end
    return found


def kept(some: Iterable[bytes]) -> int:
    """How many records there are of the types that the store keeps."""
    return sum(record[5] in {70, 119} for record in some)


def stream(some: Iterable[bytes]) -> bytes:
    """Records as a file."""
    return b"".join(as_stream(some))


def write(path: Path, content: bytes) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    return path


@pytest.fixture(scope="module")
def clean(fresh: Fresh, place: Path) -> Callable[..., Contents]:
    """The rows of one load of a content, into a store that has nothing else."""

    @cache
    def rows(content: bytes, name: str = "clean.smf") -> Contents:
        store = fresh()
        load(store, write(place / "clean" / name, content))
        return rows_of(store)

    return rows


def statuses(report: Report) -> list[str]:
    return [outcome.status.value for outcome in report.outcomes]


def duplicates(report: Report) -> int:
    return sum(load.duplicates for load in report.loads)


def run(*arguments: object, stdin: bytes | None = None) -> Result:
    """The program, as a user starts it."""
    result = CliRunner().invoke(zscope, [str(a) for a in arguments], stdin, prog_name="zscope")
    assert "Traceback" not in result.stderr
    return result


@settings(max_examples=14)
@given(
    framing=st.sampled_from(FRAMINGS),
    cuts=st.lists(st.floats(0.02, 0.99), min_size=1, max_size=4),
    how_cut=st.sampled_from(["anywhere", "in the header of a record", "behind a record"]),
)
def test_a_dump_that_grows_step_by_step(
    fresh: Fresh, clean: Callable[..., Contents], place: Path, framing: str, cuts: list[float], how_cut: str
) -> None:
    data = dump(framing)
    lengths = sorted({int(cut * len(data)) for cut in cuts})
    if how_cut != "anywhere" and framing == "rdw":
        ends = [0]
        for record in records():
            ends.append(ends[-1] + len(record))
        into = 2 if how_cut == "in the header of a record" else 0
        lengths = sorted({min(end for end in ends if end >= length) + into for length in lengths})
    lengths = [length for length in lengths if length < len(data)]
    store, path = fresh(), place / "growing.smf"
    for length in [*lengths, len(data)]:
        report = load(store, write(path, data[:length]))
        assert statuses(report) == ["loaded"]
        assert duplicates(report) == 0
    assert rows_of(store) == clean(data)
    assert statuses(load(store, path)) == ["repeated"]


@settings(max_examples=10)
@given(data=st.data())
def test_overlapping_dumps_in_any_order_also_when_one_is_removed_and_loaded_again(
    fresh: Fresh, clean: Callable[..., Contents], place: Path, data: st.DataObject
) -> None:
    every = records()
    at = st.integers(1, len(every) - 1)
    first_end, third_begin = data.draw(at), data.draw(at)
    second = (data.draw(st.integers(0, first_end)), data.draw(st.integers(third_begin, len(every))))
    parts = [every[:first_end], every[second[0] : max(second)], every[min(third_begin, second[1]) :]]
    paths = [write(place / f"part-{number}.smf", stream(part)) for number, part in enumerate(parts)]
    order = data.draw(st.sampled_from(list(permutations(paths))))
    store = fresh()
    found = [load(store, path) for path in order]
    assert rows_of(store) == clean(dump())
    told = sum(duplicates(report) for report in found)
    once = kept(every)
    grown = any(
        ld.begun_at for report in found for ld in report.loads
    )  # its first part is not even looked at
    assert grown or told == sum(map(kept, parts)) - once
    with open_reader(store) as connection:
        stored = connection.execute("SELECT count(*), count(DISTINCT digest) FROM record_digest").fetchone()
    assert stored == (once, once)
    if data.draw(st.booleans()):
        assert run("store", "compact", "--store", store).exit_code == 0
        assert rows_of(store) == clean(dump())
    gone = data.draw(st.sampled_from([ld.load_id for report in found for ld in report.loads]))
    assert run("loads", "remove", gone, "--store", store).exit_code in {0, 4}
    load(store, *order)
    assert rows_of(store) == clean(dump())


def named_again(result: Result) -> list[str]:
    """The files that a removal says should be loaded again."""
    return re.findall(r"ingest (\S+) again", result.stderr)


def test_the_first_of_two_overlapping_loads_is_removed_and_what_leaned_on_it_comes_back(
    fresh: Fresh, clean: Callable[..., Contents], place: Path
) -> None:
    some = records()
    daily = write(place / "daily.smf", stream(some[:40]))
    weekly = write(place / "weekly.smf", stream(some[20:]))
    store = fresh()
    load(store, daily)
    assert duplicates(load(store, weekly)) == kept(some[20:40]) > 0
    result = run("loads", "remove", 1, "--store", store)
    assert result.exit_code == 4
    assert named_again(result) == [str(weekly)]
    assert statuses(load(store, weekly)) == ["loaded"]
    assert rows_of(store) == clean(weekly.read_bytes())
    assert statuses(load(store, weekly)) == ["repeated"]
    assert statuses(load(store, daily)) == ["loaded"]
    assert rows_of(store) == clean(dump())


@pytest.mark.parametrize("names", [("a", "b", "c"), ("a", "a", "a")], ids=["three files", "one file"])
@pytest.mark.parametrize("removed", [1, 2, 3])
def test_one_of_three_growing_loads_is_removed_and_comes_back_with_the_files_named(
    fresh: Fresh, clean: Callable[..., Contents], place: Path, names: tuple[str, ...], removed: int
) -> None:
    data, store = dump(), fresh()
    paths = [place / f"growing-{name}.smf" for name in names]
    for path, length in zip(paths, (len(data) // 3, len(data) // 2, len(data)), strict=True):
        load(store, write(path, data[:length]))
    result = run("loads", "remove", removed, "--store", store)
    again = named_again(result)
    assert again == [str(path) for path in paths[removed:]]
    assert result.exit_code == (4 if again else 0)
    load(store, *map(Path, dict.fromkeys(again)))
    if removed < 3:
        assert rows_of(store) == clean(data)
    load(store, *dict.fromkeys(paths))
    assert rows_of(store) == clean(data)


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
    fresh: Fresh, clean: Callable[..., Contents], place: Path, first: str
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


def test_a_packed_file_that_grew(fresh: Fresh, clean: Callable[..., Contents], place: Path) -> None:
    data, store = dump(), fresh()
    load(store, write(place / "grown.gz", gzip.compress(data[: len(data) // 2])))
    load(store, write(place / "grown.gz", gzip.compress(data)))
    assert rows_of(store) == clean(data)
    assert statuses(load(store, write(place / "grown.smf", data))) == ["repeated"]


@pytest.mark.parametrize("framing", ["rdw", "segments", "bdw"])
def test_a_dump_with_itself_behind_it(
    fresh: Fresh, clean: Callable[..., Contents], place: Path, framing: str
) -> None:
    data, store = dump(framing), fresh()
    path = write(place / "twice.smf", data + data)
    assert duplicates(load(store, path)) == kept(records())
    assert rows_of(store) == clean(data)
    load(store, write(path, data + data + data))
    assert rows_of(store) == clean(data)


def test_standard_input_is_recognised_too(fresh: Fresh, clean: Callable[..., Contents], place: Path) -> None:
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
    fresh: Fresh, clean: Callable[..., Contents], place: Path, way: str
) -> None:
    store, path = fresh(), write(place / "chosen.smf", dump())
    for how in WAYS[way]:
        assert statuses(load(store, path, how=how)) == ["loaded"]
    for how in WAYS[way]:
        assert statuses(load(store, path, how=how)) == ["repeated"]
    assert rows_of(store) == clean(dump())
    load(store, path)
    assert rows_of(store) == clean(dump())


def cut_reports() -> list[tuple[str, int]]:
    """Each report, cut between its lines and within them."""
    rng = random.Random(7)
    found = []
    for path in REPORTS:
        content = path.read_bytes()
        ends = [match.end() for match in re.finditer(rb"\n", content)]
        cuts = {rng.choice(ends) for _ in range(4)} | {rng.randrange(1, len(content)) for _ in range(5)}
        found += [(path.name, cut) for cut in sorted(cuts) if cut < len(content)]
    return found


@pytest.mark.parametrize(("name", "cut"), cut_reports())
def test_a_report_that_was_cut_is_replaced_by_the_whole_of_it(
    fresh: Fresh, clean: Callable[..., Contents], place: Path, name: str, cut: int
) -> None:
    """Its last entry, of which the end was missing, must not stay."""
    content = next(path.read_bytes() for path in REPORTS if path.name == name)
    expected = clean(content, name)
    store, path = fresh(), place / "growing" / name
    load(store, write(path, content[:cut]))
    load(store, write(path, content))
    assert rows_of(store) == expected
    assert statuses(load(store, path)) == ["repeated"]


@pytest.mark.parametrize("report", REPORTS, ids=lambda path: path.name)
def test_a_report_that_grows_in_steps(
    fresh: Fresh, clean: Callable[..., Contents], place: Path, report: Path
) -> None:
    content = report.read_bytes()
    expected = clean(content, report.name)
    store, path = fresh(), place / "growing" / report.name
    for share in (0.3, 0.55, 0.8, 1.0):
        load(store, write(path, content[: int(share * len(content))]))
    assert rows_of(store) == expected
    with open_reader(store) as connection:
        live = connection.execute(
            "SELECT count(*) FROM load WHERE status IN ('loaded', 'incomplete')"
        ).fetchone()
    assert live == (1,)


@pytest.mark.parametrize("report", REPORTS, ids=lambda path: path.name)
def test_the_same_capture_in_two_files_is_stored_once(
    fresh: Fresh, clean: Callable[..., Contents], place: Path, report: Path
) -> None:
    content = report.read_bytes()
    expected = clean(content, report.name)
    store = fresh()
    load(store, write(place / "one" / report.name, content))
    assert statuses(load(store, write(place / "two" / report.name, content))) == ["repeated"]
    assert statuses(load(store, write(place / "two" / report.name, gzip.compress(content)))) == ["repeated"]
    other = load(store, write(place / "two" / report.name, content + b"\n\n"))
    assert statuses(other) == ["loaded"]
    assert rows_of(store) == expected


@pytest.mark.parametrize("name", ["netstat.SYSC.2026-03-02.txt", "netstat.SYSA.2026-03-05.txt"])
def test_the_same_content_under_a_name_that_tells_another_system_or_day_is_another_capture(
    fresh: Fresh, place: Path, name: str
) -> None:
    store, content = fresh(), NETSTAT.read_bytes()
    load(store, write(place / "named" / NETSTAT.name, content))
    before = rows_of(store)
    assert statuses(load(store, write(place / "named" / name, content))) == ["loaded"]
    after = rows_of(store)
    assert {table: rows for table, (rows, _) in after.items()} == {
        table: 2 * rows for table, (rows, _) in before.items()
    }
    for same in (NETSTAT.name, name):
        assert statuses(load(store, place / "named" / same)) == ["repeated"]


def test_a_name_that_tells_nothing_is_no_other_capture(fresh: Fresh, place: Path) -> None:
    store, content = fresh(), NETSTAT.read_bytes()
    load(store, write(place / "named" / NETSTAT.name, content))
    before = rows_of(store)
    assert statuses(load(store, write(place / "named" / "capture.txt", content))) == ["repeated"]
    assert rows_of(store) == before


def test_what_the_command_line_says_instead_of_the_name_makes_the_same_rows(
    fresh: Fresh, place: Path
) -> None:
    store, content = fresh(), NETSTAT.read_bytes()
    load(store, write(place / "named" / NETSTAT.name, content))
    with open_reader(store) as connection:
        before = contents(connection, FROM_FILE)
    said = How(choose(None, ["SYSA"]), Options(system="SYSA", day=date(2026, 3, 2)))
    report = load(store, write(place / "named" / "capture.txt", content + b"\n"), how=said)
    assert statuses(report) == ["loaded"]
    assert sum(ld.rows for ld in report.loads) == 0
    assert duplicates(report) == sum(rows for rows, _ in before.values())
    with open_reader(store) as connection:
        assert contents(connection, FROM_FILE) == before


@pytest.fixture
def undated(place: Path) -> Path:
    """A capture that tells no time, under a name that tells none."""
    lines = NETSTAT.read_bytes().split(b"\n")
    return write(
        place / "undated" / "capture.txt", b"\n".join(line for line in lines if b"11:46" not in line)
    )


def test_an_undated_capture_is_stored_once(fresh: Fresh, undated: Path) -> None:
    store = fresh()
    load(store, undated)
    before = rows_of(store)
    assert before
    assert statuses(load(store, undated)) == ["repeated"]
    assert rows_of(store) == before


def test_an_undated_capture_with_one_selection_and_then_another(
    fresh: Fresh, clean: Callable[..., Contents], undated: Path
) -> None:
    expected = clean(undated.read_bytes(), undated.name)
    tables = sorted(expected)
    store = fresh()
    for select in (tables[0], None, tables[-1]):
        load(store, undated, how=How(choose(select)))
    assert rows_of(store) == expected


def test_undated_captures_that_differ_are_both_there(fresh: Fresh, undated: Path) -> None:
    """Nothing tells whether the lines they share are of one moment or of two."""
    store = fresh()
    load(store, undated)
    before = rows_of(store)
    other = write(undated.with_name("other.txt"), b"first line of another capture\n" + undated.read_bytes())
    assert statuses(load(store, other)) == ["loaded"]
    assert {table: rows for table, (rows, _) in rows_of(store).items()} == {
        table: 2 * rows for table, (rows, _) in before.items()
    }
