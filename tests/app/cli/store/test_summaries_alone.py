"""zERT summaries alone answer what connection details answer, as far as a summary can tell.

A generated world of a day is loaded twice, with nothing but summaries (SMF 119-12) and with nothing but
details (119-11). All connections have records in both.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from tests.app.report_reading import harmless
from tests.made_once import made_once
from tests.samples.world_reading import write

from zscope.app.figures.figure_declarations import heading
from zscope.pipelines.ingest import IngestOptions, ingest, row_selection
from zscope.pipelines.settings import Settings
from zscope.samples.world import WorldRecipe

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from tests.app.conftest import Run

pytestmark = pytest.mark.deep
SELECTIONS = {"summaries": "119(12)", "details": "119(11)"}


@dataclass(frozen=True)
class Stores:
    """What the generator says of each system, and the two stores."""

    truth: dict[str, Counter[str]]
    summaries: Path
    details: Path


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Stores:
    """The world with summaries alone and with details alone; read-only."""

    def make(folder: Path) -> None:
        write(WorldRecipe(days=1, connections_per_hour=60, runs="none"), folder / "world")
        for name, selection in SELECTIONS.items():
            how = IngestOptions(selection=row_selection(selection), settings=Settings().merge(["+01:00"]))
            ingest(folder / name, [folder / "world" / "smf"], how)

    folder = made_once(tmp_path_factory, "summaries-alone", make)
    manifest = json.loads((folder / "world" / "manifest.json").read_text(encoding="ascii"))
    truth = {system: _added(days.values()) for system, days in manifest["recorded"]["days"].items()}
    return Stores(truth, folder / "summaries", folder / "details")


def _added(days: Iterable[dict[str, Any]]) -> Counter[str]:
    whole: Counter[str] = Counter()
    for facts in days:
        whole["connections"] += facts["connections_started"]
        for group in ("handshakes", "by_version", "by_cipher"):
            for name, count in facts[group].items():
                whole[f"{group}.{name}"] += count
    return whole


def rows_of(run: Run, store: Path, statement: str) -> list[dict[str, Any]]:
    result = run("sql", statement, "--store", store, "--json")
    assert result.exit_code == 0
    rows: list[dict[str, Any]] = json.loads(result.stdout)
    return rows


def test_the_posture_is_that_of_the_generator(run: Run, stores: Stores) -> None:
    found = rows_of(
        run,
        stores.summaries,
        "SELECT system, source, sum(connections) AS n, sum(unprotected_connections) AS bare, "
        "sum(tls_connections) AS tls, sum(tls10_tls11_connections) AS old, sum(failed_connections) AS failed "
        "FROM tls_posture GROUP BY ALL ORDER BY system",
    )
    assert [(row.pop("system"), row.pop("source")) for row in found] == [
        (system, "zERT summary") for system in sorted(stores.truth)
    ]
    expected = [
        {
            "n": truth["connections"],
            "bare": truth["handshakes.none"],
            "tls": truth["handshakes.full"] + truth["handshakes.abbreviated"],
            "old": truth["by_version.TLSv1.0"] + truth["by_version.TLSv1.1"],
            "failed": truth["handshakes.failed"],
        }
        for _, truth in sorted(stores.truth.items())
    ]
    assert found == expected
    assert all(row["bare"] > 0 and row["old"] > 0 for row in found)


def test_the_faults_are_those_of_the_details(run: Run, stores: Stores) -> None:
    """The generator does not count them. Details do not always show the server, so jobs are compared."""
    faults = (
        "SELECT system, job_name, sum(connections) AS n, "
        "sum(without_pfs_connections) AS without_pfs, sum(weak_cipher_connections) AS weak, "
        "sum(short_key_connections) AS short_key, sum(quantum_open_connections) AS open, "
        "sum(unknown_connections) AS unknown FROM tls_posture GROUP BY ALL ORDER BY ALL"
    )
    found = rows_of(run, stores.summaries, faults)
    assert found == rows_of(run, stores.details, faults)
    assert sum(row["without_pfs"] for row in found) > 0


def test_the_cipher_suites_are_those_of_the_generator(run: Run, stores: Stores) -> None:
    by = "source,system,is_counted,cipher"
    found = run("metrics", "cipher_distribution", "--by", by, "--store", stores.summaries, "--json")
    assert found.exit_code == 0
    expected = {
        ("zERT summary", system, True, name.removeprefix("by_cipher."), count)
        for system, truth in stores.truth.items()
        for name, count in truth.items()
        if name.startswith("by_cipher.") and count
    }
    keys = ("source", "system", "is_counted", "cipher", "connections")
    assert {tuple(row[key] for key in keys) for row in json.loads(found.stdout)} == expected


def test_the_findings_are_those_of_the_details(run: Run, stores: Stores) -> None:
    """Before z/OS 3.2 a summary does not contain when a certificate ends: that is the level of CLI2."""
    findings = (
        "SELECT id, system, job_name, certificate, sum(connections) AS n FROM finding WHERE source = '{}' "
        "AND NOT (system = 'CLI2' AND certificate IS NOT NULL) GROUP BY ALL ORDER BY ALL"
    )
    found = rows_of(run, stores.summaries, findings.format("zERT summary"))
    assert len(found) > 10
    assert found == rows_of(run, stores.details, findings.format("zERT detail"))
    checked = json.loads(run("check", "--store", stores.summaries, "--only", "findings", "--json").stdout)
    assert {(row["id"], row["system"], row["job_name"], row["certificate"]) for row in checked} == {
        (row["id"], row["system"], row["job_name"], row["certificate"]) for row in found
    }


def test_the_sentence_has_the_counts_of_the_generator(run: Run, stores: Stores) -> None:
    result = run("summary", "--store", stores.summaries, "--json")
    assert result.exit_code == 0
    sentences = {row["subject"]: row["sentence"] for row in json.loads(result.stdout) if row["rank"] == 1}
    bare = sum(truth["handshakes.none"] for truth in stores.truth.values())
    whole = sum(truth["connections"] for truth in stores.truth.values())
    old = sum(truth["by_version.TLSv1.0"] for truth in stores.truth.values())
    assert sentences["exposure"].startswith(f"{bare:,} of {whole:,} connections (")
    # The hours from the first record to the last count, not the two local days they are on.
    for subject in ("exposure", "old versions"):
        assert re.search(r" in zERT summaries from \S+ to \S+ \(100\.0 % of the hours\) ", sentences[subject])
    assert sentences["old versions"].startswith(f"{old:,} of {whole:,} connections (")


def test_the_report_has_the_tables_of_the_summaries(run: Run, stores: Stores, tmp_path: Path) -> None:
    words = ("report", "-o", tmp_path / "report.html", "--appendix", tmp_path / "appendix.html")
    assert run(*words, "--store", stores.summaries).exit_code == 0
    assert "(100.0 % of the hours)" in harmless((tmp_path / "report.html").read_bytes()).text
    report = harmless((tmp_path / "appendix.html").read_bytes())

    def cells(part: str, column: str) -> list[str]:
        read = [row[heading(column)] for row in report.tables[part].rows]
        return [cell.text if cell.value is None else cell.value for cell in read]

    bare = sum(truth["handshakes.none"] for truth in stores.truth.values())
    old = sum(truth["by_version.TLSv1.0"] + truth["by_version.TLSv1.1"] for truth in stores.truth.values())
    assert sum(map(int, cells("unprotected", "unprotected_connections"))) == bare
    assert sum(map(int, cells("unprotected", "tls10_tls11_connections"))) == old
    assert {*cells("unprotected", "source")} == {"zERT summary"}
    assert {float(share) for share in cells("unprotected", "covered_pct")} == {100}
    suites = sum(
        count
        for truth in stores.truth.values()
        for name, count in truth.items()
        if name.startswith("by_cipher.")
    )
    assert sum(map(int, cells("cipher-suites", "connections"))) == suites
    assert report.tables["finding-kinds"].rows
    assert "No handshakes. They need zERT connection detail" in report.text
