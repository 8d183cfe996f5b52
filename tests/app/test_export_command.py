"""zscope export, as a user meets it."""

from __future__ import annotations

import csv
import errno
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest
from click.testing import Result
from tests.pipelines.exposition import openmetrics_reader, otlp_reader

from zscope.pipelines.exposition import on_intervals
from zscope.pipelines.ingest import How, choose, ingest
from zscope.pipelines.metrics import declared
from zscope.pipelines.settings import Settings

Run = Callable[..., Result]

SAMPLE = Path(__file__).resolve().parents[2] / "sample-data"
ZSCOPE = [sys.executable, "-c", "from zscope.app.cli import main; main()"]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with the sample dump; only to be read."""
    folder = tmp_path_factory.mktemp("exported") / "store"
    ingest(folder, [SAMPLE / "smf-sample.bin"], How(choose(None)))
    return folder


@pytest.fixture(scope="module")
def timed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same with times in UTC, and with TLS in it."""
    folder = tmp_path_factory.mktemp("timed") / "store"
    ingest(folder, [SAMPLE / "smf-sample.bin"], How(choose(None), settings=Settings().merge(["+01:00"])))
    return folder


@pytest.fixture
def expose(run: Run, timed: Path) -> Run:
    """Run `zscope export` on that one."""
    return lambda *arguments: run("export", "--store", timed, *arguments)


@pytest.fixture
def export(run: Run, store: Path) -> Run:
    """Run `zscope export` on the store."""
    return lambda *arguments: run("export", "--store", store, *arguments)


def test_tables_become_parquet_files_in_a_folder(export: Run, tmp_path: Path) -> None:
    target = tmp_path / "out"
    result = export("smf70_cpu", "cpu_interval", "smf70_cpu", "-o", target)
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr.splitlines() == [
        "smf70_cpu: 960 rows", "cpu_interval: 192 rows", f"{target}: 2 tables",
    ]  # fmt: skip
    assert sorted(path.name for path in target.iterdir()) == ["cpu_interval.parquet", "smf70_cpu.parquet"]
    assert pq.read_metadata(target / "smf70_cpu.parquet").num_rows == 960


def test_csv_is_written_as_all_commands_write_it(export: Run, tmp_path: Path) -> None:
    assert export("smf70_interval", "-o", tmp_path / "out", "--format", "csv", "-q").output == ""
    with (tmp_path / "out" / "smf70_interval.csv").open(newline="") as file:
        first = next(csv.DictReader(file))
    assert first["system"] == "SYSA"
    assert first["written_local"].startswith("2026-03-02T")


def test_a_name_that_says_duckdb_makes_a_database(export: Run, tmp_path: Path) -> None:
    target = tmp_path / "all.duckdb"
    assert export("-o", target, "-q").exit_code == 0
    with duckdb.connect(str(target), read_only=True) as connection:
        tables = [name for (name,) in connection.execute("SHOW TABLES").fetchall()]
        views = connection.execute("SELECT count(*) FROM duckdb_views() WHERE NOT internal").fetchone()
    assert {"smf70_cpu", "cipher", "code_handshake_type", "load"} <= set(tables)
    assert not set(tables) & declared().keys()
    assert not [name for name in tables if name.startswith("zscope_") or name == "record_digest"]
    assert "rmf_cpu" not in tables
    assert views == (0,)


def test_days_and_systems_cut_the_tables_that_have_them(export: Run, tmp_path: Path) -> None:
    def rows(*arguments: object) -> dict[str, int]:
        target = tmp_path / f"out{len(list(tmp_path.iterdir()))}"
        assert export("smf70_interval", "cpu_interval", "cipher", "-o", target, *arguments).exit_code == 0
        return {path.stem: pq.read_metadata(path).num_rows for path in target.iterdir()}

    everything = rows()
    assert (everything["smf70_interval"], everything["cpu_interval"]) == (192, 192)
    first = rows("--to", "2026-03-02")
    later = rows("--from", "2026-03-03")
    assert 0 < first["smf70_interval"] < 192
    assert first["smf70_interval"] + later["smf70_interval"] == 192
    assert first["cpu_interval"] + later["cpu_interval"] == 192
    assert first["cipher"] == everything["cipher"] > 100
    assert rows("--system", "SYSA")["smf70_interval"] == 96
    assert rows("--system", "SYSA", "--system", "SYSB") == everything
    assert rows("--from", "2027-01-01")["smf70_interval"] == 0


def test_what_is_there_already_is_replaced_only_by_force(export: Run, tmp_path: Path) -> None:
    for target, arguments in ((tmp_path / "out", ()), (tmp_path / "out.duckdb", ())):
        assert export("cipher", "load", "-o", target, *arguments).exit_code == 0
        again = export("cipher", "-o", target)
        assert again.exit_code == 12
        assert again.stderr == (
            f"Error: {target}: this is there already; choose another name or replace it with --force\n"
        )
        assert export("cipher", "-o", target, "--force").exit_code == 0
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["cipher.parquet"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "out.duckdb"]


def test_an_empty_folder_is_filled(export: Run, tmp_path: Path) -> None:
    assert export("cipher", "-o", tmp_path).exit_code == 0
    assert [path.name for path in tmp_path.iterdir()] == ["cipher.parquet"]


@pytest.mark.parametrize(
    ("make", "name", "message"),
    [
        ("file", "out", "this is a file, and a folder is to be made"),
        ("other", "out", "there are other things than .parquet files in it (letter.txt)"),
        ("folder", "out", "there are other things than .parquet files in it (sub.parquet)"),
        ("file", "out.duckdb", "this is no DuckDB file"),
        ("folder", "out.duckdb", "this is no DuckDB file"),
        ("link", "out.duckdb", "this is no DuckDB file"),
    ],
)
def test_force_spares_what_is_no_export(
    make: str, name: str, message: str, export: Run, tmp_path: Path
) -> None:
    target = tmp_path / name
    match make:
        case "file":
            target.write_text("a letter to someone")
        case "link":
            target.symlink_to("nowhere")
        case "other":
            target.mkdir()
            (target / "letter.txt").write_text("a letter to someone")
        case _:
            (target / "sub.parquet").mkdir(parents=True)
    result = export("cipher", "-o", target, "--force")
    assert result.exit_code == 12
    assert message in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_the_store_is_no_place_for_exports(export: Run, store: Path) -> None:
    for target in (store, store / "out", store / "zscope.duckdb"):
        result = export("cipher", "-o", target, "--force")
        assert result.exit_code == 12
        assert f"{target}: this is in the store" in result.stderr


def test_a_wrong_name_is_told_with_a_suggestion(export: Run, tmp_path: Path) -> None:
    result = export("smf70_cpus", "-o", tmp_path / "out")
    assert result.exit_code == 12
    assert "there is no table 'smf70_cpus'; did you mean smf70_cpu" in result.stderr
    assert not list(tmp_path.iterdir())


def test_a_place_that_is_not_there_is_told(export: Run, tmp_path: Path) -> None:
    for name in ("none/out", "none/out.duckdb"):
        result = export("cipher", "-o", tmp_path / name)
        assert result.exit_code == 12
        assert f"{tmp_path / name}: there is no folder {tmp_path / 'none'}; make it first" in result.stderr


@pytest.mark.parametrize("name", ["out", "out.duckdb"])
def test_a_full_disk_leaves_nothing(name: str, store: Path, tmp_path: Path) -> None:
    """The largest file that may be written is small here: the same as a full disk, for one process."""
    code = (
        "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
        "resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000)); "
        "from zscope.app.cli import main; main()"
    )
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            code,
            "export",
            "field_catalog",
            "-q",
            "--store",
            store,
            "-o",
            tmp_path / name,
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 12
    assert done.stderr.startswith(f"Error: {tmp_path / name}: ")
    assert os.strerror(errno.EFBIG) in done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["out", "out.duckdb"])
def test_ctrl_c_leaves_nothing(name: str, store: Path, tmp_path: Path) -> None:
    with subprocess.Popen(
        [*ZSCOPE, "export", "--store", store, "-o", tmp_path / name],
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        assert running.stderr is not None
        assert "rows\n" in running.stderr.readline()  # the first table is done
        running.send_signal(signal.SIGINT)
        told = running.stderr.read()
    assert running.returncode == 12
    assert told.endswith("Error: interrupted; output files are as they were before\n")
    assert not list(tmp_path.iterdir())


def test_a_killed_export_leaves_no_target(store: Path, tmp_path: Path) -> None:
    place = tmp_path / "place"
    place.mkdir()
    with subprocess.Popen(
        [*ZSCOPE, "export", "--store", store, "-o", place / "out", "-q"],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stderr=subprocess.PIPE,
    ) as running:
        while not list(place.iterdir()):
            time.sleep(0.01)
        running.kill()
    assert [path.name.startswith(".out.") for path in place.iterdir()] == [True]


def test_metrics_become_series_with_times(expose: Run, tmp_path: Path) -> None:
    target = tmp_path / "history.om"
    result = expose("cpu_interval", "handshake_mix", "cpu_interval", "-o", target)
    assert (result.exit_code, result.stdout) == (0, "")
    found = openmetrics_reader.read(target.read_bytes())
    counts = {
        metric: [
            (len(told.samples), sum(map(len, told.samples.values())))
            for name, told in found.items()
            if name.startswith(f"zscope_{metric}_")
        ]
        for metric in ("cpu_interval", "handshake_mix")
    }
    assert result.stderr.splitlines() == [
        *(
            f"{metric}: {sum(n for n, _ in told):,} series, {sum(n for _, n in told):,} samples"
            for metric, told in counts.items()
        ),
        f"{target}: 2 metrics, {sum(n for told in counts.values() for _, n in told):,} samples",
    ]
    busy = found["zscope_cpu_interval_lpar_busy_ratio"].samples
    assert {dict(labels)["system"]: len(series) for labels, series in busy.items()} == {
        "SYSA": 96,
        "SYSB": 96,
    }
    assert all(time and 0 <= float(value) <= 1 for series in busy.values() for time, value in series)


def test_the_textfile_has_the_newest_interval_and_no_times(expose: Run, tmp_path: Path) -> None:
    target = tmp_path / "zscope.prom"
    assert expose("cpu_interval", "-o", target, "-q").output == ""
    found = openmetrics_reader.read(target.read_bytes())
    assert {len(told.samples) for told in found.values()} == {2}
    times = {time for told in found.values() for series in told.samples.values() for time, _ in series}
    assert times == {None}
    assert "zscope_cpu_interval_newest_timestamp_seconds" in found
    assert target.read_text().isascii()


def test_otlp_has_lines_for_the_collector(expose: Run, tmp_path: Path) -> None:
    target = tmp_path / "metrics.otlp.jsonl"
    assert expose("handshake_mix", "--by", "system", "-o", target).exit_code == 0
    points = otlp_reader.read(target.read_bytes())
    assert {point.resource["service.name"] for point in points} == {"zscope"}
    assert {tuple(point.attributes) for point in points} == {("system",)}
    sums = {point.metric["name"] for point in points if point.kind == "sum"}
    assert "zscope.handshake_mix.full_handshakes" in sums
    assert "zscope.handshake_mix.resumed_ratio" not in sums


def test_without_names_all_metrics_about_intervals_are_exposed(expose: Run) -> None:
    result = expose("-o", "-", "--format", "openmetrics")
    assert result.exit_code == 0
    told = [line.partition(":")[0] for line in result.stderr.splitlines()]
    assert told == [*on_intervals(), "-"]
    names = openmetrics_reader.read(result.stdout_bytes)
    assert {"zscope_tls_posture_unprotected_ratio", "zscope_cpu_per_transaction_cpu_seconds"} <= set(names)


def test_series_are_of_the_systems_and_of_the_days_in_utc_that_are_asked_for(expose: Run) -> None:
    """All intervals are of one day in UTC, and of two on the clocks of the systems."""

    def samples(*arguments: str) -> dict[str, int]:
        result = expose("cpu_interval", "-o", "-", "--format", "openmetrics", "-q", *arguments)
        families = openmetrics_reader.read(result.stdout_bytes)
        series = families.get("zscope_cpu_interval_cpu_seconds", openmetrics_reader.Read()).samples
        return {dict(labels)["system"]: len(values) for labels, values in series.items()}

    assert samples() == {"SYSA": 96, "SYSB": 96}
    assert samples("--system", "SYSA") == {"SYSA": 96}
    assert samples("--from", "2026-03-02", "--to", "2026-03-02") == {"SYSA": 96, "SYSB": 96}
    assert samples("--from", "2026-03-03") == samples("--to", "2026-03-01") == {}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["smf70_cpu"],
            "smf70_cpu is no metric, and only metrics become openmetrics; zscope metrics lists them",
        ),
        (["handshake_mx"], "handshake_mx is no metric, and only metrics become openmetrics; did you mean"),
        (["handshake_interval"], "handshake_interval is no metric"),
        (["best_practice_check"], "best_practice_check has no numbers"),
        (["--by", "system"], "--by: name the metrics that this is about"),
        (["cpu_interval", "--by", "system"], "cpu_interval: its rows cannot be put together"),
        (["handshake_mix", "--by", "planet"], "handshake_mix has no 'planet' to group by"),
        (["handshake_mix", "--max-series", "3"], "more than 3; "),
        (["cpu_interval", "handshake_mix", "--max-series", "20"], "series, and there are "),
        (["certificate_inventory", "--system", "SYSA"], "certificate_inventory does not tell systems apart"),
        (["--from", "2030-01-01"], "no metric has such rows in the store"),
    ],
)
def test_what_cannot_become_series_is_told(
    arguments: list[str], message: str, expose: Run, tmp_path: Path
) -> None:
    result = expose(*arguments, "-o", tmp_path / "out.om")
    assert result.exit_code == 12
    assert message in result.stderr
    assert not list(tmp_path.iterdir())


def test_tables_do_not_go_to_standard_output(export: Run) -> None:
    result = export("cpu_interval", "-o", "-")
    assert (result.exit_code, result.stdout) == (12, "")
    assert "-o -: say with --format which of openmetrics, prometheus, otlp is wanted" in result.stderr


def test_tables_are_not_grouped(export: Run, tmp_path: Path) -> None:
    result = export("cpu_interval", "--by", "system", "-o", tmp_path / "out")
    assert result.exit_code == 12
    assert "--by is for openmetrics, prometheus, otlp; zscope metrics groups rows" in result.stderr


def test_rows_without_a_time_in_utc_are_told_even_to_the_quiet(run: Run, tmp_path: Path) -> None:
    """Reports do not tell the time zone."""
    store, target = tmp_path / "store", tmp_path / "out.prom"
    ingest(store, [SAMPLE / "reports"], How(choose(None)))
    result = run("export", "cpu_interval", "-o", target, "-q", "--store", store)
    assert (result.exit_code, target.read_bytes()) == (0, b"# EOF\n")
    assert re.fullmatch(
        r"cpu_interval: \d+ (row is|rows are) left out, as the time in UTC is not known; "
        r"docs/time-zones\.md says how to tell it\n",
        result.stderr,
    )


@pytest.mark.parametrize("name", ["out.om", "out.prom", "out.otlp.jsonl"])
def test_series_replace_only_series_and_only_by_force(
    name: str, expose: Run, timed: Path, tmp_path: Path
) -> None:
    target = tmp_path / name
    assert expose("cpu_interval", "-o", target).exit_code == 0
    before = target.read_bytes()
    again = expose("handshake_mix", "-o", target)
    assert (again.exit_code, target.read_bytes()) == (12, before)
    assert "this is there already; choose another name or replace it with --force" in again.stderr
    assert expose("handshake_mix", "-o", target, "--force").exit_code == 0
    assert target.read_bytes() != before
    for other in ("# TYPE node_load1 gauge\n", "a letter to someone"):
        target.write_text(other)
        refused = expose("handshake_mix", "-o", target, "--force")
        assert (refused.exit_code, target.read_text()) == (12, other)
        assert "this is no such export" in refused.stderr
    assert "this is in the store" in expose("handshake_mix", "-o", timed / name, "--force").stderr
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("name", ["out.om", "out.otlp.jsonl"])
def test_a_full_disk_leaves_no_series(name: str, timed: Path, tmp_path: Path) -> None:
    code = (
        "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
        "resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000)); "
        "from zscope.app.cli import main; main()"
    )
    arguments = ["export", "cpu_interval", "--store", str(timed), "-o", str(tmp_path / name)]
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 12
    assert f"Error: {tmp_path / name}: {os.strerror(errno.EFBIG)}" in done.stderr
    assert not list(tmp_path.iterdir())
