"""Render `docs/metrics.md` from the declarations."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from zscope.pipelines.metrics import declared, metric_names, settable
from zscope.pipelines.metrics.sample_numbers import SAMPLE_NUMBERS
from zscope.schemas.published import published_tables

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zscope.pipelines.metrics.declarations import Metric, MetricColumn

_INTRODUCTION = """\
# Metrics

What each metric answers, how it is calculated, from which data, and its limits. `make docs` renders this page
from the declarations in `pipelines/zscope/pipelines/metrics`: a metric is an SQL file, a declaration and a
file with cases computed by hand. Expressions that several metrics share are DuckDB macros in `macros.sql`.

Each metric is a view of its name in the catalogue, so any DuckDB client can query it:

```sql
SELECT * FROM handshake_mix;
```

`zscope metrics NAME` prints the same rows, or those of a period or system, or grouped in another way:

```sh
zscope metrics
zscope metrics handshake_mix --by system,day
zscope metrics handshake_mix --by cipher --from 2026-03-02 --system SYSA --where "server_port = 443"
zscope metrics --parameters
```

Periods are in UTC. Rows without a time in UTC, because the time zone of their system is not known, are in the
metric but in no period; [time zones](time-zones.md) explains how to set it. Shares are percentages; a
share of nothing is empty, not zero. Codes that no code table contains are shown unchanged.

A metric whose columns can all be combined can be grouped by any of its dimensions: sums are added up, and
columns calculated from them are calculated again. Parameters are DuckDB variables: use `--set NAME=VALUE`, or
`SET VARIABLE name = value` before a query on the view.

The last section describes [the estimate of the price of TLS](#the-estimate-of-the-price-of-tls), and how
often it contains the truth in simulations.
"""
_SAMPLE = """\
## The numbers of the sample data

What `zscope demo` prints before the benchmark, and what the page Overview shows of it: for each number the
least and the greatest value in its table, with three digits, beside published results of the same magnitude.
The sample data is synthetic: its costs were chosen with these magnitudes, so agreement proves nothing about
the published results. The benchmark prints both beside each other.

| table | number | sample data | published | remark |
|---|---|---|---|---|
"""
_STEPS = """\
## Steps

Views that several metrics share. They are in the catalogue too, for your own queries, and to trace a number
of a metric down to its rows.
"""


def metrics_document() -> str:
    """Return the whole page."""
    steps = [name for name, metric in declared().items() if metric.kind == "step"]
    parts = [_contents(), _sample_numbers(), *(_about(declared()[name]) for name in metric_names())]
    parts += [iter([_STEPS.rstrip()]), *(_about(declared()[name], level=3) for name in sorted(steps))]
    return (
        _INTRODUCTION
        + "".join(f"\n{line}" if line else "\n" for part in parts for line in ("", *part))
        + "\n"
    )


def _contents() -> Iterator[str]:
    yield "| metric | question |"
    yield "|---|---|"
    for name in metric_names():
        yield f"| [{name}](#{name}) | {declared()[name].question} |"


def _sample_numbers() -> Iterator[str]:
    yield from _SAMPLE.splitlines()
    for row in SAMPLE_NUMBERS:
        published = ", ".join(f"{_printed()[name]} (`{name}`)" for name in row.published)
        yield f"| {row.table} | {row.number} | {row.sample} | {_cell(published)} | {_cell(row.remark)} |"


def _about(metric: Metric, level: int = 2) -> Iterator[str]:
    yield f"{'#' * level} {metric.name}"
    yield ""
    yield f"**{metric.title}.** {metric.question}"
    yield ""
    yield f"{metric.meaning} {_grain(metric)}"
    if metric.planning:
        yield from ("", f"For capacity planning: {' '.join(metric.planning.split())}")
    if metric.formula:
        yield from ("", "```text", *metric.formula.splitlines(), "```")
    if metric.sources:
        yield from ("", f"Sources: {' '.join(metric.sources.split())}")
    yield from ("", f"Reads {_listed(metric.inputs)}.")
    if metric.references:
        yield from ("", f"Compared with {', '.join(_reference(name) for name in metric.references)}.")
    if metric.limits:
        yield from ("", "Limits:", "")
        yield from (f"- {' '.join(limit.split())}" for limit in metric.limits)
    if parameters := [parameter for _, parameter in settable(metric.name).values()]:
        yield from ("", "| parameter | default | meaning |", "|---|---|---|")
        yield from (f"| `{p.name}` | `{_cell(p.default)}` | {_cell(p.meaning)} |" for p in parameters)
    yield from ("", "| column | type | unit | use | meaning |", "|---|---|---|---|---|")
    yield from (_row(column, metric) for column in metric.columns)


def _grain(metric: Metric) -> str:
    if not metric.grain:
        return "Several rows can be equal in every column; each counts."
    return f"A row is identified by {_listed(metric.grain)}."


def _row(column: MetricColumn, metric: Metric) -> str:
    use: str = column.combine or ""
    if column.dimension and metric.combinable:
        use = "group by" if column.name in metric.grain else "group by, on request"
        use = "always group by" if column.apart else use
    meaning = column.meaning + (f" = `{column.source}`" if column.source else "")
    return f"| `{column.name}` | {column.type} | {column.unit} | {use} | {_cell(meaning)} |"


def _reference(name: str) -> str:
    return f"`{name}` ({_printed()[name]})"


@cache
def _printed() -> dict[str, str]:
    results = published_tables()["reference_result"]
    return dict(zip(results["id"].to_pylist(), results["as_printed"].to_pylist(), strict=True))


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
