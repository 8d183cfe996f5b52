"""Whole runs in a process of their own, with planted faults in Parquet files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from zscope.pipelines.quality import (
    VALIDATION_SCHEMA,
    CheckOutcome,
    CheckSeverity,
    QualityError,
    StoreSlice,
    unvalidated_loads,
    validate_in_subprocess,
    worst_outcome,
)
from zscope.pipelines.quality.quality_checks import CheckKind

Tables = Mapping[str, pa.Table]
MakeCatalogue = Callable[[Path, Tables], Path]
Rows = dict[str, dict[str, Any]]

SPOILED = {
    "rmf_cpu": "SELECT * REPLACE (if(line_no % 2 = 0, source, NULL) AS source, 250.0 AS parked_pct) FROM t",
    "rmf_interval": "FROM t",
    "smf119_tn3270_term": "SELECT * REPLACE (199 AS ssl_status, 65535 AS tn3270e_option_flags) FROM t",
    "smf119_zert_detail": "FROM t UNION ALL FROM t WHERE record_no IN (SELECT min(record_no) FROM t)",
    "netstat_conn": "SELECT * REPLACE (TIMESTAMP '1970-01-01' AS taken_local) FROM t",
    "smf119_tcp_term": "SELECT * REPLACE (start_utc - INTERVAL 1 SECOND AS end_utc) FROM t",
    "gsk_cache_stats": "SELECT * REPLACE (add_failed_full + 1 AS add_failed_full, "
    "1000000 - retrieval_requested AS retrieval_requested) FROM t",
    "rmf_partition": "SELECT * REPLACE (dispatch_ms + 1 AS effective_ms) FROM t",
    "smf119_zert_dn": "SELECT * REPLACE (record_no + 1000000 AS record_no) FROM t",
    "smf70_interval": "SELECT * REPLACE (written_utc + INTERVAL 1 HOUR AS written_utc) FROM t",
    "smf70_cpu": "SELECT * REPLACE (interval_start_local - INTERVAL 5 HOUR AS interval_start_local) FROM t",
    # Not a fault of the data: a column is not there, so nothing can be said about it.
    "netstat_config": "SELECT * EXCLUDE (source) FROM t",
}
FOUND = {
    "rmf_cpu.source.not-null",
    "rmf_cpu.parked_pct.range",
    "smf119_tn3270_term.tn3270e_option_flags.codes",
    "smf119_zert_detail.unique",
    "netstat_conn.taken_local.clock",
    "smf119_tcp_term.end-after-start",
    "gsk_cache_stats.add-sum",
    "gsk_cache_stats.counters-never-fall",
    "rmf_partition.effective-within-dispatch",
    "smf119_zert_dn.belongs-to-a-record",
    "smf70_interval.zone-agrees",
    "smf70_cpu.interval_start_local.header",
    "smf119_zert_detail.hours-lost",
}
SAMPLE = 500


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("run")


@pytest.fixture(scope="module")
def results(folder: Path, sample: Tables, make_catalogue: MakeCatalogue) -> pa.Table:
    """One run over all faults, with samples of tables that are far from large."""
    spoiled = {}
    for name, statement in SPOILED.items():
        with duckdb.connect() as connection:
            connection.execute("SET TimeZone = 'UTC'")
            connection.register("t", sample[name])
            spoiled[name] = connection.execute(statement).to_arrow_table()
    catalogue = make_catalogue(folder, spoiled)
    with duckdb.connect(str(catalogue)) as connection:
        connection.execute(
            "UPDATE steps.coverage SET state = 'lost', loss = 'planted' WHERE source = '119-11'"
        )
    return validate_in_subprocess(catalogue, StoreSlice(), folder / "docs", sample_rows=SAMPLE)


@pytest.fixture(scope="module")
def rows(results: pa.Table) -> Rows:
    return {row["expectation"]: row for row in results.to_pylist()}


@pytest.mark.deep
def test_a_finding_has_the_times_of_its_first_and_last_row(rows: Rows, sample: Tables) -> None:
    name = "smf119_tcp_term"
    of_table = [row for row in rows.values() if row["table_name"] == name]
    failed = [row["expectation"] for row in of_table if row["outcome"] == CheckOutcome.FAILED]
    assert failed == [f"{name}.end-after-start"]
    times = [time for time in sample[name]["written_local"].to_pylist() if time]
    found, met = rows[f"{name}.end-after-start"], rows[f"{name}.record_no.not-null"]
    assert (found["first_unexpected"], found["last_unexpected"]) == (min(times), max(times))
    assert (met["first_unexpected"], met["last_unexpected"]) == (None, None)


@pytest.mark.deep
def test_results_have_the_declared_columns(results: pa.Table) -> None:
    assert results.schema == VALIDATION_SCHEMA
    assert set(results["table_name"].to_pylist()) == set(SPOILED)
    assert len(set(results["run_id"].to_pylist())) == 1
    assert results["load_ids"][0].as_py() == [7]
    assert results["whole_loads"][0].as_py() is True


@pytest.mark.deep
def test_a_fault_of_each_kind_is_found(rows: Rows) -> None:
    failed = {name for name, row in rows.items() if row["outcome"] == CheckOutcome.FAILED}
    assert failed >= FOUND
    assert {rows[name]["kind"] for name in FOUND} == set(CheckKind)
    assert all(rows[name]["success"] is False and rows[name]["unexpected_rows"] > 0 for name in FOUND)


@pytest.mark.deep
def test_unchanged_data_passes(rows: Rows) -> None:
    assert rows["smf119_zert_detail.record_no.not-null"]["outcome"] == CheckOutcome.PASSED
    assert rows["rmf_cpu.online_pct.range"]["success"] is True
    assert rows["gsk_cache_stats.retrieval-share"]["kind"] == "identity"


@pytest.mark.deep
def test_the_same_column_can_be_good_and_bad_at_once(rows: Rows, sample: Tables) -> None:
    """The library counts as many rows as there are."""
    odd = sum(line % 2 for line in sample["rmf_cpu"]["line_no"].to_pylist())
    row = rows["rmf_cpu.source.not-null"]
    assert (row["unexpected_rows"], row["checked_rows"]) == (odd, sample["rmf_cpu"].num_rows)


@pytest.mark.deep
def test_examples_lead_back_to_the_file(rows: Rows, sample: Tables) -> None:
    examples = json.loads(rows["smf119_tcp_term.end-after-start"]["examples"])
    records = sorted(sample["smf119_tcp_term"]["record_no"].to_pylist())[:5]
    assert [example["record_no"] for example in examples] == records
    assert {example["load_id"] for example in examples} == {7}
    fallen = json.loads(rows["gsk_cache_stats.counters-never-fall"]["examples"])[0]
    assert fallen["file"] == "sample-data/reports/syslog.txt"
    assert fallen["line_no"] != fallen["line_no_before"]
    assert (fallen["counter"], fallen["value"] < fallen["value_before"]) == ("retrieval_requested", True)


@pytest.mark.deep
def test_unknown_codes_are_warnings_or_notes(rows: Rows) -> None:
    assert rows["smf119_tn3270_term.ssl_status.codes"]["severity"] == "note"
    assert rows["smf119_tn3270_term.tn3270e_option_flags.codes"]["severity"] == "warning"


@pytest.mark.deep
def test_failed_check_is_an_error(rows: Rows) -> None:
    row = rows["netstat_config.source.not-null"]
    assert (row["outcome"], row["success"], row["unexpected_rows"]) == ("error", None, None)
    assert "source" in row["error"]
    assert rows["netstat_config.unique"]["outcome"] == CheckOutcome.PASSED


@pytest.mark.deep
def test_an_error_is_worse_than_any_fault(results: pa.Table) -> None:
    assert worst_outcome(results) == CheckOutcome.ERROR
    assert worst_outcome(results.filter(pa.compute.field("outcome") != "error")) == CheckSeverity.FAILURE


@pytest.mark.deep
def test_sampled_and_whole_checks_report_their_rows(rows: Rows, sample: Tables) -> None:
    row, size = rows["smf119_zert_detail.record_no.not-null"], sample["smf119_zert_detail"].num_rows + 1
    assert (row["sampled"], row["slice_rows"]) == (True, size)
    assert SAMPLE * 0.8 < row["checked_rows"] < SAMPLE * 1.2
    unique = rows["smf119_zert_detail.unique"]
    assert (unique["sampled"], unique["checked_rows"], unique["unexpected_rows"]) == (False, size, 1)


class Addresses(HTMLParser):
    """What a page refers to."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.tags: set[str] = set()
        self.names: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.names |= {name for name, _ in attrs}
        self.links += [value or "" for name, value in attrs if name == "href"]


@pytest.mark.deep
def test_pages_refer_to_nothing_outside(folder: Path, results: pa.Table) -> None:
    pages = list((folder / "docs").rglob("*.html"))
    assert len(pages) == 1 + 2 * len(set(results["table_name"].to_pylist()))
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert "http://" not in text
        assert "https://" not in text
        assert "dataContextId" not in text
        found = Addresses()
        found.feed(text)
        assert not found.tags & {"script", "link", "img", "iframe", "form", "svg", "object"}
        assert not {name for name in found.names if name.startswith("on") or name in {"src", "style"}}
        assert "default-src 'none'" in text


@pytest.mark.deep
def test_every_link_between_pages_leads_to_a_file(folder: Path, results: pa.Table) -> None:
    assert results.num_rows
    linked = set()
    for page in (folder / "docs").rglob("*.html"):
        found = Addresses()
        found.feed(page.read_text(encoding="utf-8"))
        for link in found.links:
            path = link.partition("#")[0]
            target = (page.parent / path).resolve() if path else page.resolve()
            assert target.is_file(), f"{page}: {link}"
            linked.add(target)
    assert {page.resolve() for page in (folder / "docs").rglob("*.html")} == linked


@pytest.mark.deep
def test_first_page_shows_every_finding_with_examples(folder: Path, rows: Rows) -> None:
    index = (folder / "docs" / "index.html").read_text(encoding="utf-8")
    for name, row in rows.items():
        assert (f"</span> {name}</h3>" in index) == (row["outcome"] != "passed")
    assert "250.0" in index


def python(script: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", script, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ)


@pytest.mark.deep
def test_an_engine_that_computes_nothing_is_noticed(
    tmp_path: Path, sample: Tables, make_catalogue: MakeCatalogue
) -> None:
    """Without the listener the library reports rubbish; that must not become results."""
    catalogue = make_catalogue(tmp_path, {"gsk_cache_status": sample["gsk_cache_status"]})
    script = """
import sys
from pathlib import Path
from zscope.pipelines.quality import StoreSlice, engine
from zscope.pipelines.quality.engine import validate
def nothing(connection, cursor, statement, parameters, context, executemany): pass
engine._fetch_all = nothing
validate(Path(sys.argv[1]), StoreSlice(), Path(sys.argv[2]))
"""
    ended = python(script, catalogue, tmp_path / "docs")
    assert ended.returncode == 1
    assert "great_expectations does not work with this DuckDB" in ended.stderr
    assert not (tmp_path / "docs").exists()


def library_that(does: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = folder / "shadow" / "great_expectations"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(does, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(folder / "shadow"))


def test_without_the_library_the_message_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library_that("raise ImportError('not here')", tmp_path, monkeypatch)
    with pytest.raises(QualityError, match=r"pip install 'zscope\[quality\]' \(not here\)"):
        validate_in_subprocess(tmp_path / "zscope.duckdb", StoreSlice(), tmp_path / "docs")


def test_a_process_that_is_killed_is_no_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library_that("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", tmp_path, monkeypatch)
    with pytest.raises(QualityError, match="was terminated by SIGKILL"):
        validate_in_subprocess(tmp_path / "zscope.duckdb", StoreSlice(), tmp_path / "docs")


def test_a_process_that_breaks_is_no_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library_that("raise RuntimeError('broken inside')", tmp_path, monkeypatch)
    with pytest.raises(QualityError, match="exited with 1: RuntimeError: broken inside"):
        validate_in_subprocess(tmp_path / "zscope.duckdb", StoreSlice(), tmp_path / "docs")


def test_only_loads_that_were_never_validated_are_chosen() -> None:
    assert unvalidated_loads(set(), {1, 2}) == (1, 2)
    assert unvalidated_loads({1, 2, 9}, {1, 2}) == ()
