"""How one row of the benchmark comes about, and what would have to be done to fill it."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from zscope.app.commands.benchmark import check, rests_on
from zscope.schemas.ddl import literal

if TYPE_CHECKING:
    import pyarrow as pa

    from zscope.app.dashboard.answers import Data

RUN_COMMANDS = """\
zscope runs propose
zscope runs add NAME --system SYSTEM --role client --from TIME --to TIME --tag KEY=VALUE"""
"""How runs are named where nothing more is known of them."""


def arithmetic(data: Data, result: str) -> pa.Table:
    """All lines of the arithmetic of one result, from the published figure to the verdict."""
    return data.metric("benchmark_arithmetic", where=f"id = {literal(result)}").sort_by("line")


def computed_again(result: str, lines: pa.Table) -> tuple[str, ...]:
    """The sides whose change comes out the same once more; RefusedError if one does not."""
    return tuple(check(result, lines.to_pylist()))


def begins_with(lines: pa.Table) -> str:
    """What the arithmetic is computed from."""
    return rests_on(lines.to_pylist())


def part(lines: pa.Table, *names: str) -> pa.Table:
    """The lines of some parts, with the columns that have something in them."""
    import pyarrow as pa
    import pyarrow.compute as pc

    found = lines.filter(pc.is_in(lines["part"], pa.array(names)))
    used = [name for name in found.column_names if found[name].null_count < found.num_rows]
    return found.select([name for name in used if name not in ("id", "line", "synthetic")])


def commands_for(data: Data, result: str) -> str:
    """The commands that name the two runs a result is filled from, as far as the document tells them."""
    rows = data.rows(
        """
        SELECT r.workload, r.side, r.baseline_tags, r.candidate_tags, r.condition_tags, f.both_tags
        FROM reference_result AS r INNER JOIN reference_filling AS f ON r.id = f.id
        WHERE r.id = ? AND f.filled_from = 'runs'
        """,
        [result],
    ).to_pylist()
    return "\n".join(
        _add(name, row, [*row[f"{name}_tags"], *row["condition_tags"], *row["both_tags"]])
        for row in rows
        for name in ("baseline", "candidate")
    )


def _add(name: str, row: dict[str, Any], tags: Sequence[str]) -> str:
    role = "server" if row["side"] in ("server", "sender") else "client"
    workload = f" --workload {shlex.quote(row['workload'])}" if row["workload"] else ""
    told = "".join(f" --tag {shlex.quote(tag)}" for tag in dict.fromkeys(tags))
    return f"zscope runs add {name} --system SYSTEM --role {role} --from TIME --to TIME{workload}{told}"
