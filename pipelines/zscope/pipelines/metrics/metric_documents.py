"""Render the page `metrics.md` of the reference and a page for each subject from the declarations.

`metrics.md` also has a table of the numbers that `zscope demo --full` and the page Overview show of the
sample data, next to published ones; a test compares them with what is computed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from operator import attrgetter
from typing import TYPE_CHECKING

from zscope.pipelines.metrics import declared, settable
from zscope.schemas.published import published_tables

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from zscope.pipelines.metrics.declarations import Metric, MetricColumn, MetricKind


OVERVIEW = "page Overview"
_ALL_WORK = "CPU time of all work of a system. What TLS costs of it is in the manifest of the sample world."
_VOLUME = "A volume, without a published one."
_MIX = "A property of the site, without a published one."
_PRICE = "The truth is 239, 176, 327 and 327 s a day, from CLI1 to SRV2; SYSA and SYSB have few connections."
_CACHED = ("tls31-sysplex-tickets-hit",)
_NEGOTIATION = ("mq-32k-per-negotiation", "mq-8k-per-negotiation")


@dataclass(frozen=True, slots=True)
class SampleNumber:
    """A column of a printed table, or a number of the page."""

    table: str
    number: str
    sample: str
    """The least and the greatest value with three digits."""
    remark: str
    published: tuple[str, ...] = ()
    """Published results of the same magnitude."""


SAMPLE_NUMBERS = (
    SampleNumber("cpu_per_transaction", "cpu_s", "35,500", _ALL_WORK),
    SampleNumber("cpu_per_transaction", "transactions", "6,700,000", _VOLUME),
    SampleNumber("cpu_per_transaction", "transactions_per_s", "11.1", _VOLUME),
    SampleNumber("cpu_per_transaction", "lpar_cpu_us_per_transaction", "5,290", _ALL_WORK),
    SampleNumber(
        "run_result", "transactions_per_s", "2,580 to 4,210",
        "Forty clients in a closed loop: 40 divided by the latency. The worked example of the method "
        "rmf-cpu-per-tran has 100,000 a second.",
    ),
    SampleNumber(
        "run_result", "latency_ms", "9.51 to 15.5",
        "Connection, handshake, 8 kB and close under load. Published: elapsed time of a negotiation alone.",
        (*_NEGOTIATION, "mq-table-ecdhe-rsa"),
    ),
    SampleNumber(
        "run_result", "cpu_us_per_transaction", "97 to 324",
        "One side, with a handshake. Published: both sides, without a handshake; and the elapsed time of a "
        "negotiation, which bounds its CPU time.",
        ("mq-8k-cpu-added", *_NEGOTIATION),
    ),
    SampleNumber("handshake_mix", "handshakes", "364 to 1,030", _VOLUME),
    SampleNumber("handshake_mix", "full", "187 to 428", _VOLUME),
    SampleNumber("handshake_mix", "resumed", "166 to 591", _VOLUME),
    SampleNumber("handshake_mix", "failed", "0 to 13", _VOLUME),
    SampleNumber(
        "handshake_mix", "resumed_pct", "44.6 to 58.3",
        "Published where clients offer every ticket; half of the clients here have no session to offer.",
        _CACHED,
    ),
    SampleNumber("resumption_rate", "lookups", "0 to 2,930,000", _VOLUME),
    SampleNumber("resumption_rate", "hits", "0 to 2,840,000", _VOLUME),
    SampleNumber(
        "resumption_rate", "hit_rate_pct", "92.7 to 96.8", "Of the sessions that clients offer.", _CACHED
    ),
    SampleNumber(
        "resumption_rate", "resumed_pct", "34.7 to 56",
        "Published where clients offer every ticket; half of the clients here have no session to offer.",
        _CACHED,
    ),
    SampleNumber("cipher_distribution", "connections", "55 to 1,930", _VOLUME),
    SampleNumber("cipher_distribution", "connections_pct", "1.24 to 43.4", _MIX),
    SampleNumber("cipher_distribution", "bytes_pct", "1.26 to 36.8", _MIX),
    SampleNumber("tls_price", "low_cpu_s_per_day", "0", _PRICE),
    SampleNumber("tls_price", "high_cpu_s_per_day", "0.712 to 659", _PRICE),
    SampleNumber(
        "tls_price", "high_lpar_pct", "0.0008 to 13",
        "At most. Published: the share of all work for the network, in a typical workload.",
        ("tls31-network-share",),
    ),
    SampleNumber("finding", "systems", "2 to 6", _VOLUME),
    SampleNumber("finding", "connections", "34 to 9,460,000", "Counts of zERT summaries are among them."),
    SampleNumber(
        OVERVIEW, "TLS CPU cost, s a day", "2,180",
        "At most: the sum of the upper bounds in tls_price. The truth is 1,069 s a day.",
    ),
    SampleNumber(
        OVERVIEW, "Resumed, %", "55.4",
        "As resumed_pct of handshake_mix, over all systems.", _CACHED,
    ),
    SampleNumber(OVERVIEW, "TLSv1.3, %", "18.8", _MIX),
    SampleNumber(OVERVIEW, "Unprotected, %", "5.1", _MIX),
)  # fmt: skip


_INTRODUCTION = """\
# Metrics

Each subject has a page with what its metrics answer, how they are calculated, from which data, and their
limits. These pages are rendered from the declarations in `pipelines/zscope/pipelines/metrics`: a
metric is an SQL file, a declaration and a file with cases computed by hand. Expressions that several metrics
share are DuckDB macros in `macros.sql`.

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

On a terminal, `zscope metrics NAME` shows the columns with the answer, and groups long results, as the
declaration of the metric states; `--by`, `--where`, `--all-rows` and `-o FILE` select other rows.

Periods are in UTC. Rows without a time in UTC, because the time zone of their system is not known, are in the
metric but in no period; [local time](../load.md#local-time-and-utc) explains how to set it. Shares are
percentages; a share of nothing is empty, not zero. Codes that no code table contains are shown unchanged.

A metric whose columns can all be combined can be grouped by any of its dimensions: sums are added up, and
columns calculated from them are calculated again. Parameters are DuckDB variables: use `--set NAME=VALUE`, or
`SET VARIABLE name = value` before a query on the view.

[The estimate of the TLS CPU cost](metrics/estimate.md) has a page of its own, which also has how often the
estimate contains the truth in simulations.

## All metrics
"""
_SAMPLE = """\
## The numbers of the sample data

What `zscope demo --full` prints before the benchmark, and what the page Overview shows of it: for each number
the least and the greatest value in its table, with three digits, next to published results of the same
magnitude.
The sample data is synthetic: its costs were chosen with these magnitudes, so agreement proves nothing about
the published results. The benchmark prints both side by side.

| table | number | sample data | published | remark |
|---|---|---|---|---|
"""
_STEPS = (
    "Views that several metrics share. They are in the catalogue too, for your own queries, and to trace a "
    "number of a metric down to its rows."
)
_SUBJECTS = {
    "statements": "Statements",
    "price": "The TLS CPU cost",
    "cost": "The cost of handshakes",
    "handshakes": "Handshakes and resumption",
    "ciphers": "Cipher suites and protocols",
    "posture": "Checks and findings",
    "certificates": "Certificates",
    "policy": "AT-TLS policy",
    "connections": "Connections",
    "changes": "Changes between periods",
    "zert": "zERT records",
    "cpu": "CPU time",
    "crypto": "Cryptography",
    "workload": "Address spaces and service classes",
    "hardware": "Hardware counters and partitions",
    "coverage": "What the data cover",
    "systems": "Systems",
    "runs": "Benchmark runs",
    "benchmark": "Published results",
    "mq": "MQ channels",
    "zvm": "z/VM links",
    "ztpf": "z/TPF floods",
}
"""Titles of the pages, in their order; a subject that is not listed comes last, by the name of its folder."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture of a metric in its page."""

    path: str
    """Relative to the page."""
    words: str
    """What it shows, for readers who cannot see it."""


def metrics_documents(pictures: Mapping[str, Picture] | None = None) -> dict[str, str]:
    """Return the page with all metrics and the pages of the subjects, by their paths in the reference."""
    shown = pictures or {}
    return {
        "metrics.md": _page(_INTRODUCTION.splitlines(), _contents(), _sample_numbers()),
        **{f"metrics/{subject}.md": _page(_subject(subject, shown)) for subject in subjects()},
    }


def subjects() -> dict[str, str]:
    """Return the titles of all subjects, in the order of their pages.

    >>> list(subjects())[:2]
    ['statements', 'price']
    """
    used = {metric.subject for metric in declared().values()}
    others = {name: name.replace("_", " ").capitalize() for name in sorted(used - set(_SUBJECTS))}
    return {name: title for name, title in (_SUBJECTS | others).items() if name in used}


def _page(*parts: Iterable[str]) -> str:
    return "\n\n".join("\n".join(part) for part in parts) + "\n"


def _of(subject: str, kind: MetricKind) -> list[Metric]:
    return sorted(
        (metric for metric in declared().values() if (metric.subject, metric.kind) == (subject, kind)),
        key=attrgetter("name"),
    )


def _contents() -> Iterator[str]:
    yield "| metric | question | subject |"
    yield "|---|---|---|"
    for subject, title in subjects().items():
        page = f"metrics/{subject}.md"
        for metric in _of(subject, "metric"):
            yield f"| [{metric.name}]({page}#{metric.name}) | {metric.question} | [{title}]({page}) |"
    only_steps = [name for name in subjects() if not _of(name, "metric")]
    if only_steps:
        pages = ", ".join(f"[{subjects()[name]}](metrics/{name}.md)" for name in only_steps)
        yield ""
        yield f"Pages with steps only, which are views that several metrics share: {pages}."


def _subject(subject: str, pictures: Mapping[str, Picture]) -> Iterator[str]:
    yield f"# {subjects()[subject]}"
    metrics, steps = _of(subject, "metric"), _of(subject, "step")
    yield ""
    yield "[Metrics](../metrics.md) explains how to query and group metrics."
    if len(metrics) > 1:
        yield from ("", "| metric | question |", "|---|---|")
        yield from (f"| [{metric.name}](#{metric.name}) | {metric.question} |" for metric in metrics)
    for metric in metrics:
        yield from ("", *_about(metric, picture=pictures.get(metric.name)))
    if steps:
        yield from ("", "## Steps", "", _STEPS)
    for step in steps:
        yield from ("", *_about(step, level=3))


def _sample_numbers() -> Iterator[str]:
    yield from _SAMPLE.splitlines()
    for row in SAMPLE_NUMBERS:
        published = ", ".join(f"{_printed()[name]} (`{name}`)" for name in row.published)
        yield f"| {row.table} | {row.number} | {row.sample} | {_cell(published)} | {_cell(row.remark)} |"


def _about(metric: Metric, level: int = 2, picture: Picture | None = None) -> Iterator[str]:
    yield f"{'#' * level} {metric.name}"
    yield ""
    yield f"**{metric.title}.** {metric.question}"
    yield ""
    yield f"{metric.meaning} {_grain(metric)}"
    if picture is not None:
        yield from ("", f"![{picture.words}]({picture.path})")
    if metric.answer:
        yield from ("", _shown(metric))
    if metric.planning:
        yield from ("", f"For capacity planning: {' '.join(metric.planning.split())}")
    if metric.formula:
        yield from ("", "```text", *metric.formula.splitlines(), "```")
    if metric.sources:
        yield from ("", f"Sources: {' '.join(metric.sources.split())}")
    if metric.inputs:
        yield from ("", f"Reads {_listed(metric.inputs)}.")
    if metric.references:
        yield from ("", f"Compared with {', '.join(_reference(name) for name in metric.references)}.")
    if metric.known_limits:
        yield from ("", "Limits:", "")
        yield from (f"- {' '.join(limit.split())}" for limit in metric.known_limits)
    if parameters := [parameter for _, parameter in settable(metric.name).values()]:
        yield from ("", "| parameter | default | meaning |", "|---|---|---|")
        yield from (f"| `{p.name}` | `{_cell(p.default)}` | {_cell(p.meaning)} |" for p in parameters)
    yield from ("", "| column | type | unit | use | meaning |", "|---|---|---|---|---|")
    yield from (_row(column, metric) for column in metric.columns)


def _shown(metric: Metric) -> str:
    """Describe what a terminal shows of it."""
    parts = [f"The answer is in {_listed(metric.answer)}."]
    if metric.notes:
        parts.append(f"A terminal writes {_listed(metric.notes)} below the rows.")
    if metric.shown_by:
        parts.append(f"A terminal shows rows grouped by {_listed(metric.shown_by)}.")
    if metric.rows_by:
        parts.append(f"`--by` selects the rows by one of {_listed(tuple(metric.rows_by))}.")
    if metric.shown_where:
        parts.append(f"A terminal shows rows with `{metric.shown_where}`.")
    if metric.sections:
        parts.append(f"A terminal has the sections {_listed(tuple(e.heading for e in metric.sections))}.")
    return " ".join(parts)


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
