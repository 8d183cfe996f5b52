"""A new metric is three files: SQL, declaration and cases. Nothing else has to know its name."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

from tests.pipelines.metric_world import catalogue, insert
from tests.pipelines.metrics.metric_cases import read_cases

from zscope.pipelines.metrics import statement, view_sql
from zscope.pipelines.metrics.declarations import load

if TYPE_CHECKING:
    from pathlib import Path

SQL = """\
-- The ended connections of a system and port.

SELECT
    system,
    local_port,
    1::BIGINT AS connections,
    duration_ms
FROM connection_ended
"""
DECLARATION = """\
kind = "metric"
title = "Connections by port"
question = "How many connections end on each port?"
inputs = ["connection_ended"]
grain = ["system", "local_port"]
columns = [
    { inherit = ["system", "local_port"], dimension = true },
    { name = "connections", type = "BIGINT", combine = "sum", meaning = "Ended connections." },
    { inherit = ["duration_ms"], dimension = false, combine = "max" },
]
"""
CASES = '''\
[defaults]
smf119_tcp_term = "system: SYSA  local_port: 443  start_utc: 2026-03-02T10:00Z"

[[case]]
name = "connections of one port are one row"
given.smf119_tcp_term = """
end_utc               local_port
2026-03-02T10:00:01Z  -
2026-03-02T10:00:02Z  -
2026-03-02T10:00:02Z  80
"""
expect = """
local_port  connections  duration_ms
80          1            2000
443         2            2000
"""
'''


def test_three_files_are_a_metric(tmp_path: Path) -> None:
    # The metric reads a step, so its declaration is loaded together with that of the step.
    subject = tmp_path / "connections"
    subject.mkdir()
    write_step(subject)
    (subject / "port_use.sql").write_text(SQL, encoding="utf-8")
    (subject / "port_use.toml").write_text(DECLARATION, encoding="utf-8")
    toy = load(tmp_path)["port_use"]
    with catalogue().cursor() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        connection.execute(f"CREATE TEMP VIEW {toy.name} AS {view_sql(toy)}")
        for case in read_cases(toy, CASES):
            connection.execute("BEGIN")
            for table, rows in case.given.items():
                insert(connection, table, rows)
            names = [column.name for column in toy.view_columns]
            rows = [dict(zip(names, row, strict=True)) for row in connection.table(toy.name).fetchall()]
            assert rows == [{"system": "SYSA", **row} for row in case.expect]
            together = connection.execute(statement(toy, [])).fetchall()
            assert together == [(3, 2000.0)]
            connection.execute("ROLLBACK")


def write_step(folder: Path) -> None:
    """Copy the declaration of the step that the metric reads."""
    source = files("zscope.pipelines.metrics") / "connections"
    for suffix in ("sql", "toml"):
        name = f"connection_ended.{suffix}"
        (folder / name).write_text((source / name).read_text(encoding="utf-8"), encoding="utf-8")
