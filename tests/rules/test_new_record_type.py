"""A new record type is one TOML file: every command and page shows it without an edit elsewhere."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

LAYOUT = """
type = 200
subtype = 7
title = "Name server lookups"

[header]
title = "Header of a toy record"
prefix = "TOY"

[triplets]
at = 24
number = 2

[[section]]
key = "stack"
title = "Stack"
triplet = 0
pointer = ["TOYSOF", "TOYSLN", "TOYSON"]
lengths = { all = 8 }
evidence = "ibm-doc"
source = "dfsms-rdw"
fields = [
  { name = "TOYSTACK", offset = 0, length = 8, format = "text", column = "stack", meaning = "TCP/IP stack." },
]

[[section]]
key = "lookup"
title = "Lookups of a connection"
triplet = 1
pointer = ["TOYLOF", "TOYLLN", "TOYLON"]
lengths = { all = 24 }
evidence = "ibm-doc"
source = "dfsms-rdw"
fields = [
  { name = "TOYCONN", offset = 0, length = 4, format = "uint", column = "connection_id", meaning = "Id." },
  { name = "TOYSTRT", offset = 4, length = 8, format = "tod", column = "start_utc", meaning = "Its start." },
  { name = "TOYJOB", offset = 12, length = 8, format = "text", column = "job_name", meaning = "Its job." },
  { name = "TOYCNT", offset = 20, length = 4, format = "uint", column = "lookups", meaning = "Quixotic." },
]

[[table]]
name = "toy_lookup"
meaning = "Lookups of a connection."
rows = ["lookup"]
grain = ["record_no", "section_no"]
join = [{ section = "stack" }]

[table.connection]
order = 3
sentence = "{lookups} lookups by {job_name}"
"""

# These run with a copy of the schemas that has the toy layout, and print what the commands and pages show.
COMMANDS = r"""
import json, os, sys
from datetime import datetime
from pathlib import Path

import pyarrow as pa
from click.testing import CliRunner

from zscope.app.cli.main import program
from zscope.parsers.smf.record_writer import SectionBytes, encode_records, encode_section
from zscope.schemas import catalog
from zscope.schemas.arrow import LOCAL, UTC

folder = Path(sys.argv[1])
layout = catalog().records[200, 7]
start = datetime.fromisoformat("2026-03-01T09:59:00+00:00")
stack = encode_section(layout.section("stack"), {"stack": pa.array(["TCPIP"])}, 1, 8)
lookup = encode_section(layout.section("lookup"), {
    "connection_id": pa.array([4382], pa.uint32()), "start_utc": pa.array([start], UTC),
    "job_name": pa.array(["RESOLVER"]), "lookups": pa.array([42], pa.uint32()),
}, 1, 24)
parts = [SectionBytes(layout.section("stack"), [[stack[0].tobytes()]]),
         SectionBytes(layout.section("lookup"), [[lookup[0].tobytes()]])]
header = {"system": pa.array(["SYSA"]), "written_local": pa.array(["2026-03-01T10:00:00"]).cast(LOCAL)}
dump = folder / "toy.smf"
dump.write_bytes(b"".join(encode_records(layout, header, parts, 1)))


def run(*arguments):
    result = CliRunner().invoke(program, [*map(str, arguments)], prog_name="zscope")
    assert result.exit_code == 0, (arguments, result.output)
    return json.loads(result.stdout)


json_rows = ("--format", "json")
shown = {
    "inventory": run("inventory", dump, *json_rows),
    "decode": run("decode", dump, "--table", "toy_lookup", *json_rows),
    "fields": run("fields", "quixotic", *json_rows),
}
"""
STORE_AND_PAGES = r"""
from streamlit.testing.v1 import AppTest
from zscope.app.dashboard import drawing

drawing.FOLDED = False  # the data below a chart are drawn when a reader opens them
store = folder / "store"
os.environ["ZSCOPE_STORE"] = str(store)


def page(name, **query):
    script = f"from zscope.app.dashboard.shell import show\nshow({name!r})"
    test = AppTest.from_string(script, default_timeout=900)
    for key, value in query.items():
        test.query_params[key] = value
    test.run()
    assert not test.exception, test.exception
    return [frame.value.astype(str).to_dict("records") for frame in test.dataframe]


shown |= {
    "ingest": run("ingest", dump, "--store", store, "--timezone", "UTC", *json_rows),
    "sql": run("sql", "SELECT system, job_name, lookups FROM toy_lookup", "--store", store, *json_rows),
    "sources": page("quality", quality_part="Sources"),
    "fields page": page("fields", fields="quixotic"),
    "connection": page("connections", connections_key="SYSA~TCPIP~4382~2026-03-01T09:59:00Z"),
}
"""
PRINTED = "print(json.dumps(shown))"


def with_the_new_type(folder: Path, *scripts: str) -> dict[str, Any]:
    """Run scripts in a process that has the new type, and return what they print."""
    schemas = folder / "root" / "zscope" / "schemas"
    shutil.copytree(Path(str(files("zscope.schemas"))), schemas, ignore=shutil.ignore_patterns("__pycache__"))
    (schemas / "layouts" / "toy.toml").write_text(LAYOUT, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", "".join((*scripts, PRINTED)), str(folder)],
        env=os.environ | {"PYTHONPATH": str(folder / "root")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    rows: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return rows


def test_commands_read_the_new_type(tmp_path: Path) -> None:
    shown = with_the_new_type(tmp_path, COMMANDS)
    [counted] = shown["inventory"]
    assert (counted["record_type"], counted["record_subtype"], counted["records"]) == (200, 7, 1)
    [row] = shown["decode"]
    assert (row["connection_id"], row["stack"], row["lookups"]) == (4382, "TCPIP", 42)
    assert [(row["table_name"], row["column_name"], row["vendor_name"]) for row in shown["fields"]] == [
        ("toy_lookup", "lookups", "TOYCNT")
    ]


@pytest.mark.deep
def test_store_and_pages_show_the_new_type(tmp_path: Path) -> None:
    shown = with_the_new_type(tmp_path, COMMANDS, STORE_AND_PAGES)
    [loaded] = shown["ingest"]
    assert (loaded["status"], loaded["rows"], loaded["issues"]) == ("loaded", 1, 0)
    assert shown["sql"] == [{"system": "SYSA", "job_name": "RESOLVER", "lookups": 42}]
    [source] = [row for frame in shown["sources"] for row in frame if "hours_behind" in row]
    assert source["data_kind"] == "Name server lookups (SMF 200-7)"
    assert any("toy_lookup" in row.values() for frame in shown["fields page"] for row in frame)
    [event] = [row for frame in shown["connection"] for row in frame if row.get("table") == "toy_lookup"]
    assert event["event"] == "42 lookups by RESOLVER"
    assert event["source"] == "SMF 200-7, Name server lookups"
