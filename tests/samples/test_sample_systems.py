"""The other systems in sample-data: generated again byte for byte, and compared with the manifest."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pyarrow.compute as pc
import pytest
from tests.samples.world_reading import contents

from zscope.parsers import Severity, Tables, read
from zscope.samples.systems.systems_folder import write_systems

SAMPLES = Path(__file__).resolve().parents[2] / "sample-data"
FOLDER = SAMPLES / "systems"
MANIFEST = json.loads((FOLDER / "manifest.json").read_text(encoding="ascii"))


@pytest.fixture(scope="module")
def tables() -> Tables:
    return read(FOLDER)


def test_they_are_generated_again_byte_for_byte(tmp_path: Path) -> None:
    write_systems(1, tmp_path, lambda _: None)
    assert contents(tmp_path) == contents(FOLDER)


def test_they_read_without_a_warning(tables: Tables) -> None:
    assert [str(issue) for issue in tables.issues if issue.severity > Severity.NOTE] == []


def test_tasks_and_channels_add_up_to_the_manifest(tables: Tables) -> None:
    tasks = tables["mq_task"].filter(pc.field("queue_manager") == "MQ5A").to_pylist()
    served: Counter[str] = Counter()
    for task in tasks:
        served[task["task_type"]] += task["requests"]
        assert task["elapsed_tod"] + task["wait_tod"] == task["interval_tod"]
    assert served == MANIFEST["mq"]["requests_by_task"]
    messages: Counter[str] = Counter()
    for channel in tables["mq_channel"].filter(pc.field("queue_manager") == "MQ5A").to_pylist():
        messages[f"{channel['cipher_code']:04X}"] += channel["messages"]
    assert messages == MANIFEST["mq"]["messages_by_cipher"]


def test_round_trips_have_the_means_of_the_manifest(tables: Tables) -> None:
    rows = tables["mq_round_trip"].to_pylist()
    keys = ("message_bytes", "cipher", "sslrkeyc")
    for expected in MANIFEST["mq"]["round_trips"]:
        of = [row["round_trip_us"] for row in rows if all(row[key] == expected[key] for key in keys)]
        assert sum(of) / len(of) == pytest.approx(expected["round_trip_us"], abs=0.05)


def test_links_have_the_values_in_the_manifest_in_every_form(tables: Tables) -> None:
    users, channels = tables["zvm_user"].to_pylist(), tables["zvm_channel"].to_pylist()
    hours = {12: "rscs-case-1", 13: "rscs-case-2A", 14: "rscs-case-2B"}
    for row in (*users, *channels):
        row["run"] = row["run"] or hours[row["interval_start_local"].hour]
    for case in MANIFEST["zvm"]:
        [link] = [row for row in channels if row["run"] == case["run"] and row["chpid"] == "54"]
        assert (link["write_bytes_per_s"] + link["read_bytes_per_s"]) / 100_000 == case["etr"]
        used = {row["userid"]: row["tcpu_s"] for row in users if row["run"] == case["run"]}
        for name, seconds in case["tcpu_s"].items():
            assert used[name] == pytest.approx(seconds, rel=2e-3)


def test_floods_have_the_peaks_of_the_manifest_in_every_form(tables: Tables) -> None:
    rows = tables["ztpf_series"].to_pylist()
    for flood in MANIFEST["ztpf"]:
        mine = [row for row in rows if flood["run"] in row["file"]]
        assert max(row["ecbs_in_use"] for row in mine) == flood["peak_ecbs"]
        assert max(row["tls_starts_completed"] for row in mine) == flood["sessions"]


def test_every_file_or_a_note_beside_it_is_labelled_as_synthetic() -> None:
    unmarked = {name for name, content in contents(FOLDER).items() if b"synthetic" not in content.lower()}
    assert all(
        name.endswith((".smf", ".jsonl")) or "formatter" in name or "ecbs-with" in name for name in unmarked
    )
    assert "synthetic = true" in (FOLDER / "runs.toml").read_text()
    note = (SAMPLES / "PROVENANCE.md").read_text(encoding="utf-8")
    for name in ("systems/mq/", "systems/zvm/", "systems/ztpf/", "systems/runs.toml"):
        assert f"`{name}" in note
