"""The folder `sample-data`: a dump with its reports, the world, and the other systems."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

DUMP, MANIFEST = "smf-sample.bin", "smf-sample.manifest.json"
COUNTERS = "hardware-counters.smf.gz"
REPORTS, WORLD, SYSTEMS = PARTS = ("reports", "world", "systems")
"""Folders in the folder."""


def write_sample_folder(folder: Path, progress: Callable[[str], None]) -> None:
    """Write the files of `sample-data` into a folder; `progress` gets a line for each part."""
    from zscope.samples.dump.output import HashingWriter
    from zscope.samples.dump.recipe import sample
    from zscope.samples.dump.write import generate
    from zscope.samples.reports import report_files
    from zscope.samples.reports.hardware_counters import counters_dump
    from zscope.samples.systems.systems_folder import write_systems
    from zscope.samples.world import small_world, write_world

    for name in PARTS:
        (folder / name).mkdir(parents=True, exist_ok=True)
    with (folder / DUMP).open("wb") as out:
        contents = generate(sample(), out)
    (folder / MANIFEST).write_bytes(contents.to_json().encode())
    progress(f"{folder / DUMP}: {contents.records:,} records")
    with (folder / COUNTERS).open("wb") as out:
        counters_dump(folder / DUMP, HashingWriter(out))
    progress(f"{folder / COUNTERS}: hardware counters of its processors")
    for file in report_files(folder / DUMP, sample()):
        (folder / REPORTS / file.name).write_bytes(file.content)
    progress(f"{folder / REPORTS}: RMF reports, NETSTAT and GSKSRVR displays")
    write_world(small_world(), folder / WORLD, lambda _: None)
    progress(f"{folder / WORLD}: a week of production and benchmark runs")
    write_systems(1, folder / SYSTEMS, lambda _: None)
    progress(f"{folder / SYSTEMS}: MQ channels, a z/VM link and floods on z/TPF")
