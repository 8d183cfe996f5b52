"""Every tile of every page shows the figure that the command in its help prints."""

from __future__ import annotations

import ast
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from zscope.app import dashboard
from zscope.app.dashboard.amounts import amount
from zscope.app.dashboard.drawing import number
from zscope.app.dashboard.registry import registered_pages
from zscope.app.dashboard.tiles import FROM, MetricFigure
from zscope.app.shared.filters import Filters

if TYPE_CHECKING:
    from collections.abc import Iterator

    from _pytest.mark import ParameterSet
    from tests.app.conftest import Run
    from tests.app.dashboard.conftest import Open

FOLDER = Path(str(dashboard.__file__)).parent
PAGES = [page.name for page in registered_pages()]
PARTS: dict[str, list[dict[str, str]]] = {
    "posture": [
        {"posture_part": part}
        for part in ("Findings", "Protection", "Certificates", "Post-quantum readiness")
    ],
}
"""Addresses of the parts of a page that are not all shown at once."""
QUERIES: list[dict[str, str]] = [{}, {"system": "SRV1"}]
NO_PLACE = ("Certificates", "Expired", "Ended since", "Expire within 90 days", "Self-signed", "Short keys")
"""Tiles that no command prints while a place is chosen: the places of certificates are another metric."""
OF_THE_TABLE = (
    "Lists of groups", "Handshakes a day, resumed instead of full", "With a hybrid with ML-KEM",
    "Published results", "With a measurement", "Physical processors of this type",
    "Rules in force", "Without TLS traffic in seven days", "Handshakes without a rule", "Errors in messages",
)  # fmt: skip
"""Tiles with the number or the sum of rows of a table on the same page. Its rows can be downloaded."""
ADDRESSES = [(name, part) for name in PAGES for part in PARTS.get(name, [{}])]
WITH_A_FILTER = ("overview", "handshakes", "posture", "connections")
"""Pages that are also compared with a filter."""
ROWS: dict[tuple[Path, str], pa.Table] = {}
"""What commands have printed: several tiles have the same command."""
SHORT = [address for address in ADDRESSES if address[0] == "practices"]


def cases() -> Iterator[ParameterSet]:
    """Yield all addresses without a filter, and some of them with one."""
    for query in QUERIES:
        for address in ADDRESSES:
            if not query or address[0] in WITH_A_FILTER:
                marks = () if address in SHORT and not query else pytest.mark.deep
                name = f"{address[0]}-{sorted({**address[1], **query})}"
                yield pytest.param(address, query, marks=marks, id=name)


def test_all_tiles_are_drawn_by_one_function() -> None:
    """A tile that is drawn in another way would not be compared."""
    for file in FOLDER.rglob("*.py"):
        calls = [
            node
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
            if isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "metric"
            and ast.unparse(node.func.value) not in {"data", "of", "earlier", "narrowed"}
        ]
        assert not calls or file.name == "tiles.py", file


@pytest.mark.parametrize(("address", "query"), list(cases()))
def test_the_command_of_a_tile_prints_its_figure(
    address: tuple[str, dict[str, str]],
    query: dict[str, str],
    drawn_page: Open,
    recorded: Path,
    run: Run,
    tmp_path: Path,
) -> None:
    name, part = address
    for metric in drawn_page(name, recorded, {**query, **part}).metric:
        expression, _, command = sources(metric.help)
        if not command:
            unknown = metric.value == number(None)
            known = metric.label in OF_THE_TABLE or (query and metric.label in NO_PLACE)
            assert unknown or known, metric.label
            continue
        # The command prints the upper bound of a range.
        shown = metric.value.removeprefix("≤ ").rpartition(" to ")[2]
        assert shown in written(printed(run, recorded, command, expression, tmp_path)), metric.label


def sources(text: str) -> tuple[str, str, str]:
    """Return the expression and the command in the help of a tile; empty without them."""
    line = next((line for line in text.splitlines() if FROM in line), "")
    return line.removeprefix("`").removesuffix("`").partition(FROM)


def printed(run: Run, store: Path, command: str, expression: str, folder: Path) -> float | str | None:
    """Return the value of an expression over the rows that a command prints."""
    if (store, command) not in ROWS:
        _, *words = shlex.split(command)
        file = folder / "rows.parquet"
        result = run(*words, "--store", store, "--format", "parquet", "-o", file)
        assert result.exit_code == 0, result.output
        ROWS[store, command] = pq.read_table(file)
    with duckdb.connect() as connection:
        connection.register("rows", ROWS[store, command])
        values = connection.execute(f"SELECT {expression} FROM rows").fetchall()
    value = values[0][0] if values else None
    return value if value is None or isinstance(value, str) else float(value)


def written(value: float | str | None) -> set[str]:
    """Return the ways in which pages write a figure."""
    if value is None:
        return {number(None), "0"}
    if isinstance(value, str):
        return {value}
    numbers = {number(value, digits, unit) for digits in (0, 1, 2) for unit in ("", "%")}
    return numbers | {number(value / 1e6, 1, "M")} | {amount(value, unit) for unit in ("us", "s")}


def test_a_command_has_the_filters_of_the_page() -> None:
    filters = Filters(systems=("SYSA",), ports=(443,), jobs=("IT'S",))
    _, command = MetricFigure("handshake_mix", "resumed_pct").source(filters)
    words = shlex.split(command)
    assert words[:5] == ["zscope", "metrics", "handshake_mix", "--by", "all"]
    assert words[6] == "system IN ('SYSA') AND server_port IN (443) AND job_name IN ('IT''S')"
