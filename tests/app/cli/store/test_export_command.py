"""`zscope export`: files, databases and series."""

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
from tests.app.conftest import deep
from tests.pipelines.exposition import openmetrics_reader, otlp_reader

from zscope.pipelines.exposition import exported_metrics
from zscope.pipelines.ingest import IngestOptions, ingest, row_selection
from zscope.pipelines.metrics import declared

Run = Callable[..., Result]

SAMPLE = Path(__file__).resolve().parents[4] / "sample-data"
ZSCOPE = [sys.executable, "-m", "zscope"]
WITHOUT_COMPILED_FILES = [sys.executable, "-B"]
"""For programs that can write only short files: Python would leave a compiled module without its end."""


@pytest.fixture(scope="module")
def store(dump_store: Path) -> Path:
    """A store whose times in UTC are unknown."""
    return dump_store


@pytest.fixture(scope="module")
def timed(zoned_store: Path) -> Path:
    """A store with times in UTC."""
    return zoned_store


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


def test_csv_is_the_same_as_in_other_commands(export: Run, tmp_path: Path) -> None:
    assert export("smf70_interval", "-o", tmp_path / "out", "--format", "csv", "-q").output == ""
    with (tmp_path / "out" / "smf70_interval.csv").open(newline="") as file:
        first = next(csv.DictReader(file))
    assert first["system"] == "SYSA"
    assert first["written_local"].startswith("2026-03-02T")


@pytest.mark.deep
def test_a_duckdb_ending_exports_a_database(export: Run, tmp_path: Path) -> None:
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


def test_days_and_systems_filter_the_tables_that_have_them(export: Run, tmp_path: Path) -> None:
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


def test_an_existing_target_needs_force(export: Run, tmp_path: Path) -> None:
    for target, arguments in ((tmp_path / "out", ()), (tmp_path / "out.duckdb", ())):
        assert export("cipher", "load", "-o", target, *arguments).exit_code == 0
        again = export("cipher", "-o", target)
        assert again.exit_code == 12
        assert again.stderr == (
            f"Error: {target}: already exists; choose another name or replace it with --force\n"
        )
        assert export("cipher", "-o", target, "--force").exit_code == 0
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["cipher.parquet"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "out.duckdb"]


def test_an_empty_folder_can_be_the_target(export: Run, tmp_path: Path) -> None:
    assert export("cipher", "-o", tmp_path).exit_code == 0
    assert [path.name for path in tmp_path.iterdir()] == ["cipher.parquet"]


@pytest.mark.parametrize(
    ("make", "name", "message"),
    [
        ("file", "out", "a file, where the export would be a folder"),
        ("other", "out", "contains files other than .parquet files (letter.txt)"),
        ("folder", "out", "contains files other than .parquet files (sub.parquet)"),
        ("file", "out.duckdb", "not a DuckDB file"),
        ("folder", "out.duckdb", "not a DuckDB file"),
        ("link", "out.duckdb", "not a DuckDB file"),
    ],
)
def test_force_replaces_only_exports(make: str, name: str, message: str, export: Run, tmp_path: Path) -> None:
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


def test_the_store_cannot_be_the_target(export: Run, store: Path) -> None:
    for target in (store, store / "out", store / "zscope.duckdb"):
        result = export("cipher", "-o", target, "--force")
        assert result.exit_code == 12
        assert f"{target}: inside the store" in result.stderr


def test_an_unknown_table_is_an_error_with_a_suggestion(export: Run, tmp_path: Path) -> None:
    result = export("smf70_cpus", "-o", tmp_path / "out")
    assert result.exit_code == 12
    assert "there is no table 'smf70_cpus'; did you mean smf70_cpu" in result.stderr
    assert not list(tmp_path.iterdir())


def test_a_missing_parent_folder_is_an_error(export: Run, tmp_path: Path) -> None:
    for name in ("none/out", "none/out.duckdb"):
        result = export("cipher", "-o", tmp_path / name)
        assert result.exit_code == 12
        assert (
            f"{tmp_path / name}: the folder {tmp_path / 'none'} does not exist; create it first"
            in result.stderr
        )


@pytest.mark.deep
@pytest.mark.parametrize("name", ["out.duckdb", *deep("out")])
def test_a_full_disk_leaves_nothing(name: str, store: Path, tmp_path: Path) -> None:
    """The largest file that may be written is small here: the same as a full disk, for one process."""
    code = (
        "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
        "resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000)); "
        "from zscope.app.cli.main import main; main()"
    )
    done = subprocess.run(
        [
            *WITHOUT_COMPILED_FILES,
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


@pytest.mark.deep
@pytest.mark.parametrize("name", ["out", *deep("out.duckdb")])
def test_ctrl_c_leaves_nothing(name: str, store: Path, tmp_path: Path) -> None:
    with subprocess.Popen(
        [*ZSCOPE, "export", "--store", store, "-o", tmp_path / name],
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        assert running.stderr is not None
        assert "rows\n" in running.stderr.readline()  # the first table is done
        running.send_signal(signal.SIGINT)
        message = running.stderr.read()
    assert running.returncode == 12
    assert message.endswith("Error: interrupted; output files are unchanged\n")
    assert not list(tmp_path.iterdir())


@pytest.mark.deep
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
    families = openmetrics_reader.read(target.read_bytes())
    counts = {
        metric: [
            (len(family.samples), sum(map(len, family.samples.values())))
            for name, family in families.items()
            if name.startswith(f"zscope_{metric}_")
        ]
        for metric in ("cpu_interval", "handshake_mix")
    }
    assert result.stderr.splitlines() == [
        *(
            f"{metric}: {sum(n for n, _ in families):,} series, {sum(n for _, n in families):,} samples"
            for metric, families in counts.items()
        ),
        f"{target}: 2 metrics, {sum(n for families in counts.values() for _, n in families):,} samples",
    ]
    busy = families["zscope_cpu_interval_lpar_busy_ratio"].samples
    assert {dict(labels)["system"]: len(series) for labels, series in busy.items()} == {
        "SYSA": 96,
        "SYSB": 96,
    }
    assert all(time and 0 <= float(value) <= 1 for series in busy.values() for time, value in series)


def test_the_textfile_has_the_newest_interval_and_no_times(expose: Run, tmp_path: Path) -> None:
    target = tmp_path / "zscope.prom"
    assert expose("cpu_interval", "-o", target, "-q").output == ""
    families = openmetrics_reader.read(target.read_bytes())
    assert {len(family.samples) for family in families.values()} == {2}
    times = {time for family in families.values() for series in family.samples.values() for time, _ in series}
    assert times == {None}
    assert "zscope_cpu_interval_newest_timestamp_seconds" in families
    assert target.read_text().isascii()


def test_otlp_has_lines_for_the_collector(expose: Run, tmp_path: Path) -> None:
    target = tmp_path / "metrics.otlp.jsonl"
    assert expose("handshake_mix", "--by", "system", "-o", target).exit_code == 0
    points = otlp_reader.read(target.read_bytes())
    assert {point.resource["service.name"] for point in points} == {"zscope"}
    assert {tuple(point.attributes) for point in points} == {("zscope.system",)}
    sums = {point.metric["name"] for point in points if point.kind == "sum"}
    assert "zscope.handshake_mix.full_handshakes" in sums
    assert "zscope.handshake_mix.resumed_ratio" not in sums


@pytest.mark.deep
def test_the_default_is_all_metrics_with_intervals(expose: Run) -> None:
    result = expose("-o", "-", "--format", "openmetrics")
    assert result.exit_code == 0
    metrics = [line.partition(":")[0] for line in result.stderr.splitlines()]
    assert metrics == [*exported_metrics(), "-"]
    names = openmetrics_reader.read(result.stdout_bytes)
    assert {"zscope_tls_posture_unprotected_ratio", "zscope_cpu_per_transaction_cpu_seconds"} <= set(names)


def test_series_are_filtered_by_system_and_local_day(expose: Run) -> None:
    """All intervals are of one day in UTC, and of two on the clocks of the systems."""

    def samples(*arguments: str) -> dict[str, int]:
        result = expose("cpu_interval", "-o", "-", "--format", "openmetrics", "-q", *arguments)
        families = openmetrics_reader.read(result.stdout_bytes)
        series = families.get("zscope_cpu_interval_cpu_seconds", openmetrics_reader.Read()).samples
        return {dict(labels)["system"]: len(values) for labels, values in series.items()}

    assert samples() == {"SYSA": 96, "SYSB": 96}
    assert samples("--system", "SYSA") == {"SYSA": 96}
    assert samples("--from", "2026-03-02", "--to", "2026-03-02") == {"SYSA": 92, "SYSB": 92}
    assert samples("--from", "2026-03-03") == {"SYSA": 4, "SYSB": 4}
    assert samples("--from", "2026-03-04") == samples("--to", "2026-03-01") == {}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["handshake_mx"],
            "handshake_mx is not a metric, and only metrics can be exported as openmetrics; did you mean",
        ),
        (["handshake_interval"], "handshake_interval is not a metric"),
        (["best_practice_check"], "best_practice_check has no numeric columns"),
        (["--by", "system"], "--by needs the names of metrics"),
        (["handshake_mix", "--max-series", "3"], "more than 3; "),
        *deep(
            (
                ["smf70_cpu"],
                "smf70_cpu is not a metric, and only metrics can be exported as openmetrics; ",
            ),
            (["cpu_interval", "--by", "system"], "cpu_interval: its rows cannot be combined"),
            (["handshake_mix", "--by", "planet"], "handshake_mix has no 'planet' to group by"),
            (["cpu_interval", "handshake_mix", "--max-series", "20"], "series, in addition to "),
            (["certificate_inventory", "--system", "SYSA"], "certificate_inventory has no column system"),
        ),
    ],
)
def test_invalid_series_exports_are_refused(
    arguments: list[str], message: str, expose: Run, tmp_path: Path
) -> None:
    result = expose(*arguments, "-o", tmp_path / "out.om")
    assert result.exit_code == 12
    assert message in result.stderr
    assert not list(tmp_path.iterdir())


def test_tables_cannot_go_to_standard_output(export: Run) -> None:
    result = export("cpu_interval", "-o", "-")
    assert (result.exit_code, result.stdout) == (12, "")
    forms = "openmetrics, prometheus, otlp, otlp-logs, splunk, ecs, grafana, alert-rules"
    assert f"-o -: choose one of {forms} with --format" in result.stderr


def test_by_needs_a_series_format(export: Run, tmp_path: Path) -> None:
    result = export("cpu_interval", "--by", "system", "-o", tmp_path / "out")
    assert result.exit_code == 12
    assert "--by can be used with openmetrics, prometheus, otlp; use zscope metrics --by" in result.stderr


def test_rows_without_utc_are_reported_even_with_quiet(run: Run, tmp_path: Path) -> None:
    """Reports do not tell the time zone."""
    store, target = tmp_path / "store", tmp_path / "out.prom"
    ingest(store, [SAMPLE / "reports"], IngestOptions(selection=row_selection(None)))
    result = run("export", "cpu_interval", "-o", target, "-q", "--store", store)
    assert (result.exit_code, target.read_bytes()) == (0, b"# EOF\n")
    assert re.fullmatch(
        r"cpu_interval: \d+ (row is|rows are) left out, because the time in UTC is unknown; "
        r"docs/load\.md explains how to set the time zone of a system\n",
        result.stderr,
    )


@pytest.mark.parametrize("name", ["out.om", "out.prom", "out.otlp.jsonl"])
def test_series_replace_only_series_and_only_with_force(
    name: str, expose: Run, timed: Path, tmp_path: Path
) -> None:
    target = tmp_path / name
    assert expose("cpu_interval", "-o", target).exit_code == 0
    before = target.read_bytes()
    again = expose("handshake_mix", "-o", target)
    assert (again.exit_code, target.read_bytes()) == (12, before)
    assert "already exists; choose another name or replace it with --force" in again.stderr
    assert expose("handshake_mix", "-o", target, "--force").exit_code == 0
    assert target.read_bytes() != before
    for other in ("# TYPE node_load1 gauge\n", "a letter to someone"):
        target.write_text(other)
        refused = expose("handshake_mix", "-o", target, "--force")
        assert (refused.exit_code, target.read_text()) == (12, other)
        assert "not an export of this format" in refused.stderr
    assert "inside the store" in expose("handshake_mix", "-o", timed / name, "--force").stderr
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.deep
@pytest.mark.parametrize("name", ["out.om", *deep("out.otlp.jsonl")])
def test_a_full_disk_leaves_no_series(name: str, timed: Path, tmp_path: Path) -> None:
    code = (
        "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
        "resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000)); "
        "from zscope.app.cli.main import main; main()"
    )
    arguments = ["export", "cpu_interval", "--store", str(timed), "-o", str(tmp_path / name)]
    command = [*WITHOUT_COMPILED_FILES, "-c", code, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 12
    assert f"Error: {tmp_path / name}: {os.strerror(errno.EFBIG)}" in done.stderr
    assert not list(tmp_path.iterdir())
